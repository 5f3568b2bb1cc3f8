//! Inputs whose value a program prints, such as a password manager.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use a2c_process::{Launch, Processes, RunError, RunLimits, SESSION_ENVIRONMENT};
use a2c_secrets::Redactor;
use serde_json::Value;
use zeroize::Zeroizing;

/// How long a program may take, and how much it may print.
const LIMITS: RunLimits = RunLimits { time: Duration::from_secs(30), output: 64 << 10 };

/// How much of a last line is told.
const TOLD: usize = 400;

/// Why a program gave no value. Holds nothing of its standard output.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum CommandError {
    /// It did not run to its end.
    #[error("its command '{program}' {source}{}", reason(.source))]
    Run {
        /// Which program.
        program: String,
        /// What went wrong.
        source: Arc<RunError>,
    },
    /// It ran and failed.
    #[error("its command '{program}' failed ({status}){}", said(.last_line))]
    Failed {
        /// Which program.
        program: String,
        /// How it ended.
        status: ExitStatus,
        /// The last line of its standard error, secrets hidden.
        last_line: String,
    },
    /// It printed something that is no text.
    #[error("its command '{program}' printed something that is not UTF-8 text")]
    NotText {
        /// Which program.
        program: String,
    },
    /// The arguments are not a list.
    #[error("its `args` are not a list: write them as [\"first\", \"second\"]")]
    Arguments,
}

fn reason(error: &RunError) -> String {
    match error {
        RunError::Start(source) | RunError::Read(source) => format!(": {source}"),
        _ => String::new(),
    }
}

fn said(last_line: &str) -> String {
    match last_line {
        "" => String::new(),
        line => format!(": {line}"),
    }
}

/// What an input says about its program.
pub(super) struct InputProgram<'a> {
    pub(super) program: &'a str,
    pub(super) args: Option<&'a Value>,
    pub(super) shell: bool,
}

