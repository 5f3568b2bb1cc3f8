//! A hub that speaks TLS, with our client: certificates, client certificates, plain connections refused.

use std::path::PathBuf;
use std::sync::Arc;

use a2c_hub::auth::CertificateAuth;
use a2c_hub::{Hub, TlsConfig};
use a2c_socketio::{ClientCertificate as Shown, SocketConnectError, TlsFiles, Transport};
use a2c_testbed::Authority;
use serde_json::json;

use crate::support::{Member, RawClient, hub_with, until_empty};

async fn secure_hub(authority: &Authority, clients: Option<&Authority>) -> Hub {
    let [certificate, key] = authority.issue("localhost");
    hub_with(|config| {
        let client_ca = clients.map(Authority::ca_file);
        config.tls = Some(TlsConfig { certificate, key, client_ca, reload: std::time::Duration::ZERO });
        if clients.is_some() {
            config.auth = Arc::new(CertificateAuth);
        }
    })
    .await
}

fn options(hub: &Hub, authority: &Authority, shown: Option<[PathBuf; 2]>) -> a2c_socketio::Options {
    let client = shown.map(|[certificate, key]| Shown { certificate, key });
    let url = format!("https://localhost:{}", hub.address().port());
    Member::options_for(url).tls_files(TlsFiles { ca: Some(authority.ca_file()), client })
}

#[tokio::test]
async fn calls_pass_over_tls_on_every_transport() {
    let authority = Authority::new("a2c test");
    let hub = secure_hub(&authority, None).await;
    assert!(hub.url().starts_with("https://"));
    for transport in [Transport::Websocket, Transport::PollingThenWebsocket, Transport::Polling] {
        let with = || options(&hub, &authority, None).transport(transport);
        let agent = Member::joined(with(), "agent", "a", "o").await;
        let mut computer = Member::joined(with(), "computer", "c", "o").await;
        let text = "x".repeat(3 << 20);
        let asked = agent.asking("client:x", json!({"computer": "c", "text": text}));
        computer.answer("client:x", json!({"text": text})).await;
        assert!(asked.await.unwrap()["text"] == text.as_str(), "{transport:?}");
        agent.close().await;
        computer.close().await;
        until_empty(&hub).await;
    }
}

#[tokio::test]
async fn a_client_certificate_is_asked_for_and_names_its_owner() {
    let (authority, clients, strangers) = (Authority::new("hub"), Authority::new("clients"), Authority::new("others"));
    let hub = secure_hub(&authority, Some(&clients)).await;
    let _member = Member::joined(options(&hub, &authority, Some(clients.issue("desk-7"))), "computer", "c", "o").await;
    for shown in [None, Some(strangers.issue("desk-7"))] {
        let refused = Member::connect_with(options(&hub, &authority, shown)).await;
        assert!(!matches!(refused, Ok(_) | Err(SocketConnectError::Refused(_))), "refused before a word is said");
    }
    assert_eq!(hub.connections(), 1);
}

#[tokio::test]
async fn a_connection_ends_with_its_certificate() {
    let (authority, clients) = (Authority::new("hub"), Authority::new("clients"));
    let hub = secure_hub(&authority, Some(&clients)).await;
    let mut params = a2c_testbed::certificate_params("desk-7", None);
    params.not_after = (std::time::SystemTime::now() + std::time::Duration::from_secs(3)).into();
    let [certificate, key] = clients.sign(&params);
    let files = ["short.pem", "short.key"].map(|name| clients.path(name));
    std::fs::write(&files[0], certificate).unwrap();
    std::fs::write(&files[1], key).unwrap();
    let mut member = Member::joined(options(&hub, &authority, Some(files)), "computer", "c", "o").await;
    member.disconnected().await;
    until_empty(&hub).await;
}

#[tokio::test]
async fn plain_http_is_refused_and_disturbs_no_other_client() {
    let authority = Authority::new("a2c test");
    let hub = secure_hub(&authority, None).await;
    let member = Member::joined(options(&hub, &authority, None), "computer", "c", "o").await;
    assert!(RawClient::is_refused(&hub).await);
    assert_eq!(member.roll("o").await, ["computer c"]);
}
