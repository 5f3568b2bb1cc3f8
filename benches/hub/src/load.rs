//! The load: offices full of Agents and Computers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use a2c_socketio::{Client, Inbox, Incoming, Options, Payload, Transport};
use serde_json::json;

use crate::measure::{Figures, cpu_micros, rss_kib};
use crate::servers::Running;

/// How long one call may take.
const LIMIT: Duration = Duration::from_secs(60);

/// One round of load.
pub struct Setting {
    pub offices: usize,
    pub in_flight: usize,
    pub result_bytes: usize,
    calls: usize,
}

impl Setting {
    /// Every combination that is compared.
    pub fn all(quick: bool) -> Vec<Self> {
        let offices: &[usize] = if quick { &[1, 16] } else { &[1, 16, 128, 1000] };
        let results: &[(usize, usize)] =
            if quick { &[(200, 20_000)] } else { &[(200, 40_000), (10_000, 20_000), (1_000_000, 400)] };
        let mut all = Vec::new();
        for &offices in offices {
            for in_flight in [1, 8] {
                for &(result_bytes, calls) in results {
                    // Many offices with large results would measure this process, not the server.
                    if result_bytes < 1_000_000 || offices <= 16 {
                        all.push(Self { offices, in_flight, result_bytes, calls: calls.max(offices * in_flight) });
                    }
                }
            }
        }
        all
    }

    /// The Python server is slow enough to be measured in fewer settings.
    pub fn suits(&self, server: &str) -> bool {
        server != "Python SDK server" || (self.offices <= 16 && self.result_bytes <= 10_000)
    }

    pub fn label(&self) -> String {
        format!("{} | {}", self.offices, self.in_flight)
    }
}

/// Puts the load on a server and measures.
pub async fn run(server: &Running, setting: &Setting) -> Result<Figures, String> {
    let mut agents = Vec::new();
    for office in 0..setting.offices {
        let (computer, inbox) = join(server, "computer", office).await?;
        tokio::spawn(answer(inbox, setting.result_bytes, computer));
        let (agent, mut inbox) = join(server, "agent", office).await?;
        tokio::spawn(async move { while inbox.recv().await.is_some() {} });
        agents.push(agent);
    }
    warm_up(&agents, setting).await?;

    let calls = setting.calls;
    let next = Arc::new(AtomicUsize::new(0));
    let (cpu, begin) = (cpu_micros(server.pid), Instant::now());
    let workers: Vec<_> = agents
        .iter()
        .enumerate()
        .flat_map(|(office, agent)| (0..setting.in_flight).map(move |_| (office, agent.clone())))
        .map(|(office, agent)| {
            let (next, bytes) = (next.clone(), setting.result_bytes);
            tokio::spawn(async move {
                let (mut times, mut lost) = (Vec::new(), 0);
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= calls {
                        return (times, lost);
                    }
                    let start = Instant::now();
                    match call(&agent, office, number, bytes).await {
                        true => times.push(start.elapsed()),
                        false => lost += 1,
                    }
                }
            })
        })
        .collect();
    let (mut times, mut lost) = (Vec::with_capacity(calls), 0);
    for worker in workers {
        let (some, missing) = worker.await.map_err(|e| e.to_string())?;
        times.extend(some);
        lost += missing;
    }
    let took = begin.elapsed();
    times.sort_unstable();
    Ok(Figures { calls, lost, took, times, cpu_micros: cpu_micros(server.pid) - cpu, rss_kib: rss_kib(server.pid) })
}

async fn join(server: &Running, role: &str, office: usize) -> Result<(Client, Inbox), String> {
    let options = Options::new(&server.url)
        .path("/smcp")
        .namespace("/smcp")
        .query("a2c_version", "0.2.0")
        .auth(json!({ "role": role }))
        .transport(Transport::Websocket)
        .reconnect(None);
    let (client, inbox) = Client::connect(options).await.map_err(|e| e.to_string())?;
    let seat = json!({"role": role, "name": format!("{role}{office}"), "office_id": format!("o{office}")});
    let payload = Payload::json(&seat).map_err(|e| e.to_string())?;
    let ack = client.call("server:join_office", payload, LIMIT).await.map_err(|e| e.to_string())?;
    match ack.get::<bool>(0) {
        Ok(true) => Ok((client, inbox)),
        _ => Err(format!("not joined: {:?}", ack.raw(1))),
    }
}

/// A Computer that answers at once. It holds its client, which would close the connection when dropped.
async fn answer(mut inbox: Inbox, bytes: usize, _computer: Client) {
    let text = "x".repeat(bytes);
    while let Some(incoming) = inbox.recv().await {
        if let Incoming::Event(event) = incoming
            && let Some(ack) = event.ack
        {
            let Ok(call) = event.payload.get::<serde_json::Value>(0) else { continue };
            let result =
                json!({"content": [{"type": "text", "text": text}], "isError": false, "req_id": call["req_id"]});
            if let Ok(payload) = Payload::json(&result) {
                let _ = ack.send(payload).await;
            }
        }
    }
}

async fn warm_up(agents: &[Client], setting: &Setting) -> Result<(), String> {
    for (office, agent) in agents.iter().enumerate() {
        if !call(agent, office, usize::MAX - office, setting.result_bytes).await {
            return Err(format!("no answer in office {office}"));
        }
    }
    Ok(())
}

/// One call; right if the answer is for this request and has all its bytes.
async fn call(agent: &Client, office: usize, number: usize, bytes: usize) -> bool {
    let req_id = number.to_string();
    let request = json!({
        "agent": format!("agent{office}"), "req_id": req_id, "computer": format!("computer{office}"),
        "office_id": format!("o{office}"), "tool_name": "echo", "params": {"text": "hello"}, "timeout": 60
    });
    let Ok(payload) = Payload::json(&request) else { return false };
    let Ok(answer) = agent.call("client:tool_call", payload, LIMIT).await else { return false };
    let Some(raw) = answer.raw(0) else { return false };
    // Looking for the key in the text keeps this process from being the limit.
    raw.get().len() >= bytes && raw.get().contains(&format!("\"req_id\":\"{req_id}\""))
}
