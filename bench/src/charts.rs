//! Decides which chart a task gets.

use std::fmt::Display;
use std::path::Path;

use serde::Deserialize;

use crate::machine::Machine;
use crate::options::Options;
use crate::peers::{Entry, Origin};
use crate::query;
use crate::row::{Measured, Row, best, geometric_mean, quantile, times};
use crate::svg::{self, Chart, Label, Series};
use crate::task::{DOCUMENTS, Task};

/// The maximum number of peers in a chart with several inputs: jird, simdjson, and the fastest others.
const SERIES_MAX: usize = 6;

/// Draws each task that has rows to a file in `folder`.
pub(crate) fn write(folder: &Path, rows: &[Row], options: &Options, machine: &Machine) -> Result<(), String> {
    for task in options.tasks() {
        let Some(mut chart) = chart(rows, task, machine) else { continue };
        let mut name = task.name().to_owned();
        if options.rotate && !task.is_whole() {
            chart.subtitle.push_str("; documents in rotation");
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

/// Draws the charts of results that were written with `--out`.
pub(crate) fn again(options: &Options) -> Result<(), String> {
    let (Some(path), Some(folder)) = (&options.from, &options.svg) else {
        return Err("charts wants --from FILE, which --out wrote, and --svg FOLDER".to_owned());
    };
    let named = |error: &dyn Display| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| named(&error))?;
    let Written { machine, rotated, rows } = serde_json::from_str(&text).map_err(|error| named(&error))?;
    let mut options = options.clone();
    options.rotate = rotated;
    write(folder, &rows, &options, &machine)
}

/// What `--out` wrote, as far as charts need it.
#[derive(Deserialize)]
struct Written {
    machine: Machine,
    rotated: bool,
    rows: Vec<Row>,
}

fn chart(rows: &[Row], task: Task, machine: &Machine) -> Option<Chart> {
    let (unit, figure): (&str, fn(&Measured) -> f64) = match task {
        Task::Error | Task::ErrorTyped => ("time to refuse over time to accept", Measured::refusal_ratio),
        Task::Query => ("seconds", |measured| measured.median_ns / 1e9),
        _ => ("GB/s", Measured::speed),
    };
    let less_is_better = matches!(task, Task::Error | Task::ErrorTyped | Task::Query);
    let mut inputs: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|row| row.task == task && is_shown(row)) {
        if !inputs.contains(&row.input.as_str()) {
            inputs.push(&row.input);
        }
    }
    let value =
        |input: &str, peer: &str| best(rows, task, input, peer).and_then(Row::measured).map_or(f64::NAN, figure);
    let names: Vec<&str> = peers_of(rows, task);
    let mean = |peer: &str| geometric_mean(inputs.iter().map(|input| value(input, peer)));
    let names = ranked(names, |peer| if less_is_better { -mean(peer) } else { mean(peer) });
    let several = inputs.len() > 1;
    let finding = finding(rows, task, &inputs, &names);
    let names = if several { chosen(&names) } else { names };
    let (labels, series) = match inputs.as_slice() {
        [] => return None,
        [input] => {
            let values = names.iter().map(|peer| value(input, peer)).collect();
            (names.iter().map(|&name| name.into()).collect(), vec![Series { name: String::new(), values }])
        }
        _ => {
            // Different questions have no common mean.
            let has_mean = task != Task::Query;
            let of_peer = |peer: &&str| {
                let mean = has_mean.then(|| mean(peer));
                let values = mean.into_iter().chain(inputs.iter().map(|input| value(input, peer))).collect();
                Series { name: spoken(peer, task).to_owned(), values }
            };
            let mean = has_mean.then(|| "geometric mean".into());
            let labels = mean.into_iter().chain(inputs.iter().map(|input| label(input, task))).collect();
            (labels, names.iter().map(of_peer).collect())
        }
    };
    let notes = names.iter().filter_map(|name| Entry::named(name)).filter_map(|entry| note(entry, task)).collect();
    Some(Chart {
        title: finding,
        subtitle: subtitle(rows, task),
        unit: unit.to_owned(),
        sense: if less_is_better { "shorter is better" } else { "longer is better" },
        labels,
        series,
        stacked: false,
        notes,
        footer: machine.line(),
    })
}

/// Whether a chart shows a row. Of the queries it shows those that have words for people.
fn is_shown(row: &Row) -> bool {
    row.task != Task::Query || query::words(&row.input).is_some()
}

fn label(input: &str, task: Task) -> Label {
    match query::words(input).filter(|_| task == Task::Query) {
        Some([name, code]) => Label { name: name.to_owned(), code },
        None => input.into(),
    }
}

/// A peer in the legend.
fn spoken(peer: &str, task: Task) -> &str {
    match (peer, task) {
        ("jird", Task::Query) => "jird, nothing given, every record checked",
        ("duckdb", Task::Query) => "DuckDB, schema given",
        _ => peer,
    }
}

fn subtitle(rows: &[Row], task: Task) -> String {
    // The part after the semicolon is only for the table.
    let question = task.question().split(';').next().unwrap_or_default();
    let bytes = rows.iter().filter(|row| row.task == task).find_map(Row::measured).map_or(0, |measured| measured.bytes);
    match task {
        Task::Query => format!("SQL over {:.0} MB of log events, seconds of the whole process", bytes as f64 / 1e6),
        _ => format!("{}: {question}", task.name()),
    }
}

/// What the chart shows, in one sentence, from its figures: how jird compares with the best of the others.
fn finding(rows: &[Row], task: Task, inputs: &[&str], ranked: &[&str]) -> String {
    let are_documents = inputs.iter().all(|input| DOCUMENTS.contains(input));
    let kind = if are_documents { "documents" } else { "inputs" };
    let scope = (inputs.len() > 1).then(|| format!("geometric mean of {} {kind}", inputs.len()));
    if matches!(task, Task::Error | Task::ErrorTyped) {
        let ratio = |input: &&str| best(rows, task, input, task.ours())?.measured().map(Measured::refusal_ratio);
        let ratio = geometric_mean(inputs.iter().filter_map(ratio));
        return format!(
            "jird refuses a broken document in {ratio:.2} × the time of a good one{}",
            brackets(scope, None)
        );
    }
    let Some(rival) = ranked.iter().find(|name| !name.starts_with("jird") && !is_wall(name)) else {
        return format!("jird {}", task.deed());
    };
    let ratios: Vec<f64> = inputs.iter().filter_map(|input| times(rows, task, input, task.ours(), rival)).collect();
    if task == Task::Query {
        let (least, most) = (quantile(&ratios, 0.0), quantile(&ratios, 1.0));
        return format!("jird answers from the raw file {least:.1} to {most:.1} × as fast as DuckDB");
    }
    let ratio = geometric_mean(ratios.into_iter());
    let note = Entry::named(rival).and_then(|entry| note(entry, task)).map(|_| "note below");
    format!("jird {} {ratio:.2} × as fast as {rival}{}", task.deed(), brackets(scope, note))
}

/// What a title says in brackets, if anything.
fn brackets(scope: Option<String>, note: Option<&str>) -> String {
    let parts: Vec<String> = scope.into_iter().chain(note.map(str::to_owned)).collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join("; ")) }
}

