//! A real HTTP server on loopback that counts what it is asked.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Redirect, Response};
use futures_util::{StreamExt, stream};

/// What the document is.
pub(crate) const DOCUMENT: &str = r#"{"doc_ref": "d", "page_count": 1, "pages": [{"page_index": 0, "elements": []}]}"#;

pub(crate) struct Web {
    pub(crate) url: String,
    hits: Arc<Mutex<Vec<(String, HeaderMap)>>>,
}

impl Web {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let hits = Arc::new(Mutex::new(Vec::new()));
        let seen = hits.clone();
        let router = Router::new().fallback(move |uri: Uri, headers: HeaderMap| {
            seen.lock().unwrap().push((uri.to_string(), headers));
            answer(uri)
        });
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, hits }
    }

    /// What it was asked since the last look.
    pub(crate) fn hits(&self) -> Vec<String> {
        self.requests().into_iter().map(|(uri, _)| uri).collect()
    }

    pub(crate) fn requests(&self) -> Vec<(String, HeaderMap)> {
        std::mem::take(&mut *self.hits.lock().unwrap())
    }
}

async fn answer(uri: Uri) -> Response {
    let path: Vec<&str> = uri.path().trim_start_matches('/').split('/').collect();
    match path[..] {
        ["document"] => ([("content-type", "application/x-document")], DOCUMENT).into_response(),
        ["status", code] => StatusCode::from_u16(code.parse().unwrap()).unwrap().into_response(),
        ["bytes", count] => "x".repeat(count.parse().unwrap()).into_response(),
        // Of unknown length, and without an end.
        ["flood"] => Body::from_stream(stream::repeat(Bytes::from_static(&[b'x'; 1000])).map(Ok::<_, std::io::Error>))
            .into_response(),
        ["silence"] => {
            tokio::time::sleep(Duration::from_secs(3600)).await;
            StatusCode::OK.into_response()
        }
        // As many redirects as it says, then the document.
        ["hops", "0"] => Redirect::temporary("/document").into_response(),
        ["hops", left] => Redirect::temporary(&format!("/hops/{}", left.parse::<u32>().unwrap() - 1)).into_response(),
        ["to", target] => {
            let target = percent_encoding::percent_decode_str(target).decode_utf8().unwrap();
            (StatusCode::FOUND, [("location", target.as_ref())]).into_response()
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}
