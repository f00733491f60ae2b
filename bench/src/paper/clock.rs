//! Times closures of this process, in turns.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::options::Options;
use crate::row::quantile;

/// The median time of each closure in nanoseconds: the median over the rounds of each round's batch median. Each batch
/// begins with two untimed runs, and each round begins with another closure.
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

/// Keeps the compiler from removing a computation whose result is unused.
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
