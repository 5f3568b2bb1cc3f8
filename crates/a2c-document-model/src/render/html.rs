//! HTML that stands alone: one style sheet, pictures within it, no script.

use std::slice::Iter;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::inline::pieces;
use super::{rows_here, summary};
use crate::content::{AnnotationKind, ChartSeries, ElementContent, FormField, ListEntry};
use crate::element::ReadElement;
use crate::page::ReadPage;
use crate::table::TableContent;

/// How a document is shown.
#[derive(Default)]
pub struct HtmlOptions<'a> {
    /// The title of the window.
    pub title: &'a str,
    /// The language of the text, as a tag.
    pub language: Option<&'a str>,
    /// What a page looks like: `slide`, `sheet`, or nothing for a sheet of paper.
    pub page_class: &'a str,
    /// Where pictures come from; without it their words are shown.
    pub picture: Option<FindPicture<'a>>,
}

/// Finds the bytes of a picture.
pub type FindPicture<'a> = &'a dyn Fn(&ReadElement) -> Option<PictureBytes>;

/// A picture of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PictureBytes {
    /// What the bytes are.
    pub mime_type: String,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// Pages as one HTML document.
pub fn html(pages: &[ReadPage], options: &HtmlOptions<'_>) -> String {
    let mut written = String::from("<!doctype html>\n<html");
    if let Some(language) = options.language {
        written += &format!(" lang=\"{}\"", escaped(language));
    }
    // No script, and nothing from anywhere else.
    written += "><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
        <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">";
    written += &format!(
        "<title>{}</title><style>\n{}</style></head>\n<body><main>\n",
        escaped(options.title),
        include_str!("style.css")
    );
    for page in pages {
        show_page(page, pages.len(), options, &mut written);
    }
    written += "</main></body></html>\n";
    written
}

fn show_page(page: &ReadPage, count: usize, options: &HtmlOptions<'_>, written: &mut String) {
    *written += &format!("<section class=\"page {}\" id=\"page-{}\">", escaped(options.page_class), page.page_index);
    if count > 1 || page.hidden {
        let hidden = if page.hidden { " (hidden)" } else { "" };
        *written += &format!(
            "<div class=\"label\"><span>{}{hidden}</span><span>{}</span></div>",
            escaped(&page.title),
            page.page_index + 1
        );
    }
    written.push('\n');
    for element in &page.elements {
        show_element(element, options, written);
        written.push('\n');
    }
    *written += "</section>\n";
}

fn show_element(element: &ReadElement, options: &HtmlOptions<'_>, written: &mut String) {
    let id = escaped(&element.element_id);
    *written += &match &element.content {
        ElementContent::Heading { level, text } => {
            let level = (*level).clamp(1, 6);
            format!("<h{level} id=\"{id}\">{}</h{level}>", inline(text, element))
        }
        ElementContent::Text { text, .. } => format!("<p id=\"{id}\">{}</p>", inline(text, element)),
        ElementContent::List { ordered, items } => list(&id, items, *ordered, &mut element.metadata.labels.iter()),
        ElementContent::Code { text, .. } => format!("<pre id=\"{id}\"><code>{}</code></pre>", escaped(text)),
        ElementContent::Table(content) => table(&id, content),
        ElementContent::Chart { chart_type, title, data_summary, series } => {
            chart(&id, [chart_type, title, data_summary], series)
        }
        ElementContent::Diagram { items } => {
            format!("<figure id=\"{id}\" class=\"box\">{}</figure>", list("", items, false, &mut [].iter()))
        }
        ElementContent::Image { alt, description, .. } => {
            picture(&id, element, alt.as_deref().or(description.as_deref()), options)
        }
        ElementContent::Formula { expression, value } => {
            let value = value.as_ref().map(|value| format!(" = {}", escaped(value))).unwrap_or_default();
            format!("<p id=\"{id}\" class=\"math\">{}{value}</p>", escaped(expression))
        }
        ElementContent::Link { text, url } => format!("<p id=\"{id}\">{}</p>", link(url, &escaped(text))),
        ElementContent::Annotation { kind, text, author, date, target, .. } => {
            let class = if *kind == AnnotationKind::Error { " class=\"error\"" } else { "" };
            let head: Vec<String> = [target, author, date].into_iter().flatten().map(|word| escaped(word)).collect();
            let head = if head.is_empty() { String::new() } else { format!("<b>{}</b> ", head.join(" · ")) };
            format!("<aside id=\"{id}\"{class}>{head}{}</aside>", escaped(text))
        }
        ElementContent::Header { text } | ElementContent::Footer { text } => {
            format!("<div id=\"{id}\" class=\"band\">{}</div>", escaped(text))
        }
        ElementContent::Separator {} => format!("<hr id=\"{id}\">"),
        ElementContent::Form { fields } => form(&id, fields),
        other => format!("<div id=\"{id}\" class=\"box\">{}: {}</div>", other.category(), escaped(&summary(element))),
    };
}

