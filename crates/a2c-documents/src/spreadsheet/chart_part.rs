//! The part of a chart: its kind, its title and its series, with the values that the file remembers of them.

use a2c_document_model::UnreadableFile;

use super::number_format::NumberFormat;
use super::serial_date::DateSystem;
use crate::limits::ReadLimits;
use crate::xml::{XmlEvent, XmlReader};

/// The series of a chart that are kept; Excel allows 255.
const SERIES: usize = 255;
/// The points of a series that are kept.
const POINTS: usize = 1000;
/// The bytes of a title or a name.
const TITLE_BYTES: usize = 4096;

/// A chart as its part describes it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ChartPart {
    /// Its kinds, such as `bar`; a chart may mix them.
    pub(super) kinds: Vec<String>,
    pub(super) title: String,
    pub(super) series: Vec<SeriesPart>,
}

/// A series of a chart.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct SeriesPart {
    pub(super) name: ChartData,
    pub(super) categories: ChartData,
    pub(super) values: ChartData,
}

/// Data of a chart: the cells that it comes from, and what they showed when the file was written.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ChartData {
    pub(super) reference: Option<String>,
    pub(super) points: Vec<String>,
    format: Option<String>,
}

impl ChartData {
    fn add(&mut self, text: &str, is_number: bool) {
        if self.points.len() >= POINTS {
            return;
        }
        let format = self.format.as_deref().filter(|_| is_number);
        let shown = format.zip(text.parse().ok());
        let shown = shown.map(|(format, value)| NumberFormat::parse(format).number(value, DateSystem::Since1900));
        self.points.push(shown.unwrap_or_else(|| shortened(text)));
    }
}

fn shortened(text: &str) -> String {
    text[..text.floor_char_boundary(TITLE_BYTES)].to_owned()
}

/// Reads the part of a chart.
pub(super) fn read_chart(bytes: &[u8], part: &str, limits: &ReadLimits) -> Result<ChartPart, UnreadableFile> {
    let mut reader = XmlReader::new(bytes, part, limits);
    let mut chart = ChartPart::default();
    // The names of the elements that are open, from the outermost.
    let mut path: Vec<Vec<u8>> = Vec::new();
    loop {
        match reader.event()? {
            XmlEvent::Start(tag) => {
                let name = tag.name();
                let parent = path.last().map(Vec::as_slice);
                match name {
                    b"ser" if chart.series.len() < SERIES => chart.series.push(SeriesPart::default()),
                    b"series" => {
                        // The newer charts: treemaps, waterfalls and others.
                        add_kind(&mut chart, tag.attribute("layoutId").as_deref().unwrap_or("chart"));
                        chart.series.push(SeriesPart::default());
                        chart.series.truncate(SERIES);
                    }
                    kind if parent == Some(b"plotArea") => {
                        if let Some(kind) = kind_of(kind) {
                            add_kind(&mut chart, kind);
                        }
                    }
                    // Only the first level of categories with several levels.
                    b"lvl" if data_of(&mut chart, &path).is_some_and(|data| !data.points.is_empty()) => {
                        reader.skip()?;
                        continue;
                    }
                    _ => {}
                }
                let name = name.to_vec();
                path.push(name);
            }
            XmlEvent::Text(text) => take_text(&mut chart, &path, &text),
            XmlEvent::End(_) => {
                // The lines of a title are paragraphs.
                if path.pop().is_some_and(|name| name == b"p") && in_title(&path) && !chart.title.ends_with('\n') {
                    chart.title.push('\n');
                }
            }
            XmlEvent::Eof => break,
        }
    }
    chart.title = chart.title.trim().replace('\n', " ");
    Ok(chart)
}

fn add_kind(chart: &mut ChartPart, kind: &str) {
    if chart.kinds.len() < 8 && !chart.kinds.iter().any(|known| known == kind) {
        chart.kinds.push(shortened(kind));
    }
}

