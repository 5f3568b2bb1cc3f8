//! Reads a configuration with several mistakes and prints all of them with their places, then reads the corrected one.
//!
//! `cargo run -p a2c-computer --example config_mistakes`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use a2c_computer::config::ComputerConfig;

const WITH_MISTAKES: &str = r#"{
  // The reader accepts comments and trailing commas.
  "servers": {
    "files": {"command": "files-mcp", "arg": ["--root", "."]},
    "weather": {
      "url": "https://weather.example/mcp",
      "tool_meta": {"forecast": {"auto_apply": "yes"}},
    },
    "notes": {"type": "stdio"},
  },
}"#;

const CORRECTED: &str = r#"{
  "servers": {
    "files": {"command": "files-mcp", "args": ["--root", "."]},
    "weather": {
      "url": "https://weather.example/mcp",
      "tool_meta": {"forecast": {"auto_apply": true}},
    },
    "notes": {"type": "stdio", "command": "notes-mcp"},
  },
}"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Err(invalid) = ComputerConfig::parse(WITH_MISTAKES) else { return Err("the mistakes were not found".into()) };
    for problem in &invalid.problems {
        println!("computer.json:{problem}");
    }
    let config = ComputerConfig::parse(CORRECTED)?;
    println!("The corrected file has the servers {}.", config.servers.into_keys().collect::<Vec<_>>().join(", "));
    Ok(())
}
