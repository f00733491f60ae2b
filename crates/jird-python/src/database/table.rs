//! The classes `Database` and `Table`.

use super::batches::Batch;
use super::objects::{Chunk, Row};
use crate::raw::arrow;
use arrow_array::RecordBatchReader;
use jird_formats::sqlite::rusqlite::Connection;
use jird_formats::sqlite::{ColumnDefinition, Definition, Inserter, SqliteError, StorageType, open, tables};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyIterator, PyString, PyType};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// Rows that are handed to the thread that writes, at a time.
const CHUNK_ROWS: usize = 4096;

/// Text that a chunk may have before it is handed over with fewer rows.
const CHUNK_BYTES: usize = 4 << 20;

/// An SQLite database.
#[pyclass(frozen, module = "jird._jird", name = "Database")]
pub(crate) struct Database {
    connection: Arc<Shared>,
}

/// A connection, and the threads that use it or wait for it.
struct Shared {
    connection: Mutex<Connection>,
    users: Mutex<HashSet<ThreadId>>,
}

/// A thread's turn, or its wait for one.
struct Turn<'s>(&'s Shared);

impl Shared {
    /// Threads take turns. One that comes again before its turn is over, in an iterable that is being inserted, would
    /// wait for itself.
    fn turn(&self) -> PyResult<Turn<'_>> {
        if self.users().insert(thread::current().id()) {
            return Ok(Turn(self));
        }
        Err(PyValueError::new_err("the database is being written to by what asks for it"))
    }

    fn users(&self) -> MutexGuard<'_, HashSet<ThreadId>> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.users().remove(&thread::current().id());
    }
}

/// A table of it, with the columns that rows have.
#[pyclass(frozen, module = "jird._jird", name = "Table")]
pub(crate) struct Table {
    connection: Arc<Shared>,
    name: String,
    columns: Arc<[String]>,
    /// The attributes that the columns get.
    attributes: Vec<Py<PyString>>,
}

#[pymethods]
impl Database {
    #[new]
    #[pyo3(signature = (path, /))]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let connection = py.detach(|| open(path)).map_err(|error| raised(py, &error))?;
        Ok(Self { connection: Arc::new(Shared { connection: Mutex::new(connection), users: Mutex::default() }) })
    }

    /// The table of this name, which is made if it is not there. `columns` are (column, attribute, storage, may be
    /// null).
    #[pyo3(signature = (name, columns, key, /))]
    fn table(
        &self,
        py: Python<'_>,
        name: String,
        columns: Vec<(String, String, String, bool)>,
        key: Vec<String>,
    ) -> PyResult<Table> {
        let mut definitions = Vec::new();
        for (column, _, storage, is_nullable) in &columns {
            let storage = match storage.as_str() {
                "integer" => StorageType::Integer,
                "real" => StorageType::Real,
                "text" => StorageType::Text,
                "blob" => StorageType::Blob,
                "any" => StorageType::Any,
                other => return Err(PyValueError::new_err(format!("no column is of the type {other}"))),
            };
            definitions.push(ColumnDefinition { name: column.clone(), storage, is_nullable: *is_nullable });
        }
        let _turn = self.connection.turn()?;
        let made = py.detach(|| {
            let connection = locked(&self.connection.connection);
            if tables(&connection)?.contains(&name) {
                return Ok(());
            }
            Definition::of_columns(&name, definitions).key(key.iter().map(String::as_str))?.create(&connection)
        });
        made.map_err(|error| raised(py, &error))?;
        Ok(Table {
            connection: Arc::clone(&self.connection),
            name,
            attributes: columns.iter().map(|(_, name, ..)| PyString::intern(py, name).unbind()).collect(),
            columns: columns.into_iter().map(|(column, ..)| column).collect(),
        })
    }
}

