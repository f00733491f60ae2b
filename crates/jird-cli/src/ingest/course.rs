//! The course of taking a file: where it begins, and how far it has come.

use super::checkpoints::{Checkpoints, Id};
use super::tally::Place;
use crate::outcome::report as say;
use anyhow::{Result, bail};
use jird_formats::files::Reader;
use jird_store::{Checkpoint, Prefix, Sources};
use std::io::{Cursor, Read};

/// How far a file was taken.
#[derive(Clone)]
pub(super) struct Course {
    /// What was read of it, by all runs, up to the last event that was taken.
    prefix: Prefix,
    /// The source; `None` for what cannot be read twice.
    source: Option<Source>,
}

#[derive(Clone)]
struct Source {
    number: u64,
    id: Id,
    /// The events that were taken of it, by all runs.
    events: u64,
    /// Whether all of it is taken, whatever earlier runs took.
    takes_all: bool,
}

impl Course {
    /// The whole of an input.
    pub(super) fn whole(id: Option<Id>, sources: &Sources) -> Self {
        let source = id.map(|id| Source { number: sources.next(), id, events: 0, takes_all: true });
        Self { prefix: Prefix::default(), source }
    }

    /// Goes on where an earlier run ended. Reads what that run read, and compares it. Also returns the rest. `others`
    /// are the files that this run takes besides. A file that is not what was taken is refused, or taken whole with a note.
    ///
    /// # Errors
    /// The file is not what was taken, so that what is new in it cannot be known; also those of reading.
    pub(super) fn resumed(
        open: &dyn Fn() -> Result<Reader>,
        id: Id,
        others: &[Id],
        takes_changed: bool,
        sources: &Sources,
    ) -> Result<(Self, Reader)> {
        let mut found = Checkpoints::search(open, &id, sources)?;
        let Some((known, prefix)) = found.take_best(&id, others) else {
            found.refuse_changed(&id, takes_changed, sources)?;
            let source = Source { number: sources.next(), id, events: 0, takes_all: false };
            return Ok((Self { prefix: Prefix::default(), source: Some(source) }, open()?));
        };
        if known.name != id.name {
            say(&format!("note: {}: goes on where {} ended, under which name it was taken", id.name, known.name));
        }
        Self::after(found, &known, prefix, id, open)
    }

    /// Goes on where this file was taken up to, under any name. Another file is taken whole, even if it begins as one that
    /// was taken, unless it is a copy of one that had another name.
    pub(super) fn of_file(open: &dyn Fn() -> Result<Reader>, id: Id, sources: &Sources) -> Result<(Self, Reader)> {
        let mut found = Checkpoints::search(open, &id, sources)?;
        if let Some((known, prefix)) = found.take_own(&id) {
            return Self::after(found, &known, prefix, id, open);
        }
        if let Some((known, prefix)) = found.take_other(&id) {
            // A copy, as `copytruncate` makes one, has nothing else.
            if let Ok((mut course, mut reader)) = Self::after(found, &known, prefix, id.clone(), open)
                && reader.read(&mut [0])? == 0
            {
                course.source.iter_mut().for_each(|source| source.number = sources.next());
                return Ok((course, reader));
            }
        }
        let source = Source { number: sources.next(), id, events: 0, takes_all: false };
        Ok((Self { prefix: Prefix::default(), source: Some(source) }, open()?))
    }

    fn after(
        found: Checkpoints,
        known: &Checkpoint,
        prefix: Prefix,
        id: Id,
        open: &dyn Fn() -> Result<Reader>,
    ) -> Result<(Self, Reader)> {
        let reader = found.after(known.prefix.bytes, open)?;
        let source = Source { number: known.source, id, events: known.events, takes_all: false };
        let course = Self { prefix, source: Some(source) };
        let reader = course.line_end(reader)?;
        Ok((course, reader))
    }

    /// Looks at the rest of a line that had no line feed when it was taken. Only blanks may follow.
    pub(super) fn line_end(&self, mut reader: Reader) -> Result<Reader> {
        if !self.is_in_line() {
            return Ok(reader);
        }
        let mut read = Vec::new();
        loop {
            let (start, mut byte) = (read.len(), [0]);
            if reader.read(&mut byte)? == 0 || byte[0] == b'\n' {
                read.extend_from_slice(&byte[..usize::from(byte[0] == b'\n')]);
                return Ok(Box::new(Cursor::new(read).chain(reader)));
            }
            read.push(byte[0]);
            if !byte[0].is_ascii_whitespace() || start > 4096 {
                let Place { bytes, lines } = self.place();
                bail!(
                    "line {} was taken as it was without its line feed, and has grown since; what follows byte {bytes} was not taken",
                    lines + 1,
                );
            }
        }
    }

    /// Whether a line has begun and not ended.
    pub(super) fn is_in_line(&self) -> bool {
        self.prefix.is_in_line()
    }

    /// Notes that bytes were read, and events taken of them.
    pub(super) fn advance(&mut self, bytes: &[u8], events: u64) {
        self.prefix.add(bytes);
        if let Some(source) = &mut self.source {
            source.events += events;
        }
    }

    /// What is put into the store with the events; `None` if nothing was read, or cannot be read twice.
    pub(super) fn checkpoint(&self) -> Option<Checkpoint> {
        let prefix = self.prefix.sums();
        let Source { number, id, events, takes_all } = self.source.as_ref().filter(|_| prefix.bytes > 0)?;
        Some(Checkpoint {
            source: *number,
            name: id.name.clone(),
            file: id.file,
            events: *events,
            takes_all: *takes_all,
            prefix,
        })
    }

    /// The last bytes that were taken.
    pub(super) fn last_bytes(&self) -> &[u8] {
        self.prefix.last_bytes()
    }

    /// Up to where it was taken.
    pub(super) fn place(&self) -> Place {
        Place { bytes: self.prefix.bytes(), lines: self.prefix.lines() }
    }
}
