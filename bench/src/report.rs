//! Tables for people; all other figures are in the JSON.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde::Serialize;

use crate::against::{self, Comparison};
use crate::bars::Bar;
use crate::machine::Machine;
use crate::peer::Build;
use crate::peers;
use crate::row::{Measured, Outcome, Row, best, geometric_mean, quantile, times};
use crate::task::Task;

/// The content of `--out`.
#[derive(Serialize)]
pub(crate) struct Report<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) command: String,
    /// Whether the documents took turns within each batch.
    pub(crate) rotated: bool,
    pub(crate) peers: Vec<PeerReport>,
    pub(crate) rows: &'a [Row],
    pub(crate) bars: &'a [Bar],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) against: Option<AgainstReport<'a>>,
}

/// The other build's part of the JSON.
#[derive(Serialize)]
pub(crate) struct AgainstReport<'a> {
    /// The name of its file, without folders, which mean nothing on other machines.
    pub(crate) program: String,
    pub(crate) version: &'a str,
    pub(crate) comparisons: &'a [Comparison],
}

/// The peer's part of the JSON.
#[derive(Serialize)]
pub(crate) struct PeerReport {
    pub(crate) name: String,
    pub(crate) build: Build,
    pub(crate) version: String,
    pub(crate) note: &'static str,
    /// Pairs of a task and a note.
    pub(crate) shortfalls: Vec<(&'static str, &'static str)>,
    /// The documents that the peer accepted or refused contrary to RFC 8259.
    pub(crate) wrong_verdicts: Vec<String>,
}

/// The table of one task.
pub(crate) fn table(rows: &[Row], task: Task, rotated: bool) -> String {
    let mode = if rotated { ", documents in rotation" } else { "" };
    let mut text = format!("\n{}{mode}: {}\n\n", task.name(), task.question());
    match task {
        Task::Query
        | Task::NdjsonToCsv
        | Task::CsvToNdjson
        | Task::NdjsonToParquet
        | Task::NdjsonToSqlite
        | Task::SqliteToJson => whole_table(&mut text, rows, task),
        Task::MillionStream | Task::SqliteRows | Task::Gtfs | Task::Readers => alone_table(&mut text, rows, task),
        Task::Million => parts_table(&mut text, rows),
        Task::Small | Task::TypedSmall | Task::Two | Task::EventsSkip | Task::Partial | Task::Users => {
            list(&mut text, rows, task);
        }
        Task::Error | Task::ErrorTyped => matrix(&mut text, rows, task, "bad / good", Measured::refusal_ratio),
        Task::Dom
        | Task::Parse
        | Task::Validate
        | Task::Minify
        | Task::Events
        | Task::Typed
        | Task::Migrate
        | Task::Encode
        | Task::StringsOut
        | Task::StringsIn
        | Task::Scan => {
            matrix(&mut text, rows, task, "GB/s", Measured::speed);
        }
    }
    footnotes(&mut text, rows, task);
    text
}

/// The bars, one per line.
pub(crate) fn bars(bars: &[Bar]) -> String {
    let mut text = "\nbars\n\n".to_owned();
    for bar in bars {
        let verdict = if bar.holds() { "holds " } else { "MISSED" };
        let value = bar.value.map_or("not measured".to_owned(), |value| format!("{value:.3}"));
        let relation = if bar.at_most { "<=" } else { ">=" };
        line(&mut text, format_args!("  {verdict}  {}: {value} {relation} {}", bar.text, bar.limit));
    }
    text
}

/// A table with a row for each input and a column for each peer. Below are the geometric means and jird's ratios.
fn matrix(text: &mut String, rows: &[Row], task: Task, unit: &str, figure: impl Fn(&Measured) -> f64) {
    let peers = present(rows, task);
    let inputs: Vec<_> = task.inputs().iter().filter(|input| rows.iter().any(|row| row.input == **input)).collect();
    let width = |peer: &str| peer.len().max(7) + 2;
    let value = |input: &str, peer: &str| best(rows, task, input, peer).and_then(Row::measured).map(&figure);
    let mut header = format!("{unit:<16.16}");
    for peer in &peers {
        write!(header, "{peer:>w$}", w = width(peer)).expect("writing to a String");
    }
    line(text, format_args!("{header}"));
    for input in &inputs {
        let mut cells = format!("{input:<16}");
        for peer in &peers {
            let cell = best(rows, task, input, peer).map_or(String::new(), |row| cell(row, &figure));
            write!(cells, "{cell:>w$}", w = width(peer)).expect("writing to a String");
        }
        line(text, format_args!("{cells}"));
    }
    let mean = |peer: &str| geometric_mean(inputs.iter().filter_map(|input| value(input, peer)));
    let jird_over =
        |peer: &str| geometric_mean(inputs.iter().filter_map(|input| times(rows, task, input, task.ours(), peer)));
    let jird_over_by_least = |peer: &str| {
        let least = |input: &str, peer: &str| Some(best(rows, task, input, peer)?.measured()?.least_ns);
        geometric_mean(inputs.iter().filter_map(|input| Some(least(input, peer)? / least(input, task.ours())?)))
    };
    let mut summary = |name: &str, figure: &dyn Fn(&str) -> f64| {
        let mut cells = format!("{name:<16}");
        for peer in &peers {
            let figure = figure(peer);
            let cell = if figure.is_nan() { "-".to_owned() } else { format!("{figure:.2} ") };
            write!(cells, "{cell:>w$}", w = width(peer)).expect("writing to a String");
        }
        line(text, format_args!("{cells}"));
    };
    summary("geometric mean", &mean);
    if !matches!(task, Task::Error | Task::ErrorTyped) {
        summary("jird is times", &jird_over);
        summary("by fastest runs", &jird_over_by_least);
    }
}

