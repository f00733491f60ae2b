//! The class `ScanIter`.

use super::files::{Files, Search};
use super::program::Run;
use super::progress::Progress;
use super::rows::{Rows, Running};
use super::source::{Next, Source};
use crate::forked::{Owned, Process};
use crate::loads::{Builder, DETACHED_MIN, Keeps, Typed, with_reader};
use jird::Value;
use pyo3::exceptions::PyValueError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

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
    source: Source,
    rows: Option<Rows>,
    /// The records of earlier rows.
    before: u64,
    /// The place of the next record in the rows, and its number.
    place: usize,
    index: usize,
    is_over: bool,
    progress: Option<Progress>,
}

impl State {
    /// There is nothing more after an error.
    fn end(&mut self) {
        (self.is_over, self.rows) = (true, None);
        self.source.close();
    }
}

#[pymethods]
impl ScanIter {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.process.check_quickly("the scan")?;
        let mut state = self.state()?;
        let state = &mut *state;
        loop {
            if let Some(rows) = &mut state.rows {
                if let Some(document) = rows.document.as_ref().filter(|_| state.index < rows.offsets.len()) {
                    let record = document.at_place(state.place).expect("it is the place of a record");
                    state.place = document.place_behind(record);
                    state.index += 1;
                    let error = match self.make(py, document.text(), record) {
                        Ok(made) => return Ok(Some(made)),
                        Err(error) => error,
                    };
                    let (at, number) = (rows.offsets[state.index - 1], state.before + state.index as u64);
                    // What a program has written has a record in each line, and cannot be read again.
                    let line = if self.run.is_some() { Some(number) } else { state.source.line_of(at) };
                    let error = self.placed(py, error, record, (rows.file, at, line));
                    state.end();
                    return Err(error);
                }
                let failure = rows.failure.take();
                state.before += rows.offsets.len() as u64;
                state.rows = None;
                if let Some(failure) = failure {
                    state.end();
                    return Err(failure.into_error(py));
                }
            }
            if state.is_over || !self.fill(py, state)? {
                return Ok(None);
            }
        }
    }

    /// Takes the next bytes, in an iteration that [`Scan::feed`](super::Scan) began. Ask for all of their records before
    /// the next push.
    fn _push(&self, py: Python<'_>, bytes: Bound<'_, PyBytes>) -> PyResult<()> {
        let mut state = self.state()?;
        let State { source, rows, place, index, is_over, .. } = &mut *state;
        let bytes = bytes.as_bytes();
        if let Source::Pushed(feed, false) = source
            && rows.is_none()
            && !*is_over
        {
            let pushed = if bytes.len() < DETACHED_MIN { feed.push(bytes) } else { py.detach(|| feed.push(bytes)) };
            if let Some(pushed) = pushed {
                (*place, *index) = (pushed.first(), 0);
                self.skipped.fetch_add(pushed.skipped, Relaxed);
                *rows = Some(pushed);
            }
        }
        Ok(())
    }

    /// There will be no more: what is left is the last line.
    fn _end(&self) -> PyResult<()> {
        if let Source::Pushed(_, is_ended) = &mut self.state()?.source {
            *is_ended = true;
        }
        Ok(())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // While its own thread runs it, it is in use.
        match self.state.try_lock() {
            Ok(state) => state.source.chunks().map_or(Ok(()), |chunks| chunks.traverse(|held| visit.call(held))),
            Err(_) => Ok(()),
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
        Self::of(files, Source::Threads(running), typed, run)
    }

    /// What comes from a source.
    pub(super) fn of(files: &Arc<Files>, source: Source, typed: Option<Typed>, run: Option<Arc<Run>>) -> Self {
        let state =
            Mutex::new(State { source, rows: None, before: 0, place: 0, index: 0, is_over: false, progress: None });
        let (skipped, process) = (AtomicU64::new(0), Process::this());
        Self { files: Arc::clone(files), typed, skipped, run, process, state }
    }

    #[inline(always)]
    fn state(&self) -> PyResult<MutexGuard<'_, State>> {
        match self.state.try_lock() {
            Ok(state) => Ok(state),
            Err(TryLockError::Poisoned(state)) => Ok(state.into_inner()),
            // As generators: a constructor or a reader that asks for the next, or another thread meanwhile.
            Err(TryLockError::WouldBlock) => Err(PyValueError::new_err("the scan is already executing")),
        }
    }

    /// The same, with a callback for progress.
    pub(super) fn telling(self, progress: Option<Progress>) -> Self {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).progress = progress;
        self
    }

    /// Waits for rows; false at the end, and where more must be pushed first. Ctrl-C ends the wait.
    fn fill(&self, py: Python<'_>, state: &mut State) -> PyResult<bool> {
        self.process.check("the scan")?;
        let stopped = |error| {
            self.run.iter().for_each(|run| run.stop());
            error
        };
        loop {
            match state.source.next(py)? {
                Next::Rows(rows) => {
                    self.skipped.fetch_add(rows.skipped, Relaxed);
                    (state.place, state.index) = (rows.first(), 0);
                    let bytes = rows.bytes;
                    state.rows = Some(rows);
                    if let Some(progress) = &mut state.progress {
                        progress.add(py, bytes)?;
                    }
                    py.check_signals().map_err(stopped)?;
                    return Ok(true);
                }
                Next::End => {
                    state.is_over = true;
                    state.progress.take().map_or(Ok(()), |progress| progress.end(py))?;
                    return Ok(false);
                }
                Next::NeedsMore => return Ok(false),
                Next::Later => py.check_signals().map_err(stopped)?,
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
    /// and the line, if that is known.
    fn placed(&self, py: Python<'_>, error: PyErr, record: Value<'_>, place: (usize, u64, Option<u64>)) -> PyErr {
        let (file, offset, line) = place;
        let text = record.raw();
        let Ok(alone) = jird::parse(text) else { return error };
        let Err(alone) = self.make(py, text, alone.root()) else { return error };
        let name = self.files.path(file).display().to_string();
        let line = line.unwrap_or_else(|| py.detach(|| self.files.line_of(file, offset)).unwrap_or(0));
        let placed =
            || alone.value(py).call_method1(intern!(py, "_in"), (format!("{name}, {} {line}", self.files.unit()),));
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
