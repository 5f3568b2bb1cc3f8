use a2c_socketio_frame::{PacketFrame, PacketKind};
use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn events_start_with_a_name() {
    let (name, args) = event_args(r#"["e", 1,{"a" : 2}]"#).unwrap();
    assert_eq!(name, "e");
    let texts: Vec<_> = args.iter().map(|arg| arg.get()).collect();
    assert_eq!(texts, ["1", r#"{"a" : 2}"#]);
    for wrong in ["", "[]", "{}", "[1]", "[null]", "\"e\"", "[\"e\"", "[\"e\"]x", "[\"e\",]"] {
        assert_eq!(event_args(wrong).unwrap_err(), PacketError::Event, "{wrong}");
    }
}

/// A payload in a form that can be compared.
fn parts(args: &[Box<RawValue>], attachments: &[Bytes]) -> (Vec<String>, Vec<Bytes>) {
    let texts = args.iter().map(|arg| arg.get().to_owned()).collect();
    (texts, attachments.to_vec())
}

fn any_payload() -> impl Strategy<Value = Payload> {
    let arg = prop_oneof![
        any::<String>().prop_map(|text| json!(text)),
        any::<i64>().prop_map(|number| json!({ "n": number })),
        Just(json!(null)),
    ];
    let bytes = prop::collection::vec(any::<u8>(), 0..20).prop_map(Bytes::from);
    (prop::collection::vec(arg, 0..4), prop::collection::vec(bytes, 0..3)).prop_map(|(args, attachments)| {
        let args = args.iter().map(|arg| serde_json::value::to_raw_value(arg).unwrap()).collect();
        Payload::from_raw(args, attachments)
    })
}

proptest! {
    #[test]
    fn decoding_never_panics(text in any::<String>(), digits in "[0-7]{0,3}[-/,0-9a-z\\[\\]\"{}]{0,20}") {
        for text in [text, digits] {
            if let Ok(header) = PacketFrame::parse(&text) {
                let _ = event_args(header.body);
                let _ = ack_args(header.body);
                let _ = connect_data(header.body);
            }
        }
    }

    #[test]
    fn an_event_survives_the_wire(
        namespace in "/|/[a-z/]{1,8}",
        id in any::<Option<u64>>(),
        name in any::<String>(),
        payload in any_payload(),
    ) {
        let sent = OutgoingPacket::event(&namespace, id, &name, payload.clone());
        let header = PacketFrame::parse(sent.text.strip_prefix('4').unwrap()).unwrap();
        prop_assert_eq!(header.kind, PacketKind::Event);
        prop_assert_eq!(header.attachments, payload.attachments().len());
        prop_assert_eq!(header.namespace, namespace);
        prop_assert_eq!(header.id, id);
        let (read_name, args) = event_args(header.body).unwrap();
        prop_assert_eq!(read_name, name);
        prop_assert_eq!(
            parts(&args, &sent.attachments),
            parts(payload.args(), payload.attachments())
        );
    }

    #[test]
    fn an_ack_survives_the_wire(
        namespace in "/|/[a-z/]{1,8}",
        id in any::<u64>(),
        payload in any_payload(),
    ) {
        let sent = OutgoingPacket::ack(&namespace, id, payload.clone());
        let header = PacketFrame::parse(sent.text.strip_prefix('4').unwrap()).unwrap();
        prop_assert_eq!(header.kind, PacketKind::Ack);
        prop_assert_eq!(header.attachments, payload.attachments().len());
        prop_assert_eq!((header.namespace, header.id), (&*namespace, Some(id)));
        prop_assert_eq!(
            parts(&ack_args(header.body).unwrap(), &sent.attachments),
            parts(payload.args(), payload.attachments())
        );
    }
}
