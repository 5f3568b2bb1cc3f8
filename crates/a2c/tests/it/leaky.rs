//! A server that repeats its credential wherever it can: no Agent, no log and no file shows it.

use a2c_agent::{DesktopQuery, FinderQuery};
use a2c_computer::ServerState;
use a2c_testbed::PATIENCE;
use serde_json::{Map, json};

use crate::in_process::{TestOffice, log, stdio_with, until};

/// The credential. Nothing of it is part of an ordinary word.
const CANARY: &str = "kanari-9f27b1c4";

/// What came by one way.
#[derive(Debug)]
struct Seen(Vec<(String, String)>);

impl Seen {
    fn add(&mut self, way: impl Into<String>, what: impl std::fmt::Debug) {
        self.0.push((way.into(), format!("{what:?}")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_leaves_by_no_way() {
    let log = log::Log::keep_all();
    let folder = tempfile::tempdir().unwrap();
    let pins = folder.path().join("pins.json");
    let script = a2c_testbed::workspace_root().join("tests/hostile/leaky.py");
    let leaky = stdio_with(a2c_testbed::python(), &[script.to_str().unwrap()], &json!({"KEY": "${input:key}"}));
    let key = json!({"type": "promptString", "id": "key", "description": "Key", "password": true, "default": CANARY});
    let config = json!({"inputs": [key], "servers": {"leaky": leaky}});
    let office = TestOffice::configured(&config, |options| options.pins = Some(pins.clone())).await;
    let mut seen = Seen(Vec::new());

    let tools = office.tools().await;
    assert_eq!(tools.len(), 8, "the tool is left out whose name is the credential: {tools:?}");
    assert!(tools[0].description.contains("***"), "{tools:?}");
    seen.add("tools", json!(tools));
    seen.add("tools of the owner", office.handle().tools());
    for tool in ["result", "large", "failure", "error", "unreadable", "progress", "lines"] {
        let result = office.call(tool, json!({})).await;
        assert!(matches!(tool, "progress" | "lines" | "unreadable") || json!(result).to_string().contains("***"));
        seen.add(tool, json!(result).to_string());
        seen.add(format!("{tool} of the owner"), office.handle().call(tool, Map::new(), PATIENCE).await);
    }
    seen.add("configuration", json!(office.agent.config("desk").await.unwrap()).to_string());
    seen.add("resources", office.agent.resources("desk", "leaky", None).await.unwrap());
    seen.add("desktop", office.agent.desktop("desk", DesktopQuery::default()).await.unwrap());
    seen.add("finder", office.agent.finder("desk", FinderQuery::default()).await);
    for uri in ["window://leaky/w", "demo://leaky"] {
        seen.add(uri, office.agent.read_resource_from("desk", "leaky", uri).await);
    }
    let lines = || office.handle().log("leaky").unwrap().tail(usize::MAX);
    until("the line on standard error", || lines().iter().any(|line| line.text.contains("***"))).await;
    seen.add("standard error and output", lines());
    office.call("end", json!({})).await;
    until("the failure", || matches!(office.state("leaky"), ServerState::Failed { .. })).await;
    let failed = office.state("leaky");
    let ServerState::Failed { reason } = &failed else { panic!("{failed:?}") };
    assert!(reason.to_string().contains("***"), "{reason}");
    seen.add("failure", (reason.to_string(), &failed));
    seen.add("lines after the end", lines());
    seen.add("servers and history", (office.handle().servers(), office.handle().history()));
    until("the pins", || pins.exists()).await;
    let pinned = std::fs::read_to_string(&pins).unwrap();
    assert!(pinned.contains("***"), "{pinned}");
    seen.add("pins", pinned);
    office.end().await;
    seen.add("log", log.text());

    for (way, what) in seen.0 {
        let place = what.find("kanari").map(|at| &what[at.saturating_sub(100)..what.len().min(at + 100)]);
        assert_eq!(place, None, "by way of: {way}");
    }
}
