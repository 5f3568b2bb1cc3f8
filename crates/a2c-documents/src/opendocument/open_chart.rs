//! Charts: their kind, their title, and the table of their data that the file keeps.

use std::collections::HashSet;

use a2c_document_model::{CellRange, ChartSeries, ElementDraft, UnreadableFile};

use crate::chart_words::{chart_draft, shown_number};
use crate::limits::ReadLimits;
use crate::xml::{XmlEvent, XmlReader, XmlTag};

/// The most cells of a chart's data, and series of a chart.
const CELLS: usize = 100_000;
const SERIES: usize = 255;

/// A chart while it is read.
#[derive(Default)]
struct OpenChart {
    kinds: Vec<String>,
    title: String,
    axes: Vec<String>,
    /// Where the categories and the series are in the table.
    categories: Option<CellRange>,
    series: Vec<SeriesPlaces>,
    rows: Vec<Vec<String>>,
    cells: usize,
    /// The styles whose bars lie.
    lying: HashSet<String>,
    is_lying: bool,
}

/// Where a series is in the table of the data.
#[derive(Default, Clone, Copy)]
struct SeriesPlaces {
    name: Option<CellRange>,
    values: Option<CellRange>,
    categories: Option<CellRange>,
}

/// Reads the part of a chart; `None` where it holds something else.
pub(super) fn read_open_chart(
    bytes: &[u8],
    part: &str,
    limits: &ReadLimits,
) -> Result<Option<ElementDraft>, UnreadableFile> {
    let mut xml = XmlReader::new(bytes, part, limits);
    let (mut chart, mut is_chart, mut in_axis, mut style) = (OpenChart::default(), false, false, String::new());
    while let Some(event) = xml.within(0)? {
        let tag = match event {
            XmlEvent::Start(tag) => tag,
            XmlEvent::End(end) => {
                in_axis &= end.name() != b"axis";
                continue;
            }
            _ => continue,
        };
        match tag.name() {
            b"style" => style = tag.attribute("name").unwrap_or_default(),
            b"chart-properties" if tag.attribute("vertical").as_deref() == Some("true") => {
                chart.lying.insert(std::mem::take(&mut style));
            }
            b"chart" if tag.attribute("class").is_some() => {
                is_chart = true;
                chart.add_kind(&tag);
            }
            b"plot-area" => {
                let style = tag.attribute("style-name").unwrap_or_default();
                chart.is_lying = chart.lying.contains(&style);
            }
            b"axis" => in_axis = true,
            b"title" => {
                let words = words(&mut xml)?;
                match in_axis {
                    true => chart.axes.extend(Some(words).filter(|words| !words.is_empty())),
                    false => chart.title = words,
                }
            }
            b"categories" => chart.categories = range(&tag, "cell-range-address"),
            b"series" if chart.series.len() < SERIES => {
                chart.add_kind(&tag);
                let name = range(&tag, "label-cell-address");
                let values = range(&tag, "values-cell-range-address");
                chart.series.push(SeriesPlaces { name, values, categories: None });
            }
            // The places of the points of a scatter chart; they stand in the series.
            b"domain" => {
                if let Some(series) = chart.series.last_mut() {
                    series.categories = range(&tag, "cell-range-address");
                }
            }
            b"table-row" => chart.row(&mut xml)?,
            _ => {}
        }
    }
    Ok(is_chart.then(|| chart.into_draft()))
}

impl OpenChart {
    fn add_kind(&mut self, tag: &XmlTag<'_>) {
        let class = tag.attribute("class").unwrap_or_default();
        let kind = match class.rsplit(':').next().unwrap_or_default() {
            "circle" => "pie",
            "ring" => "doughnut",
            "filled-radar" => "radar",
            kind => kind,
        };
        if !kind.is_empty() && self.kinds.len() < 8 && !self.kinds.iter().any(|known| known == kind) {
            self.kinds.push(kind.to_owned());
        }
    }

    fn row(&mut self, xml: &mut XmlReader<'_>) -> Result<(), UnreadableFile> {
        let (depth, mut cells) = (xml.depth(), Vec::new());
        while let Some(event) = xml.within(depth)? {
            let XmlEvent::Start(tag) = event else { continue };
            if tag.name() != b"table-cell" {
                continue;
            }
            let value = tag.attribute("value");
            let text = words(xml)?;
            let is_share = text.ends_with('%');
            self.cells += 1;
            if self.cells <= CELLS {
                cells.push(match value {
                    Some(value) if !is_share => shown_number(&value, ""),
                    _ => text,
                });
            }
        }
        if self.cells <= CELLS {
            self.rows.push(cells);
        }
        Ok(())
    }

    fn cells_of(&self, range: CellRange) -> Vec<String> {
        let (first, last) = (range.first, range.last);
        let rows = self.rows.iter().skip(first.row as usize).take((last.row - first.row) as usize + 1);
        let width = (last.column - first.column) as usize + 1;
        rows.flat_map(|row| row.iter().skip(first.column as usize).take(width)).take(CELLS).cloned().collect()
    }

    fn into_draft(mut self) -> ElementDraft {
        for kind in &mut self.kinds {
            if kind == "bar" && !self.is_lying {
                *kind = "column".to_owned();
            }
        }
        let cells = |range: Option<CellRange>| range.map(|range| self.cells_of(range)).unwrap_or_default();
        let shared = cells(self.categories);
        let series = self.series.iter().map(|places| ChartSeries {
            name: cells(places.name).join(" "),
            categories: match places.categories {
                Some(own) => self.cells_of(own),
                None => shared.clone(),
            },
            values: cells(places.values),
        });
        let series: Vec<ChartSeries> = series.collect();
        chart_draft(&self.kinds, self.title, &self.axes, series)
    }
}

/// The cells that an attribute names: `local-table.$B$2:.$B$5`.
fn range(tag: &XmlTag<'_>, name: &str) -> Option<CellRange> {
    let address = tag.attribute(name)?;
    let cell = |part: &str| part.rsplit('.').next().unwrap_or_default().to_owned();
    let cells: Vec<String> = address.split(':').map(cell).collect();
    CellRange::parse(&cells.join(":"))
}

fn words(xml: &mut XmlReader<'_>) -> Result<String, UnreadableFile> {
    Ok(xml.text()?.split_whitespace().collect::<Vec<_>>().join(" "))
}
