//! What each action makes of a state, and which queries it sends.

use a2c_protocol::context::DpeDocumentSummary;

use super::super::document::{ElementItem, PageItem};
use super::*;

fn document(index: u64) -> Item {
    Item::Document(Box::new(DpeDocumentSummary {
        doc_ref: format!("d{index}"),
        uri: format!("dpe://h/d{index}"),
        file_uri: String::new(),
        file_type: if index.is_multiple_of(2) { "pdf" } else { "xlsx" }.to_owned(),
        title: format!("Document {index}"),
        page_count: 3,
        keywords: None,
        summary: None,
        server: "s".to_owned(),
        last_modified: None,
    }))
}

fn page(index: u64) -> Item {
    Item::Page(PageItem { index, title: format!("Page {index}"), elements: None })
}

fn element(id: &str) -> Item {
    Item::Element(ElementItem {
        id: id.to_owned(),
        category: "text".to_owned(),
        summary: String::new(),
        text: "own".to_owned(),
    })
}

fn items(items: Vec<Item>, total: u64) -> Result<Loaded, LoadError> {
    Ok(Loaded::Items { items, total })
}

/// Queries without their numbers.
fn sent(queries: &[NumberedQuery]) -> Vec<&Query> {
    queries.iter().map(|numbered| &numbered.query).collect()
}

fn documents(search: &[&str], file_type: Option<&str>, offset: u64, limit: u64) -> Query {
    Query::Documents {
        computer: "desk".to_owned(),
        keywords: search.iter().map(|word| (*word).to_owned()).collect(),
        file_type: file_type.map(ToOwned::to_owned),
        offset,
        limit,
    }
}

fn text(index: u64) -> Query {
    Query::Page { computer: "desk".to_owned(), uri: "dpe://h/d0".to_owned(), index }
}

/// The browser at the documents of `desk`, with so many of so many.
fn finder(loaded: u64, total: u64) -> BrowserState {
    let (mut state, queries) = BrowserState::new(Some("desk".to_owned()));
    assert_eq!(sent(&queries), [&documents(&[], None, 0, 50)]);
    let queries = state.apply(Action::Answered(queries[0].id, items((0..loaded).map(document).collect(), total)));
    assert_eq!(queries, []);
    state
}

/// The browser at the pages of the first document; the text of page 0 is under way, under this id.
fn pages(count: u64) -> (BrowserState, QueryId) {
    let mut state = finder(1, 1);
    let queries = state.apply(Action::Open);
    let asked = Query::Pages { computer: "desk".to_owned(), uri: "dpe://h/d0".to_owned(), offset: 0 };
    assert_eq!(sent(&queries), [&asked]);
    let queries = state.apply(Action::Answered(queries[0].id, items((0..count).map(page).collect(), count)));
    assert_eq!(sent(&queries), [&text(0)]);
    (state, queries[0].id)
}

fn typed(state: &mut BrowserState, text: &str) -> Vec<NumberedQuery> {
    state.apply(Action::Search);
    for c in text.chars() {
        assert_eq!(state.apply(Action::Type(c)), []);
    }
    state.apply(Action::Submit)
}

#[test]
fn a_single_computer_is_opened_by_itself() {
    let computers = |names: &[&str]| {
        let listed = names.iter().map(|name| Item::Computer((*name).to_owned())).collect();
        items(listed, names.len() as u64)
    };
    for (names, location) in [
        (&["desk"][..], Location::Finder { computer: "desk".to_owned() }),
        (&["a", "b"], Location::Office),
        (&[], Location::Office),
    ] {
        let (mut state, queries) = BrowserState::new(None);
        assert_eq!(sent(&queries), [&Query::Computers]);
        let queries = state.apply(Action::Answered(queries[0].id, computers(names)));
        assert_eq!((state.levels.len(), &state.top().location), (1, &location), "{names:?}");
        assert_eq!(queries.len(), usize::from(names.len() == 1));
    }
    // The first to come is opened, too; one that remains of several is not.
    for (first, opened) in [(&[][..], true), (&["desk", "b"], false)] {
        let (mut state, queries) = BrowserState::new(None);
        state.apply(Action::Answered(queries[0].id, computers(first)));
        let happening = if opened { Action::Came("desk".to_owned()) } else { Action::Went("b".to_owned()) };
        let queries = state.apply(happening);
        assert_eq!(sent(&queries), [&Query::Computers]);
        state.apply(Action::Answered(queries[0].id, computers(&["desk"])));
        assert_eq!(state.top().location != Location::Office, opened, "{first:?}");
    }
}

