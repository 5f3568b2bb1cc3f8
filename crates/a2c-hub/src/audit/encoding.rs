//! Encodes a record as a line of the log.

use std::time::{Duration, SystemTime};

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::chain::{ChainEnd, Hash, seal};
use super::record::{Arguments, AuditEvent, Decision, Record};
use super::type_summary::{TypeSummary, summarize_types};

/// The longest text of a record, in bytes. Names have at most 256 bytes; other texts may come from a client.
const MAX_TEXT: usize = 512;

/// Appends the line of a record to `out` and advances the end of the chain.
pub(crate) fn append(out: &mut Vec<u8>, end: &mut ChainEnd, time: SystemTime, record: &Record, values: bool) {
    let seq = end.seq + 1;
    let arguments = record.arguments.as_ref();
    let line = EncodedRecord {
        seq,
        time: &timestamp(time),
        event: record.event,
        subject: truncated(record.subject.as_deref()),
        address: record.address.map(|address| address.to_string()),
        sid: truncated(record.sid.as_deref()),
        role: record.role.map(|role| role.as_str()),
        name: truncated(record.name.as_deref()),
        office: truncated(record.office.as_deref()),
        computer: truncated(record.computer.as_deref()),
        tool: truncated(record.tool.as_deref()),
        request: truncated(record.request.as_deref()),
        req_id: truncated(record.req_id.as_deref()),
        decision: record.decision,
        code: record.code.map(|code| code.number()),
        reason: truncated(record.reason.as_deref()),
        count: record.count,
        duration_ms: record.duration.map(milliseconds),
        request_bytes: record.request_bytes,
        answer_bytes: record.answer_bytes,
        arguments: arguments.map(|arguments| arguments.json().map_or_else(TypeSummary::too_large, summarize_types)),
        values: arguments.filter(|_| values).and_then(Arguments::json).and_then(compact),
        prev: end.hash,
    };
    let start = out.len();
    serde_json::to_writer(&mut *out, &line).expect("plain fields into memory");
    *end = ChainEnd { seq, hash: seal(out, start) };
}

/// A record with its fields in the order of the file.
#[derive(Serialize)]
struct EncodedRecord<'a> {
    seq: u64,
    time: &'a str,
    event: AuditEvent,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<TruncatedText<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sid: Option<TruncatedText<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<TruncatedText<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    office: Option<TruncatedText<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    computer: Option<TruncatedText<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<TruncatedText<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<TruncatedText<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    req_id: Option<TruncatedText<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<Decision>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<TruncatedText<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<TypeSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Box<RawValue>>,
    prev: Hash,
}

/// A text that is truncated when it is written.
struct TruncatedText<'a>(&'a str);

fn truncated(text: Option<&str>) -> Option<TruncatedText<'_>> {
    text.map(TruncatedText)
}

impl Serialize for TruncatedText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            text if text.len() <= MAX_TEXT => serializer.serialize_str(text),
            text => serializer.collect_str(&format_args!("{}…", &text[..text.floor_char_boundary(MAX_TEXT)])),
        }
    }
}

fn timestamp(time: SystemTime) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity("2026-01-01T00:00:00.000Z".len());
    // A clock before 1970 or after the year 9999 must not lose the record.
    let time = time.max(SystemTime::UNIX_EPOCH);
    if write!(text, "{}", humantime::format_rfc3339_millis(time)).is_err() {
        text = humantime::format_rfc3339_millis(SystemTime::UNIX_EPOCH).to_string();
    }
    text
}

/// Milliseconds with the precision of a microsecond.
fn milliseconds(duration: Duration) -> f64 {
    u32::try_from(duration.as_micros()).map_or(duration.as_secs_f64() * 1e3, |micros| f64::from(micros) / 1e3)
}

/// JSON without white space between its tokens, otherwise as the client sent it.
fn compact(raw: &str) -> Option<Box<RawValue>> {
    let raw: &RawValue = serde_json::from_str(raw).ok()?;
    let (mut in_string, mut escaped) = (false, false);
    let keep = |c: &char| {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            ' ' | '\t' | '\r' | '\n' => return in_string,
            _ => {}
        }
        true
    };
    RawValue::from_string(raw.get().chars().filter(keep).collect()).ok()
}

