//! Keys that a real server publishes: a hub follows their rotation, and neither strangers nor a failing server harm it.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use a2c_hub::auth::{Jwt, KeyFetchError, RemoteKeys, RemoteKeysConfig};
use a2c_hub::{Hub, HubConfig, Rate};
use a2c_socketio::SocketConnectError;
use serde_json::{Value, json};

use super::issuer::{Issuer, LONG, Reply};
use super::pyjwt::mint;
use super::tokens::signed;
use crate::support::{Member, RawClient, until_empty, within};

/// Two keys with a token for each, which is good for an hour.
struct Keys {
    old: Value,
    new: Value,
}

impl Keys {
    fn new(algorithm: &str) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let minted = mint(&json!({"sub": "alice", "exp": now + 3600}));
        let published = |which: usize| minted[algorithm]["published"][which].clone();
        Self { old: published(0), new: published(1) }
    }

    fn old_token(&self) -> &str {
        self.old["token"].as_str().unwrap()
    }

    fn new_token(&self) -> &str {
        self.new["token"].as_str().unwrap()
    }

    fn old_set(&self) -> Reply {
        Reply::Keys(vec![self.old["jwk"].clone()])
    }

    fn new_set(&self) -> Reply {
        Reply::Keys(vec![self.new["jwk"].clone()])
    }
}

fn config(issuer: &Issuer) -> RemoteKeysConfig {
    RemoteKeysConfig { timeout: Duration::from_secs(2), ..RemoteKeysConfig::at(issuer.url()) }
}

async fn hub_of(config: RemoteKeysConfig) -> Hub {
    let mut hub = HubConfig::on("127.0.0.1:0".parse().unwrap());
    hub.limits.failed_connects = Some(Rate::per_minute(20));
    hub.auth = Arc::new(Jwt::remote(RemoteKeys::fetch(config).await.unwrap()));
    Hub::start(hub).await.unwrap()
}

async fn connect(hub: &Hub, token: &str) -> Result<Member, String> {
    match Member::connect_with(Member::options(hub).auth(json!({"token": token}))).await {
        Ok(member) => Ok(member),
        Err(SocketConnectError::Refused(refusal)) => Err(refusal.message().unwrap_or_default()),
        Err(other) => panic!("{other:?}"),
    }
}

/// A token of nobody, whose key has this name.
fn stranger(kid: &str) -> String {
    signed(&json!({"alg": "RS256", "kid": kid}), &json!({"exp": u32::MAX}), |_| vec![7; 256])
}

#[tokio::test]
async fn a_rotated_key_is_fetched_for_the_first_token_that_names_it() {
    for algorithm in ["RS256", "EdDSA", "ES256"] {
        let keys = Keys::new(algorithm);
        let issuer = Issuer::start(keys.old_set()).await;
        let hub = hub_of(config(&issuer)).await;
        let before = connect(&hub, keys.old_token()).await.unwrap();
        assert_eq!(before.join("computer", "before", "o").await, (true, None));
        assert_eq!(issuer.asked(), 1);

        issuer.replies(keys.new_set());
        let after = connect(&hub, keys.new_token()).await.unwrap();
        assert_eq!(after.join("computer", "after", "o").await, (true, None));
        assert_eq!(issuer.asked(), 2);
        // The connection of the old key stays; its token opens no other one.
        assert_eq!(before.roll("o").await, ["computer after", "computer before"]);
        assert_eq!(connect(&hub, keys.old_token()).await.err().as_deref(), Some("401"));
        assert_eq!(issuer.asked(), 2);
    }
}

