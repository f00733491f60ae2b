//! The competitors, each with what it does not do.

mod foreign;
mod jird;
mod memcpy;
mod serde_json;
mod simd_json;
mod sonic_rs;

use crate::peer::{Build, Peer};
use crate::task::Task;

/// A competitor as the barometer knows it, whether or not it could be built.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// The builds that are measured; the better one is shown.
    pub(crate) builds: &'static [Build],
    pub(crate) origin: Origin,
    /// What is true of it in every task.
    pub(crate) note: &'static str,
    /// What it does not do, or gets for free, in some tasks.
    pub(crate) shortfalls: &'static [(Task, &'static str)],
    /// Makes one, or says why there is none.
    pub(crate) make: fn() -> Result<Box<dyn Peer>, String>,
}

/// Which bar a competitor counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Jird,
    Rust,
    Cxx,
    Wall,
}

impl Entry {
    /// The entry with this name.
    pub(crate) fn named(name: &str) -> Option<&'static Entry> {
        ALL.iter().find(|entry| entry.name == name)
    }

    /// What it does not do in one task, with what is true everywhere.
    pub(crate) fn caveats(&self, task: Task) -> Vec<&'static str> {
        let own = self.shortfalls.iter().filter(|(one, _)| *one == task).map(|(_, words)| *words);
        own.chain((!self.note.is_empty()).then_some(self.note)).collect()
    }
}

const RUST: &[Build] = &[Build::Default, Build::Native];
const JIRD: &[Build] = &[Build::Default];
const CXX: &[Build] = &[Build::Cxx];

/// In the order of the tables' columns.
pub(crate) static ALL: &[Entry] = &[
    Entry {
        name: "jird",
        builds: JIRD,
        origin: Origin::Jird,
        note: "reuses its Parser",
        shortfalls: &[],
        make: || jird::Reused::new().and_then(boxed),
    },
    Entry {
        name: "jird-fresh",
        builds: JIRD,
        origin: Origin::Jird,
        note: "a fresh Document for every parse",
        shortfalls: &[],
        make: || jird::Fresh::new().and_then(boxed),
    },
    Entry {
        name: "simdjson",
        builds: CXX,
        origin: Origin::Cxx,
        note: "wants padded input, made outside the timing; reuses its parser; refuses integers beyond 64 bits and 1e309",
        shortfalls: &[(Task::Error, "sees a last byte that does not close the first before it walks")],
        make: foreign::simdjson_dom,
    },
    Entry {
        name: "simdjson-od",
        builds: CXX,
        origin: Origin::Cxx,
        note: "On-Demand: wants padded input, made outside the timing; each value can be read once",
        shortfalls: &[(
            Task::Partial,
            "does not check what it skips; the fields are asked for in the document's order",
        )],
        make: foreign::simdjson_ondemand,
    },
    Entry {
        name: "simdjson-s1",
        builds: CXX,
        origin: Origin::Cxx,
        note: "stage 1 alone: structural index, UTF-8, quotes and control characters",
        shortfalls: &[],
        make: foreign::simdjson_stage_one,
    },
    Entry {
        name: "yyjson",
        builds: CXX,
        origin: Origin::Cxx,
        note: "copies the text inside the timing, as its API does",
        shortfalls: &[],
        make: foreign::yyjson,
    },
    Entry {
        name: "yyjson-insitu",
        builds: CXX,
        origin: Origin::Cxx,
        note: "overwrites padded input, restored outside the timing",
        shortfalls: &[],
        make: foreign::yyjson_insitu,
    },
    Entry {
        name: "rapidjson",
        builds: CXX,
        origin: Origin::Cxx,
        note: "overwrites its input, restored outside the timing; full precision and UTF-8 validation asked for",
        shortfalls: &[],
        make: foreign::rapidjson,
    },
    Entry {
        name: "sonic-rs",
        builds: RUST,
        origin: Origin::Rust,
        note: "chooses SIMD at compile time",
        shortfalls: &[],
        make: || boxed(sonic_rs::Tree::default()),
    },
    Entry {
        name: "sonic-rs-lazy",
        builds: RUST,
        origin: Origin::Rust,
        note: "chooses SIMD at compile time",
        shortfalls: &[
            (Task::Validate, "skips with checks (IgnoredAny): see the table of wrongly accepted documents"),
            (Task::Partial, "get_many over lazy tweets: what follows the last wanted field is not checked"),
        ],
        make: || boxed(sonic_rs::Lazy::default()),
    },
    Entry {
        name: "sonic-rs-typed",
        builds: RUST,
        origin: Origin::Rust,
        note: "chooses SIMD at compile time",
        shortfalls: &[],
        make: || boxed(sonic_rs::Typed::default()),
    },
    Entry {
        name: "simd-json",
        builds: RUST,
        origin: Origin::Rust,
        note: "tape, tape and buffers reused; overwrites padded input, restored outside the timing",
        shortfalls: &[(Task::Dom, "the tape is visited as a flat list, its best case")],
        make: || boxed(simd_json::Flat::default()),
    },
    Entry {
        name: "simd-json-bv",
        builds: RUST,
        origin: Origin::Rust,
        note: "borrowed value, buffers reused; overwrites its input, restored outside the timing",
        shortfalls: &[],
        make: || boxed(simd_json::Borrowed::default()),
    },
    Entry {
        name: "simd-json-typed",
        builds: RUST,
        origin: Origin::Rust,
        note: "buffers reused; overwrites its input, restored outside the timing",
        shortfalls: &[],
        make: || boxed(simd_json::Typed::default()),
    },
    Entry {
        name: "serde_json",
        builds: RUST,
        origin: Origin::Rust,
        note: "",
        shortfalls: &[
            (Task::Dom, "default features: some floats are off by the last bit"),
            (Task::Validate, "IgnoredAny: see the table of wrongly accepted documents"),
        ],
        make: || boxed(serde_json::Tree::default()),
    },
    Entry {
        name: "serde_json-typed",
        builds: RUST,
        origin: Origin::Rust,
        note: "",
        shortfalls: &[],
        make: || boxed(serde_json::Typed::default()),
    },
    Entry {
        name: "memcpy",
        builds: JIRD,
        origin: Origin::Wall,
        note: "the wall: no JSON is read",
        shortfalls: &[],
        make: || boxed(memcpy::Memcpy::default()),
    },
];

