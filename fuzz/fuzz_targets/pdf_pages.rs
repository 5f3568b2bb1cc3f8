//! See `a2c_fuzz::pdf_pages`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| a2c_fuzz::pdf_pages(bytes));
