//! From inputs through filters to a sink, and what becomes of bad records.

use super::Args;
use super::condition::Where;
use super::fields::Fields;
use super::open::Opened;
use super::share;
use super::source::{self, AnySource, Bad, Content, Reading};
use anyhow::{Context, Error, Result};
use jird::event::filter::{Flatten, Project};
use jird::event::{self, Failure, Parts, Pattern, Place, Sink, Source};
use serde::Serialize;
use std::fs::File;
use std::io::{BufWriter, Seek, Write};
use std::num::NonZero;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::thread;

/// What becomes of a bad record.
#[derive(Clone, Debug)]
pub(crate) enum OnError {
    Stop,
    Skip,
    Quarantine(PathBuf),
}

impl FromStr for OnError {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            None if text == "stop" => Ok(Self::Stop),
            None if text == "skip" => Ok(Self::Skip),
            Some(("quarantine", file)) if !file.is_empty() => Ok(Self::Quarantine(file.into())),
            _ => Err("it is stop, skip, or quarantine=FILE".to_owned()),
        }
    }
}

/// What was done.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) records: u64,
    pub(super) bad: u64,
    pub(super) first_bad: Option<String>,
    /// Values that a condition could not compare.
    pub(super) mismatches: u64,
    /// What else there is to say.
    pub(super) notes: Vec<String>,
}

/// Sends inputs to sinks.
pub(super) struct Feed {
    pub(super) reading: Reading,
    pub(super) tally: Tally,
    condition: Option<Where>,
    select: Vec<Pattern>,
    flatten: bool,
    /// The same of lines, where that is all.
    pub(super) fields: Option<Arc<Fields>>,
    limit: Option<u64>,
    on_error: OnError,
    quarantine: Option<BufWriter<File>>,
    /// So many of the mismatches were in what is read again.
    unsaid: u64,
    /// Bad records are noted: not where an input is read only to plan.
    notes_bad: bool,
}

/// A line of a quarantine file: enough to find the record, and to run it again.
#[derive(Serialize)]
struct Quarantined<'a> {
    file: &'a str,
    line: u64,
    offset: u64,
    kind: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<&'a str>,
    /// Of what is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

impl Feed {
    pub(super) fn new(args: &Args) -> Result<Self> {
        let quarantine = match &args.on_error {
            OnError::Quarantine(path) => {
                Some(BufWriter::new(File::create(path).with_context(|| path.display().to_string())?))
            }
            OnError::Stop | OnError::Skip => None,
        };
        let condition = Where::new(args)?;
        let fields = if condition.is_none() { Fields::of(args).map(Arc::new) } else { None };
        let reading = Reading {
            from: args.from,
            records: args.records.clone(),
            table: args.table.clone(),
            typed: args.typed,
            check_first: !matches!(args.on_error, OnError::Stop),
            columns: condition.as_ref().map_or_else(|| selected(args), Where::columns),
        };
        Ok(Self {
            reading,
            tally: Tally::default(),
            condition,
            select: args.select.iter().map(|path| pointer(path).parse()).collect::<Result<_, _>>()?,
            flatten: args.flatten,
            fields,
            limit: args.limit,
            on_error: args.on_error.clone(),
            quarantine,
            unsaid: 0,
            notes_bad: true,
        })
    }

    /// Closes the quarantine, and says what was done.
    pub(super) fn finish(mut self) -> Result<Tally> {
        if let Some(quarantine) = &mut self.quarantine {
            quarantine.flush().context("writing the quarantine")?;
        }
        let mismatches = self.counts().1;
        Ok(Tally { mismatches, ..self.tally })
    }

    /// Runs over the inputs, or so many of their first records, to plan: nothing of it is noted.
    pub(super) fn quietly<T>(&mut self, records: Option<u64>, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = (self.tally.records, self.tally.bad, self.limit);
        let (_, mismatches) = self.counts();
        self.limit = records.or(self.limit);
        self.notes_bad = false;
        let done = run(self);
        self.notes_bad = true;
        (self.tally.records, self.tally.bad, self.limit) = before;
        self.unsaid += self.counts().1 - mismatches;
        done
    }

    /// Forgets what was noted: the inputs are read anew.
    pub(super) fn restart(&mut self) -> Result<()> {
        (self.tally.records, self.tally.bad, self.tally.first_bad) = (0, 0, None);
        self.unsaid += self.counts().1;
        if let Some(quarantine) = &mut self.quarantine {
            quarantine.flush()?;
            quarantine.get_mut().set_len(0)?;
            quarantine.rewind()?;
        }
        Ok(())
    }

    /// Sends all that an input has to `sink`, which is not finished and keeps so many threads busy.
    pub(super) fn send<S>(&mut self, input: &mut Opened, sink: &mut S, sink_threads: usize) -> Result<()>
    where
        S: Sink<Error: Into<Error>>,
    {
        let content = source::content(input, &self.reading)?;
        self.send_content(&input.name, content, sink, sink_threads)
    }

    fn send_content<S>(&mut self, name: &str, content: Content, sink: &mut S, sink_threads: usize) -> Result<()>
    where
        S: Sink<Error: Into<Error>>,
    {
        let reading = self.reading.clone();
        if threads() <= sink_threads {
            return content.read(&reading, |source| self.filter(name, source, sink));
        }
        let sent = event::pipe(sink, |pipe| content.read(&reading, |source| self.filter(name, source, pipe)));
        sent.map_err(|failure| match failure {
            Failure::Source(never) => match never {},
            Failure::Sink(error, place) => stopped(name, error, place),
        })?
    }

