//! Markdown: headings, paragraphs with their emphasis and links, lists, tables, code, pictures, footnotes.

use a2c_document_model::{
    AnnotationKind, DocumentProperties, ElementContent, ElementDraft, InlineLink, ListEntry, TableContent, TextSpan,
    UnreadableFile,
};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::encoding::decoded;
use crate::flow::{FlowDocument, divide_at_headings};
use crate::limits::ReadLimits;
use crate::reader::FormatReader;
use crate::source::Source;

pub(crate) fn open(source: &Source, limits: &ReadLimits) -> Result<Box<dyn FormatReader>, UnreadableFile> {
    let bytes = source.bytes(limits.file_bytes)?;
    let text = decoded(&bytes);
    let elements = elements(&text);
    let properties = DocumentProperties { title: front_matter_title(&text), ..DocumentProperties::default() };
    Ok(Box::new(FlowDocument::new(properties, divide_at_headings(elements, limits.page_elements))))
}

/// The title in the lines between `---` at the top, which other programs read.
fn front_matter_title(text: &str) -> Option<String> {
    let (front, _) = text.strip_prefix("---\n")?.split_once("\n---")?;
    let title = front.lines().find_map(|line| line.strip_prefix("title:"))?;
    let title = title.trim().trim_matches(['"', '\'']);
    (!title.is_empty()).then(|| title.to_owned())
}

/// The elements of a Markdown text.
pub(crate) fn elements(text: &str) -> Vec<ElementDraft> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_MATH;
    let mut collecting = Collecting::default();
    Parser::new_ext(text, options).for_each(|event| collecting.take(event));
    collecting.end_text(ElementContent::text);
    collecting.elements.append(&mut collecting.notes);
    collecting.elements
}

/// A text while it is collected.
#[derive(Default)]
struct RunningText {
    text: String,
    spans: Vec<TextSpan>,
    links: Vec<InlineLink>,
    /// Pictures within it.
    images: Vec<ElementContent>,
    /// How the text is formatted now.
    style: TextSpan,
    /// Where the link that is open began.
    link_start: usize,
    image: Option<(String, usize)>,
}

impl RunningText {
    fn push(&mut self, text: &str) {
        let (start, length) = (self.text.len(), text.len());
        self.text.push_str(text);
        let plain = TextSpan::default();
        if length == 0 || (TextSpan { start: 0, length: 0, ..self.style.clone() }) == plain {
            return;
        }
        match self.spans.last_mut() {
            Some(last)
                if last.start + last.length == start
                    && (TextSpan { start: 0, length: 0, ..last.clone() })
                        == (TextSpan { start: 0, length: 0, ..self.style.clone() }) =>
            {
                last.length += length;
            }
            _ => self.spans.push(TextSpan { start, length, ..self.style.clone() }),
        }
    }
}

/// A list while it is collected.
struct OpenList {
    ordered: bool,
    items: Vec<ListEntry>,
    /// The words of the item that is open.
    text: Option<String>,
    below: Vec<ListEntry>,
}

/// A table while it is collected.
#[derive(Default)]
struct OpenTable {
    headers: Vec<String>,
    rows: Vec<Vec<String>>,
    /// The row that is open.
    row: Vec<String>,
}

#[derive(Default)]
struct Collecting {
    elements: Vec<ElementDraft>,
    notes: Vec<ElementDraft>,
    running: RunningText,
    lists: Vec<OpenList>,
    table: Option<OpenTable>,
    code: Option<(Option<String>, String)>,
    note: Option<String>,
    ignoring: bool,
}

