//! What all requests share.

use crate::body::ROOM;
use crate::catalog::Table;
use crate::database::Database;
use crate::error::Error;
use crate::problem::Problem;
use crate::settings::{Limits, Settings};
use crate::sources::{Named, Sources, twice};
use hyper::StatusCode;
use jird_store::Store;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// What is served, and the room that requests may take.
pub(crate) struct State {
    pub(crate) limits: Limits,
    pub(crate) database: Option<Database>,
    pub(crate) store: Option<EventStore>,
    pub(crate) files: Vec<Named>,
    /// Room for bodies that are being received, in units.
    pub(crate) rooms: Arc<Semaphore>,
    /// Long answers.
    pub(crate) streams: Arc<Semaphore>,
}

/// The event store.
pub(crate) struct EventStore {
    pub(crate) name: String,
    pub(crate) store: Store,
}

impl State {
    pub(crate) fn new(settings: &Settings) -> Result<Self, Error> {
        let limits = settings.limits;
        let Sources { database, store, files } = Sources::find(&settings.sources)?;
        let database = database.map(|path| Database::open(path, settings.write, limits.time)).transpose()?;
        let store = store.map(|Named { name, path }| {
            let store = Store::open(&path).map_err(|error| Error::because(path.display(), error))?;
            Ok(EventStore { name, store })
        });
        let state = Self {
            limits,
            database,
            store: store.transpose()?,
            files,
            rooms: Arc::new(Semaphore::new(limits.bodies_bytes / ROOM)),
            streams: Arc::new(Semaphore::new(limits.streams)),
        };
        match state.tables().iter().find(|table| state.named(table.info.name()).is_some()) {
            Some(table) => Err(twice(table.info.name())),
            None => Ok(state),
        }
    }

    /// The tables and views of the database, if there is one.
    pub(crate) fn tables(&self) -> Vec<Arc<Table>> {
        self.database.as_ref().map_or_else(Vec::new, |database| database.catalog().tables().to_vec())
    }

    /// Whether rows of tables may be changed.
    pub(crate) fn writes_tables(&self) -> bool {
        self.database.as_ref().is_some_and(|database| database.writer.is_some())
    }

    /// What a name means that is not that of a table, in words.
    fn named(&self, name: &str) -> Option<&'static str> {
        if self.store.as_ref().is_some_and(|store| store.name == name) {
            Some("the event store")
        } else {
            self.files.iter().any(|file| file.name == name).then_some("a file")
        }
    }

    /// Looks whether the schema has changed.
    pub(crate) fn refresh(&self) {
        self.database.iter().for_each(Database::refresh);
    }

    /// The table of this name, also one that was made just now, and its database.
    pub(crate) fn table(&self, name: &str) -> Result<(&Database, Arc<Table>), Problem> {
        let found = self.database.as_ref().and_then(|database| Some((database, database.table(name)?)));
        found.ok_or_else(|| {
            let shown: String = name.chars().take(80).collect();
            let detail = match self.named(name) {
                Some(what) => format!("{shown:?} is {what}: /query reads it"),
                None => format!("there is no table {shown:?}"),
            };
            Problem::new(StatusCode::NOT_FOUND, detail)
        })
    }
}
