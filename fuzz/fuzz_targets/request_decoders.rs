//! See `a2c_fuzz::request_decoders`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| a2c_fuzz::request_decoders(bytes));
