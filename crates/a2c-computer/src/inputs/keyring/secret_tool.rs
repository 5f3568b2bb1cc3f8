//! The Secret Service of a desktop session, through `secret-tool` of libsecret. Secrets go through its standard streams;
//! arguments, which every process can read, hold the key only.

use std::time::Duration;

use tokio::process::Command;
use zeroize::Zeroizing;

use super::super::program::{self, Printed, RunError};
use super::super::store::StoreError;
use super::SERVICE;

/// How long the owner may take to unlock the keyring when the desktop asks for it.
const LIMIT: Duration = Duration::from_secs(60);

/// `secret-tool` reads that much of a secret and drops the rest without a word.
const LONGEST: usize = 8192;

pub(super) async fn get(key: &str) -> Result<Option<Zeroizing<String>>, StoreError> {
    let printed = run("lookup", &[], key, None).await?;
    if !found(&printed)? {
        return Ok(None);
    }
    let text = str::from_utf8(&printed.stdout);
    let text = text.map_err(|_| StoreError::Refused { reason: "what is kept there is no text".into() })?;
    Ok(Some(Zeroizing::new(text.to_owned())))
}

pub(super) async fn set(key: &str, secret: &str) -> Result<(), StoreError> {
    if secret.len() > LONGEST {
        return Err(StoreError::Unfit { reason: "it is longer than 8,192 bytes" });
    }
    let label = format!("--label=a2c: {key}");
    let printed = run("store", &[&label], key, Some(secret)).await?;
    match found(&printed)? {
        true => Ok(()),
        false => Err(StoreError::Refused { reason: format!("`secret-tool` failed ({})", printed.status) }),
    }
}

pub(super) async fn delete(key: &str) -> Result<bool, StoreError> {
    found(&run("clear", &[], key, None).await?)
}

async fn run(verb: &str, options: &[&str], key: &str, secret: Option<&str>) -> Result<Printed, StoreError> {
    let mut command = Command::new("secret-tool");
    command.arg(verb).args(options).args(["--", "service", SERVICE, "account", key]);
    program::run(command, secret.map(str::as_bytes), LIMIT).await.map_err(|error| match error {
        RunError::Start(error) if error.kind() == std::io::ErrorKind::NotFound => StoreError::Missing {
            reason: "the program `secret-tool` is not installed (Debian: libsecret-tools, Fedora: libsecret)".into(),
        },
        RunError::Start(error) | RunError::Read(error) => error.into(),
        other @ (RunError::TooSlow(_) | RunError::TooMuch) => {
            StoreError::Refused { reason: format!("`secret-tool` {other}") }
        }
    })
}

/// Whether there was such a key: that there was none is told as a failure without a word.
fn found(printed: &Printed) -> Result<bool, StoreError> {
    match (printed.status.success(), said(printed)) {
        (true, _) => Ok(true),
        (false, None) => Ok(false),
        (false, Some(reason)) => Err(refused(reason)),
    }
}

/// The last line of what it said.
fn said(printed: &Printed) -> Option<String> {
    let text = String::from_utf8_lossy(&printed.stderr);
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

/// A session without a bus or without a service has no keyring; anything else is a refusal.
fn refused(reason: String) -> StoreError {
    let missing = ["D-Bus", "org.freedesktop.secrets", "dbus"];
    match missing.iter().any(|word| reason.contains(word)) {
        true => StoreError::Missing { reason },
        false => StoreError::Refused { reason },
    }
}
