//! JSON text, written value by value into a buffer.

use crate::cell::Cell;
use core::convert::Infallible;
use jird::event::{Interest, Key, Numeral, Sink};

/// JSON text, built from events.
#[derive(Debug, Default)]
pub(crate) struct Json {
    pub(crate) text: Vec<u8>,
    first: bool,
    behind_key: bool,
}

impl Json {
    /// Forgets what was written, and prepares for one value.
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

    /// A key that is not a string.
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

    /// A value that JSON cannot represent.
    #[cfg(any(feature = "arrow", feature = "sqlite"))]
    pub(crate) fn raw(&mut self, text: &[u8]) {
        self.before();
        self.text.extend_from_slice(text);
    }
}

/// Writes one value. The caller calls `begin` before the first event and takes the text after the last one.
impl Sink for Json {
    type Error = Infallible;

    fn begin_object(&mut self) -> Result<(), Infallible> {
        self.open(b'{');
        Ok(())
    }

    fn key(&mut self, key: Key<'_>) -> Result<Interest, Infallible> {
        Self::key(self, key.text());
        Ok(Interest::Take)
    }

    fn end_object(&mut self) -> Result<(), Infallible> {
        self.close(b'}');
        Ok(())
    }

    fn begin_array(&mut self) -> Result<(), Infallible> {
        self.open(b'[');
        Ok(())
    }

    fn end_array(&mut self) -> Result<(), Infallible> {
        self.close(b']');
        Ok(())
    }

    fn null(&mut self) -> Result<(), Infallible> {
        self.cell(Cell::Null);
        Ok(())
    }

    fn bool(&mut self, value: bool) -> Result<(), Infallible> {
        self.cell(Cell::Bool(value));
        Ok(())
    }

    fn number(&mut self, number: Numeral<'_>) -> Result<(), Infallible> {
        self.cell(Cell::Number(number));
        Ok(())
    }

    fn string(&mut self, text: &str) -> Result<(), Infallible> {
        self.cell(Cell::Text(text));
        Ok(())
    }
}
