//! The environment that inputs are looked up in.

use std::collections::BTreeMap;
use std::fmt;

use zeroize::Zeroizing;

/// Where environment variables come from.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Environment {
    /// The environment of this process.
    #[default]
    Process,
    /// These variables and no others.
    Only(BTreeMap<String, String>),
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process => f.write_str("Process"),
            Self::Only(variables) => f.debug_tuple("Only").field(&variables.keys().collect::<Vec<_>>()).finish(),
        }
    }
}

impl Environment {
    /// A variable that is set to a text; it may be empty.
    pub(super) fn get(&self, variable: &str) -> Option<Zeroizing<String>> {
        match self {
            // The name comes from a file, and some names make the system's lookup panic.
            Self::Process if variable.is_empty() || variable.contains(['=', '\0']) => None,
            Self::Process => std::env::var(variable).ok().map(Zeroizing::new),
            Self::Only(variables) => variables.get(variable).cloned().map(Zeroizing::new),
        }
    }

    /// The home folder of the user.
    pub(super) fn home(&self) -> Option<String> {
        match self {
            Self::Process => std::env::home_dir()?.into_os_string().into_string().ok(),
            Self::Only(variables) => variables.get(if cfg!(windows) { "USERPROFILE" } else { "HOME" }).cloned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_cannot_be_are_not_set() {
        for name in ["", "a=b", "a\0b", "A2C_SURELY_NOT_SET"] {
            assert!(Environment::Process.get(name).is_none(), "{name:?}");
        }
    }
}
