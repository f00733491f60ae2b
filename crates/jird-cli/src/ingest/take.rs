//! Taking files into a store, one after the other.

use super::checkpoints::Id;
use super::course::Course;
use super::future::FutureTally;
use super::lines::{Check, Prepared, Wrong, prepare};
use super::once::Once;
use super::tally::{End, Place, Tally};
use crate::input::{Counter, Input};
use crate::outcome::{BadData, Outcome, PASS_BY};
use anyhow::{Context, Result};
use jird::hooks::lines::drive;
use jird::hooks::lines::{StreamPiece, StreamPieces};
use jird_formats::files::{BadRecord, BadRecords, Reader, Text, record_limit_hint};
use jird_store::{Batch, EventError, Writer};
use std::ops::ControlFlow;

/// Takes files into a store.
pub(super) struct Take<'w> {
    pub(super) writer: &'w Writer,
    /// Whether each batch is on disk before the next one is appended.
    pub(super) waits: bool,
    /// All files of this run, if each is taken from the place on where an earlier run ended.
    pub(super) resumed: Option<Vec<Id>>,
    /// The keys of events that are taken only once.
    pub(super) once: Option<Once>,
    pub(super) bad: BadRecords,
    pub(super) check: Check<'w>,
    pub(super) threads: usize,
    pub(super) is_quiet: bool,
    pub(super) tally: Tally,
    pub(super) future: FutureTally,
    /// Whether the store takes no more.
    pub(super) is_broken: bool,
    /// Bytes of text that were taken.
    pub(super) bytes: u64,
}

/// A file that is taken.
pub(super) struct File {
    name: String,
    course: Course,
    end: End,
    /// Its number in the tally.
    number: usize,
}

/// Where a file is begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// At its beginning, whatever earlier runs took.
    Whole,
    /// Where an earlier run ended.
    Resumed,
    /// The same, or at its beginning if it is not what was taken.
    Watched,
    /// Where it was taken up to under any name; no other file counts, whatever it holds.
    Appeared,
}

impl File {
    /// Its number in the tally.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// The last bytes of its text that were taken.
    pub(super) fn last_bytes(&self) -> &[u8] {
        self.course.last_bytes()
    }

    /// How many bytes of its text were taken, by all runs.
    pub(super) fn bytes(&self) -> u64 {
        self.course.place().bytes
    }
}

