//! The table of rules and edges. A document is named by its doc-ref; a page is written as the names on it.

use super::*;

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

fn dated(server: &str, name: &str, last_modified: &str) -> DpeDocumentSummary {
    DpeDocumentSummary { last_modified: Some(last_modified.into()), ..document(server, name) }
}

fn all() -> DocumentQuery {
    DocumentQuery { limit: 100, ..DocumentQuery::default() }
}

fn keywords(keywords: &[&str]) -> DocumentQuery {
    DocumentQuery { keywords: keywords.iter().map(|&keyword| keyword.into()).collect(), ..all() }
}

#[track_caller]
fn check(documents: &[DpeDocumentSummary], query: &DocumentQuery, recent: &[&str], names: &str, total: u64) {
    let (page, count) = organize_finder(documents, query, recent);
    let found: Vec<&str> = page.iter().map(|document| document.doc_ref.as_str()).collect();
    assert_eq!((found.join(" ").as_str(), count), (names, total), "{query:?} after {recent:?}");
}

#[test]
fn nothing_gives_nothing() {
    check(&[], &all(), &[], "", 0);
    check(&[], &keywords(&["a"]), &["s"], "", 0);
    check(&[], &DocumentQuery { offset: 5, ..all() }, &[], "", 0);
}

#[test]
fn only_documents_are_found() {
    let uris = [
        "dpe://s",
        "dpe://s/",
        "dpe://s/a/pages/1",
        "dpe://s/a/elements/e",
        "dpe://s/a/b",
        "dpe:///a",
        "window://s/a",
        "file:///a",
        "dpe://s/a?limit=1000",
        "",
    ];
    let mut documents = uris.map(|uri| DpeDocumentSummary { uri: uri.into(), ..document("s", "no") }).to_vec();
    check(&documents, &all(), &[], "", 0);
    documents.push(document("s", "a"));
    documents.push(DpeDocumentSummary { uri: "DPE://s/b%2Fc?format=json".into(), ..document("s", "b") });
    check(&documents, &all(), &[], "a b", 2);
}

#[test]
fn keywords_are_looked_for_in_each_field() {
    let documents = [
        DpeDocumentSummary { title: "Annual Report".into(), ..document("s", "title") },
        DpeDocumentSummary { keywords: Some(vec!["Finance".into(), "Straße".into()]), ..document("s", "keywords") },
        DpeDocumentSummary { summary: Some("All about ÖDÖN".into()), ..document("s", "summary") },
        DpeDocumentSummary { keywords: Some(vec![]), summary: Some(String::new()), ..document("s", "none") },
    ];
    for (given, names, total) in [
        (&[][..], "title keywords none summary", 4),
        (&["report"], "title", 1),
        (&["REPORT"], "title", 1),
        (&["l r"], "title", 1),
        (&["FINANCE"], "keywords", 1),
        (&["strasse"], "keywords", 1),
        (&["finance str"], "keywords", 1),
        (&["ödön"], "summary", 1),
        (&["a"], "title keywords summary", 3),
        (&["zzz"], "", 0),
        (&["zzz", "about"], "summary", 1),
        (&["about", "annual"], "title summary", 2),
        (&["annual", "report", "ANNUAL"], "title", 1),
        (&["reportfinance"], "", 0),
        (&[""], "title keywords none summary", 4),
        (&["zzz", ""], "title keywords none summary", 4),
        (&[" "], "title keywords summary", 3),
        (&["pdf"], "", 0),
        (&["file:"], "", 0),
        (&["dpe://"], "", 0),
    ] {
        check(&documents, &keywords(given), &[], names, total);
    }
}

#[test]
fn fields_do_not_run_into_each_other() {
    let parts = DpeDocumentSummary {
        title: "ab".into(),
        keywords: Some(vec!["cd".into(), "ef".into()]),
        summary: Some("gh".into()),
        ..document("s", "a")
    };
    for (keyword, total) in [("bc", 0), ("b c", 0), ("de", 0), ("d e", 1), ("fg", 0), ("f g", 0), ("gh", 1)] {
        assert_eq!(organize_finder(std::slice::from_ref(&parts), &keywords(&[keyword]), &NONE).1, total, "{keyword}");
    }
}