fn is_wall(name: &str) -> bool {
    Entry::named(name).is_some_and(|entry| entry.origin == Origin::Wall)
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
    let first = FIRST.iter().filter_map(|first| names.iter().copied().find(|name| name == first));
    let others = names.iter().copied().filter(|name| !FIRST.contains(name) && !is_wall(name));
    first.chain(others).take(SERIES_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::Build;
    use crate::row::Outcome;

    #[test]
    fn jird_and_simdjson_come_first_and_walls_not_at_all() {
        assert_eq!(chosen(&["memcpy", "yyjson", "jird", "simdjson"]), ["jird", "simdjson", "yyjson"]);
    }

    #[test]
    fn a_peer_that_failed_somewhere_ranks_last() {
        let merit = |name: &str| if name == "a" { f64::NAN } else { name.len() as f64 };
        assert_eq!(ranked(vec!["a", "bb", "ccc"], merit), ["ccc", "bb", "a"]);
    }

    /// A row of these rounds, in nanoseconds for 100 bytes.
    fn row(task: Task, input: &str, peer: &str, rounds: &[f64]) -> Row {
        let measured = Measured { bytes: 100, rounds_ns: rounds.to_vec(), ..Measured::default() }.summed_up();
        let outcome = Outcome::Measured(measured);
        Row { task, input: input.into(), peer: peer.into(), build: Build::Default, loaded: true, outcome }
    }

    #[test]
    fn a_title_is_made_of_the_figures() {
        let rows = [
            row(Task::Parse, "a", "jird", &[50.0]),
            row(Task::Parse, "a", "simdjson", &[100.0]),
            row(Task::Parse, "a", "yyjson", &[200.0 / 3.0]),
            row(Task::Parse, "b", "jird", &[10.0]),
            row(Task::Parse, "b", "simdjson", &[80.0]),
            row(Task::Parse, "b", "yyjson", &[67.5]),
        ];
        let (inputs, ranked) = (["a", "b"], ["memcpy", "jird", "jird-fresh", "yyjson", "simdjson"]);
        let title = |inputs: &[&str]| finding(&rows, Task::Parse, inputs, &ranked);
        assert_eq!(title(&inputs), "jird parses 3.00 × as fast as yyjson (geometric mean of 2 inputs)");
        assert_eq!(title(&inputs[..1]), "jird parses 1.33 × as fast as yyjson");
        let rows = [row(Task::Minify, "twitter", "jird", &[30.0]), row(Task::Minify, "twitter", "simdjson", &[10.0])];
        let title = finding(&rows, Task::Minify, &["twitter"], &["simdjson", "jird"]);
        assert_eq!(title, "jird minifies 0.33 × as fast as simdjson (note below)");
        let queries = [
            row(Task::Query, "filter", "jird", &[50.0]),
            row(Task::Query, "filter", "duckdb", &[100.0]),
            row(Task::Query, "group", "jird", &[10.0]),
            row(Task::Query, "group", "duckdb", &[35.0]),
        ];
        let title = finding(&queries, Task::Query, &["filter", "group"], &["jird", "duckdb"]);
        assert_eq!(title, "jird answers from the raw file 2.0 to 3.5 × as fast as DuckDB");
    }

    #[test]
    fn what_was_written_can_be_drawn() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/results");
        let mut drawn = 0;
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.extension().is_some_and(|suffix| suffix == "json") {
                let Written { machine, rows, .. } = serde_json::from_str(&std::fs::read_to_string(&path).unwrap())
                    .unwrap_or_else(|error| {
                        panic!("{}: {error}", path.display());
                    });
                drawn += rows.iter().filter_map(|row| chart(&rows, row.task, &machine)).take(1).count();
            }
        }
        assert!(drawn > 3);
    }
}
