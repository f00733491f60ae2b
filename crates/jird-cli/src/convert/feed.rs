//! Sends inputs through filters to a sink, and handles bad records.

use super::any_sink::AnySink;
use super::condition::{WhereFilter, selected};
use super::fields::Fields;
use super::met::Met;
use super::open::Opened;
use super::source::{self, AnySource, BadInput, Content, Reading};
use super::whole::Whole;
use super::{ConvertArgs, Nested, columns, share};
use crate::outcome::PASS_BY;
use anyhow::{Context, Error, Result};
use jird::ErrorKind;
use jird::event::filter::{Flatten, Project};
use jird::event::{Failure, JsonSink, Pattern, Place, Sink, Source};
use jird::hooks::event::Parts;
use jird::hooks::event::pipe;
use jird::lenient::Leniency;
use jird::policy::RECORD_BYTES_MAX;
use jird::record::Step;
use jird_formats::BadRow;
use jird_formats::files::{BadRecord, BadRecords, FileFormat, OnError, record_limit_hint};
use std::num::NonZero;
use std::sync::Arc;
use std::thread;

/// A summary of a run.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(super) records: u64,
    pub(crate) bad: u64,
    pub(crate) first_bad: Option<String>,
    /// The number of values that a condition could not compare.
    pub(super) mismatches: u64,
    /// What else was lost or changed, for the user.
    pub(super) warnings: Vec<String>,
    /// Notes for `--stats`.
    pub(super) notes: Vec<String>,
}

/// Sends inputs to sinks.
pub(crate) struct Feed {
    pub(super) reading: Reading,
    pub(super) tally: Tally,
    condition: Option<WhereFilter>,
    select: Vec<Pattern>,
    /// Whether columns are selected as a whole, each once.
    selects_columns: bool,
    flatten: bool,
    /// The same selection for the record scanner, if scanning lines is enough.
    pub(super) fields: Option<Arc<Fields>>,
    /// Which of the names that were typed occur.
    met: Arc<Met>,
    limit: Option<u64>,
    /// How columns of objects and arrays are planned.
    pub(super) nested: Nested,
    threads: usize,
    on_error: OnError,
    bad: BadRecords,
    /// The number of mismatches that are not reported, because their input is read again.
    unsaid: u64,
    /// Whether bad records are noted. They are not noted while an input is read only to plan columns.
    notes_bad: bool,
}

impl Feed {
    pub(super) fn new(args: &ConvertArgs) -> Result<Self> {
        let condition = WhereFilter::new(args)?;
        let paths = condition.as_ref().map_or_else(Vec::new, |condition| condition.paths().to_vec());
        // A pattern may well match nothing.
        let select: &[String] = if args.select.iter().any(|name| name.contains('*')) { &[] } else { &args.select };
        let met = Arc::new(Met::new(select.iter().cloned(), paths.iter().map(dotted)));
        let fields = if condition.is_none() { Fields::of(args, &met).map(Arc::new) } else { None };
        let reading = Reading {
            from: args.from.format(),
            leniency: args.from.leniency()?,
            records: args.records.clone(),
            table: args.table.clone(),
            typed: args.typed,
            check_first: !matches!(args.on_error, OnError::Stop),
            record_limit: args.record.limit(),
            csv: args.dialect.choice(),
            columns: condition.as_ref().map_or_else(|| selected(args), WhereFilter::columns),
        };
        Ok(Self {
            condition,
            select: args.select.iter().map(|path| pointer(path).parse()).collect::<Result<_, _>>()?,
            selects_columns: are_columns(&args.select),
            flatten: args.flatten,
            fields,
            met,
            limit: args.limit,
            nested: args.nested,
            threads: args.threads.unwrap_or_else(threads),
            ..Self::all(reading, &args.on_error, BadRecords::new(&args.on_error)?)
        })
    }

    /// A feed of all records of the inputs, unchanged.
    pub(crate) fn plain(
        from: Option<FileFormat>,
        records: Option<Pattern>,
        table: Option<String>,
        typed: bool,
        on_error: &OnError,
    ) -> Result<Self> {
        let (check_first, record_limit) = (*on_error != OnError::Stop, RECORD_BYTES_MAX);
        let reading = Reading { from, records, table, typed, check_first, record_limit, ..Reading::default() };
        Ok(Self { threads: threads(), ..Self::all(reading, on_error, BadRecords::new(on_error)?) })
    }

