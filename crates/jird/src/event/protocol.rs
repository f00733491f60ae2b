//! The two traits, [`Source`] and [`Sink`], and the types that pass between them.

use super::JsonText;
use super::facts::{Failure, Interest, Key, Numeral, Place, Timestamp, base64};

/// Receives values as events. Any type may implement it.
///
/// Events arrive in document order. A value is one scalar; or `begin_object`, then for each member `key` and a value,
/// then `end_object`; or `begin_array`, values, `end_array`. The source has checked the input before it sends an event,
/// so a sink need not check nesting. A stream of records puts each value between [`begin_record`](Self::begin_record)
/// and [`end_record`](Self::end_record).
///
/// **Abandonment.** A source may fail at any event. The sink must then forget what it has received of the current
/// record, and [`finish`](Self::finish) is not called. A sink that writes to the outside commits in `finish` and
/// nowhere else.
///
/// **Stopping.** An error from any method ends the stream at once, and reaches the caller as [`Failure::Sink`].
///
/// ```
/// use jird::event::{self, Interest, Key, Numeral, Sink};
///
/// /// Adds up one field.
/// #[derive(Default)]
/// struct Total(f64);
///
/// impl Sink for Total {
///     type Error = std::convert::Infallible;
///
///     fn key(&mut self, key: Key<'_>) -> Result<Interest, Self::Error> {
///         Ok(Interest::take_if(key.text() == "Elapsed"))
///     }
///
///     fn number(&mut self, number: Numeral<'_>) -> Result<(), Self::Error> {
///         self.0 += number.to_f64().unwrap_or(0.0);
///         Ok(())
///     }
/// }
///
/// let mut total = Total::default();
/// let log = br#"{"Elapsed":1.5,"Id":7} {"Elapsed":2,"Tags":[1,2]}"#;
/// event::copy(&mut event::JsonSource::from_slice(log), &mut total)?;
/// assert_eq!(total.0, 3.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Each method may return an error of the sink's own type. The source then stops, and hands it to its caller as
/// [`Failure::Sink`] with the place of the record.
#[allow(clippy::missing_errors_doc, reason = "said once, above: it is the same for each method")]
pub trait Sink {
    /// Why the sink stops.
    type Error;

