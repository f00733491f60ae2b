//! A query and its process, from the order to the last byte of the answer.

use crate::base::problem::Problem;
use crate::cache::readers::RowCounts;
use crate::http::body::GiveUp;
use crate::queries::message::{Failure, Order, ProcessMessage};
use crate::queries::pool::{Ending, Process, Queries};
use crate::request::rows::{CHUNK, Out, Stop};
use crate::tables::database::Opened;
use crate::tables::stream::Long;
use hyper::StatusCode;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::OwnedSemaphorePermit;

/// Whether the answer is still wanted, and what ends the process that makes it.
enum Demand {
    Yes(Option<Arc<Ending>>),
    No,
}

/// Runs a query on a thread of its own, whose answer goes there. The result ends it, when it is dropped.
pub(crate) fn answer(
    queries: Arc<Queries>,
    order: Order,
    place: OwnedSemaphorePermit,
    database: Option<Arc<Opened>>,
    time: Duration,
    mut out: Long,
) -> io::Result<GiveUp> {
    let wanted = Arc::new(Mutex::new(Demand::Yes(None)));
    let given_up = Arc::clone(&wanted);
    jird_formats::apart("query", None, move || {
        // The process has a connection of its own.
        let user = database.as_ref().map(|database| database.readers.user());
        let mut made = make(&queries, &order, time, &wanted, &mut out);
        drop((user, place));
        if made.is_ok()
            && let Some(Err(problem)) = database.map(|database| database.check())
        {
            made = Err(problem.into());
        }
        out.finish(made);
    })?;
    Ok(GiveUp::new(move || {
        let before = std::mem::replace(&mut *given_up.lock().unwrap_or_else(PoisonError::into_inner), Demand::No);
        if let Demand::Yes(Some(ending)) = before {
            ending.kill();
        }
    }))
}

fn make(
    queries: &Queries,
    order: &Order,
    time: Duration,
    wanted: &Mutex<Demand>,
    out: &mut Long,
) -> Result<RowCounts, Stop> {
    let mut process = begin(queries, order)?;
    if let Demand::Yes(ending) = &mut *wanted.lock().unwrap_or_else(PoisonError::into_inner) {
        *ending = Some(process.ending());
    } else {
        return Err(Stop::Gone);
    }
    let is_wanted = || matches!(*wanted.lock().unwrap_or_else(PoisonError::into_inner), Demand::Yes(_));
    // The time of the query is that of its process. A client may take longer.
    let mut rest = time;
    let (mut whole, mut failed) = (None, None);
    loop {
        let waiting = Instant::now();
        let told = process.next(rest);
        rest = rest.saturating_sub(waiting.elapsed());
        match told {
            Ok(Some(ProcessMessage::Part(bytes))) => {
                out.text().extend_from_slice(&bytes);
                if out.text().len() >= CHUNK {
                    out.full()?;
                }
            }
            Ok(Some(ProcessMessage::Whole { rows })) => whole = Some(rows),
            Ok(Some(ProcessMessage::Failed(failure))) => failed = Some(failure),
            Ok(Some(ProcessMessage::Begun)) => {}
            // What it has told before is all.
            Ok(Some(ProcessMessage::Ready)) => {
                let is_good = !failed.as_ref().is_some_and(Failure::is_internal);
                if is_over(wanted) && is_good {
                    queries.give(process);
                }
                break;
            }
            Ok(None) => return Err(Problem::busy("the query took longer than this server allows").into()),
            Err(_) if !is_wanted() => return Err(Stop::Gone),
            // Threads of the query went on, and the process has ended with them.
            Err(_) if whole.is_some() || failed.is_some() => break,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, format!("the query: {error}")).into());
            }
            // The system has killed it, or it has given up without memory.
            Err(_) => return Err(Problem::busy(super::MEMORY).into()),
        }
    }
    match (whole, failed) {
        (_, Some(failure)) => Err(failure.problem().into()),
        (Some(rows), None) => Ok(RowCounts { rows, total: None }),
        (None, None) => Err(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the query came to no end").into()),
    }
}

/// A process that has the query. One that waited may have ended meanwhile.
fn begin(queries: &Queries, order: &Order) -> Result<Process, Stop> {
    const TRIES: usize = 3;
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for _ in 0..TRIES {
        match queries.take().and_then(|mut process| process.order(order).map(|()| process)) {
            Ok(process) => return Ok(process),
            Err(error) => last = error,
        }
    }
    Err(Problem::busy(format!("the query process did not start: {last}")).into())
}

/// Whether the process may go on to another query: it is not killed for this one any more.
fn is_over(wanted: &Mutex<Demand>) -> bool {
    match &mut *wanted.lock().unwrap_or_else(PoisonError::into_inner) {
        Demand::Yes(ending) => {
            *ending = None;
            true
        }
        Demand::No => false,
    }
}
