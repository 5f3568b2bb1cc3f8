//! Where the sockets of Computers are.

use std::fs;
use std::path::{Path, PathBuf};

use a2c_files::own_user;
use a2c_link::Seat;

use crate::seat_name::file_name_of;

/// What a socket is named at the end.
const EXTENSION: &str = "sock";

/// The folder with the sockets of this user's Computers: in `$XDG_RUNTIME_DIR`, or else where temporary files are.
pub fn folder() -> PathBuf {
    match std::env::var_os("XDG_RUNTIME_DIR").filter(|dir| Path::new(dir).is_absolute()) {
        Some(runtime) => PathBuf::from(runtime).join("a2c"),
        None => std::env::temp_dir().join(format!("a2c-{}", own_user())),
    }
}

/// The socket of a Computer in a folder.
pub fn socket_in(folder: &Path, seat: &Seat) -> PathBuf {
    folder.join(format!("{}.{EXTENSION}", file_name_of(seat)))
}

/// The sockets in a folder, live or not, in the order of their names.
pub(super) fn sockets(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_ours = |path: &PathBuf| {
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        !hidden && path.extension().is_some_and(|e| e == EXTENSION)
    };
    let mut found: Vec<_> = entries.filter(is_ours).collect();
    found.sort();
    found
}
