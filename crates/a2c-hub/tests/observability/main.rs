//! What operators see of a hub, read by the tools they read it with.

#![expect(clippy::unwrap_used, reason = "in a test, a panic is how a failure is told")]

mod metrics;
mod traces;

use std::process::Command;

/// A Python script of the tests.
fn script(name: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(a2c_testbed::python());
    command.arg(a2c_testbed::workspace_root().join("tests/interop/python").join(name)).args(arguments);
    command
}
