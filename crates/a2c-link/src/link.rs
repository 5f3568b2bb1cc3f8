//! One connection to a hub.

use std::sync::Arc;
use std::time::Duration;

use a2c_protocol::office::{JoinOfficeReq, LeaveOfficeReq};
use a2c_protocol::{ErrorBody, Role, event};
use a2c_socketio::{Client, Closed, Inbox, Payload};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::answer;
use crate::error::{ConnectError, JoinError, RefusalContext, RequestError};
use crate::link_ended::LinkEnded;
use crate::options::LinkOptions;

/// How long the hub may take to answer a request of its own.
const HUB_LIMIT: Duration = Duration::from_secs(30);

/// How long the lost connection of this side may keep the seat: the hub detects the loss by its pings.
const STALE_SEAT: Duration = Duration::from_secs(60);

/// A connection to a hub in one role. Cheap to clone.
#[derive(Clone)]
pub struct Link {
    client: Client,
    role: Role,
    refusal_context: Arc<RefusalContext>,
}

/// The seat to take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seat {
    /// In which office.
    pub office: String,
    /// Under which name.
    pub name: String,
}

impl Link {
    /// Connects to a hub. The events of the hub arrive in the inbox, in order.
    pub async fn connect(options: &LinkOptions, role: Role) -> Result<(Self, Inbox), ConnectError> {
        let refusal_context = Arc::new(options.refusal_context());
        let (client, inbox) =
            Client::connect(options.socket(role)?).await.map_err(|error| refusal_context.explain(error))?;
        Ok((Self { client, role, refusal_context }, inbox))
    }

    /// Explains why the inbox ended.
    pub fn ended(&self, closed: Closed) -> LinkEnded {
        LinkEnded::new(closed, self.role, &self.refusal_context)
    }

    /// Takes a seat.
    pub async fn join(&self, seat: &Seat) -> Result<(), JoinError> {
        let Seat { office, name } = seat.clone();
        let request = JoinOfficeReq { role: self.role, name, office_id: office };
        self.office(event::JOIN_OFFICE, &request).await
    }

    /// Takes the seat again after a lost connection. The hub refuses until it has detected the loss of the old connection,
    /// so this asks again for a while.
    pub async fn rejoin(&self, seat: &Seat) -> Result<(), JoinError> {
        let give_up = tokio::time::Instant::now() + STALE_SEAT;
        let mut pause = Duration::from_millis(250);
        loop {
            match self.join(seat).await {
                Err(JoinError::OfficeFull(reason) | JoinError::Refused(reason))
                    if tokio::time::Instant::now() + pause < give_up =>
                {
                    tracing::debug!(reason, "seat still taken");
                }
                outcome => return outcome,
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(4));
        }
    }

    /// Gives the seat up.
    pub async fn leave(&self, office: &str) -> Result<(), JoinError> {
        self.office(event::LEAVE_OFFICE, &LeaveOfficeReq { office_id: office.to_owned() }).await
    }

    async fn office(&self, event: &str, request: &impl Serialize) -> Result<(), JoinError> {
        let answer = self.call(event, request, HUB_LIMIT).await?;
        match (answer.get::<bool>(0), answer.get::<Option<String>>(1)) {
            (Ok(true), _) => Ok(()),
            (Ok(false), Ok(Some(reason))) => Err(JoinError::from_text(reason)),
            _ => match answer.get::<ErrorBody>(0) {
                Ok(error) => Err(error.into()),
                Err(_) => Err(JoinError::Refused("the hub refused without a reason".into())),
            },
        }
    }

    /// Sends a request and decodes its answer.
    pub async fn request<T: DeserializeOwned + Send + 'static>(
        &self,
        event: &str,
        request: &impl Serialize,
        limit: Duration,
    ) -> Result<T, RequestError> {
        answer::decode(self.call(event, request, limit).await?).await
    }

    async fn call(&self, event: &str, request: &impl Serialize, limit: Duration) -> Result<Payload, RequestError> {
        Ok(self.client.call(event, encode(request)?, limit).await?)
    }

    /// Sends an event without an answer.
    pub async fn emit(&self, event: &str, message: &impl Serialize) -> Result<(), RequestError> {
        Ok(self.client.emit(event, encode(message)?).await?)
    }

    /// Ends the connection.
    pub async fn close(&self) {
        self.client.close().await;
    }
}

fn encode(message: &impl Serialize) -> Result<Payload, RequestError> {
    Payload::json(message).map_err(|e| RequestError::Arguments(e.to_string()))
}
