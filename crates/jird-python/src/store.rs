//! The class `Store`: event stores as targets.

use crate::error;
use crate::forked::Owned;
use crate::raw::text::Text;
use crate::scan::path;
use jird::Path;
use jird_store::{
    Batch, ColumnChoice, Compression, Error, ErrorKind, Settings, Sync, Ticket, Writer, WriterOptions, is_store,
};
use pyo3::exceptions::{PyBlockingIOError, PyFileExistsError, PyFileNotFoundError, PyOSError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

/// A power failure costs at most what came within this time, unless something else is asked for.
const INTERVAL: Duration = Duration::from_millis(200);

/// An event store. See `jird.open_store`, which makes objects of a subclass.
#[pyclass(frozen, subclass, module = "jird._jird", name = "Store")]
pub(crate) struct Store {
    sync: Sync,
    /// A writer has a thread and the store's lock.
    open: Owned<Open>,
}

struct Open {
    store: jird_store::Store,
    writing: RwLock<Writing>,
    /// The last event that was appended.
    last: Mutex<Option<Ticket>>,
}

/// The one writer of the store, from the first event on.
enum Writing {
    Idle,
    Open(Writer),
    Closed,
}

#[pymethods]
impl Store {
    /// Opens a store. A new one is made if `may_create`, and has the settings that are given; one that is there must
    /// have been made with them.
    #[new]
    #[pyo3(signature = (path, may_create, time_field, columns, compression, sync, /))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        may_create: bool,
        time_field: Option<&str>,
        columns: Option<Vec<String>>,
        compression: Option<&str>,
        sync: &str,
    ) -> PyResult<Self> {
        let mut settings = Settings::default();
        if let Some(name) = time_field {
            settings.time_field = field(name)?;
        }
        if let Some(names) = &columns {
            settings.columns = ColumnChoice::Fields(names.iter().map(|name| field(name)).collect::<PyResult<_>>()?);
        }
        if let Some(name) = compression {
            let found = Compression::of_name(name);
            settings.compression =
                found.ok_or_else(|| PyValueError::new_err(r#"compression is "none", "lz4" or "zstd""#))?;
        }
        let sync = match sync {
            "batch" => Sync::Batch,
            "interval" => Sync::Interval(INTERVAL),
            "none" => Sync::None,
            _ => return Err(PyValueError::new_err(r#"sync is "batch", "interval" or "none""#)),
        };
        let opened = py.detach(|| {
            if may_create && !is_store(&path) {
                jird_store::Store::open_or_create(&path, &settings)
            } else {
                jird_store::Store::open(&path)
            }
        });
        let store = opened.map_err(raised)?;
        let made = store.settings();
        let differs = [
            ("time_field", time_field.is_some() && made.time_field != settings.time_field),
            ("columns", columns.is_some() && made.columns != settings.columns),
            ("compression", compression.is_some() && made.compression != settings.compression),
        ];
        if let Some((name, _)) = differs.iter().find(|(_, differs)| *differs) {
            return Err(PyValueError::new_err(format!(
                "{}: the store was made with another {name}, which is fixed when a store is created",
                path.display()
            )));
        }
        let open = Open { store, writing: RwLock::new(Writing::Idle), last: Mutex::default() };
        Ok(Self { sync, open: Owned::new(open) })
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.open.store.path().to_owned()
    }

    #[getter]
    fn time_field(&self) -> String {
        self.open.store.settings().time_field.to_string()
    }

    /// Appends events: lines of JSON. All of them are taken or none.
    fn append_lines(&self, py: Python<'_>, lines: &Bound<'_, PyAny>) -> PyResult<u64> {
        self.check()?;
        let text = Text::of(lines)?;
        let lines = text.bytes();
        let mut bad = None;
        let batch = py.detach(|| {
            Batch::prepare(lines, self.open.store.settings(), &mut |_, line, error| {
                bad.get_or_insert_with(|| (line.to_vec(), error));
            })
        });
        match bad {
            None => py.detach(|| self.append(batch)),
            Some((line, error)) => Err(match jird::parse(&line) {
                Err(error) => error::not_json(py, &line, &error),
                Ok(_) => PyValueError::new_err(format!("the event was not taken: {error}")),
            }),
        }
    }

    /// Waits until what was appended is as durable as `sync` says.
    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        self.check()?;
        let commit = || match (&*read(&self.open.writing), *self.last()) {
            (Writing::Open(writer), Some(last)) => writer.commit(last),
            _ => Ok(()),
        };
        py.detach(commit).map_err(raised)
    }

    /// Ends the writing: everything is durable, and another writer may come. Does nothing the second time.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.check()?;
        let close = || match std::mem::replace(&mut *write(&self.open.writing), Writing::Closed) {
            Writing::Open(writer) => writer.finish().map(drop),
            Writing::Idle | Writing::Closed => Ok(()),
        };
        py.detach(close).map_err(raised)
    }

    fn __repr__(&self) -> String {
        format!("<jird.Store {}>", self.open.store.path().display())
    }
}

impl Store {
    /// Fails in a child of the process that has opened the store.
    fn check(&self) -> PyResult<()> {
        self.open.process.check("the store")
    }

    /// Appends a batch, and returns the number of its events. Called without the interpreter's lock: another thread may
    /// hold what this one waits for.
    fn append(&self, batch: Batch) -> PyResult<u64> {
        let events = batch.events();
        loop {
            match &*read(&self.open.writing) {
                Writing::Open(writer) => {
                    let ticket = writer.append(batch).map_err(raised)?;
                    let mut last = self.last();
                    *last = (*last).max(Some(ticket));
                    return Ok(events);
                }
                Writing::Closed => return Err(PyValueError::new_err("the store was closed")),
                Writing::Idle => {}
            }
            let mut writing = write(&self.open.writing);
            if let Writing::Idle = *writing {
                let options = WriterOptions { sync: self.sync, ..WriterOptions::default() };
                *writing = Writing::Open(self.open.store.writer(&options).map_err(raised)?);
            }
        }
    }

    fn last(&self) -> MutexGuard<'_, Option<Ticket>> {
        self.open.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(writing: &RwLock<Writing>) -> RwLockReadGuard<'_, Writing> {
    writing.read().unwrap_or_else(PoisonError::into_inner)
}

fn write(writing: &RwLock<Writing>) -> RwLockWriteGuard<'_, Writing> {
    writing.write().unwrap_or_else(PoisonError::into_inner)
}

/// The path of a field that is named as in SQL.
fn field(name: &str) -> PyResult<Path> {
    path(name).map_err(|words| PyValueError::new_err(format!("{name:?}: {words}")))
}

/// The exception for an error of a store.
fn raised(error: Error) -> PyErr {
    let words = error.to_string();
    match error.kind() {
        ErrorKind::Missing => PyFileNotFoundError::new_err(words),
        ErrorKind::Exists => PyFileExistsError::new_err(words),
        ErrorKind::Locked => PyBlockingIOError::new_err(words),
        ErrorKind::Event | ErrorKind::Closed => PyValueError::new_err(words),
        _ => PyOSError::new_err(words),
    }
}