#[cfg(test)]
mod tests {
    use a2c_protocol::{ErrorCode, Role};
    use serde_json::Value;

    use super::super::chain::MAX_LINE;
    use super::super::record::MAX_ARGUMENTS;
    use super::*;

    fn line(record: &Record, values: bool) -> String {
        let (mut out, mut end) = (Vec::new(), ChainEnd::START);
        append(&mut out, &mut end, SystemTime::UNIX_EPOCH + Duration::from_millis(1_789_000_000_042), record, values);
        String::from_utf8(out).unwrap()
    }

    fn full() -> Record {
        Record {
            subject: Some("key:ops".into()),
            address: Some("127.0.0.1:5000".parse().unwrap()),
            sid: Some("s1".into()),
            role: Some(Role::Agent),
            name: Some("me".into()),
            office: Some("demo".into()),
            computer: Some("desk".into()),
            tool: Some("echo".into()),
            request: Some("client:tool_call".into()),
            req_id: Some("r1".into()),
            decision: Some(Decision::TimedOut),
            code: Some(ErrorCode::Timeout),
            reason: Some("slow".into()),
            duration: Some(Duration::from_micros(1250)),
            request_bytes: Some(10),
            answer_bytes: Some(20),
            arguments: Some(Arguments::of(" { \"text\" : \"a \\\" b\",\n\"n\":1.50 } ")),
            ..Record::of(AuditEvent::Call)
        }
    }

    #[test]
    fn a_line_reads_like_this() {
        let expected = concat!(
            r#"{"seq":1,"time":"2026-09-10T00:26:40.042Z","event":"call","subject":"key:ops","address":"127.0.0.1:5000","#,
            r#""sid":"s1","role":"agent","name":"me","office":"demo","computer":"desk","tool":"echo","#,
            r#""request":"client:tool_call","req_id":"r1","decision":"timed_out","code":408,"reason":"slow","#,
            r#""duration_ms":1.25,"request_bytes":10,"answer_bytes":20,"arguments":{"text":"string:1-8","n":"number"},"#,
            r#""prev":"0000000000000000000000000000000000000000000000000000000000000000","hash":""#,
        );
        let line = line(&full(), false);
        assert_eq!(&line[..expected.len()], expected);
        assert!(!line.contains("values"));
    }

    #[test]
    fn values_are_written_on_request_as_they_were_sent() {
        assert!(line(&full(), true).contains(r#","values":{"text":"a \" b","n":1.50},"prev""#));
        let too_large = Record { arguments: Some(Arguments::of(&"1".repeat(MAX_ARGUMENTS + 1))), ..full() };
        let text = line(&too_large, true);
        assert!(text.contains(r#""arguments":"over 64 KiB, not looked at","prev""#), "{text}");
        let broken = Record { arguments: Some(Arguments::of("{nope")), ..full() };
        assert!(line(&broken, true).contains(r#""arguments":"unreadable","prev""#));
    }

    #[test]
    fn a_clock_that_is_wrong_loses_nothing() {
        let epoch = "1970-01-01T00:00:00.000Z";
        assert_eq!(timestamp(SystemTime::UNIX_EPOCH - Duration::from_secs(1)), epoch);
        assert_eq!(timestamp(SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 40)), epoch);
    }

    #[test]
    fn only_what_applies_is_written() {
        let line: Value = serde_json::from_str(&line(&Record::of(AuditEvent::HubStarted), true)).unwrap();
        let keys: Vec<_> = line.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["event", "hash", "prev", "seq", "time"]);
    }

    #[test]
    fn no_stranger_makes_a_line_too_long_to_be_read_back() {
        let long: std::sync::Arc<str> = "\u{1}".repeat(1 << 20).into();
        let some = || Some(long.clone());
        let quotes = format!("[\"{}\"]", "\\u0001".repeat(MAX_ARGUMENTS / 6 - 2));
        let record = Record {
            subject: some(),
            sid: some(),
            name: some(),
            office: some(),
            computer: some(),
            tool: some(),
            request: some(),
            req_id: some(),
            reason: some(),
            arguments: Some(Arguments::of(&quotes)),
            ..full()
        };
        let line = line(&record, true);
        assert!(line.contains("values") && line.len() < MAX_LINE / 2, "{} bytes", line.len());
        assert_eq!(line.matches('\n').count(), 1);
    }
}
