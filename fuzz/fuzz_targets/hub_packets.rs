//! Any text of a member is a packet that the hub can pass on with the right name in it, or is refused.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| a2c_hub::fuzzing::decode(text));
