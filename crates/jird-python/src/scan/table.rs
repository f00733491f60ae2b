//! The class `Scan`.

use super::columns::{self, Batches, Kind};
use super::condition;
use super::failure::Failure;
use super::files::{Files, Search};
use super::input::Input;
use super::program::Run;
use super::progress::Progress;
use super::rows::{Rows, Running};
use crate::forked::{Owned, Process};
use crate::loads::{Builder, Keeps, Typed, with_reader};
use crate::raw::interpreter::Caller;
use crate::raw::members;
use jird::record::{Predicate, Projection};
use jird::{Path, Value};
use jird_formats::ColumnType;
use jird_formats::files::OnError;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyString};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
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
    condition: Option<String>,
    wanted: Option<Py<PyAny>>,
    on_error: OnError,
    threads: usize,
    /// The bad records that streams of Arrow have passed over.
    skipped: Arc<AtomicU64>,
    /// The callback for progress.
    progress: Option<Py<PyAny>>,
}

/// What a scan has on the way, and its condition.
type ScanRequest = (Projection, Option<Predicate>);

#[pymethods]
impl Scan {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "`jird.scan` names and checks them, and is all that calls this")]
    #[pyo3(signature = (paths, range, columns, condition, types, wanted, on_error, threads, progress, /))]
    fn new(
        py: Python<'_>,
        paths: Vec<PathBuf>,
        range: Option<(u64, u64)>,
        columns: Option<Vec<String>>,
        condition: Option<String>,
        types: Option<&Bound<'_, PyDict>>,
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
        let files = py.detach(|| Files::open(paths)).map_err(|failure| failure.into_error(py))?;
        let files = match range {
            None => files,
            Some((start, end)) if start <= end => files.only(&(start..end)).map_err(PyValueError::new_err)?,
            Some((start, end)) => return Err(PyValueError::new_err(format!("range: {end} is before {start}"))),
        };
        let threads = threads.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZero::get);
        let (files, skipped) = (Arc::new(files), Arc::default());
        let scan = Self { files, columns, types, condition, wanted, on_error, threads, skipped, progress };
        scan.asked(&[])?;
        if let Some(columns) = &scan.columns {
            scan.given(columns.iter().map(|(name, _)| name.as_str()))?;
        }
        Ok(scan)
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<ScanIter> {
        let columns = self.columns.as_deref();
        let keys =
            columns.map(|columns| columns.iter().map(|(name, _)| jird::hooks::quoted(name) + ":").collect::<Vec<_>>());
        let asked = self.asked(columns.unwrap_or_default())?;
        let typed = self.wanted.as_ref().map(|wanted| Typed::of(wanted.bind(py))).transpose()?;
        let iter = ScanIter::new(&self.files, self.wanted_of(asked), keys, typed, None);
        Ok(iter.telling(self.progress(py)))
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
        let columns = if let Some(columns) = &self.columns {
            columns.clone()
        } else {
            let wanted = self.looking_of(self.asked(&[])?);
            let keys = py.detach(|| columns::keys(&self.files, &wanted)).map_err(failed)?;
            keys.into_iter().map(|key| (key.clone(), Path::root().key(key))).collect()
        };
        let given = self.given(columns.iter().map(|(name, _)| name.as_str()))?;
        let looking = self.looking_of(self.asked(&columns)?);
        let types = py.detach(|| columns::types(&self.files, &looking, &given)).map_err(failed)?;
        let wanted = self.wanted_of(self.asked(&columns)?);
        let about = columns.into_iter().map(|(name, _)| name).zip(types).collect();
        let told = (Caller::here(py), self.progress(py));
        let stream = Batches::start(Arc::clone(&self.files), wanted, about, told, Arc::clone(&self.skipped));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
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
        let given = |name: &str| self.types.iter().find(|(given, _)| given == name).map(|(_, kind)| *kind);
        Ok(names.map(given).collect())
    }
}

/// `{"a": int, "b": "json"}`
fn column_types(types: &Bound<'_, PyDict>) -> PyResult<Vec<(String, Kind)>> {
    let mut found = Vec::new();
    for (name, kind) in members::copied(types) {
        let word = if kind.is_instance_of::<PyString>() {
            kind.clone()
        } else {
            kind.getattr(intern!(kind.py(), "__name__"))?
        };
        let kind = match word.extract::<String>()?.as_str() {
            "bool" => Kind::Of(ColumnType::Bool),
            "int" => Kind::Of(ColumnType::Int64),
            "uint" => Kind::Of(ColumnType::UInt64),
            "decimal" => Kind::Of(ColumnType::Decimal),
            "float" => Kind::Of(ColumnType::Float64),
            "str" | "text" => Kind::Of(ColumnType::Text),
            "json" => Kind::Of(ColumnType::Json),
            "any" => Kind::Any,
            "offset" => Kind::Offset,
            other => {
                return Err(PyTypeError::new_err(format!(
                    "types: {other:?} is none of bool, int, float, str, \"uint\", \"decimal\", \"json\", \"any\" and \
                     \"offset\""
                )));
            }
        };
        found.push((name.extract()?, kind));
    }
    Ok(found)
}

/// The values of a scan, or of the result of a query, one by one.
#[pyclass(frozen, module = "jird", name = "ScanIter")]
pub(crate) struct ScanIter {
    files: Arc<Files>,
    typed: Option<Typed>,
    skipped: AtomicU64,
    /// The program that writes the records, if one does. It is stopped when they are no longer wanted.
    run: Option<Arc<Run>>,
    /// The process that has its threads.
    process: Process,
    state: Mutex<State>,
}

