//! How quickly a compaction works.

use std::thread;
use std::time::{Duration, Instant};

/// The longest rest at a time.
const REST_MAX: Duration = Duration::from_secs(1);

/// How quickly spans are written again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Without a rest.
    Full,
    /// In the background: after each piece of work it rests three times as long as that took, so it takes a quarter of a
    /// processor and leaves the disk to others most of the time.
    Quarter,
}

/// Rests between pieces of work.
pub(super) struct Rests {
    pace: Pace,
    since: Instant,
}

impl Rests {
    pub(super) fn new(pace: Pace) -> Self {
        Self { pace, since: Instant::now() }
    }

    /// Rests for what was done since the last rest.
    pub(super) fn rest(&mut self) {
        match self.pace {
            Pace::Full => (),
            Pace::Quarter => {
                thread::sleep(self.since.elapsed().saturating_mul(3).min(REST_MAX));
                self.since = Instant::now();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_the_background_a_rest_is_three_times_as_long_as_the_work() {
        let rest_after = |pace, work| {
            let mut rests = Rests { pace, since: Instant::now().checked_sub(work).unwrap() };
            let begun = Instant::now();
            rests.rest();
            begun.elapsed()
        };
        assert!(rest_after(Pace::Quarter, Duration::from_millis(20)) >= Duration::from_millis(60));
        let long = rest_after(Pace::Quarter, Duration::from_mins(1));
        assert!((REST_MAX..2 * REST_MAX).contains(&long), "{long:?}");
        assert!(rest_after(Pace::Full, Duration::from_mins(1)) < REST_MAX);
    }
}
