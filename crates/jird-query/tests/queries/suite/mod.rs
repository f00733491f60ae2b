//! DataFusion's own tests, asked of jird: the files that its crate `datafusion-sqllogictest` has. DataFusion makes their
//! tables, whose records become NDJSON, and jird answers their queries. `differences.txt` lists what it refuses or answers
//! otherwise, and why. No query may crash, never end, or be refused in words of the inside; nor may texts that were made of the
//! queries by dropping, doubling and exchanging words.
//!
//! A tenth of the queries is asked, or all with `JIRD_SUITE=all`.

mod answers;
mod list;
mod manners;
mod records;
mod tables;

use crate::dice::Random;
use answers::Likeness;
use jird_query::{Defined, Format, Options, Query, Report, Spill};
use list::{Difference, Place};
use manners::{leak, lowered, mutated};
use records::{Record, Wants};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;
use std::{fs, panic, thread};
use tables::{Tables, Unmade};

/// A query may take this long, on a machine that does much else.
const PATIENCE: Duration = Duration::from_mins(1);

/// Functions of other crates.
const LEFT_OUT: &str = "spark";

/// What a query is not asked with: Arrow's types, and what only DataFusion's own files have.
const OF_ARROW: [&str; 11] = [
    "arrow_cast",
    "arrow_field",
    "arrow_metadata",
    "arrow_try_cast",
    "arrow_typeof",
    "cast_to_type",
    "file_row_index",
    "information_schema",
    "input_file_name",
    "try_cast_to_type",
    "with_metadata",
];

/// What stands before the name of what a statement makes or changes.
const AROUND: [&str; 16] = [
    "or",
    "replace",
    "temp",
    "temporary",
    "external",
    "unbounded",
    "table",
    "view",
    "function",
    "schema",
    "if",
    "not",
    "exists",
    "into",
    "overwrite",
    "from",
];

/// Begins the name of a file whose queries were made into others.
const MUTATED: &str = "mutated/";

/// How many queries are asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Amount {
    Tenth,
    All,
}

impl Amount {
    fn asks(self, record: &Record) -> bool {
        self == Self::All || record.line.is_multiple_of(10)
    }

    fn asks_mutated(self, record: &Record) -> bool {
        record.line.is_multiple_of(if self == Self::All { 4 } else { 100 })
    }
}

/// What all threads find.
#[derive(Default)]
struct Found {
    differences: BTreeMap<Place, (Difference, String)>,
    asked: HashSet<Place>,
    /// What no list excuses.
    faults: Vec<String>,
    agreed: usize,
    unjudged: usize,
    mutated: usize,
    not_asked: BTreeMap<Unmade, usize>,
}

/// What an answer is.
enum Verdict {
    /// The one that is wanted; or a refusal, if it is.
    Agrees,
    /// Not wanted by the test, but neither is it said what is; or of a table that DataFusion has not made either.
    Unjudged,
    Differs(Difference, String),
    /// What no list excuses.
    Fault(String),
}

impl Found {
    fn note(&mut self, place: Place, verdict: Verdict) {
        self.asked.insert(place.clone());
        match verdict {
            Verdict::Agrees => self.agreed += 1,
            Verdict::Unjudged => self.unjudged += 1,
            // A file that several others include is asked several times.
            Verdict::Differs(difference, message) => match self.differences.entry(place) {
                Entry::Occupied(known) if known.get().0 >= difference => {}
                entry => drop(entry.insert_entry((difference, message))),
            },
            Verdict::Fault(fault) => self.faults.push(format!("{} {}: {fault}", place.0, place.1)),
        }
    }
}

