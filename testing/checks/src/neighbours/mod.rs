//! Neighbours that misbehave: readers, writers, sinks, sources and serde's traits are other people's code, and the engine must hold
//! whatever they do.
//!
//! The first bytes of an input are a [script](Script): which neighbour, where it meets the engine, and at which of its calls it does
//! what it should not. The rest is a text, or a program of its own.
//!
//! - Every `str` that is handed out is UTF-8, every number is one.
//! - No panic but the neighbour's own, which it is told by.
//! - A neighbour is asked a bounded number of times, and a sink is told a bounded number of events.
//! - Where a neighbour keeps to its rules (single bytes, interruptions), the result is that of a good neighbour.
//! - What a neighbour has harmed can be used again, and all this holds then too.

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

/// Whatever a reader, a writer, a sink, a source or a type does, the engine holds.
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
