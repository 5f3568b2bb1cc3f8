//! Finds the processes of a family and ends them.
//!
//! Who bears the mark, and who descends from such a process, is first stopped, so that it cannot start others while we
//! look, until nobody new is found; then all are killed, and the search begins again, until it finds nobody. Nobody else
//! is touched: each process is held by a descriptor that does not pass to another process of the same number. One that
//! does nothing but start the next and end is too quick for that; but the kernel signals a whole process group in one go,
//! and a group in which everybody is of the family, the dead included that nobody has asked about yet, is killed so.
//!
//! Only Linux shows the environments and limits of processes; elsewhere process groups are all there is.

use super::family::Marker;

/// A process group, known by the process that led it first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Group {
    leader: u32,
    /// Tells the leader from a later process of the same number.
    born: Option<u64>,
}

impl Group {
    /// The group that this process leads now.
    pub(crate) fn led_by(leader: u32) -> Self {
        Self { leader, born: marked::born(leader) }
    }

    /// The number of the group.
    pub(crate) fn number(self) -> u32 {
        self.leader
    }

    /// Asks everybody in the group to end.
    pub(crate) fn ask(self) {
        #[cfg(unix)]
        self.signal(rustix::process::Signal::TERM);
    }

    /// Ends everybody in the group.
    pub(crate) fn kill(self) {
        #[cfg(unix)]
        self.signal(rustix::process::Signal::KILL);
    }

    #[cfg(unix)]
    fn signal(self, signal: rustix::process::Signal) {
        // The number belongs to others once all of ours are gone and a new process got it.
        let passed_on = self.born.is_some() && marked::born(self.leader).is_some_and(|born| Some(born) != self.born);
        if let Some(group) = rustix::process::Pid::from_raw(self.leader.cast_signed())
            && !passed_on
        {
            // That it is empty is no failure.
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }
}

/// Kills the process groups and everybody with the mark; tells how many were found besides. Blocks, for some seconds at
/// worst.
pub(crate) fn end(marker: &Marker, groups: &[Group]) -> usize {
    let ended = marked::end(marker, groups);
    if ended > 0 {
        tracing::debug!(family = marker.text(), ended, "ended processes that would have been left behind");
    }
    ended
}

#[cfg(not(target_os = "linux"))]
mod marked {
    pub(super) fn end(_: &super::Marker, groups: &[super::Group]) -> usize {
        groups.iter().for_each(|group| group.kill());
        0
    }

    pub(super) fn born(_: u32) -> Option<u64> {
        None
    }
}

#[cfg(target_os = "linux")]
pub(crate) mod marked {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;
    use std::os::fd::OwnedFd;
    use std::sync::{Arc, Mutex, PoisonError};
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};

    use super::super::family::Marks;
    use super::{Group, Marker};

    /// How often the search begins again. Each pass kills all it finds, so that more than two are needed only for
    /// processes that appear while we look.
    const PASSES: usize = 8;

    /// How often we look for those who were started while we stopped the others.
    const ROUNDS: usize = 16;

    /// How long killed processes may take to be gone.
    const DEATH: Duration = Duration::from_millis(500);

