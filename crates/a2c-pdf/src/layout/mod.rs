//! A page as elements in reading order, out of the words, rules and pictures that it draws. Pure.

mod aligned;
mod blocks;
mod columns;
mod headings;
mod lines;
mod lists;
mod page_edges;
mod rich;
mod rule_grid;
mod script;
mod tables;

use std::collections::BTreeMap;

use a2c_document_model::{ElementContent, ElementDraft, InlineLink};

use self::aligned::{RowPieces, TableOrRow, find_tables};
use self::blocks::{BlockKind, TextBlock, text_blocks};
use self::columns::{LayoutPart, reading_columns};
use self::headings::BodyLook;
use self::lines::{LinePiece, line_pieces};
use self::lists::{MarkedItem, begins_list, list_draft};
use self::rich::WordText;
use self::rule_grid::rule_grids;
use self::tables::PageTable;
use crate::content::{ContentRole, DrawnPage, DrawnPicture, PageWord, ReadingFrame};
use crate::geometry::PageBox;
use crate::links::PageLinks;

pub(crate) use self::page_edges::{EdgeLines, PageEdges};

/// The most grids of a page that may be tables.
const GRIDS: usize = 200;
/// The most words that are looked at for all of them.
const GRID_WORDS: usize = 20_000_000;

/// What a page needs to be laid out.
pub(crate) struct PageLayout<'p> {
    pub(crate) width: f32,
    pub(crate) height: f32,
    pub(crate) links: &'p PageLinks,
}

/// What belongs in one place of the reading order.
enum FlowPart {
    Line(LinePiece),
    Table(PageTable),
    Picture(DrawnPicture),
}

