//! [`checks::paths`] on any bytes.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &[u8]| checks::one_of_each(checks::paths, text));