#[test]
#[allow(clippy::print_stdout, reason = "it is for readers of the log")]
fn datafusions_own_tests_are_answered_as_they_want_or_as_the_list_says() {
    let Some(folder) = records::folder() else {
        println!("skipped: {} {} from the registry", records::PACKAGE, datafusion::DATAFUSION_VERSION);
        return;
    };
    let wish = std::env::var("JIRD_SUITE").unwrap_or_default();
    let amount = if ["all", "write"].contains(&&*wish) { Amount::All } else { Amount::Tenth };
    let mut files = records::files(&folder);
    files.retain(|file| !file.starts_with(folder.join(LEFT_OUT)));
    let next = AtomicUsize::new(0);
    let found = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..2 {
            let (files, folder, next, found) = (&files, &folder, &next, &found);
            scope.spawn(move || {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    replay(&records::read(folder, file), amount, found);
                }
            });
        }
    });
    let found = found.into_inner().unwrap();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let listed = list::listed();
    for (place, (difference, _)) in &found.differences {
        let reason = listed.get(place).map_or("new", |(_, reason)| reason.split(':').next().unwrap_or(reason));
        *kinds.entry(format!("{difference}, {reason}")).or_default() += 1;
    }
    println!(
        "{} queries agree; {kinds:?}; unjudged: {}; not asked: {:?}; {} mutated texts",
        found.agreed, found.unjudged, found.not_asked, found.mutated
    );
    if wish == "write" {
        list::write(&found.differences);
    }
    let mut faults = found.faults;
    for (place, (difference, message)) in &found.differences {
        if !listed.get(place).is_some_and(|(known, reason)| known == difference && list::is_reason(reason)) {
            faults.push(format!("{} {} is not in differences.txt: {difference}: {message}", place.0, place.1));
        }
    }
    let is_over = |place: &Place| amount == Amount::All || found.asked.contains(place);
    for (place, (difference, _)) in listed.iter().filter(|(place, _)| is_over(place)) {
        if !found.differences.contains_key(place) {
            faults.push(format!("{} {} is in differences.txt, as {difference}, and agrees", place.0, place.1));
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
    assert!(found.agreed > 300, "little is tested");
}

/// Runs the statements of a file, and asks its queries.
fn replay(records: &[Record], amount: Amount, found: &Mutex<Found>) {
    let tasks = tasks(records, amount);
    if !tasks.contains(&Task::Ask) {
        return;
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let folder = folder.path();
    fs::write(folder.join("empty.ndjson"), "").unwrap();
    let mut tables = Tables::new(folder);
    for (record, task) in records.iter().zip(tasks) {
        match task {
            Task::Pass => {}
            Task::Run => tables.run(&record.sql),
            Task::Ask => {
                let (sql, words) = lowered(&record.sql);
                match tables.named(&words) {
                    Ok(defined) => Asker { folder, defined, record, sql: &sql }.ask(amount, found),
                    Err(why) => *found.lock().unwrap().not_asked.entry(why).or_default() += 1,
                }
            }
        }
    }
}

/// What is done with a record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Task {
    /// DataFusion runs it.
    Run,
    /// jird answers it.
    Ask,
    Pass,
}

/// Queries are asked as the amount says, and those statements run that make, change or set what they need.
fn tasks(records: &[Record], amount: Amount) -> Vec<Task> {
    let mut needed = HashSet::new();
    let mut task = |record: &Record| {
        let (sql, words) = lowered(&record.sql);
        let mut names = sql.split(|char: char| !char.is_alphanumeric() && char != '_').filter(|word| !word.is_empty());
        match (&record.wants, names.next().unwrap_or_default()) {
            (Wants::Rows { .. } | Wants::Error, "select" | "with" | "values" | "from") => {
                let is_asked = amount.asks(record) && !OF_ARROW.iter().any(|word| words.contains(*word));
                if !is_asked || sql.contains('$') {
                    return Task::Pass;
                }
                needed.extend(words);
                Task::Ask
            }
            (Wants::Error, _) => Task::Pass,
            (_, "set" | "reset") => Task::Run,
            (Wants::Nothing, "select") if words.contains("into") => Task::Run,
            (_, "create" | "insert" | "update" | "delete" | "merge" | "truncate" | "drop" | "alter")
                if names.find(|name| !AROUND.contains(name)).is_some_and(|name| needed.contains(name)) =>
            {
                needed.extend(words);
                Task::Run
            }
            _ => Task::Pass,
        }
    };
    let mut tasks: Vec<_> = records.iter().rev().map(&mut task).collect();
    tasks.reverse();
    tasks
}

/// Asks a query of a file.
struct Asker<'a> {
    folder: &'a Path,
    defined: Vec<Defined>,
    record: &'a Record,
    sql: &'a str,
}

