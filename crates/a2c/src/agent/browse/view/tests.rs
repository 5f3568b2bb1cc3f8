//! What is on the screen.

use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::super::document::{ElementItem, PageItem};
use super::super::item::Loaded;
use super::super::query::{LoadError, NumberedQuery};
use super::super::state::Action;
use super::*;
use a2c_protocol::context::DpeDocumentSummary;

fn document(index: u64, title: &str) -> Item {
    Item::Document(Box::new(DpeDocumentSummary {
        doc_ref: format!("d{index}"),
        uri: format!("dpe://h/d{index}"),
        file_uri: "file:///x".to_owned(),
        file_type: "pdf".to_owned(),
        title: title.to_owned(),
        page_count: 3,
        keywords: Some(vec!["k".to_owned()]),
        summary: Some("About it.".to_owned()),
        server: "files".to_owned(),
        last_modified: Some("2026".to_owned()),
    }))
}

fn answer(state: &mut BrowserState, queries: &[NumberedQuery], items: Vec<Item>, total: u64) -> Vec<NumberedQuery> {
    state.apply(Action::Answered(queries[0].id, Ok(Loaded::Items { items, total })))
}

fn finder() -> BrowserState {
    let (mut state, queries) = BrowserState::new(Some("desk".to_owned()));
    answer(&mut state, &queries, vec![document(0, "年度报告"), document(1, "Second\u{1b}[2J\nline")], 2);
    state
}

/// The lines of the screen, without what is blank at their ends.
fn screen(state: &BrowserState, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| _ = draw(frame, state)).unwrap();
    let buffer = terminal.backend().buffer();
    let line = |y| {
        let (mut line, mut x) = (String::new(), 0);
        while x < width {
            let symbol = buffer[(x, y)].symbol();
            line.push_str(symbol);
            // A wide character stands in two cells.
            x += u16::try_from(symbol.width().max(1)).unwrap();
        }
        line.trim_end().to_owned()
    };
    (0..height).map(line).collect()
}

#[test]
fn documents_and_what_is_known_of_one() {
    let expected = [
        "desk",
        "> 年度报告             pdf  3 pages  2026  files │年度报告",
        "  Second\\u001b[2J li…  pdf  3 pages  2026  files │",
        "                                                 │About it.",
        "                                                 │",
        "                                                 │type: pdf",
        "                                                 │length: 3 pages",
        "1 of 2  Enter open  Esc back  / search  t type  ? help  q quit",
    ];
    assert_eq!(screen(&finder(), 88, 8), expected);
}

#[test]
fn a_narrow_screen_has_the_text_below() {
    let shown = screen(&finder(), 40, 16);
    assert_eq!(shown[0], "desk");
    assert_eq!(shown[1], "> 年度报告            pdf  3 pages  2026");
    assert!(shown[8].starts_with("────"), "{shown:?}");
    assert_eq!((shown[9].as_str(), shown[11].as_str()), ("年度报告", "About it."));
    assert_eq!(screen(&finder(), 20, 5)[1], "> 年度报告       pdf");
}

#[test]
fn what_is_under_way_or_missing_is_said() {
    let (mut state, queries) = BrowserState::new(Some("desk".to_owned()));
    assert_eq!(screen(&state, 30, 5)[1], "loading…");
    let failed = state.apply(Action::Answered(queries[0].id, Err(LoadError::NoText("x\u{7}".to_owned()))));
    assert_eq!(failed, []);
    let shown = screen(&state, 60, 5);
    assert_eq!(shown[1], "This could not be loaded; r tries again.");
    assert_eq!(shown[4], "there is no text at x\\u0007");
    let queries = state.apply(Action::Refresh);
    answer(&mut state, &queries, vec![], 0);
    assert!(screen(&state, 100, 5)[1].starts_with("No documents: no MCP server"));
    state.apply(Action::Lost("cut".to_owned()));
    assert_eq!(screen(&state, 60, 5)[4], "the hub is not connected: cut");
}

#[test]
fn a_search_is_seen_while_it_is_typed_and_after() {
    let mut state = finder();
    state.apply(Action::Search);
    "年报 q3".chars().for_each(|c| _ = state.apply(Action::Type(c)));
    let mut terminal = Terminal::new(TestBackend::new(60, 5)).unwrap();
    terminal.draw(|frame| _ = draw(frame, &state)).unwrap();
    assert_eq!(terminal.get_cursor_position().unwrap(), (8, 4).into());
    assert_eq!(screen(&state, 60, 5)[4], "/年报 q3");
    assert_eq!(screen(&state, 5, 5)[4], " q3", "the end of it where there is no room");
    let queries = state.apply(Action::Submit);
    answer(&mut state, &queries, vec![], 0);
    let shown = screen(&state, 60, 5);
    assert_eq!(
        (shown[0].as_str(), shown[1].as_str()),
        ("desk  /年报 q3", "No documents match. Esc shows all of them.")
    );
}

#[test]
fn pages_and_elements() {
    let mut state = finder();
    let queries = state.apply(Action::Open);
    let pages = vec![
        Item::Page(PageItem { index: 0, title: "Cover".to_owned(), elements: Some(1200) }),
        Item::Page(PageItem { index: 1, title: String::new(), elements: None }),
    ];
    let queries = answer(&mut state, &queries, pages, 2);
    state.apply(Action::Answered(queries[0].id, Ok(Loaded::Text("# Cover\n\n\u{1b}[31mtext".to_owned()))));
    let shown = screen(&state, 88, 8);
    assert_eq!(shown[0], "desk › 年度报告");
    assert_eq!(shown[1], "> 0  Cover                        1,200 elements │# Cover");
    assert_eq!(shown[2], "  page 1                                         │");
    assert_eq!(shown[3], "                                                 │\\u001b[31mtext");
    let queries = state.apply(Action::Open);
    let element = ElementItem {
        id: "e1".to_owned(),
        category: "heading".to_owned(),
        summary: "Hello".to_owned(),
        text: "World".to_owned(),
    };
    answer(&mut state, &queries, vec![Item::Element(element)], 1);
    let shown = screen(&state, 88, 8);
    assert_eq!(shown[0], "desk › 年度报告 › page 0: Cover");
    assert_eq!(shown[1], "> [heading] Hello                             e1 │World");
}

#[test]
fn no_size_is_too_small() {
    let mut help = finder();
    help.apply(Action::Help);
    let mut typing = finder();
    typing.apply(Action::Search);
    typing.apply(Action::Type('年'));
    let (empty, _) = BrowserState::new(None);
    for state in [&finder(), &help, &typing, &empty] {
        for (width, height) in (0..24).flat_map(|width| (0..16).map(move |height| (width, height))) {
            screen(state, width, height);
        }
        for (width, height) in [(72, 1), (72, 3), (300, 2), (1, 100)] {
            screen(state, width, height);
        }
    }
    assert!(screen(&help, 60, 14).iter().any(|line| line.ends_with("search: documents with any of the words")));
}

#[test]
fn a_long_list_is_shown_screen_by_screen() {
    let (mut state, queries) = BrowserState::new(Some("desk".to_owned()));
    let documents = (0..30).map(|index| document(index, &format!("Title {index}"))).collect();
    answer(&mut state, &queries, documents, 30);
    state.apply(Action::Drawn { rows: 4, last_scroll: 0 });
    state.apply(Action::Leaf(1));
    state.apply(Action::Step(1));
    let shown = screen(&state, 30, 6);
    assert!(shown[1].starts_with("  Title 4") && shown[2].starts_with("> Title 5"), "{shown:?}");
    assert!(shown[5].starts_with("6 of 30"));
}
