//! Documents in an object store: a real S3 server in this process, which checks signatures and expiry, and a directory.

use std::net::SocketAddr;
use std::time::Duration;

use a2c_dpe::{DpeResolver as _, ObjectStore};
use hyper_util::rt::TokioIo;
use jiff::Timestamp;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use tempfile::TempDir;
use tokio::net::TcpListener;
use url::Url;

use crate::support;
use crate::support::client;

const JSON: &str = r#"{"title":"a document"}"#;

struct S3Server {
    address: SocketAddr,
    folder: TempDir,
}

impl S3Server {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("bucket")).unwrap();
        let mut builder = S3ServiceBuilder::new(FileSystem::new(folder.path()).unwrap());
        builder.set_auth(SimpleAuth::from_single("owner", "password"));
        let service = builder.build();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let service = service.clone();
                let connection =
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                tokio::spawn(connection);
            }
        });
        Self { address, folder }
    }

    fn store(&self, url: &str, password: &str) -> ObjectStore {
        let variables = [
            ("AWS_ACCESS_KEY_ID", "owner"),
            ("AWS_SECRET_ACCESS_KEY", password),
            ("AWS_ENDPOINT_URL", &format!("http://{}", self.address)),
            ("UNRELATED", "x"),
        ];
        ObjectStore::open_with(url, variables.map(|(name, value)| (name.to_owned(), value.to_owned()))).unwrap()
    }
}

#[tokio::test]
async fn a_document_is_uploaded_and_can_be_fetched_by_its_address_alone() {
    let server = S3Server::start().await;
    let store = server.store("s3://bucket/a%20prefix/of", "password");
    let document = support::inline("dpe://com.example/报告", JSON);
    let answer = store.resolve(&document).await.unwrap();
    assert!(answer.uri.starts_with(&format!("http://{}/bucket/a%20prefix/of/com.example/", server.address)));
    assert!(!answer.uri.contains("password"));
    let response = client().get(&answer.uri).send().await.unwrap();
    assert_eq!(
        (response.status(), &response.headers()["content-type"]),
        (http::StatusCode::OK, &"application/json".parse().unwrap())
    );
    assert_eq!(response.text().await.unwrap(), JSON);
    let part = client().get(&answer.uri).header("range", "bytes=2-6").send().await.unwrap();
    assert_eq!((part.status(), part.text().await.unwrap().as_str()), (http::StatusCode::PARTIAL_CONTENT, &JSON[2..=6]));

    let expires: Timestamp = answer.meta.unwrap()["expires_at"].as_str().unwrap().parse().unwrap();
    let left = Timestamp::now().duration_until(expires).as_secs();
    assert!((3590..=3600).contains(&left), "{left}");
    let object = server.folder.path().join("bucket/a prefix/of/com.example");
    assert_eq!(std::fs::read_dir(object).unwrap().count(), 1);
}

#[tokio::test]
async fn an_altered_address_is_refused() {
    let server = S3Server::start().await;
    let store = server.store("s3://bucket", "password");
    let answer = store.resolve(&support::inline("dpe://h/d", JSON)).await.unwrap();
    let other = store.resolve(&support::inline("dpe://h/other", JSON)).await.unwrap();
    let url = Url::parse(&answer.uri).unwrap();
    let mut at_other = Url::parse(&other.uri).unwrap();
    at_other.set_query(url.query());
    let mut unsigned = url.clone();
    unsigned.set_query(None);
    let longer = url.as_str().replace("X-Amz-Expires=3600", "X-Amz-Expires=7200");
    assert_ne!(longer, url.as_str());
    for altered in [at_other.as_str(), unsigned.as_str(), &longer] {
        let status = client().get(altered).send().await.unwrap().status();
        assert_eq!(status, 403, "{altered}");
    }
    assert_eq!(client().get(url.clone()).send().await.unwrap().status(), 200);
    // The address is for reading only.
    assert_eq!(client().put(url).body("{}").send().await.unwrap().status(), 403);
}

#[tokio::test]
async fn an_address_expires() {
    let server = S3Server::start().await;
    let store = server.store("s3://bucket", "password").lifetime(Duration::from_secs(1));
    let answer = store.resolve(&support::inline("dpe://h/d", JSON)).await.unwrap();
    // Only the server tells when the address is expired: the test asks until it does.
    let expired = async {
        while client().get(&answer.uri).send().await.unwrap().status() != 403 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), expired).await.unwrap();
}

#[tokio::test]
async fn a_refusal_says_nothing_secret() {
    let server = S3Server::start().await;
    let store = server.store("s3://bucket", "geheim");
    let error = store.resolve(&support::inline("dpe://h/d", JSON)).await.unwrap_err();
    assert!(error.to_string().contains("did not accept the document"), "{error}");
    assert!(!format!("{error:?}").contains("geheim"), "{error:?}");
    let external = support::external("dpe://h/d", "https://x.example/d");
    assert_eq!(store.resolve(&external).await.unwrap().uri, "https://x.example/d");
}

#[tokio::test]
async fn a_directory_can_stand_for_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("a store");
    let store = ObjectStore::open_with(Url::from_file_path(&root).unwrap().as_str(), []).unwrap();
    let document = support::inline("dpe://h/..%2F..%2Fetc", JSON);
    let answer = store.resolve(&document).await.unwrap();
    let path = Url::parse(&answer.uri).unwrap().to_file_path().unwrap();
    assert!(
        path.starts_with(root.canonicalize().unwrap()) && answer.uri.contains("a%20store/h/etc-"),
        "{}",
        answer.uri
    );
    assert!(path.ends_with(format!("{}.json", document.etag)));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), JSON);
    assert!(store.still_holds(&answer).await);
    std::fs::remove_file(path).unwrap();
    assert!(!store.still_holds(&answer).await);
    // Another state is another object.
    let changed = store.resolve(&support::inline("dpe://h/..%2F..%2Fetc", "{}")).await.unwrap();
    assert_ne!(changed.uri, answer.uri);
}
