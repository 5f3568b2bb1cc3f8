//! Foreign peers for the tests: Python and Node environments, processes that end with their owner.
//!
//! Used by tests and automation only. It must not depend on any other crate of the workspace,
//! and it panics instead of returning errors: a test that cannot have its peer has failed, and
//! the message says what to do about it.

#[cfg(feature = "authority")]
mod authority;
mod environment;
mod node;
mod peer;
pub mod processes;
mod python;
mod wait;

use std::path::PathBuf;

#[cfg(feature = "authority")]
pub use authority::{Authority, certificate_params};
pub use node::{NodeEnv, node};
pub use peer::Peer;
pub use python::{python, python_program, python_script};
#[cfg(feature = "time")]
pub use wait::within;
pub use wait::{PATIENCE, until};

/// How often a test under load repeats what it does: a tenth of `all`, or all of it with `A2C_TEST_LOAD=full`.
pub fn rounds(all: usize) -> usize {
    let full = std::env::var_os("A2C_TEST_LOAD").is_some_and(|load| load == "full");
    if full { all } else { all / 10 }
}

/// The folder of the workspace.
pub fn workspace_root() -> PathBuf {
    let crate_dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = crate_dir.ancestors().nth(2);
    root.expect("this crate lives two folders below the workspace").to_owned()
}

/// Prepares every environment, so that the first test to need one does not have to.
pub fn setup_all() {
    python();
    node();
}
