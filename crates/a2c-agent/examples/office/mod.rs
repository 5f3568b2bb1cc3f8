//! What an Agent needs around it: a hub on loopback, and a Computer `desk` with one tool and one window.
//!
//! A real Computer runs MCP servers (`a2c computer`); this one answers by itself, so that the examples need no set-up.

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use a2c_agent::protocol::context::GetDesktopRet;
use a2c_agent::protocol::tool::{CallToolResult, GetToolsRet, SmcpTool, ToolCallReq};
use a2c_agent::protocol::{ErrorBody, ErrorCode, event};
use a2c_agent::{LinkOptions, Role};
use a2c_hub::{Hub, HubConfig};
use a2c_link::{Incoming, Link, Payload, Seat};
use serde::Serialize;
use serde_json::{Value, json};

/// The office that the Agent and the Computer join.
pub(crate) const OFFICE: &str = "demo";

/// A running hub with its Computer.
pub(crate) struct Office {
    pub(crate) hub: Hub,
    _computer: Link,
}

impl Office {
    pub(crate) async fn start() -> Result<Self, Box<dyn Error>> {
        let hub = Hub::start(HubConfig::on(([127, 0, 0, 1], 0).into())).await?;
        let (computer, mut inbox) = Link::connect(&LinkOptions::new(hub.url()), Role::Computer).await?;
        computer.join(&Seat { office: OFFICE.into(), name: "desk".into() }).await?;
        let link = computer.clone();
        tokio::spawn(async move {
            let window = Arc::new(Mutex::new(String::from("nothing yet")));
            while let Some(incoming) = inbox.recv().await {
                let Incoming::Event(event) = incoming else { continue };
                let Some(ack) = event.ack else { continue };
                let Ok(request) = event.payload.get::<Value>(0) else { continue };
                let (answer, has_changed) = answer(&event.name, request, &window);
                // The connection may end before the answer is sent.
                let _ = ack.send(answer).await;
                if has_changed {
                    let _ = link.emit(event::UPDATE_DESKTOP, &json!({"computer": "desk"})).await;
                }
            }
        });
        Ok(Self { hub, _computer: computer })
    }
}

/// The answer to a request, and whether the window changed.
fn answer(event: &str, request: Value, window: &Mutex<String>) -> (Payload, bool) {
    let req_id = request["req_id"].as_str().unwrap_or_default().to_owned();
    let mut window = window.lock().unwrap_or_else(PoisonError::into_inner);
    match event {
        event::GET_TOOLS => (json(&GetToolsRet { tools: vec![write()], req_id }), false),
        event::GET_DESKTOP => {
            let shown = format!("window://com.example.notes/main\n\n{window}");
            (json(&GetDesktopRet { desktops: vec![shown], req_id }), false)
        }
        event::TOOL_CALL => match serde_json::from_value::<ToolCallReq>(request) {
            Ok(call) => {
                *window = call.params.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
                let content = vec![json!({"type": "text", "text": format!("wrote {} characters", window.len())})];
                (json(&CallToolResult { content, ..Default::default() }), true)
            }
            Err(error) => (json(&ErrorBody::new(ErrorCode::BadRequest, error.to_string())), false),
        },
        _ => (json(&ErrorBody::new(ErrorCode::BadRequest, "this Computer does not know the event")), false),
    }
}

/// The one tool.
fn write() -> SmcpTool {
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    SmcpTool {
        name: "write".into(),
        description: "Writes a text into the window.".into(),
        params_schema: schema.into(),
        return_schema: None,
        meta: None,
    }
}

fn json(value: &impl Serialize) -> Payload {
    Payload::json(value).expect("the structures of the protocol can be written as JSON")
}
