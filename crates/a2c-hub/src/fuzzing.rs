//! What members can feed, for the fuzzer: everything between a text and the indexes of the hub.

use a2c_socketio_frame::Frame;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::route::envelope::{Announcement, Envelope, EventBody, stamp};

/// Who the hub says it was.
const NAME: &str = "me \"quoted\" \u{1F980}";

/// Reads a packet as the hub does and stamps it; whatever is stamped says who it was, once, and is otherwise as it came.
pub fn decode(text: &str) {
    let Ok(frame) = Frame::parse(text) else { return };
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
    // What is nested too deeply for this, or has a number that no float holds, is passed on all the same.
    let Ok(Value::Object(mut before)) = serde_json::from_str(payload.get()) else { return };
    let Ok(Value::Object(mut after)) = serde_json::from_str(stamped) else {
        panic!("no JSON any more: {stamped}");
    };
    assert_eq!(after.remove(key), Some(Value::from(NAME)), "{stamped}");
    before.remove(key);
    assert_eq!(before, after);
}
