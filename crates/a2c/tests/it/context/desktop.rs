//! What is on the Desktop.

use std::time::Duration;

use serde_json::json;

use super::library::{server, server_from, server_with, window};
use crate::in_process::{TestOffice, sample};

#[tokio::test]
async fn windows_of_all_servers_are_shown_in_their_order() {
    let important =
        json!({"uri": "window://b/second", "name": "w", "annotations": {"priority": 0.9}, "read": ["x", "y"]});
    let office = TestOffice::new(&json!({
        "b": server(&[window("window://b/first", "1"), important]),
        "a": server(&[window("window://a", "hello"), window("demo://a", "not a window")]),
        "mute": server_with(&json!({"subscribe": false, "resources": [window("window://mute", "unseen")]})),
    }))
    .await;
    let expected = ["window://a\n\nhello", "window://b/second\n\nx\n\ny", "window://b/first\n\n1"];
    assert_eq!(office.desktop().await, expected);
    assert_eq!(office.desktop_with(json!({"desktop_size": 2})).await, expected[..2]);
    assert_eq!(office.desktop_with(json!({"desktop_size": 0})).await, [""; 0]);
    assert_eq!(office.desktop_with(json!({"desktop_size": -3})).await, [""; 0]);
    assert_eq!(office.desktop_with(json!({"window": "window://b/first"})).await, ["window://b/first\n\n1"]);
    assert_eq!(office.desktop_with(json!({"window": "window://missing"})).await, [""; 0]);
    office.end().await;
}

#[tokio::test]
async fn the_server_that_was_used_last_comes_first() {
    let office = TestOffice::new(&json!({"a": server(&[window("window://a", "hello")]), "z": sample()})).await;
    let first = |desktop: Vec<String>| desktop[0].lines().next().unwrap().to_owned();
    assert_eq!(first(office.desktop().await), "window://a");
    office.others_are_well().await;
    assert_eq!(first(office.desktop().await), "window://a2c.sample/note");
    office.end().await;
}

#[tokio::test]
async fn fullscreen_blobs_and_failing_reads_are_as_the_rules_say() {
    let fullscreen = json!({"uri": "window://full/2", "name": "w", "_meta": {"fullscreen": true}, "read": "all of it"});
    let office = TestOffice::new(&json!({
        "full": server(&[window("window://full/1", "hidden"), fullscreen, window("window://full/3", "hidden")]),
        "odd": server(&[
            window("window://odd/blob", json!({"blob": "bytes"})),
            window("window://odd/empty", json!(null)),
            window("window://odd/broken", json!({"error": {"code": -32603, "message": "no"}})),
            window("window://odd/query?priority=1", "kept"),
            window("window://odd/two%20words", "spaces"),
        ]),
    }))
    .await;
    let desktop = office.desktop().await;
    assert_eq!(
        desktop,
        ["window://full/2\n\nall of it", "window://odd/query\n\nkept", "window://odd/two%20words\n\nspaces"]
    );
    for spelling in ["window://odd/query", "window://odd/query?priority=1"] {
        assert_eq!(office.desktop_with(json!({ "window": spelling })).await, ["window://odd/query\n\nkept"]);
    }
    office.end().await;
}

#[tokio::test]
async fn a_window_that_hangs_costs_only_itself() {
    let servers = json!({
        "hangs": server(&[window("window://hangs/1", json!({"hang": true})), window("window://hangs/2", "fine")]),
        "well": server(&[window("window://well", "fine")]),
    });
    let office = TestOffice::with(&servers, |options| options.limits.window = Duration::from_secs(1)).await;
    assert_eq!(office.desktop().await, ["window://hangs/2\n\nfine", "window://well\n\nfine"]);
    office.end().await;
}

#[tokio::test]
async fn many_windows_that_hang_do_not_keep_the_others_of_their_server_from_being_read() {
    let hang = |n: i32| window(&format!("window://a/{n}"), json!({"hang": true}));
    let mut windows: Vec<_> = (0..150).map(hang).collect();
    windows.push(window("window://a/fine", "fine"));
    windows.push(window("window://a/huge", "x".repeat(5 << 20)));
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), json!({ "resources": windows }).to_string()).unwrap();
    let servers = json!({"a": server_from(file.path())});
    let office = TestOffice::with(&servers, |options| options.limits.window = Duration::from_secs(2)).await;
    assert_eq!(office.desktop().await, ["window://a/fine\n\nfine"]);
    office.end().await;
}

#[tokio::test]
async fn a_server_that_shows_too_much_costs_only_its_own_windows() {
    // Together they are more than a hub passes on.
    let fat: Vec<_> = (0..6).map(|n| window(&format!("window://fat/{n}"), "x".repeat(7 << 19))).collect();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), json!({ "resources": fat }).to_string()).unwrap();
    let servers = json!({"fat": server_from(file.path()), "well": server(&[window("window://well", "fine")])});
    let office = TestOffice::with(&servers, |options| options.limits.window = Duration::from_secs(30)).await;
    let shown = office.desktop().await;
    let (last, others) = shown.split_last().unwrap();
    assert_eq!(last, "window://well\n\nfine");
    assert!(others.len() == 1 && others[0].starts_with("window://fat/"), "{} windows", shown.len());
    office.end().await;
}

#[tokio::test]
async fn windows_of_a_server_that_is_switched_off_are_gone() {
    let office =
        TestOffice::new(&json!({"a": server(&[window("window://a", "1")]), "b": server(&[window("window://b", "2")])}))
            .await;
    assert_eq!(office.desktop().await.len(), 2);
    office.handle().disable("a").await.unwrap();
    assert_eq!(office.desktop().await, ["window://b\n\n2"]);
    office.end().await;
}