    /// The same feed, for texts that need not be strict JSON.
    pub(crate) fn lenient(mut self, leniency: Leniency) -> Self {
        self.reading.leniency = leniency;
        self
    }

    /// A feed of all records, unchanged, on one thread.
    fn all(reading: Reading, on_error: &OnError, bad: BadRecords) -> Self {
        Self {
            reading,
            tally: Tally::default(),
            condition: None,
            select: Vec::new(),
            selects_columns: true,
            flatten: false,
            fields: None,
            met: Arc::default(),
            limit: None,
            nested: Nested::Json,
            threads: 1,
            on_error: on_error.clone(),
            bad,
            unsaid: 0,
            notes_bad: true,
        }
    }

    /// Closes the quarantine, and returns the summary.
    pub(crate) fn finish(mut self) -> Result<Tally> {
        self.bad.finish().context("writing the quarantine")?;
        let (bad, first_bad) = (self.bad.count(), self.bad.first().map(str::to_owned));
        let mismatches = self.counts().1;
        Ok(Tally { bad, first_bad, mismatches, ..self.tally })
    }

    /// Runs over the inputs, or over their first `records` records, to plan columns. Nothing that happens there is
    /// noted.
    pub(super) fn quietly<T>(&mut self, records: Option<u64>, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = (self.tally.records, self.limit);
        let (_, mismatches) = self.counts();
        self.limit = records.or(self.limit);
        self.notes_bad = false;
        let done = run(self);
        self.notes_bad = true;
        self.unsaid += self.counts().1 - mismatches;
        (self.tally.records, self.limit) = before;
        done
    }

    /// Discards all notes, because the inputs are read again from the start.
    pub(super) fn restart(&mut self) -> Result<()> {
        self.tally.records = 0;
        self.unsaid += self.counts().1;
        Ok(self.bad.forget()?)
    }

    /// Sends all records of an input to `sink`. The sink is not finished; it keeps `sink_threads` threads busy.
    pub(crate) fn send<S>(&mut self, input: &mut Opened, sink: &mut S, sink_threads: usize) -> Result<()>
    where
        S: Sink<Error: Into<Error>>,
    {
        let content = self.open(input)?;
        self.send_content(&input.name, content, sink, sink_threads)
    }

    /// Opens an input, and tells the user about a column that it does not have.
    fn open(&mut self, input: &mut Opened) -> Result<Content> {
        let mut content = source::content(input, &self.reading)?;
        let wanted = self.reading.columns.as_deref().unwrap_or_default();
        if !wanted.is_empty()
            && let Some(words) = columns::note(&input.name, &mut content, wanted)?
        {
            self.warn(words);
        }
        Ok(content)
    }

    fn send_content<S>(&mut self, name: &str, content: Content, sink: &mut S, sink_threads: usize) -> Result<()>
    where
        S: Sink<Error: Into<Error>>,
    {
        let reading = self.reading.clone();
        let (before, left) = (self.tally.records, self.left());
        if self.threads <= sink_threads {
            content.read(&reading, |source| self.filter(name, source, sink))?;
        } else {
            let sent = pipe(sink, |pipe| content.read(&reading, |source| self.filter(name, source, pipe)));
            sent.map_err(|failure| match failure {
                Failure::Source(never) => match never {},
                Failure::Sink(error, place) => stopped(name, error, place),
            })??;
        }
        // Without a condition, every record that was found was sent.
        if let Some(pattern) = reading.records.filter(|_| self.tally.records == before && left > 0)
            && self.condition.is_none()
        {
            self.warn(format!("{name}: no value is at {pattern}, which --records names"));
        }
        Ok(())
    }

    /// Does the same for a sink that can be written in parts, on all threads if the input falls into pieces.
    pub(super) fn share<S>(&mut self, input: &mut Opened, sink: &mut S) -> Result<()>
    where
        S: Parts<Error: Into<Error>>,
    {
        let threads = self.threads;
        if threads <= 1 || self.limit.is_some() {
            return self.send(input, sink, 1);
        }
        let name = &input.name.clone();
        match self.open(input)? {
            Content::Lines(reader) => share::lines(self, name, reader, input.is_live(), sink, threads),
            Content::Table(connection, table) => {
                let path = input.path().context("a database has a place")?;
                if share::table(self, name, path, &table, sink, threads).with_context(|| name.clone())? {
                    return Ok(());
                }
                self.send_content(name, Content::Table(connection, table), sink, 1)
            }
            content => self.send_content(name, content, sink, 1),
        }
    }

