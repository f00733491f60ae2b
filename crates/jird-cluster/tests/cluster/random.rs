//! Random queries over random records, compared with the model.

#[path = "../../../jird-query/tests/queries/random/data.rs"]
#[allow(dead_code, reason = "the crate that it is from uses the rest")]
mod data;
#[path = "../../../jird-query/tests/queries/random/queries.rs"]
#[allow(dead_code, reason = "the crate that it is from uses the rest")]
mod queries;
#[path = "../../../jird-query/tests/queries/random/tables.rs"]
#[allow(dead_code, reason = "the crate that it is from uses the rest")]
mod tables;

use queries::Maker;

use crate::CLUSTER;
use crate::dice::Random;
use crate::model::{Folder, Form, Way, records};
use crate::processes::Processes;
use jird_query::Check;
use tables::{Composer, Parts};

/// How many seeds, unless `JIRD_CLUSTER_SEEDS` says so: each is some records and six queries over them.
const SEEDS: u64 = 40;

const QUERIES: usize = 3;

fn ways() -> Vec<Way> {
    let lines = |check, chunk_bytes| Way { form: Form::Lines, check, threads: 2, chunk_bytes };
    vec![
        lines(Check::All, Some(1)),
        lines(Check::All, Some(61)),
        lines(Check::Touched, Some(61)),
        lines(Check::Trusted, Some(500)),
        lines(Check::All, None),
        Way { form: Form::Gzip, ..lines(Check::All, None) },
        Way { form: Form::Array, ..lines(Check::All, Some(61)) },
    ]
}

#[test]
fn random_queries_answer_as_the_model_does() {
    let mut processes = Processes::start("random", 2, 1);
    let cluster = processes.reach(5);
    CLUSTER.set(Some(cluster));
    let mut folder = Folder::new("cluster");
    let seeds = std::env::var("JIRD_CLUSTER_SEEDS").map_or(SEEDS, |seeds| seeds.parse().expect("a number"));
    let first = std::env::var("JIRD_CLUSTER_FIRST").map_or(0, |seed| seed.parse().expect("a number"));
    let (mut with_rows, mut refused) = (0, 0);
    let ways = ways();
    for seed in first..first + seeds {
        let mut random = Random::new(seed);
        let count = 1 + random.below(2 + (seed as usize % 50).pow(2) / 60);
        let (texts, _) = data::texts(&mut random, count);
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        folder.hold(&texts);
        let input: Vec<_> = texts.iter().map(|text| records(text)).collect();
        let words = data::words();
        let parts = Parts::of(words.clone());
        for number in 0..2 * QUERIES {
            let query = if number < QUERIES {
                Maker { words: &words, random: &mut random }.query()
            } else {
                Composer { parts: &parts, files: texts.len(), random: &mut random }.query()
            };
            let way = ways[(seed as usize + number) % ways.len()];
            let checked = folder.check(&query, &input, &[way], seed);
            with_rows += u64::from(checked.rows.is_some_and(|rows| rows > 0));
            refused += u64::from(checked.rows.is_none());
        }
    }
    CLUSTER.set(None);
    let all = seeds * 2 * QUERIES as u64;
    assert!(with_rows * 4 > all && refused * 4 < all, "of {all} queries {with_rows} had rows, {refused} were refused");
}
