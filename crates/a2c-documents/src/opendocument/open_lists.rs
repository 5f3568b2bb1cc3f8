//! Lists, with the labels of their items.

use a2c_document_model::UnreadableFile;

use super::open_body::OpenBody;
use super::open_styles::{OpenStyle, StyleFamily};
use crate::rich_text::{BULLET, CountFormat, DocumentFlow, ListItem, PlacedParagraph};
use crate::xml::{XmlEvent, XmlReader, XmlTag};

/// Where a paragraph stands in a list.
#[derive(Clone, Copy)]
struct ListPlace<'s> {
    level: usize,
    style: &'s str,
    /// Whether it is the first of its item, which has the label.
    labelled: bool,
}

impl OpenBody<'_> {
    /// Reads the list that began last.
    pub(super) fn list(
        &mut self,
        xml: &mut XmlReader<'_>,
        tag: &XmlTag<'_>,
        flow: &mut DocumentFlow,
        level: usize,
        inherited: &str,
    ) -> Result<(), UnreadableFile> {
        let (depth, id) = (xml.depth(), tag.attribute("id"));
        let style = tag.attribute("style-name").unwrap_or_else(|| inherited.to_owned());
        match level {
            0 => {
                let goes_on = tag.attribute("continue-numbering").as_deref() == Some("true");
                let goes_on = goes_on || (self.joins_lists && flow.is_in_list());
                self.lists.begin(goes_on, tag.attribute("continue-list").as_deref());
            }
            level => self.lists.begin_level(level),
        }
        while let Some(event) = xml.within(depth)? {
            let XmlEvent::Start(tag) = event else { continue };
            let labelled = tag.name() == b"list-item";
            if labelled {
                let start =
                    self.styles.list(&style).and_then(|style| style.level(level)).map_or(1, |level| level.start);
                self.lists.item(level, tag.number("start-value"), start);
            }
            if labelled || tag.name() == b"list-header" {
                self.item(xml, flow, ListPlace { level, style: &style, labelled })?;
            }
        }
        if level == 0 {
            self.lists.end(id);
        }
        Ok(())
    }

    /// Reads an item: its first paragraph has the label, those after it belong to it.
    fn item(
        &mut self,
        xml: &mut XmlReader<'_>,
        flow: &mut DocumentFlow,
        mut place: ListPlace<'_>,
    ) -> Result<(), UnreadableFile> {
        let (depth, mut open) = (xml.depth(), None::<ListItem>);
        while let Some(event) = xml.within(depth)? {
            let XmlEvent::Start(tag) = event else { continue };
            if tag.name() != b"p" {
                open.take().into_iter().for_each(|item| self.put(PlacedParagraph::Item(item), flow));
            }
            match tag.name() {
                b"p" => {
                    let style =
                        self.styles.get(StyleFamily::Paragraph, &tag.attribute("style-name").unwrap_or_default());
                    self.begin_block(&style, flow);
                    let mut read = self.inline(xml, flow.form, style.run)?;
                    let (text, metadata) = std::mem::take(&mut read.text).finish();
                    match &mut open {
                        _ if text.is_empty() => {}
                        Some(item) => {
                            item.text += &format!("\n{text}");
                            item.links.extend(metadata.links);
                        }
                        None => open = Some(ListItem { text, links: metadata.links, ..self.list_item(place) }),
                    }
                    let has_aside = !read.notes.is_empty() || read.has_break || !read.aside.is_empty();
                    if has_aside {
                        open.take().into_iter().for_each(|item| self.put(PlacedParagraph::Item(item), flow));
                        self.finish_block(PlacedParagraph::Nothing, read, &OpenStyle::default(), flow);
                    }
                    place.labelled = false;
                }
                b"h" => {
                    let label = place.labelled.then(|| self.list_item(place).label);
                    self.heading(xml, &tag, flow, label)?;
                    place.labelled = false;
                }
                b"list" => self.list(xml, &tag, flow, place.level + 1, place.style)?,
                _ => self.block(xml, &tag, flow)?,
            }
        }
        open.take().into_iter().for_each(|item| self.put(PlacedParagraph::Item(item), flow));
        Ok(())
    }

    fn list_item(&self, place: ListPlace<'_>) -> ListItem {
        let style = self.styles.list(place.style);
        let format = style.and_then(|style| style.level(place.level)).map(|level| level.format);
        // A list whose style nobody declares has bullets.
        let ordered = format.is_some_and(CountFormat::is_counted);
        let label = style.map(|style| style.label(self.lists.counts())).unwrap_or_default();
        let label = if place.labelled && ordered { label } else { BULLET.to_owned() };
        let level = u8::try_from(place.level).unwrap_or(u8::MAX);
        ListItem { label, ordered, list: self.lists.list(), level, ..ListItem::default() }
    }
}
