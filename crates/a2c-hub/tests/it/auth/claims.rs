//! What the claims of a token mean.

use std::time::Duration;

use a2c_hub::auth::{AuthRefusal, Grant, Jwt};
use a2c_protocol::Role;
use serde_json::{Value, json};

use super::tokens::{NOW, hs256, jwt, moment, shown, shown_at};

/// Some claims, and an `exp` that does not matter.
fn with(mut claims: Value) -> Value {
    claims["exp"] = json!(NOW + 60);
    claims
}

fn grant(claims: &Value) -> Grant {
    shown(&jwt(), &hs256(&with(claims.clone()))).unwrap_or_else(|refused| panic!("{claims}: {refused}"))
}

#[test]
fn a_claim_that_is_missing_limits_nothing() {
    let grant = grant(&json!({"unknown": {"to": ["us"]}}));
    assert!(grant.permits_role(Role::Agent) && grant.permits_role(Role::Computer));
    assert!(grant.permits_office("any") && grant.permits_name("any"));
    assert_eq!(grant.subject(), "unnamed");
}

#[test]
fn roles_are_a_word_or_a_list() {
    for (roles, agent, computer) in [
        (json!("agent"), true, false),
        (json!("computer"), false, true),
        (json!(["agent"]), true, false),
        (json!(["computer", "agent", "agent"]), true, true),
        (json!(["admin", "computer"]), false, true),
        (json!([]), false, false),
        (json!(""), false, false),
        (json!("admin"), false, false),
        (json!("Agent"), false, false),
        (json!("agent computer"), false, false),
        (json!("*"), false, false),
    ] {
        let grant = grant(&json!({"roles": roles}));
        let permitted = (grant.permits_role(Role::Agent), grant.permits_role(Role::Computer));
        assert_eq!(permitted, (agent, computer), "{roles}");
    }
}

#[test]
fn offices_and_names_are_patterns() {
    for (patterns, fits, does_not_fit) in [
        (json!(["lab"]), &["lab"][..], &["lab2", "LAB", ""][..]),
        (json!("lab-*"), &["lab-", "lab-7"], &["lab", "my-lab-7"]),
        (json!(["a?", "b*"]), &["a1", "b", "bcd"], &["a", "a12"]),
        (json!("*"), &["", "anything"], &[]),
        (json!([]), &[], &["", "a", "*"]),
        (json!(""), &[""], &["a"]),
    ] {
        let (office, name) = (grant(&json!({"offices": patterns})), grant(&json!({"name": patterns})));
        for text in fits {
            assert!(office.permits_office(text) && name.permits_name(text), "{patterns} {text:?}");
        }
        for text in does_not_fit {
            assert!(!office.permits_office(text) && !name.permits_name(text), "{patterns} {text:?}");
        }
        // One says nothing about the other.
        assert!(office.permits_name("x") && name.permits_office("x"));
    }
}

#[test]
fn a_claim_of_the_wrong_kind_is_no_permission() {
    for claims in [
        json!({"roles": null}),
        json!({"roles": 1}),
        json!({"roles": {"agent": true}}),
        json!({"roles": ["agent", 1]}),
        json!({"offices": null}),
        json!({"offices": [["lab"]]}),
        json!({"name": null}),
        json!({"name": false}),
        json!({"nbf": "tomorrow"}),
        json!({"nbf": null}),
        json!({"nbf": -1}),
        json!({"iss": null}),
        json!({"iss": 7}),
        json!({"aud": null}),
        json!({"aud": {}}),
        json!({"sub": 7}),
    ] {
        let refused = shown(&jwt(), &hs256(&with(claims.clone())));
        assert!(matches!(refused, Err(AuthRefusal::Malformed { .. })), "{claims}: {refused:?}");
    }
    for exp in [json!(null), json!("never"), json!(-1), json!(1e300), json!([NOW])] {
        let refused = shown(&jwt().allow_no_expiry(), &hs256(&json!({"exp": exp})));
        assert!(matches!(refused, Err(AuthRefusal::Malformed { .. })), "{exp}: {refused:?}");
    }
    for claims in [json!([]), json!("x"), json!(null)] {
        assert!(shown(&jwt().allow_no_expiry(), &hs256(&claims)).is_err(), "{claims}");
    }
}

