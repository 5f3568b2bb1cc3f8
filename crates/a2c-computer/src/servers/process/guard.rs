//! The life of the guardian: the process that ends what a Computer leaves behind when it is killed.
//!
//! It knows the mark of the Computer's family from the first moment, by the variable [`CHARGE`], and says [`READY`] once it
//! listens. Then it hears from its Computer on standard input, one line at a time: `+ GROUP` and `- GROUP` as process
//! groups come and go. The end of the input is the end of the Computer, whatever the reason: the kernel closes the pipe
//! even when nobody else could. Then it ends everything that is left, and itself.
//!
//! Plain and blocking: it must work when nothing else does.

use std::collections::BTreeMap;
use std::io::{BufRead, Write as _};
use std::process::ExitCode;

use super::family::Marker;
use super::kin::{self, Group};

/// Where the guardian finds the mark of the family it looks after. Not on its input: a Computer that is killed before it
/// could write needs a guardian too.
pub(crate) const CHARGE: &str = "A2C_GUARDIAN_OF";

/// What the guardian says once it listens and cannot be interrupted any more.
pub(crate) const READY: &str = "ready";

/// The whole life of a guardian process, see [`crate::GuardianProgram`]. Returns when its Computer has ended and nothing
/// of it is left.
///
/// A program that is to be a guardian calls this first thing in `main`, before it starts threads or a runtime, and exits
/// with what it returns.
pub fn guard() -> ExitCode {
    let charge = std::env::var(CHARGE).ok();
    let Some(family) = charge.as_deref().and_then(Marker::parse) else { return ExitCode::FAILURE };
    go_apart();
    let groups = attend(std::io::stdin().lock());
    kin::end(&family, &Vec::from_iter(groups.into_values()));
    ExitCode::SUCCESS
}

/// Leaves everything through which the end of others could be ours: their terminal, their session, their directory.
fn go_apart() {
    let _ = std::env::set_current_dir("/");
    #[cfg(unix)]
    {
        use nix::sys::signal::{SigSet, Signal};
        // Fails for the leader of a process group, which then is in nobody else's.
        let _ = rustix::process::setsid();
        let mut polite = SigSet::empty();
        for signal in [Signal::SIGHUP, Signal::SIGINT, Signal::SIGTERM, Signal::SIGQUIT, Signal::SIGPIPE] {
            polite.add(signal);
        }
        // Blocked for the only thread there is: they never arrive.
        let _ = polite.thread_block();
    }
}

/// Listens until the Computer is gone, and tells which groups it had then.
fn attend(mut computer: impl BufRead) -> BTreeMap<u32, Group> {
    let mut stdout = std::io::stdout().lock();
    // A Computer that was killed at once does not hear this, and needs us all the more.
    let _ = writeln!(stdout, "{READY}").and_then(|()| stdout.flush());
    let mut line = String::new();
    let mut groups = BTreeMap::new();
    loop {
        line.clear();
        match computer.read_line(&mut line) {
            // A line that ends with the input may be half a number.
            Ok(_) if !line.ends_with('\n') => return groups,
            Err(_) => return groups,
            Ok(_) => match line.trim_end().split_once(' ').map(|(sign, group)| (sign, group.parse())) {
                // 0 and 1 would mean our own group and everybody.
                Some(("+", Ok(group))) if group > 1 => _ = groups.insert(group, Group::led_by(group)),
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
    fn what_is_told_is_remembered() {
        let check = |lines: &str, expected: &[u32]| {
            assert_eq!(Vec::from_iter(attend(lines.as_bytes()).into_keys()), expected, "{lines}");
        };
        check("", &[]);
        check("+ 20\n+ 30\n", &[20, 30]);
        check("+ 20\n+ 30\n- 20\n- 7\n", &[30]);
        check("+ 0\n+ 1\n+ -5\n+ x\nnonsense\n\n+ 20\n", &[20]);
        check("+ 20\n+ 30", &[20]);
    }
}
