//! Frames: a line that may be followed by raw bytes.
//!
//! ```text
//! line \n                                                      a line without a payload
//! line \n  length (8 bytes, little-endian, signed)  payload    a line with one; no \n after it
//! ```
//!
//! The bytes do not say whether a payload follows a line: the line itself does, in the words of its protocol. A stream
//! whose reader and writer disagree about one length cannot be used any further, so every failure in the middle of a frame
//! is final. `codec` is pure; [`FrameWriter`] and [`FrameReader`] do the input and output.

mod codec;
mod reader;
mod writer;

pub use codec::{Frame, FrameError, FrameLimits};
pub use reader::{FrameReadError, FrameReader};
pub use writer::{FrameWriteError, FrameWriter};
