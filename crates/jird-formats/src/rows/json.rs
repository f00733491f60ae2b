//! JSON text, written value by value into a buffer.

use crate::cell::Cell;

/// JSON text as it is written down.
#[derive(Debug, Default)]
pub(crate) struct Json {
    pub(crate) text: Vec<u8>,
    first: bool,
    behind_key: bool,
}

impl Json {
    /// Forgets what was written: one value comes now.
    pub(crate) fn begin(&mut self) {
        self.text.clear();
        self.first = true;
        self.behind_key = true;
    }

    #[inline]
    fn before(&mut self) {
        if !core::mem::replace(&mut self.behind_key, false) && !self.first {
            self.text.push(b',');
        }
        self.first = false;
    }

    #[inline]
    pub(crate) fn open(&mut self, bracket: u8) {
        self.before();
        self.text.push(bracket);
        self.first = true;
    }

    #[inline]
    pub(crate) fn close(&mut self, bracket: u8) {
        self.text.push(bracket);
        self.first = false;
    }

    #[inline]
    pub(crate) fn key(&mut self, key: &str) {
        self.cell(Cell::Text(key));
        self.text.push(b':');
        self.behind_key = true;
    }

    /// A key that is no string.
    #[cfg(any(feature = "arrow", feature = "sqlite"))]
    pub(crate) fn raw_key(&mut self, text: &[u8]) {
        self.raw(text);
        self.text.push(b':');
        self.behind_key = true;
    }

    #[inline(always)]
    pub(crate) fn cell(&mut self, cell: Cell<'_>) {
        self.before();
        cell.write_json(&mut self.text);
    }

    /// A value that is no JSON.
    #[cfg(any(feature = "arrow", feature = "sqlite"))]
    pub(crate) fn raw(&mut self, text: &[u8]) {
        self.before();
        self.text.extend_from_slice(text);
    }
}
