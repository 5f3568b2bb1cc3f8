//! Whole documents: where they are, through a real hub, and what is there, from real files and a real HTTP server.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use a2c_agent::{Agent, DpeError, FetchError, FetchFailure, FetchOptions, FetchedDpe, Files, RequestError};
use a2c_protocol::{ErrorCode, event};
use serde_json::{Value, json};

use crate::office::web::{DOCUMENT, Web};
use crate::office::{Computer, error, office, within};

const URI: &str = "dpe://h/a/b";
const LIMIT: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_document_is_asked_for_by_its_name() {
    let (_hub, agent, mut desk) = office().await;
    let answer = async {
        let asked = desk.asked(event::GET_DPE).await;
        assert_eq!((&asked.payload["uri"], &asked.payload["timeout"]), (&json!("dpe://h/a/%E5%B9%B4"), &json!(3)));
        asked.answer(json!({"uri": "s3://b/k", "mime_type": "m", "size": 7, "_meta": {"etag": "e"}})).await;
    };
    let (resource, ()) = tokio::join!(agent.resolve_dpe("desk", "dpe://h/a/年", Duration::from_millis(2500)), answer);
    let resource = resource.unwrap();
    assert_eq!((resource.uri.as_str(), resource.size), ("s3://b/k", Some(7)));
    assert_eq!(resource.meta.unwrap()["etag"], "e");
}

#[tokio::test]
async fn a_bad_name_is_refused_before_anything_is_sent() {
    let (_hub, agent, mut desk) = office().await;
    for bad in ["", "file:///x", "dpe://h", "dpe://h/d?format=json", "dpe://h/d?", "dpe://h/d#x", "dpe:///d"] {
        let outcome = agent.resolve_dpe("desk", bad, LIMIT).await;
        assert!(matches!(outcome, Err(DpeError::Uri(_))), "{bad}: {outcome:?}");
        let outcome = agent.fetch_dpe("desk", bad, &FetchOptions::default()).await;
        assert!(matches!(outcome, Err(FetchError::Resolve(DpeError::Uri(_)))), "{bad}: {outcome:?}");
    }
    desk.was_asked_nothing(&agent).await;
}

#[tokio::test]
async fn refusals_arrive_with_their_fields_and_are_not_repeated() {
    let (_hub, agent, mut desk) = office().await;
    for (code, field) in [
        (4011, "uri"),
        (4012, "reason"),
        (4013, "category"),
        (4014, "mcp_server_name"),
        (4015, "capability"),
        (4201, "doc_ref"),
    ] {
        let (refusal, options) = (error(code, field, "f"), FetchOptions::default());
        let answer = async { desk.asked(event::GET_DPE).await.refuse(&refusal).await };
        let (outcome, ()) = tokio::join!(agent.fetch_dpe("desk", URI, &options), answer);
        let Err(FetchError::Resolve(DpeError::Request(RequestError::Refused(got)))) = outcome else {
            panic!("{code}: {outcome:?}")
        };
        assert_eq!((got.code, &got.fields[field]), (ErrorCode::from_number(code), &json!("f")));
    }
    desk.was_asked_nothing(&agent).await;
}

/// Fetches while the Computer gives these answers, one after the other, and is asked no more than that.
async fn fetch(
    agent: &Agent,
    desk: &mut Computer,
    options: &FetchOptions,
    answers: &[Value],
) -> Result<FetchedDpe, FetchError> {
    let answer = async {
        for answer in answers {
            desk.asked(event::GET_DPE).await.answer(answer.clone()).await;
        }
    };
    let (outcome, ()) = within(async { tokio::join!(agent.fetch_dpe("desk", URI, options), answer) }).await;
    desk.was_asked_nothing(agent).await;
    outcome
}

fn at(uri: &str) -> Value {
    json!({"uri": uri})
}

