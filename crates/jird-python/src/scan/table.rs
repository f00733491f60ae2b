//! The class `Scan`.

use super::chunks::{ChunkReader, Chunks};
use super::columns::{self, Batches};
use super::condition;
use super::failure::Failure;
use super::feed::Feed;
use super::files::{Files, Search};
use super::given::column_types;
use super::input::{Input, Memory, TextPlace};
use super::iter::ScanIter;
use super::kinds::Kind;
use super::progress::Progress;
use super::source::Source;
use crate::loads::Typed;
use crate::raw::interpreter::Caller;
use jird::Path;
use jird::event::Pattern;
use jird::record::{Predicate, Projection};
use jird_formats::files::{OnError, Spool, SpoolOptions};
use pyo3::exceptions::PyValueError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Lines of files: an iterable of dicts or typed objects, and a stream of Arrow batches (`__arrow_c_stream__`).
///
/// Each use reads the files again, on all cores. See `jird.scan`, which makes objects of a subclass.
#[pyclass(frozen, subclass, module = "jird._jird", name = "Scan")]
pub(crate) struct Scan {
    files: Arc<Files>,
    /// The names and paths of the columns; `None` for all.
    columns: Option<Vec<(String, Path)>>,
    types: Vec<(String, Kind)>,
    /// Whether objects and arrays are structs and lists.
    is_nested: bool,
    condition: Option<String>,
    wanted: Option<Py<PyAny>>,
    on_error: OnError,
    threads: usize,
    /// The bad records that streams of Arrow have passed over.
    skipped: Arc<AtomicU64>,
    /// The callback for progress.
    progress: Option<Py<PyAny>>,
    /// An iterable of chunks, if there are no files.
    chunks: Option<Py<PyAny>>,
    /// A copy of the chunks.
    copy: Mutex<Option<Arc<Files>>>,
}

/// What a scan has on the way, and its condition.
type ScanRequest = (Projection, Option<Predicate>);

