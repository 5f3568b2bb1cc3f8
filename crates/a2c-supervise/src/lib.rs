//! Keeps one worker running, and turns bursts of changes into few actions.
//!
//! It must not know what a worker does: no processes, no MCP, no configuration files, no network.
//!
//! A [`Worker`] is anything that runs until it ends: a child process, a connection, a session. A [`Supervisor`] starts it,
//! starts it again after a failure as its [`RestartPolicy`] says, and tells how it is:
//!
//! ```text
//!  set_target, restart, wake ──► Supervisor ──► Worker::run (one run at a time)
//!                                    │               │ Run::ready, Run::degraded
//!                  Status ◄── WorkerState::after ◄───┘
//! ```
//!
//! Inside a run, [`heartbeat()`] finds out whether a worker still answers and [`IdleTimer`] whether it is still used. Outside
//! of it, a [`Coalescer`] paces what a burst of changes causes.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod coalesce;
mod heartbeat;
mod idle;
mod restart;
mod state;
mod supervisor;

pub use coalesce::{ChangeSignal, Coalescer, Pace};
pub use heartbeat::{HeartbeatPolicy, Lost, PulseEvent, heartbeat};
pub use idle::{IdleTimer, InUse};
pub use restart::{GaveUp, NextStart, RapidCrashes, RestartCounter, RestartDelay, RestartPolicy};
pub use state::{StateEvent, WorkerState};
pub use supervisor::{Exit, Run, Status, Supervisor, Target, Worker};
