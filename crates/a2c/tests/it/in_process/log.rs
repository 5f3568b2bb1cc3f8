//! What this process logs.

use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The log since it was first asked for. One for the whole process: look for what is there, not for what is not.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Begins to keep the log; tests that run in one process share it.
    pub(crate) fn keep() -> Self {
        Self::keep_what("warn")
    }

    /// The same with all that the program logs at most, if no other test of the process began before.
    pub(crate) fn keep_all() -> Self {
        Self::keep_what("rmcp=error,debug")
    }

    fn keep_what(filter: &str) -> Self {
        static KEPT: OnceLock<Log> = OnceLock::new();
        let keep = || {
            let log = Self::default();
            let writer = log.clone();
            let subscriber = tracing_subscriber::fmt().with_ansi(false).with_env_filter(filter);
            subscriber.with_writer(move || writer.clone()).init();
            log
        };
        KEPT.get_or_init(keep).clone()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

impl io::Write for Log {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
