//! A compiled program and its run on one result.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use a2c_protocol::tool::CallToolResult;
use serde::Serialize;
use serde_json::Map;
use vrl::compiler::runtime::{Runtime, Terminate};
use vrl::compiler::{TargetValue, TimeZone};
use vrl::diagnostic::{DiagnosticList, Formatter};
use vrl::value::{Secrets, Value};

use super::{library, nesting};

/// The longest program.
const SOURCE: usize = 64 << 10;
/// The largest event a program is run on.
const EVENT: usize = 4 << 20;
/// The largest outcome.
const OUTCOME: usize = 1 << 20;
/// The longest complaint of a run: it may quote the result, and goes to a log.
const COMPLAINT: usize = 500;
/// How long a run may take. VRL has no endless loop, but nested ones over a large result come close.
const RUN: Duration = Duration::from_secs(5);

/// A program, compiled; clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Program(Arc<vrl::compiler::Program>);

/// What a program works on.
#[derive(Serialize)]
struct Event<'a> {
    #[serde(flatten)]
    result: &'a CallToolResult,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<&'a Map<String, serde_json::Value>>,
}

impl Program {
    /// Compiles a program; the complaint is plain text that names line and column.
    pub(crate) fn compile(source: &str) -> Result<Self, String> {
        if source.len() > SOURCE {
            return Err(format!("the VRL program has {} bytes, the limit is {SOURCE}: shorten it", source.len()));
        }
        if nesting::depth(source) > nesting::DEEPEST {
            return Err("an expression of the VRL program nests too deep: split it into several assignments".into());
        }
        match vrl::compiler::compile(source, &library::functions()) {
            Ok(compiled) => Ok(Self(Arc::new(compiled.program))),
            Err(complaints) => Err(plain(source, complaints)),
        }
    }

    /// As [`Program::apply_to_call`], without the call.
    #[cfg(test)]
    pub(crate) fn apply(&self, result: &CallToolResult) -> Result<String, String> {
        self.run(&Event { result, tool_name: None, parameters: None }, RUN)
    }

    /// Runs the program on a result and returns, as JSON text, what the event has become. The event has the call as
    /// `.tool_name` and `.parameters`, so that the program of a server can tell its tools apart.
    ///
    /// The outcome is the event (`.`), not the value of the last expression: what other Computers of the protocol do.
    /// `abort` is a failure. A run computes for up to five seconds: call it where blocking is allowed.
    pub(crate) fn apply_to_call(
        &self,
        tool: &str,
        parameters: &Map<String, serde_json::Value>,
        result: &CallToolResult,
    ) -> Result<String, String> {
        self.run(&Event { result, tool_name: Some(tool), parameters: Some(parameters) }, RUN)
    }

    fn run(&self, event: &Event<'_>, time: Duration) -> Result<String, String> {
        let event = bounded_json(event, EVENT).map_err(|error| format!("the VRL program was not run: {error}"))?;
        let value: Value = serde_json::from_slice(&event)
            .map_err(|error| format!("the VRL program was not run: the result cannot be read as an event: {error}"))?;
        let mut target =
            TargetValue { value, metadata: Value::Object(Default::default()), secrets: Secrets::default() };

        let deadline = Instant::now() + time;
        let mut in_time = || match Instant::now() < deadline {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        };
        Runtime::default().resolve_with_control(&mut target, &self.0, &TimeZone::Local, &mut in_time).map_err(
            |end| match end {
                Terminate::Interrupted => format!("the VRL program was stopped after {} s", time.as_secs_f32()),
                Terminate::Abort(reason) => format!("the VRL program aborted: {}", one_line(&reason.to_string())),
                Terminate::Error(error) => format!("the VRL program failed: {}", one_line(&error.to_string())),
            },
        )?;

        let outcome = bounded_json(&target.value, OUTCOME)
            .map_err(|error| format!("the outcome of the VRL program is not used: {error}"))?;
        Ok(String::from_utf8(outcome).expect("JSON is written as UTF-8"))
    }
}

/// What the compiler says, without colour.
fn plain(source: &str, complaints: DiagnosticList) -> String {
    Formatter::new(source, complaints).to_string().trim().to_owned()
}

/// A complaint fit for one line of a log.
fn one_line(complaint: &str) -> String {
    let line: String = complaint
        .chars()
        .take(COMPLAINT)
        .map(|character| if character.is_control() { ' ' } else { character })
        .collect();
    if line.len() < complaint.len() { line + "…" } else { line }
}

