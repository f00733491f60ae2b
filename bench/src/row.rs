//! The row of one peer, in one build, at one task, on one input.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::peer::Build;
use crate::server::Lane;
use crate::task::Task;

/// A line of the raw results.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) task: Task,
    pub(crate) input: String,
    pub(crate) peer: String,
    pub(crate) build: Build,
    /// Whether the peer's server has a lane for the row, even if the rounds failed.
    #[serde(skip)]
    pub(crate) loaded: bool,
    pub(crate) outcome: Outcome,
}

/// The outcome of a row.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    Measured(Measured),
    /// The peer was missing, was not built, was wrong, or died: the reason.
    Failed(String),
}

/// The timings.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Measured {
    pub(crate) bytes: usize,
    pub(crate) documents: usize,
    /// Whether some floats differed from the reference in their last bits.
    pub(crate) floats_inexact: bool,
    /// The median of each round's batch, in nanoseconds per run over the whole input.
    pub(crate) rounds_ns: Vec<f64>,
    /// The same for the broken document; only tasks that measure refusals have them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) failed_rounds_ns: Vec<f64>,
    /// The fastest run of all.
    pub(crate) least_ns: f64,
    /// The number of timed runs in all rounds together.
    pub(crate) runs: usize,
    /// The median of the rounds.
    pub(crate) median_ns: f64,
    /// Half the interquartile range of the rounds, divided by their median.
    pub(crate) spread: f64,
    /// Figures that only whole processes have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) process: Option<Process>,
}

/// Figures that only whole processes have.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Process {
    /// The number of records in the answer.
    pub(crate) hits: u64,
    /// The largest maximum resident size of all runs.
    pub(crate) resident_bytes_max: u64,
    /// What the process does not do, or does wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
    /// Other figures that the process measured in every round, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) figures: BTreeMap<String, Vec<f64>>,
    /// The times without start-up, if the process reports them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) inside_rounds_ns: Vec<f64>,
}

impl Process {
    /// The median of a figure.
    pub(crate) fn figure(&self, name: &str) -> Option<f64> {
        self.figures.get(name).map(|rounds| quantile(rounds, 0.5))
    }
}

impl Measured {
    /// Computes the figures that follow from the rounds.
    pub(crate) fn summed_up(mut self) -> Self {
        self.median_ns = quantile(&self.rounds_ns, 0.5);
        self.spread = (quantile(&self.rounds_ns, 0.75) - quantile(&self.rounds_ns, 0.25)) / 2.0 / self.median_ns;
        self
    }

    /// Input bytes per nanosecond, which is GB/s.
    pub(crate) fn speed(&self) -> f64 {
        self.bytes as f64 / self.median_ns
    }

    /// The time of a refusal divided by the time of a good parse: the median of the rounds' ratios.
    pub(crate) fn refusal_ratio(&self) -> f64 {
        let ratios: Vec<_> = self.failed_rounds_ns.iter().zip(&self.rounds_ns).map(|(bad, good)| bad / good).collect();
        quantile(&ratios, 0.5)
    }
}

impl Row {
    /// Notes one batch: the lane of the whole document, and that of the broken document if the task has one.
    pub(crate) fn add_round(&mut self, lanes: &[Lane]) {
        let Outcome::Measured(measured) = &mut self.outcome else { return };
        measured.rounds_ns.push(lanes[0].median);
        measured.failed_rounds_ns.extend(lanes.get(1).map(|lane| lane.median));
        measured.least_ns = measured.least_ns.min(lanes[0].least);
        measured.runs += lanes[0].runs;
    }

    pub(crate) fn measured(&self) -> Option<&Measured> {
        match &self.outcome {
            Outcome::Measured(measured) => Some(measured),
            Outcome::Failed(_) => None,
        }
    }
}

/// The row of the peer's better build at one task and input, or a failed row.
pub(crate) fn best<'a>(rows: &'a [Row], task: Task, input: &str, peer: &str) -> Option<&'a Row> {
    let mine = rows.iter().filter(|row| row.task == task && row.input == input && row.peer == peer);
    mine.min_by(|a, b| time(a).total_cmp(&time(b)))
}

/// How many times as fast `peer` is as `other` at one task and input, each in its better build. This is the median of
/// the rounds' ratios, because a slow phase of the host slows neighbours in a round alike. If a run stopped early, only
/// the rounds that both have are compared.
pub(crate) fn times(rows: &[Row], task: Task, input: &str, peer: &str, other: &str) -> Option<f64> {
    let rounds = |peer: &str| Some(best(rows, task, input, peer)?.measured()?.rounds_ns.as_slice());
    let ratios: Vec<f64> = rounds(other)?.iter().zip(rounds(peer)?).map(|(other, own)| other / own).collect();
    (!ratios.is_empty()).then(|| quantile(&ratios, 0.5))
}

fn time(row: &Row) -> f64 {
    row.measured().map_or(f64::INFINITY, |measured| measured.median_ns)
}

/// The quantile, interpolated linearly between neighbours; NaN for no values.
pub(crate) fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let at = share * last as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and `last`")]
    let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    low + (high - low) * at.fract()
}

/// The geometric mean; NaN for no values.
pub(crate) fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for value in values {
        sum += value.ln();
        count += 1;
    }
    (sum / f64::from(count)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_neighbours() {
        assert!((quantile(&[3.0, 1.0, 2.0], 0.5) - 2.0).abs() < 1e-12);
        assert!((quantile(&[1.0, 2.0], 0.5) - 1.5).abs() < 1e-12);
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn the_better_build_is_the_faster_one_that_did_not_fail() {
        let row =
            |build, outcome| Row { task: Task::Dom, input: "x".into(), peer: "p".into(), build, loaded: true, outcome };
        let measured = |median_ns| Outcome::Measured(Measured { median_ns, ..Measured::default() });
        let rows = [
            row(Build::Default, measured(2.0)),
            row(Build::Native, measured(1.0)),
            row(Build::Cxx, Outcome::Failed("no".into())),
        ];
        assert_eq!(best(&rows, Task::Dom, "x", "p").map(|row| row.build), Some(Build::Native));
    }

    #[test]
    fn a_round_that_was_slow_for_all_changes_no_ratio() {
        let row = |peer: &str, rounds: [f64; 3]| {
            let measured = Measured { rounds_ns: rounds.to_vec(), ..Measured::default() }.summed_up();
            let outcome = Outcome::Measured(measured);
            Row { task: Task::Dom, input: "x".into(), peer: peer.into(), build: Build::Default, loaded: true, outcome }
        };
        let rows = [row("a", [1.0, 10.0, 10.0]), row("b", [2.0, 2.0, 20.0])];
        assert_eq!(times(&rows, Task::Dom, "x", "a", "b"), Some(2.0));
        assert_eq!(times(&rows, Task::Dom, "x", "a", "c"), None);
    }
}
