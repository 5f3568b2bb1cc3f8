//! Keeps the Desktop of a Computer current while it changes: `cargo run -p a2c-agent --example follow_desktop`.
#![allow(clippy::print_stdout, reason = "an example prints what it does")]

mod office;

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use a2c_agent::{Agent, FollowOptions, FollowedParts, Follower, LinkOptions, async_trait};
use office::{OFFICE, Office};
use serde_json::json;
use tokio::sync::mpsc;

/// Passes on each Desktop that was fetched.
struct Desktops(mpsc::UnboundedSender<Vec<String>>);

#[async_trait]
impl Follower for Desktops {
    async fn desktop_changed(&self, _computer: &str, windows: &[String]) {
        // The example may be over already.
        let _ = self.0.send(windows.to_vec());
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let office = Office::start().await?;
    let agent = Agent::connect(&LinkOptions::new(office.hub.url()), "assistant").await?;
    agent.join(OFFICE).await?;

    let (sender, mut desktops) = mpsc::unbounded_channel();
    let options = FollowOptions::default().with_parts(FollowedParts::DESKTOP);
    let following = agent.follow(Arc::new(Desktops(sender)), options).await?;
    println!("{:?}", desktops.recv().await.ok_or("the Computer is gone")?);

    // The tool changes the window, the Computer announces it, and the Agent fetches the Desktop again.
    agent.call_tool("desk", "write", json!({"text": "hello"}), Duration::from_secs(30)).await?;
    println!("{:?}", desktops.recv().await.ok_or("the Computer is gone")?);

    following.stop().await;
    agent.close().await;
    office.hub.shutdown().await;
    Ok(())
}