impl InputProgram<'_> {
    /// Runs the program and takes what it prints, without the white space at the end. What it says about a failure is
    /// told without any of the values that are known already.
    pub(super) async fn run(&self, processes: &Processes, known: &Redactor) -> Result<Zeroizing<String>, CommandError> {
        self.run_within(LIMITS, processes, known).await
    }

    async fn run_within(
        &self,
        limits: RunLimits,
        processes: &Processes,
        known: &Redactor,
    ) -> Result<Zeroizing<String>, CommandError> {
        let program = || known.redact(&self.name());
        let printed = processes
            .run(&self.launch()?, None, limits)
            .await
            .map_err(|source| CommandError::Run { program: program(), source: Arc::new(source) })?;
        let text = str::from_utf8(&printed.stdout);
        if !printed.status.success() {
            let printed_values = text.unwrap_or_default().lines().map(|line| Zeroizing::new(line.trim().to_owned()));
            let said = String::from_utf8_lossy(&printed.stderr);
            let last = said.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
            let last_line = known.redact(&Redactor::new(printed_values).redact(last)).chars().take(TOLD).collect();
            return Err(CommandError::Failed { program: program(), status: printed.status, last_line });
        }
        let text = text.map_err(|_| CommandError::NotText { program: program() })?;
        Ok(Zeroizing::new(text.trim_end().to_owned()))
    }

    /// What it is called in messages: of a line for the shell, which may hold anything, the first word.
    fn name(&self) -> String {
        match self.shell {
            true => format!("{} …", self.program.split_whitespace().next().unwrap_or_default()),
            false => self.program.to_owned(),
        }
    }

    fn launch(&self) -> Result<Launch, CommandError> {
        let launch = match (self.shell, cfg!(windows)) {
            (false, _) => Launch::new(self.program),
            // The arguments are `$1` and so on: they are never part of the program text.
            (true, false) => Launch::new("/bin/sh").args(["-c", self.program, "a2c"]),
            (true, true) => Launch::new("cmd").args(["/C", self.program]),
        };
        Ok(launch.args(self.args()?).inheriting(&SESSION_ENVIRONMENT))
    }

    fn args(&self) -> Result<Vec<String>, CommandError> {
        let items = match self.args {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(items)) => items,
            // Peers in the field write an object; an empty one says nothing.
            Some(Value::Object(fields)) if fields.is_empty() => return Ok(Vec::new()),
            Some(_) => return Err(CommandError::Arguments),
        };
        let text = |item: &Value| match item {
            Value::String(text) => Ok(text.clone()),
            Value::Number(_) | Value::Bool(_) => Ok(item.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => Err(CommandError::Arguments),
        };
        items.iter().map(text).collect()
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    async fn run(program: &str, args: &Value, shell: bool) -> Result<String, String> {
        let recipe = InputProgram { program, args: Some(args), shell };
        let known = Redactor::new([Zeroizing::new("kn0wn-value".to_owned())]);
        recipe.run(&Processes::unguarded(), &known).await.map(|value| value.to_string()).map_err(|e| e.to_string())
    }

    #[tokio::test]
    async fn the_value_is_what_it_prints() {
        assert_eq!(run("printf", &json!(["  a b \\n\\n"]), false).await.as_deref(), Ok("  a b"));
        assert_eq!(run("echo", &json!(["$HOME;", 1, true]), false).await.as_deref(), Ok("$HOME; 1 true"));
        assert_eq!(run("echo \"<$1>\" | tr a b", &json!(["a;a"]), true).await.as_deref(), Ok("<b;b>"));
        assert_eq!(run("true", &json!(null), false).await.as_deref(), Ok(""));
        assert_eq!(run("cat", &json!([]), false).await.as_deref(), Ok(""), "standard input is empty");
        // Cargo sets this for us; it is none of the program's business.
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
        assert_eq!(run("echo \"[$CARGO_MANIFEST_DIR]\"", &json!({}), true).await.as_deref(), Ok("[]"));
    }

    #[tokio::test]
    async fn a_failure_says_which_program_and_why() {
        let check = async |program: &str, args: Value, shell: bool, parts: &[&str]| {
            let error = run(program, &args, shell).await.unwrap_err();
            for part in parts {
                assert!(error.contains(part), "{part:?} not in {error:?}");
            }
            assert!(!error.contains("s3cret") && !error.contains("kn0wn"), "{error:?}");
        };
        check("no-such-program-here", json!([]), false, &["no-such-program-here", "cannot be started", "No such file"])
            .await;
        check("echo first >&2; echo no item >&2; echo >&2; exit 3", json!([]), true, &["exit status: 3", ": no item"])
            .await;
        check(
            "echo s3cret-of-mine; echo bad s3cret-of-mine kn0wn-value >&2; exit 1",
            json!([]),
            true,
            &["bad *** ***"],
        )
        .await;
        check("printf", json!(["\\377"]), false, &["not UTF-8"]).await;
        check("head", json!(["-c", "65537", "/dev/zero"]), false, &["more than 64 KiB"]).await;
        check("yes", json!([]), false, &["more than 64 KiB"]).await;
        check("echo", json!({"a": "b"}), false, &["`args`", "list"]).await;
        check("echo", json!([["b"]]), false, &["`args`", "list"]).await;
    }

    #[tokio::test]
    async fn a_slow_program_ends_with_all_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let script = format!("sleep 600 & echo $! > {}; wait", file.display());
        let recipe = InputProgram { program: &script, args: None, shell: true };
        let limits = RunLimits { time: Duration::from_secs(1), ..LIMITS };
        let outcome = recipe.run_within(limits, &Processes::unguarded(), &Redactor::default()).await;
        let error = outcome.unwrap_err().to_string();
        assert!(error.contains("did not end within 1 s"), "{error}");
        gone(&file).await;
    }

    #[tokio::test]
    async fn what_a_program_leaves_behind_is_not_waited_for_and_ended() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let script = format!("sleep 600 & echo $! > {}; echo value", file.display());
        assert_eq!(run(&script, &json!([]), true).await.as_deref(), Ok("value"));
        gone(&file).await;
    }

    /// Waits until the process with the id in the file is no more than a zombie.
    async fn gone(file: &std::path::Path) {
        let pid = std::fs::read_to_string(file).unwrap();
        let stat = format!("/proc/{}/stat", pid.trim());
        let running = || std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z"));
        while running() {
            tokio::task::yield_now().await;
        }
    }
}
