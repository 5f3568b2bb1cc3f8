//! A call runs once, whatever becomes of the connection and however often it is asked for.

use std::path::{Path, PathBuf};
use std::time::Duration;

use a2c_agent::{Agent, RequestError};
use a2c_computer::config::ComputerConfig;
use a2c_computer::{Computer, ComputerOptions, Confirmation, LinkOptions, Seat};
use a2c_protocol::{ErrorCode, event};
use a2c_testbed::{PATIENCE, Peer};
use serde_json::{Map, Value, json};

use crate::in_process::{TestOffice, stdio, until};
use crate::program;

/// A file in which a server writes how often it was called.
struct CallLog {
    file: PathBuf,
    _dir: tempfile::TempDir,
}

impl CallLog {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { file: dir.path().join("call_log"), _dir: dir }
    }

    fn servers(&self) -> Value {
        let script = a2c_testbed::workspace_root().join("tests/hostile/unruly.py");
        let args = [script.to_str().unwrap(), "call_log", self.file.to_str().unwrap()];
        json!({"call_log": stdio(a2c_testbed::python(), &args)})
    }

    fn lines(&self) -> usize {
        std::fs::read_to_string(&self.file).unwrap_or_default().lines().count()
    }

    /// From now on the tool answers.
    fn go(&self) {
        std::fs::write(Path::new(&format!("{}.go", self.file.display())), "").unwrap();
    }
}

/// A call under a key of our own.
fn request(req_id: &str, params: &Value) -> Map<String, Value> {
    let call = json!({"computer": "desk", "tool_name": "tool", "params": params, "timeout": 60, "req_id": req_id});
    call.as_object().unwrap().clone()
}

async fn ask(agent: &Agent, req_id: &str, params: &Value) -> Result<Value, RequestError> {
    agent.request(event::TOOL_CALL, request(req_id, params), PATIENCE).await
}

fn text_of(answer: &Value) -> &str {
    answer["content"][0]["text"].as_str().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_gets_the_answer_of_the_first() {
    let call_log = CallLog::new();
    call_log.go();
    let office = TestOffice::new(&call_log.servers()).await;
    let first = ask(&office.agent, "key", &json!({})).await.unwrap();
    let again = ask(&office.agent, "key", &json!({})).await.unwrap();
    assert_eq!((text_of(&first), &first), ("1", &again));
    let other = ask(&office.agent, "other key", &json!({})).await.unwrap();
    assert_eq!(text_of(&other), "2");
    match ask(&office.agent, "key", &json!({"else": true})).await {
        Err(RequestError::Refused(error)) => {
            assert_eq!(error.code, ErrorCode::BadRequest);
            assert!(error.message.contains("req_id"), "{}", error.message);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(call_log.lines(), 2);
    office.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_runs_while_the_hub_is_gone_is_answered_to_who_asks_again() {
    let call_log = CallLog::new();
    let hub = program::hub();
    let url = hub.address().to_owned();
    let config = ComputerConfig::parse(&json!({"servers": call_log.servers()}).to_string()).unwrap();
    let seat = Seat { office: "o".into(), name: "desk".into() };
    let options = ComputerOptions::new(LinkOptions::new(&url), seat, config).confirmation(Confirmation::Allow);
    let computer = Computer::start(options).await.unwrap();
    let agent = Agent::connect(&LinkOptions::new(&url), "a").await.unwrap();
    agent.join("o").await.unwrap();

    let asking = agent.clone();
    let call = tokio::spawn(async move { ask(&asking, "key", &json!({})).await });
    until("the call", || call_log.lines() == 1).await;
    // Without a farewell.
    drop(hub);
    assert!(call.await.unwrap().is_err(), "no Computer is there to answer");

    let mut news = agent.subscribe();
    let address = url.trim_start_matches("http://");
    let _hub = Peer::ready(program::a2c(&["server", "--listen", address, "--auth", "none"]));
    // The Agent and the Computer come back by themselves, in whichever order.
    let back = async {
        loop {
            let members = agent.members().await.unwrap_or_default();
            if members.len() == 2 {
                return;
            }
            // Whatever is told, or nothing for a while: another look does no harm.
            let _ = tokio::time::timeout(Duration::from_millis(200), news.recv()).await;
        }
    };
    tokio::time::timeout(PATIENCE, back).await.expect("both come back");
    let asking = agent.clone();
    let again = tokio::spawn(async move { ask(&asking, "key", &json!({})).await });
    call_log.go();
    assert_eq!(text_of(&again.await.unwrap().unwrap()), "1");
    assert_eq!(call_log.lines(), 1, "it ran again");
    // A further repeat gets the same answer.
    assert_eq!(text_of(&ask(&agent, "key", &json!({})).await.unwrap()), "1");
    agent.close().await;
    computer.stop().await;
}
