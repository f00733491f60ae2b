//! What queries in SQL share: threads, and places for so many at a time.

use crate::error::Error;
use crate::problem::Problem;
use crate::settings::Limits;
use jird_query::Pool;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What queries share.
pub(crate) struct Queries {
    pub(crate) pool: Pool,
    places: Arc<Semaphore>,
    places_max: usize,
    pub(crate) memory_max: usize,
}

impl Queries {
    pub(crate) fn new(limits: &Limits) -> Result<Self, Error> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            pool: Pool::new(threads).map_err(|error| Error::because("starting threads", error))?,
            places: Arc::new(Semaphore::new(limits.queries)),
            places_max: limits.queries,
            memory_max: limits.query_bytes,
        })
    }

    /// A place for a query.
    pub(crate) fn place(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        place.map_err(|_| Problem::busy("there are as many queries as this server allows"))
    }

    /// The number of queries that run.
    pub(crate) fn running(&self) -> usize {
        self.places_max - self.places.available_permits()
    }
}
