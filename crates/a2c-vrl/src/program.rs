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

use crate::{CompileError, ProgramRunError, functions, nesting};

/// The longest program.
const MAX_SOURCE: usize = 64 << 10;
/// The largest event that a program is run on.
const MAX_EVENT: usize = 4 << 20;
/// The largest outcome.
const MAX_OUTCOME: usize = 1 << 20;
/// The longest message of a failed run: it may quote the result, and goes to a log.
const MAX_MESSAGE: usize = 500;
/// How long a run may take. VRL has no endless loop, but nested loops over a large result take very long.
const MAX_TIME: Duration = Duration::from_secs(5);

/// A compiled program; clones share it.
#[derive(Debug, Clone)]
pub struct Program(Arc<vrl::compiler::Program>);

/// The event that a program works on.
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
    /// Compiles a program.
    pub fn compile(source: &str) -> Result<Self, CompileError> {
        if source.len() > MAX_SOURCE {
            return Err(CompileError::TooLong { bytes: source.len(), limit: MAX_SOURCE });
        }
        if nesting::depth(source) > nesting::MAX_DEPTH {
            return Err(CompileError::TooDeep);
        }
        match vrl::compiler::compile(source, &functions::allowed()) {
            Ok(compiled) => Ok(Self(Arc::new(compiled.program))),
            Err(diagnostics) => Err(CompileError::Invalid(plain(source, diagnostics))),
        }
    }

    /// As [`Program::apply_to_call`], without the call.
    #[cfg(test)]
    pub(crate) fn apply(&self, result: &CallToolResult) -> Result<String, ProgramRunError> {
        self.run(&Event { result, tool_name: None, parameters: None }, MAX_TIME)
    }

    /// Runs the program on a result and returns the event after the run, as JSON text. The event has the call as
    /// `.tool_name` and `.parameters`, so that the program of a server can tell its tools apart.
    ///
    /// The outcome is the event (`.`), not the value of the last expression, as in other Computers of the protocol.
    /// `abort` is a failure. A run computes for up to five seconds: call it where blocking is allowed.
    pub fn apply_to_call(
        &self,
        tool: &str,
        parameters: &Map<String, serde_json::Value>,
        result: &CallToolResult,
    ) -> Result<String, ProgramRunError> {
        self.run(&Event { result, tool_name: Some(tool), parameters: Some(parameters) }, MAX_TIME)
    }

    fn run(&self, event: &Event<'_>, limit: Duration) -> Result<String, ProgramRunError> {
        let event = bounded_json(event, MAX_EVENT).map_err(|error| match error.is_io() {
            true => ProgramRunError::EventTooLarge { limit: MAX_EVENT },
            false => ProgramRunError::InvalidEvent(error),
        })?;
        let value: Value = serde_json::from_slice(&event).map_err(ProgramRunError::InvalidEvent)?;
        let mut target =
            TargetValue { value, metadata: Value::Object(Default::default()), secrets: Secrets::default() };

        let deadline = Instant::now() + limit;
        let mut in_time = || match Instant::now() < deadline {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        };
        Runtime::default().resolve_with_control(&mut target, &self.0, &TimeZone::Local, &mut in_time).map_err(
            |end| match end {
                Terminate::Interrupted => ProgramRunError::TimedOut { limit },
                Terminate::Abort(reason) => ProgramRunError::Aborted(one_line(&reason.to_string())),
                Terminate::Error(error) => ProgramRunError::Failed(one_line(&error.to_string())),
            },
        )?;

        let outcome = bounded_json(&target.value, MAX_OUTCOME).map_err(|error| match error.is_io() {
            true => ProgramRunError::OutcomeTooLarge { limit: MAX_OUTCOME },
            false => ProgramRunError::InvalidOutcome(error),
        })?;
        Ok(String::from_utf8(outcome).expect("JSON is written as UTF-8"))
    }
}

/// The messages of the compiler, without colour.
fn plain(source: &str, diagnostics: DiagnosticList) -> String {
    Formatter::new(source, diagnostics).to_string().trim().to_owned()
}

/// A message fit for one line of a log.
fn one_line(message: &str) -> String {
    let line: String = message
        .chars()
        .take(MAX_MESSAGE)
        .map(|character| if character.is_control() { ' ' } else { character })
        .collect();
    if line.len() < message.len() { line + "…" } else { line }
}

