//! The peers in C and C++. Each has a table of functions (`peers/peer.h`), which one `Peer` calls.

#![allow(unsafe_code, reason = "calling C++ is unsafe; all of it is here")]

use std::ffi::{CStr, c_char, c_void};

use crate::fold::Fold;
use crate::peer::{Answer, Peer, Refusal};

/// simdjson's DOM.
pub(super) fn simdjson_dom() -> Result<Box<dyn Peer>, String> {
    table!(bench_simdjson, bench_simdjson_dom, "BENCH_SIMDJSON_MISSING")
}

/// simdjson's On-Demand.
pub(super) fn simdjson_ondemand() -> Result<Box<dyn Peer>, String> {
    table!(bench_simdjson, bench_simdjson_ondemand, "BENCH_SIMDJSON_MISSING")
}

/// simdjson's first stage.
pub(super) fn simdjson_stage_one() -> Result<Box<dyn Peer>, String> {
    table!(bench_simdjson, bench_simdjson_stage_one, "BENCH_SIMDJSON_MISSING")
}

/// yyjson from constant text.
pub(super) fn yyjson() -> Result<Box<dyn Peer>, String> {
    table!(bench_yyjson, bench_yyjson, "BENCH_YYJSON_MISSING")
}

/// yyjson in situ.
pub(super) fn yyjson_insitu() -> Result<Box<dyn Peer>, String> {
    table!(bench_yyjson, bench_yyjson_insitu, "BENCH_YYJSON_MISSING")
}

/// `RapidJSON` in situ.
pub(super) fn rapidjson() -> Result<Box<dyn Peer>, String> {
    table!(bench_rapidjson, bench_rapidjson, "BENCH_RAPIDJSON_MISSING")
}

/// The peer of a C++ table, or the build script's reason why there is none.
macro_rules! table {
    ($built:ident, $symbol:ident, $missing:literal) => {{
        #[cfg($built)]
        {
            unsafe extern "C" {
                static $symbol: Table;
            }
            // SAFETY: `$symbol` is a constant of the driver that the build script linked, with the layout that
            // `peers/peer.h` declares.
            let table: &'static Table = unsafe { &$symbol };
            Ok(Box::new(Foreign::new(table)))
        }
        #[cfg(not($built))]
        {
            Err(env!($missing).to_owned())
        }
    }};
}
use table;

/// `bench_peer` of `peers/peer.h`.
#[repr(C)]
struct Table {
    version: extern "C" fn() -> *const c_char,
    make: extern "C" fn() -> *mut c_void,
    load: unsafe extern "C" fn(*mut c_void, *const u8, usize),
    refresh: unsafe extern "C" fn(*mut c_void, usize),
    dom: Option<Folding>,
    parse: Option<Checking>,
    validate: Option<Checking>,
    partial: Option<Folding>,
    users: Option<Folding>,
    two: Option<Folding>,
    minify: Option<Writing>,
    scan: Option<Counting>,
    free: unsafe extern "C" fn(*mut c_void),
}

type Folding = unsafe extern "C" fn(*mut c_void, usize, *mut RawFold) -> *const c_char;
type Checking = unsafe extern "C" fn(*mut c_void, usize) -> *const c_char;
type Writing = unsafe extern "C" fn(*mut c_void, usize, *mut RawText) -> *const c_char;
type Counting = unsafe extern "C" fn(*mut c_void, usize, *mut u64) -> *const c_char;

/// `bench_fold` of `peers/peer.h`.
#[repr(C)]
#[derive(Default)]
struct RawFold {
    exact: u64,
    reals: u64,
    sum: f64,
}

/// `bench_text` of `peers/peer.h`.
#[repr(C)]
struct RawText {
    at: *const u8,
    len: usize,
}

struct Foreign {
    table: &'static Table,
    /// Made by `table.make`, alive until `drop`, and passed only to functions of `table`.
    state: *mut c_void,
    len: usize,
}

impl Foreign {
    fn new(table: &'static Table) -> Self {
        Self { table, state: (table.make)(), len: 0 }
    }

