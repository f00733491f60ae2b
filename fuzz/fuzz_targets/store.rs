//! [`store_checks::store`] on any bytes.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| store_checks::store(input));