    /// A feed that filters each record in the same way, and stops at the first bad record.
    pub(super) fn apart(&self) -> Self {
        Self {
            condition: self.condition.clone(),
            select: self.select.clone(),
            selects_columns: self.selects_columns,
            flatten: self.flatten,
            met: Arc::clone(&self.met),
            notes_bad: false,
            ..Self::all(self.reading.clone(), &OnError::Stop, BadRecords::default())
        }
    }

    /// Whether all rows, with all of their values or with some columns, are wanted as they are.
    pub(super) fn takes_whole_columns(&self) -> bool {
        self.condition.is_none() && !self.flatten && self.selects_columns
    }

    /// Whether all rows are wanted with all of their values, as they are.
    pub(super) fn takes_whole_rows(&self) -> bool {
        self.takes_whole_columns() && self.select.is_empty()
    }

    /// The number of records that are still wanted.
    pub(super) fn left(&self) -> u64 {
        self.limit.map_or(u64::MAX, |limit| limit.saturating_sub(self.tally.records))
    }

    /// Tells the user once that something was lost or changed.
    pub(super) fn warn(&mut self, words: String) {
        if !self.tally.warnings.contains(&words) {
            self.tally.warnings.push(words);
        }
    }

    /// How many records were sent, and how many values a condition could not compare.
    pub(super) fn counts(&self) -> (u64, u64) {
        let mismatches = self.tally.mismatches + self.condition.as_ref().map_or(0, WhereFilter::mismatches);
        (self.tally.records, mismatches - self.unsaid)
    }

    /// Adds the counts of another feed.
    pub(super) fn add(&mut self, records: u64, mismatches: u64) {
        self.tally.records += records;
        self.tally.mismatches += mismatches;
    }

