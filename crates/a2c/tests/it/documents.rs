//! `a2c documents`, and the workers that read for it.

use std::path::Path;
use std::time::Duration;

use a2c_document_worker::{DocumentWorkers, WorkerSettings};
use a2c_documents::NotInDocument;
use a2c_documents::model::UnreadableCode;
use a2c_process::{Launch, Processes};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::run;

const NOTES: &str =
    "# Plan\n\nWe *begin* [here](https://example.org).\n\n# Costs\n\n| what | sum |\n|---|---|\n| 茶 | 4 |\n";

/// A folder with files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().unwrap().to_owned()
}

fn workers(change: impl FnOnce(&mut WorkerSettings)) -> DocumentWorkers {
    let launch = Launch::new(env!("CARGO_BIN_EXE_a2c")).args(["documents", "worker"]);
    let mut settings = WorkerSettings::default();
    change(&mut settings);
    DocumentWorkers::new(launch, Processes::unguarded(), settings)
}

fn code(problem: NotInDocument) -> UnreadableCode {
    match problem {
        NotInDocument::Unreadable(problem) => problem.code,
        other => panic!("{other}"),
    }
}

#[test]
fn a_file_is_shown_in_every_format() {
    let folder = folder(&[("notes.md", NOTES)]);
    let notes = path(&folder, "notes.md");
    let show = |more: &[&str]| run(&[&["documents", "show", &notes], more].concat()).ok();
    let whole = show(&[]);
    assert!(whole.starts_with("# Plan\n\nWe *begin* [here](https://example.org).\n\n# Costs\n"), "{whole}");
    assert!(whole.contains("| 茶 | 4 |"), "{whole}");
    assert_eq!(show(&["--page", "0", "--format", "text"]), "Plan\n\nWe begin here.\n");
    let pages: Vec<Value> =
        show(&["--format", "json"]).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(pages.iter().map(|page| &page["title"]).collect::<Vec<_>>(), ["Plan", "Costs"]);
    let table = &pages[1]["elements"][1];
    assert_eq!((&table["category"], &table["content"]["rows"]), (&json!("table"), &json!([["茶", "4"]])));
    let id = table["element_id"].as_str().unwrap();
    assert_eq!(show(&["--element", id]), "| what | sum |\n| --- | --- |\n| 茶 | 4 |\n");
    assert!(show(&["--page", "1", "--outline"]).contains(id));
    let outline = show(&["--outline"]);
    assert!(outline.contains("type:") && outline.contains("Costs"), "{outline}");
    let html = show(&["--format", "html"]);
    assert!(html.starts_with("<!doctype html>") && html.contains("<td>茶</td>") && !html.contains("<script"), "{html}");
}

#[test]
fn what_is_not_there_is_said() {
    let folder =
        folder(&[("notes.md", NOTES), ("broken.docx", "PK\u{3}\u{4}no archive"), ("data.bin", "\0\u{1}\u{2}")]);
    let show = |name: &str, more: &[&str]| run(&[&["documents", "show", &path(&folder, name)], more].concat());
    show("notes.md", &["--page", "2"]).fails_saying(&["there is no page 2", "has 2, counted from 0"]);
    show("notes.md", &["--element", "tbl-x"]).fails_saying(&["no element 'tbl-x'", "--outline"]);
    show("broken.docx", &[]).fails_saying(&["broken.docx"]);
    show("data.bin", &[]).fails_saying(&["no reader knows this kind of file"]);
    show("missing.md", &[]).fails_saying(&["missing.md", "cannot be read"]);
}

#[test]
fn files_are_checked_to_their_last_page() {
    let folder = folder(&[("notes.md", NOTES), ("broken.docx", "PK\u{3}\u{4}no archive"), ("t.csv", "a,b\n1,2\n")]);
    let [notes, broken, table] = ["notes.md", "broken.docx", "t.csv"].map(|name| path(&folder, name));
    let seen = run(&["documents", "check", &notes, &table]);
    assert_eq!(
        seen.ok(),
        format!("ok       {notes}: md, 2 pages, 4 elements\nok       {table}: csv, 1 page, 1 element\n")
    );
    let seen = run(&["documents", "check", "--json", &broken, &notes]);
    assert_eq!(seen.code, Some(1), "{}", seen.stdout);
    let reports: Vec<Value> = seen.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(reports[0]["problems"][0]["code"], "corrupt");
    assert_eq!((&reports[1]["pages"], &reports[1]["problems"]), (&json!(2), &json!([])));
}

#[tokio::test]
async fn a_worker_that_runs_out_of_memory_costs_its_file_only() {
    let numbers = format!("[{}0]", "1234567,".repeat(4_000_000));
    let folder = folder(&[("large.json", &numbers), ("small.csv", "a,b\n1,2\n")]);
    let workers = workers(|settings| settings.memory = 150 << 20);
    for _ in 0..2 {
        let problem = workers.page(Path::new(&path(&folder, "large.json")), 0).await.unwrap_err();
        assert_eq!(code(problem), UnreadableCode::TooLarge);
        let page = workers.page(Path::new(&path(&folder, "small.csv")), 0).await.unwrap();
        assert_eq!(page.elements.len(), 1);
    }
}

#[tokio::test]
async fn a_worker_that_takes_too_long_is_ended() {
    let folder = folder(&[("notes.md", NOTES)]);
    let file = path(&folder, "notes.md");
    let hasty = workers(|settings| settings.time = Duration::from_micros(1));
    assert_eq!(code(hasty.outline(Path::new(&file)).await.unwrap_err()), UnreadableCode::Timeout);
    let patient = workers(|_| {});
    assert_eq!(patient.outline(Path::new(&file)).await.unwrap().pages.len(), 2);
}

/// The processes that this one has started as workers.
#[cfg(target_os = "linux")]
fn worker_pids() -> Vec<i32> {
    let own = std::process::id().to_string();
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let pids = entries.filter_map(|name| name.parse::<i32>().ok());
    let is_ours = |pid: &i32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let command = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        status.lines().any(|line| line.strip_prefix("PPid:").is_some_and(|parent| parent.trim() == own))
            && command.contains("worker")
    };
    pids.filter(is_ours).collect()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_worker_that_was_killed_is_replaced() {
    use rustix::process::{Pid, Signal, kill_process};
    let folder = folder(&[("notes.md", NOTES)]);
    let file = path(&folder, "notes.md");
    let workers = workers(|_| {});
    workers.page(Path::new(&file), 0).await.unwrap();
    let pids = worker_pids();
    assert_eq!(pids.len(), 1);
    for pid in pids {
        kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    }
    let page = workers.page(Path::new(&file), 1).await.unwrap();
    assert_eq!(page.title, "Costs");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn as_many_workers_run_as_are_allowed_and_each_keeps_its_file() {
    let folder = folder(&[("a.md", NOTES), ("b.md", NOTES), ("c.md", NOTES)]);
    let files = ["a.md", "b.md", "c.md"].map(|name| path(&folder, name));
    let workers = workers(|settings| settings.count = 2);
    let reads = files.iter().cycle().take(12).map(|file| workers.page(Path::new(file), 1));
    let pages = futures_util::future::join_all(reads).await;
    assert!(pages.into_iter().all(|page| page.unwrap().title == "Costs"));
    assert_eq!(worker_pids().len(), 2);
    workers.page(Path::new(&files[0]), 0).await.unwrap();
    workers.page(Path::new(&files[1]), 0).await.unwrap();
    let before = worker_pids();
    workers.page(Path::new(&files[0]), 1).await.unwrap();
    assert_eq!(worker_pids(), before);
}
