//! The text of shapes on slides and in drawings: paragraphs with levels, bullets, formatting and links.

use a2c_document_model::UnreadableFile;

use super::alternate::AlternateForms;
use super::equation::read_equation;
use crate::rich_text::{CountFormat, RichText, RunFormat};
use crate::xml::{XmlEvent, XmlReader, XmlTag};

/// The most paragraphs of a shape.
const PARAGRAPHS: usize = 50_000;

/// The levels of text.
pub(crate) const LEVELS: usize = 9;

/// What stands before a paragraph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DrawingBullet {
    /// Nothing.
    None,
    /// A sign.
    Sign,
    /// A count, from a number on; with what is around it.
    Count { format: CountFormat, before: &'static str, after: &'static str, start: i64 },
}

/// The bullets of the levels, where they are declared.
pub(crate) type BulletLevels = [Option<DrawingBullet>; LEVELS];

/// A paragraph.
#[derive(Debug, Default)]
pub(crate) struct DrawingParagraph {
    pub(crate) level: usize,
    pub(crate) bullet: Option<DrawingBullet>,
    pub(crate) text: RichText,
    pub(crate) equations: Vec<String>,
}

/// The text of a shape.
#[derive(Debug, Default)]
pub(crate) struct DrawingText {
    pub(crate) levels: BulletLevels,
    pub(crate) paragraphs: Vec<DrawingParagraph>,
}

impl DrawingText {
    /// Its words, a line for each paragraph.
    pub(crate) fn lines(self) -> String {
        let lines = self.paragraphs.into_iter().map(|paragraph| paragraph.text.finish().0);
        lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    }
}

/// Finds the address that a link leads to, by its relationship and its action.
pub(crate) type LinkResolver<'a> = &'a dyn Fn(&str, &str) -> Option<String>;

/// Reads the text body that began last.
pub(crate) fn read_drawing_text(
    xml: &mut XmlReader<'_>,
    link: LinkResolver<'_>,
) -> Result<DrawingText, UnreadableFile> {
    let (depth, mut read) = (xml.depth(), DrawingText::default());
    while let Some(event) = xml.within(depth)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            b"p" if read.paragraphs.len() >= PARAGRAPHS => {
                return Err(UnreadableFile::too_large(format!("a shape has more than {PARAGRAPHS} paragraphs")));
            }
            b"p" => read.paragraphs.push(read_paragraph(xml, link)?),
            b"lstStyle" => read.levels = read_bullet_levels(xml)?,
            b"bodyPr" => xml.skip()?,
            _ => {}
        }
    }
    Ok(read)
}

fn read_paragraph(xml: &mut XmlReader<'_>, link: LinkResolver<'_>) -> Result<DrawingParagraph, UnreadableFile> {
    let (depth, mut read, mut format) = (xml.depth(), DrawingParagraph::default(), RunFormat::default());
    let (mut forms, mut in_number) = (AlternateForms::default(), false);
    while let Some(event) = xml.within(depth)? {
        let tag = match event {
            XmlEvent::Start(tag) => tag,
            XmlEvent::End(end) => {
                forms.end(end.name());
                if matches!(end.name(), b"r" | b"fld") {
                    read.text.end_link();
                    in_number = false;
                }
                continue;
            }
            _ => continue,
        };
        if forms.passes_over(tag.name()) {
            xml.skip()?;
            continue;
        }
        match tag.name() {
            b"pPr" => {
                read.level = tag.number("lvl").unwrap_or(0).min(LEVELS - 1);
                read.bullet = read_bullet(xml)?;
            }
            b"r" => format = RunFormat::default(),
            // The number of the slide says nothing.
            b"fld" => {
                format = RunFormat::default();
                in_number = tag.attribute("type").as_deref() == Some("slidenum");
            }
            b"rPr" => {
                let (read_format, url) = read_run_format(xml, &tag, link)?;
                format = read_format;
                if let Some(url) = url {
                    read.text.begin_link(url);
                }
            }
            b"t" => {
                let text = xml.text()?;
                if !in_number {
                    read.text.push(&text, format);
                }
            }
            b"br" => read.text.push("\n", RunFormat::default()),
            b"oMath" => {
                let equation = read_equation(xml)?;
                read.text.push(&format!("${equation}$"), RunFormat::default());
                read.equations.push(equation);
            }
            b"endParaRPr" => xml.skip()?,
            _ => {}
        }
    }
    Ok(read)
}