/// A figure, marked if it is from the native build.
fn cell(row: &Row, figure: impl Fn(&Measured) -> f64) -> String {
    match row.measured() {
        Some(measured) => format!("{:.2}{}", figure(measured), if row.build == Build::Native { "n" } else { " " }),
        None => "FAILED".to_owned(),
    }
}

/// A table with a row for each peer, for tasks with one input.
fn list(text: &mut String, rows: &[Row], task: Task) {
    let wide = name_width(rows, task, 18);
    line(text, format_args!("{:<wide$}{:>10}{:>14}{:>14}{:>10}", "", "GB/s", "ns/document", "jird is times", "spread"));
    for input in task.inputs() {
        for peer in present(rows, task) {
            let Some(row) = best(rows, task, input, peer) else { continue };
            let Some(measured) = row.measured() else {
                line(text, format_args!("{peer:<wide$}{:>10}", "FAILED"));
                continue;
            };
            let each = measured.median_ns / measured.documents as f64;
            let ratio = ratio(rows, task, input, peer);
            let speed = cell(row, Measured::speed);
            let spread = format!("±{:.1} %", measured.spread * 100.0);
            line(text, format_args!("{peer:<wide$}{speed:>10}{each:>14.0}{ratio:>14}{spread:>10}"));
        }
    }
}

/// How many times as fast jird is.
fn ratio(rows: &[Row], task: Task, input: &str, peer: &str) -> String {
    times(rows, task, input, task.ours(), peer).map_or("-".to_owned(), |times| format!("{times:.2}"))
}

/// The parts of one task, each with its peers.
fn parts_table(text: &mut String, rows: &[Row]) {
    let task = Task::Million;
    let wide = name_width(rows, task, 12);
    line(
        text,
        format_args!("{:<14}{:<wide$}{:>10}{:>10}{:>16}{:>10}", "", "", "ms", "MB/s", "jird is times", "spread"),
    );
    for part in task.inputs() {
        for peer in present(rows, task) {
            let Some(row) = best(rows, task, part, peer) else { continue };
            let Some(measured) = row.measured() else {
                line(text, format_args!("{part:<14}{peer:<wide$}{:>10}", "FAILED"));
                continue;
            };
            let milliseconds = cell(row, |measured| measured.median_ns / 1e6);
            let ratio = ratio(rows, task, part, peer);
            let spread = format!("±{:.1} %", measured.spread * 100.0);
            let speed = measured.speed() * 1e3;
            line(text, format_args!("{part:<14}{peer:<wide$}{milliseconds:>10}{speed:>10.0}{ratio:>16}{spread:>10}"));
        }
    }
}

/// Whole processes: each input with its peers.
fn whole_table(text: &mut String, rows: &[Row], task: Task) {
    let wide = name_width(rows, task, 15);
    line(
        text,
        format_args!(
            "{:<16}{:<wide$}{:>8}{:>10}{:>10}{:>8}{:>10}{:>8}{:>15}",
            if task == Task::Query { "query" } else { "to" },
            "peer",
            "s",
            "inside s",
            "records",
            "MB",
            "spread",
            "MB/s",
            "jird is times"
        ),
    );
    for row in rows.iter().filter(|row| row.task == task) {
        let Some(measured) = row.measured() else {
            line(text, format_args!("{:<16}{:<wide$}{:>8}", row.input, row.peer, "FAILED"));
            continue;
        };
        let process = measured.process.clone().unwrap_or_default();
        let inside = quantile(&process.inside_rounds_ns, 0.5) / 1e9;
        let inside = if inside.is_nan() { "-".to_owned() } else { format!("{inside:.3}") };
        line(
            text,
            format_args!(
                "{:<16}{:<wide$}{:>8.3}{:>10}{:>10}{:>8.0}{:>10}{:>8.0}{:>15}",
                row.input,
                row.peer,
                measured.median_ns / 1e9,
                inside,
                process.hits,
                process.resident_bytes_max as f64 / 1e6,
                format!("±{:.1} %", measured.spread * 100.0),
                measured.speed() * 1e3,
                ratio(rows, task, &row.input, &row.peer),
            ),
        );
    }
    notes(text, rows, task);
}

