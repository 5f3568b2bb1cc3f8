//! Any bytes on a connection are websocket frames, however they are cut, or are refused; any body is a polling payload
//! or is refused.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let [step, limit, rest @ ..] = bytes else { return };
    // Small limits, so that there is something on either side of them.
    a2c_engineio::fuzzing::websocket(rest, usize::from(*step) + 1, usize::from(*limit) * 4);
    a2c_engineio::fuzzing::payload(rest);
});
