//! Why a file, or a part of it, cannot be read.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Which kind of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnreadableCode {
    /// It wants a password.
    Encrypted,
    /// Its structure is broken.
    Corrupt,
    /// It, or what it unpacks to, is beyond a limit.
    TooLarge,
    /// No reader knows it.
    Unsupported,
    /// The system does not let it be read.
    Unreadable,
    /// Reading took too long.
    Timeout,
}

impl UnreadableCode {
    /// Its name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Encrypted => "encrypted",
            Self::Corrupt => "corrupt",
            Self::TooLarge => "too_large",
            Self::Unsupported => "unsupported",
            Self::Unreadable => "unreadable",
            Self::Timeout => "timeout",
        }
    }
}

/// Why a file, or a part of it, cannot be read: what happened and, where something helps, what does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadableFile {
    /// Which kind of failure it is.
    pub code: UnreadableCode,
    /// A sentence for people.
    pub message: String,
}

impl UnreadableFile {
    /// A failure of a kind.
    pub fn new(code: UnreadableCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// The structure is broken.
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self::new(UnreadableCode::Corrupt, message)
    }

    /// A limit is exceeded.
    pub fn too_large(message: impl Into<String>) -> Self {
        Self::new(UnreadableCode::TooLarge, message)
    }
}

impl fmt::Display for UnreadableFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for UnreadableFile {}
