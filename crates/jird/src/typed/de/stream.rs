//! Iterates over consecutive values.

use super::{Deserializer, Read};
use crate::error::Error;
use core::marker::PhantomData;
use serde_core::de::Deserialize;

/// An iterator over the consecutive values of a text or a reader, with or without white space between them.
/// [`Deserializer::into_iter`] returns it. It ends after the first error.
///
/// ```
/// let values = jird::Deserializer::from_str("1 [2]\n\"x\"").into_iter::<serde_json::Value>();
/// assert_eq!(values.map(|value| value.unwrap().to_string()).collect::<Vec<_>>(), ["1", "[2]", "\"x\""]);
/// ```
pub struct StreamDeserializer<'de, R, T> {
    de: Deserializer<R>,
    offset: u64,
    failed: bool,
    values: PhantomData<fn() -> (T, &'de ())>,
}

impl<'de, R: Read<'de>, T: Deserialize<'de>> StreamDeserializer<'de, R, T> {
    pub(super) fn new(de: Deserializer<R>) -> Self {
        Self { de, offset: 0, failed: false, values: PhantomData }
    }

    /// The offset of the end of the last value that was decoded.
    pub fn byte_offset(&self) -> usize {
        usize::try_from(self.offset).unwrap_or(usize::MAX)
    }

    fn value(&mut self) -> Result<T, Error> {
        let value = self.de.value()?;
        let end = self.de.pull.value_end();
        self.offset = self.de.pull.offset(end);
        Ok(value)
    }
}

impl<'de, R: Read<'de>, T: Deserialize<'de>> Iterator for StreamDeserializer<'de, R, T> {
    type Item = Result<T, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let token = self.de.pull.token();
        if self.de.pull.is_end(token) {
            self.offset = self.de.pull.offset(token.start);
            return None;
        }
        let value = self.value();
        self.failed = value.is_err();
        Some(value)
    }
}

impl<'de, R: Read<'de>, T: Deserialize<'de>> core::iter::FusedIterator for StreamDeserializer<'de, R, T> {}
