//! Signing in to a server of the Python `mcp` package, and what becomes of that.

use std::error::Error;
use std::io::Write;
use std::sync::{Arc, Mutex};

use a2c_mcp::http::{AccessError, AccessReason, HttpError, http_error};
use a2c_mcp::oauth::{AddressError, FileStore, LoginError, TokenStore, TokenStoreError, login, logout};
use a2c_net::{http_client, tls};
use a2c_protocol::config::OAuthParameters;
use serde_json::json;

use super::hostile::listen;
use super::*;

/// A server, and a place for tokens.
struct Fixture {
    peer: Peer,
    store: Arc<dyn TokenStore>,
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(FileStore::new(folder.path().join("tokens")));
        Self { peer: script("mcp_oauth.py", &[]), store, folder }
    }

    fn parameters(&self) -> StreamableParameters {
        streamable_at(format!("{}/mcp", self.peer.address()))
    }

    async fn login(&self) -> Result<(), LoginError> {
        login("demo", &self.parameters(), self.store.clone(), browse).await
    }

    async fn connect(&self) -> Result<Client, ClientInitializeError> {
        connect(streamable::open("demo", &self.parameters(), Some(self.store.clone())).unwrap()).await
    }

    fn order(&mut self, what: &str) {
        order(&mut self.peer, what);
    }

    /// The access token and the refresh token that the server gave out next.
    fn tokens(&self) -> (String, String) {
        let line = self.peer.line_where(PATIENCE, |line| line.starts_with("token"));
        let words: Vec<_> = line.split(' ').collect();
        (words[1].to_owned(), words[2].to_owned())
    }

    /// What lies in the only file of the store.
    fn kept(&self) -> String {
        let files: Vec<_> = std::fs::read_dir(self.folder.path().join("tokens")).unwrap().collect();
        assert_eq!(files.len(), 1);
        std::fs::read_to_string(files[0].as_ref().unwrap().path()).unwrap()
    }
}

/// A browser whose owner agrees to everything.
pub(super) fn browse(url: &str) {
    let url = url.to_owned();
    tokio::spawn(async move {
        let browser = http_client(tls::without_trust().unwrap()).build().unwrap();
        let page = browser.get(url).send().await.unwrap();
        assert!(page.status().is_success(), "{page:?}");
    });
}

