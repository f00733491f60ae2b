//! The peers in C and C++. Each has a table of functions (`peers/peer.h`), which one `Peer` calls.
//!
//! No address that they return is read. They copy text into a buffer of Rust's, and the length that they return is
//! checked; whether they do the task is seen by whether a pointer is null; their state goes back to them alone.

#![allow(unsafe_code, reason = "calling C++ is unsafe; all of it is here")]

use std::ffi::{c_char, c_void};

use crate::copied::copied;
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

/// Longer than any version.
const VERSION_BYTES_MAX: usize = 256;

/// The most bytes that a minified document has for each byte of the document: as `\u0000`.
const MINIFIED_GROWTH_MAX: usize = 6;

/// `bench_peer` of `peers/peer.h`.
#[repr(C)]
struct Table {
    version: unsafe extern "C" fn(*mut u8, usize) -> usize,
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
    minified: Option<Copying>,
    scan: Option<Counting>,
    free: unsafe extern "C" fn(*mut c_void),
}

type Folding = unsafe extern "C" fn(*mut c_void, usize, *mut RawFold) -> *const c_char;
type Checking = unsafe extern "C" fn(*mut c_void, usize) -> *const c_char;
type Writing = unsafe extern "C" fn(*mut c_void, usize, *mut usize) -> *const c_char;
type Copying = unsafe extern "C" fn(*mut c_void, *mut u8, usize) -> usize;
type Counting = unsafe extern "C" fn(*mut c_void, usize, *mut u64) -> *const c_char;

/// `bench_fold` of `peers/peer.h`.
#[repr(C)]
#[derive(Default)]
struct RawFold {
    exact: u64,
    reals: u64,
    sum: f64,
}

struct Foreign {
    table: &'static Table,
    /// Made by `table.make`, alive until `drop`, and passed only to functions of `table`.
    state: *mut c_void,
    /// The number of loaded documents.
    len: usize,
    /// The length of the longest one.
    longest_bytes: usize,
}

impl Foreign {
    fn new(table: &'static Table) -> Self {
        Self { table, state: (table.make)(), len: 0, longest_bytes: 0 }
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
        let text = copied(VERSION_BYTES_MAX, |into| {
            // SAFETY: the driver writes at most `into.len()` bytes to `into`.
            unsafe { (self.table.version)(into.as_mut_ptr(), into.len()) }
        });
        text.map_or_else(|reason| reason, |text| String::from_utf8_lossy(&text).into_owned())
    }

    fn load(&mut self, documents: &[Vec<u8>]) {
        self.discard();
        self.state = (self.table.make)();
        self.len = documents.len();
        self.longest_bytes = documents.iter().map(Vec::len).max().unwrap_or_default();
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

    fn minify(&mut self, index: usize) -> Answer<usize> {
        let function = self.table.minify.ok_or(Refusal::NotDone)?;
        assert!(index < self.len, "the driver does not check it");
        let mut len = 0;
        // SAFETY: `state` is alive and belongs to this table, `index` is below the number of documents, `len` is
        // writable.
        let reason = unsafe { function(self.state, index, &raw mut len) };
        if reason.is_null() { Ok(len) } else { Err(Refusal::Rejected) }
    }

    fn minified(&self) -> Result<Vec<u8>, String> {
        let function = self.table.minified.ok_or("does not minify")?;
        copied(MINIFIED_GROWTH_MAX * self.longest_bytes, |into| {
            // SAFETY: `state` is alive and belongs to this table, and the driver writes at most `into.len()` bytes to
            // `into`.
            unsafe { function(self.state, into.as_mut_ptr(), into.len()) }
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What a driver says that its texts have, instead of what it copied.
    const CLAIMED_BYTES: usize = 1 << 40;

    extern "C" fn version(_into: *mut u8, _capacity: usize) -> usize {
        CLAIMED_BYTES
    }

    extern "C" fn make() -> *mut c_void {
        std::ptr::null_mut()
    }

    extern "C" fn load(_state: *mut c_void, _text: *const u8, _len: usize) {}

    extern "C" fn refresh(_state: *mut c_void, _index: usize) {}

    extern "C" fn minify(_state: *mut c_void, _index: usize, len: *mut usize) -> *const c_char {
        // SAFETY: the caller passes the address of its variable.
        unsafe { *len = CLAIMED_BYTES }
        std::ptr::null()
    }

    extern "C" fn minified(_state: *mut c_void, into: *mut u8, capacity: usize) -> usize {
        // SAFETY: the caller passes a buffer with this capacity.
        unsafe { into.write_bytes(b'1', capacity) }
        CLAIMED_BYTES
    }

    extern "C" fn free(_state: *mut c_void) {}

    static LYING: Table = Table {
        version,
        make,
        load,
        refresh,
        dom: None,
        parse: None,
        validate: None,
        partial: None,
        users: None,
        two: None,
        minify: Some(minify),
        minified: Some(minified),
        scan: None,
        free,
    };

    #[test]
    fn a_driver_that_claims_more_text_than_fits_is_refused() {
        let mut peer = Foreign::new(&LYING);
        peer.load(&[b"[1, 2]".to_vec()]);
        assert_eq!(peer.minify(0), Ok(CLAIMED_BYTES));
        let most = MINIFIED_GROWTH_MAX * b"[1, 2]".len();
        let refused =
            format!("the driver says that it has {CLAIMED_BYTES} bytes, but {most} are the most that it can have");
        assert_eq!(peer.minified(), Err(refused));
        assert!(peer.version().starts_with("the driver says"));
    }
}
