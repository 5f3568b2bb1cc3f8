//! Stopping on SIGINT and SIGTERM.

/// Waits until somebody wants the program to end. A second signal ends it at once.
pub(crate) async fn requested() -> anyhow::Result<()> {
    signal().await?;
    tokio::spawn(async {
        if signal().await.is_ok() {
            std::process::exit(130);
        }
    });
    Ok(())
}

#[cfg(unix)]
async fn signal() -> anyhow::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}

#[cfg(not(unix))]
async fn signal() -> anyhow::Result<()> {
    Ok(tokio::signal::ctrl_c().await?)
}