#[test]
fn one_goes_in_and_out() {
    let (mut state, id) = pages(2);
    state.apply(Action::Answered(id, Ok(Loaded::Text("# One".to_owned()))));
    assert_eq!(state.preview(), "# One");
    let queries = state.apply(Action::Open);
    let asked = Query::Elements { computer: "desk".to_owned(), uri: "dpe://h/d0".to_owned(), index: 0 };
    assert_eq!(sent(&queries), [&asked]);
    assert_eq!(state.apply(Action::Answered(queries[0].id, items(vec![element("e")], 1))), []);
    assert_eq!(state.preview(), "own", "the text that came with the page");
    let queries = state.apply(Action::Open);
    let asked = Query::Element { computer: "desk".to_owned(), uri: "dpe://h/d0".to_owned(), id: "e".to_owned() };
    assert_eq!(sent(&queries), [&asked]);
    state.apply(Action::Answered(queries[0].id, Ok(Loaded::Text("whole".to_owned()))));
    assert_eq!(state.preview(), "whole");
    let names: Vec<String> = state.levels.iter().map(|level| level.location.name()).collect();
    assert_eq!(names, ["desk", "Document 0", "page 0: Page 0"]);
    for depth in [2, 1, 1] {
        assert_eq!(state.apply(Action::Back), [], "what is known is not asked for again");
        assert_eq!(state.levels.len(), depth);
    }
    assert_eq!(state.notice.as_deref(), Some("q quits"));
}

#[test]
fn more_is_loaded_when_the_end_is_near() {
    let mut state = finder(50, 120);
    state.apply(Action::Drawn { rows: 20, last_scroll: 0 });
    assert_eq!(state.apply(Action::Leaf(1)), []);
    assert_eq!(state.top().list.selected, 20);
    let queries = state.apply(Action::Last);
    assert_eq!(sent(&queries), [&documents(&[], None, 50, 50)]);
    assert_eq!(state.apply(Action::Step(-1)), [], "one query at a time");
    // A failure is shown, and the query is not repeated until the cursor moves.
    assert_eq!(state.apply(Action::Answered(queries[0].id, Err(LoadError::NoText("x".to_owned())))), []);
    assert_eq!((state.notice.as_deref(), state.is_over), (Some("there is no text at x"), false));
    let queries = state.apply(Action::Step(1));
    assert_eq!(sent(&queries), [&documents(&[], None, 50, 50)]);
    state.apply(Action::Answered(queries[0].id, items((50..100).map(document).collect(), 120)));
    assert_eq!((state.top().list.items.len(), state.top().list.selected), (100, 49));
}

#[test]
fn moving_quickly_loads_the_page_where_the_cursor_stops() {
    let (mut state, id) = pages(9);
    for _ in 0..5 {
        assert_eq!(state.apply(Action::Step(1)), []);
    }
    assert_eq!(state.preview(), "loading…");
    let queries = state.apply(Action::Answered(id, Ok(Loaded::Text("0".to_owned()))));
    assert_eq!(sent(&queries), [&text(5)]);
    state.apply(Action::Answered(queries[0].id, Err(LoadError::NoText("x".to_owned()))));
    assert_eq!(
        (state.preview().as_str(), state.notice.as_deref()),
        ("Page 5\n\nthere is no text at x", Some("there is no text at x"))
    );
    assert_eq!(state.apply(Action::First), [], "page 0 is remembered");
    assert_eq!(state.preview(), "0");
}

#[test]
fn a_preview_is_no_longer_than_a_preview() {
    let (mut state, id) = pages(1);
    state.apply(Action::Answered(id, Ok(Loaded::Text("年".repeat(LONGEST_TEXT)))));
    let preview = state.preview();
    assert!(preview.len() < LONGEST_TEXT + 100 && preview.ends_with("prints all of it)"), "{}", preview.len());
}

#[test]
fn a_search_replaces_what_is_under_way() {
    let (mut state, first) = BrowserState::new(Some("desk".to_owned()));
    let queries = typed(&mut state, "年报  q3 ");
    assert_eq!(sent(&queries), [&documents(&["年报", "q3"], None, 0, 50)]);
    assert_eq!(state.apply(Action::Answered(first[0].id, items(vec![document(7)], 1))), []);
    assert_eq!(state.top().list.items, [], "an answer to the question before");
    state.apply(Action::Answered(queries[0].id, items(vec![document(1)], 1)));
    assert_eq!(state.top().list.items, [document(1)]);
    // What is not submitted changes nothing.
    state.apply(Action::Search);
    assert_eq!(state.typing.as_deref(), Some("年报  q3"));
    state.apply(Action::Erase);
    assert_eq!(state.apply(Action::Cancel), []);
    assert_eq!((state.search.as_str(), &state.typing), ("年报  q3", &None));
    let queries = state.apply(Action::Back);
    assert_eq!(sent(&queries), [&documents(&[], None, 0, 50)], "back to all documents");
}

