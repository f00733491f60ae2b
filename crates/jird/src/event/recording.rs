//! Records the events of one record, to send or decode them later.

use super::protocol::{Scalar, scalars};
use super::{Failure, Interest, JsonText, Key, Numeral, Place, Sink, Source, Timestamp};
use crate::error::Error;
use crate::fault::ErrorKind;
use crate::number::Number;
use crate::text;
use core::convert::Infallible;

/// The events of one record: a sink that keeps them in order, and can send them again or decode them.
///
/// An event takes 16 bytes, and all texts share one buffer; the text of a numbered key is kept once for all records.
/// Recording the next record allocates nothing. A deep record takes no stack.
///
/// ```
/// use jird::event::{JsonSink, JsonSource, Source};
/// use jird::hooks::event::Recording;
/// let mut recording = Recording::new();
/// let mut source = JsonSource::from_slice(br#"{"id": 1} {"id": 2, "tags": ["x"]}"#);
/// while source.send_record(&mut recording).is_ok_and(|sent| sent) {}
///
/// let mut out = JsonSink::new(Vec::new());
/// recording.source().send(&mut out)?;
/// jird::event::Sink::finish(&mut out)?;
/// assert_eq!(out.into_inner(), b"{\"id\":2,\"tags\":[\"x\"]}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Recording {
    events: Vec<Event>,
    /// The texts of strings, numbers, and keys without a number.
    text: String,
    bytes: Vec<u8>,
    /// Where the name of each numbered key begins and ends in `names`; `UNNAMED` if it has no name yet.
    numbered: Vec<(u32, u32)>,
    names: String,
    /// The innermost open array or object.
    open: usize,
    place: Place,
}

/// An event. The kind determines the meaning of `wide` and `narrow`.
#[derive(Clone, Copy, Debug)]
struct Event {
    kind: Kind,
    narrow: u32,
    wide: u64,
}

const _: () = assert!(size_of::<Event>() == 16);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Null,
    False,
    True,
    /// `wide` is the value, as for the next two kinds.
    I64,
    U64,
    F64,
    /// `wide` is where the text begins, `narrow` is its length, as for the next three kinds.
    Number,
    String,
    Bytes,
    Key,
    /// `narrow` is the key's number.
    NumberedKey,
    /// `wide` is the seconds, `narrow` the nanoseconds and [`UTC`].
    Timestamp,
    /// `wide` is the index of the end event; while the container is open, that of the container around it.
    Object,
    Array,
    /// The end of an array or object.
    End,
    /// A value as JSON text: where it begins and its length. Occurs only in a pipe, which sends it on.
    Json,
}

const UTC: u32 = 1 << 31;

/// No array or object is open.
const OUTSIDE: usize = usize::MAX;

/// Keys with larger numbers are not kept in the table of names.
const NUMBERS_MAX: u32 = 1 << 16;

