//! Servers that refuse the credentials: at the handshake, at a list, at a call, and between two calls.

use std::error::Error;

use a2c_mcp::http::{AccessReason, HttpError, http_error};
use serde_json::json;

use super::*;

/// The reasons that the statuses stand for.
const REASONS: [(&str, AccessReason); 2] = [("401", AccessReason::Required), ("403", AccessReason::Forbidden)];

fn check(error: &(dyn Error + 'static), reason: AccessReason, mode: &str) {
    let Some(HttpError::Access(refusal)) = http_error(error) else { panic!("{mode}: {error:?}") };
    assert_eq!(refusal.reason, reason, "{mode}: {error}");
    let shown = format!("{error} {error:?} {refusal} {refusal:?}");
    for secret in ["s3cret", "secret details", "?key", "127.0.0.1"] {
        assert!(!shown.contains(secret), "{mode}: {shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_keeps_its_reason_wherever_it_comes() {
    for mode in ["stateful", "stateless", "json", "sse"] {
        let mut peer = script("mcp_http.py", &[mode]);
        for (status, reason) in REASONS {
            let client = connect_to(&peer, mode).await;
            echoes(&client).await;
            order(&mut peer, &format!("refuse {status}"));
            let error = call(client.peer(), "echo", json!({"text": "x"})).await.unwrap_err();
            check(&error, reason, mode);
            let error = client.list_all_tools().await.unwrap_err();
            check(&error, reason, mode);
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
            check(&error, reason, mode);
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
        assert!(matches!(http_error(&error), Some(HttpError::Status(500))), "{error:?}");
        assert!(error.to_string().contains("HTTP 500"), "{error}");
        order(&mut peer, "accept");
        echoes(&client).await;
        peer.kill();
        let error = call(client.peer(), "echo", json!({"text": "x"})).await.unwrap_err();
        assert!(!matches!(http_error(&error), Some(HttpError::Access(_))), "{error}");
    }
}