#[test]
fn a_search_from_inside_a_document_goes_back_to_the_documents() {
    let (mut state, _) = pages(2);
    let queries = typed(&mut state, "x");
    assert_eq!((state.levels.len(), sent(&queries)), (1, vec![&documents(&["x"], None, 0, 50)]));
    let (mut office, _) = BrowserState::new(None);
    office.apply(Action::Search);
    assert!(office.typing.is_none() && office.notice.is_some(), "there is nothing to search yet");
}

#[test]
fn types_are_cycled_through() {
    let mut state = finder(3, 3);
    for expected in [Some("pdf"), Some("xlsx"), None, Some("pdf")] {
        let queries = state.apply(Action::NextType);
        assert_eq!(sent(&queries), [&documents(&[], expected, 0, 50)]);
        let found = if expected == Some("pdf") { vec![document(0)] } else { vec![document(0), document(1)] };
        state.apply(Action::Answered(queries[0].id, items(found, 2)));
    }
    let (mut empty, queries) = BrowserState::new(Some("desk".to_owned()));
    empty.apply(Action::Answered(queries[0].id, items(vec![], 0)));
    assert_eq!(empty.apply(Action::NextType), []);
    assert!(empty.notice.is_some());
    let (mut reading, _) = pages(2);
    assert_eq!((reading.apply(Action::NextType), reading.levels.len()), (vec![], 2), "the reader stays on the page");
    assert_eq!(reading.file_type, None);
}

#[test]
fn changes_are_followed_once_each() {
    let mut state = finder(3, 3);
    assert_eq!(state.apply(Action::Changed("other".to_owned())), []);
    state.apply(Action::Step(2));
    let first = state.apply(Action::Changed("desk".to_owned()));
    assert_eq!(sent(&first), [&documents(&[], None, 0, 50)]);
    // Changes that are announced meanwhile make one more query, after the answer.
    for _ in 0..3 {
        assert_eq!(state.apply(Action::Changed("desk".to_owned())), []);
    }
    let queries = state.apply(Action::Answered(first[0].id, items(vec![document(2), document(0)], 2)));
    assert_eq!(sent(&queries), [&documents(&[], None, 0, 50)]);
    assert_eq!(state.top().list.selected, 0, "the cursor stays on its document");
    assert_eq!(state.apply(Action::Answered(queries[0].id, items(vec![document(2)], 1))), []);
}

#[test]
fn a_change_inside_a_document_is_seen_there() {
    let (mut state, id) = pages(2);
    let queries = state.apply(Action::Changed("desk".to_owned()));
    assert_eq!(queries.len(), 2, "the documents and the pages");
    // The text that was under way is of before.
    let queries = state.apply(Action::Answered(id, Ok(Loaded::Text("old".to_owned()))));
    assert_eq!(sent(&queries), [&text(0)]);
    assert_eq!(state.preview(), "loading…");
}

#[test]
fn the_connection_and_the_computer_may_go() {
    let mut state = finder(1, 1);
    assert_eq!(state.apply(Action::Lost("cut".to_owned())), []);
    assert_eq!(state.offline.as_deref(), Some("cut"));
    let queries = state.apply(Action::Restored);
    assert_eq!((state.offline.as_deref(), queries.len()), (None, 1));
    state.apply(Action::Answered(queries[0].id, items(vec![document(0)], 1)));
    assert_eq!(state.apply(Action::Went("desk".to_owned())), []);
    assert!(state.notice.as_ref().is_some_and(|notice| notice.contains("'desk' has left")));
    assert_eq!(state.apply(Action::Came("desk".to_owned())).len(), 1);
    assert_eq!(state.notice, None);
}

#[test]
fn help_is_left_by_any_key() {
    let mut state = finder(1, 1);
    state.apply(Action::Help);
    assert!(state.is_help);
    assert_eq!(state.apply(Action::Open), []);
    assert!(!state.is_help && state.levels.len() == 1, "the key did nothing else");
    state.apply(Action::Help);
    state.apply(Action::Quit);
    assert!(state.is_over);
}

#[test]
fn a_text_is_scrolled_as_far_as_it_goes() {
    let mut state = finder(2, 2);
    state.apply(Action::Drawn { rows: 5, last_scroll: 7 });
    for (by, expected) in [(5, 5), (5, 7), (-5, 2), (-5, 0)] {
        state.apply(Action::Scroll(by));
        assert_eq!(state.scroll, expected);
    }
    state.apply(Action::Scroll(5));
    state.apply(Action::Drawn { rows: 5, last_scroll: 3 });
    assert_eq!(state.scroll, 3, "a larger screen shows more");
    state.apply(Action::Step(1));
    assert_eq!(state.scroll, 0, "another text begins at its beginning");
}