    /// A record begins at `place`.
    #[inline(always)]
    fn begin_record(&mut self, place: Place) -> Result<(), Self::Error> {
        let _ = place;
        Ok(())
    }
    /// The record is complete and was valid.
    #[inline(always)]
    fn end_record(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
    /// `{`
    #[inline(always)]
    fn begin_object(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
    /// A member's key. The answer is binding: the source sends no events for a value that the sink skips.
    #[inline(always)]
    fn key(&mut self, key: Key<'_>) -> Result<Interest, Self::Error> {
        let _ = key;
        Ok(Interest::Take)
    }
    /// `}`
    #[inline(always)]
    fn end_object(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
    /// `[`
    #[inline(always)]
    fn begin_array(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
    /// `]`
    #[inline(always)]
    fn end_array(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
    /// `null`
    #[inline(always)]
    fn null(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
    /// `true` or `false`
    #[inline(always)]
    fn bool(&mut self, value: bool) -> Result<(), Self::Error> {
        let _ = value;
        Ok(())
    }
    /// A number, in the form the source has it in.
    #[inline(always)]
    fn number(&mut self, number: Numeral<'_>) -> Result<(), Self::Error> {
        let _ = number;
        Ok(())
    }
    /// A string's content, with escapes decoded.
    #[inline(always)]
    fn string(&mut self, text: &str) -> Result<(), Self::Error> {
        let _ = text;
        Ok(())
    }
    /// Bytes, from a source that has a byte type. By default they are sent as a string in base64 (RFC 4648 §4).
    fn bytes(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        self.string(&base64(bytes))
    }
    /// A point in time, from a source that has a time type. By default it is sent as a string in the form of RFC 3339.
    fn timestamp(&mut self, time: Timestamp) -> Result<(), Self::Error> {
        self.string(&time.to_string())
    }
    /// A value as JSON text, from a source that keeps it in that form. By default the value's events are sent; a sink
    /// that can copy the text as it is overrides this.
    fn json(&mut self, text: JsonText<'_>) -> Result<(), Self::Error> {
        text.send(self)
    }
    /// A whole record, from a source that has [rows](Row). By default the row's events are sent; a sink that wants to
    /// ask for single values overrides this.
    #[inline(always)]
    fn row<R: Row>(&mut self, row: R) -> Result<(), Failure<R::Error, Self::Error>>
    where
        Self: Sized,
    {
        row.send(self)
    }
    /// Whether the sink wants another record. Asked between records. If not, the source stops there without an error.
    #[inline(always)]
    fn wants_more(&self) -> bool {
        true
    }
    /// All records have arrived: commit.
    #[inline(always)]
    fn finish(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// Sends values as events.
///
/// ```
/// use jird::event::{Failure, Interest, Key, Numeral, Place, Sink, Source};
///
/// /// Squares, a record each.
/// struct Squares(std::ops::Range<u64>);
///
/// impl Source for Squares {
///     type Error = std::convert::Infallible;
///
///     fn send_record<S: Sink>(&mut self, sink: &mut S) -> Result<bool, Failure<Self::Error, S::Error>> {
///         let Some(root) = self.0.next() else { return Ok(false) };
///         let place = Place { record: root, ..Place::default() };
///         let mut send = || {
///             sink.begin_record(place)?;
///             sink.begin_object()?;
///             if sink.key(Key::numbered("square", 0))? == Interest::Take {
///                 sink.number(Numeral::U64(root * root))?;
///             }
///             sink.end_object()?;
///             sink.end_record()
///         };
///         send().map(|()| true).map_err(|error| Failure::Sink(error, place))
///     }
/// }
///
/// let mut lines = jird::event::JsonSink::new(Vec::new());
/// jird::event::copy(&mut Squares(2..4), &mut lines)?;
/// assert_eq!(lines.into_inner(), b"{\"square\":4}\n{\"square\":9}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Source {
    /// Why the source fails.
    type Error;

    /// Sends the next record, between `begin_record` and `end_record`. Returns false if there is none.
    ///
    /// # Errors
    /// Why the source has no next record, or the sink's first error.
    fn send_record<S: Sink>(&mut self, sink: &mut S) -> Result<bool, Failure<Self::Error, S::Error>>;

    /// Sends all remaining records, as long as the sink [wants more](Sink::wants_more).
    ///
    /// # Errors
    /// The first error of either side.
    fn send<S: Sink>(&mut self, sink: &mut S) -> Result<(), Failure<Self::Error, S::Error>> {
        while sink.wants_more() && self.send_record(sink)? {}
        Ok(())
    }
}

/// Sends the records of `source` to `sink`, until the source has no more or the sink [wants no more](Sink::wants_more),
/// and then [finishes](Sink::finish) the sink.
///
/// # Errors
/// The first error of either side; the sink is not finished then.
pub fn copy<A: Source, S: Sink>(source: &mut A, sink: &mut S) -> Result<(), Failure<A::Error, S::Error>> {
    source.send(sink)?;
    sink.finish().map_err(|error| Failure::Sink(error, Place::default()))
}

/// A record that is an object with one scalar for each column. A sink can ask for the scalars one by one. A source may
/// pass a row to [`Sink::row`], for sinks that would otherwise have to keep the events.
///
/// ```
/// use jird::event::{self, Failure, Interest, Key, Numeral, Place, Row, Scalar, Sink, Source};
///
/// /// Numbers with their squares, a record each.
/// struct Squares(std::ops::Range<u64>);
///
/// struct Square(u64);
///
/// impl Square {
///     fn events<S: Sink>(&self, sink: &mut S) -> Result<(), S::Error> {
///         sink.begin_record(self.place())?;
///         sink.begin_object()?;
///         for column in 0..2 {
///             let key = Key::numbered(self.name(column), column as u32);
///             if sink.key(key)? == Interest::Take && let Some(scalar) = self.scalar(column) {
///                 scalar.send(sink)?;
///             }
///         }
///         sink.end_object()?;
///         sink.end_record()
///     }
/// }
///
/// impl Row for Square {
///     type Error = std::convert::Infallible;
///     fn place(&self) -> Place {
///         Place { record: self.0, ..Place::default() }
///     }
///     fn columns(&self) -> usize {
///         2
///     }
///     fn name(&self, column: usize) -> &str {
///         ["root", "square"][column]
///     }
///     fn scalar(&self, column: usize) -> Option<Scalar<'_>> {
///         Some(Scalar::Number(Numeral::U64(self.0.pow(1 + column as u32))))
///     }
///     fn send<S: Sink>(self, sink: &mut S) -> Result<(), Failure<Self::Error, S::Error>> {
///         self.events(sink).map_err(|error| Failure::Sink(error, self.place()))
///     }
/// }
///
/// impl Source for Squares {
///     type Error = std::convert::Infallible;
///     fn send_record<S: Sink>(&mut self, sink: &mut S) -> Result<bool, Failure<Self::Error, S::Error>> {
///         let Some(root) = self.0.next() else { return Ok(false) };
///         sink.row(Square(root)).map(|()| true)
///     }
/// }
///
/// #[derive(serde::Deserialize)]
/// struct Pair {
///     root: u64,
///     square: u64,
/// }
/// event::for_each(&mut Squares(2..4), |_, pair: Pair| {
///     assert_eq!(pair.square, pair.root * pair.root);
///     Ok::<(), jird::Error>(())
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Row {
    /// Why the row's source fails.
    type Error;

    /// The record's place in its source.
    fn place(&self) -> Place;

    /// The number of columns.
    fn columns(&self) -> usize;

    /// The key of a column. The column's index is the key's [number](Key::number).
    fn name(&self, column: usize) -> &str;

    /// Whether the record does not have this column's key.
    #[inline(always)]
    fn is_missing(&self, column: usize) -> bool {
        let _ = column;
        false
    }

    /// The value of a column that is not missing. `None` if it is not a scalar or not valid; the sink then calls
    /// [`send`](Self::send), whose events report what is wrong. If they report no error, the sink may stop asking rows
    /// for values.
    fn scalar(&self, column: usize) -> Option<Scalar<'_>>;

    /// Sends the record as events, its beginning and its end included, as
    /// [`Source::send_record`] would.
    ///
    /// # Errors
    /// The source's error, for a value that cannot be sent; or the sink's error.
    fn send<S: Sink>(self, sink: &mut S) -> Result<(), Failure<Self::Error, S::Error>>;
}

/// A value with no other values inside, for sinks that treat all such values alike.
#[derive(Clone, Copy, Debug)]
pub enum Scalar<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, in the form its source has it in.
    Number(Numeral<'a>),
    /// A string's content, with escapes decoded.
    String(&'a str),
    /// Bytes, from a source that has a byte type.
    Bytes(&'a [u8]),
    /// A point in time, from a source that has a time type.
    Timestamp(Timestamp),
}

impl Scalar<'_> {
    /// Sends the scalar as its event.
    ///
    /// # Errors
    /// The sink's error.
    #[inline(always)]
    pub fn send<S: Sink + ?Sized>(self, sink: &mut S) -> Result<(), S::Error> {
        match self {
            Self::Null => sink.null(),
            Self::Bool(value) => sink.bool(value),
            Self::Number(number) => sink.number(number),
            Self::String(text) => sink.string(text),
            Self::Bytes(bytes) => sink.bytes(bytes),
            Self::Timestamp(time) => sink.timestamp(time),
        }
    }
}

/// Inside a sink's `impl`: forwards every scalar event to the sink's own method `scalar`.
macro_rules! scalars {
    () => {
        #[inline]
        fn null(&mut self) -> Result<(), Self::Error> {
            self.scalar($crate::event::protocol::Scalar::Null)
        }
        #[inline]
        fn bool(&mut self, value: bool) -> Result<(), Self::Error> {
            self.scalar($crate::event::protocol::Scalar::Bool(value))
        }
        #[inline]
        fn number(&mut self, number: $crate::event::Numeral<'_>) -> Result<(), Self::Error> {
            self.scalar($crate::event::protocol::Scalar::Number(number))
        }
        #[inline]
        fn string(&mut self, text: &str) -> Result<(), Self::Error> {
            self.scalar($crate::event::protocol::Scalar::String(text))
        }
        #[inline]
        fn bytes(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
            self.scalar($crate::event::protocol::Scalar::Bytes(bytes))
        }
        #[inline]
        fn timestamp(&mut self, time: $crate::event::Timestamp) -> Result<(), Self::Error> {
            self.scalar($crate::event::protocol::Scalar::Timestamp(time))
        }
    };
}
pub(super) use scalars;

/// Inside a sink's `impl`: forwards calls without arguments to another sink, whose errors are converted.
macro_rules! forwards {
    ($self:ident => $sink:expr, $error:expr; $($call:ident)+) => {
        $( forwards!(@$call $self, $sink, $error); )+
    };
    (@wants_more $self:ident, $sink:expr, $error:expr) => {
        fn wants_more(&$self) -> bool {
            $sink.wants_more()
        }
    };
    (@$call:ident $self:ident, $sink:expr, $error:expr) => {
        #[inline]
        fn $call(&mut $self) -> Result<(), Self::Error> {
            $sink.$call().map_err($error)
        }
    };
}
pub(super) use forwards;

/// Implements [`Sink`] for pointers to sinks, by forwarding every event.
macro_rules! forward {
    ($($type:ty),+) => {
        $(
            impl<S: Sink + ?Sized> Sink for $type {
                type Error = S::Error;

                #[inline(always)]
                fn begin_record(&mut self, place: Place) -> Result<(), S::Error> { (**self).begin_record(place) }
                #[inline(always)]
                fn end_record(&mut self) -> Result<(), S::Error> { (**self).end_record() }
                #[inline(always)]
                fn begin_object(&mut self) -> Result<(), S::Error> { (**self).begin_object() }
                #[inline(always)]
                fn key(&mut self, key: Key<'_>) -> Result<Interest, S::Error> { (**self).key(key) }
                #[inline(always)]
                fn end_object(&mut self) -> Result<(), S::Error> { (**self).end_object() }
                #[inline(always)]
                fn begin_array(&mut self) -> Result<(), S::Error> { (**self).begin_array() }
                #[inline(always)]
                fn end_array(&mut self) -> Result<(), S::Error> { (**self).end_array() }
                #[inline(always)]
                fn null(&mut self) -> Result<(), S::Error> { (**self).null() }
                #[inline(always)]
                fn bool(&mut self, value: bool) -> Result<(), S::Error> { (**self).bool(value) }
                #[inline(always)]
                fn number(&mut self, number: Numeral<'_>) -> Result<(), S::Error> { (**self).number(number) }
                #[inline(always)]
                fn string(&mut self, text: &str) -> Result<(), S::Error> { (**self).string(text) }
                #[inline(always)]
                fn bytes(&mut self, bytes: &[u8]) -> Result<(), S::Error> { (**self).bytes(bytes) }
                #[inline(always)]
                fn timestamp(&mut self, time: Timestamp) -> Result<(), S::Error> { (**self).timestamp(time) }
                #[inline(always)]
                fn json(&mut self, text: JsonText<'_>) -> Result<(), S::Error> { (**self).json(text) }
                #[inline(always)]
                fn wants_more(&self) -> bool { (**self).wants_more() }
                #[inline(always)]
                fn finish(&mut self) -> Result<(), S::Error> { (**self).finish() }
            }
        )+
    };
}

forward!(&mut S, Box<S>);
