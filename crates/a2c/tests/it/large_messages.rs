//! A large message of an MCP server costs the Computer a few times its size, whatever it consists of.
#![cfg(target_os = "linux")]

use a2c_agent::{Agent, LinkOptions};
use a2c_testbed::{PATIENCE, Peer};
use serde_json::json;

use crate::in_process::until;
use crate::program::{Config, a2c, hub};

const MIB: u64 = 1 << 20;

/// How many times its size a message may cost.
const RATIO: u64 = 4;

/// What the program takes besides: stacks of threads, and what the allocator keeps.
const SLACK: u64 = 32 * MIB;

/// A Computer that is a process of its own, with one server of large messages.
struct Measured {
    computer: Peer,
    agent: Agent,
    _hub: Peer,
    _config: Config,
}

impl Measured {
    async fn new(mode: &[&str], options: &[&str]) -> Self {
        let hub = hub();
        let script = a2c_testbed::workspace_root().join("tests/hostile/large.py");
        let args = [&[script.to_str().unwrap()], mode].concat();
        let server = json!({"command": a2c_testbed::python(), "args": args, "env": {"API_KEY": "not-in-any-answer"}});
        let config = Config::new(&json!({"mcpServers": {"large": server}}).to_string());
        let seat = ["computer", "--url", hub.address(), "--office", "o", "--name", "desk", "--config", config.arg()];
        let computer = Peer::ready(a2c(&[&seat[..], &["--yes"], options].concat()));
        let agent = Agent::connect(&LinkOptions::new(hub.address()), "a").await.unwrap();
        agent.join("o").await.unwrap();
        Self { computer, agent, _hub: hub, _config: config }
    }

    /// The most memory that the Computer has had, in bytes.
    fn peak(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.computer.pid())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        peak.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }

    /// Calls a tool that answers with so many bytes, and checks what that costs.
    async fn call(&self, tool: &str, bytes: u64) -> String {
        let before = self.peak();
        let result = self.agent.call_tool("desk", tool, json!({ "bytes": bytes }), PATIENCE).await.unwrap();
        let cost = self.peak() - before;
        println!("{tool}: {bytes} bytes cost {cost}, {:.1} times as much", cost as f64 / bytes as f64);
        assert!(cost <= RATIO * bytes + SLACK, "{tool}: {bytes} bytes cost {cost}");
        result.text()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_is_read_in_pages_costs_a_few_times_its_size() {
    for tool in ["dense", "rows", "text"] {
        let measured = Measured::new(&[], &["--max-result", "65536"]).await;
        let text = measured.call(tool, 24 * MIB).await;
        assert!(text.contains("a2c-result://"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_is_passed_on_whole_costs_a_few_times_its_size() {
    let measured = Measured::new(&[], &[]).await;
    let text = measured.call("text", 15 * MIB).await;
    assert!(text.len() as u64 > 13 * MIB);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_very_many_tools_costs_a_few_times_its_size_and_is_refused() {
    let measured = Measured::new(&["list"], &["--log", "warn"]).await;
    let before = measured.peak();
    measured.agent.call_tool("desk", "relist", json!({}), PATIENCE).await.unwrap();
    until("the refusal", || measured.computer.stderr_tail().contains("its changed tools are not known")).await;
    let (cost, size) = (measured.peak() - before, 16 * MIB);
    println!("a list of {size} bytes costs {cost}");
    assert!(cost <= RATIO * size + SLACK, "{cost}");
    assert!(measured.agent.tools("desk").await.unwrap().len() == 4, "the tools stay as they were");
}