impl Take<'_> {
    /// Takes a file.
    pub(super) fn file(&mut self, input: &Input, read: &Counter) -> Result<Outcome> {
        if self.is_broken {
            self.tally.begin(input.name(), Id::of(input).is_some(), Place::default());
            return Ok(Outcome::Failed);
        }
        let start = if self.resumed.is_some() { Start::Resumed } else { Start::Whole };
        let (mut file, reader) = self.begin(input.name(), Id::of(input), start, &|| input.open(read), None)?;
        self.rest(&mut file, reader, input.is_live())?;
        Ok(Outcome::Fine)
    }

    /// Begins with a file. Also returns what is to be taken of it. `number` is that of the file in the tally, if it has one.
    pub(super) fn begin(
        &mut self,
        name: String,
        id: Option<Id>,
        start: Start,
        open: &dyn Fn() -> Result<Text>,
        number: Option<usize>,
    ) -> Result<(File, Reader)> {
        let is_file = id.is_some();
        let open = || -> Result<Reader> {
            let text = open()?;
            match text.encoding() {
                Some(encoding) => Err(BadData(format!("{name}: {encoding}")).into()),
                None => Ok(text.blank_mark().into_reader()),
            }
        };
        let sources = self.writer.sources();
        let others = self.resumed.as_deref().unwrap_or_default();
        let (course, reader) = match (start, id) {
            (Start::Appeared, Some(id)) => Course::of_file(&open, id, &sources).with_context(|| name.clone())?,
            (Start::Resumed | Start::Watched, Some(id)) => {
                let takes_changed = start == Start::Watched;
                Course::resumed(&open, id, others, takes_changed, &sources).with_context(|| name.clone())?
            }
            (_, id) => (Course::whole(id, &sources), open()?),
        };
        let number = number.unwrap_or_else(|| self.tally.begin(name.clone(), is_file, course.place()));
        Ok((File { name, course, end: End::Short, number }, reader))
    }

    /// Puts into the store how far a file was taken, if it is known by what it holds: a copy is a file of its own from now on.
    pub(super) fn note_place(&mut self, file: &File) -> Result<()> {
        if file.bytes() > 0 { self.take(Batch::default(), file) } else { Ok(()) }
    }

    /// Takes what follows in a file.
    pub(super) fn rest(&mut self, file: &mut File, reader: Reader, is_live: bool) -> Result<()> {
        file.end = End::Whole;
        self.tally.ended(file.number, End::Short);
        let pieces = StreamPieces::new(reader, self.check.record_limit);
        let mut pieces = if is_live { pieces.live() } else { pieces };
        loop {
            self.pieces(file, &mut pieces)?;
            let mut long = file.course.clone();
            let passed = pieces.skip_long_line_with(&mut |bytes| long.advance(bytes, 0));
            if passed.with_context(|| file.name.clone())?.is_none() {
                break;
            }
            if self.check.grows && long.is_in_line() {
                file.end = End::OpenLine;
                break;
            }
            self.note(&file.name, file.course.place(), &Wrong::too_long())?;
            file.course = long;
            self.take(Batch::default(), file)?;
        }
        self.tally.ended(file.number, file.end);
        Ok(())
    }

    /// Takes what was appended to a file since, which is open. `from` is at the byte after the last one that was taken.
    pub(super) fn appended(&mut self, file: &mut File, from: Reader) -> Result<()> {
        let from = file.course.line_end(from).with_context(|| file.name.clone())?;
        self.rest(file, from, false)
    }

    /// Takes the events of all pieces in order.
    fn pieces(
        &mut self,
        file: &mut File,
        pieces: &mut (impl Iterator<Item = std::io::Result<StreamPiece>> + Send),
    ) -> Result<()> {
        let (check, threads) = (self.check, self.threads);
        let work = |(): &mut (), piece: std::io::Result<StreamPiece>| (piece.map(|piece| prepare(piece, &check)), 0);
        let mut result = Ok(());
        drive(
            pieces.map(|piece| (0, piece)),
            threads,
            || (),
            work,
            |prepared, _| {
                result = match prepared {
                    Ok(prepared) => self.piece(file, prepared),
                    Err(error) => Err(error).with_context(|| file.name.clone()),
                };
                if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            },
        );
        result
    }

    fn piece(&mut self, file: &mut File, prepared: Prepared) -> Result<()> {
        let start = file.course.place();
        if prepared.is_array && start.bytes == 0 {
            let (name, line) = (&file.name, prepared.first_line());
            let hint = "jird convert FILE - --to ndjson | jird ingest STORE";
            let message = "an array begins here and does not end on its line, but each line must be an event; if the text is one array, try";
            return Err(BadData(format!("{name}:{line}: {message}: {hint}")).into());
        }
        let Prepared { piece, mut batch, wrong, end, .. } = prepared;
        // A bad line that does not end the work is set aside before the lines after it are taken: a run that is ended here
        // sets it aside twice, and not never.
        if !self.check.stops {
            wrong.iter().try_for_each(|wrong| self.note(&file.name, start, wrong))?;
        }
        if let Some(once) = &mut self.once {
            once.filter(&mut batch)?;
        }
        if end > 0 {
            self.future.note(batch.times());
            file.course.advance(&piece[..end], batch.events());
            self.take(batch, file)?;
            self.bytes += end as u64;
        }
        match wrong.first() {
            Some(wrong) if self.check.stops => return self.note(&file.name, start, wrong),
            _ if !piece[end..].trim_ascii().is_empty() => file.end = End::OpenLine,
            _ => {}
        }
        Ok(())
    }

    /// Puts events into the store, and with them how far their file was taken.
    fn take(&mut self, batch: Batch, file: &File) -> Result<()> {
        let course = &file.course;
        let taken = self.tally.take(file.number, batch.events(), course.place(), || match course.checkpoint() {
            Some(checkpoint) => self.writer.append_from(batch, &checkpoint),
            None => self.writer.append(batch),
        });
        let durable = taken.and_then(|ticket| if self.waits { self.writer.commit(ticket) } else { Ok(()) });
        self.is_broken = durable.is_err();
        durable.map_err(Into::into)
    }

    /// Sets a bad line aside, or fails with it. Its piece begins at a place.
    fn note(&mut self, name: &str, start: Place, wrong: &Wrong) -> Result<()> {
        let (line, offset) = (start.lines + wrong.line, start.bytes + wrong.offset as u64);
        let (line, column, kind, message) = match &wrong.fault {
            EventError::Json(error) => {
                let kind = error.kind();
                let is_long = kind == jird::ErrorKind::Size;
                let hint = if is_long { record_limit_hint(self.check.record_limit) } else { String::new() };
                let located = error.locate(&wrong.raw).after_lines(line, offset);
                (located.line(), located.column(), error.code(), format!("{kind}{hint} {}", located.place()))
            }
            late @ EventError::Late { .. } => {
                let message = format!("{late} (byte {offset}, at {})", self.check.settings.time_field);
                (line + 1, 1, "future", message)
            }
        };
        if self.check.stops {
            return Err(BadData(format!("{name}:{line}:{column}: {message}{PASS_BY}")).into());
        }
        let place = jird::event::Place { line, offset, record: 0 };
        let bad = BadRecord { file: name, place, kind, message: &message, raw: &wrong.raw };
        self.bad.note(&bad).context("writing the quarantine")
    }
}
