//! What came of a body: events, and what was refused.

use crate::base::problem::Problem;
use crate::base::settings::Limits;
use crate::events::intake::RefusedEvent;
use hyper::StatusCode;
use jird::hooks::{ObjectWriter, write_object};
use jird_store::{Batch, BatchBuilder, EventError};
use std::io::Write as _;

/// The most refused events of one body that are named and set aside. Others are counted.
const NAMED_MAX: usize = 10_000;
/// The most events of one body.
const EVENTS_MAX: u64 = 1_000_000;
/// How much longer than a body its events may be: what stands in it once may be in each of them.
const GROWTH_MAX: usize = 4;

/// What came of a body.
#[derive(Debug, Default)]
pub(super) struct BodyOutcome<'b> {
    pub(super) batch: Batch,
    pub(super) refused: Vec<RefusedEvent<'b>>,
    /// Refused events that are only counted.
    pub(super) more: u64,
    /// What the answer says of each event, for clients that want that.
    pub(super) items: Vec<u8>,
    /// How many of these are errors.
    pub(super) errors: u64,
    /// How long it took to read them.
    pub(super) millis: u64,
}

impl<'b> BodyOutcome<'b> {
    /// Whether there is room for another event of a body, of which this many bytes were written so far. What was refused has
    /// taken its time, too.
    ///
    /// # Errors
    /// 413.
    pub(super) fn check_room(
        &self,
        builder: &BatchBuilder<'_>,
        written: usize,
        limits: &Limits,
    ) -> Result<(), Problem> {
        let too_large = |detail| Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail));
        if builder.events() + self.refused_count() >= EVENTS_MAX {
            return too_large(format!("a body has at most {EVENTS_MAX} events here"));
        }
        let bytes_max = limits.body_bytes.saturating_mul(GROWTH_MAX);
        if builder.bytes().max(written) > bytes_max {
            return too_large(format!("the events of a body have at most {bytes_max} bytes here"));
        }
        Ok(())
    }

    /// Notes an event that is refused.
    pub(super) fn refuse(&mut self, refused: impl FnOnce() -> RefusedEvent<'b>) {
        if self.refused.len() < NAMED_MAX {
            self.refused.push(refused());
        } else {
            self.more += 1;
        }
    }

    /// How many events were refused.
    pub(super) fn refused_count(&self) -> u64 {
        self.refused.len() as u64 + self.more
    }

    /// `{"events":2}`, with the errors if there are some.
    pub(super) fn counted(&self) -> Vec<u8> {
        let mut text = Vec::new();
        write_object(&mut text, |object| {
            object.member("events", self.batch.events());
            self.write_errors(object);
        });
        text.push(b'\n');
        text
    }

    /// `"refused":1,"errors":[…]`
    pub(super) fn write_errors(&self, out: &mut ObjectWriter<'_>) {
        if self.refused.is_empty() {
            return;
        }
        out.member("refused", self.refused_count());
        // Each error is on a line of its own.
        out.with("errors", |text| {
            for (number, refused) in self.refused.iter().enumerate() {
                text.extend_from_slice(if number == 0 { b"[\n" } else { b",\n" });
                write_object(text, |object| write_refused(refused, object));
            }
            text.push(b']');
        });
    }
}

/// Takes events that are written here, one after the other, from what a body says.
pub(super) struct Writing<'b, 'r, 'p> {
    builder: &'r mut BatchBuilder<'p>,
    limits: &'r Limits,
    pub(super) taken: BodyOutcome<'b>,
    text: Vec<u8>,
    /// The bytes of all events, those that were refused included.
    written: usize,
    index: u64,
}

impl<'b, 'r, 'p> Writing<'b, 'r, 'p> {
    pub(super) fn new(builder: &'r mut BatchBuilder<'p>, limits: &'r Limits) -> Self {
        Self { builder, limits, taken: BodyOutcome::default(), text: Vec::new(), written: 0, index: 0 }
    }

    /// Adds the event that `write` writes, or refuses it. `raw` is what the body says of it, and begins at an offset there.
    ///
    /// # Errors
    /// 413 if the body has more events than are allowed.
    pub(super) fn add(
        &mut self,
        kind: &'static str,
        (raw, offset): (&'b [u8], usize),
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), &'static str>,
    ) -> Result<(), Problem> {
        self.taken.check_room(self.builder, self.written, self.limits)?;
        self.text.clear();
        let added = write(&mut self.text)
            .map_err(str::to_owned)
            .and_then(|()| self.builder.add(&self.text).map_err(|error| error.reason()));
        self.written = self.written.saturating_add(self.text.len());
        let (index, offset) = (self.index, offset as u64);
        self.index += 1;
        if let Err(message) = added {
            self.taken.refuse(|| RefusedEvent { index, line: 0, offset, raw, kind, message, column: 0 });
        }
        Ok(())
    }
}

/// Makes a batch of the events of a body, of about `bytes` bytes: `work` adds them, within the limit for their times.
pub(super) fn build<R>(
    settings: &jird_store::Settings,
    limits: &Limits,
    bytes: usize,
    work: impl FnOnce(&mut BatchBuilder<'_>) -> R,
) -> (Batch, R) {
    Batch::build(settings, bytes, |builder| {
        builder.limit_future(limits.future);
        work(builder)
    })
}

/// Where an event that was refused is in its body, and what is wrong with it.
fn write_refused(refused: &RefusedEvent<'_>, out: &mut ObjectWriter<'_>) {
    match refused {
        RefusedEvent { line: 0, index, offset, .. } => {
            out.member("index", *index);
            out.member("offset", *offset);
        }
        RefusedEvent { line, column, offset, .. } => {
            out.member("line", *line);
            out.member("column", *column);
            out.member("offset", *offset);
        }
    }
    out.member("kind", refused.kind);
    out.member("detail", &refused.message);
}

/// An event that is not taken. `raw` begins at `offset` in the body, on this line.
#[cold]
pub(super) fn not_taken<'b>(
    error: &EventError,
    raw: &'b [u8],
    index: u64,
    line: u64,
    offset: usize,
) -> RefusedEvent<'b> {
    match error {
        EventError::Json(error) => malformed(error, raw, index, line, offset),
        EventError::Late { .. } => late(error, raw, index, line, offset),
    }
}

/// An event whose time is too late.
pub(super) fn late<'b>(error: &EventError, raw: &'b [u8], index: u64, line: u64, offset: usize) -> RefusedEvent<'b> {
    RefusedEvent { index, line, offset: offset as u64, raw, kind: "future", message: error.to_string(), column: 1 }
}

/// An event that is no JSON. `raw` begins at `offset` in the body, on this line.
#[cold]
pub(super) fn malformed<'b>(
    error: &jird::Error,
    raw: &'b [u8],
    index: u64,
    line: u64,
    offset: usize,
) -> RefusedEvent<'b> {
    let located = error.locate(raw).after_lines(line.saturating_sub(1), offset as u64);
    RefusedEvent {
        index,
        line,
        offset: offset as u64,
        raw,
        kind: error.code(),
        message: format!("{} {}", error.kind(), located.place()),
        column: located.column(),
    }
}

pub(super) fn write(text: &mut Vec<u8>, arguments: std::fmt::Arguments<'_>) {
    text.write_fmt(arguments).expect("a `Vec` takes everything");
}
