//! Serves a document over HTTP on the loopback address, fetches it, and shows that a change ends the old address.
//!
//! `cargo run -p a2c-dpe --example serve_document`

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use a2c_dpe::{DocumentReader, HttpListener, HttpOptions, ReadError, ResolutionLimits, Resolutions, ResolveRequest};
use a2c_protocol::uri::DpeDocumentUri;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// Stands for an MCP server: every document has the same text.
#[derive(Clone)]
struct OneDocument;

impl DocumentReader for OneDocument {
    async fn read(&self, _uri: &str) -> Result<Vec<Value>, ReadError> {
        let text = json!({"title": "Annual report", "pages": []}).to_string();
        Ok(vec![json!({"mimeType": "application/vnd.a2c.dpe-inline+json", "text": text})])
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = Arc::new(HttpListener::start(HttpOptions::default()).await?);
    let documents = Resolutions::new(Some(listener), ResolutionLimits::default());
    let uri = DpeDocumentUri::parse("dpe://com.example/report")?.uri;
    let request = ResolveRequest {
        uri: &uri,
        listed: None,
        hint: Default::default(),
        is_watched: true,
        limit: Duration::from_secs(5),
    };

    let answer = documents.resolve(request, &OneDocument).await?;
    println!("{:?} is at {}", answer.name, answer.uri);
    println!("{}", fetch(&answer.uri).await?);

    documents.changed("", "dpe://com.example/report");
    println!("after a change: {}", fetch(&answer.uri).await?);
    documents.close().await;
    Ok(())
}

/// The first and the last line of the answer to `GET`.
async fn fetch(url: &str) -> Result<String, Box<dyn Error>> {
    let (host, token) = url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).ok_or("no http URL")?;
    let mut stream = tokio::net::TcpStream::connect(host).await?;
    stream.write_all(format!("GET /{token} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let lines = [answer.lines().next(), answer.lines().last()];
    Ok(lines.map(Option::unwrap_or_default).join(" … "))
}
