//! What is going on, on standard error: one line that changes on a terminal, a line now and then elsewhere.

use std::cell::Cell;
use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

/// How often something is said where lines stay.
const SELDOM: Duration = Duration::from_secs(30);

/// Tells what is going on.
pub struct Progress {
    terminal: bool,
    said: Cell<Instant>,
}

impl Progress {
    pub fn new() -> Self {
        Self { terminal: stderr().is_terminal(), said: Cell::new(Instant::now()) }
    }

    /// Says what is being done now.
    pub fn say(&self, what: &str) {
        if self.terminal {
            eprint!("\r\x1b[2K{what}");
            let _ = stderr().flush();
        } else if self.said.get().elapsed() >= SELDOM {
            eprintln!("{what}");
            self.said.set(Instant::now());
        }
    }

    /// Makes room for a result.
    pub fn clear(&self) {
        if self.terminal {
            eprint!("\r\x1b[2K");
            let _ = stderr().flush();
        }
    }

    /// A result, on standard output.
    pub fn print(&self, line: impl std::fmt::Display) {
        self.clear();
        println!("{line}");
    }
}
