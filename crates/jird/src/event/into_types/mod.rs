//! Rust types as sinks.

mod decode;
mod row;
mod scalar;

use super::protocol::scalars;
use super::recording::{Item, Recording};
use super::{Failure, Interest, Key, KeyTable, Place, Row, Scalar, Sink, Source};
use crate::error::Error;
use core::cell::{Cell, RefCell};
use core::marker::PhantomData;
use row::RowObject;
use serde_core::de::{Deserialize, DeserializeOwned};

/// Decodes each record of a source into a type, and passes it with its index to `each`. A record can be a row, a line
/// or an element.
///
/// The types are serde's, nested and mixed as `from_slice` accepts them. Members that a struct does not name are
/// skipped once that is known. Memory is bounded by one record.
///
/// ```
/// use jird::event::{self, JsonSource};
/// #[derive(serde::Deserialize)]
/// #[serde(untagged)]
/// enum Shape {
///     Circle { r: f64 },
///     Box { w: f64, h: f64 },
/// }
///
/// let mut area = 0.0;
/// let text = br#"{"shapes": [{"r": 1}, {"w": 2.0, "h": 3.0}]}"#;
/// let mut shapes = JsonSource::from_slice(text).records("/shapes/*".parse()?);
/// event::for_each(&mut shapes, |_, shape| {
///     area += match shape {
///         Shape::Circle { r } => 3.0 * r * r,
///         Shape::Box { w, h } => w * h,
///     };
///     Ok::<(), jird::Error>(())
/// })?;
/// assert_eq!(area, 9.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The source's error; the first record that is not a `T`, with the path to the wrong value; or the error that `each`
/// returns. [`Failure`] says at which record.
pub fn for_each<A, T, E, F>(source: &mut A, each: F) -> Result<(), Failure<A::Error, E>>
where
    A: Source,
    T: DeserializeOwned,
    E: From<Error>,
    F: FnMut(u64, T) -> Result<(), E>,
{
    super::copy(source, &mut Objects::new(each))
}

/// A sink that decodes each record and passes it to a closure. [`for_each`] copies into it; use it directly to put it
/// after filters.
///
/// A record costs a copy of its events, plus what serde allocates. The values of a [`Row`] are decoded one by one,
/// without a copy. If that fails, the row is sent as events instead, which find the first error.
///
/// ```
/// use jird::event::{self, JsonSource, Objects};
/// let mut ids = Vec::new();
/// let mut sink = Objects::new(|index, (id, _): (u32, String)| {
///     ids.push((index, id));
///     Ok::<(), jird::Error>(())
/// });
/// event::copy(&mut JsonSource::from_slice(b"[7, \"a\"] [9, \"b\"]"), &mut sink)?;
/// assert_eq!(ids, [(0, 7), (1, 9)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Objects<T, F> {
    recording: Recording,
    /// The number of open arrays and objects.
    depth: usize,
    ignored: Ignored,
    /// Rows are decoded value by value. Turned off when that has failed on a row whose events then decode without an
    /// error.
    takes_rows: bool,
    each: F,
    values: PhantomData<fn(T)>,
}

/// Keys of records that their type does not use.
#[derive(Debug, Default)]
struct Ignored {
    /// By the key's number: whether it is ignored.
    numbered: Vec<bool>,
    named: KeyTable,
}

/// What the struct that a record becomes does not use of it.
#[derive(Debug, Default)]
struct Unused {
    /// The fields of the record's struct, if it becomes one.
    fields: Cell<Option<&'static [&'static str]>>,
    /// Keys that are not fields and whose values are ignored: their events.
    keys: RefCell<Vec<usize>>,
}

impl Unused {
    /// The value of this key is ignored.
    #[inline]
    fn note(&self, key: &str, at: usize) {
        if self.fields.get().is_some_and(|fields| !fields.contains(&key)) {
            self.keys.borrow_mut().push(at);
        }
    }
}

/// At most this number of names is remembered.
const NAMES_MAX: usize = 1 << 12;

impl<T, E, F> Objects<T, F>
where
    T: DeserializeOwned,
    E: From<Error>,
    F: FnMut(u64, T) -> Result<(), E>,
{
    /// Passes each record to `each`, with the number of records before it.
    pub fn new(each: F) -> Self {
        Self {
            recording: Recording::new(),
            depth: 0,
            ignored: Ignored::default(),
            takes_rows: true,
            each,
            values: PhantomData,
        }
    }

    #[inline(always)]
    fn scalar(&mut self, scalar: Scalar<'_>) -> Result<(), E> {
        scalar.send(&mut self.recording).map_err(refused)
    }

    #[cold]
    #[inline(never)]
    fn ignore<R: Row>(&mut self, row: &R, columns: &[u32]) {
        for &column in columns {
            let name = row.name(column as usize);
            let key = if self.recording.takes(name, column) { Key::numbered(name, column) } else { Key::new(name) };
            self.ignored.add(key);
        }
    }
}

