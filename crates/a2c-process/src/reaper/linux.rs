//! The search through `/proc`.
//!
//! Each process with the mark, and each descendant of such a process, is first stopped, so that it cannot start others
//! during the search, until no new one is found; then all are killed, and the search begins again, until it finds none.
//! No other process is touched: each is held by a descriptor that does not pass to another process of the same number. A
//! process that only starts the next and ends is too quick for that; but the kernel signals a whole process group in one
//! go, and a group in which every process is in the tree, the dead included that their parent has not asked about yet, is
//! killed so.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};

use super::{ProcessGroup, ProcessMark};
use crate::mark::SeenMarks;

/// How often the search begins again. Each pass kills all it finds, so that more than two are needed only for
/// processes that appear during the search.
const PASSES: usize = 8;

/// How often the search repeats for processes that were started while others were stopped.
const ROUNDS: usize = 16;

/// How long killed processes may take to be gone.
const DEATH: Duration = Duration::from_millis(500);

/// A process as it was seen. Number and start time together belong to no other process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ProcessStat {
    parent: i32,
    group: i32,
    start: u64,
    /// A dead process is seen until its parent asks about it.
    is_dead: bool,
}

/// The processes and groups that were stopped.
#[derive(Default)]
struct Stopped {
    processes: BTreeMap<i32, OwnedFd>,
    groups: BTreeSet<i32>,
}

impl Stopped {
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
        // An empty group is no failure.
        let _ = kill_process_group(group, signal);
    }
}

pub(super) fn end(mark: &ProcessMark, groups: &[ProcessGroup]) -> usize {
    let mut ended = 0;
    // No process joins a group after all in it were killed; but its dead may be seen for long.
    let mut killed = BTreeSet::new();
    for pass in 0..PASSES {
        let stopped = stop_all(mark);
        // Only now: without the parent nothing shows that its children belong to the tree.
        if pass == 0 {
            groups.iter().for_each(|group| group.kill());
        }
        if stopped.processes.is_empty() && stopped.groups.is_subset(&killed) {
            return ended;
        }
        stopped.kill();
        ended += stopped.processes.len();
        killed.extend(stopped.groups);
    }
    tracing::warn!(mark = mark.text(), "some processes cannot be ended");
    ended
}

/// When a process was started, if it lives.
pub(super) fn start_time(pid: u32) -> Option<u64> {
    read_stat(pid.cast_signed()).filter(|seen| !seen.is_dead).map(|seen| seen.start)
}

/// Stops every process of the tree, and holds it.
fn stop_all(mark: &ProcessMark) -> Stopped {
    let mut stopped = Stopped::default();
    for _ in 0..ROUNDS {
        let survey = survey();
        let tree = find(mark, &survey);
        let groups = whole_groups(mark, &tree, &survey);
        groups.iter().for_each(|group| signal_group(*group, Signal::STOP));
        let mut found = groups.into_iter().filter(|group| stopped.groups.insert(*group)).count();
        for (pid, seen) in tree {
            if stopped.processes.contains_key(&pid) {
                continue;
            }
            let Some(process) = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else {
                continue;
            };
            // The one we hold now is the one we saw: the number cannot have passed on before the descriptor was
            // opened and back after it.
            if read_stat(pid).is_some_and(|now| now.start == seen.start && !now.is_dead) {
                let _ = pidfd_send_signal(&process, Signal::STOP);
                stopped.processes.insert(pid, process);
                found += 1;
            }
        }
        if found == 0 {
            break;
        }
    }
    stopped
}

/// The process groups of the living and the dead with the mark, in which every living process is in the tree.
fn whole_groups(mark: &ProcessMark, tree: &BTreeMap<i32, ProcessStat>, survey: &Survey) -> BTreeSet<i32> {
    let marked = survey.all.values().filter(|(_, marks)| mark.is_among(marks)).map(|(seen, _)| seen.group);
    let mut groups: BTreeSet<i32> = marked.chain(tree.values().map(|seen| seen.group)).collect();
    for (pid, (seen, _)) in &survey.all {
        if !seen.is_dead && !tree.contains_key(pid) {
            groups.remove(&seen.group);
        }
    }
    // Neither group 0 nor that of the first process.
    groups.split_off(&2)
}

/// Every process, as it was at some moment.
struct Survey {
    begun: Instant,
    all: BTreeMap<i32, (ProcessStat, SeenMarks)>,
}

/// The last one. Looking at every process takes a while, and many processes end at the same time: a caller that
/// comes during a survey waits, and takes one that was begun after it came.
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
fn find(mark: &ProcessMark, survey: &Survey) -> BTreeMap<i32, ProcessStat> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for (pid, (seen, _)) in &survey.all {
        children.entry(seen.parent).or_default().push(*pid);
    }
    let own = rustix::process::getpid().as_raw_pid();
    let marked = survey.all.iter().filter(|(_, (_, marks))| mark.is_among(marks));
    let mut to_visit: Vec<i32> = marked.map(|(pid, _)| *pid).collect();
    let mut tree = BTreeMap::new();
    while let Some(pid) = to_visit.pop() {
        let Some((seen, _)) = survey.all.get(&pid) else { continue };
        if pid != own && !seen.is_dead && tree.insert(pid, *seen).is_none() {
            to_visit.extend(children.get(&pid).into_iter().flatten());
        }
    }
    tree
}

fn pids() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// A process and its marks. A process that we may not read has none: it is not ours. The limits of a dead one can still be read.
fn examine(pid: i32) -> Option<(ProcessStat, SeenMarks)> {
    let mut seen = read_stat(pid)?;
    let environment = match fs::read(format!("/proc/{pid}/environ")) {
        Ok(environment) => environment,
        Err(error) => {
            seen.is_dead |= error.kind() != std::io::ErrorKind::PermissionDenied;
            Vec::new()
        }
    };
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap_or_default();
    Some((seen, SeenMarks::read(&environment, &limits)))
}

fn read_stat(pid: i32) -> Option<ProcessStat> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program comes second, in parentheses, and may contain anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ');
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    // Field 22 of the whole line.
    let start = fields.nth(16)?.parse().ok()?;
    Some(ProcessStat { parent, group, start, is_dead: matches!(state, "Z" | "X") })
}

fn await_end(process: &OwnedFd, deadline: Instant) {
    let left = deadline.saturating_duration_since(Instant::now());
    let left = Timespec { tv_sec: 0, tv_nsec: left.subsec_nanos().into() };
    let _ = poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&left));
}

/// How many processes with the mark live.
pub(super) fn count(mark: &ProcessMark) -> usize {
    find(mark, &survey()).len()
}
