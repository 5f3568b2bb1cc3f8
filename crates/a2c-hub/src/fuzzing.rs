//! Entry points for the fuzzer: every parser between a text from a member and the indexes of the hub.

use a2c_socketio_frame::PacketFrame;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::route::envelope::{Announcement, Envelope, EventBody, stamp};

/// The name that the hub stamps.
const NAME: &str = "me \"quoted\" \u{1F980}";

/// Reads a packet as the hub does and stamps it. A stamped payload holds the name once and is otherwise unchanged.
pub fn decode(text: &str) {
    let Ok(frame) = PacketFrame::parse(text) else { return };
    let Ok(event) = EventBody::parse(frame.body) else { return };
    let Ok(payload) = event.payload() else { return };
    if let Ok(envelope) = Envelope::parse(payload) {
        let _ = envelope.computer_name();
        check("agent", payload, &stamp(payload.get(), "agent", envelope.agent, NAME));
    }
    if let Ok(announcement) = Announcement::parse(payload) {
        check("computer", payload, &stamp(payload.get(), "computer", announcement.computer, NAME));
        check("agent", payload, &stamp(payload.get(), "agent", announcement.agent, NAME));
    }
}

fn check(key: &str, payload: &RawValue, stamped: &str) {
    // The hub also passes on payloads that this parser refuses: nested too deeply, or with a number that no float holds.
    let Ok(Value::Object(mut before)) = serde_json::from_str(payload.get()) else { return };
    let Ok(Value::Object(mut after)) = serde_json::from_str(stamped) else {
        panic!("no JSON any more: {stamped}");
    };
    assert_eq!(after.remove(key), Some(Value::from(NAME)), "{stamped}");
    before.remove(key);
    assert_eq!(before, after);
}
