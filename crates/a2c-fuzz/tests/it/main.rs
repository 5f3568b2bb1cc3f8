//! Every target, with its seeds and with inputs that are nearly seeds.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on has failed, and says how far it came"
)]

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use a2c_fuzz::{FuzzTarget, Mutator, TARGETS, dictionary};

/// How long each target is tried, unless the variable says otherwise.
const SECONDS: u64 = 2;
const SECONDS_VARIABLE: &str = "A2C_FUZZ_SECONDS";
/// Chooses the inputs; the same number gives the same ones.
const CHOICE_VARIABLE: &str = "A2C_FUZZ_CHOICE";

fn folder(name: &str) -> PathBuf {
    a2c_testbed::workspace_root().join("fuzz").join(name)
}

fn seeds(target: &FuzzTarget) -> Vec<Vec<u8>> {
    let folder = folder("seeds").join(target.name);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

fn words(target: &FuzzTarget) -> Vec<Vec<u8>> {
    let file = folder("dictionaries").join(format!("{}.dict", target.name));
    fs::read_to_string(file).map(|text| dictionary(&text)).unwrap_or_default()
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |text| text.parse().expect("a whole number"))
}

/// Feeds a target, and names the input if it breaks a rule.
fn feed(target: &FuzzTarget, input: &[u8]) {
    if std::panic::catch_unwind(|| (target.check)(input)).is_err() {
        panic!("{} does not hold for: {}", target.name, input.escape_ascii());
    }
}

fn try_for_a_while(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("it is a target");
    let seeds = seeds(target);
    for seed in &seeds {
        feed(target, seed);
    }
    let mut mutator = Mutator::new(seeds, words(target), number(CHOICE_VARIABLE, 0));
    let end = Instant::now() + Duration::from_secs(number(SECONDS_VARIABLE, SECONDS));
    let mut inputs = 0_u64;
    while Instant::now() < end {
        for _ in 0..64 {
            feed(target, &mutator.input());
        }
        inputs += 64;
    }
    println!("{name} held for {inputs} inputs");
}

#[test]
fn dpe_uri() {
    try_for_a_while("dpe_uri");
}

#[test]
fn engine_frames() {
    try_for_a_while("engine_frames");
}

#[test]
fn hub_packets() {
    try_for_a_while("hub_packets");
}

#[test]
fn pdf_pages() {
    try_for_a_while("pdf_pages");
}

#[test]
fn request_decoders() {
    try_for_a_while("request_decoders");
}

#[test]
fn window_uri() {
    try_for_a_while("window_uri");
}

/// A target is tried here, has seeds, and libFuzzer can have it.
#[test]
fn every_target_is_everywhere() {
    let names = |folder: PathBuf| {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut names: Vec<String> =
            entries.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    let targets: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(names(folder("fuzz_targets")), targets);
    assert_eq!(names(folder("seeds")), targets);
    let here = include_str!("main.rs");
    let manifest = fs::read_to_string(folder("Cargo.toml")).unwrap();
    for name in targets {
        assert!(here.contains(&format!("try_for_a_while(\"{name}\")")), "{name} is not tried");
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name} is not in fuzz/Cargo.toml");
    }
    for dictionary in names(folder("dictionaries")) {
        assert!(TARGETS.iter().any(|target| target.name == dictionary), "{dictionary}.dict belongs to no target");
    }
}
