//! See `a2c_fuzz::engine_frames`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| a2c_fuzz::engine_frames(bytes));
