//! A way to the hub that can be cut.

use std::net::SocketAddr;

use a2c_hub::Hub;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

/// Passes everything on, until it is cut; then until it is cut again.
pub(crate) struct Proxy {
    pub(crate) url: String,
    cuts: tokio::sync::watch::Sender<CancellationToken>,
    /// Ends the listener with the test.
    _stop: tokio_util::sync::DropGuard,
}

impl Proxy {
    pub(crate) async fn to(hub: &Hub) -> Self {
        let target: SocketAddr = hub.url().trim_start_matches("http://").parse().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (cuts, current) = tokio::sync::watch::channel(CancellationToken::new());
        let stop = CancellationToken::new();
        tokio::spawn(stop.clone().run_until_cancelled_owned(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                let cut = current.borrow().clone();
                tokio::spawn(cut.run_until_cancelled_owned(async move {
                    let mut far = TcpStream::connect(target).await?;
                    tokio::io::copy_bidirectional(&mut near, &mut far).await
                }));
            }
        }));
        Self { url, cuts, _stop: stop.drop_guard() }
    }

    /// Ends all connections; new ones are taken.
    pub(crate) fn cut(&self) {
        self.cuts.send_replace(CancellationToken::new()).cancel();
    }
}
