//! The keyring against a real Secret Service. A test that needs a session of its own runs itself again inside of one,
//! because environment variables belong to the whole process.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use a2c_protocol::config::McpTransport;
use serde_json::json;

use super::OsKeyring;
use crate::inputs::{InputSources, Inputs, KeepError, SecretStore, SecretStoreError};

/// Unlocks a keyring of its own for this session; an empty password makes no collection, a line break does.
const UNLOCK: &str = r#"echo | gnome-keyring-daemon --unlock --components=secrets >/dev/null && exec "$@""#;

fn is_installed(program: &str) -> bool {
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).any(|folder| folder.join(program).is_file())
}

/// This test binary, running one test that is ignored otherwise.
fn again(wrapper: &[&str], test: &str, home: &Path) -> Command {
    let this = std::env::current_exe().unwrap();
    let mut words: Vec<&str> = wrapper.to_vec();
    let test = format!("inputs::keyring::tests::{test}");
    words.extend([this.to_str().unwrap(), "--exact", &test, "--ignored", "--nocapture"]);
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).env("HOME", home).env("XDG_DATA_HOME", home).env("XDG_RUNTIME_DIR", home);
    command.env_remove("DBUS_SESSION_BUS_ADDRESS").env_remove("DISPLAY");
    command
}

fn check(output: &Output) {
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && stdout.contains("1 passed"), "{}\n{stdout}\n{stderr}", output.status);
}

#[test]
fn secrets_are_kept_by_a_real_secret_service() {
    let needed = ["dbus-run-session", "gnome-keyring-daemon", "secret-tool"];
    if let Some(missing) = needed.iter().find(|program| !is_installed(program)) {
        eprintln!("SKIPPED: `{missing}` is not installed (Debian: dbus gnome-keyring libsecret-tools)");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let wrapper = ["dbus-run-session", "--", "sh", "-c", UNLOCK, "sh"];
    check(&again(&wrapper, "inside_a_session", home.path()).output().unwrap());
}

#[test]
fn a_missing_keyring_says_what_is_missing() {
    let home = tempfile::tempdir().unwrap();
    check(&again(&[], "without_the_program", home.path()).env("PATH", home.path()).output().unwrap());
    if !is_installed("secret-tool") {
        eprintln!("SKIPPED: `secret-tool` is not installed (Debian: libsecret-tools)");
        return;
    }
    check(&again(&[], "without_a_session", home.path()).output().unwrap());
}

#[tokio::test]
#[ignore = "runs inside of a session that another test makes"]
async fn inside_a_session() {
    let keyring = OsKeyring::new();
    let get = async |key| keyring.get(key).await.unwrap().map(|secret| secret.to_string());
    // Keys that look like options, and texts that programs like to trim.
    for (key, secret) in [("key", "s3cret"), ("--help", "-x"), ("oauth/a b", " two\nlines ü \n"), ("'", "\"$HOME\"")] {
        assert_eq!(get(key).await, None, "{key}");
        assert!(!keyring.delete(key).await.unwrap(), "{key}");
        keyring.set(key, "before").await.unwrap();
        keyring.set(key, secret).await.unwrap();
        assert_eq!(get(key).await.as_deref(), Some(secret), "{key}");
        assert!(keyring.delete(key).await.unwrap(), "{key}");
        assert_eq!(get(key).await, None, "{key}");
    }
    let long = "x".repeat(8192);
    keyring.set("long", &long).await.unwrap();
    assert!(get("long").await.as_deref() == Some(&long), "a long secret came back in another shape");
    for unfit in ["", "a\0b", &format!("{long}x")] {
        assert!(
            matches!(keyring.set("key", unfit).await, Err(SecretStoreError::Unfit { .. })),
            "{} bytes",
            unfit.len()
        );
    }
    a_server_gets_it(keyring).await;
}

/// From `secret set` to the parameters of a server.
async fn a_server_gets_it(keyring: OsKeyring) {
    let declared = json!([{"type": "promptString", "id": "api-key", "description": "Key", "password": true}]);
    let sources = InputSources { keyring: Some(Arc::new(keyring)), ..InputSources::default() };
    let inputs = Inputs::new(serde_json::from_value(declared).unwrap(), sources);
    let server = json!({"name": "one", "type": "stdio",
        "server_parameters": {"command": "x", "env": {"KEY": "${input:api-key}"}}});
    let server = serde_json::from_value(server).unwrap();
    let reason = inputs.fill(&server).await.unwrap_err().to_string();
    assert!(reason.contains("secret set api-key"), "{reason}");
    inputs.keep("api-key", "s3cret").await.unwrap();
    let filled = inputs.fill(&server).await.unwrap();
    let McpTransport::Stdio(stdio) = &filled.transport else { panic!("{:?}", filled.transport) };
    assert_eq!(stdio.env.as_ref().unwrap()["KEY"], "s3cret");
    assert!(inputs.unkeep("api-key").await.unwrap());
}

#[tokio::test]
#[ignore = "runs where another test has hidden the program"]
async fn without_the_program() {
    missing("secret-tool").await;
}

#[tokio::test]
#[ignore = "runs where another test has hidden the session"]
async fn without_a_session() {
    missing("D-Bus").await;
}

async fn missing(what: &str) {
    let error = OsKeyring::new().get("key").await.unwrap_err();
    assert!(matches!(&error, SecretStoreError::Missing { reason } if reason.contains(what)), "{error}");
    // A server that could use it starts without.
    let declared = json!([{"type": "promptString", "id": "k", "password": true, "default": "d"}]);
    let sources = InputSources { keyring: Some(Arc::new(OsKeyring::new())), ..InputSources::default() };
    let inputs = Inputs::new(serde_json::from_value(declared).unwrap(), sources);
    let server = json!({"name": "one", "type": "stdio", "server_parameters": {"command": "${input:k}"}});
    assert!(inputs.fill(&serde_json::from_value(server).unwrap()).await.is_ok());
    assert!(matches!(inputs.keep("k", "s3cret").await, Err(KeepError::Store(SecretStoreError::Missing { .. }))));
}
