use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use a2c_protocol::ErrorBody;
use a2c_protocol::error::ErrorCode;
use async_trait::async_trait;
use serde_json::json;
use tokio::sync::Semaphore;

use super::*;
use crate::reader::ReadError;
use crate::resolver::{ResolveError, SourceDocument};
use crate::testing::{self, Script, external_content, inline_content, json_content};
use crate::{HttpListener, HttpOptions, LocalDirectory};

const URI: &str = "dpe://h/d";

/// A resolver like a user's: a directory that counts, waits and fails on request.
struct CountingResolver {
    directory: LocalDirectory,
    _folder: tempfile::TempDir,
    calls: AtomicUsize,
    outdated: AtomicUsize,
    gate: Semaphore,
    is_gated: AtomicBool,
    fault: Mutex<Option<ResolverFault>>,
    expires_at: Mutex<Option<String>>,
}

enum ResolverFault {
    Fails,
    Panics,
    Address(&'static str),
}

impl CountingResolver {
    fn new() -> Arc<Self> {
        let folder = tempfile::tempdir().unwrap();
        Arc::new(Self {
            directory: LocalDirectory::open(folder.path()).unwrap(),
            _folder: folder,
            calls: AtomicUsize::new(0),
            outdated: AtomicUsize::new(0),
            gate: Semaphore::new(0),
            is_gated: AtomicBool::new(false),
            fault: Mutex::new(None),
            expires_at: Mutex::new(None),
        })
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl DpeResolver for CountingResolver {
    async fn resolve(&self, document: &SourceDocument) -> Result<A2cResource, ResolveError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        if self.is_gated.load(Ordering::SeqCst) {
            self.gate.acquire().await.unwrap().forget();
        }
        let fault = self.fault.lock().unwrap().take();
        match fault {
            Some(ResolverFault::Fails) => Err(ResolveError::new("the disk is full").caused_by("secret=geheim")),
            Some(ResolverFault::Panics) => panic!("as the test wants it"),
            Some(ResolverFault::Address(uri)) => Ok(document.at(uri)),
            None => {
                let mut answer = self.directory.resolve(document).await?;
                if let Some(expires_at) = self.expires_at.lock().unwrap().clone() {
                    answer.meta.get_or_insert_default().insert("expires_at".into(), expires_at.into());
                }
                Ok(answer)
            }
        }
    }

    async fn still_holds(&self, resource: &A2cResource) -> bool {
        self.directory.still_holds(resource).await
    }

    fn outdated(&self, _: &A2cResource) {
        self.outdated.fetch_add(1, Ordering::SeqCst);
    }
}

/// `get_dpe` with one document that can be read.
struct Fixture {
    resolver: Arc<CountingResolver>,
    resolutions: Resolutions,
    script: Script,
    clock: Clock,
    uri: DpeDocumentUri,
}

impl Fixture {
    fn new() -> Self {
        Self::with_limits(ResolutionLimits::default())
    }

    fn with_limits(limits: ResolutionLimits) -> Self {
        let (resolver, clock, script) = (CountingResolver::new(), Clock::default(), Script::default());
        let resolutions = Resolutions::with_clock(Some(resolver.clone()), limits, clock.clone());
        script.put(URI, inline_content(&json!({"title": "one"})));
        Self { resolver, resolutions, script, clock, uri: testing::uri(URI) }
    }

    fn request(&self, is_watched: bool) -> ResolveRequest<'_> {
        let hint = ResolveHint { mcp_server_name: "docs".into(), agent: "a".into(), req_id: "1".into() };
        ResolveRequest { uri: &self.uri, listed: None, hint, is_watched, limit: Duration::from_secs(30) }
    }

    async fn ask(&self, is_watched: bool) -> Outcome {
        self.resolutions.resolve(self.request(is_watched), &self.script).await
    }

