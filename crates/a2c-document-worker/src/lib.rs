//! Reads documents in processes of their own, so that a file which makes its reader run away, overflow its stack or eat
//! memory costs that file and nothing else.
//!
//! ```text
//! DocumentWorkers ── job ──► frame on standard input ──► serve ──► OpenDocument
//!        ▲                                                             │
//!        └────────── answer ◄── frame on standard output ◄─────────────┘
//! ```
//!
//! A program that wants workers is its own worker: it calls [`run_worker`] first thing in `main` where it was started for
//! that, and gives [`DocumentWorkers`] the arguments that lead there.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod job;
mod open;
mod running;
mod serve;
mod workers;

pub use job::{DocumentJob, DocumentOutline};
pub use open::open_document;
pub use serve::{run_worker, serve};
pub use workers::{DocumentWorkers, WorkerSettings};
