//! `dpe://` as a Rust value: each rule, the defaults per level, and the two readings of one text.

use a2c_protocol::uri::{
    Categories, Category, Depth, DpeDocumentUri, DpeLevel, DpeQuery, DpeRule, DpeUri, DpeUriError, Flaw, Format, Host,
    MAX_URI_BYTES,
};

fn host(text: &str) -> Host {
    Host::new(text).expect("a host")
}

fn dpe(text: &str) -> DpeUri {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Each rule with texts that keep it and texts that break it, and no other rule.
#[test]
fn each_rule_accepts_and_refuses() {
    #[track_caller]
    fn check(rule: DpeRule, accepted: &[&str], refused: &[&str]) {
        for text in accepted {
            assert_eq!(DpeUri::parse(text).map(|_| ()), Ok(()), "{rule}: {text}");
        }
        for text in refused {
            let error = DpeUri::parse(text).expect_err(text);
            assert_eq!(error.rule(), Some(rule), "{text}: {error}");
            let message = error.to_string();
            assert!(message.contains(&format!("rule {}:", rule.number())), "{message}");
            assert!(message.contains(error.found()) && message.ends_with(rule.expected()), "{message}");
        }
        assert!(!accepted.is_empty() && !refused.is_empty());
    }
    check(DpeRule::Scheme, &["dpe://h", "DPE://h"], &["", "dpe", "dp://h", "dpes://h", "window://h", "//h"]);
    check(
        DpeRule::Host,
        &["dpe://h", "dpe://文档"],
        &["dpe:", "dpe://", "dpe:///d", "dpe:h", "dpe://u@h", "dpe://h:1"],
    );
    check(
        DpeRule::SubPath,
        &["dpe://h/", "dpe://h/d", "dpe://h/d/pages/0", "dpe://h/d/elements/x", "dpe://h/a%2Fb/pages/12"],
        &[
            "dpe://h/d/chapters/1",
            "dpe://h/d/pages",
            "dpe://h/d/pages/x",
            "dpe://h/d/pages/-1",
            "dpe://h/d/elements/",
            "dpe://h//",
        ],
    );
    check(
        DpeRule::Format,
        &["dpe://h/d?format=json", "dpe://h/d?format=markdown", "dpe://h/d?format=text"],
        &["dpe://h/d?format=html", "dpe://h/d?format=", "dpe://h/d?format=json&format=text"],
    );
    check(
        DpeRule::Depth,
        &["dpe://h/d?depth=metadata", "dpe://h/d?depth=pages"],
        &["dpe://h/d?depth=elements", "dpe://h/d?depth", "dpe://h/d?depth=pages&depth=pages"],
    );
    check(
        DpeRule::Offset,
        &["dpe://h/d?offset=0", "dpe://h/d?offset=1000000"],
        &["dpe://h/d?offset=-1", "dpe://h/d?offset=1e3", "dpe://h/d?offset=%2B1", "dpe://h/d?offset=1&offset=2"],
    );
    check(
        DpeRule::Limit,
        &["dpe://h/d?limit=1", "dpe://h/d?limit=100"],
        &["dpe://h/d?limit=0", "dpe://h/d?limit=101", "dpe://h/d?limit=many", "dpe://h/d?limit=1&limit=1"],
    );
    check(
        DpeRule::Categories,
        &["dpe://h/d/pages/0?categories=table", "dpe://h/d/pages/0?categories=pivot_table,widget"],
        &[
            "dpe://h/d/pages/0?categories=",
            "dpe://h/d/pages/0?categories=sheet",
            "dpe://h/d/pages/0?categories=a&categories=b",
        ],
    );
}

#[test]
fn the_rules_are_numbered_as_in_the_protocol() {
    let numbers = DpeRule::ALL.map(DpeRule::number);
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(DpeUriError::CODE, 4204);
}

#[test]
fn defaults_depend_on_the_level_and_foreign_parameters_have_no_effect() {
    type Effective<'a> = (Format, Depth, u64, Option<u8>, Option<&'a str>);
    #[track_caller]
    fn check(text: &str, expected: Effective<'_>) {
        let uri = dpe(text);
        let categories = uri.categories().map(Categories::to_string);
        let effective = (uri.format(), uri.depth(), uri.offset(), uri.limit(), categories.as_deref());
        assert_eq!(effective, expected, "{text}");
    }
    let (json, metadata) = (Format::Json, Depth::Metadata);
    check("dpe://h", (json, metadata, 0, Some(100), None));
    check("dpe://h/d", (json, metadata, 0, Some(20), None));
    check("dpe://h/d/pages/0", (json, metadata, 0, None, None));
    check("dpe://h/d/elements/x", (json, metadata, 0, None, None));
    let all = "?format=text&depth=pages&offset=7&limit=9&categories=table";
    check(&format!("dpe://h{all}"), (Format::Text, metadata, 7, Some(9), None));
    check(&format!("dpe://h/d{all}"), (Format::Text, Depth::Pages, 7, Some(9), None));
    check(&format!("dpe://h/d/pages/0{all}"), (Format::Text, metadata, 0, None, Some("table")));
    check(&format!("dpe://h/d/elements/x{all}"), (Format::Text, metadata, 7, Some(9), None));
}