    /// The same for a sink that can be written in parts: by all threads, if the input falls into pieces.
    pub(super) fn share<S>(&mut self, input: &mut Opened, sink: &mut S) -> Result<()>
    where
        S: Parts<Error: Into<Error>>,
    {
        let threads = threads();
        if threads == 1 || self.limit.is_some() {
            return self.send(input, sink, 1);
        }
        let name = &input.name.clone();
        match source::content(input, &self.reading)? {
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

    /// One that does the same to each record, and stops at the first bad one.
    pub(super) fn apart(&self) -> Self {
        Self {
            reading: self.reading.clone(),
            tally: Tally::default(),
            condition: self.condition.clone(),
            select: self.select.clone(),
            flatten: self.flatten,
            fields: None,
            limit: None,
            on_error: OnError::Stop,
            quarantine: None,
            unsaid: 0,
            notes_bad: false,
        }
    }

    /// How many records were sent, and how many values a condition could not compare.
    pub(super) fn counts(&self) -> (u64, u64) {
        let mismatches = self.tally.mismatches + self.condition.as_ref().map_or(0, Where::mismatches);
        (self.tally.records, mismatches - self.unsaid)
    }

    /// Adds what another has done.
    pub(super) fn add(&mut self, records: u64, mismatches: u64) {
        self.tally.records += records;
        self.tally.mismatches += mismatches;
    }

    /// Filters stand only where they are asked for.
    pub(super) fn filter<S>(&mut self, name: &str, source: &mut AnySource<'_>, sink: &mut S) -> Result<()>
    where
        S: Sink,
        S::Error: Into<Error>,
    {
        let select = self.select.clone();
        match (select.is_empty(), self.flatten) {
            (true, false) => self.pump(name, source, sink),
            (true, true) => self.pump(name, source, &mut Flatten::new(sink)),
            (false, false) => self.pump(name, source, &mut Project::new(sink, select)),
            (false, true) => self.pump(name, source, &mut Project::new(Flatten::new(sink), select)),
        }
    }

    fn pump<S>(&mut self, name: &str, source: &mut AnySource<'_>, sink: &mut S) -> Result<()>
    where
        S: Sink,
        S::Error: Into<Error>,
    {
        while self.limit.is_none_or(|limit| self.tally.records < limit) {
            let sent = match &mut self.condition {
                Some(condition) => condition.send_record(source, sink),
                None => source.send_record(sink).map(|sent| sent.then_some(true)),
            };
            match sent {
                Ok(Some(sent)) => self.tally.records += u64::from(sent),
                Ok(None) => return Ok(()),
                Err(Failure::Sink(error, place)) => return Err(stopped(name, error, place)),
                Err(Failure::Source(error)) => {
                    let bad = if let OnError::Stop = self.on_error { None } else { source.recover(&error)? };
                    let Some(bad) = bad else { return Err(BadInput::of(name, error)) };
                    self.note(name, &bad)?;
                }
            }
        }
        Ok(())
    }

    fn note(&mut self, name: &str, bad: &Bad) -> Result<()> {
        self.tally.bad += 1;
        if !self.notes_bad {
            return Ok(());
        }
        self.tally.first_bad.get_or_insert_with(|| format!("{name}: {}", bad.words));
        let Some(quarantine) = &mut self.quarantine else { return Ok(()) };
        let raw = std::str::from_utf8(&bad.raw).ok();
        let line = Quarantined {
            file: name,
            line: bad.place.line,
            offset: bad.place.offset,
            kind: bad.kind,
            message: &bad.words,
            raw,
            base64: raw.is_none().then(|| jird::event::base64(&bad.raw)),
        };
        jird::to_writer(&mut *quarantine, &line)
            .and_then(|()| Ok(quarantine.write_all(b"\n")?))
            .context("writing the quarantine")
    }
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// A record that the target did not take.
fn stopped(name: &str, error: impl Into<Error>, place: Place) -> Error {
    error.into().context(format!("{name}: {place}"))
}

/// `a.b` as a pointer.
fn pointer(path: &str) -> String {
    path.split('.').fold(jird::Path::root(), jird::Path::key).to_string()
}

/// The keys at the top that `--select` names; none if that is everything.
pub(super) fn selected(args: &Args) -> Option<Vec<String>> {
    let top = |path: &String| path.split('.').next().filter(|key| *key != "*").map(str::to_owned);
    if args.select.is_empty() { None } else { args.select.iter().map(top).collect() }
}

/// An input that is not what it should be: exit code 1, where it is the data's fault.
struct BadInput;

impl BadInput {
    fn of(name: &str, error: Error) -> Error {
        let is_data = error.downcast_ref::<jird::Error>().is_some_and(|error| !error.is_io())
            || error.downcast_ref::<jird_formats::CsvError>().is_some_and(|error| error.kind().code() != "io");
        let words = format!("{name}: {}", crate::outcome::words(&error));
        if is_data { crate::outcome::BadData(words).into() } else { error.context(name.to_owned()) }
    }
}