/// Contestants that work alone and are timed inside their process.
fn alone_table(text: &mut String, rows: &[Row], task: Task) {
    let mine = || rows.iter().filter(|row| row.task == task);
    let names: BTreeSet<&String> =
        mine().filter_map(|row| row.measured()?.process.as_ref()).flat_map(|process| process.figures.keys()).collect();
    let wide = name_width(rows, task, 18);
    let mut header = format!(
        "{:<wide$}{:>9}{:>12}{:>8}{:>7}{:>10}{:>15}",
        "", "s", "M records/min", "MB/s", "MB", "spread", "jird is times"
    );
    for name in &names {
        write!(header, "{name:>12}").expect("writing to a String");
    }
    line(text, format_args!("{header}"));
    let better = |row: &&Row| best(rows, task, &row.input, &row.peer).is_some_and(|best| std::ptr::eq(best, *row));
    let mut input = if task.inputs().len() > 1 { "" } else { task.inputs()[0] };
    for row in mine().filter(better) {
        if row.input != input {
            input = &row.input;
            line(text, format_args!("{input}"));
        }
        let Some(measured) = row.measured() else {
            line(text, format_args!("{:<wide$}{:>9}", row.peer, "FAILED"));
            continue;
        };
        let process = measured.process.clone().unwrap_or_default();
        let seconds = measured.median_ns / 1e9;
        let mut cells = format!(
            "{:<wide$}{seconds:>9.4}{}{:>12.1}{:>8.0}{:>7.0}{:>10}{:>15}",
            row.peer,
            if row.build == Build::Native { "n" } else { " " },
            measured.documents as f64 / seconds * 60.0 / 1e6,
            measured.speed() * 1e3,
            process.resident_bytes_max as f64 / 1e6,
            format!("±{:.1} %", measured.spread * 100.0),
            ratio(rows, task, &row.input, &row.peer),
        );
        for name in &names {
            let cell = process.figure(name).map_or("-".to_owned(), |figure| {
                if figure < 1e3 { format!("{figure:.2}") } else { format!("{figure:.0}") }
            });
            write!(cells, "{cell:>12}").expect("writing to a String");
        }
        line(text, format_args!("{cells}"));
    }
    notes(text, rows, task);
}

/// What each process does not do, or does wrong.
fn notes(text: &mut String, rows: &[Row], task: Task) {
    text.push('\n');
    let mut told: Vec<String> = Vec::new();
    for row in rows.iter().filter(|row| row.task == task) {
        let notes = row.measured().and_then(|measured| measured.process.as_ref()).map(|process| &process.notes);
        if let Some(notes) = notes.filter(|notes| !notes.is_empty()) {
            let words = format!("  {}: {}", row.peer, notes.join("; "));
            if !told.contains(&words) {
                line(text, format_args!("{words}"));
                told.push(words);
            }
        }
    }
}

/// What each peer does not do, what failed and why, and how noisy each peer was.
fn footnotes(text: &mut String, rows: &[Row], task: Task) {
    text.push('\n');
    let mine = || rows.iter().filter(|row| row.task == task);
    // The notes on a whole process are in its row.
    let inside = peers::ALL.iter().filter(|_| !task.is_whole());
    for entry in inside.filter(|entry| mine().any(|row| row.peer == entry.name)) {
        let mut words = entry.caveats(task);
        let inexact = |row: &Row| row.measured().is_some_and(|measured| measured.floats_inexact);
        if task != Task::Dom && mine().any(|row| row.peer == entry.name && inexact(row)) {
            words.push("some floats are off by the last bit");
        }
        if !words.is_empty() {
            line(text, format_args!("  {}: {}", entry.name, words.join("; ")));
        }
    }
    let mut reasons: Vec<(String, &str)> = Vec::new();
    for row in mine() {
        if let Outcome::Failed(reason) = &row.outcome {
            let who = format!("{} ({})", row.peer, row.build.name());
            if !reasons.iter().any(|(other, words)| *other == who && words == reason) {
                reasons.push((who, reason));
            }
        }
    }
    for (who, reason) in reasons {
        line(text, format_args!("  FAILED {who}: {reason}"));
    }
    if mine().any(|row| row.build == Build::Native) {
        line(text, format_args!("  n: the build with -C target-cpu set was the better one"));
    }
    let spreads: Vec<_> = mine().filter_map(Row::measured).map(|measured| measured.spread).collect();
    let (usual, worst) = (quantile(&spreads, 0.5) * 100.0, quantile(&spreads, 1.0) * 100.0);
    line(
        text,
        format_args!(
            "  spread (half the quartile distance of the rounds): {usual:.1} % usually, {worst:.1} % at worst"
        ),
    );
}

/// The peers that have rows, in the order of the list. The counterparts of another build follow their own peers.
fn present(rows: &[Row], task: Task) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for entry in peers::ALL {
        for row in rows.iter().filter(|row| row.task == task && against::base(&row.peer) == entry.name) {
            if !names.contains(&row.peer.as_str()) {
                names.push(&row.peer);
            }
        }
    }
    names
}

/// The width of the column with the names: at least `least`.
fn name_width(rows: &[Row], task: Task, least: usize) -> usize {
    let longest = rows.iter().filter(|row| row.task == task).map(|row| row.peer.len() + 1).max();
    longest.unwrap_or_default().max(least)
}

fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    writeln!(text, "{words}").expect("writing to a String");
}