    /// A process as it was seen. Number and time of birth together are its alone.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    struct Seen {
        parent: i32,
        group: i32,
        born: u64,
        /// A dead process is seen until its parent asks about it.
        is_dead: bool,
    }

    /// Those who were stopped.
    #[derive(Default)]
    struct Caught {
        processes: BTreeMap<i32, OwnedFd>,
        groups: BTreeSet<i32>,
    }

    impl Caught {
        fn kill(&self) {
            self.groups.iter().for_each(|group| signal_group(*group, Signal::KILL));
            for process in self.processes.values() {
                let _ = pidfd_send_signal(process, Signal::KILL);
            }
            let deadline = Instant::now() + DEATH;
            for process in self.processes.values() {
                await_end(process, deadline);
            }
        }
    }

    fn signal_group(group: i32, signal: Signal) {
        if let Some(group) = Pid::from_raw(group) {
            // That it is empty is no failure.
            let _ = kill_process_group(group, signal);
        }
    }

    pub(super) fn end(marker: &Marker, groups: &[Group]) -> usize {
        let mut ended = 0;
        // Nobody comes to a group after all in it were killed; but its dead may be seen for long.
        let mut killed = BTreeSet::new();
        for pass in 0..PASSES {
            let caught = catch(marker);
            // Only now: with a parent, its children lose what shows whose they are.
            if pass == 0 {
                groups.iter().for_each(|group| group.kill());
            }
            if caught.processes.is_empty() && caught.groups.is_subset(&killed) {
                return ended;
            }
            caught.kill();
            ended += caught.processes.len();
            killed.extend(caught.groups);
        }
        tracing::warn!(family = marker.text(), "processes of a server cannot be ended");
        ended
    }

    /// When a process was born, if it lives.
    pub(super) fn born(pid: u32) -> Option<u64> {
        look_at(pid.cast_signed()).filter(|seen| !seen.is_dead).map(|seen| seen.born)
    }

    /// Stops everybody, and holds them.
    fn catch(marker: &Marker) -> Caught {
        let mut caught = Caught::default();
        for _ in 0..ROUNDS {
            let survey = survey();
            let family = find(marker, &survey);
            let groups = whole_groups(marker, &family, &survey);
            groups.iter().for_each(|group| signal_group(*group, Signal::STOP));
            let mut news = groups.into_iter().filter(|group| caught.groups.insert(*group)).count();
            for (pid, seen) in family {
                if caught.processes.contains_key(&pid) {
                    continue;
                }
                let Some(process) = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else {
                    continue;
                };
                // The one we hold now is the one we saw: the number cannot have passed on before the descriptor was
                // opened and back after it.
                if look_at(pid).is_some_and(|now| now.born == seen.born && !now.is_dead) {
                    let _ = pidfd_send_signal(&process, Signal::STOP);
                    caught.processes.insert(pid, process);
                    news += 1;
                }
            }
            if news == 0 {
                break;
            }
        }
        caught
    }

    /// The process groups of the living and the dead with the mark, in which nobody lives who is not of the family.
    fn whole_groups(marker: &Marker, family: &BTreeMap<i32, Seen>, survey: &Survey) -> BTreeSet<i32> {
        let marked = survey.all.values().filter(|(_, marks)| marker.is_among(marks)).map(|(seen, _)| seen.group);
        let mut groups: BTreeSet<i32> = marked.chain(family.values().map(|seen| seen.group)).collect();
        for (pid, (seen, _)) in &survey.all {
            if !seen.is_dead && !family.contains_key(pid) {
                groups.remove(&seen.group);
            }
        }
        // Neither nobody's group nor that of the first process.
        groups.split_off(&2)
    }

    /// Every process, as it was at some moment.
    struct Survey {
        begun: Instant,
        all: BTreeMap<i32, (Seen, Marks)>,
    }

    /// The last one. Looking at every process takes a while, and many servers end at the same time: who comes while
    /// another looks waits, and takes what was begun after he came.
    static LAST: Mutex<Option<Arc<Survey>>> = Mutex::new(None);

    fn survey() -> Arc<Survey> {
        let asked = Instant::now();
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some(survey) if survey.begun >= asked => survey.clone(),
            _ => {
                let begun = Instant::now();
                let all = pids().filter_map(|pid| Some((pid, examine(pid)?))).collect();
                last.insert(Arc::new(Survey { begun, all })).clone()
            }
        }
    }

    /// The living processes with the mark and their descendants, without ourselves.
    fn find(marker: &Marker, survey: &Survey) -> BTreeMap<i32, Seen> {
        let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
        for (pid, (seen, _)) in &survey.all {
            children.entry(seen.parent).or_default().push(*pid);
        }
        let own = rustix::process::getpid().as_raw_pid();
        let marked = survey.all.iter().filter(|(_, (_, marks))| marker.is_among(marks));
        let mut to_visit: Vec<i32> = marked.map(|(pid, _)| *pid).collect();
        let mut family = BTreeMap::new();
        while let Some(pid) = to_visit.pop() {
            let Some((seen, _)) = survey.all.get(&pid) else { continue };
            if pid != own && !seen.is_dead && family.insert(pid, *seen).is_none() {
                to_visit.extend(children.get(&pid).into_iter().flatten());
            }
        }
        family
    }

    fn pids() -> impl Iterator<Item = i32> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
    }

    /// A process and its marks. What we may not read has none: it is not ours. The limits of a dead one can still be read.
    fn examine(pid: i32) -> Option<(Seen, Marks)> {
        let mut seen = look_at(pid)?;
        let environment = match fs::read(format!("/proc/{pid}/environ")) {
            Ok(environment) => environment,
            Err(error) => {
                seen.is_dead |= error.kind() != std::io::ErrorKind::PermissionDenied;
                Vec::new()
            }
        };
        let limits = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap_or_default();
        Some((seen, Marks::read(&environment, &limits)))
    }

    fn look_at(pid: i32) -> Option<Seen> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name of the program comes second, in parentheses, and may contain anything.
        let (_, fields) = stat.rsplit_once(") ")?;
        let mut fields = fields.split(' ');
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        // Field 22 of the whole line.
        let born = fields.nth(16)?.parse().ok()?;
        Some(Seen { parent, group, born, is_dead: matches!(state, "Z" | "X") })
    }

    fn await_end(process: &OwnedFd, deadline: Instant) {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec { tv_sec: 0, tv_nsec: left.subsec_nanos().into() };
        let _ = poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&left));
    }

    /// How many processes with the mark live.
    #[cfg(test)]
    pub(crate) fn count(marker: &Marker) -> usize {
        find(marker, &survey()).len()
    }
}
