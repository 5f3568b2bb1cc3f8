//! Finds the processes that bear a mark and ends them.
//!
//! Only Linux shows the environments and limits of processes; elsewhere process groups are all there is.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
use other as system;

use crate::mark::ProcessMark;

/// A process group, known by the process that led it first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ProcessGroup {
    leader: u32,
    /// Tells the leader from a later process of the same number.
    leader_start: Option<u64>,
}

impl ProcessGroup {
    /// The group that this process leads now.
    pub(crate) fn led_by(leader: u32) -> Self {
        Self { leader, leader_start: system::start_time(leader) }
    }

    /// The number of the group.
    pub(crate) fn number(self) -> u32 {
        self.leader
    }

    /// Whether the leader is known to have ended. Only Linux tells.
    pub(crate) fn leader_has_ended(self) -> bool {
        self.leader_start.is_some() && system::start_time(self.leader) != self.leader_start
    }

    /// Asks every process of the group to end.
    pub(crate) fn terminate(self) {
        #[cfg(unix)]
        self.signal(rustix::process::Signal::TERM);
    }

    /// Ends every process of the group.
    pub(crate) fn kill(self) {
        #[cfg(unix)]
        self.signal(rustix::process::Signal::KILL);
    }

    #[cfg(unix)]
    fn signal(self, signal: rustix::process::Signal) {
        // The number belongs to others once all of ours are gone and a new process got it.
        let reused = self.leader_start.is_some()
            && system::start_time(self.leader).is_some_and(|start| Some(start) != self.leader_start);
        if let Some(group) = rustix::process::Pid::from_raw(self.leader.cast_signed())
            && !reused
        {
            // An empty group is no failure.
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }
}

/// Kills the process groups and every process with the mark; returns how many were found by the mark. Blocks, for some
/// seconds at worst.
pub(crate) fn end(mark: &ProcessMark, groups: &[ProcessGroup]) -> usize {
    let ended = system::end(mark, groups);
    if ended > 0 {
        tracing::debug!(mark = mark.text(), ended, "ended processes that would have been left behind");
    }
    ended
}

/// How many processes with the mark live.
#[cfg(target_os = "linux")]
pub(crate) fn count(mark: &ProcessMark) -> usize {
    system::count(mark)
}
