//! Table 8: instructions per byte, counted by callgrind. No peer uses AVX-512, because valgrind does not support it.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::table::{Drawing, Table, column};
use super::{documents, text};
use crate::options::Options;
use crate::row::geometric_mean;
use crate::run;
use crate::task::Task;

/// jird is from the default build, the others are from the build for Haswell.
const COUNTED: &[(&str, Task)] = &[
    ("jird", Task::Parse),
    ("simdjson", Task::Parse),
    ("yyjson", Task::Parse),
    ("rapidjson", Task::Parse),
    ("jird", Task::Dom),
    ("simdjson", Task::Dom),
];

/// The number of timed runs in the longer of the two processes.
const RUNS: usize = 6;

/// The instructions of one parse, from the difference between a process that parses often and a process that parses
/// once.
pub(super) fn table(options: &Options) -> Result<Table, String> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return Err("valgrind is not there (apt-get install valgrind)".to_owned());
    }
    let default = std::env::current_exe().map_err(|error| error.to_string())?;
    let haswell = run::binary_for("haswell")?;
    let counted: Vec<_> = COUNTED.iter().copied().filter(|(peer, _)| options.wants_peer(peer)).collect();
    let mut rows = Vec::new();
    let mut notes = vec![format!(
        "callgrind, AVX2, the C and C++ peers built for Haswell: (instructions of a process that parses {RUNS} times less those of one that parses \
         once) / {}; before, each parses once to grow its buffers",
        RUNS - 1
    )];
    notes.push(
        "jird's parse checks numbers and converts them when they are asked for, which the visit of dom does".to_owned(),
    );
    for name in documents(options) {
        let bytes = text(name)?.len() as f64;
        let mut values = Vec::new();
        for &(peer, task) in &counted {
            let binary: &PathBuf = if peer == "jird" { &default } else { &haswell };
            let count = instructions(binary, peer, task, name).unwrap_or_else(|reason| {
                notes.push(format!("{peer}, {name}: {reason}"));
                f64::NAN
            });
            values.push(count / bytes);
        }
        rows.push((name.to_owned(), values));
    }
    let means = (0..counted.len()).map(|index| geometric_mean(rows.iter().map(|(_, values)| values[index]))).collect();
    rows.push(("geometric mean".to_owned(), means));
    let columns = counted.iter().map(|(peer, task)| column(format!("{peer}, {}", task.name()), 1)).collect();
    let drawing = Drawing {
        unit: "instructions per byte; longer is worse",
        columns: (0..counted.len()).collect(),
        stacked: false,
    };
    let title = "Table 8: instructions per byte to parse and validate, AVX2".to_owned();
    Ok(Table { title, heading: "file", columns, rows, notes, drawing: Some(drawing) })
}

fn instructions(binary: &Path, peer: &str, task: Task, document: &str) -> Result<f64, String> {
    let many = collected(binary, peer, task, document, RUNS)?;
    let once = collected(binary, peer, task, document, 1)?;
    Ok((many - once) / (RUNS - 1) as f64)
}

/// The instructions of a process that parses `runs` times.
fn collected(binary: &Path, peer: &str, task: Task, document: &str, runs: usize) -> Result<f64, String> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(binary);
    command.args(["--serve", peer, "--task", task.name(), "--document", document, "--repeat", &runs.to_string()]);
    let output = command.env("JIRD_KERNEL", "avx2").output().map_err(|error| format!("valgrind: {error}"))?;
    let words = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{}: {}", output.status, words.lines().last().unwrap_or_default()));
    }
    collected_in(&words).ok_or_else(|| "valgrind counted nothing".to_owned())
}

/// The number after `Collected :`.
fn collected_in(words: &str) -> Option<f64> {
    let (_, rest) = words.split_once("Collected :")?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_stands_behind_collected() {
        assert_eq!(collected_in("==1== Events    : Ir\n==1== Collected : 123456\n==1== \n"), Some(123_456.0));
        assert_eq!(collected_in("nothing"), None);
    }
}