/// A view of an event.
#[derive(Clone, Copy)]
pub(super) enum Item<'a> {
    Scalar(Scalar<'a>),
    Key(Key<'a>),
    /// An object, with the index of its end event.
    Object(usize),
    Array(usize),
    End,
}

impl Recording {
    /// An empty recording.
    pub fn new() -> Self {
        Self {
            events: Vec::new(),
            text: String::new(),
            bytes: Vec::new(),
            numbered: Vec::new(),
            names: String::new(),
            open: OUTSIDE,
            place: Place::default(),
        }
    }

    /// Forgets the record, but keeps the names of numbered keys. [`begin_record`](Sink::begin_record) does the same.
    pub fn clear(&mut self) {
        self.events.clear();
        self.text.clear();
        self.bytes.clear();
        self.open = OUTSIDE;
    }

    /// The number of events.
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    /// The memory that the events take, in bytes.
    pub(super) fn size(&self) -> usize {
        self.events.len() * size_of::<Event>() + self.text.len() + self.bytes.len()
    }

    /// Forgets the events from index `len`, where a record began. Their texts stay until the recording is cleared.
    pub(super) fn truncate(&mut self, len: usize) {
        self.events.truncate(len);
        self.open = OUTSIDE;
    }

    /// The record's place in its source.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Whether the recording holds a complete record.
    pub fn is_complete(&self) -> bool {
        self.open == OUTSIDE && !self.events.is_empty()
    }

    /// The recording as a source of this one record; of no record if it is not [complete](Self::is_complete).
    pub fn source(&self) -> Replay<'_> {
        Replay { recording: self, sent: !self.is_complete() }
    }

    /// Sends the value at event `start`, and returns the index of the event after it.
    pub(super) fn send_at<S: Sink>(&self, start: usize, sink: &mut S) -> Result<usize, S::Error> {
        let mut at = start;
        // The number of open containers of this value; each end event holds the kind of its container.
        let mut open = 0_usize;
        loop {
            if let Some(text) = self.json_at(at) {
                sink.json(text)?;
                at += 1;
                if open == 0 {
                    return Ok(at);
                }
                continue;
            }
            match self.item(at) {
                Item::Scalar(scalar) => scalar.send(sink)?,
                Item::Object(_) => {
                    open += 1;
                    sink.begin_object()?;
                }
                Item::Array(_) => {
                    open += 1;
                    sink.begin_array()?;
                }
                Item::Key(key) => {
                    if sink.key(key)? == Interest::Skip {
                        at = self.behind(at + 1) - 1;
                    }
                    at += 1;
                    continue;
                }
                Item::End => {
                    open = open.saturating_sub(1);
                    let is_object = self.events.get(at).is_some_and(|end| end.narrow == 1);
                    if is_object { sink.end_object() } else { sink.end_array() }?;
                }
            }
            at += 1;
            if open == 0 {
                return Ok(at);
            }
        }
    }

    /// Keeps a value as JSON text. Only [`send_at`](Self::send_at) can read it.
    pub(super) fn push_json(&mut self, text: JsonText<'_>) -> Result<(), Error> {
        self.push_text(Kind::Json, text.as_str())
    }

    #[inline(always)]
    fn json_at(&self, at: usize) -> Option<JsonText<'_>> {
        let Event { kind: Kind::Json, narrow, wide } = *self.events.get(at)? else { return None };
        let start = wide as usize;
        Some(JsonText::of_checked(&self.text[start..start + narrow as usize]))
    }

    /// The index of the event after the value at `at`.
    #[inline(always)]
    pub(super) fn behind(&self, at: usize) -> usize {
        match self.events.get(at) {
            Some(Event { kind: Kind::Object | Kind::Array, wide, .. }) => *wide as usize + 1,
            _ => at + 1,
        }
    }

    /// The kind of the value at `at`; `None` if a key or an end is there.
    #[inline(always)]
    pub(super) fn kind(&self, at: usize) -> Option<crate::tape::Kind> {
        use crate::tape::Kind as Found;
        Some(match self.events.get(at)?.kind {
            Kind::Null => Found::Null,
            Kind::False | Kind::True => Found::Bool,
            Kind::I64 | Kind::U64 | Kind::F64 | Kind::Number => Found::Number,
            Kind::String | Kind::Bytes | Kind::Timestamp | Kind::Json => Found::String,
            Kind::Array => Found::Array,
            Kind::Object => Found::Object,
            Kind::Key | Kind::NumberedKey | Kind::End => return None,
        })
    }

    /// The event at `at`; after the last event, an end.
    #[inline(always)]
    pub(super) fn item(&self, at: usize) -> Item<'_> {
        let Some(&Event { kind, narrow, wide }) = self.events.get(at) else { return Item::End };
        let start = wide as usize;
        let end = start.wrapping_add(narrow as usize);
        let number = |number| Item::Scalar(Scalar::Number(number));
        match kind {
            Kind::Null => Item::Scalar(Scalar::Null),
            Kind::False => Item::Scalar(Scalar::Bool(false)),
            Kind::True => Item::Scalar(Scalar::Bool(true)),
            Kind::I64 => number(Numeral::I64(wide.cast_signed())),
            Kind::U64 => number(Numeral::U64(wide)),
            Kind::F64 => number(Numeral::F64(f64::from_bits(wide))),
            Kind::Number => number(Numeral::Text(Number::of_checked_at(self.text.as_bytes(), start, end))),
            Kind::String => Item::Scalar(Scalar::String(&self.text[start..end])),
            Kind::Bytes => Item::Scalar(Scalar::Bytes(&self.bytes[start..end])),
            Kind::Timestamp => Item::Scalar(Scalar::Timestamp(Timestamp {
                seconds: wide.cast_signed(),
                nanoseconds: narrow & !UTC,
                is_utc: narrow & UTC != 0,
            })),
            Kind::Key => Item::Key(Key::new(&self.text[start..end])),
            Kind::NumberedKey => Item::Key(self.numbered_key(narrow)),
            Kind::Object => Item::Object(wide as usize),
            Kind::Array => Item::Array(wide as usize),
            Kind::End => Item::End,
            Kind::Json => unreachable!("who records it sends it on"),
        }
    }

    #[inline(always)]
    fn numbered_key(&self, number: u32) -> Key<'_> {
        let (start, end) = self.numbered[number as usize];
        Key::numbered(&self.names[start as usize..end as usize], number)
    }

    #[inline(always)]
    fn push(&mut self, kind: Kind, narrow: u32, wide: u64) {
        self.events.push(Event { kind, narrow, wide });
    }

    #[inline(always)]
    fn push_text(&mut self, kind: Kind, text: &str) -> Result<(), Error> {
        let len = u32::try_from(text.len()).map_err(|_| too_long())?;
        self.push(kind, len, self.text.len() as u64);
        self.text.push_str(text);
        Ok(())
    }

    #[inline(always)]
    fn scalar(&mut self, scalar: Scalar<'_>) -> Result<(), Error> {
        match scalar {
            Scalar::Null => self.push(Kind::Null, 0, 0),
            Scalar::Bool(value) => self.push(if value { Kind::True } else { Kind::False }, 0, 0),
            Scalar::Number(Numeral::I64(value)) => self.push(Kind::I64, 0, value.cast_unsigned()),
            Scalar::Number(Numeral::U64(value)) => self.push(Kind::U64, 0, value),
            Scalar::Number(Numeral::F64(value)) => self.push(Kind::F64, 0, value.to_bits()),
            Scalar::Number(Numeral::Text(number)) => return self.push_text(Kind::Number, number.text()),
            Scalar::String(text) => return self.push_text(Kind::String, text),
            Scalar::Bytes(bytes) => {
                let len = u32::try_from(bytes.len()).map_err(|_| too_long())?;
                self.push(Kind::Bytes, len, self.bytes.len() as u64);
                self.bytes.extend_from_slice(bytes);
            }
            Scalar::Timestamp(time) => {
                let narrow = time.nanoseconds & !UTC | if time.is_utc { UTC } else { 0 };
                self.push(Kind::Timestamp, narrow, time.seconds.cast_unsigned());
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn begin(&mut self, kind: Kind) {
        let at = self.events.len();
        self.push(kind, 0, self.open as u64);
        self.open = at;
    }

    #[inline(always)]
    fn end(&mut self, is_object: bool) {
        let at = self.events.len();
        self.push(Kind::End, u32::from(is_object), 0);
        if let Some(begin) = self.events.get_mut(self.open) {
            self.open = begin.wide as usize;
            begin.wide = at as u64;
        }
    }

    /// Whether this number is known to be this key's. A number from an earlier source may belong to another key.
    #[inline(always)]
    pub(super) fn knows(&self, text: &str, number: u32) -> bool {
        self.numbered.get(number as usize).is_some_and(|&(start, end)| {
            self.names
                .get(start as usize..end as usize)
                .is_some_and(|name| text::same(name.as_bytes(), text.as_bytes()))
        })
    }

    /// Whether this number belongs to this key; a new number is given to the key.
    #[inline(always)]
    pub(super) fn takes(&mut self, text: &str, number: u32) -> bool {
        self.knows(text, number) || self.name(text, number)
    }

    /// Keeps the name of a key whose number has no name yet.
    #[cold]
    fn name(&mut self, text: &str, number: u32) -> bool {
        if self.numbered.get(number as usize).is_some_and(|name| *name != UNNAMED) {
            return false;
        }
        let end = self.names.len() + text.len();
        let (Ok(start), Ok(end)) = (u32::try_from(self.names.len()), u32::try_from(end)) else { return false };
        if number >= NUMBERS_MAX {
            return false;
        }
        if self.numbered.len() <= number as usize {
            self.numbered.resize(number as usize + 1, UNNAMED);
        }
        self.names.push_str(text);
        self.numbered[number as usize] = (start, end);
        true
    }
}

/// The range of a key number that has no name; no real name begins and ends there.
const UNNAMED: (u32, u32) = (u32::MAX, u32::MAX);

#[cold]
fn too_long() -> Error {
    Error::new(ErrorKind::Size, 0)
}

impl Default for Recording {
    fn default() -> Self {
        Self::new()
    }
}

/// Keeps every event, of the last record only.
///
/// # Errors
/// An error of kind [`Size`](ErrorKind::Size) if one string reaches 4 GiB.
impl Sink for Recording {
    type Error = Error;

    #[inline]
    fn begin_record(&mut self, place: Place) -> Result<(), Error> {
        self.clear();
        self.place = place;
        Ok(())
    }

    #[inline]
    fn begin_object(&mut self) -> Result<(), Error> {
        self.begin(Kind::Object);
        Ok(())
    }

    #[inline]
    fn key(&mut self, key: Key<'_>) -> Result<Interest, Error> {
        if let Some(number) = key.number()
            && self.takes(key.text(), number)
        {
            self.push(Kind::NumberedKey, number, 0);
            return Ok(Interest::Take);
        }
        self.push_text(Kind::Key, key.text())?;
        Ok(Interest::Take)
    }

    #[inline]
    fn end_object(&mut self) -> Result<(), Error> {
        self.end(true);
        Ok(())
    }

    #[inline]
    fn begin_array(&mut self) -> Result<(), Error> {
        self.begin(Kind::Array);
        Ok(())
    }

    #[inline]
    fn end_array(&mut self) -> Result<(), Error> {
        self.end(false);
        Ok(())
    }

    scalars!();
}

/// A recording as a source: see [`Recording::source`].
#[derive(Clone, Debug)]
pub struct Replay<'a> {
    recording: &'a Recording,
    sent: bool,
}

impl Source for Replay<'_> {
    type Error = Infallible;

    fn send_record<S: Sink>(&mut self, sink: &mut S) -> Result<bool, Failure<Infallible, S::Error>> {
        if core::mem::replace(&mut self.sent, true) {
            return Ok(false);
        }
        let place = self.recording.place;
        let mut send = || {
            sink.begin_record(place)?;
            self.recording.send_at(0, sink)?;
            sink.end_record()
        };
        send().map(|()| true).map_err(|error| Failure::Sink(error, place))
    }
}
