//! Values that were parsed before, as sources.

use super::{Failure, Interest, Key, Numeral, Place, Sink, Source};
use crate::error::Error;
use crate::fault::ErrorKind;
use crate::tape::{Elements, Entries, Kind, Parser, Value};
use core::cell::Cell;

/// A value as JSON text that was checked, without white space: what stands in a column of another format, say. A [`Sink`] may copy it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonText<'t>(&'t str);

thread_local!(static PARSER: Cell<Option<Box<Parser>>> = const { Cell::new(None) });

/// Lends a parser that lives as long as the thread; another one to who comes here while it is lent.
fn with_parser<T>(work: impl FnOnce(&mut Parser) -> T) -> T {
    // A thread that ends has none any more.
    let mut parser = PARSER.try_with(Cell::take).ok().flatten().unwrap_or_default();
    let done = work(&mut parser);
    let _ = PARSER.try_with(|spare| spare.set(Some(parser)));
    done
}

impl<'t> JsonText<'t> {
    /// Checks a text, and takes its white space out on the way to `buffer`. Allocates nothing once a thread has had a text as long.
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

    /// One that was checked, and kept.
    pub(super) fn of_checked(text: &'t str) -> Self {
        Self(text)
    }

    /// The text.
    pub fn as_str(self) -> &'t str {
        self.0
    }

    /// Sends what it says.
    ///
    /// # Errors
    /// The sink's.
    pub fn send<S: Sink + ?Sized>(self, sink: &mut S) -> Result<(), S::Error> {
        match send_text(self.0.as_bytes(), sink) {
            Ok(()) => Ok(()),
            Err(Failure::Sink(error, _)) => Err(error),
            Err(Failure::Source(error)) => unreachable!("it was checked: {error}"),
        }
    }
}

/// Sends what a short JSON text says, once all of it was checked. Records are for the caller to mark.
///
/// ```
/// use jird::event::{self, JsonSink};
/// let mut out = JsonSink::new(Vec::new());
/// event::send_text(br#"{"a": [1.50, "\u0062"]}"#, &mut out)?;
/// assert_eq!(out.so_far(), br#"{"a":[1.50,"b"]}"#);
/// assert!(event::send_text(b"[1,2", &mut out).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the text is not one JSON value, before anything was sent; or the sink's.
pub fn send_text<S: Sink + ?Sized>(text: &[u8], sink: &mut S) -> Result<(), Failure<Error, S::Error>> {
    with_parser(|parser| match parser.parse(text) {
        Ok(value) => send(value, sink),
        Err(error) => Err(Failure::Source(error)),
    })
}

/// Sends the events of one value of a document or record. Records are for the caller to mark.
///
/// Linear in the value but for what the sink skips, which costs nothing. Takes memory for each array and object that is open, and no
/// stack.
///
/// ```
/// use jird::event::{self, JsonSink};
/// let document = jird::parse(br#"{"items": [1.50, {"a": "\u0062"}]}"#)?;
/// let mut out = JsonSink::new(Vec::new());
/// event::send(document.root().get("items").unwrap(), &mut out)?;
/// assert_eq!(out.so_far(), br#"[1.50,{"a":"b"}]"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The sink's; or for a string that is not UTF-8 or a number that is none, in a record that was not validated.
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

/// Values that were parsed before as a source, a record each. Their places are those in their document's text.
///
/// ```
/// use jird::event::{self, JsonSink, Parsed};
/// let document = jird::parse(b"[{\"id\": 1}, {\"id\": 2}]")?;
/// let mut lines = JsonSink::new(Vec::new());
/// event::copy(&mut Parsed::new(document.root().elements()), &mut lines)?;
/// assert_eq!(lines.into_inner(), b"{\"id\":1}\n{\"id\":2}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Parsed<I> {
    values: I,
    sent: u64,
}

impl<'a, I: Iterator<Item = Value<'a>>> Parsed<I> {
    /// A record for each value.
    pub fn new(values: impl IntoIterator<IntoIter = I>) -> Self {
        Self { values: values.into_iter(), sent: 0 }
    }
}

impl<'a, I: Iterator<Item = Value<'a>>> Source for Parsed<I> {
    type Error = Error;

    fn send_record<S: Sink>(&mut self, sink: &mut S) -> Result<bool, Failure<Error, S::Error>> {
        let Some(value) = self.values.next() else { return Ok(false) };
        let place = Place { record: self.sent, offset: value.offset() as u64, line: 0 };
        self.sent += 1;
        let stopped = |error| Failure::Sink(error, place);
        sink.begin_record(place).map_err(stopped)?;
        send(value, sink).map_err(|failure| match failure {
            Failure::Sink(error, _) => Failure::Sink(error, place),
            Failure::Source(error) => Failure::Source(error),
        })?;
        sink.end_record().map_err(stopped)?;
        Ok(true)
    }
}
