//! JSON text, written value by value into a buffer.

use jird::event::{self, Numeral};

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
        self.string(key);
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

    #[inline]
    pub(crate) fn raw(&mut self, text: &[u8]) {
        self.before();
        self.text.extend_from_slice(text);
    }

    #[inline]
    pub(crate) fn string(&mut self, text: &str) {
        self.before();
        event::write_string(text, &mut self.text);
    }

    #[inline]
    pub(crate) fn number(&mut self, number: Numeral<'_>) {
        self.before();
        number.write(&mut self.text);
    }
}
