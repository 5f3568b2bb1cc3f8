//! Markdown: headings, paragraphs with their emphasis and links, lists, tables, code, pictures, footnotes.

use a2c_document_model::{DocumentProperties, ElementContent, ElementDraft, UnreadableFile};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::collector::{ElementCollector, Emphasis};
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
    let mut reading = MarkdownReading::default();
    Parser::new_ext(text, options).for_each(|event| reading.take(event));
    reading.collector.finish()
}

/// What is open while the events of a Markdown text come one by one.
#[derive(Default)]
struct MarkdownReading {
    collector: ElementCollector,
    /// The language and the lines of the code that is open.
    code: Option<(Option<String>, String)>,
    /// The address of the picture that is open, and its words.
    image: Option<(String, String)>,
    in_table: bool,
    in_head: bool,
    /// Whether what comes is for other programs.
    in_metadata: bool,
}

impl MarkdownReading {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(text) => {
                self.collector.set_emphasis(Emphasis::Code, true);
                self.text(&text);
                self.collector.set_emphasis(Emphasis::Code, false);
            }
            Event::InlineMath(text) => self.text(&format!("${text}$")),
            Event::DisplayMath(text) => {
                let expression = text.trim().to_owned();
                self.collector.element(ElementContent::Formula { expression, value: None });
            }
            Event::SoftBreak => self.text(if self.in_table { " " } else { "\n" }),
            Event::HardBreak => self.text("\n"),
            Event::Rule => self.collector.element(ElementContent::Separator {}),
            Event::FootnoteReference(name) => self.text(&format!("[^{name}]")),
            Event::TaskListMarker(done) => self.text(if done { "[x] " } else { "[ ] " }),
            Event::Html(html) => {
                if let Some((_, code)) = &mut self.code {
                    code.push_str(&html);
                }
            }
            Event::InlineHtml(html) if html.starts_with("<br") => self.text("\n"),
            Event::InlineHtml(_) => {}
        }
    }

    fn text(&mut self, text: &str) {
        if let Some((_, code)) = &mut self.code {
            code.push_str(text);
        } else if !self.in_metadata {
            if let Some((_, alt)) = &mut self.image {
                alt.push_str(text);
            }
            self.collector.text(text);
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Strong => self.collector.set_emphasis(Emphasis::Bold, true),
            Tag::Emphasis => self.collector.set_emphasis(Emphasis::Italic, true),
            Tag::Strikethrough => self.collector.set_emphasis(Emphasis::Strike, true),
            Tag::Link { dest_url, .. } => self.collector.start_link(dest_url.into_string()),
            Tag::Image { dest_url, .. } => self.image = Some((dest_url.into_string(), String::new())),
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language.split_whitespace().next().map(ToOwned::to_owned),
                    CodeBlockKind::Indented => None,
                };
                self.collector.end_paragraph();
                self.code = Some((language, String::new()));
            }
            Tag::HtmlBlock => self.code = Some((Some("html".to_owned()), String::new())),
            Tag::List(first) => self.collector.start_list(first.is_some()),
            Tag::Item => self.collector.start_item(),
            Tag::Table(_) => {
                self.in_table = true;
                self.collector.start_table();
            }
            Tag::TableHead => {
                self.in_head = true;
                self.collector.start_row();
            }
            Tag::TableRow => self.collector.start_row(),
            Tag::TableCell => self.collector.start_cell(self.in_head),
            Tag::FootnoteDefinition(name) => self.collector.start_note(name.into_string()),
            Tag::MetadataBlock(_) => self.in_metadata = true,
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Strong => self.collector.set_emphasis(Emphasis::Bold, false),
            TagEnd::Emphasis => self.collector.set_emphasis(Emphasis::Italic, false),
            TagEnd::Strikethrough => self.collector.set_emphasis(Emphasis::Strike, false),
            TagEnd::Link => self.collector.end_link(),
            TagEnd::Image => {
                if let Some((url, alt)) = self.image.take() {
                    self.collector.image(Some(alt).filter(|alt| !alt.is_empty()), url);
                }
            }
            TagEnd::Heading(level) => self.collector.end_heading(level as u8),
            TagEnd::Paragraph => self.collector.end_paragraph(),
            TagEnd::CodeBlock | TagEnd::HtmlBlock => {
                if let Some((language, text)) = self.code.take() {
                    self.collector.code(language, text);
                }
            }
            TagEnd::Item => self.collector.end_item(),
            TagEnd::List(_) => self.collector.end_list(),
            TagEnd::TableCell => self.collector.end_cell(),
            TagEnd::TableHead | TagEnd::TableRow => {
                self.in_head = false;
                self.collector.end_row();
            }
            TagEnd::Table => {
                self.in_table = false;
                self.collector.end_table();
            }
            TagEnd::FootnoteDefinition => self.collector.end_note(),
            TagEnd::MetadataBlock(_) => self.in_metadata = false,
            _ => {}
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
