//! The catalogue without servers: what is listed, read and changed, and what is shown of it.

use a2c_finder::finder::FinderQuery;
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

struct Stage {
    catalogue: Catalogue,
    server: Arc<str>,
    is_first: bool,
}

impl Stage {
    fn new() -> Self {
        Self { catalogue: Catalogue::default(), server: "s".into(), is_first: true }
    }

    fn list(&mut self, resources: Vec<Resource>) -> Vec<String> {
        let mut listing = Listing::new(true, std::mem::take(&mut self.is_first));
        self.catalogue.take_page(&self.server, &mut listing, resources);
        let mut wanted: Vec<String> =
            self.catalogue.finish(&self.server, listing).to_subscribe.iter().map(ToString::to_string).collect();
        wanted.sort_unstable();
        wanted
    }

    fn reconnect(&mut self) {
        self.is_first = true;
        self.catalogue.connected(&self.server);
    }

    fn jobs(&self) -> Vec<Job> {
        std::iter::from_fn(|| self.catalogue.next_read("s")).collect()
    }

    fn shown(&self) -> Vec<String> {
        let query = FinderQuery { keywords: Vec::new(), file_type: None, offset: 0, limit: 100 };
        let (documents, _) = self.catalogue.finder().page(&query, &[""; 0]);
        documents.into_iter().map(|document| document.title).collect()
    }

    /// Whether Desktop and Finder were rung for since the last look.
    fn rung(&self) -> (bool, bool) {
        (self.catalogue.desktop_changed.take(), self.catalogue.finder_changed.take())
    }
}

#[test]
fn what_is_listed_is_shown_and_what_is_not_any_more_is_gone() {
    let mut stage = Stage::new();
    let window = || quiet("window://h/w");
    assert_eq!(stage.list(vec![declared("dpe://h/a", "A"), window(), quiet("x://y")]), ["dpe://h/a", "window://h/w"]);
    assert_eq!((stage.shown(), stage.rung()), (vec!["A".into()], (true, true)));
    assert_eq!(stage.catalogue.server_listing("x://y").as_deref(), Some("s"));
    assert_eq!(stage.catalogue.server_of("h", None).as_deref(), Some("s"));

    stage.list(vec![declared("dpe://h/a", "A"), window(), quiet("x://y")]);
    assert_eq!(stage.rung(), (false, false), "the same is no news");
    stage.list(vec![declared("dpe://h/a", "A, renamed"), window()]);
    assert_eq!((stage.shown(), stage.rung()), (vec!["A, renamed".into()], (false, true)));
    assert_eq!(stage.catalogue.server_listing("x://y"), None);
    stage.list(vec![]);
    assert_eq!((stage.shown(), stage.rung()), (vec![], (true, true)));
    assert_eq!(stage.catalogue.server_of("h", None), None);
}

#[test]
fn a_level_zero_stands_for_the_documents_of_its_host() {
    let mut stage = Stage::new();
    let listed = vec![declared("dpe://a/1", "1"), quiet("dpe://a"), declared("dpe://b/1", "2"), quiet("dpe://b/c/d")];
    assert_eq!(stage.list(listed), ["dpe://a", "dpe://b/1", "dpe://b/c/d"]);
    stage.catalogue.follows("s", "dpe://a", true);
    assert!(stage.catalogue.is_followed("s", "dpe://a/1", "a"));
}

#[test]
fn a_document_is_followed_while_its_subscription_is_taken() {
    let mut stage = Stage::new();
    let followed = |stage: &Stage| stage.catalogue.is_followed("s", "dpe://b/c/d", "b");
    stage.list(vec![quiet("dpe://b/c/d")]);
    assert!(!followed(&stage), "the server may refuse");
    stage.catalogue.follows("s", "dpe://b/c/d", true);
    assert!(followed(&stage) && !stage.catalogue.is_followed("s", "dpe://b/2", "b"));
    stage.reconnect();
    assert!(!followed(&stage), "a subscription ends with its connection");
}