struct State {
    running: Owned<Running>,
    rows: Option<Rows>,
    /// The records of earlier rows.
    before: u64,
    /// The place of the next record in the rows, and its number.
    place: usize,
    index: usize,
    is_over: bool,
    progress: Option<Progress>,
}

#[pymethods]
impl ScanIter {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.process.check_quickly("the scan")?;
        let mut state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(state)) => state.into_inner(),
            // As generators: a constructor that asks for the next, or another thread meanwhile.
            Err(TryLockError::WouldBlock) => return Err(PyValueError::new_err("the scan is already executing")),
        };
        let state = &mut *state;
        loop {
            if let Some(rows) = &mut state.rows {
                if let Some(document) = rows.document.as_ref().filter(|_| state.index < rows.offsets.len()) {
                    let record = document.at_place(state.place).expect("it is the place of a record");
                    state.place = document.place_behind(record);
                    state.index += 1;
                    let made = self.make(py, document.text(), record);
                    return made.map(Some).map_err(|error| {
                        state.is_over = true;
                        let (at, number) = (rows.offsets[state.index - 1], state.before + state.index as u64);
                        self.placed(py, error, record, (rows.file, at, number))
                    });
                }
                let failure = rows.failure.take();
                state.before += rows.offsets.len() as u64;
                state.rows = None;
                if let Some(failure) = failure {
                    state.is_over = true;
                    return Err(failure.into_error(py));
                }
            }
            if state.is_over || !self.fill(py, state)? {
                state.is_over = true;
                return Ok(None);
            }
        }
    }

    /// Bad lines that were passed over so far.
    #[getter]
    fn skipped(&self) -> u64 {
        self.skipped.load(Relaxed)
    }
}

impl ScanIter {
    /// Starts to read. With `keys`, there are dicts of only these columns.
    pub(super) fn new(
        files: &Arc<Files>,
        wanted: Search,
        keys: Option<Vec<String>>,
        typed: Option<Typed>,
        run: Option<Arc<Run>>,
    ) -> Self {
        let running = Owned::new(Running::start(Arc::clone(files), wanted, keys));
        let process = running.process;
        let state =
            Mutex::new(State { running, rows: None, before: 0, place: 0, index: 0, is_over: false, progress: None });
        Self { files: Arc::clone(files), typed, skipped: AtomicU64::new(0), run, process, state }
    }

    /// The same, with a callback for progress.
    fn telling(self, progress: Option<Progress>) -> Self {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).progress = progress;
        self
    }

    /// Waits for rows; false at the end. Ctrl-C ends the wait.
    fn fill(&self, py: Python<'_>, state: &mut State) -> PyResult<bool> {
        self.process.check("the scan")?;
        let stopped = |error| {
            self.run.iter().for_each(|run| run.stop());
            error
        };
        loop {
            match py.detach(|| state.running.next_soon()) {
                Some(Some(rows)) => {
                    self.skipped.fetch_add(rows.skipped, Relaxed);
                    state.index = 0;
                    state.place = rows
                        .document
                        .as_ref()
                        .map_or(0, |document| document.root().at(0).map_or(0, |first| document.place_of(first)));
                    state.rows = Some(rows);
                    if let (Some(progress), Some(rows)) = (&mut state.progress, &state.rows) {
                        progress.add(py, rows.bytes)?;
                    }
                    py.check_signals().map_err(stopped)?;
                    return Ok(true);
                }
                Some(None) if py.detach(|| state.running.has_panicked()) => return Err(Failure::Lost.into_error(py)),
                Some(None) => {
                    state.progress.take().map_or(Ok(()), |progress| progress.end(py))?;
                    return Ok(false);
                }
                None => py.check_signals().map_err(stopped)?,
            }
        }
    }

    fn make<'py>(&self, py: Python<'py>, text: &[u8], record: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
        with_reader(py, |reader| {
            let builder = Builder::new(py, text, &mut reader.making, Keeps::First);
            match &self.typed {
                Some(typed) => typed.decode(builder, record),
                None => builder.root(record),
            }
        })
    }

    /// The error about a record as a text of its own, with its file and line. Its place is the file, the offset there,
    /// and the number of the record, from one on.
    fn placed(&self, py: Python<'_>, error: PyErr, record: Value<'_>, place: (usize, u64, u64)) -> PyErr {
        let (file, offset, number) = place;
        let text = record.raw();
        let Ok(alone) = jird::parse(text) else { return error };
        let Err(alone) = self.make(py, text, alone.root()) else { return error };
        let name = self.files.path(file).display().to_string();
        // What a program has written has a record in each line, and cannot be read again.
        let line = if self.run.is_some() { Ok(number) } else { py.detach(|| self.files.line_of(file, offset)) };
        let line = line.unwrap_or(0);
        let placed = || alone.value(py).call_method1(intern!(py, "_in"), (format!("{name}, line {line}"),));
        if !alone.value(py).hasattr(intern!(py, "_in")).unwrap_or(false) {
            return error;
        }
        match placed() {
            Ok(raised) => {
                let raised = PyErr::from_value(raised);
                raised.set_cause(py, alone.cause(py));
                raised
            }
            Err(error) => error,
        }
    }
}

impl Drop for ScanIter {
    fn drop(&mut self) {
        self.run.iter().for_each(|run| run.stop());
    }
}
