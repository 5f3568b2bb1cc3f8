//! Waiting for what only a look from outside shows.

use std::time::{Duration, Instant};

/// How long a test waits for what has to happen: long enough for a machine that is busy with other tests.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Looks again and again until `holds`.
///
/// # Panics
/// When it does not hold within [`PATIENCE`]; the message says `what`.
#[track_caller]
pub fn until(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits for a future.
///
/// # Panics
/// When it does not complete within [`PATIENCE`]; the message says `what`.
#[cfg(feature = "time")]
pub async fn within<F: Future>(what: &str, future: F) -> F::Output {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(output) => output,
        Err(_) => panic!("waited in vain for {what}"),
    }
}
