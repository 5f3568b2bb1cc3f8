//! Redacts a token from an error message and from the JSON of a result.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use a2c_secrets::{Redactor, Secret};
use serde_json::json;

fn main() {
    let token = Secret::new("tok-4711/x");
    println!("The token prints as {token:?}.");

    let redactor = Redactor::new([token]);
    println!("{}", redactor.redact("401 for https://example.com/?token=tok-4711%2Fx"));

    let mut result = json!({ "echo": { "authorization": "Bearer tok-4711/x" }, "status": 401 });
    redactor.redact_json(&mut result);
    println!("{result}");
    assert_eq!(result["echo"]["authorization"], "Bearer ***");
}
