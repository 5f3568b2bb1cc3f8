//! Who runs on which cores.
//!
//! Where a server and its callers share the cores, a call costs half as much whenever the scheduler happens to put both
//! on the same one, and which way it goes changes from minute to minute. On cores of their own, servers can be compared.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The cores of the servers and those of this process.
#[derive(Clone, Copy)]
pub struct Cores {
    servers: CpuSet,
    ours: CpuSet,
}

impl Cores {
    /// One half each; `None` where there is a single core, or where the system does not say.
    pub fn split() -> Option<Self> {
        let all = sched_getaffinity(None).ok()?;
        let mut cores = (0..CpuSet::MAX_CPU).filter(|core| all.is_set(*core));
        let (mut servers, mut ours) = (CpuSet::new(), CpuSet::new());
        for core in cores.by_ref().take(all.count() as usize / 2) {
            servers.set(core);
        }
        cores.for_each(|core| ours.set(core));
        (servers.count() > 0).then_some(Self { servers, ours })
    }

    /// Puts this thread, and those it starts from now on, on our cores.
    pub fn stay(&self) {
        let _ = sched_setaffinity(None, &self.ours);
    }

    /// Starts a process on the cores of the servers: it gets those of the thread that starts it.
    pub fn lend<T>(&self, start: impl FnOnce() -> T) -> T {
        let _ = sched_setaffinity(None, &self.servers);
        let started = start();
        self.stay();
        started
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_lends_the_other_cores_and_comes_back() {
        let Some(cores) = Cores::split() else { return };
        cores.stay();
        let lent = cores.lend(|| sched_getaffinity(None).expect("known"));
        let back = sched_getaffinity(None).expect("known");
        assert!(lent == cores.servers && back == cores.ours);
        assert!((0..CpuSet::MAX_CPU).all(|core| !(lent.is_set(core) && back.is_set(core))));
    }
}