    /// (readings of the MCP server, calls of the resolver)
    fn work(&self) -> (usize, usize) {
        (self.script.reads(), self.resolver.calls())
    }
}

fn etag(answer: &A2cResource) -> String {
    answer.meta.as_ref().unwrap()["etag"].as_str().unwrap().to_owned()
}

fn content_of(answer: &A2cResource) -> String {
    let path = url::Url::parse(&answer.uri).unwrap().to_file_path().unwrap();
    std::fs::read_to_string(path).unwrap()
}

#[tokio::test]
async fn without_a_resolver_nothing_is_read() {
    let fixture = Fixture::new();
    let none = Resolutions::new(None, ResolutionLimits::default());
    assert!(!none.is_possible());
    let failure = none.resolve(fixture.request(true), &fixture.script).await.unwrap_err();
    assert_eq!(failure.into_body(URI).code, ErrorCode::NoDpeResolver);
    assert_eq!(fixture.script.reads(), 0);
}

#[tokio::test]
async fn a_watched_document_is_read_once_until_it_changes() {
    let fixture = Fixture::new();
    let first = fixture.ask(true).await.unwrap();
    assert_eq!(first.name.as_deref(), Some("one"));
    assert_eq!(fixture.ask(true).await.unwrap(), first);
    assert_eq!(fixture.work(), (1, 1));

    fixture.script.put(URI, inline_content(&json!({"title": "two"})));
    // A change of another document does not matter, a change of a page does.
    fixture.resolutions.changed("docs", "dpe://h/other");
    assert_eq!(fixture.ask(true).await.unwrap(), first);
    fixture.resolutions.changed("docs", "dpe://H/d/pages/3?format=text");
    let second = fixture.ask(true).await.unwrap();
    assert_eq!((second.name.as_deref(), fixture.work()), (Some("two"), (2, 2)));
    assert_ne!(etag(&first), etag(&second));
    assert_eq!(fixture.resolver.outdated.load(Ordering::SeqCst), 1);
    assert_eq!(content_of(&second), r#"{"title":"two"}"#);
}

#[tokio::test]
async fn a_change_of_the_catalogue_or_of_the_server_outdates_all() {
    let fixture = Fixture::new();
    fixture.ask(true).await.unwrap();
    // A change that another server announces for this host does not concern this server's documents.
    for uri in [URI, "dpe://h/d/pages/0", "dpe://h"] {
        fixture.resolutions.changed("other", uri);
    }
    fixture.ask(true).await.unwrap();
    assert_eq!(fixture.work(), (1, 1));
    fixture.resolutions.changed("docs", "dpe://h");
    fixture.ask(true).await.unwrap();
    assert_eq!(fixture.work(), (2, 2));
    fixture.resolutions.forget("other");
    fixture.ask(true).await.unwrap();
    assert_eq!(fixture.work(), (2, 2));
    fixture.resolutions.forget("docs");
    fixture.ask(true).await.unwrap();
    assert_eq!(fixture.work(), (3, 3));
    fixture.resolutions.changed("docs", "no uri at all");
    fixture.resolutions.changed("docs", "window://h/d");
    fixture.ask(true).await.unwrap();
    assert_eq!(fixture.work(), (3, 3));
}

#[tokio::test]
async fn an_answer_of_one_server_is_not_given_for_another() {
    let fixture = Fixture::new();
    let given = |title: &str| external_content(&json!({"uri": format!("https://{title}.example/d"), "etag": "v1"}));
    fixture.script.put(URI, given("one"));
    assert_eq!(fixture.ask(true).await.unwrap().uri, "https://one.example/d");
    fixture.script.put(URI, given("two"));
    let mut request = fixture.request(true);
    request.hint.mcp_server_name = "other".into();
    let answer = fixture.resolutions.resolve(request, &fixture.script).await.unwrap();
    assert_eq!(answer.uri, "https://two.example/d");
}

#[tokio::test]
async fn an_unwatched_document_is_read_again_and_published_again_only_if_it_changed() {
    let fixture = Fixture::new();
    let first = fixture.ask(false).await.unwrap();
    assert_eq!(fixture.ask(false).await.unwrap(), first);
    assert_eq!(fixture.work(), (2, 1));
    // It is watched from now on, but an earlier change may have been missed.
    fixture.ask(true).await.unwrap();
    assert_eq!(fixture.work(), (3, 1));
    fixture.ask(true).await.unwrap();
    assert_eq!(fixture.work(), (3, 1));
    fixture.script.put(URI, inline_content(&json!({"title": "two"})));
    assert_eq!(fixture.ask(false).await.unwrap().name.as_deref(), Some("two"));
    assert_eq!(fixture.work(), (4, 2));
}

#[tokio::test]
async fn a_removed_file_is_published_again() {
    let fixture = Fixture::new();
    let first = fixture.ask(true).await.unwrap();
    std::fs::remove_file(url::Url::parse(&first.uri).unwrap().to_file_path().unwrap()).unwrap();
    let second = fixture.ask(true).await.unwrap();
    assert_eq!((content_of(&second).as_str(), fixture.work()), (r#"{"title":"one"}"#, (2, 2)));
}

#[tokio::test]
async fn an_address_that_nearly_expired_is_renewed() {
    let fixture = Fixture::new();
    let expires = fixture.clock.now() + Duration::from_secs(600);
    *fixture.resolver.expires_at.lock().unwrap() = Some(expires.to_string());
    fixture.ask(true).await.unwrap();
    fixture.clock.advance(Duration::from_secs(500));
    fixture.ask(true).await.unwrap();
    assert_eq!(fixture.work(), (1, 1));
    fixture.clock.advance(Duration::from_secs(50));
    fixture.ask(true).await.unwrap();
    assert_eq!(fixture.work(), (2, 2));
    // The same document at another address: the old one may still be in use.
    assert_eq!(fixture.resolver.outdated.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn an_invalid_expiry_is_not_relied_on() {
    let fixture = Fixture::new();
    *fixture.resolver.expires_at.lock().unwrap() = Some("tomorrow".into());
    fixture.ask(true).await.unwrap();
    fixture.ask(true).await.unwrap();
    assert_eq!(fixture.work(), (2, 2));
}

#[tokio::test]
async fn concurrent_requests_share_one_resolution() {
    let fixture = Fixture::new();
    let gate = fixture.script.gate(URI);
    let asking = futures_util::future::join_all((0..50).map(|_| fixture.ask(false)));
    let opening = async {
        fixture.script.until_reads(1).await;
        gate.add_permits(1);
    };
    let (answers, ()) = tokio::join!(asking, opening);
    let first = answers[0].clone().unwrap();
    assert!(answers.into_iter().all(|answer| answer.unwrap() == first));
    assert_eq!(fixture.work(), (1, 1));
    assert!(fixture.resolutions.inner.as_ref().unwrap().state().running.is_empty());
}

#[tokio::test]
async fn a_cancelled_request_does_not_cancel_the_others() {
    let fixture = Arc::new(Fixture::new());
    let gate = fixture.script.gate(URI);
    let ask = || {
        let fixture = fixture.clone();
        tokio::spawn(async move { fixture.ask(false).await })
    };
    let first = ask();
    fixture.script.until_reads(1).await;
    let second = ask();
    // Both wait for the same resolution.
    while waiting(&fixture) < 2 {
        tokio::task::yield_now().await;
    }
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    gate.add_permits(1);
    second.await.unwrap().unwrap();
    assert_eq!(fixture.work(), (1, 1));
}

#[tokio::test]
async fn a_resolution_without_requests_stops() {
    let fixture = Arc::new(Fixture::new());
    let _gate = fixture.script.gate(URI);
    let asking = tokio::spawn({
        let fixture = fixture.clone();
        async move { fixture.ask(false).await }
    });
    fixture.script.until_reads(1).await;
    asking.abort();
    assert!(asking.await.unwrap_err().is_cancelled());
    assert!(fixture.resolutions.inner.as_ref().unwrap().state().running.is_empty());
    // The next request begins another.
    fixture.script.put(URI, inline_content(&json!({"title": "two"})));
    fixture.ask(false).await.unwrap();
    assert_eq!(fixture.work(), (2, 1));
}

fn waiting(fixture: &Fixture) -> usize {
    let state = fixture.resolutions.inner.as_ref().unwrap().state();
    let running = state.running.get(&fixture.uri).and_then(|in_flight| in_flight.outcome.upgrade());
    // Without the one that is counted here.
    running.and_then(|running| running.strong_count()).map_or(0, |count| count - 1)
}

#[tokio::test]
async fn a_change_while_it_is_resolved_is_not_lost() {
    let fixture = Arc::new(Fixture::new());
    let gate = fixture.script.gate(URI);
    let ask = || {
        let fixture = fixture.clone();
        tokio::spawn(async move { fixture.ask(true).await })
    };
    let before = ask();
    fixture.script.until_reads(1).await;
    fixture.resolutions.changed("docs", URI);
    fixture.script.put(URI, inline_content(&json!({"title": "two"})));
    let after = ask();
    while waiting(&fixture) < 2 {
        tokio::task::yield_now().await;
    }
    // The request after the change waits, and nothing runs beside the first resolution.
    assert_eq!(fixture.script.reads(), 1);
    gate.add_permits(1);
    assert_eq!(before.await.unwrap().unwrap().name.as_deref(), Some("one"));
    assert_eq!(after.await.unwrap().unwrap().name.as_deref(), Some("two"));
    assert_eq!(fixture.work(), (2, 2));
    assert_eq!(fixture.ask(true).await.unwrap().name.as_deref(), Some("two"));
    assert_eq!(fixture.work(), (2, 2));
}

#[tokio::test]
async fn a_change_while_the_resolver_works_is_not_lost_either() {
    let fixture = Arc::new(Fixture::new());
    fixture.resolver.is_gated.store(true, Ordering::SeqCst);
    let before = tokio::spawn({
        let fixture = fixture.clone();
        async move { fixture.ask(true).await }
    });
    while fixture.resolver.calls() < 1 {
        tokio::task::yield_now().await;
    }
    fixture.resolutions.forget("docs");
    fixture.resolver.gate.add_permits(1);
    before.await.unwrap().unwrap();
    // The answer is not trusted; reading finds that the document is the same.
    fixture.ask(true).await.unwrap();
    assert_eq!(fixture.work(), (2, 1));
    fixture.ask(true).await.unwrap();
    assert_eq!(fixture.work(), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn a_request_has_a_time_limit() {
    let fixture = Fixture::new();
    let _gate = fixture.script.gate(URI);
    let request = ResolveRequest { limit: Duration::from_secs(7), ..fixture.request(true) };
    let body = fixture.resolutions.resolve(request, &fixture.script).await.unwrap_err().into_body(URI);
    assert_eq!(
        (body.code, body.fields["category"].as_str()),
        (ErrorCode::DpeResolutionFailed, Some("upstream_unavailable"))
    );
    assert!(body.message.contains("7 s"), "{}", body.message);

    fixture.script.put(URI, inline_content(&json!({"title": "one"})));
    fixture.resolver.is_gated.store(true, Ordering::SeqCst);
    let body = fixture.ask(true).await.unwrap_err().into_body(URI);
    assert_eq!(body.fields["category"], "upstream_unavailable");
}

#[tokio::test]
async fn failures_go_to_all_requests_and_are_not_cached() {
    let fixture = Fixture::new();
    for (fault, category) in [
        (ResolverFault::Fails, "resolver_error"),
        (ResolverFault::Panics, "resolver_error"),
        (ResolverFault::Address("relative"), "resolver_returned_invalid"),
        (ResolverFault::Address(""), "resolver_returned_invalid"),
    ] {
        let (reads, calls) = fixture.work();
        *fixture.resolver.fault.lock().unwrap() = Some(fault);
        let gate = fixture.script.gate(URI);
        let opening = async {
            fixture.script.until_reads(reads + 1).await;
            gate.add_permits(1);
        };
        let (one, other, ()) = tokio::join!(fixture.ask(true), fixture.ask(true), opening);
        assert_eq!(one, other);
        let body = one.unwrap_err().into_body(URI);
        assert_eq!(body.fields["category"], category);
        assert!(!body.message.contains("geheim"), "{}", body.message);
        assert_eq!(fixture.work(), (reads + 1, calls + 1));
        fixture.script.put(URI, inline_content(&json!({"title": "one"})));
    }
    fixture.ask(true).await.unwrap();
}

#[tokio::test]
async fn failures_of_the_server_are_told_apart() {
    let fixture = Fixture::new();
    let missing = ErrorBody::new(ErrorCode::DocumentNotFound, "no such document").with("doc_ref", "d");
    fixture.script.fail(URI, ReadError::Missing(Box::new(missing.clone())));
    assert_eq!(fixture.ask(true).await.unwrap_err().into_body(URI), missing);
    fixture.script.fail(URI, ReadError::Unavailable("it is stopped".into()));
    let body = fixture.ask(true).await.unwrap_err().into_body(URI);
    assert_eq!((body.message.as_str(), &body.fields["category"]), ("it is stopped", &json!("upstream_unavailable")));
    fixture.script.put(URI, json!({"mimeType": "text/plain", "text": "x"}));
    assert_eq!(fixture.ask(true).await.unwrap_err().into_body(URI).fields["category"], "invalid_dpe_mime");
    assert_eq!(fixture.resolver.calls(), 0);
}

#[tokio::test]
async fn documents_in_pages_are_published_whole_and_read_as_listed() {
    let fixture = Fixture::new();
    let listed = "dpe://H/d";
    fixture.script.put(listed, json_content(&json!({"doc_ref": "d", "page_count": 1, "title": "T"})));
    fixture.script.put("dpe://H/d/pages/0", json_content(&json!({"elements": [1]})));
    let resource = serde_json::from_value(json!({"uri": listed, "name": "as listed"})).unwrap();
    let request = ResolveRequest { listed: Some(resource), ..fixture.request(true) };
    let answer = fixture.resolutions.resolve(request, &fixture.script).await.unwrap();
    let expected = json!({"doc_ref": "d", "uri": listed, "title": "T", "page_count": 1, "pages": [{"elements": [1]}]});
    assert_eq!(serde_json::from_str::<serde_json::Value>(&content_of(&answer)).unwrap(), expected);
    assert_eq!((answer.name.as_deref(), answer.size), (Some("as listed"), Some(content_of(&answer).len() as u64)));
}

#[tokio::test]
async fn external_documents_pass_and_only_an_etag_tells_that_they_are_the_same() {
    let fixture = Fixture::new();
    fixture.script.put(URI, external_content(&json!({"uri": "https://x.example/d", "etag": "v1", "size": 5})));
    let answer = fixture.ask(false).await.unwrap();
    assert_eq!((answer.uri.as_str(), etag(&answer).as_str(), answer.size), ("https://x.example/d", "v1", Some(5)));
    fixture.ask(false).await.unwrap();
    assert_eq!(fixture.work(), (2, 1));
    fixture.script.put(URI, external_content(&json!({"uri": "https://x.example/d"})));
    let answer = fixture.ask(false).await.unwrap();
    assert_eq!(answer.meta.unwrap().get("etag"), None, "an address is not repeated as an etag");
    fixture.ask(false).await.unwrap();
    assert_eq!(fixture.work(), (4, 3));
}

#[tokio::test]
async fn a_document_that_is_too_large_is_refused() {
    let fixture = Fixture::with_limits(ResolutionLimits { max_bytes: 100, ..ResolutionLimits::default() });
    fixture.ask(true).await.unwrap();
    fixture.resolutions.changed("docs", URI);
    fixture.script.put(URI, inline_content(&json!({"title": "x".repeat(100)})));
    assert_eq!(fixture.ask(true).await.unwrap_err().into_body(URI).fields["category"], "resolver_error");
}

#[tokio::test]
async fn a_listener_serves_a_document_until_it_changes() {
    let listener = Arc::new(HttpListener::start(HttpOptions::default()).await.unwrap());
    let resolutions = Resolutions::new(Some(listener), ResolutionLimits::default());
    let fixture = Fixture::new();
    let first = resolutions.resolve(fixture.request(true), &fixture.script).await.unwrap();
    assert_eq!(resolutions.resolve(fixture.request(true), &fixture.script).await.unwrap(), first);
    let client = a2c_net::http_client(a2c_net::tls::without_trust().unwrap()).build().unwrap();
    let fetched = client.get(&first.uri).send().await.unwrap();
    assert_eq!(fetched.text().await.unwrap(), r#"{"title":"one"}"#);
    resolutions.changed("docs", URI);
    assert_eq!(client.get(&first.uri).send().await.unwrap().status(), 404);
    let second = resolutions.resolve(fixture.request(true), &fixture.script).await.unwrap();
    assert_ne!(first.uri, second.uri);
    assert_eq!(etag(&first), etag(&second));
    resolutions.close().await;
    assert!(client.get(&second.uri).send().await.is_err());
}
