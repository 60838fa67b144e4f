#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| elephan_fuzz::target::endpoint(bytes));
