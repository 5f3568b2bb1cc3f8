//! Takes packets apart and writes an acknowledgement.
//!
//! `cargo run -p a2c-socketio-frame --example parse`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use a2c_socketio_frame::{PacketFrame, PacketFrameError, PacketKind};

fn main() -> Result<(), PacketFrameError> {
    for text in ["0/smcp,{\"role\":\"agent\"}", "2/smcp,12[\"greet\",{}]", "51-/smcp,[\"image\",{}]"] {
        let PacketFrame { kind, attachments, namespace, id, body } = PacketFrame::parse(text)?;
        println!("{kind:?} in {namespace}, id {id:?}, {attachments} attachments: {body}");
    }
    let ack = PacketFrame { kind: PacketKind::Ack, attachments: 0, namespace: "/smcp", id: Some(12), body: "[{}]" };
    println!("{}", ack.encode());
    if let Err(error) = PacketFrame::parse("9") {
        println!("a text that is no packet: {error}");
    }
    Ok(())
}
