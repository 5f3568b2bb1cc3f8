//! Reads `dpe://` URIs, and errors in both of their forms.
//!
//! `cargo run -p a2c-protocol --example uris_and_errors`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use a2c_protocol::ErrorBody;
use a2c_protocol::uri::DpeUri;
use serde_json::json;

fn main() {
    for text in ["dpe://com.example.docs/report%2F2026/pages/3?format=text", "dpe://com.example.docs/a/pages/x"] {
        match DpeUri::parse(text) {
            Ok(parsed) => println!("level {} of {}: {}", parsed.uri.level().number(), parsed.uri.host(), parsed.uri),
            Err(error) => println!("{error}"),
        }
    }
    let flat = json!({"code": 404, "message": "no such computer", "computer": "desk"});
    let nested = json!({"error": {"code": 403, "message": "only an agent may call computers"}});
    for value in [flat, nested, json!({"tools": []})] {
        match ErrorBody::decode(&value) {
            Some(error) => println!("error {}: {}", error.code.number(), error.message),
            None => println!("no error: {value}"),
        }
    }
}