impl PageLayout<'_> {
    /// The elements of a page. `edges` tells which lines above and below it are on other pages too.
    pub(crate) fn elements(&self, content: DrawnPage, edges: &EdgeLines) -> Vec<ElementDraft> {
        let mut by_frame: BTreeMap<ReadingFrame, Vec<PageWord>> = BTreeMap::new();
        for word in content.words {
            by_frame.entry(word.frame).or_default().push(word);
        }
        let main = by_frame.iter().max_by_key(|(frame, words)| (words.len(), **frame == ReadingFrame::RIGHT));
        let main = main.map(|(frame, _)| *frame).unwrap_or_default();
        let words = by_frame.remove(&main).unwrap_or_default();
        let (mut head, mut elements, mut foot) = (Vec::new(), Vec::new(), Vec::new());
        let rules = if main == ReadingFrame::RIGHT { content.rules.as_slice() } else { &[] };
        let (tables, words) = take_tables(rules, words);
        let mut pieces = Vec::new();
        for piece in line_pieces(words) {
            match self.running(&piece, edges) {
                Some(ContentRole::RunningHeader) => head.push(piece),
                Some(ContentRole::RunningFooter) => foot.push(piece),
                _ => pieces.push(piece),
            }
        }
        let body = BodyLook::of(pieces.iter());
        let mut parts: Vec<FlowPart> = pieces.into_iter().map(FlowPart::Line).collect();
        parts.extend(tables.into_iter().map(FlowPart::Table));
        let pictures = content.pictures.into_iter().filter(|picture| self.is_shown(picture));
        // What lies behind the text does not divide it.
        let (behind, among): (Vec<_>, Vec<_>) = pictures.partition(|picture| self.is_background(picture));
        elements.extend(behind.iter().map(|picture| self.picture(picture)));
        parts.extend(among.into_iter().map(FlowPart::Picture));
        for column in ordered_columns(parts, main, body.size) {
            self.column(column, &body, &mut elements);
        }
        // Lines that run in other directions: notes at the margin, names of axes.
        for (frame, words) in by_frame {
            let parts = line_pieces(words).into_iter().map(FlowPart::Line).collect();
            for column in ordered_columns(parts, frame, body.size) {
                self.column(column, &body, &mut elements);
            }
        }
        let line = |pieces: Vec<LinePiece>| {
            let text = rich::plain_text(pieces.iter().map(|piece| piece.words.as_slice()));
            Some(text).filter(|text| !text.trim().is_empty())
        };
        let head = line(head).map(|text| ElementContent::Header { text }.into());
        let foot = line(foot).map(|text| ElementContent::Footer { text }.into());
        head.into_iter().chain(elements).chain(foot).collect()
    }

    /// Whether a line is a running header or footer.
    fn running(&self, piece: &LinePiece, edges: &EdgeLines) -> Option<ContentRole> {
        match piece.role() {
            role @ (ContentRole::RunningHeader | ContentRole::RunningFooter) => Some(role),
            _ if edges.has(piece) => Some(match piece.place.center().1 < self.height / 2.0 {
                true => ContentRole::RunningHeader,
                false => ContentRole::RunningFooter,
            }),
            _ => None,
        }
    }

    /// Whether a picture is large enough to be looked at.
    fn is_shown(&self, picture: &DrawnPicture) -> bool {
        let place = picture.place;
        place.width() >= 8.0
            && place.height() >= 8.0
            && place.x0 < self.width
            && place.y0 < self.height
            && place.x1 > 0.0
            && place.y1 > 0.0
    }

    /// Whether a picture covers most of the page.
    fn is_background(&self, picture: &DrawnPicture) -> bool {
        picture.place.width() * picture.place.height() > 0.5 * self.width * self.height
    }

    fn picture(&self, picture: &DrawnPicture) -> ElementDraft {
        let mut draft = picture.facts.draft();
        if let Some(url) = self.links.of_place(picture.place) {
            draft.metadata.links.push(InlineLink { text: String::new(), url: url.to_owned(), cell: None });
        }
        draft
    }

    fn column(&self, parts: Vec<FlowPart>, body: &BodyLook, elements: &mut Vec<ElementDraft>) {
        let mut rows: Vec<RowPieces> = Vec::new();
        for part in parts {
            match part {
                FlowPart::Line(piece) => match rows
                    .last_mut()
                    .and_then(|row| row.last().map(|last| last.baseline).zip(Some(row)))
                {
                    Some((baseline, row)) if (piece.baseline - baseline).abs() <= 0.3 * piece.size => row.push(piece),
                    _ => rows.push(vec![piece]),
                },
                FlowPart::Table(table) => {
                    self.rows(std::mem::take(&mut rows), body, elements);
                    elements.push(table.draft(self.links));
                }
                FlowPart::Picture(picture) => {
                    self.rows(std::mem::take(&mut rows), body, elements);
                    elements.push(self.picture(&picture));
                }
            }
        }
        self.rows(rows, body, elements);
    }

    fn rows(&self, mut rows: Vec<RowPieces>, body: &BodyLook, elements: &mut Vec<ElementDraft>) {
        rows.iter_mut().for_each(|row| row.sort_by(|a, b| a.place.x0.total_cmp(&b.place.x0)));
        let mut lines: Vec<LinePiece> = Vec::new();
        for part in find_tables(rows) {
            match part {
                TableOrRow::Row(pieces) => lines.extend(LinePiece::joined(pieces)),
                TableOrRow::Table(table) => {
                    self.blocks(text_blocks(std::mem::take(&mut lines), body), elements);
                    elements.push(table.draft(self.links));
                }
            }
        }
        self.blocks(text_blocks(lines, body), elements);
    }

    fn blocks(&self, blocks: Vec<TextBlock>, elements: &mut Vec<ElementDraft>) {
        let mut items: Vec<MarkedItem> = Vec::new();
        for block in blocks {
            if block.kind == BlockKind::Code {
                flush_list(&mut items, elements);
                let text = code_text(&block.lines);
                elements.push(ElementContent::Code { language: None, text, truncated: false }.into());
                continue;
            }
            let mut text = WordText::new(self.links);
            block.lines.iter().for_each(|line| text.line(&line.words));
            let (text, metadata) = text.finish();
            if let BlockKind::Item { marker, indent } = block.kind {
                let item = MarkedItem { marker, indent, text, links: metadata.links };
                if begins_list(&items, &item) {
                    flush_list(&mut items, elements);
                }
                items.push(item);
                continue;
            }
            flush_list(&mut items, elements);
            let sole = metadata.links.first().filter(|link| link.text == text && metadata.links.len() == 1);
            let content = match (block.kind, sole) {
                (BlockKind::Heading(level), _) => ElementContent::Heading { level, text },
                (_, Some(link)) => ElementContent::Link { text, url: link.url.clone() },
                _ => ElementContent::text(text),
            };
            let mut draft = ElementDraft::from(content);
            if !matches!(draft.content, ElementContent::Link { .. }) {
                draft.metadata = metadata;
                // All of a heading is bold: that says nothing.
                if matches!(draft.content, ElementContent::Heading { .. }) {
                    draft.metadata.spans.retain(|span| span.url.is_some());
                }
            }
            elements.push(draft);
        }
        flush_list(&mut items, elements);
    }
}

