//! Files that are whole or absent, private to their owner, locked, or opened beneath a root.
//!
//! [`replace`] and [`NewFile`] write a file aside and rename it: a reader, a crash or a power cut finds the old content or
//! the new one. [`create_private_folder`] and [`private_options`] keep other users out. [`lock_file`] and [`FolderLock`] let
//! one process at a time work on a file or in a folder. [`Root`] opens files beneath a folder and none outside.
//!
//! This crate blocks: an asynchronous caller uses a thread for it. It knows no format, no configuration and no protocol.

mod lock;
mod new_file;
mod private;
mod root;
mod sync;
#[cfg(unix)]
mod trusted;

#[cfg(unix)]
pub use lock::FolderLock;
pub use lock::{LockError, lock_file};
pub use new_file::{NewFile, replace, replace_target};
pub use private::{create_private_folder, is_private, private_options};
pub use root::{OpenBeneathError, Root};
#[cfg(unix)]
pub use trusted::{FolderError, FolderFlaw, is_trusted_user, own_user, trusted_folder};

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