#[test]
fn a_default_that_is_written_out_stays_written_out() {
    let (implicit, explicit) = (dpe("dpe://h/d"), dpe("dpe://h/d?format=json&depth=metadata&offset=0&limit=20"));
    assert_ne!(implicit, explicit);
    assert_eq!(implicit.query(), &DpeQuery::default());
    assert_eq!(explicit.to_string(), "dpe://h/d?format=json&depth=metadata&offset=0&limit=20");
    assert_eq!((implicit.format(), implicit.limit()), (explicit.format(), explicit.limit()));
}

#[test]
fn building_keeps_the_rules_too() {
    #[track_caller]
    fn check(level: DpeLevel, query: DpeQuery, expected: Result<&str, (Option<DpeRule>, Flaw)>) {
        let built = DpeUri::new(host("h"), level, query);
        let text = built.map(|uri| uri.to_string()).map_err(|error| (error.rule(), error.flaw()));
        assert_eq!(text.as_deref(), expected.as_deref());
    }
    let document = |doc_ref: &str| DpeLevel::Document { doc_ref: doc_ref.into() };
    let element = |id: &str| DpeLevel::Element { doc_ref: "d".into(), id: id.into() };
    let limit = |limit| DpeQuery { limit: Some(limit), ..DpeQuery::default() };
    let none = DpeQuery::default;
    check(DpeLevel::Catalogue, none(), Ok("dpe://h"));
    check(document("a/pages/1"), none(), Ok("dpe://h/a%2Fpages%2F1"));
    check(element("表"), none(), Ok("dpe://h/d/elements/%E8%A1%A8"));
    check(document("d"), limit(100), Ok("dpe://h/d?limit=100"));
    check(document(""), none(), Err((Some(DpeRule::SubPath), Flaw::EmptySegment)));
    check(element(""), none(), Err((Some(DpeRule::SubPath), Flaw::EmptySegment)));
    check(document("d"), limit(0), Err((Some(DpeRule::Limit), Flaw::OutOfRange)));
    check(document("d"), limit(101), Err((Some(DpeRule::Limit), Flaw::OutOfRange)));
    check(document(&"a".repeat(MAX_URI_BYTES)), none(), Err((None, Flaw::TooLong)));
}

#[test]
fn a_place_knows_its_document() {
    for inside in ["dpe://h/a%2Fb?depth=pages", "dpe://h/a%2Fb/pages/3?format=text", "dpe://h/a%2Fb/elements/x"] {
        assert_eq!(dpe(inside).document(), Some(dpe("dpe://h/a%2Fb")), "{inside}");
    }
    assert_eq!(dpe("dpe://h").document(), None);
    let categories = Categories::new([Category::Table]);
    let filtered = dpe("dpe://h/d/pages/1?limit=3").with_query(DpeQuery { categories, ..DpeQuery::default() });
    assert_eq!(filtered, Ok(dpe("dpe://h/d/pages/1?categories=table")));
}

#[test]
fn a_document_form_is_parsed_again_in_finder_context() {
    #[track_caller]
    fn check(segments: &[&str], expected: Result<DpeLevel, DpeRule>) {
        let document = DpeDocumentUri::new(host("h"), segments.iter().copied()).expect("a document");
        let level = document.in_finder_context().map(|uri| uri.level().clone());
        assert_eq!(level.map_err(|error| error.rule()), expected.map_err(Some), "{segments:?}");
    }
    let doc_ref = || "a".to_owned();
    check(&["a"], Ok(DpeLevel::Document { doc_ref: doc_ref() }));
    check(&["a", "pages", "3"], Ok(DpeLevel::Page { doc_ref: doc_ref(), index: 3 }));
    check(&["a", "elements", "x/y"], Ok(DpeLevel::Element { doc_ref: doc_ref(), id: "x/y".into() }));
    check(&["a", "b"], Err(DpeRule::SubPath));
    check(&["a", "b", "pages", "3"], Err(DpeRule::SubPath));
}

#[test]
fn both_forms_travel_as_text() {
    let text = r#""dpe://h/a%20b?format=text""#;
    let place: DpeUri = serde_json::from_str(text).expect("a place");
    assert_eq!(serde_json::to_string(&place).expect("text"), text);
    let document: DpeDocumentUri = serde_json::from_str(text).expect("a document");
    assert_eq!(serde_json::to_string(&document).expect("text"), r#""dpe://h/a%20b""#);
    let refused = serde_json::from_str::<DpeUri>(r#""dpe://h/d?limit=0""#).expect_err("limit");
    assert!(
        refused.to_string().starts_with(
            "invalid dpe:// URI, rule 7: `limit=0` is out of range; write `limit=` and an integer from 1 to 100, once"
        ),
        "{refused}"
    );
}
