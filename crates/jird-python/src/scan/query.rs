//! The class `Query`.

use super::columns::Batches;
use super::files::{Files, Search};
use super::iter::ScanIter;
use super::program::{Program, Run};
use crate::loads::Typed;
use crate::raw::interpreter::Caller;
use jird::record::Projection;
use jird_formats::files::OnError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The result of a query: an iterable of dicts or typed objects, and a stream of Arrow batches (`__arrow_c_stream__`).
///
/// Each use runs the program `jird` again. See `jird.query`, which makes objects of a subclass.
#[pyclass(frozen, subclass, module = "jird._jird", name = "Query")]
pub(crate) struct Query {
    program: Arc<Program>,
    wanted: Option<Py<PyAny>>,
    /// The last run.
    last: Mutex<Option<Arc<Run>>>,
}

#[pymethods]
impl Query {
    #[new]
    #[pyo3(signature = (program, arguments, wanted, skips_bad, /))]
    fn new(
        py: Python<'_>,
        program: PathBuf,
        arguments: Vec<OsString>,
        wanted: Option<Py<PyAny>>,
        skips_bad: bool,
    ) -> PyResult<Self> {
        if let Some(wanted) = &wanted {
            Typed::of(wanted.bind(py))?;
        }
        let program = Arc::new(Program { path: program, arguments, skips_bad });
        Ok(Self { program, wanted, last: Mutex::default() })
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<ScanIter> {
        let typed = self.wanted.as_ref().map(|wanted| Typed::of(wanted.bind(py))).transpose()?;
        let run = self.run();
        let files = Arc::new(Files::of_run(Arc::clone(&run)));
        // The program uses all cores; what it writes is parsed by one.
        let wanted = Search { projection: Projection::new(&[]), filter: None, on_error: OnError::Stop, threads: 1 };
        Ok(ScanIter::new(&files, wanted, None, typed, Some(run)))
    }

    /// The result as a stream of Arrow batches, by the Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // What a consumer asks for is a wish; the types are those of the query.
        drop(requested_schema);
        let (run, caller) = (self.run(), Caller::here(py));
        let stream = py.detach(|| Batches::of_run(&run, caller));
        py.check_signals()?;
        PyCapsule::new_with_value(py, stream.map_err(|failure| failure.into_error(py))?, c"arrow_array_stream")
    }

    /// What the program said of the last use, once that was read to its end: how many bad records were left out, and
    /// what may be a mistake in the query.
    #[getter]
    fn notes(&self) -> Vec<String> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        last.map_or_else(Vec::new, |run| run.notes())
    }
}

impl Query {
    fn run(&self) -> Arc<Run> {
        let run = Run::new(&self.program);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&run));
        run
    }
}
