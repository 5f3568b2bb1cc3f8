//! Documents as files of a directory.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use axum::Router;
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::routing::get;

use a2c_dpe::{DpeResolver as _, LocalDirectory};
use a2c_protocol::context::A2cResource;
use url::Url;

use crate::support;

struct Fixture {
    directory: LocalDirectory,
    /// The directory of the documents.
    path: PathBuf,
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a b/documents");
        let directory = LocalDirectory::open(&path).unwrap();
        Self { directory, path: path.canonicalize().unwrap(), folder }
    }

    fn files(&self) -> Vec<PathBuf> {
        std::fs::read_dir(&self.path).unwrap().map(|entry| entry.unwrap().path()).collect()
    }
}

fn path_of(answer: &A2cResource) -> PathBuf {
    Url::parse(&answer.uri).unwrap().to_file_path().unwrap()
}

#[tokio::test]
async fn a_removed_directory_is_made_again() {
    let fixture = Fixture::new();
    let document = support::inline("dpe://com.example/report", "{}");
    let answer = fixture.directory.resolve(&document).await.unwrap();
    std::fs::remove_dir_all(fixture.folder.path().join("a b")).unwrap();
    assert!(!fixture.directory.still_holds(&answer).await);
    assert_eq!(fixture.directory.resolve(&document).await.unwrap().uri, answer.uri);
    let mode = std::fs::metadata(&fixture.path).unwrap().permissions().mode();
    assert_eq!((mode & 0o777, fixture.files().len()), (0o700, 1));
}

#[tokio::test]
async fn a_document_becomes_a_file_for_this_user_only() {
    let fixture = Fixture::new();
    let document = support::inline("dpe://com.example/report", r#"{"a":1}"#);
    let answer = fixture.directory.resolve(&document).await.unwrap();
    assert!(answer.uri.starts_with("file:///") && answer.uri.contains("a%20b/documents/com.example--report-"));
    assert_eq!(std::fs::read_to_string(path_of(&answer)).unwrap(), r#"{"a":1}"#);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&fixture.path), mode(&path_of(&answer))), (0o700, 0o600));
    assert!(fixture.directory.still_holds(&answer).await);

    let changed = support::inline("dpe://com.example/report", r#"{"a":22}"#);
    let again = fixture.directory.resolve(&changed).await.unwrap();
    assert_eq!((again.uri.as_str(), again.size), (answer.uri.as_str(), Some(8)));
    assert_eq!(std::fs::read_to_string(path_of(&answer)).unwrap(), r#"{"a":22}"#);
    assert!(!fixture.directory.still_holds(&answer).await);
    assert_eq!(fixture.files().len(), 1);
}

#[tokio::test]
async fn no_document_leaves_the_directory() {
    let fixture = Fixture::new();
    let host = || a2c_protocol::uri::Host::new("h").unwrap();
    let references = [
        vec!["..".to_owned(), "..".to_owned(), "etc".to_owned()],
        vec!["../../x".to_owned()],
        vec!["/etc/passwd".to_owned()],
        vec!["a\0b".to_owned()],
        vec!["x".repeat(3000)],
        vec!["报告 📄".to_owned()],
        vec!["..\\..\\x".to_owned()],
    ];
    let mut written = 0;
    for reference in references {
        let Ok(uri) = a2c_protocol::uri::DpeDocumentUri::new(host(), reference.clone()) else { continue };
        let mut document = support::inline("dpe://h/d", "{}");
        document.uri = uri;
        let path = path_of(&fixture.directory.resolve(&document).await.unwrap());
        written += 1;
        assert_eq!(path.canonicalize().unwrap().parent(), Some(fixture.path.as_path()), "{reference:?}");
        assert_eq!(fixture.files().len(), written, "{reference:?}");
    }
    assert!(written >= 5);
    assert_eq!(std::fs::read_dir(fixture.folder.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn a_link_instead_of_a_file_is_replaced_not_followed() {
    let fixture = Fixture::new();
    let victim = fixture.folder.path().join("victim");
    std::fs::write(&victim, "mine").unwrap();
    let document = support::inline("dpe://h/d", "{}");
    let path = path_of(&fixture.directory.resolve(&document).await.unwrap());
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&victim, &path).unwrap();
    fixture.directory.resolve(&document).await.unwrap();
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}");
}

/// A web server with a document, and redirects to it and to other addresses.
async fn publisher() -> String {
    let redirect = |to: &'static str| get(move || async move { (StatusCode::FOUND, [(LOCATION, to)]) });
    let routes = Router::new()
        .route("/d", get(|| async { r#"{"copied":true}"# }))
        .route("/large", get(|| async { "x".repeat(2000) }))
        .route("/near", redirect("/d"))
        .route("/file", redirect("file:///etc/passwd"))
        .route("/round", redirect("/round"));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, routes).await });
    format!("http://{address}")
}

#[tokio::test]
async fn external_documents_are_copied_only_on_request_and_only_from_public_addresses() {
    let base = publisher().await;
    let fixture = Fixture::new();
    let at = |path: &str| support::external("dpe://h/d", &format!("{base}{path}"));
    assert_eq!(fixture.directory.resolve(&at("/d")).await.unwrap().uri, format!("{base}/d"));

    let careful = fixture.directory.clone().copying(true);
    let localhost = base.replace("127.0.0.1", "localhost");
    for uri in [format!("{base}/d"), format!("{localhost}/d"), "file:///etc/passwd".into(), "s3://bucket/d".into()] {
        let refused = careful.resolve(&support::external("dpe://h/d", &uri)).await;
        assert!(refused.is_err(), "{uri}");
    }
    assert!(fixture.files().is_empty());

    let trusting = fixture.directory.clone().copying_up_to(1000).copying_from_anywhere();
    for path in ["/d", "/near"] {
        let answer = trusting.resolve(&at(path)).await.unwrap();
        assert_eq!(std::fs::read_to_string(path_of(&answer)).unwrap(), r#"{"copied":true}"#);
        assert_eq!(answer.size, Some(15));
    }
    for path in ["/large", "/file", "/round", "/absent"] {
        let error = trusting.resolve(&at(path)).await.unwrap_err();
        assert!(!error.to_string().contains(&base), "{path}: {error}");
    }
    // A failed copy leaves no file behind.
    assert_eq!(fixture.files().len(), 1);
}
