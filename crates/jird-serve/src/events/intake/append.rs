//! The thread that appends.

use jird_store::{Batch, Error, Ticket, Totals, Writer};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;

/// Batches below this size are appended together, up to this size; the text of a larger one is not copied.
const JOINED_BYTES: usize = 256 << 10;
/// The most bytes that are appended before the waiting requests are told.
const GROUP_BYTES: usize = 4 << 20;

/// What the thread is told to do.
pub(super) enum Job {
    /// Append a batch, and say when it is durable.
    Append(Batch, AppendReply),
    /// Put all that is in logs into spans, and say so.
    Seal(AppendReply),
    /// Nothing more comes.
    End,
}

pub(super) type AppendReply = oneshot::Sender<Result<(), Error>>;

/// Appends what comes until it is told to end.
pub(super) fn append_all(writer: Writer, mut jobs: UnboundedReceiver<Job>) -> Result<Totals, Error> {
    while let Some(job) = jobs.blocking_recv() {
        let (batch, done) = match job {
            Job::Append(batch, done) => (batch, done),
            Job::Seal(done) => {
                let _ = done.send(writer.seal());
                continue;
            }
            Job::End => break,
        };
        let mut group =
            Group { writer: &writer, joined: Batch::default(), joining: vec![], appended: vec![], bytes: 0 };
        group.add(batch, done);
        let (mut sealed, mut is_end) = (None, false);
        while group.bytes < GROUP_BYTES
            && let Ok(job) = jobs.try_recv()
        {
            match job {
                Job::Append(batch, done) => group.add(batch, done),
                Job::Seal(done) => {
                    sealed = Some(done);
                    break;
                }
                Job::End => {
                    is_end = true;
                    break;
                }
            }
        }
        group.finish();
        if let Some(done) = sealed {
            let _ = done.send(writer.seal());
        }
        if is_end {
            break;
        }
    }
    drop(jobs);
    writer.finish_sealed()
}

/// Batches that become durable together.
struct Group<'w> {
    writer: &'w Writer,
    /// Small ones that are not appended yet, and the requests that wait for them.
    joined: Batch,
    joining: Vec<AppendReply>,
    appended: Vec<(AppendReply, Result<Ticket, Error>)>,
    bytes: usize,
}

impl Group<'_> {
    fn add(&mut self, batch: Batch, done: AppendReply) {
        let len = batch.text().len();
        self.bytes += len;
        if self.joined.text().len() + len > JOINED_BYTES {
            self.append();
        }
        if self.joined.is_empty() {
            self.joined = batch;
        } else {
            self.joined.join(&batch);
        }
        self.joining.push(done);
    }

    fn append(&mut self) {
        if self.joining.is_empty() {
            return;
        }
        let ticket = self.writer.append(std::mem::take(&mut self.joined));
        self.appended.extend(self.joining.drain(..).map(|done| (done, ticket.clone())));
    }

    fn finish(mut self) {
        self.append();
        let last = self.appended.iter().filter_map(|(_, ticket)| ticket.as_ref().ok()).max();
        let committed = last.map_or(Ok(()), |ticket| self.writer.commit(*ticket));
        for (done, ticket) in self.appended {
            // The client may have given up; its events are kept anyway.
            let _ = done.send(ticket.and_then(|_| committed.clone()));
        }
    }
}
