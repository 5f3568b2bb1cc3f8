//! Collects elements from a text whose beginning and ending marks come one by one: paragraphs with their emphasis and links,
//! lists, tables, code, pictures. Markdown and HTML are read through it.

use a2c_document_model::{AnnotationKind, ElementContent, ElementDraft, InlineLink, ListEntry, TableContent, TextSpan};

/// How deep lists are nested; the items of deeper ones are on this level. What is nested is walked through level by level.
const MOST_LEVELS: usize = 32;

/// A way to format a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Emphasis {
    Bold,
    Italic,
    Underline,
    Strike,
    Code,
}

/// A text while it is collected.
#[derive(Default)]
struct RunningText {
    text: String,
    spans: Vec<TextSpan>,
    links: Vec<InlineLink>,
    /// Pictures within it.
    images: Vec<ElementContent>,
    /// How the text is formatted now; its place counts for nothing.
    style: TextSpan,
    /// Where the link that is open began.
    link_start: usize,
}

impl RunningText {
    fn push(&mut self, text: &str) {
        let (start, length) = (self.text.len(), text.len());
        self.text.push_str(text);
        if length == 0 || self.style == TextSpan::default() {
            return;
        }
        match self.spans.last_mut() {
            Some(last) if last.start + last.length == start && same_style(last, &self.style) => last.length += length,
            _ => self.spans.push(TextSpan { start, length, ..self.style.clone() }),
        }
    }
}

fn same_style(one: &TextSpan, other: &TextSpan) -> bool {
    TextSpan { start: 0, length: 0, ..one.clone() } == TextSpan { start: 0, length: 0, ..other.clone() }
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
    /// How many of its cells name their column.
    heads: usize,
    /// Whether a cell is open.
    in_cell: bool,
}

/// Elements that are being collected.
#[derive(Default)]
pub(super) struct ElementCollector {
    elements: Vec<ElementDraft>,
    notes: Vec<ElementDraft>,
    running: RunningText,
    lists: Vec<OpenList>,
    /// Lists that are open below the deepest one that is collected.
    deeper: usize,
    /// A table within a cell of another is part of that cell: only the outermost counts.
    table: Option<OpenTable>,
    tables: usize,
    /// The footnote that is open.
    note: Option<String>,
}

impl ElementCollector {
    /// All that was collected; footnotes stand at the end.
    pub(super) fn finish(mut self) -> Vec<ElementDraft> {
        self.end_paragraph();
        self.deeper = 0;
        while !self.lists.is_empty() {
            self.end_list();
        }
        self.tables = self.tables.min(1);
        self.end_table();
        self.elements.append(&mut self.notes);
        self.elements
    }

    pub(super) fn text(&mut self, text: &str) {
        self.running.push(text);
    }

    /// Whether the text that is open ends with a blank, or has not begun.
    pub(super) fn ends_with_blank(&self) -> bool {
        self.running.text.is_empty() || self.running.text.ends_with(char::is_whitespace)
    }

    pub(super) fn set_emphasis(&mut self, emphasis: Emphasis, on: bool) {
        let style = &mut self.running.style;
        match emphasis {
            Emphasis::Bold => style.bold = on,
            Emphasis::Italic => style.italic = on,
            Emphasis::Underline => style.underline = on,
            Emphasis::Strike => style.strike = on,
            Emphasis::Code => style.code = on,
        }
    }

    pub(super) fn start_link(&mut self, url: String) {
        self.end_link();
        self.running.link_start = self.running.text.len();
        self.running.style.url = Some(url);
    }

    pub(super) fn end_link(&mut self) {
        if let Some(url) = self.running.style.url.take() {
            let text = self.running.text.get(self.running.link_start..).unwrap_or_default().trim().to_owned();
            self.running.links.push(InlineLink { text, url, cell: None });
        }
    }

    /// A picture; its words stand in the text.
    pub(super) fn image(&mut self, alt: Option<String>, url: String) {
        let image = ElementContent::Image {
            alt,
            url: Some(url),
            description: None,
            mime_type: None,
            width: None,
            height: None,
        };
        self.running.images.push(image);
    }

    /// What was collected is a heading.
    pub(super) fn end_heading(&mut self, level: u8) {
        self.end_text(|text| ElementContent::Heading {
            level,
            text: text.split_whitespace().collect::<Vec<_>>().join(" "),
        });
    }

    /// What was collected is a paragraph, or the words of an item, or belongs to a cell.
    pub(super) fn end_paragraph(&mut self) {
        if self.table.is_some() {
            return;
        }
        if self.lists.last().is_some_and(|list| list.text.is_some()) {
            return self.end_item_text();
        }
        if self.is_pictures_only() {
            let images = std::mem::take(&mut self.running).images;
            images.into_iter().for_each(|image| self.elements.push(image.into()));
            return;
        }
        if let [link] = self.running.links.as_slice()
            && !link.text.is_empty()
            && link.text == self.running.text.trim()
        {
            let link = ElementContent::Link { text: link.text.clone(), url: link.url.clone() };
            self.running = RunningText::default();
            self.elements.push(link.into());
            return;
        }
        self.end_text(ElementContent::text);
    }

