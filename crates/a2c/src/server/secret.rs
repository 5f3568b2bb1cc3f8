//! Secrets: where they are, and reading them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use a2c_agent::Secret;

use super::problem::ServerProblem;

/// The longest secret that is read, so that a path to something else is no trouble.
pub(crate) const MAX_SECRET: u64 = 64 << 10;

/// The secrets that are given in environment variables only, and never as a flag.
#[derive(Debug, Clone, Default)]
pub(crate) struct SecretVariables {
    /// `A2C_JWT_SECRET`
    pub(crate) jwt_secret: Option<Secret>,
    /// `A2C_ADMIN_TOKEN`
    pub(crate) admin_token: Option<Secret>,
    /// `A2C_OTLP_HEADERS`
    pub(crate) otlp_headers: Option<HeaderText>,
}

impl SecretVariables {
    /// Reads the environment.
    pub(crate) fn read() -> Self {
        // A value that is not UTF-8 must not count as unset: it fails where it is used.
        let secret = |name| std::env::var_os(name).map(|value| Secret::new(value.to_string_lossy()));
        Self {
            jwt_secret: secret("A2C_JWT_SECRET"),
            admin_token: secret("A2C_ADMIN_TOKEN"),
            // An empty list of headers is valid.
            otlp_headers: secret("A2C_OTLP_HEADERS").filter(|text| !text.expose().is_empty()).map(HeaderText),
        }
    }
}

/// Headers as they are written in an environment variable.
#[derive(Debug, Clone)]
pub(crate) struct HeaderText(pub(crate) Secret);

impl HeaderText {
    /// One per line; in a single line, separated by commas.
    pub(crate) fn headers(&self) -> Option<Vec<(String, Secret)>> {
        let text = self.0.expose().trim();
        let separator = if text.contains('\n') { '\n' } else { ',' };
        let pairs = text.split(separator).map(str::trim).filter(|pair| !pair.is_empty());
        pairs
            .map(|pair| {
                let (name, value) = pair.split_once('=')?;
                let name = name.trim();
                (!name.is_empty()).then(|| (name.to_owned(), Secret::new(value.trim())))
            })
            .collect()
    }
}

/// Where a secret is.
#[derive(Debug, Clone)]
pub(crate) enum SecretSource {
    /// Here.
    GivenSettings {
        /// What the setting is called.
        setting: String,
        /// The secret.
        secret: Secret,
    },
    /// In a file of its own.
    File {
        /// What the setting is called.
        setting: String,
        /// The file.
        path: PathBuf,
    },
}

impl SecretSource {
    /// What the setting is called.
    pub(crate) fn setting(&self) -> &str {
        match self {
            Self::GivenSettings { setting, .. } | Self::File { setting, .. } => setting,
        }
    }

    /// A path may be shown; a secret may not.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::GivenSettings { .. } => "***".to_owned(),
            Self::File { path, .. } => format!("*** in {}", path.display()),
        }
    }

    /// Reads it. White space around a secret in a file, the end of its line above all, is not part of it.
    pub(crate) fn read(&self, warnings: &mut Vec<String>) -> Result<Secret, ServerProblem> {
        let secret = match self {
            Self::GivenSettings { secret, .. } => secret.clone(),
            Self::File { setting, path } => {
                let failed =
                    |source| ServerProblem::Unreadable { setting: setting.clone(), path: path.clone(), source };
                let text = read_at_most(MAX_SECRET, path).map_err(failed)?;
                if is_open_to_others(path) {
                    let path = path.display();
                    warnings.push(format!("every user of this machine can read {path} ({setting}): chmod o-r {path}"));
                }
                Secret::new(text.trim())
            }
        };
        if secret.expose().is_empty() { Err(ServerProblem::Empty(self.setting().to_owned())) } else { Ok(secret) }
    }
}

/// The text of a file that is not longer than so many bytes.
pub(crate) fn read_at_most(limit: u64, path: &Path) -> io::Result<String> {
    if fs::metadata(path)?.len() > limit {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("it is longer than {limit} bytes")));
    }
    fs::read_to_string(path)
}

/// Whether every user of the machine can read a file.
#[cfg(unix)]
pub(crate) fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o004 != 0)
}

/// Whether every user of the machine can read a file: not known here.
#[cfg(not(unix))]
pub(crate) fn is_open_to_others(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_one_per_line_or_separated_by_commas() {
        let headers = |text: &str| {
            let headers = HeaderText(Secret::new(text)).headers()?;
            Some(headers.into_iter().map(|(name, value)| format!("{name}: {}", value.expose())).collect::<Vec<_>>())
        };
        for (text, expected) in [
            ("", Some(&[][..])),
            ("a=1", Some(&["a: 1"])),
            ("a=1, b = x=y ,", Some(&["a: 1", "b: x=y"])),
            ("a=1,2\nb=3\n", Some(&["a: 1,2", "b: 3"])),
            ("a", None),
            ("=1", None),
        ] {
            let expected = expected.map(|all| all.iter().map(|&one| one.to_owned()).collect::<Vec<_>>());
            assert_eq!(headers(text), expected, "{text}");
        }
    }
}