fn kind_of(element: &[u8]) -> Option<&'static str> {
    Some(match element {
        b"barChart" | b"bar3DChart" => "bar",
        b"lineChart" | b"line3DChart" => "line",
        b"pieChart" | b"pie3DChart" | b"ofPieChart" => "pie",
        b"doughnutChart" => "doughnut",
        b"areaChart" | b"area3DChart" => "area",
        b"scatterChart" => "scatter",
        b"bubbleChart" => "bubble",
        b"radarChart" => "radar",
        b"stockChart" => "stock",
        b"surfaceChart" | b"surface3DChart" => "surface",
        _ => return None,
    })
}

/// Whether the open elements are in the title of the chart, not in that of an axis.
fn in_title(path: &[Vec<u8>]) -> bool {
    let title = path.iter().position(|name| name == b"title");
    title.and_then(|at| at.checked_sub(1)).is_some_and(|parent| path[parent] == b"chart")
}

/// The data that the open elements belong to.
fn data_of<'a>(chart: &'a mut ChartPart, path: &[Vec<u8>]) -> Option<&'a mut ChartData> {
    let series = path.iter().position(|name| name == b"ser" || name == b"series")?;
    let of_series = chart.series.last_mut()?;
    match path.get(series + 1)?.as_slice() {
        b"tx" => Some(&mut of_series.name),
        b"cat" | b"xVal" => Some(&mut of_series.categories),
        b"val" | b"yVal" => Some(&mut of_series.values),
        _ => None,
    }
}

fn take_text(chart: &mut ChartPart, path: &[Vec<u8>], text: &str) {
    let Some(open) = path.last() else { return };
    if in_title(path) {
        if (open == b"t" || open == b"v") && chart.title.len() < TITLE_BYTES {
            chart.title.push_str(text);
        }
        return;
    }
    let is_number = path.iter().any(|name| name == b"numCache" || name == b"numLit");
    let Some(data) = data_of(chart, path) else { return };
    match open.as_slice() {
        b"f" => data.reference = Some(shortened(text)),
        b"formatCode" => data.format = Some(shortened(text)).filter(|format| format != "General"),
        b"v" => data.add(text, is_number),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_is_read_with_its_series() {
        let text = r#"<c:chartSpace><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Sales </a:t></a:r><a:r><a:t>2024</a:t></a:r></a:p></c:rich></c:tx></c:title>
            <c:plotArea><c:barChart><c:ser><c:tx><c:strRef><c:f>D!$B$1</c:f><c:strCache><c:pt idx="0"><c:v>North</c:v></c:pt></c:strCache></c:strRef></c:tx>
            <c:cat><c:strRef><c:f>D!$A$2:$A$3</c:f><c:strCache><c:pt idx="0"><c:v>Q1</c:v></c:pt><c:pt idx="1"><c:v>Q2</c:v></c:pt></c:strCache></c:strRef></c:cat>
            <c:val><c:numRef><c:f>D!$B$2:$B$3</c:f><c:numCache><c:formatCode>#,##0</c:formatCode><c:pt idx="0"><c:v>1250</c:v></c:pt><c:pt idx="1"><c:v>7</c:v></c:pt></c:numCache></c:numRef></c:val>
            </c:ser></c:barChart><c:lineChart/><c:catAx><c:title><c:tx><c:rich><a:p><a:r><a:t>Axis</a:t></a:r></a:p></c:rich></c:tx></c:title></c:catAx></c:plotArea></c:chart></c:chartSpace>"#;
        let chart = read_chart(text.as_bytes(), "chart1.xml", &ReadLimits::default()).unwrap();
        assert_eq!((chart.title.as_str(), chart.kinds.join(" ")), ("Sales 2024", "bar line".to_owned()));
        let series = &chart.series[0];
        assert_eq!(series.name.points, ["North"]);
        assert_eq!(series.categories.points, ["Q1", "Q2"]);
        assert_eq!(series.values.points, ["1,250", "7"]);
        assert_eq!(series.values.reference.as_deref(), Some("D!$B$2:$B$3"));
    }
}
