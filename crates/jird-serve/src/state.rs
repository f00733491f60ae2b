//! What all requests share.

use crate::body::ROOM;
use crate::catalog::{Catalog, Table};
use crate::error::Error;
use crate::problem::Problem;
use crate::readers::Readers;
use crate::settings::{Limits, Settings};
use crate::writer::Writer;
use hyper::StatusCode;
use std::sync::{Arc, PoisonError, RwLock};
use tokio::sync::Semaphore;

/// The database, and the room that requests may take.
pub(crate) struct State {
    pub(crate) limits: Limits,
    pub(crate) readers: Readers,
    /// `None`: requests may only read.
    pub(crate) writer: Option<Arc<Writer>>,
    catalog: RwLock<Arc<Catalog>>,
    /// Room for bodies that are being received, in units.
    pub(crate) rooms: Arc<Semaphore>,
    /// Long answers.
    pub(crate) streams: Arc<Semaphore>,
}

impl State {
    pub(crate) fn new(settings: &Settings) -> Result<Self, Error> {
        let limits = settings.limits;
        let writer = if settings.write { Some(Writer::open(&settings.database, limits.time)?) } else { None };
        let readers = Readers::new(settings.database.clone(), limits.kept_bytes);
        let reader = readers.take().map_err(|problem| Error::new(problem.to_string()))?;
        let catalog = Catalog::read(reader.conn()).map_err(|error| Error::because("reading the schema", error))?;
        readers.give(reader);
        Ok(Self {
            limits,
            readers,
            writer: writer.map(Arc::new),
            catalog: RwLock::new(Arc::new(catalog)),
            rooms: Arc::new(Semaphore::new(limits.bodies_bytes / ROOM)),
            streams: Arc::new(Semaphore::new(limits.streams)),
        })
    }

    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the schema again if it has changed. What fails stays as it is.
    pub(crate) fn refresh(&self) {
        let Ok(reader) = self.readers.take() else { return };
        reader.budget.grant(self.limits.time);
        if !self.catalog().is_current(reader.conn())
            && let Ok(catalog) = Catalog::read(reader.conn())
        {
            *self.catalog.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(catalog);
        }
        self.readers.give(reader);
    }

    /// The table of this name, also one that was made just now.
    pub(crate) fn table(&self, name: &str) -> Result<Arc<Table>, Problem> {
        if let Some(table) = self.catalog().table(name) {
            return Ok(Arc::clone(table));
        }
        self.refresh();
        let name_shown: String = name.chars().take(80).collect();
        let missing = || Problem::new(StatusCode::NOT_FOUND, format!("there is no table {name_shown:?}"));
        self.catalog().table(name).map(Arc::clone).ok_or_else(missing)
    }
}
