//! Which chart a task gets.

use std::path::Path;

use crate::machine::Machine;
use crate::peers;
use crate::row::{Measured, Row, best, geometric_mean};
use crate::svg::{self, Chart, Series};
use crate::task::Task;

/// The peers of a chart with several inputs: jird, and the fastest others.
const SERIES_MAX: usize = 6;

/// Draws the tasks that have rows into `folder`, one file each.
pub(crate) fn write(folder: &Path, rows: &[Row], tasks: &[Task], machine: &Machine) -> Result<(), String> {
    for &task in tasks {
        let Some(chart) = chart(rows, task, machine) else { continue };
        save(folder, task.name(), &chart)?;
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
    let (labels, series) = match inputs.as_slice() {
        [] => return None,
        [input] => {
            let values = names.iter().map(|peer| value(input, peer)).collect();
            (names.iter().map(|&name| name.to_owned()).collect(), vec![Series { name: String::new(), values }])
        }
        _ => {
            let shown = chosen(&names);
            let of_peer = |peer: &&str| {
                let values = inputs.iter().map(|input| value(input, peer)).chain([mean(peer)]).collect();
                Series { name: (*peer).to_owned(), values }
            };
            let labels = inputs.iter().copied().chain(["geometric mean"]).map(str::to_owned).collect();
            (labels, shown.iter().map(of_peer).collect())
        }
    };
    // What follows the semicolon is for the table.
    let question = task.question().split(';').next().unwrap_or_default();
    let title = format!("{}: {question}", task.name());
    Some(Chart { title, unit: unit.to_owned(), labels, series, stacked: false, footer: machine.line() })
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

/// Best first; where one failed somewhere, last.
fn ranked(mut names: Vec<&str>, merit: impl Fn(&str) -> f64) -> Vec<&str> {
    let rank = |name: &str| if merit(name).is_nan() { f64::NEG_INFINITY } else { merit(name) };
    names.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
    names
}

/// jird in front, then the others as they come, without the walls.
fn chosen<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let wall = |name: &str| peers::Entry::named(name).is_some_and(|entry| entry.origin == peers::Origin::Wall);
    let others = names.iter().copied().filter(|name| *name != "jird" && !wall(name));
    let mut shown: Vec<&str> = names.iter().copied().filter(|name| *name == "jird").collect();
    shown.extend(others);
    shown.truncate(SERIES_MAX);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jird_comes_first_and_walls_not_at_all() {
        assert_eq!(chosen(&["memcpy", "yyjson", "jird", "simdjson"]), ["jird", "yyjson", "simdjson"]);
    }

    #[test]
    fn a_peer_that_failed_somewhere_ranks_last() {
        let merit = |name: &str| if name == "a" { f64::NAN } else { name.len() as f64 };
        assert_eq!(ranked(vec!["a", "bb", "ccc"], merit), ["ccc", "bb", "a"]);
    }
}
