//! `query`: whole processes over the generated events. Their answers are written to a file and compared.
//!
//! Each program writes the format that it writes fastest: jird writes NDJSON, and `DuckDB` writes CSV. Both answers are
//! decoded and must have the same rows in the same order. The file is in the page cache, because both programs read it
//! untimed first. `DuckDB` gets a schema of the fields. jird infers the types, or gets the types of the same fields if
//! the name of the query contains `schema`. Both programs report the time of the query alone.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use generate_events::{EVENTS_DEFAULT, SEED_DEFAULT, write_events};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use crate::against::{Side, is_jird};
use crate::options::Options;
use crate::peer::Build;
use crate::row::Row;
use crate::task::Task;
use crate::tools;
use crate::whole::{self, Invocation, Runner};

struct Query {
    name: &'static str,
    jird: &'static str,
    /// Further arguments for jird.
    options: &'static [&'static str],
    /// The columns, and the rest of the same query, for `DuckDB`.
    duckdb: Option<Sql>,
}

/// A query for `DuckDB`.
#[derive(Clone, Copy)]
struct Sql {
    select: &'static str,
    columns: &'static str,
    rest: &'static str,
}

const FILTER: &str = "select Message where Elapsed > 200";
const MATCH: &str = "select Message where match(Message, '/api/customers')";
const LOOKUP: &str = "select Message where Properties.RequestId = '0HNCFE066CD:0003'";
const GROUP: &str = "select Properties.Application as app, count(*) as n, avg(Elapsed) as ms group by app order by app";

const FILTER_SQL: Sql =
    Sql { select: "Message", columns: "Message: 'VARCHAR', Elapsed: 'DOUBLE'", rest: "where Elapsed > 200" };
const MATCH_SQL: Sql =
    Sql { select: "Message", columns: "Message: 'VARCHAR'", rest: "where regexp_matches(Message, '/api/customers')" };
const LOOKUP_SQL: Sql = Sql {
    select: "Message",
    columns: "Message: 'VARCHAR', Properties: 'STRUCT(RequestId VARCHAR)'",
    rest: "where Properties.RequestId = '0HNCFE066CD:0003'",
};
const GROUP_SQL: Sql = Sql {
    select: "Properties.Application as app, count(*) as n, avg(Elapsed) as ms",
    columns: "Elapsed: 'DOUBLE', Properties: 'STRUCT(Application VARCHAR)'",
    rest: "group by app order by app",
};

/// The path of the file with the types replaces this word.
const SCHEMA: &str = "SCHEMA";
const TYPES: &str =
    r#"{"Message": "text", "Elapsed": "f64", "Properties": {"Application": "text", "RequestId": "text"}}"#;

const GIVEN: &[&str] = &["--schema", SCHEMA];
const TOUCHED: &[&str] = &["--check", "touched"];

const QUERIES: &[Query] = &[
    Query { name: "filter", jird: FILTER, options: &[], duckdb: Some(FILTER_SQL) },
    Query { name: "filter-schema", jird: FILTER, options: GIVEN, duckdb: Some(FILTER_SQL) },
    Query { name: "match", jird: MATCH, options: &[], duckdb: Some(MATCH_SQL) },
    Query { name: "match-touched", jird: MATCH, options: TOUCHED, duckdb: Some(MATCH_SQL) },
    Query { name: "lookup", jird: LOOKUP, options: &[], duckdb: Some(LOOKUP_SQL) },
    Query { name: "lookup-touched", jird: LOOKUP, options: TOUCHED, duckdb: Some(LOOKUP_SQL) },
    Query { name: "group", jird: GROUP, options: &[], duckdb: Some(GROUP_SQL) },
    Query { name: "group-schema", jird: GROUP, options: GIVEN, duckdb: Some(GROUP_SQL) },
    // A process that ends after its first row.
    Query { name: "first", jird: "select Message where Elapsed > 200 limit 1", options: &[], duckdb: None },
];

