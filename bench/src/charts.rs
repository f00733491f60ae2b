//! Decides which chart a task gets.

use std::path::Path;

use crate::machine::Machine;
use crate::options::Options;
use crate::peers::{Entry, Origin};
use crate::row::{Measured, Row, best, geometric_mean};
use crate::svg::{self, Chart, Series};
use crate::task::Task;

/// The maximum number of peers in a chart with several inputs: jird, simdjson, and the fastest others.
const SERIES_MAX: usize = 6;

/// Draws each task that has rows to a file in `folder`.
pub(crate) fn write(folder: &Path, rows: &[Row], options: &Options, machine: &Machine) -> Result<(), String> {
    for task in options.tasks() {
        let Some(mut chart) = chart(rows, task, machine) else { continue };
        let mut name = task.name().to_owned();
        if options.rotate && !task.is_whole() {
            chart.unit.push_str("; documents in rotation");
            name.push_str("-rotated");
        }
        save(folder, &name, &chart)?;
    }
    Ok(())
}

/// Draws one chart as `folder/name.svg`.
pub(crate) fn save(folder: &Path, name: &str, chart: &Chart) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let path = folder.join(format!("{name}.svg"));
    std::fs::write(&path, svg::bars(chart)).map_err(|error| format!("{}: {error}", path.display()))
}

fn chart(rows: &[Row], task: Task, machine: &Machine) -> Option<Chart> {
    let (unit, figure): (&str, fn(&Measured) -> f64) = match task {
        Task::Error => ("time to refuse over time to accept; longer is worse", Measured::refusal_ratio),
        Task::Query => ("seconds; longer is worse", |measured| measured.median_ns / 1e9),
        _ => ("GB/s; longer is better", Measured::speed),
    };
    let mut inputs: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|row| row.task == task) {
        if !inputs.contains(&row.input.as_str()) {
            inputs.push(&row.input);
        }
    }
    let value =
        |input: &str, peer: &str| best(rows, task, input, peer).and_then(Row::measured).map_or(f64::NAN, figure);
    let names: Vec<&str> = peers_of(rows, task);
    let mean = |peer: &str| geometric_mean(inputs.iter().map(|input| value(input, peer)));
    let less_is_better = matches!(task, Task::Error | Task::Query);
    let names = ranked(names, |peer| if less_is_better { -mean(peer) } else { mean(peer) });
    let several = inputs.len() > 1;
    let names = if several { chosen(&names) } else { names };
    let (labels, series) = match inputs.as_slice() {
        [] => return None,
        [input] => {
            let values = names.iter().map(|peer| value(input, peer)).collect();
            (names.iter().map(|&name| name.to_owned()).collect(), vec![Series { name: String::new(), values }])
        }
        _ => {
            let of_peer = |peer: &&str| {
                let values = inputs.iter().map(|input| value(input, peer)).chain([mean(peer)]).collect();
                Series { name: (*peer).to_owned(), values }
            };
            let labels = inputs.iter().copied().chain(["geometric mean"]).map(str::to_owned).collect();
            (labels, names.iter().map(of_peer).collect())
        }
    };
    // The part after the semicolon is only for the table.
    let question = task.question().split(';').next().unwrap_or_default();
    let title = format!("{}: {question}", task.name());
    let notes = names.iter().filter_map(|name| Entry::named(name)).filter_map(|entry| note(entry, task)).collect();
    Some(Chart { title, unit: unit.to_owned(), labels, series, stacked: false, notes, footer: machine.line() })
}

/// A note on what a peer does not do in this task.
fn note(entry: &Entry, task: Task) -> Option<String> {
    let mut words = entry.shortfalls.iter().filter(|(one, _)| *one == task).map(|(_, words)| *words).peekable();
    words.peek()?;
    Some(format!("{}: {}", entry.name, words.collect::<Vec<_>>().join("; ")))
}

fn peers_of(rows: &[Row], task: Task) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|row| row.task == task && row.measured().is_some()) {
        if !names.contains(&row.peer.as_str()) {
            names.push(&row.peer);
        }
    }
    names
}

/// Sorts the best peers first. Peers that failed on an input come last.
fn ranked(mut names: Vec<&str>, merit: impl Fn(&str) -> f64) -> Vec<&str> {
    let rank = |name: &str| if merit(name).is_nan() { f64::NEG_INFINITY } else { merit(name) };
    names.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
    names
}

/// jird first, then simdjson, then the others in their order, without the walls.
fn chosen<'a>(names: &[&'a str]) -> Vec<&'a str> {
    const FIRST: [&str; 2] = ["jird", "simdjson"];
    let wall = |name: &str| Entry::named(name).is_some_and(|entry| entry.origin == Origin::Wall);
    let first = FIRST.iter().filter_map(|first| names.iter().copied().find(|name| name == first));
    let others = names.iter().copied().filter(|name| !FIRST.contains(name) && !wall(name));
    first.chain(others).take(SERIES_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jird_and_simdjson_come_first_and_walls_not_at_all() {
        assert_eq!(chosen(&["memcpy", "yyjson", "jird", "simdjson"]), ["jird", "simdjson", "yyjson"]);
    }

    #[test]
    fn a_peer_that_failed_somewhere_ranks_last() {
        let merit = |name: &str| if name == "a" { f64::NAN } else { name.len() as f64 };
        assert_eq!(ranked(vec!["a", "bb", "ccc"], merit), ["ccc", "bb", "a"]);
    }
}