#[expect(clippy::unnecessary_wraps, reason = "what every entry's `make` answers")]
fn boxed(peer: impl Peer + 'static) -> Result<Box<dyn Peer>, String> {
    Ok(Box::new(peer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fold::Agreement;
    use crate::peer::Refusal;
    use crate::task;

    /// What every peer that was built makes of these documents, compared with `serde_json`.
    fn check(documents: &[Vec<u8>]) {
        let fold = |entry: &Entry| {
            let mut peer = (entry.make)().ok()?;
            peer.load(documents);
            (0..documents.len()).for_each(|index| peer.refresh(index));
            match task::run(Task::Dom, &mut *peer, 0..documents.len()) {
                Ok(fold) => Some(fold),
                Err(Refusal::NotDone) => None,
                Err(Refusal::Rejected) => panic!("{} refuses a document", entry.name),
            }
        };
        let reference = Entry::named("serde_json").and_then(fold).expect("a Rust peer");
        for entry in ALL {
            if let Some(fold) = fold(entry) {
                assert_ne!(fold.agrees(reference), Agreement::Differs, "{}", entry.name);
            }
        }
    }

    #[test]
    fn all_peers_compute_the_same_over_the_events() {
        check(&task::documents("events").expect("they need no file"));
    }

    #[test]
    fn all_peers_fold_texts_of_every_length_alike() {
        let texts: Vec<String> = (0..=100).map(|len| "abcdefghij".chars().cycle().take(len).collect()).collect();
        check(&[::serde_json::to_vec(&texts).expect("strings")]);
    }

    #[test]
    fn all_peers_fold_numbers_alike() {
        let text =
            "[0, -0, -0.0, 0e1, 1, -1, 9223372036854775807, -9223372036854775808, 18446744073709551615, 0.5, 1e3]";
        check(&[text.as_bytes().to_vec()]);
    }
}
