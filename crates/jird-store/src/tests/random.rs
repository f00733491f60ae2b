//! Random users of a store, with trouble.

use super::model::Run;
use crate::files::simulated::Trouble;

/// How many seeds are tried: `JIRD_STORE_SEEDS`, or a few.
fn seeds() -> u64 {
    std::env::var("JIRD_STORE_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(60)
}

#[test]
fn a_store_has_what_a_list_has() {
    for seed in 0..seeds() {
        let mut run = Run::new(seed);
        for _ in 0..60 {
            run.step().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        }
        run.check();
        run.verify();
    }
}

#[test]
fn nothing_acknowledged_is_lost_when_the_power_goes_and_nothing_is_there_twice() {
    for seed in 0..seeds() {
        let mut run = Run::new(1_000_000 + seed);
        for round in 0..12 {
            let at = 1 + run.random.below(60);
            run.set(Trouble::Crash(at));
            for _ in 0..30 {
                let result = run.step();
                if run.disk.is_off() {
                    break;
                }
                result.unwrap_or_else(|error| panic!("seed {seed}, round {round}: {error}"));
            }
            let kill = run.random.below(3) == 0;
            run.crash(kill);
            run.check();
        }
        run.verify();
    }
}

#[test]
fn a_disk_that_fails_now_and_then_loses_nothing() {
    for seed in 0..seeds() {
        let mut run = Run::new(2_000_000 + seed);
        for _ in 0..12 {
            let at = 1 + run.random.below(60);
            let goes_on = run.random.below(3) == 0;
            run.set(if goes_on { Trouble::FailFrom(at) } else { Trouble::Fail(at) });
            for _ in 0..10 {
                if run.step().is_err() && run.random.below(2) == 0 {
                    run.close();
                }
            }
            run.set(Trouble::None);
            run.close();
            run.check();
        }
        run.verify();
    }
}
