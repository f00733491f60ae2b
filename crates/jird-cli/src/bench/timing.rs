//! The times of one case.

/// The seconds that each run took, in ascending order.
#[derive(Debug, Default)]
pub(super) struct Timing(Vec<f64>);

impl Timing {
    pub(super) fn add(&mut self, seconds: f64) {
        let at = self.0.partition_point(|other| *other < seconds);
        self.0.insert(at, seconds);
    }

    /// The shortest time that `percent` percent of the runs did not exceed (the nearest-rank percentile).
    pub(super) fn percentile(&self, percent: u8) -> f64 {
        let rank = (self.0.len() * usize::from(percent)).div_ceil(100).max(1);
        self.0.get(rank - 1).copied().unwrap_or(f64::NAN)
    }

    /// Half the interquartile range, divided by the median.
    pub(super) fn spread(&self) -> f64 {
        (self.percentile(75) - self.percentile(25)) / 2.0 / self.percentile(50)
    }

    /// The times, from the shortest to the longest.
    pub(super) fn seconds(&self) -> &[f64] {
        &self.0
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "times that are only handed on")]
mod tests {
    use super::*;

    fn of(seconds: &[f64]) -> Timing {
        let mut timing = Timing::default();
        seconds.iter().for_each(|seconds| timing.add(*seconds));
        timing
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let ten = of(&[10.0, 9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]);
        let found = [1, 10, 11, 50, 51, 90, 91, 100].map(|percent| ten.percentile(percent));
        assert_eq!(found, [1.0, 1.0, 2.0, 5.0, 6.0, 9.0, 10.0, 10.0]);
        let one = of(&[3.0]);
        assert_eq!([1, 50, 100].map(|percent| one.percentile(percent)), [3.0; 3]);
        assert!(of(&[]).percentile(50).is_nan());
    }

    #[test]
    fn the_spread_is_that_of_the_quartiles() {
        assert!((of(&[1.0, 2.0, 3.0, 4.0]).spread() - 0.5).abs() < 1e-9);
        assert!(of(&[2.0; 9]).spread().abs() < 1e-9);
    }
}
