//! See `a2c_fuzz::dpe_uri`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| a2c_fuzz::dpe_uri(bytes));