    fn fold(&mut self, function: Option<Folding>, index: usize) -> Answer<Fold> {
        let function = function.ok_or(Refusal::NotDone)?;
        assert!(index < self.len, "the driver does not check it");
        let mut fold = RawFold::default();
        // SAFETY: `state` is alive and belongs to this table, `index` is below the number of loaded documents, `fold`
        // is writable.
        let reason = unsafe { function(self.state, index, &raw mut fold) };
        if reason.is_null() { Ok(Fold::from_parts(fold.exact, fold.reals, fold.sum)) } else { Err(Refusal::Rejected) }
    }

    fn check(&mut self, function: Option<Checking>, index: usize) -> Answer<()> {
        let function = function.ok_or(Refusal::NotDone)?;
        assert!(index < self.len, "the driver does not check it");
        // SAFETY: `state` is alive and belongs to this table, `index` is below the number of loaded documents.
        let reason = unsafe { function(self.state, index) };
        if reason.is_null() { Ok(()) } else { Err(Refusal::Rejected) }
    }

    fn discard(&mut self) {
        // SAFETY: `state` came from this table's `make`, and nothing else holds it.
        unsafe { (self.table.free)(self.state) }
    }
}

impl Peer for Foreign {
    fn version(&self) -> String {
        // SAFETY: every driver returns text in static storage that ends with a zero byte.
        let text = unsafe { CStr::from_ptr((self.table.version)()) };
        text.to_string_lossy().into_owned()
    }

    fn load(&mut self, documents: &[Vec<u8>]) {
        self.discard();
        self.state = (self.table.make)();
        self.len = documents.len();
        for document in documents {
            // SAFETY: `state` is alive and belongs to this table; the driver copies the `len` bytes at the pointer.
            unsafe { (self.table.load)(self.state, document.as_ptr(), document.len()) }
        }
    }

    fn refresh(&mut self, index: usize) {
        assert!(index < self.len, "the driver does not check it");
        // SAFETY: `state` is alive and belongs to this table, `index` is below the number of loaded documents.
        unsafe { (self.table.refresh)(self.state, index) }
    }

    fn dom(&mut self, index: usize) -> Answer<Fold> {
        self.fold(self.table.dom, index)
    }

    fn parse(&mut self, index: usize) -> Answer<()> {
        self.check(self.table.parse, index)
    }

    fn validate(&mut self, index: usize) -> Answer<()> {
        self.check(self.table.validate, index)
    }

    fn partial(&mut self, index: usize) -> Answer<Fold> {
        self.fold(self.table.partial, index)
    }

    fn users(&mut self, index: usize) -> Answer<Fold> {
        self.fold(self.table.users, index)
    }

    fn two(&mut self, index: usize) -> Answer<Fold> {
        self.fold(self.table.two, index)
    }

    fn minify(&mut self, index: usize) -> Answer<&[u8]> {
        let function = self.table.minify.ok_or(Refusal::NotDone)?;
        assert!(index < self.len, "the driver does not check it");
        let mut text = RawText { at: std::ptr::null(), len: 0 };
        // SAFETY: `state` is alive and belongs to this table, `index` is below the number of documents, `text` is
        // writable.
        let reason = unsafe { function(self.state, index, &raw mut text) };
        if !reason.is_null() || text.at.is_null() {
            return Err(Refusal::Rejected);
        }
        // SAFETY: the driver wrote `len` bytes there and keeps them until it is called again. The answer borrows
        // `self`, which forbids such a call.
        Ok(unsafe { std::slice::from_raw_parts(text.at, text.len) })
    }

    fn scan(&mut self, index: usize) -> Answer<u64> {
        let function = self.table.scan.ok_or(Refusal::NotDone)?;
        assert!(index < self.len, "the driver does not check it");
        let mut answer = 0;
        // SAFETY: `state` is alive and belongs to this table, `index` is below the number of documents, `answer` is
        // writable.
        let reason = unsafe { function(self.state, index, &raw mut answer) };
        if reason.is_null() { Ok(answer) } else { Err(Refusal::Rejected) }
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        self.discard();
    }
}
