//! Tells the format of a file by its name and its first bytes: of this program's own source, or of a file that is named.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::io::Read as _;
use std::path::PathBuf;

use a2c_documents::{FileType, Source};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"), PathBuf::from);
    let mut head = Vec::new();
    Source::open(&path)?.reader()?.take(4096).read_to_end(&mut head)?;
    let kind = FileType::detect(&path, &head).map_or("unknown", FileType::as_str);
    println!("{}: {kind}", path.display());
    Ok(())
}
