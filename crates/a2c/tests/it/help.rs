//! The help of every command, as a snapshot: what changes there is seen in review.
//!
//! After a change that is meant: `INSTA_UPDATE=always cargo nextest run -p a2c help:: mistakes::`.

use std::collections::BTreeSet;
use std::path::Path;

use crate::program::run;

/// The commands that a help names, `help` left out.
fn commands(help: &str) -> Vec<String> {
    let section = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = section.take_while(|line| line.starts_with("  "));
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()));
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// Every command with its help, the program itself first.
fn every_help() -> Vec<(Vec<String>, String)> {
    let mut helps = Vec::new();
    let mut open = vec![Vec::new()];
    while let Some(command) = open.pop() {
        let args: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
        let help = run(&args).ok();
        open.extend(commands(&help).into_iter().map(|name| [command.clone(), vec![name]].concat()));
        helps.push((command, help));
    }
    helps
}

#[test]
fn the_help_of_every_command_is_as_it_was_agreed() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots/help");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let mut names = BTreeSet::new();
    for (command, help) in every_help() {
        let name = [&["a2c".to_owned()], &command[..]].concat().join("_");
        let help: Vec<&str> = help.lines().map(str::trim_end).collect();
        settings.bind(|| insta::assert_snapshot!(name.clone(), help.join("\n")));
        names.insert(format!("{name}.snap"));
    }
    assert!(names.len() > 30, "the commands are found: {names:?}");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/snapshots/help");
    let kept = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let stale: Vec<String> = kept.filter(|file| !names.contains(file)).collect();
    assert!(stale.is_empty(), "these commands are gone, and so should be their snapshots: {stale:?}");
}
