//! What SQL queries share: a limited number of places.

use crate::base::problem::Problem;
use crate::base::settings::Limits;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What queries share.
pub(crate) struct Queries {
    places: Arc<Semaphore>,
    places_max: usize,
    pub(crate) memory_max: usize,
}

impl Queries {
    pub(crate) fn new(limits: &Limits) -> Self {
        let places = Arc::new(Semaphore::new(limits.queries));
        Self { places, places_max: limits.queries, memory_max: limits.query_bytes }
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