fn inline(text: &str, element: &ReadElement) -> String {
    let mut written = String::new();
    for piece in pieces(text, element) {
        let mut marked = escaped(piece.text);
        if let Some(span) = piece.span {
            let tags = [
                ("code", span.code),
                ("s", span.strike),
                ("u", span.underline),
                ("em", span.italic),
                ("strong", span.bold),
            ];
            for (tag, _) in tags.into_iter().filter(|(_, wanted)| *wanted) {
                marked = format!("<{tag}>{marked}</{tag}>");
            }
            if let Some(url) = &span.url {
                marked = link(url, &marked);
            }
        }
        written += &marked;
    }
    written
}

/// A link that a browser may follow; any other address is only shown.
fn link(url: &str, shown: &str) -> String {
    let scheme = url.split(':').next().unwrap_or_default().to_ascii_lowercase();
    match ["http", "https", "mailto"].contains(&scheme.as_str()) && url.contains(':') {
        true => format!("<a href=\"{}\" rel=\"noreferrer\">{shown}</a>", escaped(url)),
        false => format!("<span title=\"{}\">{shown}</span>", escaped(url)),
    }
}

fn list(id: &str, items: &[ListEntry], ordered: bool, labels: &mut Iter<'_, String>) -> String {
    let tag = if ordered { "ol" } else { "ul" };
    let id = if id.is_empty() { String::new() } else { format!(" id=\"{id}\"") };
    let items: String = items
        .iter()
        .map(|item| {
            let label = labels.next().map(|label| list_style(label)).unwrap_or_default();
            let below = if item.items().is_empty() { String::new() } else { list("", item.items(), ordered, labels) };
            format!("<li{label}>{}{below}</li>", escaped(item.text()))
        })
        .collect();
    format!("<{tag}{id}>{items}</{tag}>")
}

/// The style of an item that has this label. A label that could be more than a text in a style sheet is left out.
fn list_style(label: &str) -> String {
    let harmless = |c: char| c.is_alphanumeric() || " .,:()[]-–§•".contains(c);
    match label.chars().all(harmless) {
        true => format!(" style=\"list-style-type:&quot;{label} &quot;\""),
        false => String::new(),
    }
}

fn table(id: &str, table: &TableContent) -> String {
    let columns = table.columns();
    let mut written = format!("<div class=\"scroll\" id=\"{id}\"><table>");
    if !table.headers.is_empty() {
        written += "<thead><tr>";
        for n in 0..columns {
            // A header stands where the values below it do.
            let mut cells = table.rows.iter().filter_map(|row| row.get(n)).filter(|cell| !cell.is_empty()).peekable();
            let class = number_class(cells.peek().is_some() && cells.all(|cell| is_number(cell)));
            written += &format!("<th{class}>{}</th>", escaped(table.headers.get(n).map_or("", |cell| cell)));
        }
        written += "</tr></thead>";
    }
    written += "<tbody>";
    for row in &table.rows {
        written += "<tr>";
        for n in 0..columns {
            let cell = row.get(n).map_or("", |cell| cell);
            let class = number_class(is_number(cell));
            written += &format!("<td{class}>{}</td>", escaped(cell));
        }
        written += "</tr>";
    }
    written += "</tbody></table></div>";
    if let Some(rows) = rows_here(table) {
        written += &format!("<p class=\"more\">{rows}</p>");
    }
    written
}

fn number_class(is_number: bool) -> &'static str {
    if is_number { " class=\"number\"" } else { "" }
}

/// Whether a cell looks like a number or a date, which stands at the right.
fn is_number(cell: &str) -> bool {
    let digits = cell.bytes().filter(u8::is_ascii_digit).count();
    digits > 0 && cell.chars().all(|c| c.is_ascii_digit() || " .,:+-−%()€$£¥".contains(c)) && cell.len() <= 24
}

