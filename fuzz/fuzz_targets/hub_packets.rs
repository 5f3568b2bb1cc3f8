//! See `a2c_fuzz::hub_packets`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| a2c_fuzz::hub_packets(bytes));
