//! Desktop, Finder and documents from the command line, at a real hub and a real Computer.
#![cfg(unix)]

use a2c_testbed::Peer;
use serde_json::{Value, json};

use crate::program::{self, a2c, agent, hub};

#[test]
fn a_real_computer_is_looked_at_and_its_documents_are_fetched() {
    let hub = hub();
    let config = program::Config::sample(&json!({}));
    let args =
        ["computer", "--url", hub.address(), "--office", "o", "--name", "desk", "--config", config.arg(), "--yes"];
    let _desk = Peer::ready(a2c(&[&args[..], &["--dpe-resolver", "http", "--window-timeout", "9"]].concat()));
    agent(&hub, "o", &["call", "desk", "note", r#"{"text": "milk"}"#]).ok();
    assert_eq!(agent(&hub, "o", &["desktop", "desk"]).ok(), "window://a2c.sample/note\n\nmilk\n");
    assert!(agent(&hub, "o", &["finder", "desk"]).ok().contains("dpe://a2c.sample/handbook"));
    let (book, file) = ("dpe://a2c.sample/handbook", config.path.with_file_name("handbook.json"));
    assert!(
        agent(&hub, "o", &["read", "desk", &format!("{book}?format=markdown"), "--page", "1"])
            .ok()
            .contains("# The Desktop")
    );
    assert!(agent(&hub, "o", &["dpe", "desk", book]).ok().starts_with("http://127.0.0.1:"));
    let written = agent(&hub, "o", &["dpe", "desk", book, "--output", file.to_str().unwrap()]);
    assert!(
        written.code == Some(0) && written.stdout.is_empty() && written.stderr.contains("wrote"),
        "{}",
        written.stderr
    );
    let whole: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(whole["pages"].as_array().unwrap().len(), 3);
    assert_eq!(agent(&hub, "o", &["dpe", "desk", book, "-o", "-"]).ok(), std::fs::read_to_string(&file).unwrap());
    agent(&hub, "o", &["dpe", "desk", "dpe://a2c.sample/nothing", "-o", "-"]).fails_saying(&["4201"]);
    agent(&hub, "o", &["read", "desk", book, "--page", "3"]).fails_saying(&["4202", "it has 3 pages"]);
    agent(&hub, "o", &["read", "desk", "file:///nowhere"]).fails_saying(&[
        "404",
        "--server NAME",
        "a2c agent resources",
    ]);
    let pages = |rest: &[&str]| agent(&hub, "o", &[&["read", "desk", book, "--pages"], rest].concat()).ok();
    let markdown = pages(&[]);
    let headings: Vec<&str> = markdown.lines().filter(|line| line.starts_with("# ")).collect();
    assert_eq!(headings, ["# What this is", "# The Desktop", "# The whole of it"]);
    assert!(
        markdown.contains("an element.\n\n# The Desktop\n\nWhat") && markdown.ends_with("one JSON.\n"),
        "{markdown}"
    );
    assert_eq!(pages(&["--format", "text"]), markdown.replace("# ", ""));
    let elements = pages(&["--format", "json"]);
    let pages: Vec<Value> = elements.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(pages.iter().map(|page| page["elements"].as_array().unwrap().len()).collect::<Vec<_>>(), [3, 3, 2]);
    agent(&hub, "o", &["read", "desk", "dpe://a2c.sample/nothing", "--pages"]).fails_saying(&["4201"]);
}

#[test]
fn a_file_of_this_machine_is_read_only_from_where_the_user_says() {
    let hub = hub();
    let config = program::Config::sample(&json!({}));
    let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let resolver = format!("dir:{}", dir.path().to_str().unwrap());
    let args =
        ["computer", "--url", hub.address(), "--office", "o", "--name", "desk", "--config", config.arg(), "--yes"];
    let _desk = Peer::ready(a2c(&[&args[..], &["--dpe-resolver", &resolver]].concat()));
    let fetch = ["dpe", "desk", "dpe://a2c.sample/handbook", "-o", "-"];
    agent(&hub, "o", &fetch).fails_saying(&["file:///", "--files DIR"]);
    let within =
        |dir: &tempfile::TempDir| agent(&hub, "o", &[&fetch[..], &["--files", dir.path().to_str().unwrap()]].concat());
    within(&elsewhere).fails_saying(&["--files DIR"]);
    assert!(within(&dir).ok().contains("\"pages\""));
}
