//! Drawing a state: the location, the list, the text beside or below it, and a status line.
//!
//! Everything that comes from elsewhere passes through [`output::printable`] on its way to the screen.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};
use unicode_width::UnicodeWidthStr as _;

use super::super::show;
use super::item::Item;
use super::keys::HELP;
use super::location::Location;
use super::state::{BrowserState, Level};
use super::wrap::wrap;
use crate::output;

#[cfg(test)]
mod tests;

/// From this width on, the text stands beside the list; from this height on, below it.
const BESIDE: u16 = 72;
const BELOW: u16 = 12;

/// What was drawn: how many rows there were for the list, and how far the preview can be scrolled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Drawn {
    pub(super) rows: usize,
    pub(super) last_scroll: usize,
}

/// Draws everything.
pub(super) fn draw(frame: &mut Frame<'_>, state: &BrowserState) -> Drawn {
    let rows = Layout::vertical([Constraint::Length(1), Constraint::Min(1), Constraint::Length(1)]);
    let [head, body, foot] = rows.areas(frame.area());
    draw_head(frame, state, head);
    draw_foot(frame, state, foot);
    if state.is_help {
        draw_help(frame, body);
        return Drawn { rows: body.height.into(), last_scroll: 0 };
    }
    let (list, preview) = split(body);
    draw_list(frame, state, list);
    let last_scroll = preview.map_or(0, |area| draw_preview(frame, state, area));
    Drawn { rows: list.height.into(), last_scroll }
}

fn split(body: Rect) -> (Rect, Option<Rect>) {
    if body.width >= BESIDE {
        let parts = [Constraint::Percentage(55), Constraint::Length(1), Constraint::Fill(1)];
        let [list, _, preview] = Layout::horizontal(parts).areas(body);
        (list, Some(preview))
    } else if body.height >= BELOW {
        let [list, preview] = Layout::vertical([Constraint::Percentage(50), Constraint::Fill(1)]).areas(body);
        (list, Some(preview))
    } else {
        (body, None)
    }
}

/// The breadcrumb, and the filters of the documents.
fn draw_head(frame: &mut Frame<'_>, state: &BrowserState, area: Rect) {
    let names: Vec<String> = state.levels.iter().map(|level| output::one_line(&level.location.name())).collect();
    let mut filters = String::new();
    if !state.search.is_empty() {
        filters.push_str(&format!("  /{}", output::one_line(&state.search)));
    }
    if let Some(file_type) = &state.file_type {
        filters.push_str(&format!("  type {}", output::one_line(file_type)));
    }
    let width = usize::from(area.width);
    let path = output::cut(&names.join(" › "), width.saturating_sub(filters.width()));
    let bold = Style::new().add_modifier(Modifier::BOLD);
    frame.render_widget(Line::from(vec![Span::styled(path, bold), Span::raw(output::cut(&filters, width))]), area);
}

