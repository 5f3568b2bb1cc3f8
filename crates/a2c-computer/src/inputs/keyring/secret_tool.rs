//! The Secret Service of a desktop session, through `secret-tool` of libsecret. Secrets go through its standard streams;
//! arguments, which every process can read, hold the key only.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use a2c_process::{Launch, Processes, RunError, RunLimits, RunOutput, SESSION_ENVIRONMENT};
use zeroize::Zeroizing;

use super::super::store::SecretStoreError;
use super::SERVICE;

/// How long the owner may take to unlock the keyring when the desktop asks for it, and how much the program may print.
const LIMITS: RunLimits = RunLimits { time: Duration::from_secs(60), output: 64 << 10 };

/// `secret-tool` reads that much of a secret and drops the rest without a word.
const LONGEST: usize = 8192;

/// The keyring of the session. Clones are the same.
#[derive(Debug, Clone)]
pub(super) struct SecretTool {
    /// Whose processes the runs of `secret-tool` are.
    processes: Arc<RwLock<Processes>>,
}

impl Default for SecretTool {
    fn default() -> Self {
        Self { processes: Arc::new(RwLock::new(Processes::unguarded())) }
    }
}

impl SecretTool {
    pub(super) fn run_programs_with(&self, processes: &Processes) {
        *self.processes.write().unwrap_or_else(PoisonError::into_inner) = processes.clone();
    }

    pub(super) async fn get(&self, key: &str) -> Result<Option<Zeroizing<String>>, SecretStoreError> {
        let printed = self.run("lookup", &[], key, None).await?;
        if !found(&printed)? {
            return Ok(None);
        }
        let text = str::from_utf8(&printed.stdout);
        let text = text.map_err(|_| SecretStoreError::Refused { reason: "what is kept there is no text".into() })?;
        Ok(Some(Zeroizing::new(text.to_owned())))
    }

    pub(super) async fn set(&self, key: &str, secret: &str) -> Result<(), SecretStoreError> {
        if secret.len() > LONGEST {
            return Err(SecretStoreError::Unfit { reason: "it is longer than 8,192 bytes" });
        }
        let label = format!("--label=a2c: {key}");
        let printed = self.run("store", &[&label], key, Some(secret)).await?;
        match found(&printed)? {
            true => Ok(()),
            false => Err(SecretStoreError::Refused { reason: format!("`secret-tool` failed ({})", printed.status) }),
        }
    }

    pub(super) async fn delete(&self, key: &str) -> Result<bool, SecretStoreError> {
        found(&self.run("clear", &[], key, None).await?)
    }

    async fn run(
        &self,
        verb: &str,
        options: &[&str],
        key: &str,
        secret: Option<&str>,
    ) -> Result<RunOutput, SecretStoreError> {
        let launch = Launch::new("secret-tool").args([verb]).args(options);
        let launch = launch.args(["--", "service", SERVICE, "account", key]).inheriting(&SESSION_ENVIRONMENT);
        let processes = self.processes.read().unwrap_or_else(PoisonError::into_inner).clone();
        processes.run(&launch, secret.map(str::as_bytes), LIMITS).await.map_err(|error| match error {
            RunError::Start(error) if error.kind() == std::io::ErrorKind::NotFound => SecretStoreError::Missing {
                reason: "the program `secret-tool` is not installed (Debian: libsecret-tools, Fedora: libsecret)"
                    .into(),
            },
            RunError::Start(error) | RunError::Read(error) => error.into(),
            other => SecretStoreError::Refused { reason: format!("`secret-tool` {other}") },
        })
    }
}

/// Whether there was such a key: `secret-tool` fails without a word where there is none.
fn found(printed: &RunOutput) -> Result<bool, SecretStoreError> {
    match (printed.status.success(), last_line(printed)) {
        (true, _) => Ok(true),
        (false, None) => Ok(false),
        (false, Some(reason)) => Err(refused(reason)),
    }
}

/// The last line of its standard error.
fn last_line(printed: &RunOutput) -> Option<String> {
    let text = String::from_utf8_lossy(&printed.stderr);
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

/// A session without a bus or without a service has no keyring; anything else is a refusal.
fn refused(reason: String) -> SecretStoreError {
    let missing = ["D-Bus", "org.freedesktop.secrets", "dbus"];
    match missing.iter().any(|word| reason.contains(word)) {
        true => SecretStoreError::Missing { reason },
        false => SecretStoreError::Refused { reason },
    }
}
