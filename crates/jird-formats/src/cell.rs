//! A value in a row.

use jird::event::{Failure, Numeral, Sink, Timestamp};
use jird::hooks::event::send_text;
use jird::hooks::{base64, write_string};

/// A value in a row. A nested value is JSON text.
#[derive(Clone, Copy, Debug)]
pub enum Cell<'a> {
    /// The record has no such key.
    Missing,
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, in the form that its source has it in.
    Number(Numeral<'a>),
    /// The content of a string.
    Text(&'a str),
    /// The JSON text of an object or an array, without white space.
    Json(&'a str),
    /// Bytes, from a source that has a type for them.
    Bytes(&'a [u8]),
    /// A point in time, from a source that has a type for it.
    Timestamp(Timestamp),
}

impl Cell<'_> {
    /// Whether it is null or missing, both of which SQL calls NULL.
    pub fn is_null(self) -> bool {
        matches!(self, Self::Missing | Self::Null)
    }

    /// Sends the cell to a sink as a value. JSON text is sent as the value that it denotes, or as a string if it is not
    /// JSON. A missing cell is sent as null.
    ///
    /// ```
    /// use jird::event::JsonSink;
    /// use jird_formats::Cell;
    /// let mut out = JsonSink::new(Vec::new());
    /// Cell::Json("[1, null]").send(&mut out)?;
    /// assert_eq!(out.so_far(), b"[1,null]");
    /// # Ok::<(), jird::Error>(())
    /// ```
    ///
    /// # Errors
    /// The sink's errors.
    pub fn send<S: Sink>(self, sink: &mut S) -> Result<(), S::Error> {
        match self {
            Self::Missing | Self::Null => sink.null(),
            Self::Bool(value) => sink.bool(value),
            Self::Number(number) => sink.number(number),
            Self::Text(text) => sink.string(text),
            Self::Json(json) => send_json(json, sink),
            Self::Bytes(bytes) => sink.bytes(bytes),
            Self::Timestamp(time) => sink.timestamp(time),
        }
    }

    /// Appends the cell as JSON text, with bytes in base64 and a point in time as in RFC 3339.
    #[inline(always)]
    pub(crate) fn write_json(self, text: &mut Vec<u8>) {
        match self {
            Self::Missing | Self::Null => text.extend_from_slice(b"null"),
            Self::Bool(value) => text.extend_from_slice(if value { b"true" } else { b"false" }),
            Self::Number(number) => number.write(text),
            Self::Text(content) => write_string(content, text),
            Self::Json(json) => text.extend_from_slice(json.as_bytes()),
            Self::Bytes(bytes) => write_string(&base64(bytes), text),
            Self::Timestamp(time) => write_string(&time.to_string(), text),
        }
    }
}

/// Sends the value that a JSON text denotes. A text that is not JSON is sent as a string; our rows hold none.
fn send_json<S: Sink>(json: &str, sink: &mut S) -> Result<(), S::Error> {
    match send_text(json.as_bytes(), sink) {
        Ok(()) => Ok(()),
        Err(Failure::Sink(error, _)) => Err(error),
        Err(Failure::Source(_)) => sink.string(json),
    }
}
