//! Compared with the reference, which reads one line at a time.

use crate::common;
use crate::common::{corpus, files};
use checks::random::{self, Random};

#[test]
fn lines_of_the_corpus_are_read_as_the_reference_reads_them() {
    let Some(root) = corpus() else { return };
    for document in files(&root, "ndjson", "") {
        // The first half MB: every kind of line of each file is in it.
        let end = document
            .text
            .iter()
            .skip(500_000)
            .position(|&byte| byte == b'\n')
            .map_or(document.text.len(), |at| at + 500_000);
        checks::lines(&document.text[..end]);
    }
}

#[test]
fn generated_lines_are_read_as_the_reference_reads_them() {
    common::force_kernel();
    for seed in 0..checks::rounds(1500) {
        let mut random = Random::new(seed as u64);
        let count = random.below(30);
        checks::lines(&random::lines(&mut random, count, 0));
        checks::lines(&random::lines(&mut random, count, 20));
    }
}

#[test]
fn generated_predicates_keep_what_the_naive_evaluator_keeps() {
    common::force_kernel();
    for seed in 0..checks::rounds(6000) as u64 {
        let mut random = Random::new(seed);
        let mut data = seed.to_le_bytes().to_vec();
        data.extend(random::lines(&mut random, 12, if seed % 4 == 0 { 20 } else { 0 }));
        checks::predicates(&data);
    }
}
