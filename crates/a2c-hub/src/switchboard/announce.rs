//! Announcements of a member to the others of its office.

use a2c_protocol::notification::ToolCallCancel;
use a2c_protocol::office::MAX_NAME;
use a2c_protocol::{ErrorBody, ErrorCode, Role, event, request};
use serde_json::value::RawValue;

use super::reply::event_packet;
use super::routing::rest_of;
use super::{Mailbox, ReceivedPacket, Sender, Switchboard, bad_request};
use crate::route::envelope::{Announcement, stamp};

impl<M: Mailbox> Switchboard<M> {
    pub(super) fn update(
        &self,
        sender: &Sender<M>,
        what: &str,
        payload: &RawValue,
        packet: ReceivedPacket<'_>,
    ) -> Result<(), ErrorBody> {
        if what.len() > MAX_NAME {
            return Err(ErrorBody::bad_request(format!("the name of an update is no longer than {MAX_NAME} bytes")));
        }
        let announcement = Announcement::parse(payload).map_err(|error| bad_request(&error))?;
        let state = self.state();
        let seat = state.seat(sender.conn)?;
        if seat.role != Role::Computer {
            return Err(ErrorBody::new(ErrorCode::Forbidden, "only a computer announces updates"));
        }
        let stamped = stamp(payload.get(), "computer", announcement.computer, &seat.name);
        let rest = rest_of(&packet, stamped);
        let packet = event_packet(&event::notify_update(what), None, rest, packet.attachments);
        state.send_to_others(sender.conn, &seat.office, &packet);
        self.telemetry.metrics.broadcasts.inc();
        sender.reply.empty();
        Ok(())
    }

    pub(super) fn cancel(&self, sender: &Sender<M>, payload: &RawValue) -> Result<(), ErrorBody> {
        let _: ToolCallCancel = request::decode(payload.get())?;
        let announcement = Announcement::parse(payload).map_err(|error| bad_request(&error))?;
        let state = self.state();
        let seat = state.seat(sender.conn)?;
        if seat.role != Role::Agent {
            return Err(ErrorBody::new(ErrorCode::Forbidden, "only an agent cancels calls"));
        }
        let stamped = stamp(payload.get(), "agent", announcement.agent, &seat.name);
        let rest = stamped.into_owned() + "]";
        let packet = event_packet(event::NOTIFY_TOOL_CALL_CANCEL, None, rest.into(), Vec::new());
        state.send_to_others(sender.conn, &seat.office, &packet);
        self.telemetry.metrics.broadcasts.inc();
        sender.reply.empty();
        Ok(())
    }
}
