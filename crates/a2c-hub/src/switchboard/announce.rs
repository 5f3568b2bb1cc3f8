//! Announcements of a member to the others of its office, and their delivery.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use a2c_engineio::{OutgoingMessage, SharedMessage};
use a2c_protocol::notification::ToolCallCancel;
use a2c_protocol::office::MAX_NAME;
use a2c_protocol::{ErrorBody, ErrorCode, Role, event, request};
use bytes::Bytes;
use serde_json::value::RawValue;
use tokio::sync::Notify;

use super::announcements::TooManyWaiting;
use super::member::TakenSeat;
use super::office_room::OfficeRoom;
use super::reply::event_packet;
use super::routing::{in_no_office, rest_of};
use super::{Mailbox, ReceivedPacket, Sender, Switchboard, bad_request};
use crate::metrics::LimitKind;
use crate::route::envelope::{Announcement, stamp};

/// How often the announcements that wait are looked at.
const PACE: Duration = Duration::from_millis(20);

/// The memory that an announcement takes for each receiver, apart from its bytes.
const PER_RECEIVER: usize = 64;

/// Longer texts are not compared with what waits.
const MAX_COMPARED: usize = 4 << 10;

/// The announcements that one task delivers in a row; the rest is left to the task that looks after them.
const MANY: usize = 64;

/// The offices with announcements that wait.
pub(super) struct WaitingRooms<M> {
    rooms: Mutex<Vec<Arc<OfficeRoom<M>>>>,
    is_some: Notify,
}

impl<M> Default for WaitingRooms<M> {
    fn default() -> Self {
        Self { rooms: Mutex::default(), is_some: Notify::new() }
    }
}

impl<M> WaitingRooms<M> {
    fn add(&self, room: Arc<OfficeRoom<M>>) {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner).push(room);
        self.is_some.notify_one();
    }

    fn take(&self) -> Vec<Arc<OfficeRoom<M>>> {
        std::mem::take(&mut *self.rooms.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<M: Mailbox> Switchboard<M> {
    pub(super) fn update(
        &self,
        sender: &Sender<'_, M>,
        what: &str,
        payload: &RawValue,
        packet: ReceivedPacket<'_>,
    ) -> Result<(), ErrorBody> {
        if what.len() > MAX_NAME {
            return Err(ErrorBody::bad_request(format!("the name of an update is no longer than {MAX_NAME} bytes")));
        }
        let announcement = Announcement::parse(payload).map_err(|error| bad_request(&error))?;
        let taken = sender.member.seat().ok_or_else(in_no_office)?;
        let seat = &taken.seated.seat;
        if seat.role != Role::Computer {
            return Err(ErrorBody::new(ErrorCode::Forbidden, "only a computer announces updates"));
        }
        let stamped = stamp(payload.get(), "computer", announcement.computer, &seat.name);
        let rest = rest_of(&packet, stamped);
        self.announce(sender, &taken, event_packet(&event::notify_update(what), None, rest, packet.attachments))
    }

    pub(super) fn cancel(&self, sender: &Sender<'_, M>, payload: &RawValue) -> Result<(), ErrorBody> {
        let _: ToolCallCancel = request::decode(payload.get())?;
        let announcement = Announcement::parse(payload).map_err(|error| bad_request(&error))?;
        let taken = sender.member.seat().ok_or_else(in_no_office)?;
        let seat = &taken.seated.seat;
        if seat.role != Role::Agent {
            return Err(ErrorBody::new(ErrorCode::Forbidden, "only an agent cancels calls"));
        }
        let stamped = stamp(payload.get(), "agent", announcement.agent, &seat.name);
        let rest = stamped.into_owned() + "]";
        self.announce(sender, &taken, event_packet(event::NOTIFY_TOOL_CALL_CANCEL, None, rest.into(), Vec::new()))
    }

    /// Announces a packet to the others of an office. Its memory is counted once, for its sender, until the last of them
    /// has taken it.
    fn announce(&self, sender: &Sender<'_, M>, taken: &TakenSeat<M>, packet: OutgoingMessage) -> Result<(), ErrorBody> {
        let too_many = || {
            self.telemetry.count_limit(LimitKind::Announcements);
            let message = "the office has not taken your earlier announcements: try again later";
            ErrorBody::new(ErrorCode::LimitExceeded, message).with("retry_after", 1)
        };
        let attached: usize = packet.attachments.iter().map(Bytes::len).sum();
        let weight = packet.head.len() + packet.body.len() + attached + taken.room.size() * PER_RECEIVER;
        let is_compared = packet.attachments.is_empty() && packet.body.len() <= MAX_COMPARED;
        // A small announcement is never refused because of the memory of others: its sender would not say it again.
        let charge = taken.announcing.charge(weight);
        if charge.is_none() && !is_compared {
            return Err(too_many());
        }
        let text = is_compared.then(|| [packet.head.as_bytes(), &packet.body[..]].concat().into());
        let shared = SharedMessage::new(packet, charge);
        {
            let mut state = taken.room.state();
            if !state.has(&taken.seated) {
                return Err(in_no_office());
            }
            state.announcements.say(taken.seated.conn, text, shared).map_err(|TooManyWaiting| too_many())?;
        }
        self.telemetry.metrics.broadcasts.inc();
        self.deliver(&taken.room);
        sender.reply.empty();
        Ok(())
    }

    /// Delivers the announcements of an office, as far as its pace permits and no other task does.
    pub(super) fn deliver(&self, room: &Arc<OfficeRoom<M>>) {
        if std::mem::replace(&mut room.state().is_delivering, true) {
            return;
        }
        for _ in 0..MANY {
            let (from, packet, receivers) = {
                let mut state = room.state();
                let rate = self.limits.deliveries.filter(|_| !self.is_shutting_down());
                let next = state.announcements.next(rate, room.size(), Instant::now());
                let Some((from, packet)) = next else {
                    // Under the same lock: what another task adds from now on, it delivers itself.
                    let is_new = state.stop_delivering();
                    drop(state);
                    return self.list(room, is_new);
                };
                (from, packet, state.everyone())
            };
            for member in receivers.iter().filter(|member| member.conn != from) {
                member.mailbox.broadcast(&packet);
            }
        }
        let is_new = room.state().stop_delivering();
        self.list(room, is_new);
    }

    fn list(&self, room: &Arc<OfficeRoom<M>>, is_new: bool) {
        if is_new {
            self.waiting_rooms.add(room.clone());
        }
    }

    /// Delivers the announcements that had to wait, for as long as the hub runs.
    pub(crate) async fn deliver_waiting(&self) {
        loop {
            self.waiting_rooms.is_some.notified().await;
            // Together with what has come by then.
            tokio::time::sleep(PACE).await;
            for room in self.waiting_rooms.take() {
                room.state().is_listed = false;
                self.deliver(&room);
                tokio::task::yield_now().await;
            }
        }
    }
}
