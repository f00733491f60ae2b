//! `query`: whole processes over the generated events, answers written to a file and compared.
//!
//! Each writes the text that it writes fastest, jird NDJSON and `DuckDB` CSV, and both are decoded and compared: the same
//! messages in the input's order. The file is in the page cache, since both read it untimed first. `DuckDB` gets a schema of the two fields; jird infers.

use std::ffi::OsString;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use generate_events::{EVENTS_DEFAULT, SEED_DEFAULT, write_events};
use serde::Deserialize;

use crate::options::Options;
use crate::peer::Build;
use crate::row::Row;
use crate::task::Task;
use crate::tools;
use crate::whole::{self, Invocation, Runner};

struct Query {
    name: &'static str,
    jird: &'static str,
    duckdb: &'static str,
}

const QUERIES: &[Query] = &[
    Query { name: "elapsed", jird: "select Message where Elapsed > 200", duckdb: "Elapsed > 200" },
    Query {
        name: "match",
        jird: "select Message where match(Message, '/api/customers')",
        duckdb: "regexp_matches(Message, '/api/customers')",
    },
];

/// Runs both queries through both programs.
pub(crate) fn measure(options: &Options) -> Vec<Row> {
    let setting = Setting::prepare(options);
    let wanted = QUERIES.iter().filter(|query| options.wants_input(query.name));
    wanted.flat_map(|query| setting.measure(query, options)).collect()
}

/// Where everything is, or why it is not there.
struct Setting {
    events: Result<PathBuf, String>,
    jird: Result<PathBuf, String>,
    script: Result<[OsString; 3], String>,
    kernel: Option<String>,
}

impl Setting {
    fn prepare(options: &Options) -> Self {
        let left_out = |name: &str| if options.wants_peer(name) { Ok(()) } else { Err("left out".to_owned()) };
        Self {
            events: events(options),
            jird: left_out("jird").and_then(|()| options.jird.clone().map_or_else(|| tools::jird(true), Ok)),
            script: left_out("duckdb").and_then(|()| tools::script("duckdb_query.py")),
            kernel: options.kernel.clone(),
        }
    }

    fn measure(&self, query: &Query, options: &Options) -> Vec<Row> {
        let wanted = [("jird", Build::Default), ("duckdb", Build::Cxx)];
        let wanted = wanted.into_iter().filter(|(name, _)| options.wants_peer(name));
        let mut runners: Vec<_> =
            wanted.map(|(name, build)| Runner::new(name, build, self.command(name, query))).collect();
        let mut answers = Vec::new();
        for runner in &mut runners {
            runner.warm_up(2);
            let answer = runner.answer(if runner.name == "jird" { ndjson_answer } else { csv_answer });
            runner.process.hits = answer.map_or(0, |answer| answer.hits);
            answers.push(answer);
        }
        agree(&mut runners, &answers);
        whole::race(&mut runners, options.rounds);
        let bytes = whole::len(&self.events);
        runners.into_iter().map(|runner| runner.into_row(Task::Query, query.name, bytes, EVENTS_DEFAULT)).collect()
    }

    fn command(&self, name: &'static str, query: &Query) -> Result<Invocation, String> {
        let events = self.events.clone()?;
        let output = whole::scratch(&format!("{name}-{}.txt", query.name))?;
        let report = whole::scratch(&format!("{name}-{}.json", query.name))?;
        let mut words: Vec<OsString> = Vec::new();
        if name == "jird" {
            words.extend([self.jird.clone()?.into(), "query".into(), query.jird.into(), events.into()]);
            words.extend(["--format".into(), "ndjson".into(), "--threads".into(), "2".into()]);
            words.extend(["--check".into(), "all".into(), "-o".into(), output.clone().into()]);
        } else {
            words.extend(self.script.clone()?);
            words.extend([events.into(), query.duckdb.into(), output.clone().into(), report.clone().into()]);
        }
        Ok(Invocation { words, output, prints: false, report, kernel: self.kernel.clone() })
    }
}

