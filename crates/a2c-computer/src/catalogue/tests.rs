//! The catalogue without servers: listings, reads and changes, and what is shown of them.

use a2c_finder::finder::DocumentQuery;
use a2c_protocol::context::Resource;
use serde_json::{Value, json};

use super::*;

fn resource(value: Value) -> Resource {
    serde_json::from_value(value).unwrap()
}

fn declared(uri: &str, title: &str) -> Resource {
    resource(json!({"uri": uri, "name": title, "_meta": {"file_type": "md", "page_count": 1, "file_uri": "file:///x"}}))
}

fn quiet(uri: &str) -> Resource {
    resource(json!({"uri": uri, "name": uri}))
}

fn level_one(title: &str) -> Value {
    json!({"title": title, "file_type": "pdf", "page_count": 2, "file_uri": "file:///y"})
}

struct Fixture {
    catalogue: Catalogue,
    server: Arc<str>,
    is_first: bool,
}

impl Fixture {
    fn new() -> Self {
        Self { catalogue: Catalogue::default(), server: "s".into(), is_first: true }
    }

    fn list(&mut self, resources: Vec<Resource>) -> Vec<String> {
        let mut listing = Listing::new(true, std::mem::take(&mut self.is_first));
        self.catalogue.add_page(&self.server, &mut listing, resources);
        let mut wanted: Vec<String> =
            self.catalogue.finish(&self.server, listing).to_subscribe.iter().map(ToString::to_string).collect();
        wanted.sort_unstable();
        wanted
    }

    fn reconnect(&mut self) {
        self.is_first = true;
        self.catalogue.connected(&self.server);
    }

    fn pending_reads(&self) -> Vec<DocumentRead> {
        std::iter::from_fn(|| self.catalogue.next_read("s")).collect()
    }

    fn shown(&self) -> Vec<String> {
        let query = DocumentQuery { keywords: Vec::new(), file_type: None, offset: 0, limit: 100 };
        let (documents, _) = self.catalogue.finder().page(&query, &[""; 0]);
        documents.into_iter().map(|document| document.title).collect()
    }

    /// Whether Desktop and Finder were notified since the last call.
    fn notified(&self) -> (bool, bool) {
        (self.catalogue.desktop_changed.take(), self.catalogue.finder_changed.take())
    }
}

#[test]
fn listed_resources_are_shown_and_others_removed() {
    let mut fixture = Fixture::new();
    let window = || quiet("window://h/w");
    assert_eq!(fixture.list(vec![declared("dpe://h/a", "A"), window(), quiet("x://y")]), ["dpe://h/a", "window://h/w"]);
    assert_eq!((fixture.shown(), fixture.notified()), (vec!["A".into()], (true, true)));
    assert_eq!(fixture.catalogue.server_listing("x://y").as_deref(), Some("s"));
    assert_eq!(fixture.catalogue.server_of("h", None).as_deref(), Some("s"));

    fixture.list(vec![declared("dpe://h/a", "A"), window(), quiet("x://y")]);
    assert_eq!(fixture.notified(), (false, false), "the same list notifies nothing");
    fixture.list(vec![declared("dpe://h/a", "A, renamed"), window()]);
    assert_eq!((fixture.shown(), fixture.notified()), (vec!["A, renamed".into()], (false, true)));
    assert_eq!(fixture.catalogue.server_listing("x://y"), None);
    fixture.list(vec![]);
    assert_eq!((fixture.shown(), fixture.notified()), (vec![], (true, true)));
    assert_eq!(fixture.catalogue.server_of("h", None), None);
}

#[test]
fn a_level_zero_stands_for_the_documents_of_its_host() {
    let mut fixture = Fixture::new();
    let listed = vec![declared("dpe://a/1", "1"), quiet("dpe://a"), declared("dpe://b/1", "2"), quiet("dpe://b/c/d")];
    assert_eq!(fixture.list(listed), ["dpe://a", "dpe://b/1", "dpe://b/c/d"]);
    fixture.catalogue.set_subscribed("s", "dpe://a", true);
    assert!(fixture.catalogue.is_subscribed("s", "dpe://a/1", "a"));
}