/// Writes JSON, giving up at the limit rather than after it.
fn bounded_json(value: &impl Serialize, limit: usize) -> Result<Vec<u8>, String> {
    let mut bounded = Bounded { written: Vec::new(), limit };
    match serde_json::to_writer(&mut bounded, value) {
        Ok(()) => Ok(bounded.written),
        Err(error) if error.is_io() => Err(format!("it has more than {limit} bytes")),
        Err(error) => Err(error.to_string()),
    }
}

struct Bounded {
    written: Vec<u8>,
    limit: usize,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.written.len() + bytes.len() > self.limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn result(value: serde_json::Value) -> CallToolResult {
        serde_json::from_value(value).unwrap()
    }

    /// Runs a program on a small result and reads the outcome.
    fn outcome(source: &str) -> Result<serde_json::Value, String> {
        let result = result(json!({
            "content": [{"type": "text", "text": "{\"itemArray\": [\"a\", \"b\"]}"}],
            "structuredContent": {"count": 2, "when": "2024-05-01T10:00:00Z"},
            "isError": false,
            "_meta": {"page": 1},
        }));
        let text = Program::compile(source)?.apply(&result)?;
        Ok(serde_json::from_str(&text).unwrap())
    }

    #[test]
    fn the_event_is_the_result_as_it_travels() {
        let event = outcome("").unwrap();
        assert_eq!(event["content"][0]["type"], "text");
        assert_eq!(event["structuredContent"]["count"], 2);
        assert_eq!(event["isError"], false);
        assert_eq!((&event["_meta"]["page"], &event["meta"]["page"]), (&json!(1), &json!(1)));
        assert!(event.get("tool_name").is_none());
    }

    #[test]
    fn the_outcome_is_what_the_event_has_become() {
        let check = |source, expected| assert_eq!(outcome(source).unwrap(), expected, "{source}");
        check(". = {\"items\": parse_json!(.content[0].text).itemArray}", json!({"items": ["a", "b"]}));
        check(". = del(.structuredContent.count)", json!(2));
        check(". = {}\n\"a last expression counts for nothing\"", json!({}));
        check(". = map_values({\"a\": 1, \"b\": 2}) -> |value| { value * 2 }", json!({"a": 2, "b": 4}));
        check(". = parse_timestamp!(.structuredContent.when, \"%+\")", json!("2024-05-01T10:00:00Z"));
        check(". = null", json!(null));
    }

