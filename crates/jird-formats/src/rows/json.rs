//! JSON text, written value by value into a buffer.

use core::convert::Infallible;
use jird::event::{self, Interest, Key, Numeral, Sink};

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

/// Writes one value down: what begins before the first event and is taken after the last one.
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
        self.raw(b"null");
        Ok(())
    }

    fn bool(&mut self, value: bool) -> Result<(), Infallible> {
        self.raw(if value { b"true" } else { b"false" });
        Ok(())
    }

    fn number(&mut self, number: Numeral<'_>) -> Result<(), Infallible> {
        Self::number(self, number);
        Ok(())
    }

    fn string(&mut self, text: &str) -> Result<(), Infallible> {
        Self::string(self, text);
        Ok(())
    }
}
