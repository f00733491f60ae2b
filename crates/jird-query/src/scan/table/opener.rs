//! The file opener: a scan as DataFusion starts it.
//!
//! DataFusion pulls batches, one partition at a time. If the results may come in any order, it cuts the files itself,
//! and each partition is one part. A scan pushes, on a thread of a [crew](jird_formats::Crew), into a short channel. So
//! DataFusion's threads never wait for a disk. Dropping the stream closes the channel, which stops the scan.

use super::handle::FileHandle;
use crate::base::error::Error;
use crate::scan::batches::{Part, Plan};
use datafusion::error::Result;
use datafusion_datasource::PartitionedFile;
use datafusion_datasource::file_stream::{FileOpenFuture, FileOpener};
use futures::StreamExt;
use jird_formats::caught;
use std::sync::Arc;
use std::task::Poll;
use tokio::sync::mpsc::channel;

/// The maximum number of batches that wait for DataFusion.
const WAITING: usize = 4;

/// Our [`FileOpener`].
#[derive(Debug)]
pub(crate) struct NdjsonOpener {
    plan: Arc<Plan>,
}

impl NdjsonOpener {
    pub(crate) fn new(plan: Plan) -> Self {
        Self { plan: Arc::new(plan) }
    }
}

impl FileOpener for NdjsonOpener {
    fn open(&self, partitioned: PartitionedFile) -> Result<FileOpenFuture> {
        let plan = Arc::clone(&self.plan);
        let Some(handle) = partitioned.extension::<FileHandle>() else {
            return Err(Error::sql("a file that jird did not open").into());
        };
        let file = handle.open()?;
        let range = file.size.map(|_| {
            let (start, end) = partitioned.range();
            start..end
        });
        let source = Arc::clone(&file);
        let (sink, notes, crew) = (plan.bad().cloned(), plan.notes(), plan.crew());
        let range_start = range.as_ref().map_or(0, |range| range.start);
        Ok(Box::pin(async move {
            let (sender, mut receiver) = channel(WAITING);
            crew.run("jird-scan", move || {
                // Without its error, what was scanned before would be taken for all.
                if let Err(words) = caught(|| plan.run(&file, range, &sender)) {
                    let message = format!("the scan failed in a way that is a bug: {words}");
                    let _ = sender.blocking_send(Err(Error::internal(message)));
                }
            })
            .map_err(|error| Error::sql(format!("cannot start a thread: {error}")))?;
            let stream = futures::stream::poll_fn(move |context| {
                loop {
                    match std::task::ready!(receiver.poll_recv(context)) {
                        None => return Poll::Ready(None),
                        Some(Ok(Part::Batch(batch))) => return Poll::Ready(Some(Ok(batch))),
                        Some(Err(error)) => return Poll::Ready(Some(Err(error.into()))),
                        // Here, pieces arrive in the order of the files, however many files are open.
                        Some(Ok(Part::Found(found))) => {
                            if let Some(sink) = &sink
                                && let Err(error) = sink.note(&source, range_start, found, notes)
                            {
                                return Poll::Ready(Some(Err(error.into())));
                            }
                        }
                    }
                }
            });
            Ok(stream.boxed())
        }))
    }
}
