//! Writes a result, batch by batch, while it is computed.
//!
//! In go batches as they come; out goes their text or their file. What must hold: rows from a pipe are not held back while
//! nothing follows, and no row goes out before the gate lets it.

use crate::base::bytes::{batch_bytes, pieces};
use crate::base::error::Error;
use crate::base::threads::Threads;
use crate::output::report::Report;
use crate::output::{Parted, WriteError, Writer, parted_writer, with_nulls, without_infinities, writer};
use crate::run::bounds::Bounds;
use crate::sql::Rewritten;
use crate::types::guess::Gate;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use futures::future::{Either, select};
use std::future::Future;
use std::io::Write;
use std::pin::pin;
use std::time::Duration;

/// Results are written in pieces of about this many bytes.
const PIECE_BYTES: usize = 16 << 20;

/// Rows from a pipe are held back this long, in case others follow.
const PATIENCE: Duration = Duration::from_millis(100);

/// How a result is written.
pub(crate) struct Results<'q> {
    pub(crate) bounds: Bounds<'q>,
    /// What waits for the batches.
    pub(crate) threads: &'q Threads,
    /// Whether an input can be read only once, such as a pipe.
    pub(crate) is_live: bool,
    /// What holds rows back.
    pub(crate) gate: &'q Gate<'q>,
}

impl Results<'_> {
    /// Waits for something, unless the query ends early.
    pub(crate) fn wait<F: Future>(&self, wanted: F) -> Result<F::Output, Error> {
        self.threads.wait(async {
            match select(pin!(self.bounds.interrupt.wait()), pin!(wanted)).await {
                Either::Left((error, _)) => Err(error),
                Either::Right((found, _)) => Ok(found),
            }
        })
    }

    /// Writes the batches of a rewritten query. Nothing waits on the threads of the query: `out` may take its time. `room`
    /// fails if there is not so much memory for a batch.
    pub(crate) fn write(
        &self,
        mut writer: Box<dyn Writer>,
        schema: &SchemaRef,
        mut next: impl AsyncFnMut() -> Option<Result<RecordBatch, Error>>,
        room: impl Fn(usize) -> Result<(), Error>,
        out: &mut dyn Write,
        report: &mut Report,
    ) -> Result<(), Error> {
        let failed = |error| match error {
            WriteError::Arrow(error) => Error::of_arrow(&error),
            WriteError::Format(words) => Error::data(format!("cannot write the result: {words}")),
            WriteError::Io(error) => Error::output(&error),
        };
        writer.begin(&with_nulls(schema)).map_err(failed)?;
        let mut text = Vec::new();
        while self.bounds.options.limit.is_none_or(|limit| report.rows < limit) {
            let batch = if self.is_live && writer.holds_back() {
                // The timer is made where there is a clock.
                let Ok(batch) = self.wait(async { tokio::time::timeout(PATIENCE, next()).await })? else {
                    writer.pause(&mut text);
                    out.write_all(&text).and_then(|()| out.flush()).map_err(|error| Error::output(&error))?;
                    text.clear();
                    continue;
                };
                batch
            } else {
                self.wait(next())?
            };
            let Some(batch) = batch else { break };
            let batch = batch?;
            self.gate.open()?;
            let batch = without_infinities(&batch, &mut report.infinite).map_err(|error| Error::of_arrow(&error))?;
            let left = self.bounds.options.limit.map_or(u64::MAX, |limit| limit - report.rows);
            let batch = batch.slice(0, usize::try_from(left).unwrap_or(usize::MAX).min(batch.num_rows()));
            report.rows += batch.num_rows() as u64;
            if let Some(rows_max) = self.bounds.options.rows_max.filter(|rows_max| report.rows > *rows_max) {
                return Err(Error::rows(rows_max));
            }
            for piece in pieces(&batch, PIECE_BYTES) {
                let bytes = batch_bytes(&piece);
                room(bytes).map_err(|_| Error::too_large("a row of the result", bytes))?;
                writer.batch(&piece, &mut text).map_err(failed)?;
                out.write_all(&text).map_err(|error| Error::output(&error))?;
                text.clear();
            }
            if self.is_live {
                out.flush().map_err(|error| Error::output(&error))?;
            }
        }
        self.gate.open()?;
        writer.finish(&mut text).map_err(failed)?;
        out.write_all(&text).and_then(|()| out.flush()).map_err(|error| Error::output(&error))
    }

    /// The writer of the result of a rewritten query, which may have parts.
    pub(crate) fn writer(&self, rewritten: &Rewritten, parted: Option<&Parted>) -> Box<dyn Writer> {
        let (format, columns) = (self.bounds.options.format, rewritten.outputs.clone());
        match parted {
            Some(parted) => parted_writer(format, columns, parted),
            None => writer(format, columns, &rewritten.apart, self.bounds.options.width),
        }
    }
}

/// Writes a text as the result.
pub(crate) fn write_text(text: &str, out: &mut dyn Write) -> Result<(), Error> {
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| Error::output(&error))
}
