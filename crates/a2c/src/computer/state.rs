//! What a Computer remembers from one run to the next, and where.

use std::path::PathBuf;

use a2c_computer::{Seat, file_name_of};
use a2c_files::create_private_folder;
use anyhow::{Context as _, Result};

/// What `--state` and `--control` take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathOrNone {
    None,
    At(PathBuf),
}

impl PathOrNone {
    /// `none`, or a path.
    #[expect(clippy::unnecessary_wraps, reason = "a parser of arguments may fail")]
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        Ok(if text == "none" { Self::None } else { Self::At(text.into()) })
    }
}

/// The folder that is there to be used. The usual folder does not have to work: the owner did not ask for it.
pub(super) fn folder(place: Option<&PathOrNone>, seat: &Seat) -> Result<Option<PathBuf>> {
    match place {
        Some(PathOrNone::None) => Ok(None),
        Some(PathOrNone::At(folder)) => {
            create_private_folder(folder).with_context(|| format!("cannot use {} for --state", folder.display()))?;
            Ok(Some(folder.clone()))
        }
        None => {
            let Some(folder) = usual(seat) else { return Ok(None) };
            match create_private_folder(&folder) {
                Ok(()) => Ok(Some(folder)),
                Err(error) => {
                    tracing::warn!(folder = %folder.display(), %error, "nothing is remembered beyond this run");
                    Ok(None)
                }
            }
        }
    }
}

/// `computers/NAME@OFFICE`, among what programs of this user remember.
fn usual(seat: &Seat) -> Option<PathBuf> {
    let absolute = |variable: &str| std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(base.join("a2c/computers").join(file_name_of(seat)))
}
