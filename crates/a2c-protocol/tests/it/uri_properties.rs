//! What holds for every URI: no panic, and writing and reading undo each other.

use a2c_protocol::uri::{
    Categories, Category, Depth, DpeDocumentUri, DpeLevel, DpeQuery, DpeUri, Format, Host, WindowUri,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// Text of any characters, with those that matter in a URI more often than chance would have them.
fn text() -> impl Strategy<Value = String> {
    let special = select(vec!['/', '%', '?', '#', '&', '=', '.', ':', '@', ' ', '+', '\0', '\n', '文', '🪟']);
    vec(prop_oneof![any::<char>(), special], 1..12).prop_map(String::from_iter)
}

fn host() -> impl Strategy<Value = Host> {
    prop_oneof![
        "[A-Za-z0-9._~!$&'()*+,;=-]{1,20}".prop_map(|text| Host::new(text).expect("a host")),
        text().prop_filter_map("a host", |text| Host::new(text).ok()),
    ]
}

fn level() -> impl Strategy<Value = DpeLevel> {
    prop_oneof![
        Just(DpeLevel::Catalogue),
        text().prop_map(|doc_ref| DpeLevel::Document { doc_ref }),
        (text(), any::<u64>()).prop_map(|(doc_ref, index)| DpeLevel::Page { doc_ref, index }),
        (text(), text()).prop_map(|(doc_ref, id)| DpeLevel::Element { doc_ref, id }),
    ]
}

fn query() -> impl Strategy<Value = DpeQuery> {
    (
        option::of(select(vec![Format::Json, Format::Markdown, Format::Text])),
        option::of(select(vec![Depth::Metadata, Depth::Pages])),
        option::of(any::<u64>()),
        option::of(DpeQuery::LIMITS),
        subsequence(Category::ALL, 0..=Category::ALL.len()),
    )
        .prop_map(|(format, depth, offset, limit, categories)| DpeQuery {
            format,
            depth,
            offset,
            limit,
            categories: Categories::new(categories),
        })
}

/// Something that is nearly a URI: pieces of URIs in any order, often after a good beginning.
fn nearly() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        select(vec![
            "/",
            "//",
            "pages",
            "/pages/0",
            "elements",
            "/elements/x",
            "?",
            "&",
            "=",
            "#",
            "%",
            "%2F",
            "%FF",
            "format=",
            "json",
            "depth=pages",
            "limit=",
            "100",
            "offset=",
            "-1",
            "categories=",
            "table",
            ",",
            "@",
            ":",
            "[",
            "文",
        ])
        .prop_map(str::to_owned),
        text(),
    ];
    let start = select(vec!["", "dpe://", "dpe://h", "dpe://h/d", "window://h", "DPE://h/", "window:"]);
    (start, vec(piece, 0..10)).prop_map(|(start, pieces)| format!("{start}{}", pieces.concat()))
}

/// Reads `text` in every form; where it can be read, the written form reads back as the same and stays as it is.
fn check_every_form(text: &str) -> Result<(), TestCaseError> {
    if let Ok(parsed) = WindowUri::parse(text) {
        let written = parsed.uri.to_string();
        let again = WindowUri::parse(&written).expect("what was written can be read");
        prop_assert!(again.dropped.is_empty());
        prop_assert_eq!(again.uri.to_string(), written);
        prop_assert_eq!(again.uri, parsed.uri);
    }
    if let Ok(parsed) = DpeUri::parse(text) {
        let written = parsed.uri.to_string();
        let again = DpeUri::parse(&written).expect("what was written can be read");
        prop_assert!(again.dropped.is_empty());
        prop_assert_eq!(again.uri.to_string(), written);
        prop_assert_eq!(again.uri, parsed.uri);
    }
    match DpeDocumentUri::parse(text) {
        Ok(parsed) => {
            let written = parsed.uri.to_string();
            let again = DpeDocumentUri::parse_strict(&written).expect("what was written can be read");
            prop_assert_eq!(again.to_string(), written);
            prop_assert_eq!(&again, &parsed.uri);
            let strict = DpeDocumentUri::parse_strict(text);
            prop_assert_eq!(strict.is_ok(), parsed.dropped.is_empty());
        }
        Err(error) => prop_assert_eq!(DpeDocumentUri::parse_strict(text), Err(error)),
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_window_that_is_written_is_read_back(host in host(), segments in vec(text(), 0..6)) {
        let uri = WindowUri::new(host.clone(), segments.clone()).expect("short and without empty segments");
        let parsed = WindowUri::parse(&uri.to_string()).expect("what was written can be read");
        prop_assert!(parsed.dropped.is_empty());
        prop_assert_eq!(parsed.uri.host().as_str(), host.as_str());
        prop_assert_eq!(parsed.uri.segments(), segments);
    }

    #[test]
    fn a_place_that_is_written_is_read_back(host in host(), level in level(), query in query()) {
        let uri = DpeUri::new(host, level, query).expect("all rules hold");
        let parsed = DpeUri::parse(&uri.to_string()).expect("what was written can be read");
        prop_assert!(parsed.dropped.is_empty());
        prop_assert_eq!(parsed.uri.host().as_str(), uri.host().as_str());
        prop_assert_eq!(parsed.uri, uri);
    }

    #[test]
    fn a_document_that_is_written_is_read_back(host in host(), segments in vec(text(), 1..6)) {
        let uri = DpeDocumentUri::new(host, segments.clone()).expect("short and without empty segments");
        let parsed = DpeDocumentUri::parse_strict(&uri.to_string()).expect("what was written can be read");
        prop_assert_eq!(parsed.segments(), segments);
        prop_assert_eq!(parsed, uri);
    }

    #[test]
    fn a_written_uri_is_plain_ascii(host in host(), level in level(), query in query()) {
        let written = DpeUri::new(host, level, query).expect("all rules hold").to_string();
        prop_assert!(written.bytes().all(|byte| byte.is_ascii_graphic()), "{}", written);
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        check_every_form(&text)?;
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..200)) {
        check_every_form(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn nearly_a_uri_is_read_or_refused(text in nearly()) {
        check_every_form(&text)?;
    }
}
