//! The library's transport, within bounds: a server that is owed too many answers is not listened to, and large answers
//! take another way.

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;

use super::large_answers::LargeAnswers;
use crate::owed::OwedAnswers;

/// The library's transport to one server.
pub(super) struct StreamableTransport<T> {
    inner: T,
    owed: OwedAnswers,
    large: LargeAnswers,
}

impl<T> StreamableTransport<T> {
    pub(super) fn new(inner: T, large: LargeAnswers) -> Self {
        Self { inner, owed: OwedAnswers::default(), large }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for StreamableTransport<T> {
    type Error = T::Error;

    fn send(&mut self, message: ClientJsonRpcMessage) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        let waiting = self.owed.write(&message, 0);
        let sending = self.inner.send(message);
        async move {
            let _waiting = waiting;
            sending.await
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            // A request that is not answered ends with its time limit: this does not wait for ever.
            self.owed.bearable().await;
            let message = self.inner.receive().await?;
            if self.owed.take_in(&message) {
                return Some(self.large.put_back(message));
            }
        }
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.inner.close().await
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    /// A server that asks for ever.
    #[derive(Default)]
    struct Asks(usize);

    impl Transport<RoleClient> for Asks {
        type Error = Infallible;

        fn send(&mut self, _: ClientJsonRpcMessage) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
            std::future::ready(Ok(()))
        }

        async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
            self.0 += 1;
            serde_json::from_value(json!({"jsonrpc": "2.0", "id": self.0, "method": "ping"})).ok()
        }

        async fn close(&mut self) -> Result<(), Infallible> {
            Ok(())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_is_not_read_while_it_is_owed_too_many_answers() {
        let mut transport = StreamableTransport::new(Asks::default(), LargeAnswers::default());
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        transport.send(serde_json::from_value(initialized).unwrap()).await.unwrap();
        let day = Duration::from_secs(86_400);
        for _ in 0..257 {
            assert!(tokio::time::timeout(day, transport.receive()).await.unwrap().is_some());
        }
        assert!(tokio::time::timeout(day, transport.receive()).await.is_err());
        let pong = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
        transport.send(serde_json::from_value(pong).unwrap()).await.unwrap();
        assert!(tokio::time::timeout(day, transport.receive()).await.unwrap().is_some());
    }
}
