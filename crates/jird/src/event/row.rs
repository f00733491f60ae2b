//! Records that are rows of a table.

use super::{Failure, Place, Scalar, Sink};

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

    /// The key of a column. The column's index is the key's [number](super::Key::number).
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
    /// [`Source::send_record`](super::Source::send_record) would.
    ///
    /// # Errors
    /// The source's error, for a value that cannot be sent; or the sink's error.
    fn send<S: Sink>(self, sink: &mut S) -> Result<(), Failure<Self::Error, S::Error>>;
}