#[pymethods]
impl Table {
    /// The name of the table.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<&str> {
        self.columns.iter().map(String::as_str).collect()
    }

    /// Inserts objects, in one transaction: all of them or none. Returns how many there were.
    ///
    /// An object is an instance with the attributes of the class, a dict or a tuple. What SQLite has no type for is
    /// written as `dumps` writes it. Another thread writes the rows while the objects are asked for their values.
    #[pyo3(signature = (objects, /))]
    fn insert(&self, objects: &Bound<'_, PyAny>) -> PyResult<u64> {
        let py = objects.py();
        let objects = objects.try_iter()?;
        let _turn = self.connection.turn()?;
        let (sender, receiver) = sync_channel(2);
        let (connection, name) = (Arc::clone(&self.connection), self.name.clone());
        let writer = thread::spawn(move || write(&locked(&connection.connection), &name, &receiver));
        // A failure drops the sender before everything was sent, and the writer rolls back.
        let sent = self.send(&objects, sender);
        let written = py.detach(|| writer.join());
        sent?;
        match written {
            Ok(written) => written.map_err(|error| raised(py, &error)),
            Err(_) => Err(PyValueError::new_err("the thread that writes has failed")),
        }
    }

    /// Inserts the rows of a stream of Arrow (what has `__arrow_c_stream__`), in one transaction. Returns how many
    /// there were.
    #[pyo3(signature = (stream, /))]
    fn insert_arrow(&self, stream: &Bound<'_, PyAny>) -> PyResult<u64> {
        let py = stream.py();
        let reader = arrow::stream(stream)?;
        if let Some(field) = reader.schema().fields().iter().find(|field| !self.columns.contains(field.name())) {
            return Err(PyValueError::new_err(format!("the table has no column {:?}", field.name())));
        }
        let _turn = self.connection.turn()?;
        let written = py.detach(|| -> Result<u64, Stopped> {
            let connection = locked(&self.connection.connection);
            let mut inserter = Inserter::new(&connection, &self.name)?;
            for batch in reader {
                let batch = batch.map_err(|error| Stopped::Input(error.to_string()))?;
                inserter.insert_all(Batch::of(&batch).map_err(Stopped::Input)?.into_rows())?;
                // Ctrl-C.
                Python::attach(|py| py.check_signals().map_err(Stopped::Raised))?;
            }
            Ok(inserter.finish()?)
        });
        written.map_err(|stopped| match stopped {
            Stopped::Input(words) => PyTypeError::new_err(words),
            Stopped::Sqlite(error) => raised(py, &error),
            Stopped::Raised(error) => error,
        })
    }
}

impl Table {
    /// Sends the values of objects to the thread that writes, and that there are no more.
    fn send(&self, objects: &Bound<'_, PyIterator>, sender: SyncSender<Option<Chunk>>) -> PyResult<()> {
        let py = objects.py();
        let attributes = self.attributes.iter().map(|name| name.bind(py).clone()).collect::<Vec<_>>();
        let mut objects = objects.clone();
        loop {
            let mut chunk = Chunk::new(Arc::clone(&self.columns), CHUNK_ROWS);
            let mut is_over = false;
            while chunk.len() < CHUNK_ROWS && chunk.text_bytes() < CHUNK_BYTES {
                let Some(object) = objects.next() else {
                    is_over = true;
                    break;
                };
                chunk.add(&object?, &attributes)?;
            }
            py.check_signals()?;
            // The writer does not listen if it has failed; it says why.
            let is_heard = py.detach(|| sender.send(Some(chunk)).is_ok());
            if is_over && is_heard {
                let _ = py.detach(|| sender.send(None));
            }
            if is_over || !is_heard {
                return Ok(());
            }
        }
    }
}

/// Why nothing was inserted.
enum Stopped {
    Input(String),
    Sqlite(SqliteError),
    Raised(PyErr),
}

impl From<SqliteError> for Stopped {
    fn from(error: SqliteError) -> Self {
        Self::Sqlite(error)
    }
}

/// Writes chunks until there is none, and commits; rolls back if the sender goes before.
fn write(connection: &Connection, table: &str, chunks: &Receiver<Option<Chunk>>) -> Result<u64, SqliteError> {
    let mut inserter = Inserter::<Row>::new(connection, table)?;
    loop {
        match chunks.recv() {
            Ok(Some(chunk)) => inserter.insert_all(chunk.into_rows())?,
            Ok(None) => return inserter.finish(),
            Err(RecvError) => return Ok(0),
        }
    }
}

fn locked(connection: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A `sqlite3.DatabaseError`, so that programs that know Python's module need no other name.
fn raised(py: Python<'_>, error: &SqliteError) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    match CLASS.import(py, "sqlite3", "DatabaseError") {
        Ok(class) => PyErr::from_type(class.clone(), error.to_string()),
        Err(_) => PyValueError::new_err(error.to_string()),
    }
}
