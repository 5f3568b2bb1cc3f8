//! What is drawn in a paragraph: pictures, charts, diagrams, text boxes, embedded objects.

use a2c_document_model::{ElementContent, ElementDraft, UnreadableFile};

use super::context::WordContext;
use crate::ooxml::{AlternateForms, PictureFacts, picture_draft, read_chart, read_diagram};
use crate::xml::{XmlEvent, XmlReader, XmlTag};

/// One drawn thing.
#[derive(Debug)]
pub(super) enum DrawnThing<'a> {
    /// An element.
    Element(Box<ElementDraft>),
    /// The content of a text box, which is read like a document.
    TextBox(&'a [u8]),
}

/// Reads the drawing, the old picture or the object that began last.
pub(super) fn read_drawing<'a>(
    xml: &mut XmlReader<'a>,
    context: &mut WordContext<'_>,
    drawn: &mut Vec<DrawnThing<'a>>,
) -> Result<(), UnreadableFile> {
    let (depth, mut facts, mut forms) = (xml.depth(), PictureFacts::default(), AlternateForms::default());
    while let Some(event) = xml.within(depth)? {
        let tag = match event {
            XmlEvent::Start(tag) => tag,
            XmlEvent::End(end) => {
                forms.end(end.name());
                continue;
            }
            _ => continue,
        };
        if forms.passes_over(tag.name()) {
            xml.skip()?;
            continue;
        }
        match tag.name() {
            b"txbxContent" => drawn.push(DrawnThing::TextBox(xml.inner()?)),
            b"blip" => {
                facts.relation = tag.attribute("embed").filter(|id| !id.is_empty()).or_else(|| tag.attribute("link"));
                draw_picture(context, &mut facts, drawn);
            }
            b"imagedata" => {
                facts.alt = facts.alt.take().or_else(|| tag.attribute("title"));
                facts.relation = tag.attribute("id").or_else(|| tag.attribute("href"));
                draw_picture(context, &mut facts, drawn);
            }
            b"chart" => draw_part(context, &tag, "id", drawn),
            b"relIds" => draw_part(context, &tag, "dm", drawn),
            b"OLEObject" => describe_object(&tag, drawn),
            b"textpath" => {
                let text = tag.attribute("string").filter(|text| !text.trim().is_empty());
                drawn.extend(text.map(|text| DrawnThing::Element(Box::new(ElementContent::text(text).into()))));
            }
            b"rect" if tag.attribute("hr").as_deref() == Some("t") => {
                drawn.push(DrawnThing::Element(Box::new(ElementContent::Separator {}.into())));
            }
            _ => note_fact(context, &tag, &mut facts),
        }
    }
    Ok(())
}

/// Keeps what a tag says about the picture that follows.
fn note_fact(context: &WordContext<'_>, tag: &XmlTag<'_>, facts: &mut PictureFacts) {
    match tag.name() {
        b"docPr" | b"cNvPr" => {
            let words = [tag.attribute("descr"), tag.attribute("title")].into_iter().flatten();
            if let Some(alt) = words.into_iter().find(|words| !words.trim().is_empty()) {
                facts.alt = Some(alt);
            }
            facts.hidden |= tag.attribute("hidden").is_some_and(|hidden| hidden == "1" || hidden == "true");
        }
        b"hlinkClick" => {
            let id = tag.attribute("id").unwrap_or_default();
            facts.url = context.relationships.address(&id).map(str::to_owned);
        }
        b"extent" => {
            facts.width = tag.number("cx");
            facts.height = tag.number("cy");
        }
        b"shape" => facts.alt = tag.attribute("alt").filter(|alt| !alt.trim().is_empty()),
        _ => {}
    }
}

fn draw_picture(context: &mut WordContext<'_>, facts: &mut PictureFacts, drawn: &mut Vec<DrawnThing<'_>>) {
    let facts = std::mem::take(facts);
    let draft = picture_draft(context.package, &context.relationships, facts);
    drawn.extend(draft.map(Box::new).map(DrawnThing::Element));
}

/// A chart or a diagram, whose part an attribute names.
fn draw_part(context: &mut WordContext<'_>, tag: &XmlTag<'_>, attribute: &str, drawn: &mut Vec<DrawnThing<'_>>) {
    let id = tag.attribute(attribute).unwrap_or_default();
    let Some(part) = context.relationships.part(&id).map(str::to_owned) else { return };
    if !context.drawn_parts.insert(part.clone()) {
        return;
    }
    let read = match attribute {
        "dm" => read_diagram(context.package, &part),
        _ => read_chart(context.package, &part),
    };
    match read {
        Ok(draft) => drawn.push(DrawnThing::Element(Box::new(draft))),
        Err(problem) => context.warn(&problem),
    }
}

/// An embedded object is shown by the picture before it.
fn describe_object(tag: &XmlTag<'_>, drawn: &mut [DrawnThing<'_>]) {
    let program = tag.attribute("ProgID").unwrap_or_default();
    if let Some(DrawnThing::Element(draft)) = drawn.last_mut()
        && let ElementContent::Image { description, .. } = &mut draft.content
        && !program.is_empty()
    {
        *description = Some(format!("embedded object ({program})"));
    }
}
