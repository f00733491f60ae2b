//! Table 9: `select distinct user.id`.

use super::table::{Drawing, Table, column};
use super::{measured, text, time};
use crate::options::Options;
use crate::task::Task;

const INPUT: &str = "twitter";

/// The peers that have a tree to select from.
const PEERS: &[&str] = &["jird", "simdjson", "yyjson", "rapidjson", "sonic-rs", "simd-json", "serde_json"];

/// The GB/s of parsing and selecting, of parsing alone, and of the difference between them.
pub(super) fn table(options: &Options) -> Result<Table, String> {
    let bytes = text(INPUT)?.len() as f64;
    let measured = measured(PEERS, &[Task::Users, Task::Parse], &[INPUT.to_owned()], options);
    let mut notes = vec!["select only: the difference of the two times, as GB/s of the document".to_owned()];
    let mut rows = Vec::new();
    for peer in PEERS.iter().filter(|peer| options.wants_peer(peer)) {
        let time = |task| time(&measured, task, INPUT, peer);
        match (time(Task::Users), time(Task::Parse)) {
            (Ok(both), Ok(parse)) => {
                let select = if both > parse { bytes / (both - parse) } else { f64::NAN };
                rows.push(((*peer).to_owned(), vec![bytes / both, bytes / parse, select]));
            }
            (Err(reason), _) | (_, Err(reason)) => notes.push(reason),
        }
    }
    let columns = vec![column("parse + select", 2), column("parse only", 2), column("select only", 1)];
    let drawing = Drawing { unit: "GB/s; longer is better", columns: vec![0, 1], stacked: false };
    let title = "Table 9: parse twitter and select the distinct user.id".to_owned();
    Ok(Table { title, heading: "GB/s", columns, rows, notes, drawing: Some(drawing) })
}
