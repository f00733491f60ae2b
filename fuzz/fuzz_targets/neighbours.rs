//! [`checks::neighbours`] on any bytes.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| checks::neighbours(input));
