//! What the guardian process runs.
//!
//! It knows the mark of its owner's processes from the first moment, by the variable [`OWNER_VARIABLE`], and says [`READY`]
//! once it listens. Then its owner tells it on standard input, one line at a time, which process groups come and go:
//! `+ GROUP` and `- GROUP`. The end of the input is the end of the owner, whatever the reason: the kernel closes the pipe
//! of a killed process too. Then the guardian ends everything that is left, and itself.
//!
//! Plain and blocking: it must work when nothing else does.

use std::collections::BTreeMap;
use std::io::{BufRead, Write as _};
use std::process::ExitCode;

use crate::mark::ProcessMark;
use crate::reaper::{self, ProcessGroup};

/// Where the guardian finds the mark of its owner's processes. Not on its input: an owner that is killed before it could
/// write needs a guardian too.
pub(crate) const OWNER_VARIABLE: &str = "A2C_GUARDIAN_OF";

/// What the guardian says once it listens and cannot be interrupted any more.
pub(crate) const READY: &str = "ready";

/// Runs a guardian process, see [`crate::GuardianProgram`]. Returns when its owner has ended and nothing of it is left.
///
/// A program that is to be a guardian calls this first thing in `main`, before it starts threads or a runtime, and exits
/// with what it returns.
pub fn guard() -> ExitCode {
    let owner = std::env::var(OWNER_VARIABLE).ok();
    let Some(mark) = owner.as_deref().and_then(ProcessMark::parse) else { return ExitCode::FAILURE };
    detach();
    let groups = listen(std::io::stdin().lock());
    reaper::end(&mark, &Vec::from_iter(groups.into_values()));
    ExitCode::SUCCESS
}

/// Leaves everything through which the end of others could be ours: their terminal, their session, their directory.
fn detach() {
    let _ = std::env::set_current_dir("/");
    #[cfg(unix)]
    {
        use nix::sys::signal::{SigSet, Signal};
        // Fails for the leader of a process group, which is in no other's group then.
        let _ = rustix::process::setsid();
        let mut polite = SigSet::empty();
        for signal in [Signal::SIGHUP, Signal::SIGINT, Signal::SIGTERM, Signal::SIGQUIT, Signal::SIGPIPE] {
            polite.add(signal);
        }
        // Blocked for the only thread there is: they never arrive.
        let _ = polite.thread_block();
    }
}

/// Listens until the owner is gone, and returns which groups it had then.
fn listen(mut owner: impl BufRead) -> BTreeMap<u32, ProcessGroup> {
    let mut stdout = std::io::stdout().lock();
    // An owner that was killed at once does not read this, and needs us all the more.
    let _ = writeln!(stdout, "{READY}").and_then(|()| stdout.flush());
    let mut line = String::new();
    let mut groups = BTreeMap::new();
    loop {
        line.clear();
        match owner.read_line(&mut line) {
            // A line that ends with the input may be half a number.
            Ok(_) if !line.ends_with('\n') => return groups,
            Err(_) => return groups,
            Ok(_) => match line.trim_end().split_once(' ').map(|(sign, group)| (sign, group.parse())) {
                // 0 and 1 would mean our own group and every process.
                Some(("+", Ok(group))) if group > 1 => _ = groups.insert(group, ProcessGroup::led_by(group)),
                Some(("-", Ok(group))) => _ = groups.remove(&group),
                _ => {}
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_come_and_go() {
        let check = |lines: &str, expected: &[u32]| {
            assert_eq!(Vec::from_iter(listen(lines.as_bytes()).into_keys()), expected, "{lines}");
        };
        check("", &[]);
        check("+ 20\n+ 30\n", &[20, 30]);
        check("+ 20\n+ 30\n- 20\n- 7\n", &[30]);
        check("+ 0\n+ 1\n+ -5\n+ x\nnonsense\n\n+ 20\n", &[20]);
        check("+ 20\n+ 30", &[20]);
    }
}