/// What a query does, in words for people, and its condition. Those that vary another one have none.
pub(crate) fn words(name: &str) -> Option<[&'static str; 2]> {
    match name {
        "filter" => Some(["filter rows by a number", "where Elapsed > 200"]),
        "match" => Some(["search a text", "where match(Message, '/api/customers')"]),
        "lookup" => Some(["find one event", "where Properties.RequestId = …"]),
        "group" => Some(["count and average by group", "group by Properties.Application"]),
        _ => None,
    }
}

/// Runs the queries through both programs.
pub(crate) fn measure(options: &Options) -> Vec<Row> {
    let setting = Setting::prepare(options);
    let wanted = QUERIES.iter().filter(|query| options.wants_input(query.name));
    wanted.flat_map(|query| setting.measure(query, options)).collect()
}

/// The paths that a run needs, or why they are missing.
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
        let has_it = |name: &str| name == "jird" || query.duckdb.is_some();
        let wanted = wanted.into_iter().filter(|(name, _)| options.wants_peer(name) && has_it(name));
        let mut runners: Vec<_> = wanted
            .flat_map(|(name, build)| options.sides(name).iter().map(move |&side| (name, side, build)))
            .map(|(name, side, build)| {
                let jird = options.other_program(side).map_or_else(|| self.jird.clone(), Ok);
                Runner::new(name, side, build, self.command(name, side, jird, query))
            })
            .collect();
        let mut answers = Vec::new();
        for runner in &mut runners {
            runner.warm_up(2);
            let answer = runner.answer(if is_jird(&runner.name) { ndjson_answer } else { csv_answer });
            runner.process.hits = answer.map_or(0, |answer| answer.hits);
            answers.push(answer);
        }
        agree(&mut runners, &answers, query);
        whole::race(&mut runners, options.rounds);
        let bytes = whole::len(&self.events);
        runners.into_iter().map(|runner| runner.into_row(Task::Query, query.name, bytes, EVENTS_DEFAULT)).collect()
    }

    fn command(
        &self,
        name: &str,
        side: Side,
        jird: Result<PathBuf, String>,
        query: &Query,
    ) -> Result<Invocation, String> {
        let events = self.events.clone()?;
        let output = whole::scratch(&format!("{}-{}.txt", side.name(name), query.name))?;
        let report = output.with_extension("json");
        let mut words: Vec<OsString> = Vec::new();
        if name == "jird" {
            words.extend([jird?.into(), "query".into(), query.jird.into(), events.into()]);
            words.extend(["--format".into(), "ndjson".into(), "--threads".into(), "2".into(), "--stats".into()]);
            for option in query.options {
                words.push(if *option == SCHEMA { schema()?.into() } else { option.into() });
            }
            words.extend(["-o".into(), output.clone().into()]);
        } else if let Some(Sql { select, columns, rest }) = query.duckdb {
            words.extend(self.script.clone()?);
            words.extend([events.into(), select.into(), columns.into(), rest.into()]);
            words.extend([output.clone().into(), report.clone().into()]);
        }
        Ok(Invocation { words, output, prints: false, report, kernel: self.kernel.clone() })
    }
}

/// A file with the types of the fields.
fn schema() -> Result<PathBuf, String> {
    whole::kept("bench-schema.json", |path| fs::write(path, TYPES).map_err(|error| error.to_string()))
}

/// The answer of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Answer {
    hits: u64,
    /// The checksum of the rows, in order.
    checksum: u64,
}