fn read_run_format(
    xml: &mut XmlReader<'_>,
    tag: &XmlTag<'_>,
    link: LinkResolver<'_>,
) -> Result<(RunFormat, Option<String>), UnreadableFile> {
    let on = |name: &str| tag.attribute(name).is_some_and(|value| !matches!(value.as_str(), "0" | "false" | "none"));
    let mut format = RunFormat {
        bold: on("b"),
        italic: on("i"),
        underline: on("u"),
        strike: tag.attribute("strike").is_some_and(|strike| strike != "noStrike"),
        code: false,
    };
    let (depth, mut url) = (xml.depth(), None);
    while let Some(event) = xml.within(depth)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            b"latin" => {
                let font = tag.attribute("typeface").unwrap_or_default().to_ascii_lowercase();
                format.code = font.ends_with("mono") || font.starts_with("courier") || font == "consolas";
            }
            b"hlinkClick" => {
                let id = tag.attribute("id").unwrap_or_default();
                url = link(&id, &tag.attribute("action").unwrap_or_default());
            }
            _ => {}
        }
    }
    Ok((format, url))
}

/// Reads the levels of the list style that began last.
pub(crate) fn read_bullet_levels(xml: &mut XmlReader<'_>) -> Result<BulletLevels, UnreadableFile> {
    let (depth, mut levels) = (xml.depth(), BulletLevels::default());
    while let Some(event) = xml.within(depth)? {
        let XmlEvent::Start(tag) = event else { continue };
        let level = tag.name().strip_prefix(b"lvl").and_then(|rest| rest.strip_suffix(b"pPr"));
        if let Some(&[digit @ b'1'..=b'9']) = level {
            levels[usize::from(digit - b'1')] = read_bullet(xml)?;
        }
    }
    Ok(levels)
}

/// The bullet that the paragraph properties that began last declare.
fn read_bullet(xml: &mut XmlReader<'_>) -> Result<Option<DrawingBullet>, UnreadableFile> {
    let (depth, mut bullet) = (xml.depth(), None);
    while let Some(event) = xml.within(depth)? {
        let XmlEvent::Start(tag) = event else { continue };
        match tag.name() {
            b"buNone" => bullet = Some(DrawingBullet::None),
            b"buChar" | b"buBlip" => bullet = Some(DrawingBullet::Sign),
            b"buAutoNum" => {
                let start = tag.number("startAt").unwrap_or(1);
                bullet = Some(count(&tag.attribute("type").unwrap_or_default(), start));
            }
            _ => {}
        }
    }
    Ok(bullet)
}

/// A way of counting by its name, such as `romanLcParenBoth`.
fn count(name: &str, start: i64) -> DrawingBullet {
    let format = match name {
        name if name.starts_with("alphaLc") => CountFormat::LowerLetter,
        name if name.starts_with("alphaUc") => CountFormat::UpperLetter,
        name if name.starts_with("romanLc") => CountFormat::LowerRoman,
        name if name.starts_with("romanUc") => CountFormat::UpperRoman,
        name if name.starts_with("circleNum") => CountFormat::Circled,
        name if name.starts_with("ea1Chs") || name.starts_with("ea1Cht") => CountFormat::Chinese,
        _ => CountFormat::Decimal,
    };
    let (before, after) = match name {
        name if name.ends_with("ParenBoth") => ("(", ")"),
        name if name.ends_with("ParenR") => ("", ")"),
        name if name.ends_with("Plain") => ("", ""),
        _ => ("", "."),
    };
    DrawingBullet::Count { format, before, after, start }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::ReadLimits;

    #[test]
    fn paragraphs_have_levels_bullets_and_links() {
        let text = "<p:txBody><a:bodyPr/><a:lstStyle><a:lvl2pPr><a:buNone/></a:lvl2pPr></a:lstStyle>\
            <a:p><a:pPr lvl=\"1\"><a:buAutoNum type=\"romanLcParenBoth\" startAt=\"3\"/></a:pPr>\
            <a:r><a:rPr b=\"1\"/><a:t>bold</a:t></a:r><a:br/><a:r><a:rPr><a:hlinkClick r:id=\"x\"/></a:rPr><a:t>link</a:t></a:r>\
            <a:fld type=\"slidenum\"><a:t>7</a:t></a:fld></a:p></p:txBody>";
        let limits = ReadLimits::default();
        let mut xml = XmlReader::new(text.as_bytes(), "p", &limits);
        xml.event().unwrap();
        let mut read = read_drawing_text(&mut xml, &|id, _| Some(format!("http://{id}"))).unwrap();
        assert_eq!(read.levels[1], Some(DrawingBullet::None));
        let paragraph = read.paragraphs.remove(0);
        assert_eq!(paragraph.level, 1);
        let counted = DrawingBullet::Count { format: CountFormat::LowerRoman, before: "(", after: ")", start: 3 };
        assert_eq!(paragraph.bullet, Some(counted));
        let (text, metadata) = paragraph.text.finish();
        assert_eq!((text.as_str(), metadata.links[0].url.as_str()), ("bold\nlink", "http://x"));
        assert!(metadata.spans[0].bold);
    }
}