#[test]
fn a_server_that_tells_of_no_changes_shows_nothing_but_can_be_read() {
    let stage = Stage::new();
    let mut listing = Listing::new(false, true);
    stage.catalogue.take_page(&stage.server, &mut listing, vec![declared("dpe://h/a", "A"), quiet("window://h")]);
    assert!(stage.catalogue.finish(&stage.server, listing).to_subscribe.is_empty());
    assert_eq!((stage.shown(), stage.catalogue.windows(None).len(), stage.rung()), (vec![], 0, (false, false)));
    assert_eq!(stage.catalogue.server_listing("window://h").as_deref(), Some("s"));
    assert_eq!(stage.catalogue.server_of("h", None).as_deref(), Some("s"));
}

#[test]
fn what_says_too_little_is_read_once_and_remembered() {
    let mut stage = Stage::new();
    let both = || vec![quiet("dpe://h/a"), quiet("dpe://h/b")];
    stage.list(both());
    assert_eq!((stage.shown().len(), stage.rung()), (0, (false, false)));
    let jobs = stage.jobs();
    assert_eq!(jobs.len(), 2);
    stage.catalogue.read(&stage.server, &jobs[0], Ok(level_one("A")));
    stage.catalogue.read(&stage.server, &jobs[1], Err(Unread::Failed("no".into())));
    assert_eq!((stage.shown(), stage.rung()), (vec!["dpe://h/a".into()], (false, true)));
    stage.list(both());
    assert_eq!((stage.jobs(), stage.rung()), (vec![], (false, false)), "neither is read again for a list");

    // The one that failed changes, and works now.
    assert_eq!(stage.catalogue.updated(&stage.server, "dpe://h/b/pages/3"), Consequence::Read);
    let jobs = stage.jobs();
    stage.catalogue.read(&stage.server, &jobs[0], Ok(level_one("B")));
    assert_eq!(stage.shown().len(), 2);
}

#[test]
fn a_change_during_a_read_has_it_read_again() {
    let mut stage = Stage::new();
    stage.list(vec![declared("dpe://h/a", "A")]);
    stage.rung();
    assert_eq!(stage.catalogue.updated(&stage.server, "dpe://h/a"), Consequence::Read);
    assert_eq!(stage.rung(), (false, true), "at once");
    let first = stage.jobs();
    stage.catalogue.updated(&stage.server, "dpe://h/a");
    assert_eq!(stage.jobs(), [], "not twice at a time");
    stage.catalogue.read(&stage.server, &first[0], Ok(level_one("old")));
    assert_eq!(stage.shown(), ["A"], "what was read before the change is old");
    let second = stage.jobs();
    stage.catalogue.read(&stage.server, &second[0], Ok(level_one("new")));
    assert_eq!((stage.shown(), stage.jobs()), (vec!["new".into()], vec![]));
}

#[test]
fn a_document_that_went_while_it_was_read_stays_gone() {
    let mut stage = Stage::new();
    stage.list(vec![quiet("dpe://h/a"), declared("dpe://h/b", "B")]);
    stage.catalogue.updated(&stage.server, "dpe://h/b");
    let jobs = stage.jobs();
    stage.list(vec![]);
    for job in &jobs {
        stage.catalogue.read(&stage.server, job, Ok(level_one("back?")));
    }
    assert_eq!(stage.shown(), [""; 0]);

    // One of which the server says so goes, one that it cannot read just now stays.
    stage.list(vec![declared("dpe://h/a", "A"), declared("dpe://h/b", "B")]);
    for uri in ["dpe://h/a", "dpe://h/b"] {
        stage.catalogue.updated(&stage.server, uri);
    }
    let jobs = stage.jobs();
    stage.catalogue.read(&stage.server, &jobs[0], Err(Unread::Missing("gone".into())));
    stage.catalogue.read(&stage.server, &jobs[1], Err(Unread::Failed("busy".into())));
    assert_eq!(stage.shown(), ["B"]);
}

