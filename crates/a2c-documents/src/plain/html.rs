//! HTML, as a reader of the page sees it: headings, paragraphs, lists, tables, code, pictures; no script, no style.
//!
//! It is read token by token, without a tree: nothing grows with the depth of the page but a count, and what an author forgot
//! to end is ended by what comes next, as browsers do.

use a2c_document_model::{DocumentProperties, ElementContent, ElementDraft, UnreadableFile};
use html5gum::emitters::default::DefaultEmitter;
use html5gum::{HtmlString, StartTag, Token, Tokenizer};

use super::collector::{ElementCollector, Emphasis};
use crate::encoding::decoded;
use crate::flow::{FlowDocument, divide_at_headings};
use crate::limits::ReadLimits;
use crate::reader::FormatReader;
use crate::source::Source;

pub(crate) fn open(source: &Source, limits: &ReadLimits) -> Result<Box<dyn FormatReader>, UnreadableFile> {
    let bytes = source.bytes(limits.file_bytes)?;
    let (properties, elements) = read(&decoded(&bytes));
    Ok(Box::new(FlowDocument::new(properties, divide_at_headings(elements, limits.page_elements))))
}

/// What a page says about itself, and its elements.
pub(crate) fn read(text: &str) -> (DocumentProperties, Vec<ElementDraft>) {
    let mut emitter = DefaultEmitter::default();
    // The text of scripts and styles is no markup.
    emitter.naively_switch_states(true);
    let mut reading = HtmlReading::default();
    for token in Tokenizer::new_with_emitter(text, emitter) {
        match token {
            Ok(Token::StartTag(tag)) => reading.start(&tag),
            Ok(Token::EndTag(tag)) => reading.end(&tag.name),
            Ok(Token::String(text)) => reading.text(&String::from_utf8_lossy(&text)),
            _ => {}
        }
    }
    let mut properties = reading.properties;
    let title = reading.title.split_whitespace().collect::<Vec<_>>().join(" ");
    properties.title = Some(title).filter(|title| !title.is_empty());
    (properties, reading.collector.finish())
}

/// What is open while the tokens of a page come one by one.
#[derive(Default)]
struct HtmlReading {
    collector: ElementCollector,
    properties: DocumentProperties,
    title: String,
    in_title: bool,
    /// The element whose content nobody sees, and how many of its name are open.
    hidden: Option<(Vec<u8>, usize)>,
    /// The code that is open: how many `pre`, its language, its text.
    code: Option<(usize, Option<String>, String)>,
}

/// Elements whose content is not for readers.
const HIDDEN: [&[u8]; 9] =
    [b"script", b"style", b"template", b"noscript", b"svg", b"math", b"select", b"iframe", b"object"];

/// Elements that end a paragraph when they begin or end.
const BLOCKS: [&[u8]; 27] = [
    b"p",
    b"div",
    b"section",
    b"article",
    b"main",
    b"header",
    b"footer",
    b"nav",
    b"aside",
    b"figure",
    b"figcaption",
    b"blockquote",
    b"address",
    b"form",
    b"fieldset",
    b"legend",
    b"dl",
    b"dt",
    b"dd",
    b"details",
    b"summary",
    b"center",
    b"body",
    b"html",
    b"head",
    b"hgroup",
    b"caption",
];