    /// Whether the paragraph has no words but those of its pictures.
    fn is_pictures_only(&self) -> bool {
        let words = |text: &str| text.split_whitespace().collect::<String>();
        let alt = |image: &ElementContent| match image {
            ElementContent::Image { alt, .. } => words(alt.as_deref().unwrap_or_default()),
            _ => String::new(),
        };
        let alt: String = self.running.images.iter().map(alt).collect();
        !self.running.images.is_empty() && words(&self.running.text) == alt
    }

    pub(super) fn code(&mut self, language: Option<String>, text: String) {
        match self.lists.last_mut() {
            Some(list) if list.text.is_some() => list.below.push(ListEntry::Plain(text.trim_end().to_owned())),
            _ => self.elements.push(ElementContent::Code { language, text, truncated: false }.into()),
        }
    }

    /// An element that stands on its own.
    pub(super) fn element(&mut self, content: ElementContent) {
        self.end_paragraph();
        self.elements.push(content.into());
    }

    pub(super) fn start_list(&mut self, ordered: bool) {
        self.end_paragraph();
        if self.lists.len() >= MOST_LEVELS {
            self.deeper += 1;
            return;
        }
        self.lists.push(OpenList { ordered, items: Vec::new(), text: None, below: Vec::new() });
    }

    pub(super) fn start_item(&mut self) {
        self.end_item();
        if self.lists.is_empty() {
            self.start_list(false);
        }
        if let Some(list) = self.lists.last_mut() {
            list.text = Some(String::new());
        }
    }

    pub(super) fn end_item(&mut self) {
        self.end_item_text();
        if let Some(list) = self.lists.last_mut()
            && let Some(text) = list.text.take()
        {
            let below = std::mem::take(&mut list.below);
            list.items.push(ListEntry::new(text, below));
        }
    }

    pub(super) fn end_list(&mut self) {
        self.end_item();
        if self.deeper > 0 {
            self.deeper -= 1;
            return;
        }
        let Some(list) = self.lists.pop() else { return };
        match self.lists.last_mut() {
            _ if list.items.is_empty() => {}
            Some(above) => above.below.extend(list.items),
            None => self.elements.push(ElementContent::List { ordered: list.ordered, items: list.items }.into()),
        }
    }

    /// What was collected belongs to the item that is open.
    fn end_item_text(&mut self) {
        if let Some(list) = self.lists.last_mut()
            && let Some(words) = &mut list.text
        {
            let running = std::mem::take(&mut self.running);
            let text = running.text.trim();
            if !words.is_empty() && !text.is_empty() {
                words.push('\n');
            }
            words.push_str(text);
        }
    }

    pub(super) fn start_table(&mut self) {
        if self.tables == 0 {
            self.end_paragraph();
            self.table = Some(OpenTable::default());
        }
        self.tables += 1;
    }

    /// A row begins. The first one, if all of its cells name their column, is that of the headers.
    pub(super) fn start_row(&mut self) {
        if self.tables == 1 {
            self.end_row();
        }
    }

    /// A cell begins, which may name its column.
    pub(super) fn start_cell(&mut self, names_column: bool) {
        self.end_cell();
        if let Some(table) = self.table.as_mut().filter(|_| self.tables == 1) {
            table.in_cell = true;
            table.heads += usize::from(names_column);
            // What stands between cells is no text.
            self.running = RunningText::default();
        }
    }

    pub(super) fn end_cell(&mut self) {
        if let Some(table) = self.table.as_mut().filter(|table| self.tables == 1 && table.in_cell) {
            table.in_cell = false;
            let text = std::mem::take(&mut self.running).text;
            table.row.push(text.trim().to_owned());
        }
    }

    pub(super) fn end_row(&mut self) {
        self.end_cell();
        if let Some(table) = self.table.as_mut().filter(|_| self.tables == 1) {
            let row = std::mem::take(&mut table.row);
            let is_head = std::mem::take(&mut table.heads) == row.len();
            match is_head && table.headers.is_empty() && table.rows.is_empty() {
                _ if row.is_empty() => {}
                true => table.headers = row,
                false => table.rows.push(row),
            }
        }
    }

    pub(super) fn end_table(&mut self) {
        if self.tables == 1 {
            self.end_row();
            if let Some(OpenTable { headers, rows, .. }) = self.table.take()
                && !(headers.is_empty() && rows.is_empty())
            {
                self.elements.push(ElementContent::Table(TableContent::whole(headers, rows)).into());
            }
            self.running = RunningText::default();
        }
        self.tables = self.tables.saturating_sub(1);
    }

    pub(super) fn start_note(&mut self, name: String) {
        self.end_paragraph();
        self.note = Some(name);
    }

    pub(super) fn end_note(&mut self) {
        self.end_paragraph();
        self.note = None;
    }

    fn end_text(&mut self, make: impl FnOnce(String) -> ElementContent) {
        let RunningText { text, spans, links, style, .. } = std::mem::take(&mut self.running);
        // A mark that nobody ended goes on.
        self.running.style = style;
        let kept = text.trim_end();
        if kept.trim().is_empty() {
            return;
        }
        if let Some(note) = &self.note {
            let (text, target) = (kept.trim().to_owned(), Some(note.clone()));
            let kind = AnnotationKind::Footnote;
            let note = ElementContent::Annotation { kind, text, author: None, date: None, target, error: None };
            return self.notes.push(note.into());
        }
        let mut draft = ElementDraft::from(make(kept.to_owned()));
        draft.metadata.spans = spans;
        draft.metadata.links = links;
        self.elements.push(draft);
    }
}
