//! Why a program is not compiled, or has no outcome.

use std::time::Duration;

/// Why a program is not compiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// This build does not have the language.
    #[error("this build does not run VRL programs: build a2c with --features vrl, or remove the key")]
    Unsupported,
    /// The text is too long.
    #[error("the VRL program has {bytes} bytes, the limit is {limit}: shorten it")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// An expression nests so deep that the compiler could overflow the stack.
    #[error("an expression of the VRL program nests too deep: split it into several assignments")]
    TooDeep,
    /// The compiler refused it. The text is plain and names line and column.
    #[error("{0}")]
    Invalid(String),
}

/// Why a run has no outcome.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramRunError {
    /// The result is too large to be an event.
    #[error("the VRL program was not run: the event has more than {limit} bytes")]
    EventTooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The result cannot be written or read as an event.
    #[error("the VRL program was not run: the result cannot be read as an event: {0}")]
    InvalidEvent(#[source] serde_json::Error),
    /// The run took too long.
    #[error("the VRL program was stopped after {} s", .limit.as_secs_f32())]
    TimedOut {
        /// How long a run may take.
        limit: Duration,
    },
    /// The program called `abort`.
    #[error("the VRL program aborted: {0}")]
    Aborted(String),
    /// An expression failed.
    #[error("the VRL program failed: {0}")]
    Failed(String),
    /// The outcome is too large.
    #[error("the outcome of the VRL program is not used: it has more than {limit} bytes")]
    OutcomeTooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The outcome cannot be written as JSON.
    #[error("the outcome of the VRL program is not used: {0}")]
    InvalidOutcome(#[source] serde_json::Error),
}
