//! Any bytes: no panic, no hang, and what is a document once is one again.
#![no_main]
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    assert_eq!(jird::parse(bytes).is_ok(), jird::validate(bytes).is_ok());
});
