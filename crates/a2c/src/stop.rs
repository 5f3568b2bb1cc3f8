//! Stopping on SIGINT, SIGTERM and SIGHUP.

use std::future::Future;
use std::io;

/// Resolves when somebody wants the program to end; from the call on, signals no longer end it by themselves.
///
/// Stopping takes a few seconds at most. It is not cut short by a second signal, because that would leave the processes
/// of MCP servers behind.
#[cfg(unix)]
pub(crate) fn requested() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut signals =
        [signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?, signal(SignalKind::hangup())?];
    Ok(async move {
        let [interrupt, terminate, hangup] = &mut signals;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}

#[cfg(not(unix))]
pub(crate) fn requested() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}
