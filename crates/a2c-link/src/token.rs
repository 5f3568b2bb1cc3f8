//! The token for a hub, and its file.
//!
//! A token in a file can be renewed while a role runs: the file is read before every handshake. At the start an unreadable
//! file is an error; later the last token is used again, and a warning is logged.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use a2c_secrets::Secret;

/// The longest token that a hub reads, in bytes.
const MAX_TOKEN: u64 = 16 << 10;

/// A token, or the file that holds it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Token {
    /// The token itself.
    Value(Secret),
    /// A file that holds the token, with or without white space around it. It is read for every connection, so that a
    /// renewed token is used. A refused token does not end the attempts, since the file may be renewed at any moment.
    File(PathBuf),
}

impl From<Secret> for Token {
    fn from(value: Secret) -> Self {
        Self::Value(value)
    }
}

impl From<String> for Token {
    fn from(value: String) -> Self {
        Self::Value(value.into())
    }
}

impl From<&str> for Token {
    fn from(value: &str) -> Self {
        Self::Value(value.into())
    }
}

/// Why a file gives no token. No variant holds the content.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenFileError {
    /// It cannot be read.
    #[error("cannot read the token file {}: {source}", path.display())]
    Unreadable {
        /// Which one.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It holds only white space.
    #[error("the token file {} is empty: write the hub's token into it", path.display())]
    Empty {
        /// Which one.
        path: PathBuf,
    },
    /// It is longer than any token.
    #[error("the token file {} has more than {MAX_TOKEN} bytes: is it the right file?", path.display())]
    TooLarge {
        /// Which one.
        path: PathBuf,
    },
}

fn read(path: &Path) -> Result<Secret, TokenFileError> {
    let unreadable = |source| TokenFileError::Unreadable { path: path.to_owned(), source };
    let mut text = String::new();
    let mut file = File::open(path).map_err(unreadable)?.take(MAX_TOKEN + 1);
    file.read_to_string(&mut text).map_err(unreadable)?;
    match text.trim() {
        "" => Err(TokenFileError::Empty { path: path.to_owned() }),
        _ if text.len() as u64 > MAX_TOKEN => Err(TokenFileError::TooLarge { path: path.to_owned() }),
        token => Ok(Secret::new(token)),
    }
}

/// The token of one connection, through all its handshakes.
pub(crate) enum Credential {
    None,
    Fixed(Secret),
    Renewable { path: PathBuf, last: Mutex<LastToken> },
}

/// The last token of a file.
pub(crate) struct LastToken {
    token: Secret,
    /// Whether the file is unusable and that was logged.
    is_stale: bool,
}

impl Credential {
    pub(crate) fn new(token: Option<&Token>) -> Result<Self, TokenFileError> {
        Ok(match token {
            None => Self::None,
            Some(Token::Value(token)) => Self::Fixed(token.clone()),
            Some(Token::File(path)) => {
                let last = Mutex::new(LastToken { token: read(path)?, is_stale: false });
                Self::Renewable { path: path.clone(), last }
            }
        })
    }

    /// The file that may hold another token soon.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Self::Renewable { path, .. } => Some(path),
            _ => None,
        }
    }

    /// The token for the next handshake.
    pub(crate) fn token(&self) -> Option<Secret> {
        match self {
            Self::None => None,
            Self::Fixed(token) => Some(token.clone()),
            Self::Renewable { path, last } => {
                let mut last = lock(last);
                match read(path) {
                    Ok(token) => *last = LastToken { token, is_stale: false },
                    Err(error) if !last.is_stale => {
                        tracing::warn!("using the last token again: {error}");
                        last.is_stale = true;
                    }
                    Err(_) => {}
                }
                Some(last.token.clone())
            }
        }
    }
}

fn lock(last: &Mutex<LastToken>) -> MutexGuard<'_, LastToken> {
    last.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(credential: &Credential) -> Option<String> {
        credential.token().map(|token| token.expose().to_owned())
    }

    #[test]
    fn a_file_is_read_again_and_survives_being_gone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        std::fs::write(&path, "  one\n").unwrap();
        let credential = Credential::new(Some(&Token::File(path.clone()))).ok().unwrap();
        assert_eq!(shown(&credential).as_deref(), Some("one"));
        std::fs::write(&path, "two").unwrap();
        assert_eq!(shown(&credential).as_deref(), Some("two"));
        for broken in [None, Some("\n".to_owned()), Some("x".repeat(20_000))] {
            match broken {
                None => std::fs::remove_file(&path).unwrap(),
                Some(text) => std::fs::write(&path, text).unwrap(),
            }
            assert_eq!(shown(&credential).as_deref(), Some("two"));
        }
        std::fs::write(&path, "three").unwrap();
        assert_eq!(shown(&credential).as_deref(), Some("three"));
    }

    #[test]
    fn a_file_without_a_token_is_told_and_not_shown() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        let problem = || Credential::new(Some(&Token::File(path.clone()))).err().unwrap().to_string();
        assert!(problem().starts_with("cannot read the token file"), "{}", problem());
        std::fs::write(&path, " \n").unwrap();
        assert!(problem().contains("is empty"), "{}", problem());
        std::fs::write(&path, "s3cret".repeat(4000)).unwrap();
        assert!(problem().contains("16384 bytes") && !problem().contains("s3cret"), "{}", problem());
        std::fs::write(&path, b"s3cret\xff").unwrap();
        assert!(problem().contains("UTF-8") && !problem().contains("s3cret"), "{}", problem());
    }
}
