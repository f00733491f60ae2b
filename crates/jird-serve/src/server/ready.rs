//! `/ready`: tries what the server promises, at most once a second, however many ask.

use crate::base::file::room;
use crate::base::problem::Problem;
use crate::events::intake::Intake;
use crate::http::body::Body;
#[cfg(feature = "query")]
use crate::queries::Queries;
use crate::routes::state::State;
use crate::tables::database::Database;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use jird::hooks::write_object;
use jird_formats::caught;
use jird_store::Store;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

/// How long what was found is the answer.
const FRESH: Duration = Duration::from_secs(1);
/// What takes longer than this has failed.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long another program may write meanwhile: probes wait for a second, mostly.
const WRITE_PATIENCE: Duration = Duration::from_millis(800);
/// A disk with less room than this is full: a body fits into it.
const ROOM_MIN: u64 = 16 << 20;

/// Whether the server can do what it promises.
pub(crate) struct Ready {
    promises: Arc<Promises>,
    last: Mutex<Last>,
}

/// What is tried.
struct Promises {
    database: Option<Arc<Database>>,
    store: Option<(Store, Option<Arc<Intake>>)>,
    #[cfg(feature = "query")]
    queries: Option<Arc<Queries>>,
}

/// What was found last.
#[derive(Default)]
struct Last {
    at: Option<Instant>,
    found: Vec<Finding>,
    /// A try that has had no end yet, as on a disk that does not answer: no other one begins meanwhile.
    running: Option<JoinHandle<Vec<Finding>>>,
}

/// A promise, and why it cannot be kept.
#[derive(Clone, Debug)]
struct Finding {
    what: &'static str,
    lack: Option<String>,
}

impl Ready {
    pub(crate) fn new(state: &State) -> Self {
        let promises = Promises {
            database: state.database.clone(),
            store: state.store.as_ref().map(|store| (store.store.clone(), store.intake.clone())),
            #[cfg(feature = "query")]
            queries: state.queries.clone(),
        };
        Self { promises: Arc::new(promises), last: Mutex::default() }
    }

    /// 200 if all is well, else 503. Why not is `told` to those who may know.
    pub(crate) async fn answer(&self, told: bool) -> Response<Body> {
        let found = self.look().await;
        let is_well = found.iter().all(|found| found.lack.is_none());
        let mut text = Vec::new();
        write_object(&mut text, |object| {
            object.member("status", if is_well { "ok" } else { "failed" });
            for found in &found {
                object.member(
                    found.what,
                    match &found.lack {
                        None => "ok",
                        Some(why) if told => why,
                        Some(_) => "failed",
                    },
                );
            }
        });
        text.push(b'\n');
        let mut response = Response::new(Body::whole(text));
        if !is_well {
            *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        }
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }

    async fn look(&self) -> Vec<Finding> {
        let mut last = self.last.lock().await;
        if last.at.is_some_and(|at| at.elapsed() < FRESH) {
            return last.found.clone();
        }
        let promises = Arc::clone(&self.promises);
        // It stays there if this request ends before it does.
        let running = last.running.get_or_insert_with(|| spawn_blocking(move || promises.tried()));
        let failed = |why: String| vec![Finding { what: "server", lack: Some(why) }];
        last.found = if let Ok(tried) = timeout(PATIENCE, running).await {
            last.running = None;
            tried.unwrap_or_else(|error| failed(error.to_string()))
        } else {
            failed(format!("it takes more than {} s", PATIENCE.as_secs()))
        };
        last.at = Some(Instant::now());
        last.found.clone()
    }
}

impl Promises {
    /// Tries all of them.
    fn tried(&self) -> Vec<Finding> {
        let mut tried = Vec::new();
        let mut one = |what, tried_out: &dyn Fn() -> Result<(), Problem>| {
            let lack = caught(tried_out).unwrap_or_else(|words| Err(Problem::busy(words)));
            tried.push(Finding { what, lack: lack.err().map(|problem| problem.to_string()) });
        };
        if let Some(database) = &self.database {
            one("database", &|| reads_and_writes(database));
        }
        if let Some((store, intake)) = &self.store {
            one("store", &|| {
                // What is quick: strangers may ask.
                store.size().map_err(|error| Problem::busy(error.to_string()))?;
                intake.as_ref().map_or(Ok(()), |intake| intake.check())
            });
        }
        let database = self.database.as_ref().map(|database| database.last());
        let written = database.iter().filter(|database| database.writer.is_some()).map(|database| &*database.path);
        let store = self.store.iter().filter(|(_, intake)| intake.is_some()).map(|(store, _)| store.path());
        let written: Vec<&Path> = written.chain(store).collect();
        if !written.is_empty() {
            one("disk", &|| written.iter().try_for_each(|path| has_room(path)));
        }
        #[cfg(feature = "query")]
        if let Some(queries) = &self.queries {
            one("query", &|| {
                // One that runs shows that they do.
                let Ok(_place) = queries.place() else { return Ok(()) };
                let process = queries.take().map_err(|error| Problem::busy(error.to_string()))?;
                queries.give(process);
                Ok(())
            });
        }
        tried
    }
}

/// Reads the schema, and begins to write.
fn reads_and_writes(database: &Arc<Database>) -> Result<(), Problem> {
    let database = database.now()?;
    let reader = database.readers.take()?;
    reader.budget.grant(PATIENCE);
    let read = reader.conn().query_row("select count(*) from sqlite_schema", [], |_| Ok(()));
    let read = read.map_err(|error| Problem::of_statement(&error));
    database.readers.give(reader);
    read?;
    database.writer.as_ref().map_or(Ok(()), |writer| writer.check(WRITE_PATIENCE))?;
    database.check()
}

fn has_room(path: &Path) -> Result<(), Problem> {
    match room(path) {
        Some(room) if room < ROOM_MIN => Err(Problem::busy(format!("{}: the disk is full", path.display()))),
        _ => Ok(()),
    }
}
