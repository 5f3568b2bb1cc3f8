//! Charts of a package: their kind, their title, and the data that the file keeps of them.

use a2c_document_model::{ChartSeries, ElementDraft, UnreadableFile};

use super::package::OfficePackage;
use crate::chart_words::{chart_draft, shown_number};
use crate::xml::{XmlEvent, XmlReader};

/// The most values of a series and series of a chart that are read.
const VALUES: usize = 10_000;
const SERIES: usize = 255;

/// Reads the part of a chart.
pub(crate) fn read_chart(package: &mut OfficePackage, part: &str) -> Result<ElementDraft, UnreadableFile> {
    let bytes = package.xml(part)?;
    let mut chart = ChartFacts::default();
    let mut xml = XmlReader::new(&bytes, part, package.limits());
    read_space(&mut xml, &mut chart)?;
    Ok(chart.into_draft())
}

#[derive(Default)]
struct ChartFacts {
    kinds: Vec<String>,
    title: String,
    axes: Vec<String>,
    series: Vec<ChartSeries>,
    /// The data of the newer kinds of charts, which their series refer to.
    data: Vec<(String, ChartSeries)>,
}

impl ChartFacts {
    fn add_kind(&mut self, kind: &str) {
        if !self.kinds.iter().any(|known| known == kind) {
            self.kinds.push(kind.to_owned());
        }
    }

    fn into_draft(self) -> ElementDraft {
        chart_draft(&self.kinds, self.title, &self.axes, self.series)
    }
}

fn read_space(xml: &mut XmlReader<'_>, chart: &mut ChartFacts) -> Result<(), UnreadableFile> {
    let mut in_axis = false;
    while let Some(event) = xml.within(0)? {
        match event {
            XmlEvent::Start(tag) => match tag.name() {
                b"title" => {
                    let words = words(xml)?;
                    match in_axis {
                        true => chart.axes.extend(Some(words).filter(|words| !words.is_empty())),
                        false => chart.title = words,
                    }
                }
                b"barDir" => {
                    let upright = tag.attribute("val").as_deref() == Some("col");
                    chart.add_kind(if upright { "column" } else { "bar" });
                }
                b"barChart" | b"bar3DChart" => {}
                b"ser" if chart.series.len() < SERIES => {
                    let series = series(xml)?;
                    chart.series.push(series);
                }
                b"data" => {
                    let id = tag.attribute("id").unwrap_or_default();
                    let data = newer_data(xml)?;
                    if chart.data.len() < SERIES {
                        chart.data.push((id, data));
                    }
                }
                b"series" if chart.series.len() < SERIES => {
                    let kind = tag.attribute("layoutId").unwrap_or_default();
                    chart.add_kind(&kind);
                    newer_series(xml, chart)?;
                }
                b"extLst" | b"txPr" | b"spPr" | b"ser" | b"series" => xml.skip()?,
                name if name.ends_with(b"Chart") && name.len() > 5 => {
                    let kind = String::from_utf8_lossy(&name[..name.len() - 5]).replace("3D", "");
                    chart.add_kind(if kind == "ofPie" { "pie" } else { &kind });
                }
                name if is_axis(name) => in_axis = true,
                _ => {}
            },
            XmlEvent::End(end) if is_axis(end.name()) => in_axis = false,
            _ => {}
        }
    }
    Ok(())
}

fn is_axis(name: &[u8]) -> bool {
    matches!(name, b"catAx" | b"valAx" | b"dateAx" | b"serAx" | b"axis")
}

/// The words of a title: its own, or those of the cell that it shows.
fn words(xml: &mut XmlReader<'_>) -> Result<String, UnreadableFile> {
    let (depth, mut written) = (xml.depth(), String::new());
    while let Some(event) = xml.within(depth)? {
        match event {
            XmlEvent::Start(tag) => match tag.name() {
                b"t" | b"v" => {
                    let text = xml.text()?;
                    written.push_str(&text);
                }
                b"br" => written.push(' '),
                b"f" | b"pPr" | b"rPr" | b"endParaRPr" | b"txPr" | b"spPr" => xml.skip()?,
                _ => {}
            },
            XmlEvent::End(end) if end.name() == b"p" => written.push(' '),
            _ => {}
        }
    }
    Ok(written.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn series(xml: &mut XmlReader<'_>) -> Result<ChartSeries, UnreadableFile> {
    let (depth, mut series) = (xml.depth(), ChartSeries::default());
    while let Some(event) = xml.within(depth)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            b"tx" => series.name = words(xml)?,
            b"cat" | b"xVal" => series.categories = points(xml)?,
            b"val" | b"yVal" => series.values = points(xml)?,
            _ => xml.skip()?,
        }
    }
    Ok(series)
}

/// The values that the file keeps, each at its place. Of categories in several levels the first level counts.
fn points(xml: &mut XmlReader<'_>) -> Result<Vec<String>, UnreadableFile> {
    let (depth, mut format, mut points) = (xml.depth(), String::new(), Vec::new());
    let (mut at, mut level) = (0, 0);
    while let Some(event) = xml.within(depth)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            b"formatCode" => format = xml.text()?,
            b"lvl" => level += 1,
            b"pt" => at = tag.number("idx").unwrap_or(points.len()),
            b"v" => {
                let text = xml.text()?;
                if at < VALUES && level <= 1 {
                    put(&mut points, at, shown_number(&text, &format));
                }
            }
            _ => {}
        }
    }
    Ok(points)
}