impl HtmlReading {
    fn start(&mut self, tag: &StartTag<()>) {
        let name = tag.name.as_slice();
        if let Some((hidden, count)) = &mut self.hidden {
            if hidden == name && !tag.self_closing {
                *count += 1;
            }
            return;
        }
        if HIDDEN.contains(&name) {
            if !tag.self_closing {
                self.hidden = Some((name.to_owned(), 1));
            }
            return;
        }
        if let Some((count, language, _)) = &mut self.code {
            match name {
                b"pre" => *count += 1,
                b"code" if language.is_none() => *language = code_language(tag),
                b"br" => self.text("\n"),
                _ => {}
            }
            return;
        }
        match name {
            b"title" => self.in_title = true,
            b"meta" => self.meta(tag),
            b"html" => self.properties.language = attribute(tag, "lang").filter(|tag| !tag.is_empty()),
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => self.collector.end_paragraph(),
            b"br" => self.collector.text("\n"),
            b"hr" => self.collector.element(ElementContent::Separator {}),
            b"ul" | b"menu" => self.collector.start_list(false),
            b"ol" => self.collector.start_list(true),
            b"li" => self.collector.start_item(),
            b"table" => self.collector.start_table(),
            b"tr" => self.collector.start_row(),
            b"td" => self.collector.start_cell(false),
            b"th" => self.collector.start_cell(true),
            b"pre" => {
                self.collector.end_paragraph();
                self.code = Some((1, code_language(tag), String::new()));
            }
            b"a" => {
                if let Some(url) = attribute(tag, "href").filter(|url| !url.is_empty()) {
                    self.collector.start_link(url);
                }
            }
            b"img" => {
                let alt = attribute(tag, "alt").filter(|alt| !alt.trim().is_empty());
                if let Some(alt) = &alt {
                    self.text(alt);
                }
                if let Some(url) = attribute(tag, "src") {
                    // A picture within the page would fill the text with its bytes.
                    let url = if url.starts_with("data:") { "data:".to_owned() } else { url };
                    self.collector.image(alt, url);
                }
            }
            _ => match emphasis(name) {
                Some(emphasis) => self.collector.set_emphasis(emphasis, true),
                None if BLOCKS.contains(&name) => self.collector.end_paragraph(),
                None => {}
            },
        }
    }

    fn end(&mut self, name: &HtmlString) {
        let name = name.as_slice();
        if let Some((hidden, count)) = &mut self.hidden {
            if hidden == name {
                *count -= 1;
                if *count == 0 {
                    self.hidden = None;
                }
            }
            return;
        }
        if let Some((count, _, _)) = &mut self.code {
            if name == b"pre" {
                *count -= 1;
            }
            if *count == 0
                && let Some((_, language, text)) = self.code.take()
            {
                self.collector.code(language, text);
            }
            return;
        }
        match name {
            b"title" => self.in_title = false,
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => self.collector.end_heading(name[1] - b'0'),
            b"ul" | b"ol" | b"menu" => self.collector.end_list(),
            b"li" => self.collector.end_item(),
            b"table" => self.collector.end_table(),
            b"tr" => self.collector.end_row(),
            b"td" | b"th" => self.collector.end_cell(),
            b"a" => self.collector.end_link(),
            _ => match emphasis(name) {
                Some(emphasis) => self.collector.set_emphasis(emphasis, false),
                None if BLOCKS.contains(&name) => self.collector.end_paragraph(),
                None => {}
            },
        }
    }

    /// Blanks and line breaks of the source are one blank.
    fn text(&mut self, text: &str) {
        if self.hidden.is_some() {
            return;
        }
        if self.in_title {
            return self.title.push_str(text);
        }
        if let Some((_, _, code)) = &mut self.code {
            return code.push_str(text);
        }
        let blank = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}');
        let words: Vec<&str> = text.split(blank).filter(|word| !word.is_empty()).collect();
        let begins = text.starts_with(blank) && !self.collector.ends_with_blank();
        let ends = text.ends_with(blank) && !words.is_empty();
        let mut line = String::with_capacity(text.len());
        if begins {
            line.push(' ');
        }
        line.push_str(&words.join(" "));
        if ends {
            line.push(' ');
        }
        self.collector.text(&line);
    }

    fn meta(&mut self, tag: &StartTag<()>) {
        let (Some(name), Some(content)) = (attribute(tag, "name"), attribute(tag, "content")) else { return };
        let content = content.trim().to_owned();
        if content.is_empty() {
            return;
        }
        match name.to_ascii_lowercase().as_str() {
            "author" => self.properties.author = Some(content),
            "description" => self.properties.subject = Some(content),
            "keywords" => {
                let words = content.split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty());
                self.properties.keywords = words.collect();
            }
            _ => {}
        }
    }
}

