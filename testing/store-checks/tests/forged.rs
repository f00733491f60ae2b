//! The seeds and the regressions of the fuzz target `store`, replayed without a fuzzer; and each file of a small store with
//! random changes.

use checks::random::{Random, mutate};
use std::path::{Path, PathBuf};

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// The files of the samples as inputs.
fn inputs() -> Vec<(String, Vec<u8>)> {
    let mut inputs = Vec::new();
    for (number, sample) in store_checks::samples().iter().enumerate() {
        for (file, (name, bytes)) in sample.iter().enumerate() {
            inputs.push((format!("{number}-{name}"), [&[(number | file << 1) as u8], &bytes[..]].concat()));
        }
    }
    inputs
}

#[test]
fn what_once_failed_and_what_fuzzing_begins_with_holds() {
    let mut count = 0;
    for folder in ["seeds/store", "regressions/store"] {
        let Ok(entries) = std::fs::read_dir(fuzz().join(folder)) else { continue };
        for entry in entries {
            store_checks::store(&std::fs::read(entry.unwrap().path()).unwrap());
            count += 1;
        }
    }
    assert!(count >= 10, "only {count} inputs");
}

#[test]
fn files_with_random_changes_hold() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        for (_, mut bytes) in inputs() {
            bytes[0] |= (random.below(4) as u8) << 4;
            let first = bytes[0];
            let mut changed = bytes.split_off(1);
            for _ in 0..=random.below(3) {
                mutate(&mut random, &mut changed);
            }
            bytes.extend(changed);
            assert_eq!(bytes[0], first);
            store_checks::store(&bytes);
        }
    }
}

/// The files of the stores that earlier versions wrote: the first one, and one whose numbers were all doubles and whose columns
/// were read together.
const EARLIER: [(&str, [&str; 7]); 2] = [
    ("first", ["MANIFEST", "span-3.arrow", "span-3.index", "log-4", "span-5.arrow", "span-5.index", "SAVED"]),
    ("second", ["MANIFEST", "span-4.arrow", "span-4.index", "log-3", "span-6.arrow", "span-6.index", "SAVED"]),
];

#[test]
fn stores_of_earlier_formats_are_read() {
    // In order of time, then arrival.
    let mut events: Vec<(usize, usize)> = (0..3).flat_map(|part| (0..5).map(move |number| (part, number))).collect();
    events.sort_by_key(|(part, number)| (2 * part + number, *part));
    let wanted: String = events.iter().map(|(part, number)| store_checks::event(*part, *number)).collect();
    for (version, files) in EARLIER {
        for number in 0..2 {
            let file = |name: &str| {
                let seed = std::fs::read(fuzz().join(format!("seeds/store/{version}-{number}-{name}"))).unwrap();
                (name.to_owned(), seed[1..].to_vec())
            };
            let stored = files.map(file).to_vec();
            assert_eq!(store_checks::contents(&stored), (wanted.clone(), Vec::new()), "{version}, sample {number}");
        }
    }
}

#[test]
#[ignore = "it writes the seeds"]
fn seeds_are_written() {
    for (name, bytes) in inputs() {
        std::fs::write(fuzz().join("seeds/store").join(name), bytes).unwrap();
    }
}
