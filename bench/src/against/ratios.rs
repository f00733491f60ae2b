//! Compares two builds: the ratios of the rounds, and the bars of `--within`.

use std::fmt::Write;

use serde::Serialize;

use super::{Side, is_jird, is_other_build};
use crate::bars::Bar;
use crate::row::{Measured, Row, best, geometric_mean, quantile};
use crate::task::Task;

/// One row of jird, compared with its counterpart.
#[derive(Debug, Serialize)]
pub(crate) struct Comparison {
    pub(crate) task: Task,
    /// `None`: all inputs of the task together; each round counts with its geometric mean.
    pub(crate) input: Option<String>,
    /// The name of jird's row.
    pub(crate) peer: String,
    /// How many times as fast jird is as its counterpart; `None` if one of the two was not measured.
    pub(crate) ratios: Option<Ratios>,
    /// The same for a second process of the counterpart, if `--within` is given: the noise.
    pub(crate) noise: Option<Ratios>,
}

/// The ratios of the rounds.
#[derive(Debug, Serialize)]
pub(crate) struct Ratios {
    median: f64,
    quartiles: [f64; 2],
    least: f64,
    greatest: f64,
    rounds: Vec<f64>,
}

impl Ratios {
    /// `None` if there are no rounds.
    fn of(rounds: Vec<f64>) -> Option<Self> {
        let at = |share| quantile(&rounds, share);
        let (median, quartiles, least, greatest) = (at(0.5), [at(0.25), at(0.75)], at(0.0), at(1.0));
        (!rounds.is_empty()).then_some(Self { median, quartiles, least, greatest, rounds })
    }

    /// The distance from 1 to the quartile that is farther from it.
    fn spread(&self) -> f64 {
        self.quartiles.iter().map(|quartile| (quartile - 1.0).abs()).fold(0.0, f64::max)
    }
}

/// Compares all rows of jird in a task that have a counterpart: each input, then all inputs together if there are
/// several.
pub(crate) fn compared(rows: &[Row], task: Task) -> Vec<Comparison> {
    let mine = || rows.iter().filter(|row| row.task == task);
    let has_counterpart = |peer: &str| mine().any(|row| row.peer == Side::Before.name(peer));
    let peers = distinct(mine().map(|row| row.peer.as_str()))
        .into_iter()
        .filter(|peer| is_jird(peer) && !is_other_build(peer) && has_counterpart(peer));
    let inputs = distinct(mine().map(|row| row.input.as_str()));
    let mut comparisons = Vec::new();
    for peer in peers {
        let of_side = |input: &str, side: Side| rounds(rows, task, input, &side.name(peer));
        let over = |input: &str, side: Side| Some(divided(of_side(input, Side::Before)?, of_side(input, side)?));
        let comparison = |input: Option<&str>, ratios: &dyn Fn(Side) -> Option<Vec<f64>>| Comparison {
            task,
            input: input.map(str::to_owned),
            peer: peer.to_owned(),
            ratios: ratios(Side::Own).and_then(Ratios::of),
            noise: ratios(Side::Again).and_then(Ratios::of),
        };
        for input in &inputs {
            comparisons.push(comparison(Some(input), &|side| over(input, side)));
        }
        if inputs.len() > 1 {
            let each = |side| inputs.iter().map(|input| over(input, side)).collect::<Option<Vec<_>>>();
            let together = |side| each(side).map(|each| means(&each));
            comparisons.push(comparison(None, &together));
        }
    }
    comparisons
}

/// The times of the rounds. In tasks that measure refusals, these are the times of the refusals.
fn rounds<'r>(rows: &'r [Row], task: Task, input: &str, peer: &str) -> Option<&'r [f64]> {
    let Measured { rounds_ns, failed_rounds_ns, .. } = best(rows, task, input, peer)?.measured()?;
    Some(if failed_rounds_ns.is_empty() { rounds_ns } else { failed_rounds_ns })
}

/// Divides the times of each round.
fn divided(times: &[f64], by: &[f64]) -> Vec<f64> {
    times.iter().zip(by).map(|(time, by)| time / by).collect()
}

