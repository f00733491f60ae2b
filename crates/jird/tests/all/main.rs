//! The engine's tests, as one program: a program each would be linked twenty times. `cargo test -p jird --test all NAME` runs a
//! part of them. Beside it stand those that want a build or a run of their own: token strings in full, gigabytes, small
//! limits, Miri.
#![allow(clippy::zero_sized_map_values, reason = "serde's data model has everything")]

#[path = "../common/mod.rs"]
mod common;

mod base64; // bytes as base64, with the crate that everybody takes
mod conformance; // the suites of the corpus
mod differences_typed; // the page of differences from `serde_json`
mod encode; // types to text
mod encodings; // byte order marks, UTF-16, UTF-32
mod errors; // what errors say, and where
mod events; // sources and sinks
mod examples; // the examples do what they say
mod failed; // what is used again after a failure
mod filters; // event filters
mod hostile; // depth, repeated keys, sizes
mod layout; // layouts of text
mod lines; // many lines at a time
mod lying_readers; // readers that break the rules of `Read`
mod neighbours; // misbehaving neighbours in random order
mod numbers; // numbers, exact
mod objects; // types as sinks and sources of events
mod offsets; // where faults are, of every way in
mod records; // one record by hand
mod regressions; // what fuzzing found
mod serde_json; // beside `serde_json`
mod typed; // decoding types
mod unruly; // types, sources and readers that break rules, one by one