fn refusal(error: &(dyn Error + 'static)) -> AccessError {
    match http_error(error) {
        Some(HttpError::Access(refusal)) => refusal.clone(),
        _ => panic!("{error:?}"),
    }
}

async fn refused(client: &Client) -> AccessError {
    refusal(&call(client.peer(), "echo", json!({"text": "x"})).await.unwrap_err())
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_sign_in_the_owner_is_told_how_to() {
    let fixture = Fixture::new();
    let error = fixture.connect().await.unwrap_err();
    let refusal = refusal(&error);
    assert_eq!(refusal.reason, AccessReason::Required);
    assert_eq!(refusal.hint(), "sign in on the computer: a2c computer login demo");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_lets_in_until_signed_out() {
    let fixture = Fixture::new();
    fixture.login().await.unwrap();
    let (access, refresh) = fixture.tokens();
    assert!(fixture.kept().contains(&access) && fixture.kept().contains(&refresh));
    let client = fixture.connect().await.unwrap();
    echoes(&client).await;
    client.cancel().await.unwrap();
    logout("demo", &fixture.parameters(), fixture.store.clone()).await.unwrap();
    let error = fixture.connect().await.unwrap_err();
    assert_eq!(refusal(&error).reason, AccessReason::Required);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_goes_to_its_own_server_only() {
    let fixture = Fixture::new();
    fixture.login().await.unwrap();
    let other = script("mcp_http.py", &["stateful"]);
    for (name, url) in [("demo", other.address().to_owned()), ("other", fixture.peer.address().to_owned())] {
        let parameters = streamable_at(format!("{url}/mcp"));
        let client = connect(streamable::open(name, &parameters, Some(fixture.store.clone())).unwrap()).await;
        assert_eq!(client.is_ok(), name == "demo", "the other server takes every client, this one does not");
    }
    let seen = other.line_where(PATIENCE, |line| line.starts_with("request POST"));
    assert!(!seen.contains("authorization"), "{seen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_the_server_no_longer_takes_is_renewed() {
    let mut fixture = Fixture::new();
    fixture.login().await.unwrap();
    let client = fixture.connect().await.unwrap();
    let first = fixture.tokens();
    fixture.order("revoke");
    // All at once: it is renewed for all of them, and each refresh token works once only.
    let many = (0..20).map(|n| call(client.peer(), "echo", json!({"text": n.to_string()})));
    for (n, result) in futures_util::future::join_all(many).await.into_iter().enumerate() {
        assert_eq!(text(&result.unwrap()), n.to_string());
    }
    let second = fixture.tokens();
    let kept = fixture.kept();
    assert!(kept.contains(&second.0) && kept.contains(&second.1), "the new ones are kept");
    assert!(!kept.contains(&first.0) && !kept.contains(&first.1), "the old ones are not");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_at_its_end_is_renewed_before_it_is_refused() {
    let mut fixture = Fixture::new();
    fixture.order("lifetime 0");
    fixture.login().await.unwrap();
    fixture.tokens();
    fixture.order("lifetime 3600");
    let client = fixture.connect().await.unwrap();
    echoes(&client).await;
    assert!(fixture.kept().contains(&fixture.tokens().0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_was_given_a_secret_renews_with_it() {
    let mut fixture = Fixture::new();
    fixture.order("secretive");
    fixture.login().await.unwrap();
    let client = fixture.connect().await.unwrap();
    fixture.order("revoke");
    echoes(&client).await;
}

/// A store that tells when something is put into it.
struct NotifyingStore(Arc<dyn TokenStore>, tokio::sync::mpsc::UnboundedSender<String>);

impl TokenStore for NotifyingStore {
    fn get(&self, key: &str) -> Result<Option<String>, TokenStoreError> {
        self.0.get(key)
    }

    fn set(&self, key: &str, secret: &str) -> Result<(), TokenStoreError> {
        self.0.set(key, secret)?;
        self.1.send(secret.to_owned()).map_err(|_| TokenStoreError::new("the test is over"))
    }

    fn delete(&self, key: &str) -> Result<(), TokenStoreError> {
        self.0.delete(key)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_given_up_while_its_token_is_renewed_does_not_cost_the_sign_in() {
    let mut fixture = Fixture::new();
    fixture.login().await.unwrap();
    fixture.tokens();
    let (sender, mut told) = tokio::sync::mpsc::unbounded_channel();
    fixture.store = Arc::new(NotifyingStore(fixture.store.clone(), sender));
    let client = fixture.connect().await.unwrap();
    fixture.order("revoke");
    fixture.order("hold");
    let peer = client.peer().clone();
    let given_up = tokio::spawn(async move { call(&peer, "echo", json!({"text": "x"})).await });
    // From here on the old refresh token is worth nothing, and the new one is on its way.
    let (access, _) = fixture.tokens();
    given_up.abort();
    assert!(given_up.await.is_err_and(|e| e.is_cancelled()));
    client.cancel().await.unwrap();
    fixture.order("hold");
    let kept = tokio::time::timeout(PATIENCE, told.recv()).await.expect("the new token is kept").unwrap();
    assert!(kept.contains(&access));
    let client = fixture.connect().await.unwrap();
    echoes(&client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_that_cannot_be_renewed_is_over_until_the_next_one() {
    let mut fixture = Fixture::new();
    fixture.login().await.unwrap();
    let client = fixture.connect().await.unwrap();
    fixture.order("forget");
    let over = refused(&client).await;
    assert_eq!(over.reason, AccessReason::Expired);
    assert!(over.hint().contains("sign in again on the computer: a2c computer login demo"), "{over}");
    assert_eq!(refused(&client).await, over);
    let error = fixture.connect().await.unwrap_err();
    assert_eq!(refusal(&error), over);
    // The running connection takes up the new sign-in.
    fixture.login().await.unwrap();
    echoes(&client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_authorisation_server_out_of_order_does_not_end_the_sign_in() {
    let mut fixture = Fixture::new();
    fixture.login().await.unwrap();
    let client = fixture.connect().await.unwrap();
    fixture.order("break");
    fixture.order("revoke");
    let passing = refused(&client).await;
    assert_eq!(passing.reason, AccessReason::NotRenewed);
    assert!(passing.hint().contains("try again later"), "{passing}");
    fixture.order("break");
    echoes(&client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn too_few_rights_are_no_reason_to_renew() {
    let mut fixture = Fixture::new();
    fixture.login().await.unwrap();
    let client = fixture.connect().await.unwrap();
    fixture.order("narrow");
    let forbidden = refused(&client).await;
    assert_eq!(forbidden.reason, AccessReason::Forbidden);
    assert!(forbidden.hint().contains("does not allow this"), "{forbidden}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_turned_away_is_not_signed_in() {
    let mut fixture = Fixture::new();
    fixture.order("deny");
    let error = fixture.login().await.unwrap_err();
    assert!(matches!(&error, LoginError::Denied(reason) if reason == "access_denied"), "{error}");
    let plain = script("mcp_http.py", &["stateful"]);
    let parameters = streamable_at(format!("{}/mcp", plain.address()));
    let error = login("demo", &parameters, fixture.store.clone(), browse).await.unwrap_err();
    assert!(matches!(error, LoginError::NotOffered), "{error}");
    let given = headers(&[("Authorization", "Bearer s3cret")]);
    let parameters = StreamableParameters { headers: given, ..fixture.parameters() };
    let error = login("demo", &parameters, fixture.store.clone(), browse).await.unwrap_err();
    assert!(matches!(error, LoginError::Parameters(_)) && !format!("{error:?}").contains("s3cret"), "{error}");
}

/// Signs in to a server whose metadata is `metadata`, with `HOME` standing for its address. The browser must not open.
async fn login_at_hostile(metadata: &'static str) -> (LoginError, Vec<String>) {
    let (home, mut requests) = listen().await;
    let address = home.clone();
    let (sender, mut seen) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(asked) = requests.recv().await {
            let _ = sender.send(asked.line.clone());
            let metadata = serde_json::from_str(&metadata.replace("HOME", &address)).unwrap();
            match asked.line.as_str() {
                "GET /.well-known/oauth-authorization-server" => asked.json(&metadata).await,
                "POST /register" => asked.json(&json!({"client_id": "me", "redirect_uris": []})).await,
                _ => asked.answer("404 Not Found", "", "").await,
            }
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(FileStore::new(folder.path()));
    let error = login("demo", &streamable_at(format!("{home}/mcp")), store, |url| panic!("opened {url}")).await;
    let mut lines = Vec::new();
    while let Ok(line) = seen.try_recv() {
        lines.push(line);
    }
    (error.unwrap_err(), lines)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_cannot_send_us_anywhere() {
    let (error, seen) = login_at_hostile(
        r#"{"issuer": "HOME", "authorization_endpoint": "file:///etc/passwd", "token_endpoint": "HOME/token",
            "registration_endpoint": "HOME/register", "code_challenge_methods_supported": ["S256"]}"#,
    )
    .await;
    assert!(matches!(error, LoginError::WrongPlace(AddressError::Scheme)), "{error}");
    assert!(seen.iter().any(|line| line == "POST /register"), "{seen:?}");
    // The address at which clouds keep the credentials of a machine.
    let (error, _) = login_at_hostile(
        r#"{"issuer": "HOME", "authorization_endpoint": "HOME/authorize", "token_endpoint": "HOME/token",
            "registration_endpoint": "http://169.254.169.254/register", "code_challenge_methods_supported": ["S256"]}"#,
    )
    .await;
    assert!(error.to_string().contains("off limits"), "{error}");
}

/// The library takes the word of a document whose address is under `.well-known` but of no known form.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_cannot_pass_itself_off_as_another_issuer() {
    let (home, mut requests) = listen().await;
    let address = home.clone();
    tokio::spawn(async move {
        while let Some(asked) = requests.recv().await {
            let resource = json!({"resource": format!("{address}/mcp"), "authorization_servers": [format!("{address}/.well-known/x")]});
            let metadata = json!({
                "issuer": "https://login.example.org", "authorization_endpoint": "https://login.example.org/authorize",
                "token_endpoint": format!("{address}/token"), "registration_endpoint": format!("{address}/register"),
                "code_challenge_methods_supported": ["S256"],
            });
            match asked.line.as_str() {
                line if line.contains("oauth-protected-resource") => asked.json(&resource).await,
                line if line.contains(".well-known/x") => asked.json(&metadata).await,
                "POST /register" => asked.json(&json!({"client_id": "me", "redirect_uris": []})).await,
                _ => asked.answer("401 Unauthorized", "", "").await,
            }
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(FileStore::new(folder.path()));
    let parameters = streamable_at(format!("{home}/mcp"));
    let error = login("demo", &parameters, store, |url| panic!("opened {url}")).await.unwrap_err();
    assert!(error.to_string().contains("issuer elsewhere"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_secret_of_a_client_goes_to_its_issuer_only() {
    let mut fixture = Fixture::new();
    let mut parameters = fixture.parameters();
    let issuer = Some("https://login.example.org".to_owned());
    parameters.oauth = Some(OAuthParameters { issuer, ..OAuthParameters::default() });
    let error = login("demo", &parameters, fixture.store.clone(), |url| panic!("opened {url}")).await.unwrap_err();
    assert!(
        matches!(&error, LoginError::OtherIssuer { expected, .. } if expected == "https://login.example.org"),
        "{error}"
    );
    let issuer = Some(fixture.peer.address().to_owned());
    parameters.oauth = Some(OAuthParameters { issuer, ..OAuthParameters::default() });
    login("demo", &parameters, fixture.store.clone(), browse).await.unwrap();
    fixture.order("lifetime 3600");
}

/// A store that is out of order.
struct LockedStore;

impl TokenStore for LockedStore {
    fn get(&self, _: &str) -> Result<Option<String>, TokenStoreError> {
        Err(TokenStoreError::new("the keyring is locked"))
    }

    fn set(&self, _: &str, _: &str) -> Result<(), TokenStoreError> {
        Err(TokenStoreError::new("the keyring is locked"))
    }

    fn delete(&self, _: &str) -> Result<(), TokenStoreError> {
        Err(TokenStoreError::new("the keyring is locked"))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_out_of_order_is_named() {
    let fixture = Fixture::new();
    let error = login("demo", &fixture.parameters(), Arc::new(LockedStore), browse).await.unwrap_err();
    assert!(error.to_string().contains("the keyring is locked"), "{error}");
    let transport = streamable::open("demo", &fixture.parameters(), Some(Arc::new(LockedStore))).unwrap();
    let error = connect(transport).await.unwrap_err();
    assert!(error.to_string().contains("the keyring is locked"), "{error}");
    assert!(matches!(http_error(&error), Some(HttpError::SignIn(_))), "{error:?}");
}

/// Everything that is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_log_holds_a_secret() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .finish();
    tracing::subscriber::set_global_default(subscriber).expect("a test has a process of its own");
    let mut fixture = Fixture::new();
    let page = Arc::new(Mutex::new(String::new()));
    let seen = page.clone();
    let open_browser = move |url: &str| {
        *seen.lock().unwrap() = url.to_owned();
        browse(url);
    };
    login("demo", &fixture.parameters(), fixture.store.clone(), open_browser).await.unwrap();
    let code = fixture.peer.line_where(PATIENCE, |line| line.starts_with("code"));
    let code = code.trim_start_matches("code ").to_owned();
    let first = fixture.tokens();
    let client = fixture.connect().await.unwrap();
    fixture.order("revoke");
    echoes(&client).await;
    let second = fixture.tokens();
    fixture.order("forget");
    let over = refused(&client).await;
    client.cancel().await.unwrap();
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("the sign-in is renewed"), "the log is written");
    let page: url::Url = page.lock().unwrap().parse().unwrap();
    let state = page.query_pairs().find(|(key, _)| key == "state").unwrap().1.into_owned();
    for secret in [&first.0, &first.1, &second.0, &second.1, &state, &code] {
        assert!(!log.contains(secret.as_str()), "{}", log.lines().find(|line| line.contains(secret.as_str())).unwrap());
        assert!(!format!("{over:?}").contains(secret.as_str()));
    }
}
