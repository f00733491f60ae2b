//! The competitors, each with notes on what it does not do.

mod foreign;
mod jird;
mod memcpy;
mod names;
mod serde_json;
mod shared;
mod simd_json;
mod sonic_rs;

use crate::fold::Fold;
use crate::peer::{Build, Peer};
use crate::task::Task;

/// A competitor as the barometer knows it, whether or not it could be built.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// The builds that are measured; the better one is shown.
    pub(crate) builds: &'static [Build],
    pub(crate) origin: Origin,
    /// A note that holds in every task.
    pub(crate) note: &'static str,
    /// For some tasks: what the competitor does not do, or gets for free.
    pub(crate) shortfalls: &'static [(Task, &'static str)],
    /// Makes the peer, or says why there is none.
    pub(crate) make: fn() -> Result<Box<dyn Peer>, String>,
}

/// The bar that a competitor counts for.
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

    /// The notes on this competitor for one task, including the note that holds in every task.
    pub(crate) fn caveats(&self, task: Task) -> Vec<&'static str> {
        let own = self.shortfalls.iter().filter(|(one, _)| *one == task).map(|(_, words)| *words);
        own.chain((!self.note.is_empty()).then_some(self.note)).collect()
    }
}

/// The fold of a `serde_json` value, for comparisons.
pub(crate) fn fold_value(value: &::serde_json::Value) -> Fold {
    serde_json::fold_value(value)
}

pub(crate) const RUST: &[Build] = &[Build::Default, Build::Native];
pub(crate) const JIRD: &[Build] = &[Build::Default];
/// The row of `jird-serde-json`.
pub(crate) const FACADE: &str = "jird-serde-json";
/// The row that makes its trees without reading.
pub(crate) const MADE_TREE: &str = "made-tree";
const MAKES_NONE: &str = "FieldReader: checks everything, and makes no document";
const SKIPS: &str = "does not check what it skips; the fields are asked for in the document's order";
const SONIC_SKIPS: &str = "validate skips with checks (IgnoredAny)";
const KEEPS_NUMBERS: &str = "numbers keep their text, strings are written anew";
const WRITES_ANEW: &str = "numbers and strings are written anew";
pub(crate) const CXX: &[Build] = &[Build::Cxx];