fn chart(id: &str, [kind, title, words]: [&str; 3], series: &[ChartSeries]) -> String {
    let mut written =
        format!("<figure id=\"{id}\" class=\"box\"><b>{}</b> ({}) {}", escaped(title), escaped(kind), escaped(words));
    if let Some(first) = series.first().filter(|first| !first.values.is_empty()) {
        let headers = std::iter::once(String::new()).chain(series.iter().map(|series| series.name.clone())).collect();
        let rows = (0..first.values.len()).map(|n| {
            let name = first.categories.get(n).cloned().unwrap_or_default();
            let values = series.iter().map(|series| series.values.get(n).cloned().unwrap_or_default());
            std::iter::once(name).chain(values).collect()
        });
        written += &table("", &TableContent::whole(headers, rows.collect())).replace(" id=\"\"", "");
    }
    written + "</figure>"
}

fn picture(id: &str, element: &ReadElement, words: Option<&str>, options: &HtmlOptions<'_>) -> String {
    let words = escaped(words.unwrap_or_default());
    let found = options.picture.and_then(|picture| picture(element)).filter(|found| is_shown(&found.mime_type));
    match found {
        Some(PictureBytes { mime_type, bytes }) => format!(
            "<figure id=\"{id}\"><img alt=\"{words}\" src=\"data:{};base64,{}\"></figure>",
            escaped(&mime_type),
            BASE64_STANDARD.encode(bytes)
        ),
        None => format!("<figure id=\"{id}\" class=\"box\"><figcaption>{words}</figcaption></figure>"),
    }
}

/// Whether browsers show such pictures.
fn is_shown(mime_type: &str) -> bool {
    ["image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/svg+xml"].contains(&mime_type)
}

fn form(id: &str, fields: &[FormField]) -> String {
    let fields: String = fields
        .iter()
        .map(|field| {
            let label = field.label.as_deref().unwrap_or(&field.name);
            format!("<dt>{}</dt><dd>{}</dd>", escaped(label), escaped(field.value.as_deref().unwrap_or("…")))
        })
        .collect();
    format!("<dl id=\"{id}\">{fields}</dl>")
}

fn escaped(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => written += "&amp;",
            '<' => written += "&lt;",
            '>' => written += "&gt;",
            '"' => written += "&quot;",
            // HTML has no other control characters.
            c if c.is_control() && !matches!(c, '\n' | '\t' | '\r') => written.push('\u{fffd}'),
            c => written.push(c),
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::IdAssigner;
    use crate::page::PageDraft;

    fn shown(contents: Vec<ElementContent>) -> String {
        let elements = contents.into_iter().map(Into::into).collect();
        let page = IdAssigner::default().page(0, PageDraft { elements, ..PageDraft::default() });
        html(&[page], &HtmlOptions { title: "T", ..HtmlOptions::default() })
    }

    #[test]
    fn nothing_of_a_document_is_markup() {
        let hostile = "<script>alert(1)</script>\" onload=\"x";
        let shown = shown(vec![
            ElementContent::text(hostile),
            ElementContent::Heading { level: 1, text: hostile.into() },
            ElementContent::Table(TableContent::whole(vec![hostile.into()], vec![vec![hostile.into()]])),
            ElementContent::List { ordered: true, items: vec![ListEntry::Plain(hostile.into())] },
            ElementContent::Code { language: Some(hostile.into()), text: hostile.into(), truncated: false },
            ElementContent::Link { text: hostile.into(), url: "javascript:alert(1)".into() },
            ElementContent::Widget { kind: hostile.into(), text: hostile.into() },
        ]);
        assert!(!shown.contains("<script") && !shown.contains("href=\"javascript"), "{shown}");
        assert!(!shown.contains("\" onload"), "{shown}");
    }

    #[test]
    fn only_addresses_of_the_web_are_links() {
        for (url, is_link) in [
            ("https://h", true),
            ("HTTP://h", true),
            ("mailto:a@b", true),
            ("file:///etc", false),
            ("#x", false),
            ("data:text/html,x", false),
        ] {
            assert_eq!(link(url, "t").starts_with("<a "), is_link, "{url}");
        }
    }

    #[test]
    fn numbers_stand_at_the_right() {
        for (cell, number) in [
            ("1,250", true),
            ("+12%", true),
            ("-3.5", true),
            ("€ 4", true),
            ("2026-01-02", true),
            ("2026-01-02 10:30:00", true),
            ("a1", false),
            ("", false),
            ("-", false),
        ] {
            assert_eq!(is_number(cell), number, "{cell}");
        }
    }
}