fn put(points: &mut Vec<String>, at: usize, value: String) {
    if points.len() <= at {
        points.resize(at + 1, String::new());
    }
    points[at] = value;
}

/// The data of a chart of the newer kinds (waterfall, treemap, …).
fn newer_data(xml: &mut XmlReader<'_>) -> Result<ChartSeries, UnreadableFile> {
    let (depth, mut data, mut format, mut at) = (xml.depth(), ChartSeries::default(), String::new(), 0);
    let mut of_categories = false;
    while let Some(event) = xml.within(depth)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            b"strDim" | b"numDim" => of_categories = tag.name() == b"strDim",
            b"lvl" => format = tag.attribute("formatCode").unwrap_or_default(),
            b"pt" => {
                at = tag.number("idx").unwrap_or(at);
                let text = xml.text()?;
                if at < VALUES {
                    let points = if of_categories { &mut data.categories } else { &mut data.values };
                    put(points, at, if of_categories { text } else { shown_number(&text, &format) });
                }
            }
            _ => {}
        }
    }
    Ok(data)
}

fn newer_series(xml: &mut XmlReader<'_>, chart: &mut ChartFacts) -> Result<(), UnreadableFile> {
    let (depth, mut series) = (xml.depth(), ChartSeries::default());
    while let Some(event) = xml.within(depth)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            b"tx" => series.name = words(xml)?,
            b"dataId" => {
                let id = tag.attribute("val").unwrap_or_default();
                if let Some((_, data)) = chart.data.iter().find(|(known, _)| *known == id) {
                    series.categories.clone_from(&data.categories);
                    series.values.clone_from(&data.values);
                }
            }
            _ => xml.skip()?,
        }
    }
    chart.series.push(series);
    Ok(())
}

#[cfg(test)]
mod tests {
    use a2c_document_model::ElementContent;

    use super::*;
    use crate::limits::ReadLimits;

    fn read(text: &str) -> ElementContent {
        let limits = ReadLimits::default();
        let mut chart = ChartFacts::default();
        read_space(&mut XmlReader::new(text.as_bytes(), "p", &limits), &mut chart).unwrap();
        chart.into_draft().content
    }

    #[test]
    fn a_chart_has_its_kind_its_title_and_its_data() {
        let content = read(
            "<c:chartSpace><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:rich></c:tx></c:title>\
             <c:plotArea><c:barChart><c:barDir val=\"col\"/><c:ser><c:tx><c:strRef><c:f>S!$B$1</c:f><c:strCache>\
             <c:pt idx=\"0\"><c:v>East</c:v></c:pt></c:strCache></c:strRef></c:tx><c:cat><c:strRef><c:strCache>\
             <c:pt idx=\"0\"><c:v>Q1</c:v></c:pt><c:pt idx=\"2\"><c:v>Q3</c:v></c:pt></c:strCache></c:strRef></c:cat>\
             <c:val><c:numRef><c:numCache><c:formatCode>0%</c:formatCode><c:pt idx=\"0\"><c:v>0.5</c:v></c:pt>\
             <c:pt idx=\"99999999\"><c:v>1</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser></c:barChart>\
             <c:lineChart/><c:valAx><c:title><a:t>Euro</a:t></c:title></c:valAx></c:plotArea></c:chart></c:chartSpace>",
        );
        let ElementContent::Chart { chart_type, title, data_summary, series } = content else { panic!("a chart") };
        assert_eq!((chart_type.as_str(), title.as_str()), ("column+line", "Sales"));
        assert_eq!(series[0].name, "East");
        assert_eq!(series[0].categories, ["Q1", "", "Q3"]);
        assert_eq!(series[0].values, ["50%"], "a place that no chart has is passed over");
        assert!(data_summary.contains("axes: Euro"), "{data_summary}");
    }

    #[test]
    fn a_chart_of_the_newer_kinds_refers_to_its_data() {
        let content = read(
            "<cx:chartSpace><cx:chartData><cx:data id=\"0\"><cx:strDim><cx:lvl><cx:pt idx=\"0\">A</cx:pt></cx:lvl></cx:strDim>\
             <cx:numDim><cx:lvl formatCode=\"General\"><cx:pt idx=\"0\">4</cx:pt></cx:lvl></cx:numDim></cx:data></cx:chartData>\
             <cx:chart><cx:plotArea><cx:plotAreaRegion><cx:series layoutId=\"waterfall\"><cx:tx><cx:txData><cx:v>Cash</cx:v>\
             </cx:txData></cx:tx><cx:dataId val=\"0\"/></cx:series></cx:plotAreaRegion></cx:plotArea></cx:chart></cx:chartSpace>",
        );
        let ElementContent::Chart { chart_type, title, series, .. } = content else { panic!("a chart") };
        assert_eq!((chart_type.as_str(), title.as_str()), ("waterfall", "Cash"));
        assert_eq!((series[0].categories[0].as_str(), series[0].values[0].as_str()), ("A", "4"));
    }
}
