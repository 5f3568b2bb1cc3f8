//! Child processes: start them, talk to them in lines and frames, and leave none of them behind.
//!
//! It must not know MCP or any other protocol that a process speaks, nor configuration types. The caller says through a
//! trait ([`Redact`]) what is a secret. It depends on no other crate of this workspace.
//!
//! ```text
//! Launch ──► Processes::spawn ──► Process ── stdout ──► LineReader
//!                                    │  └─── stderr ──► StderrTail ──► StderrSink
//!                                    └────── stdin ◄─── LineWriter, FrameWriter
//! ```
//!
//! A process and what it has started are a process group, bear a common mark (`mark`) by which those that leave the group
//! are found (`reaper`), and are known to a guardian that outlives this program ([`guard`], [`GuardianProgram`]).
//!
//! Workers have limits of memory, CPU time and wall clock ([`WorkerLimits`]).

mod frame;
mod guardian;
mod launch;
mod line_reader;
mod line_writer;
mod mark;
mod process;
mod reaper;
mod redact;
mod run;
mod spawn_error;
mod stderr;
mod worker;
mod write_queue;

pub use frame::{Frame, FrameError, FrameLimits, FrameReadError, FrameReader, FrameWriteError, FrameWriter};
pub use guardian::client::{GuardianError, GuardianProgram};
pub use guardian::main::guard;
pub use launch::{BASIC_ENVIRONMENT, Launch, SESSION_ENVIRONMENT};
pub use line_reader::{BEGINNING, LineReader, ReadLine};
pub use line_writer::LineWriter;
pub use process::{Process, ProcessInput, Processes, Spawned};
pub use redact::{NoSecrets, Redact};
pub use run::{RunError, RunLimits, RunOutput};
pub use spawn_error::{SpawnError, SpawnErrorKind};
pub use stderr::{LAST_LINES_WAIT, LINE_LIMIT, StderrSink, StderrTail, cut};
pub use worker::{
    SpawnedWorker, WorkerEnd, WorkerLimit, WorkerLimits, WorkerLimitsError, WorkerOutcome, WorkerProcess,
    apply_worker_limits,
};
