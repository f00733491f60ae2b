//! The bars that jird has to clear.

use serde::Serialize;

use crate::peers::{self, Origin};
use crate::row::{Measured, Row, best, geometric_mean};
use crate::task::Task;

/// One bar and how high jird jumped.
#[derive(Debug, Serialize)]
pub(crate) struct Bar {
    pub(crate) text: String,
    /// `None` if something that it compares was not measured: missed.
    pub(crate) value: Option<f64>,
    pub(crate) limit: f64,
    /// Whether the value must not be above the limit, rather than not below.
    pub(crate) at_most: bool,
}

const RESIDENT_BYTES_MAX: f64 = 300e6;

impl Bar {
    pub(crate) fn holds(&self) -> bool {
        self.value.is_some_and(|value| if self.at_most { value <= self.limit } else { value >= self.limit })
    }

    fn at_least(text: String, value: Option<f64>, limit: f64) -> Self {
        Self { text, value, limit, at_most: false }
    }

    fn at_most(text: String, value: Option<f64>, limit: f64) -> Self {
        Self { text, value, limit, at_most: true }
    }
}

/// The bars of the tasks that ran.
pub(crate) fn check(rows: &[Row], tasks: &[Task]) -> Vec<Bar> {
    tasks.iter().flat_map(|&task| of_task(rows, task)).collect()
}

fn of_task(rows: &[Row], task: Task) -> Vec<Bar> {
    match task {
        Task::Dom => {
            [("simdjson", 0.9), ("serde_json", 3.0)].map(|(peer, limit)| against(rows, task, peer, limit)).into()
        }
        Task::Validate | Task::Partial => rust_peers(rows, task).map(|peer| against(rows, task, peer, 1.0)).collect(),
        Task::Error => vec![refusals(rows)],
        Task::Query => ["elapsed", "match"].iter().flat_map(|query| of_query(rows, query)).collect(),
        Task::Small | Task::Users | Task::Two | Task::Minify | Task::Scan => Vec::new(),
    }
}

/// The geometric mean over the task's inputs of jird's speed over the peer's better build's.
fn against(rows: &[Row], task: Task, peer: &str, limit: f64) -> Bar {
    let ratio = speed_ratio(rows, task, peer);
    Bar::at_least(format!("{}: jird over {peer}", task.name()), ratio, limit)
}

/// `None` unless both were measured on every input of the task.
pub(crate) fn speed_ratio(rows: &[Row], task: Task, peer: &str) -> Option<f64> {
    let time = |input: &str, peer| Some(best(rows, task, input, peer)?.measured()?.median_ns);
    let ratios: Option<Vec<f64>> =
        task.inputs().iter().map(|input| Some(time(input, peer)? / time(input, "jird")?)).collect();
    ratios.map(|ratios| geometric_mean(ratios.into_iter()))
}

/// Those that have the task at all.
fn rust_peers(rows: &[Row], task: Task) -> impl Iterator<Item = &'static str> {
    let rust = peers::ALL.iter().filter(|entry| entry.origin == Origin::Rust).map(|entry| entry.name);
    rust.filter(move |name| rows.iter().any(|row| row.task == task && row.peer == *name))
}

fn refusals(rows: &[Row]) -> Bar {
    let ratio = |input: &'static str| {
        let measured = best(rows, Task::Error, input, "jird")?.measured()?;
        Some((measured.refusal_ratio(), input))
    };
    let ratios: Option<Vec<_>> = Task::Error.inputs().iter().map(|input| ratio(input)).collect();
    let worst = ratios.and_then(|ratios| ratios.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)));
    let place = worst.map_or("", |(_, input)| input);
    Bar::at_most(format!("error: a refusal over a good parse, worst document {place}"), worst.map(|one| one.0), 1.1)
}

fn of_query(rows: &[Row], query: &str) -> [Bar; 2] {
    let measured = |peer: &str| best(rows, Task::Query, query, peer).and_then(Row::measured);
    let ratio = measured("duckdb").zip(measured("jird")).map(|(theirs, ours)| theirs.median_ns / ours.median_ns);
    let resident = measured("jird").and_then(resident_bytes);
    [
        Bar::at_least(format!("query {query}: jird over duckdb, whole process"), ratio, 1.3),
        Bar::at_most(format!("query {query}: jird's resident bytes"), resident, RESIDENT_BYTES_MAX),
    ]
}

fn resident_bytes(measured: &Measured) -> Option<f64> {
    measured.process.as_ref().map(|process| process.resident_bytes_max as f64)
}