    /// Sends a source's records through the filters to a sink. If bad records are skipped, no part of them reaches the
    /// sink.
    pub(super) fn filter<S>(&mut self, name: &str, source: &mut AnySource<'_>, sink: &mut S) -> Result<()>
    where
        S: Sink,
        S::Error: Into<Error>,
    {
        // A condition also waits for the whole record.
        if self.reading.check_first && !source.checks_first() && self.condition.is_none() {
            self.filter_checked(name, source, &mut Whole::new(&mut AnySink(sink)))
        } else {
            self.filter_checked(name, source, sink)
        }
    }

    /// Adds only those filters that the user asked for. Behind a filter any sink will do: else each source would be
    /// compiled four times for each sink.
    fn filter_checked<S>(&mut self, name: &str, source: &mut AnySource<'_>, sink: &mut S) -> Result<()>
    where
        S: Sink,
        S::Error: Into<Error>,
    {
        let select = self.select.clone();
        match (select.is_empty(), self.flatten) {
            (true, false) => self.pump(name, source, sink),
            (true, true) => self.pump(name, source, &mut Flatten::new(AnySink(sink))),
            (false, false) => self.project(name, source, Project::new(AnySink(sink), select)),
            (false, true) => self.project(name, source, Project::new(Flatten::new(AnySink(sink)), select)),
        }
    }

    /// Sends the selected values, and notes which of them there are.
    fn project<S>(&mut self, name: &str, source: &mut AnySource<'_>, mut selected: Project<S>) -> Result<()>
    where
        S: Sink,
        S::Error: Into<Error>,
    {
        let pumped = self.pump(name, source, &mut selected);
        self.met.selected(selected.met());
        pumped
    }

    fn pump<S>(&mut self, name: &str, source: &mut AnySource<'_>, sink: &mut S) -> Result<()>
    where
        S: Sink,
        S::Error: Into<Error>,
    {
        let has_any_keys = source.has_any_keys();
        while self.left() > 0 {
            let sent = match &mut self.condition {
                Some(condition) => condition.send_record(source, sink),
                None => source.send_record(sink).map(|sent| sent.then_some(true)),
            };
            match sent {
                Ok(Some(sent)) => {
                    self.tally.records += u64::from(sent);
                    if has_any_keys {
                        self.met.record();
                    }
                }
                Ok(None) => break,
                Err(Failure::Sink(error, place)) => return Err(stopped(name, error, place)),
                Err(Failure::Source(error)) => {
                    if self.on_error == OnError::Stop {
                        let advice = if source.can_leave_out(&error) { PASS_BY } else { "" };
                        return Err(BadInput::of(name, self.with_limit(source.with_stray_mark(error)), advice));
                    }
                    let recovered = source.recover(&error).with_context(|| name.to_owned())?;
                    let Some(bad) = recovered else { return Err(BadInput::of(name, error, "")) };
                    self.note(name, &bad)?;
                }
            }
        }
        if let Some(condition) = &self.condition {
            self.met.of_condition(condition.met());
        }
        Ok(())
    }

    /// Notes on the names that no record has, if all records were read: most of them are typing errors.
    pub(super) fn unmet(&self, inputs: &mut [Opened]) -> Vec<String> {
        let unmet = if self.left() > 0 { self.met.unmet() } else { Vec::new() };
        let is_said =
            |name: &&str| self.tally.warnings.iter().any(|said| said.contains(&format!("no column {name:?}")));
        let unmet: Vec<_> = unmet.into_iter().filter(|name| !is_said(name)).collect();
        let names = if unmet.is_empty() { Vec::new() } else { self.first_names(inputs) };
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        unmet.into_iter().map(|name| columns::unmet(name, &names)).collect()
    }

    /// The keys of the first records, of inputs that can be read again.
    fn first_names(&self, inputs: &mut [Opened]) -> Vec<String> {
        const RECORDS: u64 = 100;
        let mut names = Vec::new();
        for input in inputs.iter_mut().filter(|input| input.is_file()) {
            let Reading { from, records, table, typed, .. } = self.reading.clone();
            let Ok(mut feed) = Self::plain(from, records, table, typed, &OnError::Stop) else { continue };
            (feed.limit, feed.reading.csv) = (Some(RECORDS), self.reading.csv);
            feed.reading.leniency = self.reading.leniency;
            let mut lines = JsonSink::new(Vec::new());
            // What was read before an error will do.
            let _ = feed.send(input, &mut lines, 1).and_then(|()| Ok(lines.finish()?));
            for line in lines.into_inner().split(|byte| *byte == b'\n') {
                let Ok(record) = jird::parse(line) else { continue };
                for (key, _) in record.root().entries() {
                    let key: String = key.as_str().unwrap_or_default().into();
                    if !names.contains(&key) {
                        names.push(key);
                    }
                }
            }
        }
        names
    }

    fn note(&mut self, name: &str, bad: &BadRow) -> Result<()> {
        if !self.notes_bad {
            return Ok(());
        }
        let BadRow { kind, place, message, raw } = bad;
        let message = if *kind == ErrorKind::Size.code() { &(message.clone() + &self.limit_hint()) } else { message };
        let bad = BadRecord { file: name, place: *place, kind, message, raw };
        self.bad.note(&bad).context("writing the quarantine")
    }

    /// Adds the limit to the error of a record that is too long.
    fn with_limit(&self, error: Error) -> Error {
        let of_text = error.downcast_ref().is_some_and(|error: &jird::Error| error.kind() == ErrorKind::Size);
        let of_table = source::of_table(&error).is_some_and(|error| error.kind() == jird_formats::ErrorKind::Size);
        let of_lenient = source::of_lenient(&error).is_some_and(|fault| fault.kind() == ErrorKind::Size);
        let words = error.to_string();
        if of_text || of_table || of_lenient { error.context(words + &self.limit_hint()) } else { error }
    }

    fn limit_hint(&self) -> String {
        record_limit_hint(self.reading.record_limit)
    }
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// The error for a record that the target did not accept.
fn stopped(name: &str, error: impl Into<Error>, place: Place) -> Error {
    error.into().context(format!("{name}: {place}"))
}

/// Whether these paths are columns, each named once.
fn are_columns(paths: &[String]) -> bool {
    let is_first = |at: usize| !paths[..at].contains(&paths[at]);
    paths.iter().enumerate().all(|(at, path)| !path.contains('.') && path != "*" && is_first(at))
}

/// The name of a path as `--where` writes it.
fn dotted(path: &jird::Path) -> String {
    let steps = path.steps().iter().map(|step| match step {
        Step::Key(key) => key.to_string(),
        Step::Index(index) => index.to_string(),
    });
    steps.collect::<Vec<_>>().join(".")
}

/// Turns `a.b` into a pointer.
fn pointer(path: &str) -> String {
    path.split('.').fold(jird::Path::root(), jird::Path::key).to_string()
}