impl Asker<'_> {
    fn ask(&self, amount: Amount, found: &Mutex<Found>) {
        let place = (self.record.file.clone(), self.record.line);
        found.lock().unwrap().note(place, self.verdict());
        if amount.asks_mutated(self.record) {
            let sql = mutated(self.sql, &mut Random::new(self.record.line as u64));
            let verdict = match self.answer(&sql, Format::Ndjson) {
                Err(fault) => Verdict::Fault(fault),
                Ok(Err(message)) if leak(&message, &sql).is_some() => {
                    Verdict::Differs(Difference::Leaks, format!("{message}: {sql}"))
                }
                Ok(_) => Verdict::Unjudged,
            };
            let mut found = found.lock().unwrap();
            found.mutated += 1;
            found.note((format!("{MUTATED}{}", self.record.file), self.record.line), verdict);
        }
    }

    fn verdict(&self) -> Verdict {
        let out = match self.answer(self.sql, Format::Ndjson) {
            Ok(Ok(out)) => out,
            Ok(Err(message)) => return self.verdict_on(message),
            Err(fault) => return Verdict::Fault(fault),
        };
        let Wants::Rows { columns, sorted, lines } = &self.record.wants else { return Verdict::Unjudged };
        // Of some tests only a hash of the result is there, or a part of it.
        if lines.iter().any(|line| line.contains(" values hashing to ") || line.contains("<slt:ignore>")) {
            return Verdict::Unjudged;
        }
        let mut names = answers::names(&out);
        if names.len() != *columns && !out.is_empty() {
            names = match self.header() {
                Ok(names) => names,
                Err(fault) => return Verdict::Fault(fault),
            };
        }
        let rows = answers::rows(&out, &names);
        let likeness = answers::compare(&rows, lines, *sorted);
        if likeness == Likeness::Same || likeness == Likeness::Reordered && !self.sql.contains("order by") {
            return Verdict::Agrees;
        }
        let found: Vec<_> = rows.iter().map(|row| row.join(" ")).collect();
        Verdict::Differs(Difference::Differs, format!("{likeness:?}: {lines:?}, and not {found:?}"))
    }

    /// The verdict on a refusal.
    fn verdict_on(&self, message: String) -> Verdict {
        let is_absent = message.starts_with("there is no table ") && !self.names_one(&message);
        if is_absent || message.ends_with(": No such file or directory") {
            Verdict::Unjudged
        } else if leak(&message, self.sql).is_some() {
            Verdict::Differs(Difference::Leaks, message)
        } else if matches!(self.record.wants, Wants::Error) {
            Verdict::Agrees
        } else {
            Verdict::Differs(Difference::Refused, message)
        }
    }

    fn names_one(&self, message: &str) -> bool {
        self.defined.iter().any(|defined| message.starts_with(&format!("there is no table {}:", defined.name)))
    }

    /// The names of all columns, also of those that no row has.
    fn header(&self) -> Result<Vec<String>, String> {
        let out = self.answer(self.sql, Format::Csv)?.unwrap_or_default();
        let header = out.lines().next().unwrap_or_default();
        let mut names = Vec::new();
        for (at, part) in header.split('"').enumerate() {
            // Each second part is between quotes.
            if at % 2 == 1 {
                names.push(part.to_owned());
            } else {
                names.extend(part.split(',').filter(|name| !name.is_empty()).map(str::to_owned));
            }
        }
        Ok(names)
    }

    /// What is printed, or the message; an error is a crash, or no answer in time.
    fn answer(&self, sql: &str, format: Format) -> Result<Result<String, String>, String> {
        let options = Options {
            format,
            threads: 2,
            defined: self.defined.clone(),
            memory_max: Some(1 << 30),
            spill: Some(Spill::default()),
            ..Options::default()
        };
        let empty = self.folder.join("empty.ndjson").to_string_lossy().into_owned();
        let query = Query::new(sql, vec![empty], options);
        let interrupt = query.interrupt();
        let (sender, receiver) = channel();
        let run = move || {
            let mut out = Vec::new();
            let answer = panic::catch_unwind(panic::AssertUnwindSafe(|| query.run(&mut out, &mut Report::default())));
            let _ = sender.send(answer.map(|answer| answer.map(|()| out).map_err(|error| error.to_string())));
        };
        // As much as the program's first thread has.
        thread::Builder::new().stack_size(8 << 20).spawn(run).unwrap();
        match receiver.recv_timeout(PATIENCE) {
            Ok(Ok(answer)) => Ok(answer.map(|out| String::from_utf8(out).unwrap())),
            Ok(Err(_)) => Err(format!("a panic: {sql}")),
            Err(_) => {
                interrupt.stop();
                Err(format!("no answer within {PATIENCE:?}: {sql}"))
            }
        }
    }
}