/// Writes JSON, and stops at the limit with an I/O error.
fn bounded_json(value: &impl Serialize, limit: usize) -> Result<Vec<u8>, serde_json::Error> {
    let mut bounded = Bounded { written: Vec::new(), limit };
    serde_json::to_writer(&mut bounded, value)?;
    Ok(bounded.written)
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

    fn compile_error(source: &str) -> String {
        Program::compile(source).unwrap_err().to_string()
    }

    /// Runs a program on a small result and reads the outcome.
    fn outcome(source: &str) -> Result<serde_json::Value, ProgramRunError> {
        let result = result(json!({
            "content": [{"type": "text", "text": "{\"itemArray\": [\"a\", \"b\"]}"}],
            "structuredContent": {"count": 2, "when": "2024-05-01T10:00:00Z"},
            "isError": false,
            "_meta": {"page": 1},
        }));
        let text = Program::compile(source).unwrap().apply(&result)?;
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
        check(". = {}\n\"the value of the last expression is not used\"", json!({}));
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
    fn messages_of_the_compiler_are_plain_and_name_the_line() {
        let message = compile_error(".a = 1\n.b = parse_json(.a)\n");
        assert!(message.contains("2:17"), "{message}");
        assert!(message.contains("error["), "{message}");
        assert!(!message.contains('\u{1b}'), "{message}");
        assert!(compile_error(".a = ").contains("1:"));
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
            let message = compile_error(source);
            assert!(message.contains("undefined function"), "{source}: {message}");
        }
        let message =
            compile_error(".a = parse_groks!(\"a\", patterns: [\"%{x}\"], alias_sources: [\"/etc/hostname\"])");
        assert!(message.contains("alias_sources is disabled"), "{message}");
    }

    #[test]
    fn a_run_that_fails_says_so() {
        let check = |source, expected: &str| {
            let message = outcome(source).unwrap_err().to_string();
            assert!(message.contains(expected), "{source}: {message}");
        };
        check(".a = parse_json!(.content[0].type)", "the VRL program failed: function call error for \"parse_json\"");
        check("abort \"not\nnow\"", "the VRL program aborted: not now");
    }

    #[test]
    fn messages_are_cut() {
        let program = Program::compile("abort string!(.structuredContent)").unwrap();
        let result = result(json!({"content": [], "structuredContent": "ä".repeat(10_000)}));
        let message = program.apply(&result).unwrap_err().to_string();
        assert!(message.chars().count() < MAX_MESSAGE + 50 && message.ends_with("ä…"), "{message}");
    }

    #[test]
    fn sizes_are_bounded() {
        let long = " ".repeat(MAX_SOURCE + 1);
        assert!(compile_error(&long).contains("the limit is 65536"));
        assert!(Program::compile(&long[1..]).is_ok());

        let sized = |bytes| result(json!({"content": [], "structuredContent": "x".repeat(bytes)}));
        let drop_all = Program::compile(". = 1").unwrap();
        assert_eq!(drop_all.apply(&sized(MAX_EVENT - 200)).unwrap(), "1");
        assert!(drop_all.apply(&sized(MAX_EVENT)).unwrap_err().to_string().contains("more than 4194304 bytes"));

        let keep = Program::compile(". = .structuredContent").unwrap();
        assert_eq!(keep.apply(&sized(MAX_OUTCOME - 2)).unwrap().len(), MAX_OUTCOME);
        assert!(keep.apply(&sized(MAX_OUTCOME - 1)).unwrap_err().to_string().contains("more than 1048576 bytes"));
    }

    #[test]
    fn a_run_out_of_time_is_stopped() {
        let loops = "for_each(range!(0, 100000)) -> |_i, _v| { for_each(range!(0, 100000)) -> |_i, _v| { .a = 1 } }";
        let event = CallToolResult::default();
        let event = Event { result: &event, tool_name: None, parameters: None };
        let stopped = Program::compile(loops).unwrap().run(&event, Duration::from_millis(20)).unwrap_err();
        assert_eq!(stopped.to_string(), "the VRL program was stopped after 0.02 s");
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
            let deepest = Program::compile(&nested(nesting::MAX_DEPTH - 1)).unwrap();
            assert!(deepest.apply(&CallToolResult::default()).unwrap().contains("\"a\":"));
            for depth in [nesting::MAX_DEPTH + 1, 6_000] {
                assert!(matches!(Program::compile(&nested(depth)), Err(CompileError::TooDeep)));
            }
        }
    }
}