#[pymethods]
impl Scan {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "`jird.scan` names and checks them, and is all that calls this")]
    #[pyo3(signature = (source, records, range, columns, condition, types, is_nested, wanted, on_error, threads, progress, /))]
    fn new(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        records: Option<&str>,
        range: Option<(u64, u64)>,
        columns: Option<Vec<String>>,
        condition: Option<String>,
        types: Option<&Bound<'_, PyDict>>,
        is_nested: bool,
        wanted: Option<Py<PyAny>>,
        on_error: &str,
        threads: Option<NonZero<usize>>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let named = |name: String| match condition::path(&name) {
            Ok(path) => Ok((name, path)),
            Err(words) => Err(PyValueError::new_err(format!("columns: {name:?}: {words}"))),
        };
        let columns = columns.map(|names| names.into_iter().map(named).collect::<PyResult<Vec<_>>>()).transpose()?;
        let types = types.map_or_else(|| Ok(Vec::new()), column_types)?;
        if let Some(wanted) = &wanted {
            Typed::of(wanted.bind(py))?;
        }
        let on_error = on_error.parse::<OnError>();
        let on_error = on_error.map_err(|words| PyValueError::new_err(format!("on_error: {words}")))?;
        if let Some(quarantine) = on_error.quarantine() {
            Input::refuse(quarantine).map_err(|error| Failure::io(quarantine, error).into_error(py))?;
        }
        let (mut files, chunks) = opened(source)?;
        if let Some(records) = records {
            let pattern =
                records.parse::<Pattern>().map_err(|error| PyValueError::new_err(format!("records: {error}")))?;
            if types.iter().any(|(_, kind)| matches!(kind, Kind::Offset)) {
                return Err(PyValueError::new_err("types: \"offset\" is for lines, not for records within documents"));
            }
            files = files.with_records(&pattern);
        }
        let files = match range {
            None => files,
            Some((start, end)) if start <= end => files.only(&(start..end)).map_err(PyValueError::new_err)?,
            Some((start, end)) => return Err(PyValueError::new_err(format!("range: {end} is before {start}"))),
        };
        let threads = threads.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZero::get);
        let (files, skipped) = (Arc::new(files), Arc::default());
        let copy = Mutex::default();
        let scan = Self {
            files,
            columns,
            types,
            is_nested,
            condition,
            wanted,
            on_error,
            threads,
            skipped,
            progress,
            chunks,
            copy,
        };
        scan.asked(&[])?;
        if let Some(columns) = &scan.columns {
            scan.given(columns.iter().map(|(name, _)| name.as_str()))?;
        }
        Ok(scan)
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<ScanIter> {
        let typed = self.wanted.as_ref().map(|wanted| Typed::of(wanted.bind(py))).transpose()?;
        let iter = match (&self.chunks, self.copied()) {
            (None, _) => ScanIter::new(&self.files, self.asked_rows()?, self.keys(), typed, None),
            (Some(_), Some(copy)) => ScanIter::new(&copy, self.asked_rows()?, self.keys(), typed, None),
            (Some(chunks), None) => {
                let name = self.files.path(0).display().to_string();
                let source = Source::of_chunks(
                    self.feed(py)?,
                    Chunks::new(chunks.bind(py).try_iter()?),
                    name,
                    self.files.records().cloned(),
                );
                ScanIter::of(&self.files, source, typed, None)
            }
        };
        Ok(iter.telling(self.progress(py)))
    }

    /// An iterator of the lines that are pushed into it. It says that it has ended where more must be pushed.
    fn _pushed(&self, py: Python<'_>) -> PyResult<ScanIter> {
        let typed = self.wanted.as_ref().map(|wanted| Typed::of(wanted.bind(py))).transpose()?;
        let source = Source::Pushed(Box::new(self.feed(py)?.of_documents()), false);
        Ok(ScanIter::of(&self.files, source, typed, None).telling(self.progress(py)))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        [&self.chunks, &self.progress, &self.wanted].into_iter().flatten().try_for_each(|held| visit.call(held))
    }

    /// The records as a stream of Arrow batches, by the Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // What a consumer asks for is a wish; the types are those of the scan.
        drop(requested_schema);
        let failed = |failure: Failure| failure.into_error(py);
        let files = self.files_of_columns(py)?;
        let columns = if let Some(columns) = &self.columns {
            columns.clone()
        } else {
            let wanted = self.looking_of(self.asked(&[])?);
            let keys = py.detach(|| columns::keys(&files, &wanted)).map_err(failed)?;
            keys.into_iter().map(|key| (key.clone(), Path::root().key(key))).collect()
        };
        let given = self.given(columns.iter().map(|(name, _)| name.as_str()))?;
        let looking = self.looking_of(self.asked(&columns)?);
        let types = py.detach(|| columns::types(&files, &looking, &given, self.is_nested)).map_err(failed)?;
        let wanted = self.wanted_of(self.asked(&columns)?);
        let about = columns.into_iter().map(|(name, _)| name).zip(types).collect();
        let progress = self.progress.as_ref().map(|callback| Progress::new(callback.clone_ref(py), &files));
        let told = (Caller::here(py), progress);
        let stream = Batches::start(files, wanted, about, told, Arc::clone(&self.skipped));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The iterable of chunks, if there are no files.
    #[getter]
    fn _chunks(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.chunks.as_ref().map(|chunks| chunks.clone_ref(py))
    }

    /// Bad records that streams of Arrow have passed over so far.
    #[getter]
    fn skipped(&self) -> u64 {
        self.skipped.load(Relaxed)
    }

    fn __repr__(&self) -> String {
        format!("<jird.Scan of {}>", self.files.path(0).display())
    }
}

impl Scan {
    /// The columns in their order, and after them the fields of the condition.
    fn asked(&self, columns: &[(String, Path)]) -> PyResult<ScanRequest> {
        let mut paths = columns.iter().map(|(_, path)| path.clone()).collect::<Vec<_>>();
        let filter = self.condition.as_ref().map(|text| condition::condition(text, &mut paths)).transpose();
        let filter = filter.map_err(|words| PyValueError::new_err(format!("where: {words}")))?;
        Ok((Projection::new(&paths), filter))
    }

