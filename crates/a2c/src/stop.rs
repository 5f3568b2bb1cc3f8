//! Signals: stopping on SIGINT, SIGTERM and SIGHUP, and what else a hub hears.

use std::future::Future;
use std::io;

/// What a shell says of a command that Ctrl-C ended.
pub(crate) const INTERRUPTED: u8 = 130;

/// Resolves when a signal asks the program to end; from the call on, signals no longer end it by themselves.
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

/// What a signal asks of a running hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HubSignal {
    /// To end, on SIGINT and SIGTERM.
    Stop,
    /// To read the TLS files again, on SIGHUP: a hub is a service, which no terminal takes along when it closes.
    #[cfg_attr(not(unix), expect(dead_code, reason = "there is no such signal"))]
    Reload,
    /// To reopen the audit log, on SIGUSR1.
    #[cfg_attr(not(unix), expect(dead_code, reason = "there is no such signal"))]
    ReopenAudit,
}

/// The signals of a hub. From [`HubSignals::listen`] on, none of them ends the program by itself.
#[cfg(unix)]
pub(crate) struct HubSignals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
    user: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl HubSignals {
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            user: signal(SignalKind::user_defined1())?,
        })
    }

    /// The next one.
    pub(crate) async fn next(&mut self) -> HubSignal {
        tokio::select! {
            _ = self.interrupt.recv() => HubSignal::Stop,
            _ = self.terminate.recv() => HubSignal::Stop,
            _ = self.hangup.recv() => HubSignal::Reload,
            _ = self.user.recv() => HubSignal::ReopenAudit,
        }
    }
}

/// The signals of a hub: Ctrl-C.
#[cfg(not(unix))]
pub(crate) struct HubSignals;

#[cfg(not(unix))]
impl HubSignals {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    /// The next one.
    pub(crate) async fn next(&mut self) -> HubSignal {
        let _ = tokio::signal::ctrl_c().await;
        HubSignal::Stop
    }
}
