//! What all requests share.

use crate::base::error::Error;
use crate::base::file::log_of;
use crate::base::problem::Problem;
use crate::base::settings::{Limits, Settings};
use crate::base::sources::{Named, Sources, twice};
use crate::events::follow::Follow;
use crate::events::intake::Intake;
use crate::events::upkeep::Upkeep;
use crate::http::body::ROOM;
#[cfg(feature = "query")]
use crate::queries::Queries;
use crate::request::catalog::Table;
use crate::tables::database::{Database, Opened};
use crate::tables::own::{self, Own};
use hyper::StatusCode;
use jird_store::{Store, UpkeepLimits, is_store};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::{Semaphore, watch};
use tokio::task::spawn_blocking;

/// The most counts at a time.
const COUNTS_MAX: usize = 16;

/// What is served, and the room that requests may take.
pub(crate) struct State {
    pub(crate) limits: Limits,
    pub(crate) database: Option<Arc<Database>>,
    pub(crate) store: Option<EventStore>,
    /// The server's own database.
    pub(crate) own: Option<Arc<Own>>,
    pub(crate) files: Vec<Named>,
    /// Room for bodies that are being received, in units.
    pub(crate) rooms: Arc<Semaphore>,
    /// Threads that read long bodies of events. More would not read them sooner, and each takes memory.
    pub(crate) hands: Arc<Semaphore>,
    /// Long answers.
    pub(crate) streams: Arc<Semaphore>,
    streams_max: usize,
    /// Those that are made at this moment.
    pub(crate) turns: Arc<Semaphore>,
    /// Counts, which may be long steps of SQLite.
    pub(crate) counts: Arc<Semaphore>,
    /// Whether the server was told to stop.
    pub(crate) stopped: watch::Receiver<bool>,
    /// Whether there are queries in SQL.
    pub(crate) has_queries: bool,
    #[cfg(feature = "query")]
    pub(crate) queries: Option<Arc<Queries>>,
}

/// The event store.
pub(crate) struct EventStore {
    pub(crate) name: String,
    pub(crate) store: Store,
    pub(crate) follow: Follow,
    /// The way in; `None`: requests may only read.
    pub(crate) intake: Option<Arc<Intake>>,
    /// `None`: it is left to the one who writes.
    pub(crate) upkeep: Option<Arc<Upkeep>>,
}

impl EventStore {
    /// Opens a store, and makes it before that if it is not there yet.
    fn open(Named { name, path }: Named, settings: &Settings) -> Result<Self, Error> {
        let failed = |error| Error::because(path.display(), error);
        let store = if is_store(&path) || !settings.write {
            Store::open(&path).map_err(failed)?
        } else {
            let time_field = settings.time_field.clone();
            let default = jird_store::Settings::default();
            let made = jird_store::Settings { time_field: time_field.unwrap_or(default.time_field), ..default };
            Store::open_or_create(&path, &made).map_err(failed)?
        };
        let has = &store.settings().time_field;
        if let Some(wanted) = settings.time_field.as_ref().filter(|wanted| *wanted != has) {
            let message = format!("{}: the time field of this store is {has}, and not {wanted}", path.display());
            return Err(Error::new(message));
        }
        let open = || Intake::open(&store, settings).map(Arc::new);
        let intake = settings.write.then(open).transpose()?;
        let limits = UpkeepLimits { age: settings.keep, bytes: settings.keep_bytes };
        let upkeep = intake.clone().map(|intake| Arc::new(Upkeep::new(store.clone(), intake, limits)));
        Ok(Self { name, store, intake, upkeep, follow: Follow::new(settings.limits.followers) })
    }

    /// Tells followers that something was appended.
    pub(crate) fn appended(&self) {
        self.follow.tell();
    }
}

/// Refuses a place for the server's own database that is served, or lies in what is served.
fn check_state(path: &Path, served: impl Iterator<Item = PathBuf>) -> Result<(), Error> {
    let whole = |path: &Path| path.canonicalize().ok();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let place = whole(path).or_else(|| Some(whole(folder)?.join(path.file_name()?)));
    let lies_in =
        |served: PathBuf| whole(&served).zip(place.as_ref()).is_some_and(|(served, place)| place.starts_with(served));
    for served in served {
        if lies_in(served) {
            let message = format!("{}: this is served; name a file of the server's own", path.display());
            return Err(Error::new(message));
        }
    }
    Ok(())
}

