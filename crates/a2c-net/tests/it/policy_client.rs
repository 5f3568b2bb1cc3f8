//! The client for foreign URLs, against servers on this machine.

use std::error::Error as _;

use a2c_net::{
    AddressKind, AddressPolicy, LookupError, OffLimits, PolicyClient, UrlRefusal, http_client, literal_address, lookup,
    tls,
};
use axum::Router;
use axum::http::HeaderMap;
use axum::http::StatusCode;
use axum::http::header::{LOCATION, REFERER};
use axum::routing::get;
use url::Url;

fn client(policy: AddressPolicy) -> PolicyClient {
    PolicyClient::new(http_client(tls::without_trust().unwrap()), policy, 2).unwrap()
}

/// A server on every address of this machine, which redirects from `/to/HOST` to `/d` at that host.
async fn server() -> u16 {
    let listener = tokio::net::TcpListener::bind("[::]:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let redirect = move |host: axum::extract::Path<String>| async move {
        (StatusCode::FOUND, [(LOCATION, format!("http://{}:{port}/d", host.0))])
    };
    let routes = Router::new()
        .route("/d", get(|headers: HeaderMap| async move { format!("{:?}", headers.get(REFERER)) }))
        .route("/to/{host}", get(redirect))
        .route("/round", get(|| async { (StatusCode::FOUND, [(LOCATION, "/round")]) }))
        .route("/user", get(|| async { (StatusCode::FOUND, [(LOCATION, "http://me:pw@localhost/d")]) }));
    tokio::spawn(async move { axum::serve(listener, routes).await });
    port
}

async fn fetch(policy: AddressPolicy, url: &str) -> Result<String, reqwest::Error> {
    let url: Url = url.parse().unwrap();
    client(policy).get(url).expect("the URL itself is allowed").send().await?.text().await
}

fn refusal(error: &reqwest::Error) -> Option<&UrlRefusal> {
    error.source()?.downcast_ref()
}

#[tokio::test]
async fn a_redirect_leads_no_further_than_an_address() {
    let port = server().await;
    let local = AddressPolicy::PUBLIC.and(AddressKind::Loopback);
    // No referrer tells the next server where the client came from.
    assert_eq!(fetch(local, &format!("http://127.0.0.1:{port}/to/127.0.0.1")).await.unwrap(), "None");
    // Linux takes 0.0.0.0 for this machine: without the judgement, all of these would be answered.
    for host in ["0.0.0.0", "[::]", "[::ffff:0.0.0.0]", "0"] {
        let url = format!("http://127.0.0.1:{port}/to/{host}");
        fetch(AddressPolicy::ANYWHERE, &url).await.unwrap();
        let error = fetch(local, &url).await.unwrap_err();
        assert!(error.is_redirect(), "{host}: {error}");
        assert_eq!(refusal(&error), Some(&UrlRefusal::Address(AddressKind::Unspecified)), "{host}");
    }
}

#[tokio::test]
async fn redirects_end_and_carry_no_credential() {
    let port = server().await;
    for (path, expected) in [("round", UrlRefusal::TooManyRedirects), ("user", UrlRefusal::Credentials)] {
        let error = fetch(AddressPolicy::ANYWHERE, &format!("http://127.0.0.1:{port}/{path}")).await.unwrap_err();
        assert_eq!(refusal(&error), Some(&expected), "{path}");
    }
}

#[tokio::test]
async fn a_name_is_judged_by_the_addresses_behind_it() {
    let port = server().await;
    let url = format!("http://localhost:{port}/d");
    fetch(AddressPolicy::THIS_MACHINE, &url).await.unwrap();
    let error = fetch(AddressPolicy::PRIVATE_NETWORKS, &url).await.unwrap_err();
    assert!(error.is_connect(), "{error}");
    assert!(matches!(lookup("localhost", AddressPolicy::PUBLIC).await, Err(LookupError::Refused)));
    let found = lookup("localhost", AddressPolicy::THIS_MACHINE).await.unwrap();
    assert!(found.iter().all(|found| found.ip().is_loopback()), "{found:?}");
}

#[tokio::test]
async fn a_url_is_judged_before_anything_is_sent() {
    let url: Url = "http://[::ffff:169.254.169.254]/latest/meta-data".parse().unwrap();
    assert!(literal_address(&url).is_some());
    let refused = client(AddressPolicy::THIS_MACHINE).get(url).unwrap_err();
    assert_eq!(refused, UrlRefusal::Address(AddressKind::CloudMetadata));
    assert_eq!(refused.to_string(), "its address is off limits (cloud metadata)");
}

#[tokio::test]
async fn a_listener_that_is_off_limits_is_not_reached() {
    let (hub, other) = (server().await, server().await);
    let url = |port: u16, path: &str| format!("http://127.0.0.1:{port}/{path}").parse::<Url>().unwrap();
    let off_limits = OffLimits::listener_of(&url(hub, "")).await;
    let builder = http_client(tls::without_trust().unwrap());
    let client = PolicyClient::avoiding(builder, AddressPolicy::ANYWHERE, 2, off_limits).unwrap();
    client.get(url(other, "d")).unwrap().send().await.unwrap();
    assert_eq!(client.get(url(hub, "d")).unwrap_err(), UrlRefusal::OffLimits);
    assert_eq!(client.get(format!("http://localhost:{hub}/d").parse().unwrap()).unwrap_err(), UrlRefusal::OffLimits);
    let away = Router::new()
        .route("/", get(move || async move { (StatusCode::FOUND, [(LOCATION, format!("http://127.0.0.1:{hub}/d"))]) }));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let away_port = listener.local_addr().unwrap().port();
    tokio::spawn(async move { axum::serve(listener, away).await });
    let error = client.get(url(away_port, "")).unwrap().send().await.unwrap_err();
    assert_eq!(refusal(&error), Some(&UrlRefusal::OffLimits));
}
