//! Properties of jird that must hold on any bytes: one function per fuzz target. Fuzzers call the functions on bytes of
//! their own, through [`one_of_each`]. The ordinary tests call them on seeds, on regressions, on the corpus and on
//! generated texts.
//!
//! Each function panics, with the input in the message, if its property does not hold.
#![forbid(unsafe_code)]

mod compare;
mod documents;
mod encode;
mod events;
mod lines;
mod migrate;
mod neighbours;
mod partial;
mod paths;
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
pub use migrate::migrate;
pub use neighbours::neighbours;
pub use partial::partial;
pub use paths::paths;
pub use predicates::predicates;
pub use second::{SerdeTree, serde_json, serde_tree};
pub use typed::typed;
pub use ways::one_of_each;

pub(crate) use ways::ways;

/// A property of a text; panics if it does not hold.
pub type Target = fn(&[u8]);

/// The functions by the names of their fuzz targets.
pub const TARGETS: [(&str, Target); 13] = [
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
    ("migrate", migrate),
    ("partial", partial),
    ("paths", paths),
];

/// Chunk sizes with borders everywhere, in some places, and in hardly any. The last one is smaller under Miri, which
/// fills buffers byte by byte and gets short texts.
pub const CHUNK_BYTES: [usize; 3] = [64, 128, if cfg!(miri) { 512 } else { 64 << 10 }];

/// Whether everything takes many times as long here, as under an emulator: `JIRD_SLOW=1`. Tests of generated texts then
/// try fewer of them.
pub fn is_slow() -> bool {
    std::env::var_os("JIRD_SLOW").is_some_and(|value| value == "1")
}

/// A number of generated texts, or a quarter of it where everything [is slow](is_slow).
pub fn rounds(wanted: usize) -> usize {
    if is_slow() { wanted / 4 } else { wanted }
}

/// The start of a text, for messages.
pub fn shown(text: &[u8]) -> String {
    const MAX: usize = 300;
    let head = &text[..text.len().min(MAX)];
    format!("{:?}{} ({} bytes)", String::from_utf8_lossy(head), if text.len() > MAX { "…" } else { "" }, text.len())
}
