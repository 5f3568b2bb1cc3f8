//! Lists the tools of a Computer and calls one: `cargo run -p a2c-agent --example call_tool`.
#![allow(clippy::print_stdout, reason = "an example prints what it does")]

mod office;

use std::error::Error;
use std::time::Duration;

use a2c_agent::{Agent, LinkOptions};
use office::{OFFICE, Office};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let office = Office::start().await?;

    let agent = Agent::connect(&LinkOptions::new(office.hub.url()), "assistant").await?;
    agent.join(OFFICE).await?;

    for tool in agent.tools("desk").await? {
        println!("{}: {} takes {}", tool.name, tool.description, tool.params_schema.text());
    }
    let result = agent.call_tool("desk", "write", json!({"text": "hello"}), Duration::from_secs(30)).await?;
    println!("{}", result.text());

    agent.close().await;
    office.hub.shutdown().await;
    Ok(())
}