/// Fails jird's rows if the answers differ. The reference is `DuckDB`'s answer, or the first jird's if `DuckDB` does
/// not take part.
fn agree(runners: &mut [Runner], answers: &[Option<Answer>], query: &Query) {
    let named = |name: &str| runners.iter().position(|runner| runner.name == name).filter(|&at| answers[at].is_some());
    let Some(reference) = named("duckdb").or_else(|| named("jird")) else { return };
    let (name, wanted) = (runners[reference].name.clone(), answers[reference]);
    for (runner, answer) in runners.iter_mut().zip(answers).filter(|(runner, _)| is_jird(&runner.name)) {
        // For a query that asks for some rows, any rows will do; `DuckDB` has no such query.
        let comparable =
            |answer: Answer| if query.duckdb.is_some() { answer } else { Answer { checksum: 0, ..answer } };
        if answer.is_some() && answer.map(comparable) != wanted.map(comparable) {
            runner.fail(format!("wrong answer: {answer:?}, {name} has {wanted:?}"));
        }
    }
}

impl Answer {
    /// Adds a row. Numbers count with nine digits, because the last digits of sums of doubles depend on the order of
    /// summation.
    fn add<'c>(&mut self, cells: impl Iterator<Item = Cow<'c, str>>) {
        let mut hasher = DefaultHasher::new();
        self.checksum.hash(&mut hasher);
        for cell in cells {
            match cell.parse::<f64>() {
                Ok(number) => format!("{number:.8e}").hash(&mut hasher),
                Err(_) => cell.hash(&mut hasher),
            }
        }
        self.checksum = hasher.finish();
        self.hits += 1;
    }
}

/// The answer of a file with one object per line. It is streamed so that this process stays small, because its size
/// counts in that of its children.
fn ndjson_answer(path: &Path) -> Result<Answer, String> {
    let mut answer = Answer::default();
    for line in open(path)?.lines() {
        let line = line.map_err(|error| error.to_string())?;
        let Cells(cells) = serde_json::from_str(&line).map_err(|error| format!("answer: {error}"))?;
        answer.add(cells.iter().map(|value| match value {
            Value::String(text) => Cow::Borrowed(text.as_str()),
            other => Cow::Owned(other.to_string()),
        }));
    }
    Ok(answer)
}

/// The values of an object, in order.
struct Cells(Vec<Value>);

impl<'de> Deserialize<'de> for Cells {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Cells;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Cells, A::Error> {
                let mut cells = Vec::new();
                while let Some((IgnoredAny, value)) = members.next_entry()? {
                    cells.push(value);
                }
                Ok(Cells(cells))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// The answer of a CSV file with a header, also streamed.
fn csv_answer(path: &Path) -> Result<Answer, String> {
    let mut answer = Answer::default();
    let mut reader = csv::Reader::from_path(path).map_err(|error| format!("answer: {error}"))?;
    let mut row = csv::StringRecord::new();
    while reader.read_record(&mut row).map_err(|error| format!("answer: {error}"))? {
        answer.add(row.iter().map(Cow::Borrowed));
    }
    Ok(answer)
}

fn open(path: &Path) -> Result<BufReader<File>, String> {
    File::open(path).map(BufReader::new).map_err(|error| format!("{}: {error}", path.display()))
}

/// The file of events that the user named, or one that is generated once.
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

    #[test]
    fn the_same_rows_as_csv_and_as_ndjson_make_the_same_answer() {
        let folder = run::target_folder().expect("tests lie in a target folder");
        let (csv, ndjson) = (folder.join("bench-test.csv"), folder.join("bench-test.ndjson"));
        fs::write(&csv, "z,n\nplain,1\n\"a, \"\"b\"\"\nc\",0.30000000000000004\n\"\",2\n")
            .expect("the folder is writable");
        fs::write(
            &ndjson,
            "{\"z\":\"plain\",\"n\":1.0}\n{\"z\":\"a, \\\"b\\\"\\nc\",\"n\":0.3}\n{\"z\":\"\",\"n\":2}\n",
        )
        .expect("the folder is writable");
        let answer = csv_answer(&csv).expect("it was just written");
        assert_eq!(answer.hits, 3);
        assert_eq!(Ok(answer), ndjson_answer(&ndjson));
    }
}