    fn asked_rows(&self) -> PyResult<Search> {
        Ok(self.wanted_of(self.asked(self.columns.as_deref().unwrap_or_default())?))
    }

    /// The keys of the dicts, each with a colon; `None` if they have all keys.
    fn keys(&self) -> Option<Vec<String>> {
        let key = |(name, _): &(String, Path)| jird::hooks::quoted(name) + ":";
        self.columns.as_ref().map(|columns| columns.iter().map(key).collect())
    }

    fn feed(&self, py: Python<'_>) -> PyResult<Feed> {
        let feed = Feed::new(Arc::clone(&self.files), self.asked_rows()?, self.keys());
        feed.map_err(|failure| failure.into_error(py))
    }

    fn copied(&self) -> Option<Arc<Files>> {
        self.copy.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The files that columns are made of, which are read several times. Chunks are copied to a file first.
    fn files_of_columns(&self, py: Python<'_>) -> PyResult<Arc<Files>> {
        let Some(chunks) = &self.chunks else { return Ok(Arc::clone(&self.files)) };
        if let Some(copy) = self.copied() {
            return Ok(copy);
        }
        let chunks = Arc::new(Chunks::new(chunks.bind(py).try_iter()?));
        let name = self.files.path(0);
        let options = SpoolOptions { limit: u64::MAX, ..SpoolOptions::default() };
        let copied = py.detach(|| {
            let spool = Spool::fill(&mut ChunkReader::new(&chunks), &options);
            spool.map_err(|error| Failure::io(name, error))
        });
        let raised = chunks.raised();
        chunks.close();
        let failed = |failure: Failure| raised.unwrap_or_else(|| failure.into_error(py));
        let copy = copied.and_then(|spool| Files::of_kept(&name.display().to_string(), TextPlace::Spool(spool)));
        let copy = copy.map_err(failed)?;
        let copy = Arc::new(match self.files.records() {
            Some(pattern) => copy.with_records(pattern),
            None => copy,
        });
        *self.copy.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&copy));
        Ok(copy)
    }

    fn progress(&self, py: Python<'_>) -> Option<Progress> {
        self.progress.as_ref().map(|callback| Progress::new(callback.clone_ref(py), &self.files))
    }

    fn wanted_of(&self, (projection, filter): ScanRequest) -> Search {
        Search { projection, filter, on_error: self.on_error.clone(), threads: self.threads }
    }

    /// The same for a look at the records before they are read: what is set aside is set aside once.
    fn looking_of(&self, asked: ScanRequest) -> Search {
        let on_error = if self.on_error == OnError::Stop { OnError::Stop } else { OnError::Skip };
        Search { on_error, ..self.wanted_of(asked) }
    }

    /// The types that are given, by column.
    fn given<'n>(&self, names: impl Iterator<Item = &'n str> + Clone) -> PyResult<Vec<Option<Kind>>> {
        if let Some((name, _)) = self.types.iter().find(|(name, _)| names.clone().all(|column| column != name)) {
            return Err(PyValueError::new_err(format!("types: there is no column {name:?}")));
        }
        let given = |name: &str| self.types.iter().find(|(given, _)| given == name).map(|(_, kind)| kind.clone());
        Ok(names.map(given).collect())
    }
}

/// The files that a source names, or what it is made of: a list of paths, `bytes`, or an object of `jird._sources`, which
/// is an iterable of chunks with a name.
fn opened(source: &Bound<'_, PyAny>) -> PyResult<(Files, Option<Py<PyAny>>)> {
    let py = source.py();
    let failed = |failure: Failure| failure.into_error(py);
    if let Ok(bytes) = source.cast::<PyBytes>() {
        let memory = Memory(Arc::new(bytes.clone().into()));
        return Ok((Files::of_kept("<bytes>", TextPlace::Bytes(memory)).map_err(failed)?, None));
    }
    if let Some(name) = source.getattr_opt(intern!(py, "chunks_of"))? {
        return Ok((Files::of_chunks(&name.extract::<String>()?), Some(source.clone().unbind())));
    }
    let paths = source.extract::<Vec<PathBuf>>()?;
    Ok((py.detach(|| Files::open(paths)).map_err(failed)?, None))
}
