//! Random queries over random records.

mod data;
mod queries;

pub(crate) use data::TEXTS;
pub(crate) use queries::{Maker, Words};

use crate::dice::Random;
use crate::model::{Folder, records, ways};
use std::ops::Range;

/// So many seeds, if `JIRD_QUERY_SEEDS` does not say how many: each is some records, and queries of them.
const SEEDS: u64 = 250;
const QUERIES: usize = 6;
/// So many of the ways to run a query are tried with each.
const WAYS: usize = 2;

fn answers_as_the_model(name: &str, seeds: Range<u64>) {
    let mut folder = Folder::new(name);
    let (ways, words) = (ways(), data::words());
    let (mut with_rows, mut refused, mut searched) = (0, 0, 0);
    let all = seeds.end.saturating_sub(seeds.start) * QUERIES as u64;
    for seed in seeds {
        let mut random = Random::new(seed);
        // Few records at first: what fails is small.
        let most = 2 + (seed as usize % 50).pow(2) / 60;
        let count = 1 + random.below(most);
        let texts = data::texts(&mut random, count);
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        folder.hold(&texts);
        let input: Vec<_> = texts.iter().flat_map(|text| records(text)).collect();
        for _ in 0..QUERIES {
            let query = Maker { words: &words, random: &mut random }.query();
            let ways: Vec<_> = (0..WAYS).map(|_| random.pick(&ways)).collect();
            let checked = folder.check(&query, &input, &ways, seed);
            with_rows += u64::from(checked.rows.is_some_and(|rows| rows > 0));
            refused += u64::from(checked.rows.is_none());
            searched += u64::from(checked.searched_bytes > 0);
        }
    }
    // Else little is tested.
    let said = format!("of {all} queries {with_rows} had rows, {refused} were refused, {searched} searched");
    assert!(with_rows * 4 > all && refused * 4 < all && searched * 50 > all, "{said}");
}

fn seeds() -> u64 {
    std::env::var("JIRD_QUERY_SEEDS").map_or(SEEDS, |seeds| seeds.parse().expect("a number of seeds"))
}

#[test]
fn random_queries_answer_as_the_model_does() {
    answers_as_the_model("random", 0..seeds() / 2);
}

#[test]
fn more_random_queries_answer_as_the_model_does() {
    answers_as_the_model("more", seeds() / 2..seeds());
}