#[test]
fn a_document_is_subscribed_while_the_server_accepts() {
    let mut fixture = Fixture::new();
    let subscribed = |fixture: &Fixture| fixture.catalogue.is_subscribed("s", "dpe://b/c/d", "b");
    fixture.list(vec![quiet("dpe://b/c/d")]);
    assert!(!subscribed(&fixture), "the server may refuse");
    fixture.catalogue.set_subscribed("s", "dpe://b/c/d", true);
    assert!(subscribed(&fixture) && !fixture.catalogue.is_subscribed("s", "dpe://b/2", "b"));
    fixture.reconnect();
    assert!(!subscribed(&fixture), "a subscription ends with its connection");
}

#[test]
fn a_server_that_announces_no_changes_shows_nothing_but_can_be_read() {
    let fixture = Fixture::new();
    let mut listing = Listing::new(false, true);
    fixture.catalogue.add_page(&fixture.server, &mut listing, vec![declared("dpe://h/a", "A"), quiet("window://h")]);
    assert!(fixture.catalogue.finish(&fixture.server, listing).to_subscribe.is_empty());
    assert_eq!(
        (fixture.shown(), fixture.catalogue.windows(None).len(), fixture.notified()),
        (vec![], 0, (false, false))
    );
    assert_eq!(fixture.catalogue.server_listing("window://h").as_deref(), Some("s"));
    assert_eq!(fixture.catalogue.server_of("h", None).as_deref(), Some("s"));
}

#[test]
fn a_document_without_metadata_is_read_once() {
    let mut fixture = Fixture::new();
    let both = || vec![quiet("dpe://h/a"), quiet("dpe://h/b")];
    fixture.list(both());
    assert_eq!((fixture.shown().len(), fixture.notified()), (0, (false, false)));
    let reads = fixture.pending_reads();
    assert_eq!(reads.len(), 2);
    fixture.catalogue.document_read(&fixture.server, &reads[0], Ok(level_one("A")));
    fixture.catalogue.document_read(&fixture.server, &reads[1], Err(ReadFailure::Failed("no".into())));
    assert_eq!((fixture.shown(), fixture.notified()), (vec!["dpe://h/a".into()], (false, true)));
    fixture.list(both());
    assert_eq!(
        (fixture.pending_reads(), fixture.notified()),
        (vec![], (false, false)),
        "neither is read again for a list"
    );

    // The one that failed changes, and works now.
    assert_eq!(fixture.catalogue.updated(&fixture.server, "dpe://h/b/pages/3"), UpdateEffect::Read);
    let reads = fixture.pending_reads();
    fixture.catalogue.document_read(&fixture.server, &reads[0], Ok(level_one("B")));
    assert_eq!(fixture.shown().len(), 2);
}

#[test]
fn a_change_during_a_read_causes_another_read() {
    let mut fixture = Fixture::new();
    fixture.list(vec![declared("dpe://h/a", "A")]);
    fixture.notified();
    assert_eq!(fixture.catalogue.updated(&fixture.server, "dpe://h/a"), UpdateEffect::Read);
    assert_eq!(fixture.notified(), (false, true), "at once");
    let first = fixture.pending_reads();
    fixture.catalogue.updated(&fixture.server, "dpe://h/a");
    assert_eq!(fixture.pending_reads(), [], "not twice at a time");
    fixture.catalogue.document_read(&fixture.server, &first[0], Ok(level_one("old")));
    assert_eq!(fixture.shown(), ["A"], "what was read before the change is old");
    let second = fixture.pending_reads();
    fixture.catalogue.document_read(&fixture.server, &second[0], Ok(level_one("new")));
    assert_eq!((fixture.shown(), fixture.pending_reads()), (vec!["new".into()], vec![]));
}

#[test]
fn a_document_that_went_while_it_was_read_stays_gone() {
    let mut fixture = Fixture::new();
    fixture.list(vec![quiet("dpe://h/a"), declared("dpe://h/b", "B")]);
    fixture.catalogue.updated(&fixture.server, "dpe://h/b");
    let reads = fixture.pending_reads();
    fixture.list(vec![]);
    for read in &reads {
        fixture.catalogue.document_read(&fixture.server, read, Ok(level_one("back?")));
    }
    assert_eq!(fixture.shown(), [""; 0]);

    // A document that the server calls missing is removed; one that it cannot read now stays.
    fixture.list(vec![declared("dpe://h/a", "A"), declared("dpe://h/b", "B")]);
    for uri in ["dpe://h/a", "dpe://h/b"] {
        fixture.catalogue.updated(&fixture.server, uri);
    }
    let reads = fixture.pending_reads();
    fixture.catalogue.document_read(&fixture.server, &reads[0], Err(ReadFailure::Missing("gone".into())));
    fixture.catalogue.document_read(&fixture.server, &reads[1], Err(ReadFailure::Failed("busy".into())));
    assert_eq!(fixture.shown(), ["B"]);
}