fn flush_list(items: &mut Vec<MarkedItem>, elements: &mut Vec<ElementDraft>) {
    if !items.is_empty() {
        elements.push(list_draft(std::mem::take(items)));
    }
}

/// Lines of code, with the blanks that they begin with.
fn code_text(lines: &[LinePiece]) -> String {
    let left = lines.iter().map(|line| line.place.x0).fold(f32::MAX, f32::min);
    let mut text = String::new();
    let mut last: Option<&LinePiece> = None;
    for line in lines {
        if let Some(last) = last {
            let empty = ((line.baseline - last.baseline) / (1.2 * line.size)).round().clamp(1.0, 3.0) as usize;
            (0..empty).for_each(|_| text.push('\n'));
        }
        let blanks = ((line.place.x0 - left) / (0.6 * line.size)).round().clamp(0.0, 80.0) as usize;
        (0..blanks).for_each(|_| text.push(' '));
        let mut end = line.place.x0;
        for (place, word) in line.words.iter().enumerate() {
            let gap = ((word.place.x0 - end) / (0.6 * word.size)).round().clamp(0.0, 80.0) as usize;
            let gap = match place.checked_sub(1) {
                Some(before) => gap.max(usize::from(rich::has_blank(&line.words[before], word))),
                None => 0,
            };
            (0..gap).for_each(|_| text.push(' '));
            text.push_str(&word.text);
            end = word.place.x1;
        }
        last = Some(line);
    }
    text
}

/// The tables that are drawn with rules, and the words that are in none of them.
fn take_tables(rules: &[crate::content::PageRule], mut words: Vec<PageWord>) -> (Vec<PageTable>, Vec<PageWord>) {
    let mut tables = Vec::new();
    let most = GRIDS.min(GRID_WORDS / words.len().max(1));
    for grid in rule_grids(rules).into_iter().take(most) {
        let area = grid.place();
        let (inside, outside): (Vec<PageWord>, Vec<PageWord>) =
            words.into_iter().partition(|word| area.has(word.place.center()));
        words = outside;
        match PageTable::ruled(&grid, inside) {
            Ok(table) => tables.push(table),
            Err(inside) => words.extend(inside),
        }
    }
    (tables, words)
}

/// Parts in reading order, column by column.
fn ordered_columns(parts: Vec<FlowPart>, frame: ReadingFrame, letter: f32) -> Vec<Vec<FlowPart>> {
    let placed = parts.iter().enumerate().map(|(index, part)| {
        let (place, length): (PageBox, usize) = match part {
            FlowPart::Line(piece) => (piece.place, piece.length()),
            FlowPart::Table(table) => (table.place, 0),
            FlowPart::Picture(picture) => (frame.turn_box(picture.place), 0),
        };
        LayoutPart { place, index, length }
    });
    let columns = reading_columns(placed.collect(), letter);
    let mut parts: Vec<Option<FlowPart>> = parts.into_iter().map(Some).collect();
    let take = |part: &LayoutPart, parts: &mut Vec<Option<FlowPart>>| parts.get_mut(part.index).and_then(Option::take);
    columns.iter().map(|column| column.iter().filter_map(|part| take(part, &mut parts)).collect()).collect()
}
