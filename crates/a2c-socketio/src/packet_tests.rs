use proptest::prelude::*;
use serde_json::json;

use super::*;

fn header(
    kind: Kind,
    attachments: usize,
    namespace: &'static str,
    id: Option<u64>,
    data: &'static str,
) -> Header<'static> {
    Header { kind, attachments, namespace, id, data }
}

#[test]
fn packets_are_split() {
    let table = [
        ("0", header(Kind::Connect, 0, "/", None, "")),
        ("0/a,", header(Kind::Connect, 0, "/a", None, "")),
        ("0/a", header(Kind::Connect, 0, "/a", None, "")),
        ("0/a?x=1,{}", header(Kind::Connect, 0, "/a", None, "{}")),
        ("0{\"sid\":\"x\"}", header(Kind::Connect, 0, "/", None, "{\"sid\":\"x\"}")),
        ("1/a,", header(Kind::Disconnect, 0, "/a", None, "")),
        ("2[\"e\"]", header(Kind::Event, 0, "/", None, "[\"e\"]")),
        ("212[\"e\"]", header(Kind::Event, 0, "/", Some(12), "[\"e\"]")),
        ("2/a,0[\"e\"]", header(Kind::Event, 0, "/a", Some(0), "[\"e\"]")),
        ("3/a,7[]", header(Kind::Ack, 0, "/a", Some(7), "[]")),
        ("4{\"message\":\"no\"}", header(Kind::ConnectError, 0, "/", None, "{\"message\":\"no\"}")),
        ("51-[\"e\",{}]", header(Kind::BinaryEvent, 1, "/", None, "[\"e\",{}]")),
        ("52-/a,3[\"e\"]", header(Kind::BinaryEvent, 2, "/a", Some(3), "[\"e\"]")),
        ("610-/a,3[]", header(Kind::BinaryAck, 10, "/a", Some(3), "[]")),
    ];
    for (text, expected) in table {
        assert_eq!(Header::decode(text), Ok(expected), "{text}");
    }
}

#[test]
fn what_is_not_a_packet_is_named() {
    let table = [
        ("", PacketError::Empty),
        ("7", PacketError::UnknownKind('7')),
        ("é", PacketError::UnknownKind('é')),
        ("5[\"e\"]", PacketError::Attachments),
        ("5-[\"e\"]", PacketError::Attachments),
        ("51", PacketError::Attachments),
        ("599999999999999999999999-[]", PacketError::Attachments),
        ("299999999999999999999999[]", PacketError::AckId),
    ];
    for (text, expected) in table {
        assert_eq!(Header::decode(text), Err(expected), "{text}");
    }
}

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
            if let Ok(header) = Header::decode(&text) {
                let _ = event_args(header.data);
                let _ = ack_args(header.data);
                let _ = connect_data(header.data);
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
        let sent = Outgoing::event(&namespace, id, &name, payload.clone());
        let header = Header::decode(sent.text.strip_prefix('4').unwrap()).unwrap();
        let binary = !payload.attachments().is_empty();
        prop_assert_eq!(header.kind, if binary { Kind::BinaryEvent } else { Kind::Event });
        prop_assert_eq!(header.attachments, payload.attachments().len());
        prop_assert_eq!(header.namespace, namespace);
        prop_assert_eq!(header.id, id);
        let (read_name, args) = event_args(header.data).unwrap();
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
        let sent = Outgoing::ack(&namespace, id, payload.clone());
        let header = Header::decode(sent.text.strip_prefix('4').unwrap()).unwrap();
        let binary = !payload.attachments().is_empty();
        prop_assert_eq!(header.kind, if binary { Kind::BinaryAck } else { Kind::Ack });
        prop_assert_eq!(header.attachments, payload.attachments().len());
        prop_assert_eq!((header.namespace, header.id), (&*namespace, Some(id)));
        prop_assert_eq!(
            parts(&ack_args(header.data).unwrap(), &sent.attachments),
            parts(payload.args(), payload.attachments())
        );
    }
}