#[test]
fn a_new_connection_reads_everything_again_and_shows_the_old_meanwhile() {
    let mut fixture = Fixture::new();
    fixture.list(vec![quiet("dpe://h/a"), quiet("dpe://h/b"), quiet("window://h")]);
    let reads = fixture.pending_reads();
    fixture.catalogue.document_read(&fixture.server, &reads[0], Ok(level_one("A")));
    fixture.catalogue.disconnected(&fixture.server);
    assert!(fixture.notified().0, "its windows cannot be read");
    fixture.reconnect();
    assert!(fixture.notified().0, "now they can");
    fixture.list(vec![quiet("dpe://h/a"), quiet("dpe://h/b"), quiet("window://h")]);
    assert_eq!(fixture.shown(), ["dpe://h/a"]);
    // The answer over the lost connection is not waited for, and is old if it comes.
    fixture.catalogue.document_read(&fixture.server, &reads[1], Ok(level_one("B")));
    assert_eq!(fixture.shown(), ["dpe://h/a"]);
    assert_eq!(fixture.pending_reads().len(), 2);
}

#[test]
fn a_server_that_is_forgotten_leaves_nothing() {
    let mut fixture = Fixture::new();
    fixture.list(vec![declared("dpe://h/a", "A"), quiet("window://h"), quiet("dpe://h/b")]);
    fixture.notified();
    fixture.catalogue.forget(&fixture.server);
    assert_eq!((fixture.shown(), fixture.catalogue.windows(None).len(), fixture.notified()), (vec![], 0, (true, true)));
    assert_eq!((fixture.catalogue.server_of("h", None), fixture.pending_reads()), (None, vec![]));
    fixture.catalogue.forget(&fixture.server);
    assert_eq!(fixture.notified(), (false, false));
}

#[test]
fn updates_of_unknown_resources_notify_and_cause_no_read() {
    let mut fixture = Fixture::new();
    fixture.list(vec![declared("dpe://h/a", "A")]);
    fixture.notified();
    let check = |uri: &str, effect: UpdateEffect, notified: (bool, bool)| {
        assert_eq!((fixture.catalogue.updated(&fixture.server, uri), fixture.notified()), (effect, notified), "{uri}");
    };
    check("window://h/unknown", UpdateEffect::Nothing, (true, false));
    check("dpe://h/unknown", UpdateEffect::Nothing, (false, true));
    check("dpe://h", UpdateEffect::List, (false, true));
    check("dpe://h/a/elements/x", UpdateEffect::Read, (false, true));
    check("file:///x", UpdateEffect::Nothing, (false, false));
    check("dpe://", UpdateEffect::Nothing, (false, false));
}

#[test]
fn a_host_for_every_document_costs_no_more_than_one_for_all() {
    let mut fixture = Fixture::new();
    let listed = || (0..20_000).map(|n| declared(&format!("dpe://h{n}/d"), "D")).collect();
    // A search host by host once locked the catalogue for minutes.
    let begin = std::time::Instant::now();
    fixture.list(listed());
    fixture.list(listed());
    assert!(begin.elapsed() < std::time::Duration::from_secs(30), "{:?}", begin.elapsed());
}

#[test]
fn documents_of_a_failed_listing_notify_once() {
    let mut fixture = Fixture::new();
    fixture.list(vec![declared("dpe://h/a", "A")]);
    fixture.notified();
    let begin = |title: &str| {
        let mut listing = Listing::new(true, false);
        fixture.catalogue.add_page(&fixture.server, &mut listing, vec![declared("dpe://h/b", title)]);
    };
    begin("B");
    fixture.catalogue.listing_failed(&fixture.server);
    assert_eq!((fixture.shown().len(), fixture.notified()), (2, (false, true)));
    begin("B again");
    fixture.catalogue.disconnected(&fixture.server);
    assert_eq!(fixture.notified(), (false, true));
    fixture.catalogue.listing_failed(&fixture.server);
    assert_eq!(fixture.notified(), (false, false), "it notifies once");
}
