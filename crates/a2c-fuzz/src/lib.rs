//! What must hold for any bytes that strangers send, for fuzzers of any kind.
//!
//! A [`FuzzTarget`] takes bytes and panics where a rule is broken. The targets of `fuzz/` hand them to libFuzzer; the tests
//! of this crate try the seeds and [mutations](Mutator) of them for some seconds, which needs neither a fuzzer nor
//! another compiler. This crate must not depend on a fuzzing engine.

mod dpe_uri;
mod mutate;
mod pdf_pages;
mod request_decoders;
mod window_uri;

pub use mutate::{Mutator, dictionary};

/// Something to feed.
#[derive(Debug, Clone, Copy)]
pub struct FuzzTarget {
    /// Also the name of its file in `fuzz/fuzz_targets`, of its folder in `fuzz/seeds`, and of its dictionary in
    /// `fuzz/dictionaries`, if it has one.
    pub name: &'static str,
    /// Panics where a rule does not hold.
    pub check: fn(&[u8]),
}

/// Every target.
pub const TARGETS: [FuzzTarget; 6] = [
    FuzzTarget { name: "dpe_uri", check: dpe_uri },
    FuzzTarget { name: "engine_frames", check: engine_frames },
    FuzzTarget { name: "hub_packets", check: hub_packets },
    FuzzTarget { name: "pdf_pages", check: pdf_pages },
    FuzzTarget { name: "request_decoders", check: request_decoders },
    FuzzTarget { name: "window_uri", check: window_uri },
];

/// Any text is a `dpe://` URI or is refused.
pub fn dpe_uri(bytes: &[u8]) {
    dpe_uri::check(text(bytes));
}

/// Any bytes on a connection are websocket frames, however they are cut, or are refused; any body is a polling payload
/// or is refused.
pub fn engine_frames(bytes: &[u8]) {
    let [step, limit, rest @ ..] = bytes else { return };
    // Small limits, so that there is something on either side of them.
    a2c_engineio::fuzzing::websocket(rest, usize::from(*step) + 1, usize::from(*limit) * 4);
    a2c_engineio::fuzzing::payload(rest);
}

/// Any text of a member is a packet that the hub can pass on with the right name in it, or is refused.
pub fn hub_packets(bytes: &[u8]) {
    a2c_hub::fuzzing::decode(text(bytes));
}

/// Any bytes are a PDF file whose pages can be read, or are refused with a reason.
pub fn pdf_pages(bytes: &[u8]) {
    pdf_pages::check(bytes);
}

/// Any text of a peer is decoded as what it should be, or is refused with an error of the protocol.
pub fn request_decoders(bytes: &[u8]) {
    request_decoders::check(text(bytes));
}

/// Any text is a `window://` URI or is refused.
pub fn window_uri(bytes: &[u8]) {
    window_uri::check(text(bytes));
}

/// The longest beginning that is text.
fn text(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).expect("it is valid up to there"),
    }
}
