//! Decides whether a growth is linear.
#![allow(clippy::cast_precision_loss, reason = "counts are far below 2^53, and compared with much to spare")]

use std::fmt;

/// The most that a cost may grow.
#[derive(Clone, Copy, Debug)]
pub struct Bar {
    /// The cost from 2n to 4n, divided by the cost from n to 2n: 2 for a linear cost, 4 for a quadratic one.
    pub quotient: f64,
    /// How much more a byte of the largest input may cost than a byte of the smallest. A cost with steps, such as that
    /// of an allocator or of a buffer that doubles, can have any quotient, but its cost per byte does not grow.
    pub growth: f64,
    /// Instructions for each byte of the largest input. Catches a cost that is linear with an absurd factor, such as a
    /// chunk that is scanned again for every line.
    pub per_byte: f64,
    /// Instructions that are ignored at every size, for making a buffer or filling a page.
    pub step: f64,
}

impl Bar {
    /// The bar for a linear cost.
    ///
    /// A cost of `a·n + b·n²` has the quotient `(2a + 12bn) / (a + 3bn)`, and grows by `(a + 4bn) / (a + bn)`. So it
    /// fails at 2.3 and 1.15 when the quadratic part is 6 % of the cost at n, and 20 % of that at 4n.
    pub const LINEAR: Self = Self { quotient: 2.3, growth: 1.15, per_byte: 1500.0, step: 8000.0 };

    /// The bar for a cost of n log n, as for sorting.
    pub const SORTED: Self = Self { quotient: 2.5, growth: 1.4, per_byte: 3000.0, ..Self::LINEAR };

    /// The bar for a linear cost of several threads, whose waits for each other vary.
    pub const THREADS: Self = Self { growth: 1.8, ..Self::LINEAR };

    /// The same bar, with another limit for each byte.
    #[must_use]
    pub const fn per_byte(self, per_byte: f64) -> Self {
        Self { per_byte, ..self }
    }

    /// The same bar for a whole program. A program costs some millions of instructions before it begins, a number that
    /// varies slightly. The cost per byte means nothing there, also because tests are not fully optimised.
    #[must_use]
    pub const fn of_a_program(self) -> Self {
        Self { growth: 0.0, step: 3e6, per_byte: f64::INFINITY, ..self }
    }
}

/// Instructions for each byte that a step may cost: a buffer that doubles, or a chunk that a shorter text did not need.
const STEP_PER_BYTE: f64 = 0.5;

/// The cost of a case at n, 2n and 4n.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    /// The lengths of the inputs, in bytes.
    pub bytes: [u64; 3],
    /// Instructions, or bytes of memory.
    pub cost: [u64; 3],
}

impl Measured {
    /// The cost from 2n to 4n divided by the cost from n to 2n.
    pub fn quotient(&self) -> f64 {
        let [first, second] = self.steps();
        second / first.max(1.0)
    }

    /// The cost of each byte of the largest input.
    pub fn per_byte(&self) -> f64 {
        self.cost[2] as f64 / self.bytes[2].max(1) as f64
    }

    /// The cost of each byte of the largest input, divided by that of the smallest.
    pub fn growth(&self) -> f64 {
        self.per_byte() / (self.cost[0].max(1) as f64 / self.bytes[0].max(1) as f64)
    }

    fn steps(&self) -> [f64; 2] {
        let [one, two, four] = self.cost.map(|cost| cost as f64);
        [two - one, four - two]
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [one, two, four] = self.cost;
        let (quotient, growth, per_byte) = (self.quotient(), self.growth(), self.per_byte());
        write!(f, "{one} / {two} / {four}, quotient {quotient:.2}, growth {growth:.2}, {per_byte:.1} a byte")
    }
}

/// Why `measured` fails `bar`, if it does.
pub fn judge(measured: &Measured, bar: &Bar) -> Option<&'static str> {
    let [first, second] = measured.steps();
    let allowed = bar.step + STEP_PER_BYTE * measured.bytes[0] as f64;
    if second > bar.quotient * first.max(0.0) + allowed && measured.growth() > bar.growth {
        return Some("grows faster than its input");
    }
    (measured.per_byte() > bar.per_byte).then_some("costs too much for each byte")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Applies `cost` to the sizes in use.
    fn measured(cost: impl Fn(f64) -> f64) -> Measured {
        let bytes = [40_000_u64, 80_000, 160_000];
        Measured { bytes, cost: bytes.map(|bytes| cost(bytes as f64) as u64) }
    }

    #[test]
    fn a_linear_cost_passes_whatever_its_factor_below_the_limit() {
        for factor in [0.0, 0.01, 1.0, 30.0, 1400.0] {
            assert_eq!(judge(&measured(|n| 5000.0 + factor * n), &Bar::LINEAR), None, "{factor}");
        }
        assert!(judge(&measured(|n| 2000.0 * n), &Bar::LINEAR).is_some());
    }

    #[test]
    fn a_quadratic_cost_fails_also_where_it_is_a_small_part() {
        for (linear, quadratic) in [(0.0, 1e-4), (1.0, 2e-5), (10.0, 4e-5), (100.0, 2e-4)] {
            let cost = |n: f64| linear * n + quadratic * n * n;
            assert!(judge(&measured(cost), &Bar::LINEAR).is_some(), "{linear} n + {quadratic} n²");
        }
    }

    #[test]
    fn sorting_passes_the_bar_for_sorting_alone() {
        let cost = |n: f64| 10.0 * n * n.log2();
        assert_eq!(judge(&measured(cost), &Bar::SORTED), None);
        assert!(judge(&measured(|n| 10.0 * n.powf(1.5)), &Bar::SORTED).is_some());
    }

    #[test]
    fn a_buffer_that_doubles_once_is_no_growth() {
        let cost = |n: f64| 20_000.0 + if n > 100_000.0 { 20_000.0 } else { 0.0 };
        assert_eq!(judge(&measured(cost), &Bar::LINEAR), None);
    }
}
