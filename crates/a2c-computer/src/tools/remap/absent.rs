//! The build without Vector Remap Language: a program that nobody can have.

use a2c_protocol::tool::CallToolResult;
use serde_json::{Map, Value};

/// A program of a build that runs none.
#[derive(Debug, Clone)]
pub(crate) enum Program {}

impl Program {
    /// Refuses, with what to do about it.
    pub(crate) fn compile(_source: &str) -> Result<Self, String> {
        Err("this build does not run VRL programs: build a2c with --features vrl, or remove the key".into())
    }

    /// Never runs: there is no program.
    pub(crate) fn apply_to_call(
        &self,
        _tool: &str,
        _parameters: &Map<String, Value>,
        _result: &CallToolResult,
    ) -> Result<String, String> {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_refused_with_what_to_do() {
        let refusal = Program::compile(".a = 1").unwrap_err();
        assert_eq!(refusal, "this build does not run VRL programs: build a2c with --features vrl, or remove the key");
    }

    #[test]
    fn callers_are_the_same_as_with_the_feature() {
        let result = CallToolResult::default();
        let parameters = Map::new();
        for source in ["", ".", ".a = 1"] {
            let outcome =
                Program::compile(source).and_then(|program| program.apply_to_call("tool", &parameters, &result));
            assert!(outcome.unwrap_err().contains("--features vrl"));
        }
    }
}
