//! The index gives what the reference gives, whatever happened to it before.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::finder::organize_finder;

const NONE: [&str; 0] = [];

fn document(server: &str, name: &str) -> DpeDocumentSummary {
    DpeDocumentSummary {
        doc_ref: name.into(),
        uri: format!("dpe://{server}/{name}"),
        file_uri: format!("file:///{name}"),
        file_type: "pdf".into(),
        title: name.into(),
        page_count: 1,
        keywords: None,
        summary: None,
        server: server.into(),
        last_modified: None,
    }
}

fn all() -> DocumentQuery {
    DocumentQuery { limit: 100, ..DocumentQuery::default() }
}

/// The documents of an index as a plain list, for the reference.
type Plain = BTreeMap<(String, String), DpeDocumentSummary>;

#[track_caller]
fn check(view: &FinderView, plain: &Plain, query: &DocumentQuery, recent: &[&str]) {
    let documents: Vec<_> = plain.values().cloned().collect();
    let (page, total) = organize_finder(&documents, query, recent);
    let expected = (page.into_iter().cloned().collect::<Vec<_>>(), total);
    assert_eq!(view.page(query, recent), expected, "{query:?} after {recent:?}");
}

#[derive(Debug, Clone)]
enum Change {
    Put(DpeDocumentSummary),
    /// So many documents at once, to make chunks split; `step` spreads them over the order.
    PutMany {
        server: &'static str,
        count: u32,
        step: u32,
    },
    Remove(&'static str, String),
    /// All but every n-th document of a server, to make chunks empty and join.
    Thin {
        server: &'static str,
        keep_every: usize,
    },
    RemoveServer(&'static str),
    TakeView,
}

impl Change {
    fn apply(&self, index: &mut FinderIndex, plain: &mut Plain) {
        match self {
            Self::Put(document) => put(index, plain, document.clone()),
            Self::PutMany { server, count, step } => {
                for n in 0..*count {
                    let n = n.wrapping_mul(*step) % 997;
                    let last_modified = (n % 5 > 0).then(|| format!("2026-01-{:02}T00:00:00Z", n % 28 + 1));
                    let title = if n % 3 == 0 { "Straße" } else { "ΣΟΦΌΣ" }.to_owned();
                    let file_type = format!("t{}", n % 150);
                    let summary = format!("Long enough for chunks of many to have a signature: number {n}, {}.", n * n);
                    let summary = Some(summary);
                    let many = document(server, &format!("m{n}"));
                    put(index, plain, DpeDocumentSummary { last_modified, title, file_type, summary, ..many });
                }
            }
            Self::Remove(server, uri) => {
                let was_there = plain.remove(&((*server).to_owned(), uri.clone())).is_some();
                assert_eq!(index.remove(server, uri), was_there, "{server} {uri}");
            }
            Self::Thin { server, keep_every } => {
                let uris: Vec<String> =
                    plain.keys().filter(|(of, _)| of == server).map(|(_, uri)| uri.clone()).collect();
                for (_, uri) in uris.into_iter().enumerate().filter(|(n, _)| n % keep_every != 0) {
                    Self::Remove(server, uri).apply(index, plain);
                }
            }
            Self::RemoveServer(server) => {
                let before = plain.len();
                plain.retain(|(of, _), _| of != server);
                assert_eq!(index.remove_server(server), before - plain.len(), "{server}");
            }
            Self::TakeView => {}
        }
    }
}

fn put(index: &mut FinderIndex, plain: &mut Plain, document: DpeDocumentSummary) {
    let is_document = doc_ref_of(&document.uri).is_some();
    let key = (document.server.clone(), document.uri.clone());
    let changes = is_document && plain.get(&key) != Some(&document);
    assert_eq!(index.put(&document), changes, "{document:?}");
    if is_document {
        plain.insert(key, document);
    }
}

/// Words whose folded forms overlap in every way that matters.
fn words() -> impl Strategy<Value = &'static str> {
    select(vec![
        "",
        " ",
        "a",
        "A",
        "ab",
        "report",
        "Annual REPORT",
        "ß",
        "SS",
        "ẞ",
        "ς",
        "Σ",
        "σοφός",
        "İ",
        "i",
        "ﬁ",
        "财务年报",
        "年",
        "\u{0}",
        "signature",
        "NUMBER 7",
        "number 99,",
        "6.",
        "number x",
        "é",
        "e\u{301}",
    ])
}

fn servers() -> impl Strategy<Value = &'static str> {
    select(vec!["s", "t", "B", "ä"])
}

fn file_types() -> impl Strategy<Value = &'static str> {
    select(vec!["pdf", "PDF", "", "t0", "t7"])
}

fn uris() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => (0..12u8).prop_map(|n| format!("dpe://h/d{n}")),
        2 => (0..997u32).prop_map(|n| format!("dpe://s/m{n}")),
        1 => select(vec!["dpe://h", "dpe://h/a/pages/1", "window://h/a", "", "dpe://h/x%2Fy?format=json"]).prop_map(Into::into),
    ]
}

