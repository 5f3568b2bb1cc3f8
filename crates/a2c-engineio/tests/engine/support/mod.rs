//! A server of one's own, and clients that speak in frames or in plain HTTP.

mod http;
mod server;
mod wire;

use std::time::Duration;

pub(crate) use http::{Polling, answer, exchange};
pub(crate) use server::{Server, config};
pub(crate) use wire::{Wire, frame};

/// Longer than anything here takes; only a failing test ever waits for it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for something, but not forever.
pub(crate) async fn within<F: Future>(what: &str, future: F) -> F::Output {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(output) => output,
        Err(_) => panic!("waited in vain for {what}"),
    }
}
