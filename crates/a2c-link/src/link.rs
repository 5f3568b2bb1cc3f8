//! One connection to a hub.

use std::sync::Arc;
use std::time::Duration;

use a2c_protocol::office::{JoinOfficeReq, LeaveOfficeReq};
use a2c_protocol::{ErrorBody, Role, answer, event};
use a2c_socketio::{Client, Closed, Inbox, Payload};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{ConnectError, JoinError, RefusalContext, RequestError};
use crate::link_ended::LinkEnded;
use crate::options::LinkOptions;

/// How long the hub itself may take to answer.
const HUB_LIMIT: Duration = Duration::from_secs(30);

/// How long a seat may stay taken by our own lost connection: the hub notices that one by its pings.
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
    /// Connects; what the hub sends arrives in the inbox, in order.
    pub async fn connect(options: &LinkOptions, role: Role) -> Result<(Self, Inbox), ConnectError> {
        let refusal_context = Arc::new(options.refusal_context());
        let (client, inbox) =
            Client::connect(options.socket(role)?).await.map_err(|error| refusal_context.explain(error))?;
        Ok((Self { client, role, refusal_context }, inbox))
    }

    /// What the end of the inbox means.
    pub fn ended(&self, closed: Closed) -> LinkEnded {
        LinkEnded::new(closed, self.role, &self.refusal_context)
    }

    /// Takes a seat.
    pub async fn join(&self, seat: &Seat) -> Result<(), JoinError> {
        let Seat { office, name } = seat.clone();
        let request = JoinOfficeReq { role: self.role, name, office_id: office };
        self.office(event::JOIN_OFFICE, &request).await
    }

    /// Takes the seat again after a lost connection. The hub may hold the old one for a while, until it has noticed the
    /// loss; until then it refuses, and asking again is right.
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

    /// Asks something and decodes the answer.
    pub async fn request<T: DeserializeOwned>(
        &self,
        event: &str,
        request: &impl Serialize,
        limit: Duration,
    ) -> Result<T, RequestError> {
        let payload = self.call(event, request, limit).await?;
        let first = payload.raw(0).ok_or_else(|| RequestError::WrongShape("the answer is empty".into()))?;
        Ok(answer::decode(first.get())?)
    }

    async fn call(&self, event: &str, request: &impl Serialize, limit: Duration) -> Result<Payload, RequestError> {
        Ok(self.client.call(event, encode(request)?, limit).await?)
    }

    /// Says something that needs no answer.
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
