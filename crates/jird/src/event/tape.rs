//! Sends values that were parsed before.

use super::{Failure, Interest, Key, Numeral, Place, Sink};
use crate::error::Error;
use crate::fault::ErrorKind;
use crate::tape::{Elements, Entries, Kind, Parser, Value};
use core::cell::Cell;

/// A value as JSON text that was checked and has no white space, for example from a column of another format. A
/// [`Sink`] may copy it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonText<'t>(&'t str);

thread_local!(static PARSER: Cell<Option<Box<Parser>>> = const { Cell::new(None) });

/// Lends this thread's parser to `work`, and keeps it for the next call. A nested call gets a new parser.
fn with_parser<T>(work: impl FnOnce(&mut Parser) -> T) -> T {
    // While the thread ends, its parser no longer exists.
    let mut parser = PARSER.try_with(Cell::take).ok().flatten().unwrap_or_default();
    let done = work(&mut parser);
    let _ = PARSER.try_with(|spare| spare.set(Some(parser)));
    done
}

impl<'t> JsonText<'t> {
    /// Checks a text, and writes it to `buffer` without its white space. Allocates nothing once the thread has checked
    /// a text of the same length.
    ///
    /// ```
    /// use jird::event::{JsonSink, JsonText, Sink};
    /// let mut buffer = Vec::new();
    /// let text = JsonText::check(br#"{"a": [1.50, "\u0062"]}"#, &mut buffer)?;
    /// let mut out = JsonSink::new(Vec::new());
    /// out.json(text)?;
    /// assert_eq!(out.so_far(), br#"{"a":[1.50,"\u0062"]}"#);
    /// assert!(JsonText::check(b"[1,2", &mut buffer).is_err());
    /// # Ok::<(), jird::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`parse`](crate::parse).
    pub fn check(text: &[u8], buffer: &'t mut Vec<u8>) -> Result<Self, Error> {
        buffer.clear();
        with_parser(|parser| parser.minify(text, buffer))?;
        Ok(Self(core::str::from_utf8(buffer).map_err(|error| Error::new(ErrorKind::Utf8, error.valid_up_to() as u64))?))
    }

    /// Wraps text that was checked before.
    pub(super) fn of_checked(text: &'t str) -> Self {
        Self(text)
    }

    /// The text. O(1).
    pub fn as_str(self) -> &'t str {
        self.0
    }

    /// Sends the events of the value. Linear in the text, which is parsed again each time.
    ///
    /// # Errors
    /// The sink's error.
    pub fn send<S: Sink + ?Sized>(self, sink: &mut S) -> Result<(), S::Error> {
        match send_text(self.0.as_bytes(), sink) {
            Ok(()) => Ok(()),
            Err(Failure::Sink(error, _)) => Err(error),
            Err(Failure::Source(error)) => unreachable!("it was checked: {error}"),
        }
    }
}

/// Sends the events of a short JSON text, after checking all of it. The caller marks the records.
///
/// ```
/// use jird::{event::JsonSink, hooks::event::send_text};
/// let mut out = JsonSink::new(Vec::new());
/// send_text(br#"{"a": [1.50, "\u0062"]}"#, &mut out)?;
/// assert_eq!(out.so_far(), br#"{"a":[1.50,"b"]}"#);
/// assert!(send_text(b"[1,2", &mut out).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the text is not one JSON value, before anything is sent; or the sink's error.
pub fn send_text<S: Sink + ?Sized>(text: &[u8], sink: &mut S) -> Result<(), Failure<Error, S::Error>> {
    with_parser(|parser| match parser.parse(text) {
        Ok(value) => send(value, sink),
        Err(error) => Err(Failure::Source(error)),
    })
}

/// Sends the events of one value of a document or record. The caller marks the records.
///
/// Linear in the size of the value, except for values that the sink skips, which cost nothing. Uses heap memory, not
/// the stack, for each open array and object.
///
/// ```
/// use jird::{event::JsonSink, hooks::event::send};
/// let document = jird::parse(br#"{"items": [1.50, {"a": "\u0062"}]}"#)?;
/// let mut out = JsonSink::new(Vec::new());
/// send(document.root().get("items").unwrap(), &mut out)?;
/// assert_eq!(out.so_far(), br#"[1.50,{"a":"b"}]"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The sink's error. In a record that was not validated, also a string that is not UTF-8, or a number that is not
/// valid.
pub fn send<S: Sink + ?Sized>(value: Value<'_>, sink: &mut S) -> Result<(), Failure<Error, S::Error>> {
    let stopped = |error| Failure::Sink(error, Place::default());
    let mut open = Vec::new();
    let mut next = Some(value);
    loop {
        if let Some(value) = next.take() {
            match value.kind() {
                Kind::Null => sink.null(),
                Kind::Bool => sink.bool(value.as_bool() == Some(true)),
                Kind::Number => {
                    sink.number(Numeral::Text(value.as_number().ok_or_else(|| wrong(ErrorKind::Number, value))?))
                }
                Kind::String => sink.string(&value.as_str().ok_or_else(|| wrong(ErrorKind::Utf8, value))?),
                Kind::Array => {
                    open.push(OpenValue::Array(value.elements()));
                    sink.begin_array()
                }
                Kind::Object => {
                    open.push(OpenValue::Object(value.entries()));
                    sink.begin_object()
                }
            }
            .map_err(stopped)?;
        }
        match open.last_mut() {
            None => return Ok(()),
            Some(OpenValue::Array(elements)) => {
                next = elements.next();
                if next.is_none() {
                    open.pop();
                    sink.end_array().map_err(stopped)?;
                }
            }
            Some(OpenValue::Object(entries)) => {
                let Some((key, value)) = entries.next() else {
                    open.pop();
                    sink.end_object().map_err(stopped)?;
                    continue;
                };
                let text = key.as_str().ok_or_else(|| wrong(ErrorKind::Utf8, key))?;
                if sink.key(Key::new(&text)).map_err(stopped)? == Interest::Take {
                    next = Some(value);
                }
            }
        }
    }
}

enum OpenValue<'a> {
    Array(Elements<'a>),
    Object(Entries<'a>),
}

#[cold]
fn wrong<E>(kind: ErrorKind, value: Value<'_>) -> Failure<Error, E> {
    Failure::Source(Error::new(kind, value.offset() as u64))
}