/// What a program answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Answer {
    hits: u64,
    /// Over the messages, in order.
    checksum: u64,
}

/// Unequal answers fail jird's row: `DuckDB`'s is the reference.
fn agree(runners: &mut [Runner], answers: &[Option<Answer>]) {
    let answer = |name: &str| {
        let named = runners.iter().zip(answers).find(|(runner, _)| runner.name == name);
        named.and_then(|(_, answer)| *answer)
    };
    let (Some(ours), Some(theirs)) = (answer("jird"), answer("duckdb")) else { return };
    if ours != theirs {
        for runner in runners.iter_mut().filter(|one| one.name == "jird") {
            runner.fail(format!("wrong answer: {ours:?}, DuckDB has {theirs:?}"));
        }
    }
}

impl Answer {
    fn add(&mut self, message: &str) {
        let mut hasher = DefaultHasher::new();
        (self.checksum, message).hash(&mut hasher);
        self.checksum = hasher.finish();
        self.hits += 1;
    }
}

/// Of a `{"Message": …}` a line. Streams, so that this process stays small: its size counts in its children's.
fn ndjson_answer(path: &Path) -> Result<Answer, String> {
    #[derive(Deserialize)]
    struct Line {
        #[serde(rename = "Message")]
        message: String,
    }
    let mut answer = Answer::default();
    for line in open(path)?.lines() {
        let line = line.map_err(|error| error.to_string())?;
        let line: Line = serde_json::from_str(&line).map_err(|error| format!("answer: {error}"))?;
        answer.add(&line.message);
    }
    Ok(answer)
}

/// Of CSV with one column and a header. Streams too.
fn csv_answer(path: &Path) -> Result<Answer, String> {
    let mut answer = Answer::default();
    let mut record = String::new();
    // Not `lines`, which would take a carriage return at a line break inside quotes for a part of it.
    for line in open(path)?.split(b'\n').skip(1) {
        let line = line.map_err(|error| error.to_string())?;
        record.push_str(core::str::from_utf8(&line).map_err(|error| error.to_string())?);
        // A line break inside quotes goes on with the record.
        if !record.matches('"').count().is_multiple_of(2) {
            record.push('\n');
            continue;
        }
        match record.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(quoted) => answer.add(&quoted.replace("\"\"", "\"")),
            None => answer.add(&record),
        }
        record.clear();
    }
    Ok(answer)
}

fn open(path: &Path) -> Result<BufReader<File>, String> {
    File::open(path).map(BufReader::new).map_err(|error| format!("{}: {error}", path.display()))
}

/// The events that were named, or those that are generated once.
pub(crate) fn events(options: &Options) -> Result<PathBuf, String> {
    options.events.clone().map_or_else(generated_events, Ok)
}

fn generated_events() -> Result<PathBuf, String> {
    whole::kept("bench-events.ndjson", |path| {
        let mut file = File::create(path).map_err(|error| format!("{}: {error}", path.display()))?;
        write_events(&mut file, EVENTS_DEFAULT, SEED_DEFAULT).map_err(|error| error.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run;
    use std::fs;

    #[test]
    fn the_same_messages_as_csv_and_as_ndjson_make_the_same_answer() {
        let folder = run::target_folder().expect("tests lie in a target folder");
        let (csv, ndjson) = (folder.join("bench-test.csv"), folder.join("bench-test.ndjson"));
        fs::write(&csv, "Message\nplain\n\"a, \"\"b\"\"\nc\"\n\"\"\n").expect("the folder is writable");
        fs::write(&ndjson, "{\"Message\":\"plain\"}\n{\"Message\":\"a, \\\"b\\\"\\nc\"}\n{\"Message\":\"\"}\n")
            .expect("the folder is writable");
        let answer = csv_answer(&csv).expect("it was just written");
        assert_eq!(answer.hits, 3);
        assert_eq!(Ok(answer), ndjson_answer(&ndjson));
    }
}
