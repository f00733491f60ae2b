//! A database: its tables, and the connections that read and write.

use crate::catalog::{Catalog, Table};
use crate::error::Error;
use crate::problem::Problem;
use crate::readers::Readers;
use crate::settings::Limits;
use crate::writer::Writer;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

/// A database.
pub(crate) struct Database {
    #[cfg_attr(not(feature = "query"), expect(dead_code, reason = "queries read it there"))]
    pub(crate) path: PathBuf,
    pub(crate) readers: Readers,
    /// `None`: requests may only read.
    pub(crate) writer: Option<Arc<Writer>>,
    catalog: RwLock<Arc<Catalog>>,
    pub(crate) limits: Limits,
}

impl Database {
    pub(crate) fn open(path: PathBuf, writes: bool, limits: &Limits) -> Result<Self, Error> {
        let writer = if writes { Some(Writer::open(&path, limits.time)?) } else { None };
        let readers = Readers::new(path.clone(), limits.kept_bytes);
        let reader = readers.take().map_err(|problem| Error::new(problem.to_string()))?;
        let catalog = Catalog::read(reader.conn()).map_err(|error| Error::because("reading the schema", error))?;
        readers.give(reader);
        Ok(Self {
            path,
            readers,
            writer: writer.map(Arc::new),
            catalog: RwLock::new(Arc::new(catalog)),
            limits: *limits,
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
