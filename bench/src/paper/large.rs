//! Table 13: a document that is larger than any cache.

use super::table::{Drawing, Table, column};
use super::{measured, text, time};
use crate::options::Options;
use crate::task::{LARGE, Task};

const PEERS: &[&str] = &["jird", "simdjson", "yyjson", "rapidjson", "sonic-rs", "simd-json", "serde_json"];

/// The maximum number of rounds. A run takes up to half a second, and each batch has five.
const ROUNDS_MAX: usize = 3;

/// The GB/s of a parse alone and of a parse with a visit.
pub(super) fn table(options: &Options) -> Result<Table, String> {
    let bytes = text(LARGE)?.len() as f64;
    let mut options = options.clone();
    options.rounds = options.rounds.min(ROUNDS_MAX);
    let tasks = [Task::Parse, Task::Dom];
    let measured = measured(PEERS, &tasks, &[LARGE.to_owned()], &options);
    let mut notes = vec![format!("the statuses of twitter.json over and over: {:.1} MB", bytes / 1e6)];
    let mut rows = Vec::new();
    for peer in PEERS.iter().filter(|peer| options.wants_peer(peer)) {
        let speed = |task| time(&measured, task, LARGE, peer).map(|ns| bytes / ns);
        let speeds = tasks.map(|task| {
            speed(task).unwrap_or_else(|reason| {
                notes.push(reason);
                f64::NAN
            })
        });
        rows.push(((*peer).to_owned(), speeds.to_vec()));
    }
    let columns = vec![column("parse", 2), column("parse and visit", 2)];
    let drawing = Drawing { unit: "GB/s; longer is better", columns: vec![0, 1], stacked: false };
    let title = "Table 13: a large document".to_owned();
    Ok(Table { title, heading: "GB/s", columns, rows, notes, drawing: Some(drawing) })
}
