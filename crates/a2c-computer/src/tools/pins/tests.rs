use std::path::Path;

use a2c_mcp::model::Tool;
use serde_json::json;

use super::*;

const NOW: SystemTime = SystemTime::UNIX_EPOCH;

fn tool(name: &str, description: &str) -> Tool {
    serde_json::from_value(json!({"name": name, "description": description, "inputSchema": {"type": "object"}}))
        .unwrap()
}

/// What is new, as `tool change`.
fn compare(pins: &mut Pins, server: &str, tools: &[(&str, &str)]) -> Vec<String> {
    let tools: Vec<_> = tools.iter().map(|(name, description)| tool(name, description)).collect();
    let change_name = |change| match change {
        PinChange::First { known_server: false } => "first",
        PinChange::First { known_server: true } => "added",
        PinChange::Changed => "changed",
        PinChange::Returned => "returned",
        PinChange::Unpinned => "unpinned",
    };
    pins.compare(server, ListedDefinitions::of(&tools), NOW)
        .into_iter()
        .map(|f| format!("{} {}", f.tool, change_name(f.change)))
        .collect()
}

fn save(pins: &Pins) {
    pins.unsaved().expect("there is something to write").write().unwrap();
}

#[test]
fn a_tool_is_trusted_as_first_seen_until_it_changes() {
    let mut pins = Pins::in_memory();
    assert_eq!(pins.state_of("s", "add"), PinState::Unpinned);
    assert_eq!(compare(&mut pins, "s", &[("add", "Adds")]), ["add first"]);
    assert_eq!(compare(&mut pins, "s", &[("add", "Adds")]), [""; 0]);
    assert_eq!(pins.state_of("s", "add"), PinState::Trusted);
    assert_eq!(compare(&mut pins, "s", &[("add", "Steals"), ("sub", "Subtracts")]), ["add changed", "sub added"]);
    assert_eq!(compare(&mut pins, "s", &[("add", "Steals"), ("sub", "Subtracts")]), [""; 0], "reported once");
    assert_eq!((pins.state_of("s", "add"), pins.state_of("s", "sub")), (PinState::Changed, PinState::Trusted));
    assert_eq!(compare(&mut pins, "s", &[("add", "Steals more")]), ["add changed"], "another change is reported");
    assert_eq!(compare(&mut pins, "s", &[("add", "Adds")]), ["add returned"]);
    assert_eq!(pins.state_of("s", "add"), PinState::Trusted);
    assert_eq!(compare(&mut pins, "other", &[("add", "Other")]), ["add first"], "each server has its own");
}

#[test]
fn a_tool_that_goes_away_and_comes_back_changed_is_changed() {
    let mut pins = Pins::in_memory();
    compare(&mut pins, "s", &[("add", "Adds")]);
    assert_eq!(compare(&mut pins, "s", &[]), [""; 0]);
    assert_eq!(compare(&mut pins, "s", &[("add", "Steals")]), ["add changed"]);
    compare(&mut pins, "s", &[]);
    assert_eq!(pins.state_of("s", "add"), PinState::Changed, "going away again settles nothing");
}

#[test]
fn a_server_that_starts_empty_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pins.json");
    let mut pins = Pins::open(&path).unwrap();
    compare(&mut pins, "s", &[]);
    save(&pins);
    let mut pins = Pins::open(&path).unwrap();
    assert_eq!(compare(&mut pins, "s", &[("late", "Late")]), ["late added"]);
}

#[test]
fn the_policy_decides_what_a_change_means() {
    let cases = [
        (ToolChanges::Warn, PinState::Changed, false),
        (ToolChanges::Warn, PinState::Unpinned, false),
        (ToolChanges::Quarantine, PinState::Trusted, false),
        (ToolChanges::Quarantine, PinState::Changed, true),
        (ToolChanges::Quarantine, PinState::Unpinned, true),
    ];
    for (policy, state_of, blocked) in cases {
        assert_eq!(is_blocked(policy, state_of), blocked, "{policy:?} {state_of:?}");
    }
    assert_eq!(ToolChanges::default(), ToolChanges::Warn);
    assert_eq!(serde_json::from_str::<ToolChanges>("\"quarantine\"").unwrap(), ToolChanges::Quarantine);
}

#[test]
fn an_approval_takes_what_was_looked_at() {
    let mut pins = Pins::in_memory();
    compare(&mut pins, "s", &[("a", "1"), ("b", "1"), ("c", "1")]);
    compare(&mut pins, "s", &[("a", "2"), ("b", "2"), ("c", "2")]);
    let pending = pins.pending();
    assert_eq!(
        pending.iter().map(|p| (p.server.as_str(), p.tool.as_str())).collect::<Vec<_>>(),
        [("s", "a"), ("s", "b"), ("s", "c")]
    );
    let diff = pins.comparison("s", "a").unwrap().diff();
    assert!(diff.contains("- description: 1\n+ description: 2"), "{diff}");
    let exactly = Approval::Exactly { tool: "a", hash: &pending[0].hash };
    compare(&mut pins, "s", &[("a", "3")]);
    assert_eq!(pins.approve("s", exactly), 0, "it is not what was looked at any more");
    compare(&mut pins, "s", &[("a", "2")]);
    assert_eq!(pins.approve("s", exactly), 1);
    assert_eq!(pins.state_of("s", "a"), PinState::Trusted);
    assert_eq!(pins.approve("s", Approval::Tool("b")), 1);
    assert_eq!(pins.approve("s", Approval::Tool("b")), 0);
    assert_eq!(pins.approve("s", Approval::Everything), 1);
    assert_eq!(pins.approve("elsewhere", Approval::Everything), 0);
    assert_eq!(pins.pending(), []);
    assert_eq!(pins.comparison("s", "a"), None);
    assert_eq!(compare(&mut pins, "s", &[("a", "1")]), ["a changed"], "what was pinned before is a change now");
}

