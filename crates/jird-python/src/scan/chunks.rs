//! Chunks of bytes that code of Python hands out: as a reader.

use pyo3::PyTraverseError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyIterator};
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

/// An iterator of `bytes`, and the exception that it has raised.
#[derive(Debug)]
pub(super) struct Chunks {
    iterator: Mutex<Option<Py<PyIterator>>>,
    raised: Mutex<Option<PyErr>>,
}

impl Chunks {
    pub(super) fn new(iterator: Bound<'_, PyIterator>) -> Self {
        Self { iterator: Mutex::new(Some(iterator.unbind())), raised: Mutex::default() }
    }

    /// The exception that has ended the last read; it is there once.
    pub(super) fn raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Lets the iterator go. Nothing more is read.
    pub(super) fn close(&self) {
        // Released after the lock is, because its finalizer may be code of Python.
        let iterator = self.iterator.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(iterator);
    }

    /// What the collector of cycles must know of.
    pub(super) fn traverse(
        &self,
        visit: impl FnOnce(&Py<PyIterator>) -> Result<(), PyTraverseError>,
    ) -> Result<(), PyTraverseError> {
        match self.iterator.try_lock() {
            Ok(iterator) => iterator.as_ref().map_or(Ok(()), visit),
            Err(_) => Ok(()),
        }
    }

    fn iterator<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyIterator>> {
        let iterator = self.iterator.lock().unwrap_or_else(PoisonError::into_inner);
        iterator.as_ref().map(|iterator| iterator.bind(py).clone())
    }

    /// The next chunk. No lock is held while the iterator's code runs.
    fn next(&self, py: Python<'_>) -> PyResult<Option<PyBackedBytes>> {
        // Chunks that no code of Python makes would leave Ctrl-C unseen.
        py.check_signals()?;
        let Some(mut iterator) = self.iterator(py) else { return Ok(None) };
        iterator.next().transpose()?.map(|chunk| Ok(chunk.cast_into::<PyBytes>()?.into())).transpose()
    }
}

/// Reads the chunks, on whichever thread asks. It returns what a chunk has, and does not wait for the next one.
pub(super) struct ChunkReader {
    chunks: Arc<Chunks>,
    chunk: Option<PyBackedBytes>,
    at: usize,
}

impl ChunkReader {
    pub(super) fn new(chunks: &Arc<Chunks>) -> Self {
        Self { chunks: Arc::clone(chunks), chunk: None, at: 0 }
    }
}

impl Read for ChunkReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(chunk) = &self.chunk {
                let rest = &chunk[self.at..];
                if !rest.is_empty() || buffer.is_empty() {
                    let len = rest.len().min(buffer.len());
                    buffer[..len].copy_from_slice(&rest[..len]);
                    self.at += len;
                    return Ok(len);
                }
            }
            self.at = 0;
            let next = Python::attach(|py| {
                self.chunk = None;
                self.chunks.next(py)
            });
            match next {
                Ok(None) => return Ok(0),
                Ok(chunk) => self.chunk = chunk,
                Err(error) => {
                    *self.chunks.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    return Err(io::Error::other("the reader has raised an exception"));
                }
            }
        }
    }
}