impl Recording {
    /// Decodes the record. `T` may borrow from the recording.
    ///
    /// Numbers are converted to the type that is asked for, by the rules of [`from_slice`](crate::from_slice). Bytes
    /// decode into bytes, or into a sequence of them; into a string they decode as base64. Points in time are strings
    /// in the form of RFC 3339.
    ///
    /// ```
    /// use jird::event::{JsonSource, Source};
    /// use jird::hooks::event::Recording;
    /// let mut recording = Recording::new();
    /// let mut names = Vec::new();
    /// let mut source = JsonSource::from_slice(b"[\"Ada\", 36] [\"Alan\", 41]");
    /// while source.send_record(&mut recording).is_ok_and(|sent| sent) {
    ///     let (name, age): (&str, u8) = recording.decode()?;
    ///     names.push(format!("{name} {age}"));
    /// }
    /// assert_eq!(names, ["Ada 36", "Alan 41"]);
    /// # Ok::<(), jird::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first value that does not fit `T`, with its path; or if the record is not [complete](Self::is_complete).
    pub fn decode<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Error> {
        self.decode_into(&Unused::default())
    }
}

impl Ignored {
    fn is_empty(&self) -> bool {
        self.numbered.is_empty() && self.named.is_empty()
    }

    /// Whether a key is ignored. Its number counts only where `recording` knows it as this key's number.
    #[inline]
    fn has(&self, key: Key<'_>, recording: &Recording) -> bool {
        if let Some(number) = key.number()
            && self.numbered.get(number as usize).is_some_and(|ignored| *ignored)
            && recording.knows(key.text(), number)
        {
            return true;
        }
        !self.named.is_empty() && self.named.get(key.text()).is_some()
    }

    #[cold]
    fn add(&mut self, key: Key<'_>) {
        match key.number() {
            // The recording accepted the number, so it is small.
            Some(number) => {
                let number = number as usize;
                self.numbered.resize(self.numbered.len().max(number + 1), false);
                self.numbered[number] = true;
            }
            None if self.named.len() < NAMES_MAX => _ = self.named.insert(key.text()),
            None => {}
        }
    }
}

/// Converts a decoding error into the closure's error type, which stops the stream.
#[cold]
fn refused<E: From<Error>>(error: Error) -> E {
    error.into()
}

impl<T, E, F> Sink for Objects<T, F>
where
    T: DeserializeOwned,
    E: From<Error>,
    F: FnMut(u64, T) -> Result<(), E>,
{
    type Error = E;

    #[inline]
    fn begin_record(&mut self, place: Place) -> Result<(), E> {
        self.depth = 0;
        self.recording.begin_record(place).map_err(refused)
    }

    #[inline]
    fn end_record(&mut self) -> Result<(), E> {
        let unused = Unused::default();
        let record = self.recording.decode_into::<T>(&unused).map_err(refused)?;
        for at in unused.keys.into_inner() {
            if let Item::Key(key) = self.recording.item(at) {
                self.ignored.add(key);
            }
        }
        (self.each)(self.recording.place().record, record)
    }

    #[inline]
    fn row<R: Row>(&mut self, row: R) -> Result<(), Failure<R::Error, E>> {
        if !self.takes_rows {
            return row.send(self);
        }
        let mut found = Vec::new();
        let Self { recording, ignored, .. } = self;
        if let Ok(value) = T::deserialize(RowObject { row: &row, ignored, recording, found: &mut found }) {
            if !found.is_empty() {
                self.ignore(&row, &found);
            }
            let place = row.place();
            return (self.each)(place.record, value).map_err(|error| Failure::Sink(error, place));
        }
        // The events report the first error of the row.
        self.takes_rows = false;
        let sent = row.send(self);
        self.takes_rows = sent.is_err();
        sent
    }

    #[inline]
    fn begin_object(&mut self) -> Result<(), E> {
        self.depth += 1;
        self.recording.begin_object().map_err(refused)
    }

    #[inline]
    fn key(&mut self, key: Key<'_>) -> Result<Interest, E> {
        if self.depth == 1 && self.ignored.has(key, &self.recording) {
            return Ok(Interest::Skip);
        }
        self.recording.key(key).map_err(refused)
    }

    #[inline]
    fn end_object(&mut self) -> Result<(), E> {
        self.depth = self.depth.saturating_sub(1);
        self.recording.end_object().map_err(refused)
    }

    #[inline]
    fn begin_array(&mut self) -> Result<(), E> {
        self.depth += 1;
        self.recording.begin_array().map_err(refused)
    }

    #[inline]
    fn end_array(&mut self) -> Result<(), E> {
        self.depth = self.depth.saturating_sub(1);
        self.recording.end_array().map_err(refused)
    }

    scalars!();
}
