//! Neighbours that misbehave. Readers, writers, sinks, sources and serde's traits are other people's code, and the
//! engine must withstand anything they do.
//!
//! The first bytes of an input are a [script](Script): which neighbour, where it meets the engine, and at which of its
//! calls it misbehaves. The rest is a text, or a program of its own.
//!
//! - Every `str` that the engine hands out is UTF-8, and every number is valid.
//! - There is no panic except the neighbour's own, which is recognisable.
//! - A neighbour is called a bounded number of times, and a sink gets a bounded number of events.
//! - If a neighbour keeps to its rules (single bytes, interruptions), the result is that of a good neighbour.
//! - Everything that a neighbour has disturbed can be used again, and all of this holds then too.

mod deserialize;
mod lines;
mod readers;
mod script;
mod serialize;
mod sinks;
mod sources;
mod threads;
mod told;
mod types;
mod writers;

use script::Script;

/// The engine withstands anything that a reader, a writer, a sink, a source or a type does.
///
/// # Panics
/// If it does not.
pub fn neighbours(input: &[u8]) {
    let script = Script::new(input);
    match script.neighbour % 8 {
        0 | 1 => readers::readers(&script),
        2 => writers::writers(&script),
        3 => sinks::sinks(&script),
        4 => sources::sources(&script),
        5 => serialize::serialize(&script),
        _ => deserialize::deserialize(&script),
    }
}
