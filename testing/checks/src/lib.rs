//! What must hold of jird on any input, whatever the bytes: one function per fuzz target. The fuzzers call them on bytes of
//! their own, by [`one_of_each`]; the ordinary tests replay seeds and regressions through them, and the corpus, and what they
//! generate.
//!
//! Each panics, with the input in the message, if something does not hold.
#![forbid(unsafe_code)]

mod compare;
mod documents;
mod encode;
mod events;
mod lines;
mod neighbours;
mod predicates;
pub mod random;
pub mod reference;
mod second;
mod typed;
mod ways;

pub use compare::{assert_consistent, assert_same};
pub use documents::{kernels, parse, record, threads};
pub use encode::encode;
pub use events::events;
pub use lines::lines;
pub use neighbours::neighbours;
pub use predicates::predicates;
pub use second::{SerdeTree, serde_json, serde_tree};
pub use typed::typed;
pub use ways::one_of_each;

pub(crate) use ways::ways;

/// What must hold of a text; panics where it does not.
pub type Target = fn(&[u8]);

/// The functions by the names of their fuzz targets.
pub const TARGETS: [(&str, Target); 10] = [
    ("parse", parse),
    ("record", record),
    ("lines", lines),
    ("predicates", predicates),
    ("kernels", kernels),
    ("serde_json", serde_json),
    ("typed", typed),
    ("encode", encode),
    ("events", events),
    ("neighbours", neighbours),
];

/// Chunk sizes with borders everywhere, somewhere, and hardly anywhere. Miri fills buffers byte by byte, and has short texts.
pub const CHUNK_BYTES: [usize; 3] = [64, 128, if cfg!(miri) { 512 } else { 64 << 10 }];

/// The start of a text, for messages.
pub fn shown(text: &[u8]) -> String {
    const MAX: usize = 300;
    let head = &text[..text.len().min(MAX)];
    format!("{:?}{} ({} bytes)", String::from_utf8_lossy(head), if text.len() > MAX { "…" } else { "" }, text.len())
}
