//! Checks that a source keeps to the protocol.

use crate::event::protocol::{Scalar, scalars};
use crate::event::{Interest, Key, KeyTable, Numeral, Place, Sink};
use crate::scan::OpenBrackets;
use core::fmt;

/// Forwards everything, as long as the source keeps to the protocol. Use it to test a source that you write.
///
/// It checks that records begin and end and hold one value each; that brackets match; that a key comes before each
/// member's value and nowhere else; that no value comes where the sink skips; that a key and its number belong
/// together; that doubles are finite; and that nanoseconds are less than a second.
///
/// ```
/// use jird::event::{Sink, filter::Validate};
/// struct Null;
/// impl Sink for Null {
///     type Error = std::convert::Infallible;
/// }
///
/// let mut sink = Validate::new(Null);
/// sink.begin_record(Default::default())?;
/// sink.begin_object()?;
/// assert_eq!(sink.null().unwrap_err().to_string(), "a value where a key or `}` must come");
/// # Ok::<(), jird::event::filter::Disorder<std::convert::Infallible>>(())
/// ```
#[derive(Debug)]
pub struct Validate<S> {
    sink: S,
    open: OpenBrackets,
    expect: Expected,
    /// For each key number, the number of its text in `names`, plus one; zero if the key number is not known.
    numbered: Vec<u32>,
    names: KeyTable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Record,
    /// The record's value, or the value of a key.
    Value,
    /// An element, or `]`.
    Element,
    /// A key, or `}`.
    Key,
    RecordEnd,
}

impl Expected {
    fn words(self) -> &'static str {
        match self {
            Self::Record => "a record",
            Self::Value => "a value",
            Self::Element => "an element or `]`",
            Self::Key => "a key or `}`",
            Self::RecordEnd => "the record's end",
        }
    }
}

/// Why a [`Validate`] stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disorder<E> {
    /// The source did not keep to the protocol.
    Source(String),
    /// The sink's own error.
    Sink(E),
}

impl<E: fmt::Display> fmt::Display for Disorder<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(words) => f.write_str(words),
            Self::Sink(error) => error.fmt(f),
        }
    }
}

impl<E: std::error::Error> std::error::Error for Disorder<E> {}

impl<S: Sink> Validate<S> {
    /// Forwards to `sink`.
    pub fn new(sink: S) -> Self {
        Self {
            sink,
            open: OpenBrackets::default(),
            expect: Expected::Record,
            numbered: Vec::new(),
            names: KeyTable::new(),
        }
    }

    /// The sink.
    pub fn into_inner(self) -> S {
        self.sink
    }

    #[cold]
    fn wrong<T>(&self, found: &str) -> Result<T, Disorder<S::Error>> {
        Err(Disorder::Source(format!("{found} where {} must come", self.expect.words())))
    }

    /// Sets what must follow a value.
    fn next(&mut self) {
        self.expect = match self.open.depth() {
            0 => Expected::RecordEnd,
            _ if self.open.is_object() => Expected::Key,
            _ => Expected::Element,
        };
    }

    fn begin(&mut self, object: bool) -> Result<(), Disorder<S::Error>> {
        if !matches!(self.expect, Expected::Value | Expected::Element) {
            return self.wrong("a value");
        }
        self.open.push(object);
        self.next();
        Ok(())
    }

    fn end(&mut self, wanted: Expected, bracket: &str) -> Result<(), Disorder<S::Error>> {
        if self.expect != wanted {
            return self.wrong(bracket);
        }
        self.open.pop();
        self.next();
        Ok(())
    }

    fn scalar(&mut self, scalar: Scalar<'_>) -> Result<(), Disorder<S::Error>> {
        if !matches!(self.expect, Expected::Value | Expected::Element) {
            return self.wrong("a value");
        }
        match scalar {
            Scalar::Number(Numeral::F64(value)) if !value.is_finite() => {
                return Err(Disorder::Source(format!("{value} as a number")));
            }
            Scalar::Timestamp(time) if time.nanoseconds >= 1_000_000_000 => {
                return Err(Disorder::Source(format!("{} nanoseconds of one second", time.nanoseconds)));
            }
            _ => {}
        }
        self.next();
        scalar.send(&mut self.sink).map_err(Disorder::Sink)
    }

    /// Checks that a number belongs to one key only, and a key has one number only.
    fn check_number(&mut self, text: &str, number: u32) -> Result<(), Disorder<S::Error>> {
        const FAR: u32 = 1 << 20;
        if number >= FAR {
            return Err(Disorder::Source(format!(
                "the key {text:?} has the number {number}, but the numbers of keys have no gaps"
            )));
        }
        let number = number as usize;
        self.numbered.resize(self.numbered.len().max(number + 1), 0);
        match self.numbered[number].checked_sub(1) {
            Some(known) if self.names.name(known) == text => Ok(()),
            Some(known) => {
                let known = self.names.name(known);
                Err(Disorder::Source(format!(
                    "the key {text:?} has the number {number}, which belongs to the key {known:?}"
                )))
            }
            None if self.names.get(text).is_some() => Err(Disorder::Source(format!(
                "the key {text:?} has the number {number}, but it had another one before"
            ))),
            None => {
                self.numbered[number] = self.names.insert(text) + 1;
                Ok(())
            }
        }
    }
}

impl<S: Sink> Sink for Validate<S> {
    type Error = Disorder<S::Error>;

    /// Also allowed within a record, which is then abandoned.
    fn begin_record(&mut self, place: Place) -> Result<(), Self::Error> {
        self.open = OpenBrackets::default();
        self.expect = Expected::Value;
        self.sink.begin_record(place).map_err(Disorder::Sink)
    }

    fn end_record(&mut self) -> Result<(), Self::Error> {
        if self.expect != Expected::RecordEnd {
            return self.wrong("the record's end");
        }
        self.expect = Expected::Record;
        self.sink.end_record().map_err(Disorder::Sink)
    }

    fn begin_object(&mut self) -> Result<(), Self::Error> {
        self.begin(true)?;
        self.sink.begin_object().map_err(Disorder::Sink)
    }

    fn key(&mut self, key: Key<'_>) -> Result<Interest, Self::Error> {
        if self.expect != Expected::Key {
            return self.wrong("a key");
        }
        if let Some(number) = key.number() {
            self.check_number(key.text(), number)?;
        }
        let interest = self.sink.key(key).map_err(Disorder::Sink)?;
        if interest == Interest::Take {
            self.expect = Expected::Value;
        }
        Ok(interest)
    }

    fn end_object(&mut self) -> Result<(), Self::Error> {
        self.end(Expected::Key, "`}`")?;
        self.sink.end_object().map_err(Disorder::Sink)
    }

    fn begin_array(&mut self) -> Result<(), Self::Error> {
        self.begin(false)?;
        self.sink.begin_array().map_err(Disorder::Sink)
    }

    fn end_array(&mut self) -> Result<(), Self::Error> {
        self.end(Expected::Element, "`]`")?;
        self.sink.end_array().map_err(Disorder::Sink)
    }

    scalars!();

    fn wants_more(&self) -> bool {
        self.sink.wants_more()
    }

    fn finish(&mut self) -> Result<(), Self::Error> {
        if self.expect != Expected::Record {
            return self.wrong("the stream's end");
        }
        self.sink.finish().map_err(Disorder::Sink)
    }
}
