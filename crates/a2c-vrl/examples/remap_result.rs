//! Compiles a program, runs it over a result, and shows the outcome.
//!
//! `cargo run -p a2c-vrl --features vrl --example remap_result`

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use a2c_protocol::tool::CallToolResult;
use a2c_vrl::{CompileError, Program};
use serde_json::{Map, json};

const SOURCE: &str = ". = {\"tool\": .tool_name, \"items\": parse_json!(.content[0].text).items}";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = json!({"items": ["a", "b"], "noise": "…"}).to_string();
    let result: CallToolResult = serde_json::from_value(json!({"content": [{"type": "text", "text": text}]}))?;
    match Program::compile(SOURCE) {
        Ok(program) => println!("{}", program.apply_to_call("list", &Map::new(), &result)?),
        Err(unsupported @ CompileError::Unsupported) => println!("{unsupported}"),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
