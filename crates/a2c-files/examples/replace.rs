//! Replaces a file while another thread reads it: each read sees one whole content.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::io;
use std::thread;

use a2c_files::{Root, replace};

fn main() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("state/list");
    replace(&path, &[b'0'; 100_000])?;
    let root = Root::open(&folder.path().join("state"))?;

    let writer = thread::spawn(move || (b'1'..=b'9').try_for_each(|digit| replace(&path, &[digit; 100_000])));
    let mut last = None;
    while last != Some('9') {
        let file = root.open_file("list".as_ref()).map_err(io::Error::other)?;
        let content = io::read_to_string(file)?;
        let first = content.chars().next();
        assert!(content.len() == 100_000 && content.chars().all(|digit| Some(digit) == first), "one whole content");
        if first != last {
            println!("read {} times {}", content.len(), first.unwrap_or_default());
            last = first;
        }
    }
    writer.join().map_err(|_| io::Error::other("the writer panicked"))?
}