impl State {
    pub(crate) fn new(settings: &Settings, stopped: watch::Receiver<bool>) -> Result<Self, Error> {
        let limits = settings.limits;
        let Sources { database, store, files } = Sources::find(&settings.sources, settings.write)?;
        let database = database.map(|path| Database::open(path, settings.write, &limits).map(Arc::new)).transpose()?;
        if let (false, Some(file)) = (settings.has_queries(), files.first()) {
            let (path, lack) = (file.path.display(), if cfg!(feature = "query") { "server" } else { "build" });
            return Err(Error::new(format!("{path}: files are read by queries, which this {lack} lacks")));
        }
        if (settings.keep.is_some() || settings.keep_bytes.is_some()) && !(store.is_some() && settings.write) {
            return Err(Error::new("keep: old events are removed from an event store, and none is served"));
        }
        let store = store.map(|named| EventStore::open(named, settings)).transpose()?;
        if let Some(path) = &settings.state {
            let served = database.iter().map(|database| database.last().path.clone());
            let served = served.chain(store.iter().map(|store| store.store.path().to_owned()));
            check_state(path, served.chain(files.iter().map(|file| file.path.clone())))?;
        }
        let own = settings.state.as_deref().map(|path| Own::open(path, &limits).map(Arc::new)).transpose()?;
        #[cfg(feature = "query")]
        let queries = match &settings.queries {
            Some(program) => {
                let paths = database.iter().map(|database| database.last().path.clone());
                let paths = paths.chain(store.iter().map(|store| store.store.path().to_owned()));
                let paths = paths.chain(files.iter().map(|file| file.path.clone())).collect();
                Some(Arc::new(Queries::new(program, paths, &limits)?))
            }
            None => None,
        };
        let threads = 2 * std::thread::available_parallelism().map_or(2, usize::from);
        let state = Self {
            limits,
            database,
            store,
            own,
            files,
            rooms: Arc::new(Semaphore::new(limits.bodies_bytes / ROOM)),
            hands: Arc::new(Semaphore::new(threads)),
            turns: Arc::new(Semaphore::new(threads)),
            counts: Arc::new(Semaphore::new(COUNTS_MAX)),
            streams: Arc::new(Semaphore::new(limits.streams)),
            streams_max: limits.streams,
            stopped,
            has_queries: settings.has_queries(),
            #[cfg(feature = "query")]
            queries,
        };
        match state.tables().iter().find(|table| state.named(table.info.name()).is_some()) {
            Some(table) => Err(twice(table.info.name())),
            None => Ok(state),
        }
    }

    /// The tables and views of the database, if there is one.
    pub(crate) fn tables(&self) -> Vec<Arc<Table>> {
        self.database.as_ref().map_or_else(Vec::new, |database| database.last().catalog().tables().to_vec())
    }

    /// The tables of the server's own database.
    pub(crate) fn own_tables(&self) -> Vec<Arc<Table>> {
        let all = self.own.as_ref().map_or_else(Vec::new, |own| own.database.last().catalog().tables().to_vec());
        all.into_iter().filter(|table| self.is_own(table.info.name())).collect()
    }

    /// Whether a name means a table of the server's own.
    pub(crate) fn is_own(&self, name: &str) -> bool {
        self.own.is_some() && (name == own::SAVED || name == own::ALERTS && self.store.is_some())
    }

    /// The database in which a table of this name would be.
    pub(crate) fn database_of(&self, name: &str) -> Option<&Arc<Database>> {
        let own = self.own.as_ref().filter(|_| self.is_own(name)).map(|own| &own.database);
        own.or(self.database.as_ref())
    }

    /// Whether rows of tables may be changed.
    pub(crate) fn writes_tables(&self) -> bool {
        self.database.as_ref().is_some_and(|database| database.last().writer.is_some())
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
        self.database.iter().for_each(|database| database.refresh());
        self.own.iter().for_each(|own| own.database.refresh());
    }

    /// What is going on now, in Prometheus's text format.
    pub(crate) async fn metrics(&self) -> String {
        // It reads files.
        let store = self.store.as_ref().map(|store| store.store.clone());
        let size = spawn_blocking(move || store.and_then(|store| store.size().ok())).await.ok().flatten();
        let mut text = String::new();
        let mut gauge = |name: &str, help: &str, value: u64| {
            let lines = format!("# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}\n");
            text += &lines;
        };
        #[cfg(feature = "query")]
        if let Some(queries) = &self.queries {
            gauge("jird_queries_active", "Queries in SQL that run.", queries.running() as u64);
            gauge("jird_query_processes", "Processes that run queries, or wait for one.", queries.processes() as u64);
        }
        if let Some(store) = &self.store {
            gauge("jird_followers_active", "Clients that follow events.", store.follow.followers() as u64);
            if let Some(size) = size {
                gauge("jird_store_spans", "Spans of the store.", size.spans);
                gauge("jird_store_span_bytes", "Bytes of their files, without the indexes.", size.span_bytes);
                gauge("jird_store_span_events", "Events in spans.", size.span_events);
                gauge(
                    "jird_store_log_bytes",
                    "Bytes of the store's logs, whose events are in no span yet.",
                    size.log_bytes,
                );
            }
            if let Some(intake) = &store.intake {
                gauge("jird_events_waiting", "Batches of events that are not durable yet.", intake.waiting());
            }
        }
        if let Some(database) = &self.database {
            let database = database.last();
            let bytes = |path: &Path| path.metadata().map_or(0, |data| data.len());
            gauge("jird_database_bytes", "Bytes of the database's file.", bytes(&database.path));
            gauge("jird_database_wal_bytes", "Bytes of its write-ahead log.", bytes(&log_of(&database.path)));
            if let Some(writer) = &database.writer {
                gauge("jird_writes_waiting", "Requests that wait for their turn to write.", writer.waiting());
            }
        }
        let streams = self.streams_max - self.streams.available_permits();
        gauge("jird_streams_active", "Long answers that are being made.", streams as u64);
        if let (Some(own), Some(_)) = (&self.own, &self.store) {
            own.metrics(&mut text);
        }
        text
    }

    /// The table of this name, also one that was made just now, and its database.
    pub(crate) fn table(&self, name: &str) -> Result<(Arc<Opened>, Arc<Table>), Problem> {
        let database = self.database_of(name).map(Database::now).transpose()?;
        let found = database.and_then(|database| database.table(name).map(|table| (database, table)));
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
