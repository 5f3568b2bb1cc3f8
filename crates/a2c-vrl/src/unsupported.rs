//! The build without the language: no program can be made.

use a2c_protocol::tool::CallToolResult;
use serde_json::{Map, Value};

use crate::{CompileError, ProgramRunError};

/// A program, of which there is none in this build.
#[derive(Debug, Clone)]
pub enum Program {}

impl Program {
    /// Refuses every program: [`CompileError::Unsupported`].
    pub fn compile(_source: &str) -> Result<Self, CompileError> {
        Err(CompileError::Unsupported)
    }

    /// Never called, because there is no program.
    pub fn apply_to_call(
        &self,
        _tool: &str,
        _parameters: &Map<String, Value>,
        _result: &CallToolResult,
    ) -> Result<String, ProgramRunError> {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_refused_with_what_to_do() {
        let refusal = Program::compile(".a = 1").unwrap_err().to_string();
        assert_eq!(refusal, "this build does not run VRL programs: build a2c with --features vrl, or remove the key");
    }

    #[test]
    fn callers_are_the_same_as_with_the_feature() {
        let (result, parameters) = (CallToolResult::default(), Map::new());
        for source in ["", ".", ".a = 1"] {
            let outcome = Program::compile(source).map(|program| program.apply_to_call("tool", &parameters, &result));
            assert!(matches!(outcome, Err(CompileError::Unsupported)), "{source}");
        }
    }
}