fn draw_list(frame: &mut Frame<'_>, state: &BrowserState, area: Rect) {
    let list = &state.top().list;
    if list.items.is_empty() {
        let lines: Vec<Line<'_>> = wrap(&nothing(state), area.width.into()).into_iter().map(Line::from).collect();
        frame.render_widget(Paragraph::new(lines), area);
        return;
    }
    let (rows, width) = (usize::from(area.height).max(1), usize::from(area.width));
    // Screen by screen: where the cursor is decides what is seen, and nothing needs to be remembered.
    let first = list.selected / rows * rows;
    let shown = &list.items[first..list.items.len().min(first + rows)];
    let lines: Vec<Line<'_>> = (first..)
        .zip(aligned(shown, width.saturating_sub(2)))
        .map(|(index, row)| {
            let is_selected = index == list.selected;
            // The cursor can be told without colours, too.
            let mark = if is_selected { "> " } else { "  " };
            let style = if is_selected { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
            Line::styled(padded(output::cut(&format!("{mark}{row}"), width), width), style)
        })
        .collect();
    frame.render_widget(Paragraph::new(lines), area);
}

/// Why a list is empty.
fn nothing(state: &BrowserState) -> String {
    let Level { location, list } = state.top();
    if list.loading.is_some() {
        return "loading…".to_owned();
    }
    if list.has_failed {
        return "This could not be loaded; r tries again.".to_owned();
    }
    let is_filtered = !state.search.is_empty() || state.file_type.is_some();
    match location {
        Location::Office => "There is no Computer in the office yet. One that comes is shown here.",
        Location::Finder { .. } if is_filtered => "No documents match. Esc shows all of them.",
        Location::Finder { .. } => "No documents: no MCP server of this Computer has any (dpe:// resources).",
        Location::Document { .. } => "This document has no pages.",
        Location::Page { .. } => "There is nothing on this page.",
    }
    .to_owned()
}

/// Rows: the name on the left, facts in columns on the right, as far as there is room.
fn aligned(items: &[Item], width: usize) -> Vec<String> {
    let rows: Vec<(String, Vec<String>)> = items.iter().map(cells).collect();
    // Names have two fifths of the row, if they need them; what does not fit beside them is in the preview.
    let longest = rows.iter().map(|(name, _)| name.width()).max().unwrap_or(0).min(width * 2 / 5);
    let (mut columns, mut used) = (Vec::new(), 0);
    for column in 0.. {
        let facts = rows.iter().filter_map(|(_, facts)| facts.get(column));
        let Some(widest) = facts.map(|fact| fact.width()).max() else { break };
        if used + 2 + widest + longest > width {
            break;
        }
        used += 2 + widest;
        columns.push(widest);
    }
    let row = |(name, facts): &(String, Vec<String>)| {
        let room = width - used;
        let mut row = padded(output::cut(name, room), room);
        for (column, &width) in columns.iter().enumerate() {
            let fact = facts.get(column).cloned().unwrap_or_default();
            row.push_str(&format!("  {}", padded(fact, width)));
        }
        row
    };
    rows.iter().map(row).collect()
}

/// The name of an item, and its facts in columns.
fn cells(item: &Item) -> (String, Vec<String>) {
    let (name, facts) = match item {
        Item::Computer(computer) => (computer.clone(), Vec::new()),
        Item::Document(document) => {
            let modified = document.last_modified.as_deref().map(output::date).unwrap_or_default();
            let pages = show::pages(document.page_count);
            (document.title.clone(), vec![document.file_type.clone(), pages, modified, document.server.clone()])
        }
        Item::Page(page) => {
            let name = match page.title.as_str() {
                "" => format!("page {}", page.index),
                title => format!("{}  {title}", page.index),
            };
            (name, page.elements.map(|count| format!("{} elements", output::count(count))).into_iter().collect())
        }
        Item::Element(element) => {
            let told = if element.summary.is_empty() { &element.text } else { &element.summary };
            (format!("[{}] {told}", element.category), vec![element.id.clone()])
        }
    };
    (output::one_line(&name), facts.iter().map(|fact| output::one_line(fact)).collect())
}

fn padded(mut text: String, width: usize) -> String {
    text.push_str(&" ".repeat(width.saturating_sub(text.width())));
    text
}

/// The text of what the cursor is on. Returns how far it can be scrolled.
fn draw_preview(frame: &mut Frame<'_>, state: &BrowserState, area: Rect) -> usize {
    let is_beside = frame.area().width >= BESIDE;
    let block = Block::new().borders(if is_beside { Borders::LEFT } else { Borders::TOP });
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let lines = wrap(&state.preview(), inner.width.into());
    let last = lines.len().saturating_sub(inner.height.into());
    let shown = lines.into_iter().skip(state.scroll.min(last)).take(inner.height.into());
    frame.render_widget(Paragraph::new(shown.map(Line::from).collect::<Vec<_>>()), inner);
    last
}

/// The status, or the keys.
fn draw_foot(frame: &mut Frame<'_>, state: &BrowserState, area: Rect) {
    let width = usize::from(area.width);
    let list = &state.top().list;
    if let Some(typing) = &state.typing {
        let text = output::one_line(&format!("/{typing}"));
        // The end is what is being typed; the cursor needs a column, too.
        let mut seen = text.as_str();
        while seen.width() > width.saturating_sub(1) {
            let mut rest = seen.chars();
            rest.next();
            seen = rest.as_str();
        }
        let column = area.x + u16::try_from(seen.width()).unwrap_or(0).min(area.width.saturating_sub(1));
        frame.render_widget(Line::from(seen.to_owned()), area);
        frame.set_cursor_position((column, area.y));
        return;
    }
    let position = match list.total {
        Some(total) if !list.items.is_empty() => {
            format!("{} of {}  ", output::count(list.selected as u64 + 1), output::count(total))
        }
        _ => String::new(),
    };
    let told = match (&state.offline, &state.notice) {
        (Some(reason), _) => format!("the hub is not connected: {reason}"),
        (None, Some(notice)) => notice.clone(),
        (None, None) if state.is_loading() => "loading…".to_owned(),
        (None, None) => "Enter open  Esc back  / search  t type  ? help  q quit".to_owned(),
    };
    frame.render_widget(Line::from(output::cut(&output::one_line(&format!("{position}{told}")), width)), area);
}

fn draw_help(frame: &mut Frame<'_>, area: Rect) {
    let keys = HELP.iter().map(|(key, _)| key.width()).max().unwrap_or(0);
    let line = |(key, what): &(&str, &str)| Line::from(format!("{}  {what}", padded((*key).to_owned(), keys)));
    frame.render_widget(Paragraph::new(HELP.iter().map(line).collect::<Vec<_>>()), area);
}