impl Collecting {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None if self.ignoring => {}
                None => self.running.push(&text),
            },
            Event::Code(text) => {
                self.running.style.code = true;
                self.running.push(&text);
                self.running.style.code = false;
            }
            Event::InlineMath(text) => self.running.push(&format!("${text}$")),
            Event::DisplayMath(text) => {
                self.end_text(ElementContent::text);
                self.add(ElementContent::Formula { expression: text.trim().to_owned(), value: None }.into());
            }
            Event::SoftBreak => self.running.push(if self.table.is_some() { " " } else { "\n" }),
            Event::HardBreak => self.running.push("\n"),
            Event::Rule => self.add(ElementContent::Separator {}.into()),
            Event::FootnoteReference(name) => self.running.push(&format!("[^{name}]")),
            Event::TaskListMarker(done) => self.running.push(if done { "[x] " } else { "[ ] " }),
            Event::Html(html) => {
                if let Some((_, code)) = &mut self.code {
                    code.push_str(&html);
                }
            }
            Event::InlineHtml(html) if html.starts_with("<br") => self.running.push("\n"),
            Event::InlineHtml(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Strong => self.running.style.bold = true,
            Tag::Emphasis => self.running.style.italic = true,
            Tag::Strikethrough => self.running.style.strike = true,
            Tag::Link { dest_url, .. } => {
                self.running.link_start = self.running.text.len();
                self.running.style.url = Some(dest_url.into_string());
            }
            Tag::Image { dest_url, .. } => self.running.image = Some((dest_url.into_string(), self.running.text.len())),
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language.split_whitespace().next().map(ToOwned::to_owned),
                    CodeBlockKind::Indented => None,
                };
                self.code = Some((language, String::new()));
            }
            Tag::HtmlBlock => self.code = Some((Some("html".to_owned()), String::new())),
            Tag::List(first) => {
                self.end_item_text();
                self.lists.push(OpenList {
                    ordered: first.is_some(),
                    items: Vec::new(),
                    text: None,
                    below: Vec::new(),
                });
            }
            Tag::Item => {
                if let Some(list) = self.lists.last_mut() {
                    list.text = Some(String::new());
                }
            }
            Tag::Table(_) => self.table = Some(OpenTable::default()),
            Tag::FootnoteDefinition(name) => self.note = Some(name.into_string()),
            Tag::MetadataBlock(_) => self.ignoring = true,
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Strong => self.running.style.bold = false,
            TagEnd::Emphasis => self.running.style.italic = false,
            TagEnd::Strikethrough => self.running.style.strike = false,
            TagEnd::Link => {
                if let Some(url) = self.running.style.url.take() {
                    let text = self.running.text[self.running.link_start..].to_owned();
                    self.running.links.push(InlineLink { text, url, cell: None });
                }
            }
            TagEnd::Image => self.end_image(),
            TagEnd::Heading(level) => {
                let level = level as u8;
                self.end_text(|text| ElementContent::Heading { level, text });
            }
            TagEnd::Paragraph => self.end_paragraph(),
            TagEnd::CodeBlock | TagEnd::HtmlBlock => {
                if let Some((language, text)) = self.code.take() {
                    self.add(ElementContent::Code { language, text, truncated: false }.into());
                }
            }
            TagEnd::Item => {
                self.end_item_text();
                if let Some(list) = self.lists.last_mut() {
                    let text = list.text.take().unwrap_or_default();
                    let below = std::mem::take(&mut list.below);
                    list.items.push(ListEntry::new(text, below));
                }
            }
            TagEnd::List(_) => self.end_list(),
            TagEnd::TableCell => {
                let text = std::mem::take(&mut self.running).text;
                if let Some(table) = &mut self.table {
                    table.row.push(text.trim().to_owned());
                }
            }
            TagEnd::TableHead => {
                if let Some(table) = &mut self.table {
                    table.headers = std::mem::take(&mut table.row);
                }
            }
            TagEnd::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(std::mem::take(&mut table.row));
                }
            }
            TagEnd::Table => {
                if let Some(OpenTable { headers, rows, .. }) = self.table.take() {
                    self.add(ElementContent::Table(TableContent::whole(headers, rows)).into());
                }
            }
            TagEnd::FootnoteDefinition => {
                self.end_text(ElementContent::text);
                self.note = None;
            }
            TagEnd::MetadataBlock(_) => self.ignoring = false,
            _ => {}
        }
    }

    /// A picture that stands alone in its paragraph is an element; one within a text stays there, by its words.
    fn end_image(&mut self) {
        let Some((url, start)) = self.running.image.take() else { return };
        let alt = Some(self.running.text[start..].to_owned()).filter(|alt| !alt.is_empty());
        let none = None;
        let image = ElementContent::Image {
            alt,
            url: Some(url),
            description: None,
            mime_type: none,
            width: None,
            height: None,
        };
        self.running.images.push(image);
    }

    fn end_paragraph(&mut self) {
        if self.lists.last().is_some_and(|list| list.text.is_some()) {
            return self.end_item_text();
        }
        let RunningText { text, images, links, .. } = &self.running;
        let alt_only = images.iter().map(|image| match image {
            ElementContent::Image { alt, .. } => alt.as_deref().unwrap_or_default(),
            _ => "",
        });
        if !images.is_empty()
            && text.split_whitespace().collect::<String>()
                == alt_only.collect::<Vec<_>>().join("").split_whitespace().collect::<String>()
        {
            let images = std::mem::take(&mut self.running).images;
            images.into_iter().for_each(|image| self.add(image.into()));
            return;
        }
        if let [link] = links.as_slice()
            && link.text.trim() == text.trim()
            && !text.trim().is_empty()
        {
            let link = ElementContent::Link { text: link.text.clone(), url: link.url.clone() };
            self.running = RunningText::default();
            return self.add(link.into());
        }
        self.end_text(ElementContent::text);
    }

    /// What was collected belongs to the item that is open.
    fn end_item_text(&mut self) {
        if let Some(list) = self.lists.last_mut()
            && let Some(words) = &mut list.text
        {
            let text = std::mem::take(&mut self.running).text;
            if !words.is_empty() && !text.trim().is_empty() {
                words.push('\n');
            }
            words.push_str(text.trim());
        }
    }

    fn end_list(&mut self) {
        let Some(list) = self.lists.pop() else { return };
        match self.lists.last_mut() {
            Some(above) => above.below.extend(list.items),
            None => self.add(ElementContent::List { ordered: list.ordered, items: list.items }.into()),
        }
    }

    fn end_text(&mut self, make: impl FnOnce(String) -> ElementContent) {
        let RunningText { text, spans, links, .. } = std::mem::take(&mut self.running);
        if text.trim().is_empty() {
            return;
        }
        if let Some(note) = &self.note {
            let (text, target) = (text, Some(note.clone()));
            let kind = AnnotationKind::Footnote;
            let note = ElementContent::Annotation { kind, text, author: None, date: None, target, error: None };
            return self.notes.push(note.into());
        }
        let mut draft = ElementDraft::from(make(text.trim_end().to_owned()));
        draft.metadata.spans = spans;
        draft.metadata.links = links;
        self.add(draft);
    }

    /// An element within a list stands after the list.
    fn add(&mut self, element: ElementDraft) {
        match (self.lists.last_mut(), &element.content) {
            (Some(list), ElementContent::Code { text, .. }) if list.text.is_some() => {
                list.below.push(ListEntry::Plain(text.trim_end().to_owned()));
            }
            _ => self.elements.push(element),
        }
    }
}