fn attribute(tag: &StartTag<()>, name: &str) -> Option<String> {
    let value = tag.attributes.get(name.as_bytes())?;
    Some(String::from_utf8_lossy(&value.value).into_owned())
}

/// The language in `class="language-rust"`, as most programs write it.
fn code_language(tag: &StartTag<()>) -> Option<String> {
    let class = attribute(tag, "class")?;
    let mut words = class.split_whitespace();
    words.find_map(|word| word.strip_prefix("language-").or_else(|| word.strip_prefix("lang-"))).map(ToOwned::to_owned)
}

fn emphasis(name: &[u8]) -> Option<Emphasis> {
    Some(match name {
        b"b" | b"strong" => Emphasis::Bold,
        b"i" | b"em" | b"cite" | b"dfn" => Emphasis::Italic,
        b"u" | b"ins" => Emphasis::Underline,
        b"s" | b"del" | b"strike" => Emphasis::Strike,
        b"code" | b"kbd" | b"samp" | b"tt" => Emphasis::Code,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use a2c_document_model::{IdAssigner, PageDraft, render};

    use super::*;

    fn shown(html: &str) -> String {
        let page = PageDraft { elements: read(html).1, ..PageDraft::default() };
        render::markdown(&IdAssigner::default().page(0, page))
    }

    #[test]
    fn a_page_is_read_as_it_is_seen() {
        for (html, expected) in [
            ("<h1>One  <i>two</i></h1><p>three\n  four <b>five</b>.</p>", "# One *two*\n\nthree four **five**."),
            ("<p>a<p>b<div>c</div>d", "a\n\nb\n\nc\n\nd"),
            ("<ul><li>a<li>b<ol><li>c</ol></ul>", "- a\n- b\n  - c"),
            ("<p>x <a href=\"http://h/\">y</a> z</p>", "x [y](http://h/) z"),
            ("<a href='http://h/'>only</a>", "[only](http://h/)"),
            ("<pre><code class=\"language-rust\">fn a() {\n}\n</code></pre>", "```rust\nfn a() {\n}\n```"),
            ("<img src=a.png alt=\"A b\">", "![A b](a.png)"),
            ("<script>if (a<b) { '<p>no</p>' }</script><style>p {}</style><p>yes</p>", "yes"),
            ("a<br>b<hr>c &amp; d&nbsp;e", "a\nb\n\n---\n\nc & d\u{a0}e"),
            ("", ""),
        ] {
            assert_eq!(shown(html), expected, "{html}");
        }
    }

    #[test]
    fn tables_have_headers_and_rows_and_those_within_cells_are_text() {
        let html = "<table><caption>c</caption><thead><tr><th>a<th>b</tr></thead><tr><td>1<td>2</tr></table>";
        assert!(shown(html).contains("| a | b |\n| --- | --- |\n| 1 | 2 |"), "{}", shown(html));
        let nested = "<table><tr><td>x <table><tr><td>y</td></tr></table></td><td>z</td></tr></table>";
        assert!(shown(nested).contains("| x y | z |"), "{}", shown(nested));
    }

    #[test]
    fn what_a_page_says_about_itself_is_known() {
        let html = "<html lang=de><head><title> A\n b </title><meta name=author content=Me>\
                    <meta name=Keywords content='x, y'></head><body><p>t";
        let (properties, elements) = read(html);
        assert_eq!(properties.title.as_deref(), Some("A b"));
        assert_eq!((properties.author.as_deref(), properties.language.as_deref()), (Some("Me"), Some("de")));
        assert_eq!((properties.keywords, elements.len()), (vec!["x".to_owned(), "y".to_owned()], 1));
    }

    #[test]
    fn depth_costs_nothing() {
        let deep = "<div>".repeat(100_000) + "x" + &"<ul><li>y".repeat(100_000) + &"<table><tr><td>".repeat(100_000);
        assert!(shown(&deep).starts_with("x\n\n- y"));
    }
}
