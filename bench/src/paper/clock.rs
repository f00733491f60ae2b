//! Closures of this process, timed in turns.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::options::Options;
use crate::row::quantile;

/// The median time of each closure in nanoseconds: over the rounds, of the medians of the batches. Each batch begins with
/// two untimed runs, each round with another closure.
pub(super) fn medians(passes: &mut [Box<dyn FnMut() + '_>], options: &Options) -> Vec<f64> {
    let mut rounds = vec![Vec::new(); passes.len()];
    for round in 0..options.rounds {
        for turn in 0..passes.len() {
            let index = (turn + round) % passes.len();
            rounds[index].push(batch(&mut *passes[index], Duration::from_millis(options.milliseconds)));
        }
    }
    rounds.iter().map(|rounds| quantile(rounds, 0.5)).collect()
}

/// Keeps the compiler from leaving out what nobody looks at.
pub(super) fn used<T>(value: T) {
    drop(black_box([value]));
}

fn batch(pass: &mut dyn FnMut(), budget: Duration) -> f64 {
    const RUNS_MIN: usize = 5;
    pass();
    pass();
    let mut samples = Vec::new();
    let started = Instant::now();
    while samples.len() < RUNS_MIN || started.elapsed() < budget {
        let started = Instant::now();
        pass();
        samples.push(started.elapsed().as_secs_f64() * 1e9);
    }
    quantile(&samples, 0.5)
}