#[test]
fn the_subject_is_fit_for_a_log() {
    assert_eq!(grant(&json!({"sub": "alice"})).subject(), "alice");
    assert_eq!(grant(&json!({"sub": "al\r\nice\u{1b}[2J"})).subject(), "alice[2J");
    assert!(grant(&json!({"sub": "x".repeat(5000)})).subject().len() < 200);
}

#[test]
fn a_token_has_its_time() {
    let second = Duration::from_secs(1);
    let within = |leeway: Duration| jwt().leeway(leeway);
    // Judged this many seconds after NOW.
    for (jwt, claims, after, expected) in [
        (jwt(), json!({"exp": NOW + 10}), 0, Ok(Some(NOW + 10))),
        (jwt(), json!({"exp": NOW + 10}), 9, Ok(Some(NOW + 10))),
        (jwt(), json!({"exp": NOW + 10}), 10, Err(AuthRefusal::Expired)),
        (jwt(), json!({"exp": 0}), 0, Err(AuthRefusal::Expired)),
        (jwt(), json!({"exp": (NOW as f64) + 0.5}), 1, Err(AuthRefusal::Expired)),
        (within(5 * second), json!({"exp": NOW + 10}), 14, Ok(Some(NOW + 15))),
        (within(5 * second), json!({"exp": NOW + 10}), 15, Err(AuthRefusal::Expired)),
        (within(Duration::MAX), json!({"exp": NOW, "nbf": NOW + 1}), 99, Ok(None)),
        (jwt(), json!({"exp": NOW + 99, "nbf": NOW + 10}), 9, Err(AuthRefusal::NotYetValid)),
        (jwt(), json!({"exp": NOW + 99, "nbf": NOW + 10}), 10, Ok(Some(NOW + 99))),
        (within(5 * second), json!({"exp": NOW + 99, "nbf": NOW + 10}), 4, Err(AuthRefusal::NotYetValid)),
        (within(5 * second), json!({"exp": NOW + 99, "nbf": NOW + 10}), 5, Ok(Some(NOW + 104))),
        // `iat` says when it was made, not when it begins.
        (jwt(), json!({"exp": NOW + 99, "iat": NOW + 50}), 0, Ok(Some(NOW + 99))),
        (jwt(), json!({}), 0, Err(AuthRefusal::MissingClaim { claim: "exp" })),
        (jwt().allow_no_expiry(), json!({}), 0, Ok(None)),
        (jwt().allow_no_expiry(), json!({"exp": NOW}), 0, Err(AuthRefusal::Expired)),
    ] {
        let end = shown_at(&jwt, &hs256(&claims), after).map(|grant| grant.expires_at());
        assert_eq!(end, expected.map(|end| end.map(moment)), "{claims} after {after} s");
    }
}

#[test]
fn a_token_for_others_is_refused() {
    let (ours, theirs) = (|| jwt().issuer("login"), || jwt().audience("a2c"));
    let missing = |claim| Err(AuthRefusal::MissingClaim { claim });
    let table: [(Jwt, Value, Result<(), AuthRefusal>); 14] = [
        (ours(), json!({"iss": "login"}), Ok(())),
        (ours(), json!({"iss": "login2"}), Err(AuthRefusal::Issuer)),
        (ours(), json!({"iss": ""}), Err(AuthRefusal::Issuer)),
        (ours(), json!({}), missing("iss")),
        (jwt(), json!({"iss": "another issuer"}), Ok(())),
        (theirs(), json!({"aud": "a2c"}), Ok(())),
        (theirs(), json!({"aud": ["mail", "a2c"]}), Ok(())),
        (theirs(), json!({"aud": "mail"}), Err(AuthRefusal::Audience)),
        (theirs(), json!({"aud": ["mail"]}), Err(AuthRefusal::Audience)),
        (theirs(), json!({"aud": []}), Err(AuthRefusal::Audience)),
        (theirs(), json!({"aud": "a2c*"}), Err(AuthRefusal::Audience)),
        (theirs(), json!({}), missing("aud")),
        // Who is not told its own name cannot be the one that is meant.
        (jwt(), json!({"aud": "a2c"}), Err(AuthRefusal::Audience)),
        (ours().audience("a2c"), json!({"iss": "login", "aud": "a2c"}), Ok(())),
    ];
    for (jwt, claims, expected) in table {
        assert_eq!(shown(&jwt, &hs256(&with(claims.clone()))).map(drop), expected, "{claims}");
    }
}