#[tokio::test]
async fn keys_are_fetched_again_when_they_have_reached_their_age() {
    let keys = Keys::new("EdDSA");
    let issuer = Issuer::start(Reply::KeysFor(vec![keys.old["jwk"].clone()], 1)).await;
    let mut config = config(&issuer);
    (config.age_bounds, config.unknown_key_pause) = ([Duration::from_millis(50), LONG], LONG);
    let hub = hub_of(config).await;
    // Now no unknown key causes a fetch for an hour.
    assert_eq!(connect(&hub, &stranger("x")).await.err().as_deref(), Some("401"));
    issuer.replies(Reply::KeysFor(vec![keys.new["jwk"].clone()], 1));
    let followed = async {
        while connect(&hub, keys.new_token()).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    within("the new key", followed).await;
    assert_eq!(connect(&hub, keys.old_token()).await.err().as_deref(), Some("401"));
}

#[tokio::test(flavor = "multi_thread")]
async fn any_number_of_unknown_keys_cause_one_fetch() {
    let keys = Keys::new("EdDSA");
    let issuer = Issuer::start(keys.old_set()).await;
    let hub = Arc::new(hub_of(config(&issuer)).await);
    let strangers: Vec<_> = (0..100)
        .map(|n| {
            let hub = hub.clone();
            tokio::spawn(async move { connect(&hub, &stranger(&n.to_string())).await.err() })
        })
        .collect();
    for stranger in strangers {
        let told = within("a refusal", stranger).await.unwrap().unwrap();
        assert!(told == "401" || told.starts_with("429 "), "{told}");
    }
    assert_eq!(issuer.asked(), 2);
    // Not only those who come together with others: the next fetch is half a minute away.
    tokio::time::sleep(Duration::from_millis(1500)).await;
    // Sent away at once, for now: it may be a client with the issuer's newest key. And no lock-out of those who share an
    // address with strangers.
    let begun = Instant::now();
    let told = connect(&hub, &stranger("once more")).await.err().unwrap();
    assert!(told.starts_with("429 the key of this token is not known yet: wait "), "{told}");
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    connect(&hub, keys.old_token()).await.unwrap();
    assert_eq!(issuer.asked(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_tokens_of_a_new_key_wait_for_the_same_fetch() {
    let keys = Keys::new("ES256");
    let issuer = Issuer::start(keys.old_set()).await;
    let hub = Arc::new(hub_of(config(&issuer)).await);
    issuer.replies(keys.new_set());
    let clients: Vec<_> = (0..50)
        .map(|_| {
            let (hub, token) = (hub.clone(), keys.new_token().to_owned());
            tokio::spawn(async move { connect(&hub, &token).await.err() })
        })
        .collect();
    for client in clients {
        assert_eq!(within("a connection", client).await.unwrap(), None);
    }
    assert_eq!(issuer.asked(), 2);
}

#[tokio::test]
async fn a_failing_server_changes_nothing() {
    let keys = Keys::new("RS256");
    let secret = json!({"kty": "oct", "k": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"});
    for failure in [
        Reply::Status(500),
        Reply::Status(404),
        Reply::Status(204),
        Reply::Text("<html>log in</html>".into()),
        Reply::Text(r#"{"keys": []}"#.into()),
        Reply::Keys(vec![secret]),
        Reply::Keys(vec![keys.new["jwk"].clone(); 101]),
        Reply::Endless,
        Reply::Hang,
        Reply::HangInBody,
        Reply::Redirect("http://127.0.0.1:1/jwks".into()),
        Reply::Redirect("/jwks".into()),
    ] {
        let issuer = Issuer::start(keys.old_set()).await;
        let hub = hub_of(config(&issuer)).await;
        issuer.replies(failure.clone());
        let begun = Instant::now();
        assert_eq!(connect(&hub, keys.new_token()).await.err().as_deref(), Some("401"), "{failure:?}");
        assert!(begun.elapsed() < Duration::from_secs(8), "{failure:?}: {:?}", begun.elapsed());
        assert!(issuer.asked() > 1, "{failure:?}");
        connect(&hub, keys.old_token()).await.unwrap_or_else(|refused| panic!("{failure:?}: {refused}"));
    }
}

#[tokio::test]
async fn a_server_that_goes_away_changes_nothing() {
    let keys = Keys::new("EdDSA");
    let issuer = Issuer::start(keys.old_set()).await;
    let hub = hub_of(config(&issuer)).await;
    issuer.go_away().await;
    assert_eq!(connect(&hub, keys.new_token()).await.err().as_deref(), Some("401"));
    connect(&hub, keys.old_token()).await.unwrap();
}

#[tokio::test]
async fn while_the_server_hangs_a_client_waits_no_longer_than_it_has_to() {
    let keys = Keys::new("EdDSA");
    let issuer = Issuer::start(keys.old_set()).await;
    let hub = hub_of(RemoteKeysConfig { timeout: LONG, ..config(&issuer) }).await;
    issuer.replies(Reply::Hang);
    let begun = Instant::now();
    assert_eq!(connect(&hub, keys.new_token()).await.err().as_deref(), Some("401"));
    assert!((4..9).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    // Nobody else waits meanwhile.
    let begun = Instant::now();
    connect(&hub, keys.old_token()).await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_client_that_waits_for_keys_may_leave_but_not_try_another_credential() {
    let keys = Keys::new("EdDSA");
    let issuer = Issuer::start(keys.old_set()).await;
    let hub = hub_of(RemoteKeysConfig { timeout: LONG, ..config(&issuer) }).await;
    issuer.replies(Reply::Hang);
    let connect = |token: &str| format!("40/smcp,{}", json!({"token": token}));
    for next in [connect(keys.old_token()), "42/smcp,[\"x\"]".to_owned(), "41/smcp,".to_owned()] {
        let mut client = RawClient::open(&hub).await;
        client.send(connect(keys.new_token())).await;
        client.send(next).await;
        client.hung_up_without_welcome().await;
    }
    let mut client = RawClient::open(&hub).await;
    client.send(connect(keys.new_token())).await;
    drop(client);
    until_empty(&hub).await;
}

#[tokio::test]
async fn a_redirect_is_followed_within_its_origin() {
    let keys = Keys::new("EdDSA");
    let issuer = Issuer::start(Reply::Redirect("/elsewhere".into())).await;
    let refused = RemoteKeys::fetch(config(&issuer)).await.unwrap_err();
    assert!(matches!(refused, KeyFetchError::Keys(_)), "it was followed: {refused}");
    let other = Issuer::start(keys.old_set()).await;
    issuer.replies(Reply::Redirect(other.url()));
    let refused = RemoteKeys::fetch(config(&issuer)).await.unwrap_err().to_string();
    assert!(refused.contains("another origin"), "{refused}");
    assert_eq!(other.asked(), 0);
}

#[tokio::test]
async fn the_first_fetch_has_to_succeed_and_its_error_says_why() {
    let issuer = Issuer::start(Reply::Hang).await;
    for (reply, part) in [
        (Reply::Hang, "timed out"),
        (Reply::HangInBody, "timed out"),
        (Reply::Endless, "longer than 1048576 bytes"),
        (Reply::Status(503), "503"),
        (Reply::Text("no keys".into()), "no JSON Web Key Set"),
        (Reply::Keys(Vec::new()), "no key that can verify tokens"),
    ] {
        issuer.replies(reply.clone());
        let begun = Instant::now();
        let refused = RemoteKeys::fetch(config(&issuer)).await.unwrap_err().to_string();
        assert!(refused.contains(part) && !refused.contains("s3cret"), "{reply:?}: {refused}");
        assert!(begun.elapsed() < Duration::from_secs(8), "{reply:?}");
    }
    let url = issuer.url();
    issuer.go_away().await;
    let refused = RemoteKeys::fetch(RemoteKeysConfig::at(url)).await.unwrap_err().to_string();
    assert!(refused.contains("refused") && !refused.contains("s3cret"), "{refused}");
}

#[tokio::test]
async fn fetching_ends_with_the_last_who_holds_the_keys() {
    let keys = Keys::new("EdDSA");
    let issuer = Issuer::start(Reply::KeysFor(vec![keys.old["jwk"].clone()], 0)).await;
    let mut config = config(&issuer);
    config.age_bounds = [Duration::from_millis(10), LONG];
    let remote = RemoteKeys::fetch(config).await.unwrap();
    let shown = format!("{remote:?}");
    assert!(shown.contains("/jwks") && !shown.contains("s3cret"), "{shown}");
    within("another fetch", async {
        while issuer.asked() < 3 {
            tokio::time::sleep(Duration::from_millis(5)).await
        }
    })
    .await;
    drop(remote);
    let last = issuer.asked();
    tokio::time::sleep(Duration::from_millis(300)).await;
    // One may have been on its way.
    assert!(issuer.asked() <= last + 1, "{} after {last}", issuer.asked());
}
