//! Tokens that are renewed while a role runs, and hubs that change their mind about one.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use a2c_hub::auth::{AuthRefusal, Authenticate, Claim, Grant};
use a2c_hub::{Hub, HubConfig};
use a2c_link::{ConnectError, Inbox, Incoming, Link, LinkEnded, LinkOptions, Reconnect, Token};
use a2c_protocol::Role;

const WAIT: Duration = Duration::from_secs(60);

const EAGER: Reconnect =
    Reconnect { min: Duration::from_millis(5), max: Duration::from_millis(50), factor: 2.0, max_attempts: None };

/// Judges each token by a rule that gets all that were shown so far, that one included.
struct RuleAuthenticator<F> {
    shown: Arc<Mutex<Vec<String>>>,
    rule: F,
}

impl<F> Authenticate for RuleAuthenticator<F>
where
    F: Fn(&[String]) -> Result<Grant, AuthRefusal> + Send + Sync + 'static,
{
    fn authenticate(&self, claim: &Claim<'_>) -> Result<Grant, AuthRefusal> {
        let payload: serde_json::Value = serde_json::from_str(claim.payload).unwrap();
        let mut shown = self.shown.lock().unwrap();
        shown.push(payload["token"].as_str().unwrap_or("none").to_owned());
        (self.rule)(&shown)
    }

    fn kind(&self) -> &'static str {
        "moody"
    }
}

struct Case {
    hub: Hub,
    shown: Arc<Mutex<Vec<String>>>,
}

impl Case {
    async fn start(rule: impl Fn(&[String]) -> Result<Grant, AuthRefusal> + Send + Sync + 'static) -> Self {
        let shown = Arc::<Mutex<Vec<String>>>::default();
        let mut config = HubConfig::on("127.0.0.1:0".parse().unwrap());
        config.auth = Arc::new(RuleAuthenticator { shown: shown.clone(), rule });
        Self { hub: Hub::start(config).await.unwrap(), shown }
    }

    async fn connect(&self, token: Option<Token>) -> Result<(Link, Inbox), ConnectError> {
        let mut options = LinkOptions::new(self.hub.url());
        options.token = token;
        options.reconnect = Some(EAGER);
        Link::connect(&options, Role::Agent).await
    }

    fn shown(&self) -> Vec<String> {
        self.shown.lock().unwrap().clone()
    }
}

/// Good until the hub looks at the clock again: the connection comes about and is closed soon after.
fn short_pass() -> Result<Grant, AuthRefusal> {
    Ok(Grant::new("guest").until(SystemTime::now() + Duration::from_millis(1)))
}

fn long_pass() -> Result<Grant, AuthRefusal> {
    Ok(Grant::new("guest"))
}

async fn next(inbox: &mut Inbox) -> Incoming {
    tokio::time::timeout(WAIT, inbox.recv()).await.expect("nothing happened").expect("the inbox has ended")
}

async fn is_lost(inbox: &mut Inbox) {
    assert!(matches!(next(inbox).await, Incoming::Connected { reconnected: false, .. }));
    assert!(matches!(next(inbox).await, Incoming::Disconnected(_)));
}

fn file(dir: &Path, token: &str) -> std::path::PathBuf {
    let path = dir.join("token");
    std::fs::write(&path, token).unwrap();
    path
}

#[tokio::test]
async fn a_token_file_is_read_again_after_a_lost_connection() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path(), "one\n");
    let renewed = path.clone();
    let case = Case::start(move |shown| match shown {
        [_] => {
            std::fs::write(&renewed, " two \n").unwrap();
            short_pass()
        }
        _ => long_pass(),
    })
    .await;
    let (_link, mut inbox) = case.connect(Some(Token::File(path))).await.unwrap();
    is_lost(&mut inbox).await;
    assert!(matches!(next(&mut inbox).await, Incoming::Connected { reconnected: true, .. }));
    assert_eq!(case.shown(), ["one", "two"]);
}

#[tokio::test]
async fn a_file_that_is_gone_leaves_the_token_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path(), "one");
    let gone = path.clone();
    let case = Case::start(move |shown| match shown {
        [_] => {
            std::fs::remove_file(&gone).unwrap();
            short_pass()
        }
        _ => long_pass(),
    })
    .await;
    let (_link, mut inbox) = case.connect(Some(Token::File(path))).await.unwrap();
    is_lost(&mut inbox).await;
    assert!(matches!(next(&mut inbox).await, Incoming::Connected { reconnected: true, .. }));
    assert_eq!(case.shown(), ["one", "one"]);
}

#[tokio::test]
async fn a_refused_token_of_a_file_is_shown_until_it_is_right() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path(), "one");
    let renewed = path.clone();
    let case = Case::start(move |shown| match shown {
        [_] => short_pass(),
        [.., last] if last == "two" => long_pass(),
        shown => {
            if shown.len() == 4 {
                std::fs::write(&renewed, "two").unwrap();
            }
            Err(AuthRefusal::Expired)
        }
    })
    .await;
    let (_link, mut inbox) = case.connect(Some(Token::File(path))).await.unwrap();
    is_lost(&mut inbox).await;
    assert!(matches!(next(&mut inbox).await, Incoming::Connected { reconnected: true, .. }));
    assert_eq!(case.shown(), ["one", "one", "one", "one", "two"]);
}

#[tokio::test]
async fn a_refused_token_without_a_file_is_the_end() {
    let case = Case::start(|shown| if shown.len() == 1 { short_pass() } else { Err(AuthRefusal::Expired) }).await;
    let (link, mut inbox) = case.connect(Some("one".into())).await.unwrap();
    is_lost(&mut inbox).await;
    let Incoming::Closed(closed) = next(&mut inbox).await else { panic!("it went on") };
    let ended = link.ended(closed);
    assert!(matches!(&ended, LinkEnded::Refused(why) if matches!(**why, ConnectError::Unauthorized)), "{ended:?}");
    assert_eq!(
        ended.to_string(),
        "the hub refused the credential: give the hub's token (the log of the hub has the reason); has it expired?"
    );
    assert_eq!(case.shown(), ["one", "one"]);
}

#[tokio::test]
async fn the_first_connect_tells_a_missing_token_from_a_wrong_one() {
    let case = Case::start(|_| Err(AuthRefusal::Wrong)).await;
    let dir = tempfile::tempdir().unwrap();
    let refused = async |token| case.connect(token).await.err().unwrap();
    assert!(matches!(refused(None).await, ConnectError::TokenNeeded));
    assert!(matches!(refused(Some("one".into())).await, ConnectError::Unauthorized));
    // With a file too: a role that cannot start says so at once.
    let path = file(dir.path(), "one");
    assert!(matches!(refused(Some(Token::File(path))).await, ConnectError::Unauthorized));
    assert_eq!(case.shown(), ["none", "one", "one"]);
    let missing = refused(Some(Token::File("/nowhere/token".into()))).await;
    assert!(missing.to_string().starts_with("cannot read the token file /nowhere/token: "), "{missing}");
    assert_eq!(case.shown().len(), 3, "the hub was asked without a token");
}