/// The geometric mean of each round over all inputs.
fn means(inputs: &[Vec<f64>]) -> Vec<f64> {
    let rounds = inputs.iter().map(Vec::len).min().unwrap_or_default();
    (0..rounds).map(|round| geometric_mean(inputs.iter().map(|input| input[round]))).collect()
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// A table for people, with a line for each comparison. `other` describes the program of `--against`.
pub(crate) fn table(comparisons: &[Comparison], other: &str) -> String {
    let mut text = format!("\n  how many times as fast jird is as {other}\n\n");
    let names = comparisons.iter().map(|one| one.peer.len()).max().unwrap_or_default();
    let inputs = comparisons.iter().map(|one| one.input().len()).max().unwrap_or_default();
    let with_noise = comparisons.iter().any(|one| one.noise.is_some());
    let mut line = |cells: [&str; 6]| {
        let [name, input, median, quartiles, range, noise] = cells;
        let words = format!("  {name:<names$}  {input:<inputs$}{median:>8}{quartiles:>16}{range:>16}{noise:>24}");
        writeln!(text, "{}", words.trim_end()).expect("writing to a String");
    };
    let noise = if with_noise { "before, with itself" } else { "" };
    line(["", "", "median", "quartiles", "range", noise]);
    for one in comparisons {
        let Some(ratios) = &one.ratios else {
            line([&one.peer, one.input(), "-", "not measured", "", ""]);
            continue;
        };
        let range = |[from, to]: [f64; 2]| format!("{from:.3}–{to:.3}");
        let noise = one.noise.as_ref().map(|noise| format!("{:.3} ({})", noise.median, range(noise.quartiles)));
        line([
            &one.peer,
            one.input(),
            &format!("{:.3}", ratios.median),
            &range(ratios.quartiles),
            &range([ratios.least, ratios.greatest]),
            noise.as_deref().unwrap_or_default(),
        ]);
    }
    text
}

/// The bars of `--within`. For each task and row of jird's, the median of the rounds' ratios must not be further below
/// 1 than the larger of two figures: `share`, and the distance from 1 to the farther quartile of the other program's
/// ratios with itself.
pub(crate) fn bars(comparisons: &[Comparison], share: f64) -> Vec<Bar> {
    // Single inputs are noisier, and there are many, so the line of the whole task decides.
    let several = |one: &Comparison| {
        comparisons.iter().any(|other| other.task == one.task && other.peer == one.peer && other.input.is_none())
    };
    let deciding = comparisons.iter().filter(|one| one.input.is_none() || !several(one));
    deciding
        .map(|one| {
            let noise = one.noise.as_ref().map(Ratios::spread);
            let limit = 1.0 - noise.unwrap_or_default().max(share);
            let noise_words =
                noise.map_or("no noise measured".to_owned(), |noise| format!("noise {:.1} %", noise * 100.0));
            let text =
                format!("{}: {} over {}, {noise_words}", one.task.name(), one.peer, Side::Before.name(&one.peer));
            let value = noise.and(one.ratios.as_ref()).map(|ratios| ratios.median);
            Bar::at_least(text, value, (limit * 1e4).round() / 1e4)
        })
        .collect()
}

impl Comparison {
    fn input(&self) -> &str {
        self.input.as_deref().unwrap_or("all, geometric mean")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::Build;
    use crate::row::Outcome;

    fn row(task: Task, input: &str, peer: &str, rounds: &[f64]) -> Row {
        let measured = Measured { rounds_ns: rounds.to_vec(), ..Measured::default() }.summed_up();
        let outcome = Outcome::Measured(measured);
        Row { task, input: input.into(), peer: peer.into(), build: Build::Default, loaded: true, outcome }
    }

    fn median(ratios: Option<&Ratios>) -> String {
        ratios.map_or("none".to_owned(), |ratios| format!("{:.3}", ratios.median))
    }

    #[test]
    fn the_ratio_is_taken_in_each_round() {
        // The host is ten times as slow in the second round.
        let task = Task::Small;
        let rows = [
            row(task, "events", "jird", &[1.0, 10.0, 1.0]),
            row(task, "events", "jird-before", &[1.1, 12.0, 1.3]),
            row(task, "events", "jird-before-again", &[1.1, 12.6, 1.3]),
            row(task, "events", "jird-trusted", &[1.0]),
            row(task, "events", "simdjson", &[1.0]),
        ];
        let comparisons = compared(&rows, task);
        assert_eq!(comparisons.len(), 1, "only jird has a counterpart: {comparisons:?}");
        let ratios = comparisons[0].ratios.as_ref().expect("both were measured");
        assert_eq!(median(Some(ratios)), "1.200");
        assert!((ratios.least - 1.1).abs() < 1e-9 && (ratios.greatest - 1.3).abs() < 1e-9, "{ratios:?}");
        assert!((ratios.quartiles[0] - 1.15).abs() < 1e-9 && (ratios.quartiles[1] - 1.25).abs() < 1e-9, "{ratios:?}");
        assert_eq!(median(comparisons[0].noise.as_ref()), "1.000");
    }

    #[test]
    fn several_inputs_are_summed_up_round_by_round() {
        let task = Task::Readers;
        let rows = [
            row(task, "filter", "jird", &[1.0, 1.0]),
            row(task, "filter", "jird-before", &[2.0, 4.0]),
            row(task, "match", "jird", &[1.0, 1.0]),
            row(task, "match", "jird-before", &[8.0, 1.0]),
        ];
        let comparisons = compared(&rows, task);
        let found: Vec<_> = comparisons.iter().map(|one| (one.input(), median(one.ratios.as_ref()))).collect();
        let wanted = [("filter", "3.000"), ("match", "4.500"), ("all, geometric mean", "3.000")];
        assert_eq!(found, wanted.map(|(input, median)| (input, median.to_owned())));
        // Only the last line decides.
        assert_eq!(bars(&comparisons, 0.02).len(), 1);
    }

    #[test]
    fn refusals_are_compared_where_refusing_is_timed() {
        let refusing = |peer: &str, ns: f64| {
            let measured = Measured { rounds_ns: vec![7.0], failed_rounds_ns: vec![ns], ..Measured::default() };
            let outcome = Outcome::Measured(measured.summed_up());
            Row { outcome, ..row(Task::Error, "twitter", peer, &[]) }
        };
        let comparisons = compared(&[refusing("jird", 1.0), refusing("jird-before", 3.0)], Task::Error);
        assert_eq!(median(comparisons[0].ratios.as_ref()), "3.000");
    }

    /// A task in which jird takes `slower` times as long, and the other build differs from itself by `noise`.
    fn bar(slower: f64, noise: f64) -> Bar {
        let rows = [
            row(Task::Small, "events", "jird", &[slower; 4]),
            row(Task::Small, "events", "jird-before", &[1.0; 4]),
            row(Task::Small, "events", "jird-before-again", &[1.0, 1.0, 1.0 + noise, 1.0 + noise]),
        ];
        bars(&compared(&rows, Task::Small), 0.02).pop().expect("there is one task")
    }

    #[test]
    fn jird_may_be_slower_by_the_share_or_by_the_noise() {
        for (slower, noise, holds) in [
            (1.0, 0.0, true),
            (0.5, 0.0, true),
            (1.015, 0.0, true),
            (1.03, 0.0, false),
            (1.03, 0.05, true),
            (1.1, 0.05, false),
        ] {
            let bar = bar(slower, noise);
            assert_eq!(bar.holds(), holds, "{slower} times as slow, noise {noise}: {bar:?}");
        }
    }

    #[test]
    fn what_was_not_measured_does_not_hold() {
        let task = Task::Small;
        let failed = |peer: &str| Row { outcome: Outcome::Failed("dead".into()), ..row(task, "events", peer, &[]) };
        for rows in [
            [row(task, "events", "jird", &[1.0]), failed("jird-before"), failed("jird-before-again")],
            [
                row(task, "events", "jird", &[1.0]),
                row(task, "events", "jird-before", &[1.0]),
                failed("jird-before-again"),
            ],
            [
                failed("jird"),
                row(task, "events", "jird-before", &[1.0]),
                row(task, "events", "jird-before-again", &[1.0]),
            ],
        ] {
            let bars = bars(&compared(&rows, task), 0.02);
            assert!(bars.len() == 1 && !bars[0].holds(), "{bars:?}");
        }
    }

    #[test]
    fn the_table_says_what_was_not_measured() {
        let task = Task::Small;
        let failed = Row { outcome: Outcome::Failed("dead".into()), ..row(task, "events", "jird-before", &[]) };
        let text = table(&compared(&[row(task, "events", "jird", &[1.0]), failed], task), "the other");
        assert!(text.contains("as fast jird is as the other") && text.contains("not measured"), "{text}");
    }
}
