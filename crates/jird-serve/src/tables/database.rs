//! A database: its tables, and the connections that read and write; and what happens when another file takes its place.
//!
//! Connections go on with the file that they have opened, whatever the path leads to. So each request asks the system
//! which file that is, before and after its work. When it is another one, requests get 503 while the connections are
//! closed, all of them before the new file is opened: the write-ahead log next to it has the old file's changes, and
//! SQLite would add them to the new one. The connection that writes is the last to be closed, because it empties the
//! log into its own file and removes it.

use crate::base::error::Error;
use crate::base::file::{FileId, log_of};
use crate::base::problem::Problem;
use crate::base::settings::Limits;
use crate::cache::readers::{LOCK_TIME, Readers};
use crate::request::catalog::{Catalog, Table};
use crate::tables::writer::Writer;
use jird_formats::apart;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// The message while no connection is open.
const REPLACED: &str = "the file of the database was replaced, and is opened again";

/// A database, whichever file its path leads to.
pub(crate) struct Database {
    path: PathBuf,
    writes: bool,
    limits: Limits,
    opened: RwLock<Arc<Opened>>,
    /// A thread is opening it again.
    is_opening: AtomicBool,
    /// Why it could not be opened again.
    trouble: Mutex<String>,
}

/// A database whose file is open.
pub(crate) struct Opened {
    pub(crate) path: PathBuf,
    file: FileId,
    /// The write-ahead log at the last look.
    log: Mutex<Option<FileId>>,
    is_retired: Arc<AtomicBool>,
    pub(crate) readers: Readers,
    /// `None`: requests may only read.
    pub(crate) writer: Option<Arc<Writer>>,
    catalog: RwLock<Arc<Catalog>>,
    pub(crate) limits: Limits,
}

impl Database {
    pub(crate) fn open(path: PathBuf, writes: bool, limits: &Limits) -> Result<Self, Error> {
        let opened = Opened::open(&path, writes, limits)?;
        Ok(Self {
            path,
            writes,
            limits: *limits,
            opened: RwLock::new(Arc::new(opened)),
            is_opening: AtomicBool::new(false),
            trouble: Mutex::new(REPLACED.to_owned()),
        })
    }

    /// What was opened last, for descriptions of it.
    pub(crate) fn last(&self) -> Arc<Opened> {
        Arc::clone(&self.opened.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The database that the path leads to.
    ///
    /// # Errors
    /// 503 if it is another one than before, which a thread opens now.
    pub(crate) fn now(self: &Arc<Self>) -> Result<Arc<Opened>, Problem> {
        let opened = self.last();
        if opened.check().is_ok() {
            return Ok(opened);
        }
        let this = Arc::clone(self);
        if !self.is_opening.load(Ordering::Relaxed) {
            // If there is no thread, the next look opens it.
            let _ = apart("open", None, move || this.open_again());
        }
        Err(Problem::busy(self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()))
    }

    /// Looks at the file and at the schema.
    pub(crate) fn refresh(&self) {
        let opened = self.last();
        match opened.check() {
            Ok(()) => opened.refresh(),
            Err(_) => self.open_again(),
        }
    }

    /// Closes all connections, and opens the file that is there now.
    fn open_again(&self) {
        if self.is_opening.swap(true, Ordering::Acquire) {
            return;
        }
        let told = match self.replaced() {
            Ok(Some(opened)) => {
                *self.opened.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(opened);
                REPLACED.to_owned()
            }
            Ok(None) => REPLACED.to_owned(),
            Err(error) => format!("the file of the database was replaced: {error}"),
        };
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = told;
        self.is_opening.store(false, Ordering::Release);
    }

    /// The database that is there now; `None` if there is nothing to do, or if others still read the old one.
    fn replaced(&self) -> Result<Option<Opened>, Error> {
        let old = self.last();
        if old.check().is_ok() || !old.is_closed() {
            return Ok(None);
        }
        old.check_log()?;
        Opened::open(&self.path, self.writes, &self.limits).map(Some)
    }
}

impl Opened {
    fn open(path: &Path, writes: bool, limits: &Limits) -> Result<Self, Error> {
        let missing = || Error::new(format!("{}: there is no such file", path.display()));
        let before = FileId::of(path).ok_or_else(missing)?;
        let is_retired = Arc::new(AtomicBool::new(false));
        let open = || Writer::open(path, limits.time, Arc::clone(&is_retired));
        let writer = writes.then(open).transpose()?;
        // A file that was empty is not, when it is written to.
        let file = FileId::of(path).filter(|file| file.is_file(before)).ok_or_else(missing)?;
        let readers = Readers::new(path.to_owned(), file, limits.kept_bytes, Arc::clone(&is_retired));
        let reader =
            readers.take_within(LOCK_TIME.min(limits.time)).map_err(|problem| Error::new(problem.to_string()))?;
        let catalog = Catalog::read(reader.conn()).map_err(|error| Error::because("reading the schema", error))?;
        readers.give(reader);
        Ok(Self {
            path: path.to_owned(),
            file,
            log: Mutex::new(FileId::of(&log_of(path))),
            is_retired,
            readers,
            writer: writer.map(Arc::new),
            catalog: RwLock::new(Arc::new(catalog)),
            limits: *limits,
        })
    }

    /// Whether the path still leads to this file.
    ///
    /// # Errors
    /// 503 if it does not: what was read or written meanwhile is that of another file.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        if !self.is_retired.load(Ordering::Relaxed) && FileId::of(&self.path) == Some(self.file) {
            return Ok(());
        }
        Err(Problem::busy(REPLACED))
    }

    /// Closes its connections that are not in use; whether all of them are closed.
    fn is_closed(&self) -> bool {
        self.is_retired.store(true, Ordering::Relaxed);
        if !self.readers.are_closed() {
            return false;
        }
        let there = FileId::of(&log_of(&self.path));
        let log = *self.log.lock().unwrap_or_else(PoisonError::into_inner);
        // The log may have come with the new file, and a file that was emptied takes no changes of what it was.
        let is_own = there.is_none_or(|there| log.is_some_and(|log| log.is_file(there)));
        let is_overwritten = FileId::of(&self.path).is_some_and(|file| file.is_file(self.file));
        if let Some(writer) = &self.writer {
            writer.close(is_own && !is_overwritten);
        }
        true
    }

    /// Refuses to open another file next to the log of this one.
    fn check_log(&self) -> Result<(), Error> {
        let log = *self.log.lock().unwrap_or_else(PoisonError::into_inner);
        match (FileId::of(&log_of(&self.path)), log) {
            (Some(there), Some(log)) if there.is_file(log) && !there.is_empty => Err(Error::new(format!(
                "{} belongs to the file before; remove it, and the -shm beside it, when no program uses them",
                log_of(&self.path).display()
            ))),
            _ => Ok(()),
        }
    }

    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the schema again if it has changed. What fails stays as it is.
    fn refresh(&self) {
        let log = FileId::of(&log_of(&self.path));
        if self.check().is_ok() {
            *self.log.lock().unwrap_or_else(PoisonError::into_inner) = log;
        }
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
    pub(crate) fn table(&self, name: &str) -> Option<Arc<Table>> {
        if let Some(table) = self.catalog().table(name) {
            return Some(Arc::clone(table));
        }
        self.refresh();
        self.catalog().table(name).map(Arc::clone)
    }

    /// The connection that writes.
    ///
    /// # Errors
    /// 405 if requests may only read.
    pub(crate) fn writer(&self) -> Result<Arc<Writer>, Problem> {
        self.writer.clone().ok_or_else(|| Problem::method("GET, HEAD"))
    }
}
