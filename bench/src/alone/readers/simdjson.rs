//! simdjson's streams of documents, `parse_many` and `iterate_many`: `peers/simdjson_driver.cpp`.

#![allow(unsafe_code, reason = "calling C++ is unsafe; all of it is here")]

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

use super::{Answer, JOB, PATH, Query, SLOW};
use crate::fold::Fold;

/// Which of the two.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    /// `parse_many`: a DOM of each line.
    Parsed,
    /// `iterate_many`: On-Demand.
    Iterated,
}

/// `bench_lines_answer` of the driver.
#[repr(C)]
#[derive(Default)]
struct RawAnswer {
    records: u64,
    hits: u64,
    bytes: u64,
    exact: u64,
}

unsafe extern "C" {
    fn bench_simdjson_lines_make(text: *const u8, length: usize) -> *mut c_void;
    fn bench_simdjson_lines_read(
        lines: *mut c_void,
        length: usize,
        lazily: c_int,
        counts: c_int,
        bound: f64,
        needle: *const u8,
        needle_length: usize,
        answer: *mut RawAnswer,
    ) -> c_int;
    fn bench_simdjson_lines_free(lines: *mut c_void);
}

/// A text in the driver's memory.
pub(super) struct Lines {
    driver: NonNull<c_void>,
    len: usize,
    stream: Stream,
}

impl Lines {
    /// Copies the text.
    pub(super) fn new(text: &[u8], stream: Stream) -> Option<Self> {
        // SAFETY: the call reads the bytes of the slice.
        let lines = unsafe { bench_simdjson_lines_make(text.as_ptr(), text.len()) };
        Some(Self { driver: NonNull::new(lines)?, len: text.len(), stream })
    }

    /// The answer that the first `len` bytes have, which are whole lines. `None` if a line is refused.
    pub(super) fn read(&mut self, len: usize, query: &Query) -> Option<Answer> {
        assert!(len <= self.len, "the driver does not check it");
        let needle = match query {
            Query::Filter | Query::Count => "",
            Query::Match(_) => PATH,
            Query::Rare(_) => JOB,
        };
        let (lazily, counts) = (self.stream == Stream::Iterated, matches!(query, Query::Count));
        let mut raw = RawAnswer::default();
        // SAFETY: the lines are open, and have `len` bytes or more; the call reads the bytes of the needle and writes the
        // answer.
        let status = unsafe {
            bench_simdjson_lines_read(
                self.driver.as_ptr(),
                len,
                c_int::from(lazily),
                c_int::from(counts),
                SLOW,
                needle.as_ptr(),
                needle.len(),
                &raw mut raw,
            )
        };
        let RawAnswer { records, hits, bytes, exact } = raw;
        (status == 0).then(|| Answer { records, hits, bytes, fold: Fold::from_parts(exact, 0, 0.0) })
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        // SAFETY: the lines are open, and nothing else holds them.
        unsafe { bench_simdjson_lines_free(self.driver.as_ptr()) }
    }
}