fn times() -> impl Strategy<Value = Option<String>> {
    let times = select(vec![
        "2026-01-15T08:30:00Z",
        "2026-01-15T09:30:00+01:00",
        "2026-01-15 08:30:00.000000001",
        "2026-01-15",
        "1969-01-01T00:00:00Z",
        "never",
        "",
    ]);
    option::of(times.prop_map(Into::into))
}

prop_compose! {
    fn documents()(
        server in servers(), uri in uris(), title in words(), file_type in file_types(), last_modified in times(),
        keywords in option::of(vec(words().prop_map(String::from), 0..3)),
        summary in option::of(words().prop_map(String::from)), page_count in any::<u64>(),
    ) -> DpeDocumentSummary {
        DpeDocumentSummary {
            uri, title: title.into(), file_type: file_type.into(), last_modified, keywords, summary, page_count,
            ..document(server, "d")
        }
    }
}

fn changes() -> impl Strategy<Value = Change> {
    prop_oneof![
        12 => documents().prop_map(Change::Put),
        2 => (servers(), 1..600u32, 1..996u32).prop_map(|(server, count, step)| Change::PutMany { server, count, step }),
        6 => (servers(), uris()).prop_map(|(server, uri)| Change::Remove(server, uri)),
        2 => (servers(), 2..40usize).prop_map(|(server, keep_every)| Change::Thin { server, keep_every }),
        1 => servers().prop_map(Change::RemoveServer),
        3 => Just(Change::TakeView),
    ]
}

