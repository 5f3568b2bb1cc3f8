//! The crate as its users see it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod lock;
mod new_file;
#[cfg(unix)]
mod private;
#[cfg(unix)]
mod root;
#[cfg(unix)]
mod trusted;

/// The names in a folder, in order.
fn names(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[cfg(unix)]
fn mode(path: &std::path::Path) -> u32 {
    std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(path).unwrap()) & 0o7777
}
