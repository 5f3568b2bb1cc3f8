//! All of them in one Computer.

use serde_json::{Value, json};

use super::peers;
use crate::in_process::{TestOffice, sample};

#[tokio::test(flavor = "multi_thread")]
async fn all_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (streamable, sse) = (peers::everything_over("streamableHttp", 0), peers::everything_over("sse", 0));
    let python = peers::fastmcp_over("streamable-http");
    let repository = peers::repository();
    let mut servers = json!({
        "every": peers::everything(&json!({})),
        "every-http": peers::at("streamable", streamable.address()),
        "every-sse": peers::at("sse", sse.address()),
        "fetch": peers::fetch(&[]),
        "files": peers::filesystem(&root),
        "memory": peers::memory(&root.join("graph")),
        "python": peers::at("streamable", python.address()),
        "sample": sample(),
        "time": peers::time(),
    });
    if let Some(repository) = &repository {
        servers["git"] = peers::git(repository.path());
    }
    let office = TestOffice::new(&servers).await;
    for (name, state) in office.computer.servers() {
        assert_eq!(state.to_string(), "ready", "{name}");
    }
    let names = office.names().await;
    let legal = |name: &String| {
        (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
    };
    assert!(names.iter().all(legal), "{names:?}");
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "two tools of one name: {names:?}");

    // Each of the three that have `echo` under the same name, and the sample, answers for itself.
    for (tool, arguments, answer) in [
        ("every_echo", json!({"message": "a"}), "Echo: a"),
        ("every-http_echo", json!({"message": "b"}), "Echo: b"),
        ("every-sse_echo", json!({"message": "c"}), "Echo: c"),
        ("sample_echo", json!({"text": "d"}), "d"),
        ("repeat", json!({"text": "e", "times": 2}), "ee"),
    ] {
        assert_eq!(office.text(tool, arguments).await, answer, "{tool}");
    }
    // Many calls to all of them at the same time.
    let calls: Vec<_> = (0..20)
        .flat_map(|n| {
            let file = root.join(format!("{n}.txt"));
            [
                ("write_file", json!({"path": file, "content": n.to_string()})),
                ("get_current_time", json!({"timezone": "UTC"})),
                ("read_graph", json!({})),
                ("every_get-sum", json!({"a": n, "b": 1})),
                ("every-sse_get-sum", json!({"a": n, "b": 1})),
                ("every-http_get-sum", json!({"a": n, "b": 1})),
                ("repeat", json!({"text": "x", "times": n})),
                ("add", json!({"a": n, "b": 1})),
            ]
        })
        .map(|(tool, arguments): (&str, Value)| (tool, office.start_call(tool, arguments, a2c_testbed::PATIENCE)))
        .collect();
    for (tool, call) in calls {
        let result = call.await.unwrap();
        assert!(!result.is_error, "{tool}: {}", result.text());
    }
    for n in 0..20 {
        assert_eq!(std::fs::read_to_string(root.join(format!("{n}.txt"))).unwrap(), n.to_string());
    }
    office.end().await;
}