#[test]
fn a_new_connection_has_everything_read_again_and_shows_the_old_meanwhile() {
    let mut stage = Stage::new();
    stage.list(vec![quiet("dpe://h/a"), quiet("dpe://h/b"), quiet("window://h")]);
    let jobs = stage.jobs();
    stage.catalogue.read(&stage.server, &jobs[0], Ok(level_one("A")));
    stage.catalogue.disconnected(&stage.server);
    assert!(stage.rung().0, "its windows cannot be read");
    stage.reconnect();
    assert!(stage.rung().0, "now they can");
    stage.list(vec![quiet("dpe://h/a"), quiet("dpe://h/b"), quiet("window://h")]);
    assert_eq!(stage.shown(), ["dpe://h/a"]);
    // The answer over the lost connection is not waited for, and is old if it comes.
    stage.catalogue.read(&stage.server, &jobs[1], Ok(level_one("B")));
    assert_eq!(stage.shown(), ["dpe://h/a"]);
    assert_eq!(stage.jobs().len(), 2);
}

#[test]
fn a_server_that_is_forgotten_leaves_nothing() {
    let mut stage = Stage::new();
    stage.list(vec![declared("dpe://h/a", "A"), quiet("window://h"), quiet("dpe://h/b")]);
    stage.rung();
    stage.catalogue.forget(&stage.server);
    assert_eq!((stage.shown(), stage.catalogue.windows(None).len(), stage.rung()), (vec![], 0, (true, true)));
    assert_eq!((stage.catalogue.server_of("h", None), stage.jobs()), (None, vec![]));
    stage.catalogue.forget(&stage.server);
    assert_eq!(stage.rung(), (false, false));
}

#[test]
fn news_of_what_is_not_known_is_announced_and_nothing_more() {
    let mut stage = Stage::new();
    stage.list(vec![declared("dpe://h/a", "A")]);
    stage.rung();
    let check = |uri: &str, consequence: Consequence, rung: (bool, bool)| {
        assert_eq!((stage.catalogue.updated(&stage.server, uri), stage.rung()), (consequence, rung), "{uri}");
    };
    check("window://h/unknown", Consequence::Nothing, (true, false));
    check("dpe://h/unknown", Consequence::Nothing, (false, true));
    check("dpe://h", Consequence::List, (false, true));
    check("dpe://h/a/elements/x", Consequence::Read, (false, true));
    check("file:///x", Consequence::Nothing, (false, false));
    check("dpe://", Consequence::Nothing, (false, false));
}

#[test]
fn a_host_for_every_document_costs_no_more_than_one_for_all() {
    let mut stage = Stage::new();
    let listed = || (0..20_000).map(|n| declared(&format!("dpe://h{n}/d"), "D")).collect();
    // Looked for host by host, each of these took the catalogue away from everybody for minutes.
    let begin = std::time::Instant::now();
    stage.list(listed());
    stage.list(listed());
    assert!(begin.elapsed() < std::time::Duration::from_secs(30), "{:?}", begin.elapsed());
}

#[test]
fn documents_of_a_list_that_breaks_off_are_announced_then_and_with_the_connection() {
    let mut stage = Stage::new();
    stage.list(vec![declared("dpe://h/a", "A")]);
    stage.rung();
    let begin = |title: &str| {
        let mut listing = Listing::new(true, false);
        stage.catalogue.take_page(&stage.server, &mut listing, vec![declared("dpe://h/b", title)]);
    };
    begin("B");
    stage.catalogue.broke_off(&stage.server);
    assert_eq!((stage.shown().len(), stage.rung()), (2, (false, true)));
    begin("B again");
    stage.catalogue.disconnected(&stage.server);
    assert_eq!(stage.rung(), (false, true));
    stage.catalogue.broke_off(&stage.server);
    assert_eq!(stage.rung(), (false, false), "it is told once");
}
