//! The fuzz targets with libFuzzer.

use std::fs;
use std::path::Path;

use crate::{Failed, cargo, checked, failed, step};

/// Runs the targets of these names, or every one, for so many seconds each.
pub(crate) fn run(seconds: &str, wanted: &[String]) -> Result<(), Failed> {
    let folder = a2c_testbed::workspace_root().join("fuzz");
    let all = targets(&folder)?;
    if let Some(unknown) = wanted.iter().find(|name| !all.contains(name)) {
        return Err(failed(&format!("there is no fuzz target named {unknown}; there are {}", all.join(", "))));
    }
    for target in if wanted.is_empty() { &all } else { wanted } {
        step(&format!("fuzzing {target}"));
        let corpus = format!("corpus/{target}");
        fs::create_dir_all(folder.join(&corpus)).map_err(|error| failed(&format!("cannot make {corpus}: {error}")))?;
        let mut command = cargo();
        command.args(["fuzz", "run", "--fuzz-dir", ".", target, &corpus, &format!("seeds/{target}"), "--"]);
        command.arg(format!("-max_total_time={seconds}"));
        let dictionary = format!("dictionaries/{target}.dict");
        if folder.join(&dictionary).exists() {
            command.arg(format!("-dict={dictionary}"));
        }
        // The fuzzer needs unstable compiler flags; this takes them from a stable toolchain.
        checked(command.env("RUSTC_BOOTSTRAP", "1").current_dir(&folder))?;
    }
    Ok(())
}

/// The names of the targets, which are those of their files.
fn targets(folder: &Path) -> Result<Vec<String>, Failed> {
    let files = fs::read_dir(folder.join("fuzz_targets"));
    let files = files.map_err(|error| failed(&format!("cannot list the fuzz targets: {error}")))?;
    let names = files.filter_map(|file| Some(file.ok()?.path().file_stem()?.to_str()?.to_owned()));
    let mut names: Vec<String> = names.collect();
    names.sort();
    Ok(names)
}