#[track_caller]
fn failure(outcome: Result<FetchedDpe, FetchError>) -> FetchFailure {
    match outcome {
        Err(FetchError::Fetch { failure, .. }) => failure,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_document_behind_http_is_fetched_with_nothing_of_ours() {
    let (_hub, agent, mut desk) = office().await;
    let (web, options) = (Web::start().await, FetchOptions::default());
    let there = at(&format!("{}/document?signature=s", web.url));
    let fetched = fetch(&agent, &mut desk, &options, &[there]).await.unwrap();
    assert_eq!(fetched.body, DOCUMENT);
    assert_eq!(fetched.mime_type.as_deref(), Some("application/x-document"));
    assert_eq!(fetched.document().unwrap().pages.len(), 1);
    let requests = web.requests();
    assert_eq!(requests[0].0, "/document?signature=s");
    for header in ["authorization", "cookie", "referer", "x-api-key"] {
        assert!(!requests[0].1.contains_key(header), "{header}");
    }

    let by_name = web.url.replace("127.0.0.1", "localhost");
    let named = json!({"uri": format!("{by_name}/document"), "mime_type": "application/json", "size": DOCUMENT.len()});
    let fetched = fetch(&agent, &mut desk, &options, &[named]).await.unwrap();
    assert_eq!(fetched.mime_type.as_deref(), Some("application/json"), "what the Computer says counts");
}

#[tokio::test]
async fn an_expired_url_is_asked_for_once_more_and_only_once() {
    let (_hub, agent, mut desk) = office().await;
    let (web, options) = (Web::start().await, FetchOptions::default());
    let url = |path: &str| format!("{}/{path}", web.url);
    for status in [401, 403, 404, 410] {
        let old = url(&format!("status/{status}"));
        let fetched = fetch(&agent, &mut desk, &options, &[at(&old), at(&url("document"))]).await.unwrap();
        assert_eq!((fetched.body.as_ref(), fetched.resource.uri), (DOCUMENT.as_bytes(), url("document")));
        assert_eq!(web.hits(), [format!("/status/{status}"), "/document".into()]);

        let outcome = fetch(&agent, &mut desk, &options, &[at(&old), at(&old)]).await;
        assert!(matches!(failure(outcome), FetchFailure::Status(s) if s == status));
        assert_eq!(web.hits().len(), 2);
    }
    for status in [400, 429, 500, 304] {
        let outcome = fetch(&agent, &mut desk, &options, &[at(&url(&format!("status/{status}")))]).await;
        assert!(matches!(failure(outcome), FetchFailure::Status(s) if s == status));
        assert_eq!(web.hits().len(), 1);
    }
}

#[tokio::test]
async fn an_answer_that_says_it_is_over_is_not_tried_the_first_time() {
    let (_hub, agent, mut desk) = office().await;
    let (web, options) = (Web::start().await, FetchOptions::default());
    let over = json!({"uri": format!("{}/document", web.url), "_meta": {"expires_at": "2020-01-01T00:00:00Z"}});
    let open = json!({"uri": format!("{}/document", web.url), "_meta": {"expires_at": "9000-01-01T00:00:00Z"}});
    fetch(&agent, &mut desk, &options, std::slice::from_ref(&open)).await.unwrap();
    assert_eq!(web.hits().len(), 1);
    fetch(&agent, &mut desk, &options, &[over.clone(), open]).await.unwrap();
    assert_eq!(web.hits().len(), 1);
    // Clocks that disagree must not make every document unreachable.
    fetch(&agent, &mut desk, &options, &[over.clone(), over.clone()]).await.unwrap();
    assert_eq!(web.hits().len(), 1);
    let gone = at(&format!("{}/status/410", web.url));
    let outcome = fetch(&agent, &mut desk, &options, &[over, gone]).await;
    assert!(matches!(failure(outcome), FetchFailure::Status(410)));
}

#[tokio::test]
async fn no_more_is_read_than_allowed() {
    let (_hub, agent, mut desk) = office().await;
    let web = Web::start().await;
    let options = FetchOptions::default().with_max_bytes(5000);
    let mut outcome = async |answer: Value| fetch(&agent, &mut desk, &options, &[answer]).await;
    assert_eq!(outcome(at(&format!("{}/bytes/5000", web.url))).await.unwrap().body.len(), 5000);
    for path in ["bytes/5001", "flood"] {
        let outcome = outcome(at(&format!("{}/{path}", web.url))).await;
        assert!(matches!(failure(outcome), FetchFailure::TooLarge { limit: 5000 }), "{path}");
    }
    web.hits();
    let announced = json!({"uri": format!("{}/document", web.url), "size": 5001});
    assert!(matches!(failure(outcome(announced).await), FetchFailure::TooLarge { limit: 5000 }));
    assert!(web.hits().is_empty(), "what is too large by its own account is not even asked for");
    assert_eq!(FetchOptions::default().max_bytes, 64 << 20);
}

#[tokio::test]
async fn redirects_are_followed_a_few_times_and_only_to_where_documents_are() {
    let (_hub, agent, mut desk) = office().await;
    let (web, options) = (Web::start().await, FetchOptions::default().with_files(Files::Anywhere));
    let mut outcome =
        async |path: &str| fetch(&agent, &mut desk, &options, &[at(&format!("{}/{path}", web.url))]).await;
    assert_eq!(outcome("hops/4").await.unwrap().body, DOCUMENT);
    for path in [
        "hops/5",
        "to/file%3A%2F%2F%2Fetc%2Fpasswd",
        "to/ftp%3A%2F%2Fexample.com%2F",
        "to/http%3A%2F%2F169.254.169.254%2Flatest",
        "to/http%3A%2F%2F%5B%3A%3Affff%3A169.254.169.254%5D%2F",
        "to/http%3A%2F%2Fme%3Asecret%40127.0.0.1%2F",
    ] {
        let failure = failure(outcome(path).await);
        // A redirect that is no address of the web at all is not followed, and then is an answer without a document.
        assert!(matches!(failure, FetchFailure::Redirect | FetchFailure::Status(302)), "{path}: {failure:?}");
    }
}

#[tokio::test]
async fn the_hub_is_not_asked_for_a_document_unless_allowed() {
    let (hub, agent, mut desk) = office().await;
    let (web, options) = (Web::start().await, FetchOptions::default());
    let port = hub.url().rsplit_once(':').unwrap().1.to_owned();
    let mut outcome = async |options: &FetchOptions, uri: &str| fetch(&agent, &mut desk, options, &[at(uri)]).await;
    for host in ["127.0.0.1", "localhost", "127.0.0.2", "[::1]", "[::ffff:127.0.0.1]"] {
        let failure = failure(outcome(&options, &format!("http://{host}:{port}/healthz")).await);
        assert!(matches!(failure, FetchFailure::Hub), "{host}: {failure:?}");
        assert!(failure.to_string().contains("`FetchOptions::hub`"), "{failure}");
    }
    let redirected = format!("{}/to/http%3A%2F%2F127.0.0.1%3A{port}%2Fhealthz", web.url);
    assert!(matches!(failure(outcome(&options, &redirected).await), FetchFailure::Redirect));
    // Other listeners of this machine are where documents are.
    outcome(&options, &format!("{}/document", web.url)).await.unwrap();
    let allowed = options.with_hub(true);
    for uri in [format!("{}/healthz", hub.url()), redirected] {
        outcome(&allowed, &uri).await.unwrap();
    }
}

#[tokio::test]
async fn what_is_not_fetched_here_is_named_and_handed_back() {
    let (_hub, agent, mut desk) = office().await;
    let options = FetchOptions::default();
    let outcome = fetch(&agent, &mut desk, &options, &[at("s3://bucket/key")]).await;
    let Err(error @ FetchError::Fetch { .. }) = outcome else { panic!("{outcome:?}") };
    assert!(error.to_string().contains("`s3:`"), "{error}");
    let FetchError::Fetch { resource, failure: FetchFailure::Scheme { scheme } } = error else { panic!() };
    assert_eq!((resource.uri.as_str(), scheme.as_str()), ("s3://bucket/key", "s3"));

    let mut outcome =
        async |options: &FetchOptions, uri: &str| failure(fetch(&agent, &mut desk, options, &[at(uri)]).await);
    for bad in ["", "no/scheme"] {
        assert!(matches!(outcome(&options, bad).await, FetchFailure::Uri { .. }), "{bad}");
    }
    for bad in ["http://user:pass@127.0.0.1/", "http://169.254.169.254/"] {
        assert!(matches!(outcome(&options, bad).await, FetchFailure::UrlRefused(_)), "{bad}");
    }
    let no_web = FetchOptions::default().with_http(false);
    for (options, uri) in
        [(&no_web, "http://127.0.0.1/"), (&no_web, "https://127.0.0.1/"), (&options, "file:///etc/hostname")]
    {
        let refused = outcome(options, uri).await;
        assert!(matches!(refused, FetchFailure::NotAllowed { .. }), "{uri}");
        let option = if uri.starts_with("file") { "`FetchOptions::files`" } else { "`FetchOptions::http`" };
        assert!(refused.to_string().contains(option), "{refused}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_or_silent_is_an_error_without_the_url() {
    let (_hub, agent, mut desk) = office().await;
    let web = Web::start().await;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let unserved = format!("http://{}/document?signature=hush", listener.local_addr().unwrap());
    drop(listener);
    let Err(error) = fetch(&agent, &mut desk, &FetchOptions::default(), &[at(&unserved)]).await else { panic!() };
    let mut told = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        told += &cause.to_string();
        source = cause.source();
    }
    assert!(!told.contains("hush"), "{told}");
    assert!(matches!(error, FetchError::Fetch { failure: FetchFailure::Http(_), .. }), "{error:?}");

    let hasty = FetchOptions::default().with_fetch_timeout(Duration::from_millis(50));
    let outcome = fetch(&agent, &mut desk, &hasty, &[at(&format!("{}/silence", web.url))]).await;
    assert!(matches!(failure(outcome), FetchFailure::Timeout(_)));
}

fn file_uri(path: &Path) -> String {
    url::Url::from_file_path(path).unwrap().into()
}

#[cfg(unix)]
#[tokio::test]
async fn files_are_read_where_that_is_allowed() {
    let (_hub, agent, mut desk) = office().await;
    let root = tempfile::tempdir().unwrap();
    let (inside, outside) = (root.path().join("in side"), root.path().join("outside"));
    for dir in [&inside, &outside] {
        std::fs::create_dir(dir).unwrap();
    }
    let document = inside.join("年报 100%.json");
    std::fs::write(&document, DOCUMENT).unwrap();
    std::fs::write(outside.join("secret"), "s").unwrap();
    std::fs::create_dir(inside.join("sub")).unwrap();
    std::os::unix::fs::symlink(outside.join("secret"), inside.join("link")).unwrap();
    let within_it = FetchOptions::default().with_files(Files::Within(vec![inside.clone()]));
    let anywhere = FetchOptions::default().with_files(Files::Anywhere);

    for options in [&within_it, &anywhere] {
        for uri in [file_uri(&document), file_uri(&document).replace("file://", "file://localhost")] {
            let fetched = fetch(&agent, &mut desk, options, &[at(&uri)]).await.unwrap();
            assert_eq!((fetched.body.as_ref(), fetched.mime_type), (DOCUMENT.as_bytes(), None), "{uri}");
        }
    }
    let mut outcome =
        async |options: &FetchOptions, uri: &str| failure(fetch(&agent, &mut desk, options, &[at(uri)]).await);
    let climbing = format!("{}/%2e%2e/outside/secret", file_uri(&inside));
    for out in [file_uri(&outside.join("secret")), file_uri(&inside.join("link")), climbing] {
        assert!(matches!(outcome(&within_it, &out).await, FetchFailure::Outside), "{out}");
    }
    let none = FetchOptions::default().with_files(Files::Within(vec![root.path().join("nowhere")]));
    assert!(matches!(outcome(&none, &file_uri(&document)).await, FetchFailure::Outside));
    assert!(matches!(outcome(&anywhere, &file_uri(&inside.join("sub"))).await, FetchFailure::NotAFile));
    for elsewhere in [
        file_uri(&document).replace("file://", "file://server"),
        file_uri(&document) + "?x",
        file_uri(&document) + "#x",
    ] {
        assert!(matches!(outcome(&anywhere, &elsewhere).await, FetchFailure::Uri { .. }), "{elsewhere}");
    }
    let small = anywhere.clone().with_max_bytes(DOCUMENT.len() as u64 - 1);
    assert!(matches!(outcome(&small, &file_uri(&document)).await, FetchFailure::TooLarge { .. }));
    let exact = anywhere.with_max_bytes(DOCUMENT.len() as u64);
    fetch(&agent, &mut desk, &exact, &[at(&file_uri(&document))]).await.unwrap();
}

#[tokio::test]
async fn a_file_that_is_gone_is_asked_for_once_more() {
    let (_hub, agent, mut desk) = office().await;
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("new"), DOCUMENT).unwrap();
    let options = FetchOptions::default().with_files(Files::Within(vec![dir.path().to_owned()]));
    let (old, new) = (at(&file_uri(&dir.path().join("old"))), at(&file_uri(&dir.path().join("new"))));
    assert_eq!(fetch(&agent, &mut desk, &options, &[old.clone(), new]).await.unwrap().body, DOCUMENT);
    let outcome = failure(fetch(&agent, &mut desk, &options, &[old.clone(), old]).await);
    assert!(matches!(&outcome, FetchFailure::File(e) if e.kind() == std::io::ErrorKind::NotFound), "{outcome:?}");
}

/// A pipe without a writer would block the read, if it were opened as a file is.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_pipe_is_no_document() {
    let (_hub, agent, mut desk) = office().await;
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let options = FetchOptions::default().with_files(Files::Within(vec![dir.path().to_owned()]));
    let outcome = fetch(&agent, &mut desk, &options, &[at(&file_uri(&pipe))]).await;
    assert!(matches!(failure(outcome), FetchFailure::NotAFile));
}
