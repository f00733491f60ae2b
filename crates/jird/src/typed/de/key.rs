//! Keys of text, to decode into types that are not strings.

use super::{Deserializer, Read, StringText};
use crate::data_model::KeyText;
use crate::error::Error;
use crate::scan::Content;
use serde_core::de::Visitor;

/// The string that is the next token.
impl<'de, R: Read<'de>> KeyText<'de> for Deserializer<R> {
    type Value<'k>
        = &'k mut Self
    where
        Self: 'k;

    #[inline(always)]
    fn visit<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        self.with_string(|content| match content {
            StringText::Borrowed(content) => visitor.visit_borrowed_str(content),
            StringText::Passing(content) => visitor.visit_str(content),
        })
    }

    fn quoted<T>(&mut self, then: impl FnOnce(&str) -> Result<T, Error>) -> Result<T, Error> {
        let (Content::Borrowed(content) | Content::Passing(content)) = self.pull.string()?;
        then(content)
    }

    fn value(&mut self) -> &mut Self {
        self
    }
}