/// All competitors, in the order of the tables' columns.
pub(crate) static ALL: &[Entry] = &[
    Entry {
        name: "jird",
        builds: JIRD,
        origin: Origin::Jird,
        note: "reuses its Parser",
        shortfalls: &[
            (Task::Minify, "makes a new buffer each time"),
            (
                Task::Scan,
                "tokens, UTF-8 and control characters; escapes and numbers are checked in later loops, as simdjson's are",
            ),
            (Task::Partial, MAKES_NONE),
            (Task::Users, MAKES_NONE),
            (Task::Two, MAKES_NONE),
        ],
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
        name: "jird-trusted",
        builds: JIRD,
        origin: Origin::Jird,
        note: "FieldReader, trusted: checks only the text that it hands out; reuses its FieldReader",
        shortfalls: &[(Task::Two, "FieldReader::read_trusted: looks at nothing after the last field")],
        make: || jird::Trusted::new().and_then(boxed),
    },
    Entry { name: FACADE, builds: &[Build::Facade], origin: Origin::Jird, note: "", shortfalls: &[], make: facade },
    Entry {
        name: "simdjson",
        builds: CXX,
        origin: Origin::Cxx,
        note: "wants padded input, made outside the timing; reuses its parser; refuses integers beyond 64 bits and 1e309",
        shortfalls: &[
            (Task::Error, "sees a last byte that does not close the first before it walks"),
            (Task::Minify, "validates nothing: neither UTF-8 nor grammar"),
        ],
        make: foreign::simdjson_dom,
    },
    Entry {
        name: "simdjson-od",
        builds: CXX,
        origin: Origin::Cxx,
        note: "On-Demand: wants padded input, made outside the timing; each value can be read once",
        shortfalls: &[(Task::Partial, SKIPS), (Task::Users, SKIPS), (Task::Two, SKIPS)],
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
        shortfalls: &[(Task::Minify, KEEPS_NUMBERS)],
        make: foreign::yyjson,
    },
    Entry {
        name: "yyjson-insitu",
        builds: CXX,
        origin: Origin::Cxx,
        note: "overwrites padded input, restored outside the timing",
        shortfalls: &[(Task::Minify, KEEPS_NUMBERS)],
        make: foreign::yyjson_insitu,
    },
    Entry {
        name: "rapidjson",
        builds: CXX,
        origin: Origin::Cxx,
        note: "overwrites its input, restored outside the timing; full precision and UTF-8 validation asked for",
        shortfalls: &[(Task::Minify, KEEPS_NUMBERS)],
        make: foreign::rapidjson,
    },
    Entry {
        name: "sonic-rs",
        builds: RUST,
        origin: Origin::Rust,
        note: "chooses SIMD at compile time",
        shortfalls: &[(Task::Million, SONIC_SKIPS), (Task::Minify, KEEPS_NUMBERS)],
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
            (Task::Users, "get_many over lazy tweets: what follows the last wanted field is not checked"),
            (Task::Two, "get_many: what follows the last wanted field is not checked"),
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
        shortfalls: &[
            (Task::Dom, "the tape is visited as a flat list, its best case"),
            (Task::Minify, WRITES_ANEW),
            (Task::Migrate, "owned value; new buffers each time"),
        ],
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
            (
                Task::Migrate,
                "default features: some floats are off by the last bit; readers behind a BufReader of 64 KB",
            ),
            (Task::Validate, "IgnoredAny: see the table of wrongly accepted documents"),
            (Task::Minify, "numbers and strings are written anew, members in the order of their keys"),
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
        name: MADE_TREE,
        builds: &[Build::Facade],
        origin: Origin::Wall,
        note: "the wall: makes the trees of jird-serde-json from keys, strings and numbers; no JSON is read",
        shortfalls: &[],
        make: made_tree,
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

#[cfg(feature = "facade")]
fn facade() -> Result<Box<dyn Peer>, String> {
    boxed(names::JirdSerdeJson::default())
}

#[cfg(feature = "facade")]
fn made_tree() -> Result<Box<dyn Peer>, String> {
    boxed(names::MadeTree::default())
}

#[cfg(not(feature = "facade"))]
use self::{left_out as facade, left_out as made_tree};

#[cfg(not(feature = "facade"))]
fn left_out() -> Result<Box<dyn Peer>, String> {
    Err("only in the build with the feature facade".to_owned())
}

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

    fn check(documents: &[Vec<u8>]) {
        check_task(Task::Dom, documents);
    }

    /// Compares the answers of every built peer for these documents with those of `serde_json`.
    fn check_task(task: Task, documents: &[Vec<u8>]) {
        let fold = |entry: &Entry| {
            let mut peer = (entry.make)().ok()?;
            peer.load(documents);
            (0..documents.len()).for_each(|index| peer.refresh(index));
            match task::run(task, task::Detail::None, &mut *peer, 0..documents.len()) {
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
        let events = task::documents("events").expect("they need no file");
        check(&events);
        check_task(Task::Two, &events);
    }

    #[test]
    fn all_peers_find_the_same_users() {
        let tweets = br#"{"statuses": [
            {"id": 1, "user": {"id": 30, "name": "a"}, "lang": "en"},
            {"id": 2, "user": {"id": 7}, "retweeted_status": {"id": 3, "user": {"id": 30}}, "lang": "en"},
            {"id": 4, "user": {"id": 12345678901}, "retweeted_status": {"user": {"id": 8}}}
        ], "count": 3}"#;
        check_task(Task::Users, &[tweets.to_vec()]);
    }

    #[test]
    fn all_peers_minify() {
        let text = r#" { "a\u0041\n" : [ 1 , 2.5 , -0.0, 1e3, "\\" , "ü" , true , null , { } , [ ] ] } "#;
        for entry in ALL {
            let Ok(mut peer) = (entry.make)() else { continue };
            peer.load(&[text.as_bytes().to_vec()]);
            peer.refresh(0);
            match peer.minify(0) {
                Ok(len) => {
                    let minified = peer.minified().unwrap_or_else(|reason| panic!("{}: {reason}", entry.name));
                    assert_eq!(minified.len(), len, "{}", entry.name);
                    assert_eq!(crate::minified::check(text.as_bytes(), &minified), Ok(()), "{}", entry.name);
                }
                Err(refusal) => assert_eq!(refusal, Refusal::NotDone, "{}", entry.name),
            }
        }
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
