//! What a redactor leaves of texts and JSON, through the public interface.

use a2c_secrets::{REDACTED, Redactor, Secret, SecretJson};
use serde_json::json;

#[test]
fn a_redactor_without_values_changes_nothing() {
    let redactor = Redactor::default();
    assert!(redactor.is_empty());
    let mut value = json!({ "text": r"\ % + s3cret" });
    redactor.redact_json(&mut value);
    assert_eq!(value, json!({ "text": r"\ % + s3cret" }));
    assert_eq!(redactor.redact("s3cret"), "s3cret");
}

#[test]
fn every_text_of_a_secret_json_value_is_redacted() {
    let value = SecretJson::from(json!({ "user": "alice-4711", "keys": ["k-12345678", "k-87654321"] }));
    let redactor = Redactor::new(value.texts());
    let line = "alice-4711 sent k-12345678, then ay04NzY1NDMyMQ==";
    assert_eq!(redactor.redact(line), format!("{REDACTED} sent {REDACTED}, then {REDACTED}=="));
}

#[test]
fn clones_redact_the_same_values() {
    let redactor = Redactor::new([Secret::new("s3cret")]);
    let clone = redactor.clone();
    drop(redactor);
    let mut line = "key s3cret".to_owned();
    clone.redact_in_place(&mut line);
    assert_eq!(line, "key ***");
}
