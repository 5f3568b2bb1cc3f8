//! Markdown, by the rules of the protocol.

use std::slice::Iter;

use super::inline::pieces;
use super::{BULLET, CHART, IMAGE, rows_here, summary};
use crate::content::{ElementContent, ListEntry};
use crate::element::ReadElement;
use crate::page::ReadPage;
use crate::table::TableContent;

/// A page as Markdown.
pub fn markdown(page: &ReadPage) -> String {
    let parts: Vec<String> = page.elements.iter().map(element_markdown).filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

/// An element as Markdown.
pub fn element_markdown(element: &ReadElement) -> String {
    match &element.content {
        ElementContent::Heading { level, text } => {
            let level = usize::from((*level).clamp(1, 6));
            format!("{} {}", "#".repeat(level), one_line(&inline(text, element)))
        }
        ElementContent::Text { text, .. } => inline(text, element),
        ElementContent::List { ordered, items } => {
            let mut lines = Vec::new();
            list(items, *ordered, "", &mut element.metadata.labels.iter(), &mut lines);
            lines.join("\n")
        }
        ElementContent::Code { language, text, .. } => code(language.as_deref().unwrap_or_default(), text),
        ElementContent::Table(content) => table(content),
        ElementContent::Chart { title, data_summary, .. } => {
            format!("[{CHART}: {title}] {data_summary}").trim_end().to_owned()
        }
        ElementContent::Image { alt, url: Some(url), .. } => {
            format!("![{}]({})", alt.as_deref().unwrap_or_default(), address(url))
        }
        ElementContent::Image { alt, description, .. } => {
            format!("[{IMAGE}: {}]", description.as_ref().or(alt.as_ref()).map_or("", |text| text))
        }
        ElementContent::Link { text, url } => format!("[{text}]({})", address(url)),
        ElementContent::Formula { expression, .. } => format!("$ {expression} $"),
        ElementContent::Separator {} => "---".to_owned(),
        other => format!("[{}: {}]", other.category(), one_line(&summary(element))),
    }
}

/// A text with its links and its emphasis.
fn inline(text: &str, element: &ReadElement) -> String {
    let mut written = String::new();
    for piece in pieces(text, element) {
        let Some(span) = piece.span else {
            written.push_str(piece.text);
            continue;
        };
        // Marks do not work beside blanks.
        let words = piece.text.trim();
        let begin = piece.text.len() - piece.text.trim_start().len();
        let (before, after) = (&piece.text[..begin], &piece.text[begin + words.len()..]);
        let mut marked = words.to_owned();
        if !words.is_empty() {
            if span.code {
                let ticks = "`".repeat(longest_run(words, '`') + 1);
                marked = format!("{ticks}{words}{ticks}");
            }
            for (mark, wanted) in [("*", span.italic), ("**", span.bold), ("~~", span.strike)] {
                if wanted {
                    marked = format!("{mark}{marked}{mark}");
                }
            }
            if let Some(url) = &span.url {
                marked = format!("[{marked}]({})", address(url));
            }
        }
        written.extend([before, &marked, after]);
    }
    written
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// An address within parentheses.
fn address(url: &str) -> String {
    let plain = !url.contains(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '<' | '>'));
    match plain {
        true => url.to_owned(),
        false => format!("<{}>", url.replace('<', "%3C").replace('>', "%3E").replace(['\n', '\r'], "")),
    }
}

fn list(items: &[ListEntry], ordered: bool, indent: &str, labels: &mut Iter<'_, String>, lines: &mut Vec<String>) {
    for (number, item) in items.iter().enumerate() {
        let (mark, label) = match labels.next() {
            None if ordered => (format!("{}. ", number + 1), String::new()),
            Some(label) if is_count(label) => (format!("{label} "), String::new()),
            // What is no mark of Markdown stands in the text.
            Some(label) if label != BULLET && !label.is_empty() => ("- ".to_owned(), format!("{label} ")),
            _ => ("- ".to_owned(), String::new()),
        };
        let below = format!("{indent}{}", " ".repeat(mark.len()));
        let text = item.text().replace('\n', &format!("\n{below}"));
        lines.push(format!("{indent}{mark}{label}{text}"));
        list(item.items(), ordered, &below, labels, lines);
    }
}

/// Whether a label is a number as Markdown counts.
fn is_count(label: &str) -> bool {
    let digits = label.strip_suffix(['.', ')']).unwrap_or_default();
    (1..10).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn code(language: &str, text: &str) -> String {
    let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}")
}

/// The longest run of one character.
fn longest_run(text: &str, wanted: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == wanted { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

fn table(table: &TableContent) -> String {
    let columns = table.columns().max(1);
    let row = |cells: &[String]| {
        let cells = (0..columns).map(|n| cells.get(n).map(|cell| escaped(cell)).unwrap_or_default());
        format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
    };
    let rule = format!("|{}", " --- |".repeat(columns));
    let mut lines = vec![row(&table.headers), rule];
    lines.extend(table.rows.iter().map(|cells| row(cells)));
    if let Some(rows) = rows_here(table) {
        lines.extend([String::new(), format!("({rows})")]);
    }
    lines.join("\n")
}

/// A cell within pipes.
fn escaped(cell: &str) -> String {
    cell.trim().replace('\\', "\\\\").replace('|', "\\|").replace("\r\n", "\n").replace(['\n', '\r'], "<br>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::{ElementMetadata, TextSpan};

    fn shown(content: ElementContent) -> String {
        with(content, ElementMetadata::default())
    }

    fn with(content: ElementContent, metadata: ElementMetadata) -> String {
        element_markdown(&ReadElement { element_id: "x".into(), content, summary: None, metadata, blob: None })
    }

    #[test]
    fn every_category_has_its_markdown() {
        let entry = |text: &str| ListEntry::Plain(text.into());
        let nested = ListEntry::new("b\nc", vec![entry("d")]);
        let image = |alt: Option<&str>, url: Option<&str>, description: Option<&str>| ElementContent::Image {
            alt: alt.map(Into::into),
            url: url.map(Into::into),
            description: description.map(Into::into),
            mime_type: None,
            width: None,
            height: None,
        };
        let code =
            |text: &str| ElementContent::Code { language: Some("rust".into()), text: text.into(), truncated: false };
        for (content, expected) in [
            (ElementContent::Heading { level: 2, text: "A\nb".into() }, "## A b"),
            (ElementContent::Heading { level: 9, text: "A".into() }, "###### A"),
            (ElementContent::text("one\ntwo"), "one\ntwo"),
            (ElementContent::List { ordered: false, items: vec![entry("a"), nested.clone()] }, "- a\n- b\n  c\n  - d"),
            (ElementContent::List { ordered: true, items: vec![entry("a"), nested] }, "1. a\n2. b\n   c\n   1. d"),
            (code("a"), "```rust\na\n```"),
            (code("```\n"), "````rust\n```\n````"),
            (image(Some("a"), Some("http://h/a b"), None), "![a](<http://h/a b>)"),
            (image(Some("a"), None, Some("640 × 480")), "[图片: 640 × 480]"),
            (image(Some("a"), None, None), "[图片: a]"),
            (
                ElementContent::Chart {
                    chart_type: "bar".into(),
                    title: "T".into(),
                    data_summary: "S".into(),
                    series: vec![],
                },
                "[图表: T] S",
            ),
            (ElementContent::Link { text: "t".into(), url: "http://h".into() }, "[t](http://h)"),
            (ElementContent::Formula { expression: "a^2".into(), value: None }, "$ a^2 $"),
            (ElementContent::Separator {}, "---"),
            (ElementContent::Header { text: "top".into() }, "[header: top]"),
            (ElementContent::error("encrypted", "It wants a password."), "[annotation: It wants a password.]"),
        ] {
            assert_eq!(shown(content.clone()), expected, "{content:?}");
        }
    }

    #[test]
    fn a_table_keeps_its_columns_and_escapes_its_cells() {
        let rows = vec![vec!["a|b".into(), "c\nd".into()], vec!["only".into()]];
        let table = TableContent::whole(vec!["x".into(), "y".into()], rows);
        assert_eq!(shown(ElementContent::Table(table)), "| x | y |\n| --- | --- |\n| a\\|b | c<br>d |\n| only |  |");
        let headless = TableContent {
            truncated: true,
            total_rows: Some(9),
            ..TableContent::whole(vec![], vec![vec!["1".into()]])
        };
        assert_eq!(shown(ElementContent::Table(headless)), "|  |\n| --- |\n| 1 |\n\n(rows 1–1 of 9)");
    }

    #[test]
    fn labels_stand_before_the_items_of_a_list() {
        let items = vec![
            ListEntry::new("one", vec![ListEntry::Plain("two".into())]),
            ListEntry::Plain("three".into()),
            ListEntry::Plain("four".into()),
        ];
        let labels = ["7.", "•", "b)", ""].map(String::from).to_vec();
        let metadata = ElementMetadata { labels, ..ElementMetadata::default() };
        let shown = with(ElementContent::List { ordered: true, items }, metadata);
        assert_eq!(shown, "7. one\n   - two\n- b) three\n- four");
    }

    #[test]
    fn emphasis_and_links_stand_in_the_text() {
        let spans = vec![
            TextSpan { start: 0, length: 4, bold: true, ..TextSpan::default() },
            TextSpan { start: 4, length: 2, url: Some("http://h".into()), italic: true, ..TextSpan::default() },
            TextSpan { start: 900, length: 2, bold: true, ..TextSpan::default() },
        ];
        let metadata = ElementMetadata { spans, ..ElementMetadata::default() };
        assert_eq!(with(ElementContent::text("one two"), metadata), "**one** [*tw*](http://h)o");
    }
}
