//! Random queries over random records.

mod data;
mod queries;
mod tables;

pub(crate) use data::{TEXTS, texts, words};
pub(crate) use queries::{Maker, Tables, Words};

use crate::dice::Random;
use crate::model::{Folder, Plan, Way, records, ways, ways_of_stores};
use data::{TIME, Times};
use std::ops::Range;
use tables::{Composer, Parts};

/// How many seeds, unless `JIRD_QUERY_SEEDS` says so: each is some records and queries over them.
const SEEDS: u64 = 300;
/// How many queries of one table for each seed, and as many of several.
const QUERIES: usize = 3;

/// Where the records of the queries are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Home {
    Files,
    Stores,
}

fn answers_as_the_model(name: &str, home: Home, seeds: Range<u64>) {
    let mut folder = Folder::new(name);
    let alone = number_of("JIRD_QUERY_SEED");
    let seeds = alone.map_or(seeds, |seed| seed..seed + 1);
    let ways = if home == Home::Stores { ways_of_stores() } else { ways() };
    let (mut with_rows, mut of_several, mut refused, mut searched, mut skipped, mut answered) = (0, 0, 0, 0, 0, 0);
    let all = seeds.end.saturating_sub(seeds.start) * 2 * QUERIES as u64;
    for seed in seeds {
        let mut random = Random::new(seed);
        // Few records at first: what fails is small.
        let most = 2 + (seed as usize % 50).pow(2) / 60;
        let count = 1 + random.below(most);
        let (texts, times) = data::texts(&mut random, count);
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        folder.hold(&texts);
        let mut words = data::words();
        if home == Home::Stores {
            // No index of a store answers them.
            words.ends.clear();
        }
        let input: Vec<_> = match home {
            Home::Files => texts.iter().map(|text| records(text)).collect(),
            Home::Stores => {
                let plan = Plan::new(&mut random, TIME, &words.paths, &texts);
                let input = texts.iter().map(|text| plan.events(text)).collect();
                folder.store(&mut random, plan);
                input
            }
        };
        if times == Times::Unique && random.below(2) == 0 {
            words.unique = vec![TIME];
        }
        let parts = Parts::of(words.clone());
        // One way after the other, or all of them.
        let ways: &[Way] = if by_all_ways(seed) { &ways } else { &ways[seed as usize % ways.len()..][..1] };
        for number in 0..2 * QUERIES {
            let query = if number < QUERIES {
                Maker { words: &words, random: &mut random }.query()
            } else {
                Composer { parts: &parts, files: texts.len(), random: &mut random }.query()
            };
            let checked = folder.check(&query, &input, ways, seed);
            let has_rows = checked.rows.is_some_and(|rows| rows > 0);
            with_rows += u64::from(has_rows);
            of_several += u64::from(has_rows && number >= QUERIES);
            refused += u64::from(checked.rows.is_none());
            searched += u64::from(checked.searched_bytes > 0);
            skipped += u64::from(checked.skipped_blocks > 0);
            answered += u64::from(has_rows && checked.answered_blocks > 0);
        }
    }
    // Else little is tested.
    let said = format!(
        "of {all} queries {with_rows} had rows, {of_several} of them of several tables, {refused} were refused, {searched} searched, \
         {skipped} skipped blocks, {answered} were answered by columns"
    );
    let is_much = with_rows * 4 > all && of_several * 8 > all && refused * 4 < all && searched * 50 > all;
    let is_much = is_much && (home == Home::Files || skipped * 20 > all && answered * 50 > all);
    assert!(is_much || alone.is_some(), "{said}");
}

fn seeds() -> u64 {
    number_of("JIRD_QUERY_SEEDS").unwrap_or(SEEDS)
}

/// Whether the queries of a seed are run in all ways: those of `JIRD_QUERY_ALL_WAYS` seeds, spread evenly.
fn by_all_ways(seed: u64) -> bool {
    let every = |wanted: u64| (seeds() / wanted.max(1)).max(1);
    number_of("JIRD_QUERY_ALL_WAYS").is_some_and(|wanted| wanted > 0 && seed.is_multiple_of(every(wanted)))
}

pub(crate) fn number_of(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|number| number.parse().expect("a number"))
}

#[test]
fn random_queries_answer_as_the_model_does() {
    answers_as_the_model("random", Home::Files, 0..seeds() / 2);
}

#[test]
fn more_random_queries_answer_as_the_model_does() {
    answers_as_the_model("more", Home::Files, seeds() / 2..seeds());
}

#[test]
fn random_queries_of_stores_answer_as_the_model_does() {
    answers_as_the_model("stores", Home::Stores, 0..seeds() / 2);
}

#[test]
fn more_random_queries_of_stores_answer_as_the_model_does() {
    answers_as_the_model("more-stores", Home::Stores, seeds() / 2..seeds());
}