#[test]
fn the_file_type_is_exact() {
    let typed = |name: &str, file_type: &str| DpeDocumentSummary { file_type: file_type.into(), ..document("s", name) };
    let documents = [typed("a", "pdf"), typed("b", "PDF"), typed("c", "pdfx"), typed("d", ""), typed("e", "pdf")];
    for (wanted, names, total) in [("pdf", "a e", 2), ("PDF", "b", 1), ("pd", "", 0), ("docx", "", 0), ("", "d", 1)] {
        check(&documents, &DocumentQuery { file_type: Some(wanted.into()), ..all() }, &[], names, total);
    }
    let both = DocumentQuery { file_type: Some("pdf".into()), ..keywords(&["A", "b"]) };
    check(&documents, &both, &[], "a", 1);
}

#[test]
fn servers_come_as_they_were_used() {
    let documents =
        [document("b", "1"), document("c", "2"), document("a", "3"), document("b", "4"), document("B", "5")];
    for (recent, names) in [
        (&[][..], "5 3 1 4 2"),
        (&["c"], "2 5 3 1 4"),
        (&["b", "c", "b"], "1 4 2 5 3"),
        (&["x", "a", "y", "a"], "3 5 1 4 2"),
    ] {
        check(&documents, &all(), recent, names, 5);
    }
    check(&documents, &keywords(&["4", "3"]), &["c", "b"], "4 3", 2);
}

#[test]
fn the_last_changed_comes_first() {
    let documents = [
        document("s", "missing"),
        dated("s", "unreadable", "soon"),
        dated("s", "old", "2025-12-31"),
        dated("s", "noon-in-tokyo", "2026-01-15T12:00:00+09:00"),
        dated("s", "four-utc", "2026-01-15T04:00:00Z"),
        dated("s", "half-a-second-later", "2026-01-15T04:00:00.5Z"),
        dated("s", "no-offset", "2026-01-15T05:00:00"),
        dated("s", "new", "2026-02-01T14:00:00Z"),
        dated("r", "other", "1999-01-01"),
    ];
    let names = "other new no-offset half-a-second-later four-utc noon-in-tokyo old missing unreadable";
    check(&documents, &all(), &[], names, 9);
}

#[test]
fn equal_times_are_ordered_by_title_and_uri() {
    let titled = |name: &str, title: &str, last_modified: &str| DpeDocumentSummary {
        title: title.into(),
        ..dated("s", name, last_modified)
    };
    let documents = [
        titled("e", "same", "2026-01-15T08:00:00Z"),
        titled("d", "same", "2026-01-15T09:00:00+01:00"),
        titled("c", "a", "2026-01-15T08:00:00.000Z"),
        titled("b", "Z", "2026-01-15 08:00:00Z"),
        titled("x", "same", "?"),
        titled("w", "same", ""),
    ];
    check(&documents, &all(), &[], "b c d e w x", 6);
    let reversed: Vec<_> = documents.iter().rev().cloned().collect();
    check(&reversed, &all(), &[], "b c d e w x", 6);
}

#[test]
fn pages_count_what_is_filtered_and_not_what_is_shown() {
    let documents: Vec<_> = (100..250).map(|n| document("s", &n.to_string())).collect();
    let page = |offset, limit| DocumentQuery { offset, limit, ..DocumentQuery::default() };
    for (query, names) in [
        (page(0, 2), "100 101"),
        (page(2, 2), "102 103"),
        (page(149, 2), "249"),
        (page(150, 2), ""),
        (page(u64::MAX, 20), ""),
        (page(0, 0), ""),
        (page(7, 0), ""),
    ] {
        check(&documents, &query, &[], names, 150);
    }
    let shown = |limit| organize_finder(&documents, &page(0, limit), &NONE).0.len();
    assert_eq!([99, 100, 101, 1_000, u64::MAX].map(shown), [99, 100, 100, 100, 100]);
    assert_eq!(organize_finder(&documents, &page(60, 100), &NONE).0.len(), 90);
    check(&documents, &DocumentQuery { limit: 1, ..keywords(&["12"]) }, &[], "112", 12);
}