    #[test]
    fn a_program_can_tell_the_calls_apart() {
        let program = Program::compile(". = [.tool_name, .parameters.path, .isError]").unwrap();
        let parameters = json!({"path": "/a"});
        let outcome =
            program.apply_to_call("read", parameters.as_object().unwrap(), &CallToolResult::default()).unwrap();
        assert_eq!(outcome, r#"["read","/a",false]"#);
    }

    #[test]
    fn the_result_stays_and_runs_share_nothing() {
        let program = Program::compile("count = .structuredContent.n\n. = [count]").unwrap();
        for n in 0..3 {
            let result = result(json!({"content": [], "structuredContent": {"n": n}}));
            let before = result.clone();
            assert_eq!(program.clone().apply(&result).unwrap(), format!("[{n}]"));
            assert_eq!(result, before);
        }
    }

    #[test]
    fn complaints_of_the_compiler_are_plain_and_say_where() {
        let complaint = Program::compile(".a = 1\n.b = parse_json(.a)\n").unwrap_err();
        assert!(complaint.contains("2:17"), "{complaint}");
        assert!(complaint.contains("error["), "{complaint}");
        assert!(!complaint.contains('\u{1b}'), "{complaint}");
        assert!(Program::compile(".a = ").unwrap_err().contains("1:"));
    }

    #[test]
    fn nothing_outside_the_result_can_be_reached() {
        for source in [
            ".a = get_env_var!(\"HOME\")",
            ".a = get_hostname!()",
            ".a = dns_lookup!(\"localhost\")",
            ".a = reverse_dns!(\"127.0.0.1\")",
            ".a = http_request!(\"http://127.0.0.1/\")",
            ".a = parse_etld!(\"a.example\", psl: \"/etc/hostname\")",
            ".a = validate_json_schema!(\"{}\", \"/etc/hostname\")",
            "log(.)",
        ] {
            let complaint = Program::compile(source).unwrap_err();
            assert!(complaint.contains("undefined function"), "{source}: {complaint}");
        }
        let complaint =
            Program::compile(".a = parse_groks!(\"a\", patterns: [\"%{x}\"], alias_sources: [\"/etc/hostname\"])")
                .unwrap_err();
        assert!(complaint.contains("alias_sources is disabled"), "{complaint}");
    }

    #[test]
    fn a_run_that_fails_says_so() {
        let check = |source, expected: &str| {
            let complaint = outcome(source).unwrap_err();
            assert!(complaint.contains(expected), "{source}: {complaint}");
        };
        check(".a = parse_json!(.content[0].type)", "the VRL program failed: function call error for \"parse_json\"");
        check("abort \"not\nnow\"", "the VRL program aborted: not now");
    }

    #[test]
    fn complaints_stay_short() {
        let program = Program::compile("abort string!(.structuredContent)").unwrap();
        let result = result(json!({"content": [], "structuredContent": "ä".repeat(10_000)}));
        let complaint = program.apply(&result).unwrap_err();
        assert!(complaint.chars().count() < COMPLAINT + 50 && complaint.ends_with("ä…"), "{complaint}");
    }

    #[test]
    fn sizes_are_bounded() {
        let long = " ".repeat(SOURCE + 1);
        assert!(Program::compile(&long).unwrap_err().contains("the limit is 65536"));
        assert!(Program::compile(&long[1..]).is_ok());

        let sized = |bytes| result(json!({"content": [], "structuredContent": "x".repeat(bytes)}));
        let drop_all = Program::compile(". = 1").unwrap();
        assert_eq!(drop_all.apply(&sized(EVENT - 200)).unwrap(), "1");
        assert!(drop_all.apply(&sized(EVENT)).unwrap_err().contains("more than 4194304 bytes"));

        let keep = Program::compile(". = .structuredContent").unwrap();
        assert_eq!(keep.apply(&sized(OUTCOME - 2)).unwrap().len(), OUTCOME);
        assert!(keep.apply(&sized(OUTCOME - 1)).unwrap_err().contains("more than 1048576 bytes"));
    }

    #[test]
    fn a_run_out_of_time_is_stopped() {
        let loops = "for_each(range!(0, 100000)) -> |_i, _v| { for_each(range!(0, 100000)) -> |_i, _v| { .a = 1 } }";
        let event = CallToolResult::default();
        let event = Event { result: &event, tool_name: None, parameters: None };
        let stopped = Program::compile(loops).unwrap().run(&event, Duration::from_millis(20)).unwrap_err();
        assert_eq!(stopped, "the VRL program was stopped after 0.02 s");
    }

    #[test]
    fn numbers_beyond_vrl_become_floats() {
        let program = Program::compile(". = .structuredContent").unwrap();
        let result = result(json!({"content": [], "structuredContent": [u64::MAX, i64::MIN, 0.5]}));
        assert_eq!(program.apply(&result).unwrap(), "[1.8446744073709552e+19,-9223372036854775808,0.5]");
    }

    #[test]
    fn programs_travel_between_threads() {
        fn shared<T: Send + Sync + Clone + std::fmt::Debug + 'static>() {}
        shared::<Program>();
    }

    /// On a thread's usual stack: an overflow would end the process, and this test with it.
    #[test]
    fn deep_programs_are_refused_and_the_deepest_run() {
        type Nested = fn(usize) -> String;
        let kinds: [Nested; 5] = [
            |n| format!(".a = {}1{}", "(".repeat(n), ")".repeat(n)),
            |n| format!(".a = {}1{}", "[".repeat(n), "]".repeat(n)),
            |n| format!(".a = {}true", "!".repeat(n)),
            |n| format!(".a = 1{}", " + 1".repeat(n)),
            |n| format!("{} .a = 1 {}", "if true {".repeat(n), "}".repeat(n)),
        ];
        for nested in kinds {
            let deepest = Program::compile(&nested(nesting::DEEPEST - 1)).unwrap();
            assert!(deepest.apply(&CallToolResult::default()).unwrap().contains("\"a\":"));
            for depth in [nesting::DEEPEST + 1, 6_000] {
                assert!(Program::compile(&nested(depth)).unwrap_err().contains("too deep"));
            }
        }
    }
}