#[cfg(test)]
mod tests {
    use a2c_document_model::{IdAssigner, PageDraft, render};

    use super::*;

    fn again(text: &str) -> String {
        let page = PageDraft { elements: elements(text), ..PageDraft::default() };
        render::markdown(&IdAssigner::default().page(0, page))
    }

    #[test]
    fn what_is_read_is_written_again() {
        for text in [
            "# One\n\ntwo *three* **four** `five` ~~six~~ [seven](http://h)",
            "- a\n- b\n  - c\n  - d\n- e",
            "1. a\n2. b",
            "| a | b |\n| --- | --- |\n| 1 | 2 |",
            "```rust\nfn main() {}\n```",
            "![alt](pic.png)",
            "[only](http://h)",
            "---",
            "line\nline",
            "中文段落",
        ] {
            assert_eq!(again(text), text);
        }
    }

    #[test]
    fn footnotes_stand_at_the_end() {
        assert_eq!(again("a[^1]\n\n[^1]: the note\n\nb"), "a[^1]\n\nb\n\n[annotation: the note]");
    }

    #[test]
    fn front_matter_is_no_text() {
        let text = "---\ntitle: \"T\"\nx: y\n---\n\n# H\n";
        assert_eq!(again(text), "# H");
        assert_eq!(front_matter_title(text).as_deref(), Some("T"));
    }
}
