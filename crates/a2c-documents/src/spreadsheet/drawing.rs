//! What is drawn on a sheet: pictures, charts, diagrams and texts, and the cells that they stand at.

use a2c_document_model::{CellPlace, UnreadableFile};

use crate::limits::ReadLimits;
use crate::xml::{XmlEvent, XmlReader, XmlTag};

/// Units of length in a pixel.
const UNITS_OF_PIXEL: u64 = 9525;
/// The bytes of the text of a shape.
const TEXT_BYTES: usize = 64 << 10;

/// Something that is drawn on a sheet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct DrawnObject {
    /// The cell at its upper left corner.
    pub(super) place: CellPlace,
    pub(super) name: String,
    /// What it shows, in the words of its author.
    pub(super) description: Option<String>,
    pub(super) hidden: bool,
    /// In pixels.
    pub(super) size: Option<(u32, u32)>,
    pub(super) kind: DrawnKind,
}

/// What is drawn; a relationship of the drawing leads to the rest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum DrawnKind {
    /// Nothing that has words or a picture.
    #[default]
    Shape,
    Picture(String),
    Chart(String),
    Diagram(String),
    Text(String),
}

/// Reads a drawing.
pub(super) fn read_drawing(bytes: &[u8], part: &str, limits: &ReadLimits) -> Result<Vec<DrawnObject>, UnreadableFile> {
    let mut reader = XmlReader::new(bytes, part, limits);
    let mut objects = Vec::new();
    let (mut place, mut in_from) = (CellPlace::default(), false);
    let mut open: Option<DrawnObject> = None;
    while objects.len() < limits.page_elements {
        match reader.event()? {
            XmlEvent::Start(tag) => match tag.name() {
                b"twoCellAnchor" | b"oneCellAnchor" | b"absoluteAnchor" => place = CellPlace::default(),
                b"from" => in_from = true,
                b"col" if in_from => place.column = reader.text()?.trim().parse().unwrap_or(0),
                b"row" if in_from => place.row = reader.text()?.trim().parse().unwrap_or(0),
                b"pic" | b"graphicFrame" | b"sp" => open = Some(DrawnObject { place, ..DrawnObject::default() }),
                name => {
                    let is_text = name == b"txBody";
                    match &mut open {
                        Some(object) if is_text => object.kind = DrawnKind::Text(shape_text(&mut reader)?),
                        Some(object) => object.learn(&tag),
                        None => {}
                    }
                }
            },
            XmlEvent::End(end) => match end.name() {
                b"from" => in_from = false,
                b"pic" | b"graphicFrame" | b"sp" => objects.extend(open.take()),
                _ => {}
            },
            XmlEvent::Text(_) => {}
            XmlEvent::Eof => break,
        }
    }
    Ok(objects)
}

/// The text of a shape, its paragraphs as lines.
fn shape_text(reader: &mut XmlReader<'_>) -> Result<String, UnreadableFile> {
    let mut text = String::new();
    loop {
        match reader.event()? {
            XmlEvent::Start(tag) if tag.name() == b"t" => {
                let piece = reader.text()?;
                if text.len() < TEXT_BYTES {
                    text.push_str(&piece);
                }
            }
            XmlEvent::Start(tag) if tag.name() == b"br" => text.push('\n'),
            XmlEvent::End(end) if end.name() == b"p" => text.push('\n'),
            XmlEvent::End(end) if end.name() == b"txBody" => break,
            XmlEvent::Eof => break,
            _ => {}
        }
    }
    Ok(text.trim().to_owned())
}

impl DrawnObject {
    fn learn(&mut self, tag: &XmlTag<'_>) {
        match tag.name() {
            b"cNvPr" => {
                self.name = tag.attribute("name").unwrap_or_default();
                let words = ["descr", "title"].into_iter().filter_map(|name| tag.attribute(name));
                self.description = words.map(|text| text.trim().to_owned()).find(|text| !text.is_empty());
                self.hidden = tag.attribute("hidden").is_some_and(|hidden| hidden == "1" || hidden == "true");
            }
            b"blip" => {
                if let Some(id) = tag.attribute("embed").or_else(|| tag.attribute("link")) {
                    self.kind = DrawnKind::Picture(id);
                }
            }
            b"chart" => self.kind = tag.attribute("id").map_or(DrawnKind::Shape, DrawnKind::Chart),
            b"relIds" => self.kind = tag.attribute("dm").map_or(DrawnKind::Shape, DrawnKind::Diagram),
            b"ext" => {
                let pixels = |name| {
                    let units: u64 = tag.attribute(name)?.parse().ok()?;
                    u32::try_from(units / UNITS_OF_PIXEL).ok().filter(|pixels| *pixels > 0)
                };
                self.size = pixels("cx").zip(pixels("cy")).or(self.size);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_stands_at_a_cell() {
        let text = r#"<xdr:wsDr><xdr:twoCellAnchor><xdr:from><xdr:col>2</xdr:col><xdr:row>4</xdr:row></xdr:from><xdr:to><xdr:col>9</xdr:col></xdr:to>
            <xdr:pic><xdr:nvPicPr><xdr:cNvPr id="2" name="Picture 1" descr="A red dot"/></xdr:nvPicPr><xdr:blipFill><a:blip r:embed="rId1"/></xdr:blipFill>
            <xdr:spPr><a:xfrm><a:ext cx="95250" cy="190500"/></a:xfrm></xdr:spPr></xdr:pic></xdr:twoCellAnchor>
            <xdr:oneCellAnchor><xdr:from><xdr:col>0</xdr:col><xdr:row>1</xdr:row></xdr:from><xdr:graphicFrame><xdr:nvGraphicFramePr><xdr:cNvPr name="Chart 1"/></xdr:nvGraphicFramePr>
            <a:graphic><a:graphicData><c:chart r:id="rId2"/></a:graphicData></a:graphic></xdr:graphicFrame></xdr:oneCellAnchor>
            <xdr:absoluteAnchor><xdr:sp><xdr:nvSpPr><xdr:cNvPr name="Box"/></xdr:nvSpPr><xdr:txBody><a:p><a:r><a:t>one</a:t></a:r></a:p><a:p><a:r><a:t>two</a:t></a:r></a:p></xdr:txBody></xdr:sp></xdr:absoluteAnchor></xdr:wsDr>"#;
        let objects = read_drawing(text.as_bytes(), "drawing1.xml", &ReadLimits::default()).unwrap();
        let kinds: Vec<String> = objects.iter().map(|object| format!("{} {:?}", object.place, object.kind)).collect();
        assert_eq!(kinds, ["C5 Picture(\"rId1\")", "A2 Chart(\"rId2\")", "A1 Text(\"one\\ntwo\")"]);
        assert_eq!((objects[0].size, objects[0].description.as_deref()), (Some((10, 20)), Some("A red dot")));
    }
}
