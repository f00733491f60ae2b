//! The Python module `jird`: what `import jird` shows is in `python/jird`, and what does the work is here, in the
//! extension module `jird._jird`.
//!
//! From the ground up; after the dash: where to start reading.
//!
//! ```text
//! raw       Python's objects at the level of its C API; all unsafe code is here - make, Keys, Output, Encoder
//! system    what operating systems do in different ways
//! error     the exceptions - decode, encode
//! forked    in which process something was begun - Process, Owned
//! loads     text → tape → Python's values; short texts without a tape (small); values of types that the caller names
//!           (typed) - loads, Builder, Typed
//! dumps     Python's values → text: what the walk in raw/encode does not know; what it remembers of classes (kinds)
//!           - dumps, other::write
//! document  lazy documents, arrays of numbers as buffers, and documents that are still arriving - Document, Partial
//! stdlib    values and texts as Python's `json` reads and writes them - json_loads, json_dumps
//! scan      lines of files and streams, and results of queries, as values and as columns of Arrow - Scan, Query
//! database  SQLite databases as targets; another process writes them - frame_of, Frames, write_databases
//! store     event stores as targets - Store
//! ```
//!
//! `raw/calls.md` says which calls may run Python's code. `python/jird/_types.py` works out the plans by which
//! `loads/typed` makes values, `_encode.py` says what stands for values that JSON has no kind for, `_files.py` reads and
//! writes whole files (`load`, `dump`, `Writer`), `_sources.py` makes chunks of what `scan` reads besides files, `_async.py`
//! scans in an event loop, and `_writer.py` starts the process that writes databases.
//! `python/jird/frameworks` joins jird to Flask, Starlette and Django; `import jird` imports none of it.
//! `python/jird/spark` is the data source for Spark, over `jird.scan`; nothing else of the package imports it, or
//! pyspark. Spark looks for data sources in the module `python/pyspark_jird`.
//!
//! Without the feature `extension` this crate is empty; see `Cargo.toml`.
#![cfg(feature = "extension")]
#![deny(unsafe_code)]
#![allow(clippy::needless_pass_by_value, reason = "PyO3 passes arguments so")]
#![allow(clippy::doc_markdown, reason = "the docstrings of Python are read as they stand")]
#![allow(clippy::self_named_constructors, reason = "the names of Python's protocols")]

mod database;
mod document;
mod dumps;
mod error;
mod forked;
mod loads;
mod raw;
mod scan;
mod stdlib;
mod store;
mod system;

/// The functions and classes of `jird`, which is a package around this module.
///
/// The caches are one for the process, and are guarded by the interpreter's lock: a sub-interpreter is refused, and so
/// is a free-threaded one, by `jird/__init__.py`.
#[pyo3::pymodule(gil_used = true)]
mod _jird {
    #[pymodule_export]
    use crate::database::{Frames, frame_of, write_databases};
    #[pymodule_export]
    use crate::document::{Document, Iter, Partial, parse};
    use crate::dumps::{Dumps, Encode};
    #[pymodule_export]
    use crate::dumps::{Fragment, PyEncoder, dumps};
    use crate::loads::{Decode, Loads};
    #[pymodule_export]
    use crate::loads::{Decoder, loads};
    use crate::raw::entry::install;
    #[cfg(debug_assertions)]
    use crate::raw::entry::{Arguments, Entry, Wrapped};
    #[pymodule_export]
    use crate::scan::{Query, Scan, ScanIter};
    #[pymodule_export]
    use crate::stdlib::{json_dumps, json_loads};
    #[pymodule_export]
    use crate::store::Store;
    use pyo3::exceptions::PyImportError;
    use pyo3::panic::PanicException;
    use pyo3::prelude::*;
    use std::ffi::OsString;

    /// Runs the program `jird` with these arguments, starting with its name, and returns its exit code. It is
    /// to be all that the process does; see `jird.__main__`.
    #[pyfunction]
    fn run(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| jird_cli::run(arguments))
    }

    /// Panics, in builds for tests.
    #[cfg(debug_assertions)]
    #[pyfunction]
    fn _panic(words: &str) {
        panic!("{words}");
    }

    /// The same, of an argument without a name.
    #[cfg(debug_assertions)]
    struct Panic;

    #[cfg(debug_assertions)]
    static PANIC: Wrapped = Wrapped::new();

    #[cfg(debug_assertions)]
    impl Entry for Panic {
        const WRAPPED: &'static Wrapped = &PANIC;

        fn call<'py>(_: &Bound<'py, PyAny>, arguments: Arguments<'_, 'py>) -> Option<Bound<'py, PyAny>> {
            panic!("{}", *arguments.only()?)
        }
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        if !crate::raw::interpreter::is_main(module.py()) {
            return Err(PyImportError::new_err(
                "jird cannot be imported into a sub-interpreter, only into the main interpreter",
            ));
        }
        jird_cli::force_kernel().map_err(|error| PyImportError::new_err(format!("{error:#}")))?;
        crate::forked::watch(module.py())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("kernel", jird::hooks::Kernel::best().name())?;
        // What a panic becomes; `jird.errors` makes a RuntimeError of it.
        module.add("PanicException", module.py().get_type::<PanicException>())?;
        module.add("END", crate::database::END)?;
        module.add("ABANDONED", crate::database::ABANDONED)?;
        #[cfg(debug_assertions)]
        install::<Panic>(module, c"_panic")?;
        install::<Loads>(module, c"loads")?;
        install::<Dumps>(module, c"dumps")?;
        install::<Decode>(&module.getattr("Decoder")?, c"decode")?;
        install::<Encode>(&module.getattr("Encoder")?, c"encode")?;
        for (name, bit) in crate::dumps::OPTIONS {
            module.add(name, bit)?;
        }
        Ok(())
    }
}