prop_compose! {
    fn queries()(
        keywords in vec(words().prop_map(String::from), 0..4), file_type in option::of(file_types().prop_map(String::from)),
        offset in prop_oneof![Just(0), 0..5u64, 0..1500u64, Just(u64::MAX)], limit in prop_oneof![Just(20u64), 0..120u64],
    ) -> DocumentQuery {
        DocumentQuery { keywords, file_type, offset, limit }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn any_history_gives_what_the_reference_gives(
        changes in vec(changes(), 0..30), queries in vec(queries(), 1..6), recent in vec(servers(), 0..4),
    ) {
        let mut index = FinderIndex::new();
        let mut plain = Plain::new();
        let mut views = Vec::new();
        for change in &changes {
            change.apply(&mut index, &mut plain);
            if matches!(change, Change::TakeView) {
                views.push((index.view(), plain.clone()));
            }
        }
        prop_assert_eq!(index.len(), plain.len());
        prop_assert_eq!(index.is_empty(), plain.is_empty());
        for ((server, uri), document) in &plain {
            prop_assert_eq!(index.get(server, uri), Some(document.clone()));
        }
        for server in ["s", "t", "B", "ä", "unknown"] {
            let mut uris: Vec<&str> = index.uris(server).collect();
            uris.sort_unstable();
            let expected = plain.keys().filter(|(of, _)| of == server).map(|(_, uri)| uri.as_str());
            prop_assert_eq!(uris, expected.collect::<Vec<_>>());
        }
        views.push((index.view(), plain));
        for (view, plain) in &views {
            prop_assert_eq!(view.len(), plain.len());
            for query in &queries {
                check(view, plain, query, &recent);
            }
        }
    }
}

#[test]
fn documents_are_kept_as_they_were_put() {
    let mut index = FinderIndex::new();
    let bare = document("s", "bare");
    let empty = DpeDocumentSummary {
        keywords: Some(vec![]),
        summary: Some(String::new()),
        last_modified: Some(String::new()),
        ..document("s", "empty")
    };
    let full = DpeDocumentSummary {
        keywords: Some(vec![String::new(), "k".into(), "财务".into(), String::new()]),
        summary: Some("a\nb".into()),
        last_modified: Some("2026-01-15".into()),
        page_count: u64::MAX,
        ..document("s", "full")
    };
    for document in [&bare, &empty, &full] {
        assert!(index.put(document));
        assert!(!index.put(document), "nothing changed");
        assert_eq!(index.get("s", &document.uri).as_ref(), Some(document));
    }
    let only_empty = DpeDocumentSummary { keywords: Some(vec![String::new()]), ..empty.clone() };
    assert!(index.put(&only_empty), "one empty keyword is not none");
    assert_eq!(index.get("s", &empty.uri), Some(only_empty));
    assert_eq!(index.get("t", &bare.uri), None);
    assert_eq!(index.len(), 3);
}

#[test]
fn the_same_uri_at_two_servers_is_two_documents() {
    let mut index = FinderIndex::new();
    let first = document("s", "a");
    let second = DpeDocumentSummary { server: "t".into(), ..first.clone() };
    assert!(index.put(&first) && index.put(&second));
    assert_eq!(index.view().page(&all(), &["t"]), (vec![second.clone(), first.clone()], 2));
    assert!(index.remove("s", &first.uri) && !index.remove("s", &first.uri));
    assert_eq!(index.view().page(&all(), &NONE), (vec![second], 1));
}

#[test]
fn a_view_stays_as_it_was() {
    let mut index = FinderIndex::new();
    let old = document("s", "a");
    index.put(&old);
    let view = index.view();
    index.put(&DpeDocumentSummary { title: "new".into(), ..old.clone() });
    index.put(&document("s", "b"));
    let second = index.view();
    assert_eq!(index.remove_server("s"), 2);
    assert!(index.is_empty() && index.view().is_empty());
    assert_eq!(view.page(&all(), &NONE), (vec![old], 1));
    assert_eq!(second.page(&all(), &NONE).1, 2);
}

/// Past the number of chunks that is searched by several threads, over several servers and with every filter.
#[test]
fn a_large_catalogue_gives_what_the_reference_gives() {
    let mut index = FinderIndex::new();
    let mut plain = Plain::new();
    for n in 0..40_000u32 {
        let n = n.wrapping_mul(7_919) % 40_000;
        let server = ["s", "t", "u"][n as usize % 3];
        let summary =
            if n % 1_000 == 7 { "a needle in it" } else { "nothing but hay, and enough of it for a signature" };
        let name = format!("d{n}");
        let document = DpeDocumentSummary {
            summary: Some(format!("{summary}, in the manner of very long summaries")),
            file_type: format!("t{}", n % 7),
            last_modified: Some(format!("2026-01-15T08:{:02}:{:02}Z", n / 60 % 60, n % 60)),
            ..document(server, &name)
        };
        put(&mut index, &mut plain, document);
    }
    let view = index.view();
    let search = |keywords: &[&str], file_type: Option<&str>, offset| DocumentQuery {
        keywords: keywords.iter().map(|&keyword| keyword.into()).collect(),
        file_type: file_type.map(Into::into),
        offset,
        limit: 20,
    };
    for query in [
        search(&[], None, 0),
        search(&[], None, 39_990),
        search(&[], Some("t3"), 5_700),
        search(&["NEEDLE"], None, 0),
        search(&["needle"], None, 25),
        search(&["needle"], Some("t3"), 0),
        search(&["hay", "needle", "d1"], Some("t3"), 3_000),
        search(&["hay"], None, 39_000),
        search(&["absent"], None, 0),
    ] {
        check(&view, &plain, &query, &["u"]);
    }

    // Down to few enough that rows of chunks are joined.
    for server in ["s", "t", "u"] {
        Change::Thin { server, keep_every: 20 }.apply(&mut index, &mut plain);
    }
    for offset in [0, 500, 1_400, 1_999] {
        check(&index.view(), &plain, &search(&[], None, offset), &["u"]);
        check(&index.view(), &plain, &search(&["hay"], None, offset), &["u"]);
    }
}

/// Every word of every document is found, however its chunk came about: filled, split, thinned out, joined.
#[test]
fn words_of_one_document_are_found_in_large_chunks() {
    let word = |n: u64| format!("{:016x}", (n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let find = |index: &FinderIndex, n| {
        let (page, total) = index.view().page(&DocumentQuery { keywords: vec![word(n)], ..all() }, &NONE);
        let name = page.first().map(|found| found.doc_ref.clone());
        assert_eq!((name, total), (Some(format!("d{n}")), 1), "{}", word(n));
    };
    let mut index = FinderIndex::new();
    for n in 0..500 {
        let summary = Some(format!("{} {}", "filler ".repeat(20), word(n)));
        // The title decides where it goes: anywhere.
        index.put(&DpeDocumentSummary { summary, title: word(n + 1_000), ..document("s", &format!("d{n}")) });
        find(&index, n);
    }
    (0..500).for_each(|n| find(&index, n));
    for n in (0..500).filter(|n| n % 5 != 0) {
        index.remove("s", &format!("dpe://s/d{n}"));
    }
    (0..500).step_by(5).for_each(|n| find(&index, n));
}

/// Long summaries make chunks of few documents, one too long for a chunk makes one of its own.
#[test]
fn long_texts_are_found_too() {
    let mut index = FinderIndex::new();
    let mut plain = Plain::new();
    for n in 0..60 {
        let length = if n % 10 == 3 { 100_000 } else { 5_000 };
        let summary = Some(format!("{} end{n}", "long ".repeat(length / 5)));
        put(&mut index, &mut plain, DpeDocumentSummary { summary, ..document("s", &format!("d{n:02}")) });
    }
    for keyword in ["end7", "END33", "end", "absent"] {
        check(&index.view(), &plain, &DocumentQuery { keywords: vec![keyword.into()], ..all() }, &NONE);
    }
    for n in (0..60).filter(|n| n % 10 != 3) {
        Change::Remove("s", format!("dpe://s/d{n:02}")).apply(&mut index, &mut plain);
    }
    check(&index.view(), &plain, &DocumentQuery { keywords: vec!["end".into()], ..all() }, &NONE);
}
