//! Servers that refuse who asks: at the handshake, at a list, at a call, and between two calls.

use std::error::Error;

use serde_json::json;

use super::super::{RefusalKind, refusal};
use super::*;

/// The kinds that the statuses stand for.
const KINDS: [(&str, RefusalKind); 2] = [("401", RefusalKind::Required), ("403", RefusalKind::Failed)];

fn check(error: &(dyn Error + 'static), kind: RefusalKind, mode: &str) {
    let refusal = refusal(error).unwrap_or_else(|| panic!("{mode}: {error:?}"));
    assert_eq!(refusal.kind, kind, "{mode}: {error}");
    let shown = format!("{error} {error:?} {refusal} {refusal:?}");
    for secret in ["s3cret", "secret details", "?key", "127.0.0.1"] {
        assert!(!shown.contains(secret), "{mode}: {shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_keeps_its_kind_wherever_it_comes() {
    for mode in ["stateful", "stateless", "json", "sse"] {
        let mut peer = script("mcp_http.py", &[mode]);
        for (status, kind) in KINDS {
            let client = connect_to(&peer, mode).await;
            echoes(&client).await;
            order(&mut peer, &format!("refuse {status}"));
            let error = call(client.peer(), "echo", json!({"text": "x"})).await.unwrap_err();
            check(&error, kind, mode);
            let error = client.list_all_tools().await.unwrap_err();
            check(&error, kind, mode);
            // Being refused once is not being cut off.
            order(&mut peer, "accept");
            echoes(&client).await;

            order(&mut peer, &format!("refuse {status}"));
            let given = headers(&[("authorization", "Bearer s3cret")]);
            let error = match mode {
                "sse" => {
                    let url = format!("{}/sse?key=s3cret", peer.address());
                    let parameters = SseParameters { headers: given, ..sse_at(url) };
                    connect(sse::open(&parameters).unwrap()).await.unwrap_err()
                }
                _ => {
                    let url = format!("{}/mcp?key=s3cret", peer.address());
                    let parameters = StreamableParameters { headers: given, ..streamable_at(url) };
                    connect(streamable::open("demo", &parameters, None).unwrap()).await.unwrap_err()
                }
            };
            check(&error, kind, mode);
            order(&mut peer, "accept");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_failures_are_no_refusals() {
    for mode in ["stateful", "sse"] {
        let mut peer = script("mcp_http.py", &[mode]);
        let client = connect_to(&peer, mode).await;
        order(&mut peer, "refuse 500");
        let error = call(client.peer(), "echo", json!({"text": "x"})).await.unwrap_err();
        assert!(refusal(&error).is_none(), "{error}");
        assert!(error.to_string().contains("HTTP 500"), "{error}");
        order(&mut peer, "accept");
        echoes(&client).await;
        peer.kill();
        let error = call(client.peer(), "echo", json!({"text": "x"})).await.unwrap_err();
        assert!(refusal(&error).is_none(), "{error}");
    }
}
