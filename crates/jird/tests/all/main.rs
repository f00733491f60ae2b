//! The engine's tests, linked as one program, since separate programs would need twenty link steps.
//! `cargo test -p jird --test all NAME` runs a part of them. Tests that need a build or a run of their own are separate
//! programs: complete token strings, gigabytes, the memory of a process, small limits, Miri.
#![allow(clippy::zero_sized_map_values, reason = "serde's data model has everything")]

#[path = "../common/mod.rs"]
mod common;

mod base64; // bytes as base64
mod conformance; // the test suites of the corpus
mod differences_typed; // the documented differences from `serde_json`
mod edit; // documents that are edited
mod encode; // types to text
mod encodings; // byte order marks, UTF-16, UTF-32
mod errors; // error messages and positions
mod events; // sources and sinks
mod examples; // the examples work as described
mod failed; // reuse after a failure
mod filters; // event filters
mod hostile; // depth, repeated keys, sizes
mod jsonpath; // queries of JSONPath
mod layout; // layouts of text
mod lines; // many lines at a time
mod lying_readers; // readers that break the rules of `Read`
mod neighbours; // misbehaving neighbours in random order
mod numbers; // numbers, exact
mod objects; // types as sinks and sources of events
mod offsets; // fault offsets, for every entry point
mod partial; // documents that arrive in pieces, or were cut short
mod patch; // edits, patches, differences
mod records; // parts of documents, decoded one by one
mod regressions; // inputs that fuzzing found
mod serde_json; // comparison with `serde_json`
mod typed; // decoding types
mod unruly; // types, sources and readers that break rules, one by one