#[test]
fn pins_and_pending_changes_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state/pins.json");
    let mut pins = Pins::open(&path).unwrap();
    assert!(pins.unsaved().is_none());
    compare(&mut pins, "s", &[("a", "1"), ("b", "1")]);
    compare(&mut pins, "s", &[("a", "2")]);
    save(&pins);
    assert!(pins.unsaved().is_none(), "saved is saved");
    compare(&mut pins, "s", &[("a", "2")]);
    assert!(pins.unsaved().is_none(), "no news, nothing to write");

    let mut again = Pins::open(&path).unwrap();
    assert_eq!(again.pending(), pins.pending());
    assert_eq!(again.comparison("s", "a"), pins.comparison("s", "a"));
    assert_eq!(compare(&mut again, "s", &[("a", "2"), ("b", "2")]), ["b changed"]);
    assert!(again.forget("s"));
    save(&again);
    assert_eq!(compare(&mut Pins::open(&path).unwrap(), "s", &[("a", "3")]), ["a first"]);
    assert_private(&path);
}

#[cfg(unix)]
fn assert_private(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no temporary file stays behind");
}

#[cfg(not(unix))]
fn assert_private(_: &Path) {}

#[test]
fn an_older_state_does_not_replace_a_newer_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pins.json");
    let mut pins = Pins::open(&path).unwrap();
    compare(&mut pins, "s", &[("a", "1")]);
    let older = pins.unsaved().unwrap();
    compare(&mut pins, "s", &[("b", "1")]);
    save(&pins);
    older.write().unwrap();
    assert_eq!(Pins::open(&path).unwrap().state_of("s", "b"), PinState::Trusted);
}

#[test]
fn what_could_not_be_written_stays_unsaved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state/pins.json");
    let mut pins = Pins::open(&path).unwrap();
    compare(&mut pins, "s", &[("a", "1")]);
    std::fs::write(folder.path().join("state"), "in the way").unwrap();
    let error = pins.unsaved().unwrap().write().unwrap_err();
    assert!(error.to_string().contains("pins.json"), "{error}");
    std::fs::remove_file(folder.path().join("state")).unwrap();
    save(&pins);
    assert!(path.exists());
}

#[test]
fn a_damaged_file_is_put_aside_and_tools_are_new() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pins.json");
    for (number, damaged) in
        ["", "{\"version\": 1, \"servers\": {\"s\"", "{\"version\": 0, \"servers\": {}}"].iter().enumerate()
    {
        std::fs::write(&path, damaged).unwrap();
        let mut pins = Pins::open(&path).unwrap();
        assert_eq!(compare(&mut pins, "s", &[("a", "1")]), ["a first"]);
        let aside = folder.path().join(format!("pins.json.corrupt-{}", number + 1));
        assert_eq!(std::fs::read_to_string(aside).unwrap(), *damaged);
        assert!(!path.exists());
    }
}

#[test]
fn a_file_of_a_later_version_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pins.json");
    std::fs::write(&path, "{\"version\": 2, \"tools\": []}").unwrap();
    assert!(matches!(Pins::open(&path), Err(OpenError::Newer { version: 2, .. })));
    assert!(path.exists());
    assert!(matches!(Pins::open(folder.path()), Err(OpenError::Read { .. })));
}

#[test]
fn one_server_cannot_use_up_the_room_of_the_others() {
    let endless = "x".repeat(MAX_NAME + 1);
    assert_eq!(compare(&mut Pins::in_memory(), "s", &[(&endless, "1")]), [format!("{endless} unpinned")]);
    let limits = Limits { tools: 5, tools_per_server: 2, text: 10_000, text_per_server: 150 };
    let mut pins = Pins { limits, ..Pins::in_memory() };
    assert_eq!(
        compare(&mut pins, "flood", &[("a", "1"), ("b", "1"), ("c", "1")]),
        ["a first", "b first", "c unpinned"]
    );
    assert_eq!(pins.state_of("flood", "c"), PinState::Unpinned);
    assert_eq!(compare(&mut pins, "flood", &[("a", "2")]), ["a changed"], "what is pinned is compared without room");
    assert!(pins.by_server["flood"].values().map(Pin::text).sum::<usize>() <= 150);
    assert_eq!(compare(&mut pins, "other", &[("a", "1"), ("b", "1")]), ["a first", "b first"]);
    assert_eq!(compare(&mut pins, "third", &[("a", "1"), ("b", "1")]), ["a first", "b unpinned"]);
    assert_eq!(pins.approve("flood", Approval::Everything), 1);
    assert_eq!(compare(&mut pins, "flood", &[("a", "2")]), [""; 0]);
}
