//! How the text of numbers and of values comes from a deserializer, and goes to a serializer, which may be the engine's,
//! `serde_json`'s, or that of any other format.

use crate::error::Error;
use crate::tree::number::Number;
use jird::hooks::RAW_TEXT;
use serde_core::de::value::StrDeserializer;
use serde_core::de::{self, DeserializeSeed, Expected, MapAccess, Unexpected, Visitor};

/// Whose serializer or deserializer it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    Engine,
    /// `serde_json`'s, or the one of a [`Value`](crate::Value).
    SerdeJson,
    Other,
}

/// The route, by the type of its error. (An error need not be `'static`, so that it has no `TypeId`.)
#[inline(always)]
pub(crate) fn route<E>() -> Route {
    let name = core::any::type_name::<E>();
    if name == core::any::type_name::<jird::Error>() {
        Route::Engine
    } else if name == core::any::type_name::<Error>() {
        Route::SerdeJson
    } else {
        Route::Other
    }
}

/// Whether a serializer of `serde_json`'s, or a tree's, takes the text of a number as it stands. Keys have other texts. And
/// with a [`Formatter`] that is not `serde_json`'s, raw text would go to that formatter, which need not know any: RFC 8785
/// has none.
///
/// [`Formatter`]: crate::ser::Formatter
pub(crate) fn takes_text<S>() -> bool {
    let name = core::any::type_name::<S>();
    match name.strip_prefix("&mut serde_json::ser::Serializer<") {
        Some(parameters) => matches!(
            last_parameter(parameters),
            // A default has no name.
            None | Some(
                "serde_json::ser::CompactFormatter"
                    | "serde_json::ser::PrettyFormatter"
                    | "serde_json::ser::PrettyFormatter<'_>"
            )
        ),
        None => !name.starts_with("serde_json::ser::") && !name.starts_with("&mut "),
    }
}

/// The last of the type parameters, if there are several. `parameters` ends with the bracket behind them.
fn last_parameter(parameters: &str) -> Option<&str> {
    let mut depth = 0_usize;
    let mut before = b' ';
    let is_border = |byte: u8| {
        match byte {
            b'<' | b'(' | b'[' => depth += 1,
            // The arrow of a function's type is not a bracket.
            b'>' if before == b'-' => {}
            b'>' | b')' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = byte;
        byte == b',' && depth == 0
    };
    let at = parameters.bytes().position(is_border)?;
    Some(parameters[at + 1..].strip_suffix('>')?.trim())
}

/// The name that `serde_json` gives to its numbers with the feature `arbitrary_precision`.
const NUMBER_TEXT: &str = "$serde_json::private::Number";

/// Whether a map with this key is the text of a value or of a number.
pub(crate) fn is_text_key(key: &str) -> bool {
    key == RAW_TEXT || key == NUMBER_TEXT
}

/// Whether a map with this key is the text of a number.
pub(crate) fn is_number_key(key: &str) -> bool {
    key == NUMBER_TEXT
}

/// The number of a text that the engine has checked.
#[inline]
pub(crate) fn number_of_bytes(text: &[u8]) -> Option<Number> {
    if !matches!(text.first(), Some(b'-' | b'0'..=b'9')) {
        return None;
    }
    core::str::from_utf8(text).ok().map(Number::of_text)
}

/// The error for a text that is not the value that was wanted.
#[cold]
pub(crate) fn other_value<E: de::Error>(text: &str, wanted: &dyn Expected) -> E {
    let found = match text.bytes().next() {
        Some(b'n') => Unexpected::Unit,
        Some(b't') => Unexpected::Bool(true),
        Some(b'f') => Unexpected::Bool(false),
        Some(b'[') => Unexpected::Seq,
        Some(b'{') => Unexpected::Map,
        Some(b'"') => match crate::from_str::<String>(text) {
            Ok(content) => return E::invalid_type(Unexpected::Str(&content), wanted),
            Err(_) => Unexpected::Other("string"),
        },
        _ => return E::custom("number out of range"),
    };
    E::invalid_type(found, wanted)
}

/// Gives raw text to a visitor as `serde_json` does: as a map with one member.
pub(crate) fn visit_raw_text<'de, V: Visitor<'de>>(text: &str, visitor: V) -> Result<V::Value, Error> {
    visitor.visit_map(RawMember(Some(text)))
}

struct RawMember<'a>(Option<&'a str>);

impl<'de> MapAccess<'de> for RawMember<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        if self.0.is_none() {
            return Ok(None);
        }
        seed.deserialize(de::value::BorrowedStrDeserializer::new(RAW_TEXT)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        match self.0.take() {
            Some(text) => seed.deserialize(StrDeserializer::new(text)),
            None => Err(de::Error::custom("`next_value` was called without `next_key`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formatter_is_found_in_the_name_of_a_serializer() {
        for (parameters, last) in [
            ("&mut alloc::vec::Vec<u8>>", None),
            ("a::W<u8, fn(u8, [u8; 2]) -> a::B<u8, ()>>>", None),
            ("a::W<u8, fn(u8, [u8; 2]) -> a::B<u8, ()>>, b::F<'_>>", Some("b::F<'_>")),
            ("(u8, u8), serde_json::ser::PrettyFormatter>", Some("serde_json::ser::PrettyFormatter")),
        ] {
            assert_eq!(last_parameter(parameters), last, "{parameters}");
        }
    }
}
