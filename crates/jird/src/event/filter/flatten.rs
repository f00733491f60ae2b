//! Nested objects as members with dotted keys.

use crate::event::protocol::{Scalar, forwards, scalars};
use crate::event::{Interest, JsonSink, Key, Place, Sink};
use std::io;

/// Makes rows of nested records: a member of an object within an object gets a key made of both keys, with a dot
/// between them.
///
/// Arrays become strings of JSON text, and empty objects stay `{}`. Objects whose key is longer than
/// [`KEY_BYTES_MAX`](Self::KEY_BYTES_MAX) become JSON text, so that the output is at most a constant factor larger than
/// the input. A record that is not an object is forwarded as it is.
///
/// The filter sends the dotted key to the sink once a scalar has arrived, which is too late for the source to skip
/// anything: put a [`Project`](super::Project) before this filter to have unwanted values skipped.
///
/// ```
/// use jird::event::{self, JsonSink, JsonSource, filter::Flatten};
/// let text = br#"{"id":1,"user":{"name":"Ada","tags":["x",{"y":2}],"more":{}}}"#;
/// let mut out = Flatten::new(JsonSink::new(Vec::new()));
/// event::copy(&mut JsonSource::from_slice(text), &mut out)?;
/// assert_eq!(out.into_inner().into_inner(), br#"{"id":1,"user.name":"Ada","user.tags":"[\"x\",{\"y\":2}]","user.more":{}}
/// "#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Flatten<S> {
    sink: S,
    /// The key of the next value.
    path: String,
    /// The open objects that are being flattened.
    levels: Vec<FlattenLevel>,
    /// The source's number for the key, if the key is unchanged.
    number: Option<u32>,
    state: FlattenState,
    /// The number of arrays and objects that are open and not flattened.
    depth: usize,
    text: JsonSink<io::Sink>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlattenState {
    /// In an object that is being flattened.
    Rows,
    /// In a value that becomes text.
    Text,
    /// In a value that the sink skips.
    Drops,
    /// In a record that is not flattened.
    Whole,
}

#[derive(Clone, Copy, Debug)]
struct FlattenLevel {
    /// The length of the prefix of the path that is this object's key.
    path_len: usize,
    /// Nothing was inside yet.
    empty: bool,
}

impl<S: Sink> Flatten<S> {
    /// The longest key, in bytes, of an object that is flattened; objects with longer keys become text.
    pub const KEY_BYTES_MAX: usize = 1024;

    /// Forwards rows to `sink`.
    pub fn new(sink: S) -> Self {
        Self {
            sink,
            path: String::new(),
            levels: Vec::new(),
            number: None,
            state: FlattenState::Rows,
            depth: 0,
            text: JsonSink::in_memory(),
        }
    }

    /// The sink.
    pub fn into_inner(self) -> S {
        self.sink
    }

    /// Sends the key of a value to the sink. Returns whether the sink takes the value.
    #[inline]
    fn takes(&mut self) -> Result<bool, S::Error> {
        let key = self.number.take().map_or(Key::new(&self.path), |number| Key::numbered(&self.path, number));
        Ok(self.sink.key(key)? == Interest::Take)
    }

    #[inline]
    fn scalar(&mut self, scalar: Scalar<'_>) -> Result<(), S::Error> {
        match self.state {
            FlattenState::Rows => {
                if self.levels.is_empty() || self.takes()? {
                    scalar.send(&mut self.sink)
                } else {
                    Ok(())
                }
            }
            FlattenState::Whole => scalar.send(&mut self.sink),
            FlattenState::Text => {
                written(scalar.send(&mut self.text));
                Ok(())
            }
            FlattenState::Drops => Ok(()),
        }
    }

    fn begin(&mut self, object: bool) -> Result<(), S::Error> {
        if self.state == FlattenState::Rows {
            let is_record = self.levels.is_empty();
            if object && (is_record || self.path.len() <= Self::KEY_BYTES_MAX) {
                if is_record {
                    // If the source did not call `begin_record`, the path of the previous record is still here.
                    self.path.clear();
                }
                self.levels.push(FlattenLevel { path_len: self.path.len(), empty: true });
                return if is_record { self.sink.begin_object() } else { Ok(()) };
            }
            self.state = match is_record {
                true => FlattenState::Whole,
                false if self.takes()? => FlattenState::Text,
                false => FlattenState::Drops,
            };
        }
        self.depth += 1;
        match (self.state, object) {
            (FlattenState::Text, true) => written(self.text.begin_object()),
            (FlattenState::Text, false) => written(self.text.begin_array()),
            (FlattenState::Whole, true) => self.sink.begin_object()?,
            (FlattenState::Whole, false) => self.sink.begin_array()?,
            (FlattenState::Rows | FlattenState::Drops, _) => {}
        }
        Ok(())
    }

    fn end(&mut self, object: bool) -> Result<(), S::Error> {
        match (self.state, object) {
            (FlattenState::Rows, _) => return self.end_level(),
            (FlattenState::Text, true) => written(self.text.end_object()),
            (FlattenState::Text, false) => written(self.text.end_array()),
            (FlattenState::Whole, true) => self.sink.end_object()?,
            (FlattenState::Whole, false) => self.sink.end_array()?,
            (FlattenState::Drops, _) => {}
        }
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 {
            let state = core::mem::replace(&mut self.state, FlattenState::Rows);
            if state == FlattenState::Text {
                return self.text.take_text(|text| self.sink.string(text));
            }
        }
        Ok(())
    }

    /// A flattened object ends.
    fn end_level(&mut self) -> Result<(), S::Error> {
        let Some(level) = self.levels.pop() else { return Ok(()) };
        if self.levels.is_empty() {
            return self.sink.end_object();
        }
        if !level.empty {
            return Ok(());
        }
        self.path.truncate(level.path_len);
        if self.takes()? {
            self.sink.begin_object()?;
            self.sink.end_object()?;
        }
        Ok(())
    }
}

/// Unwraps the result of writing to memory.
fn written<T>(result: Result<T, crate::error::Error>) {
    result.map(drop).expect("memory takes everything");
}

impl<S: Sink> Sink for Flatten<S> {
    type Error = S::Error;

    fn begin_record(&mut self, place: Place) -> Result<(), S::Error> {
        if self.state == FlattenState::Text {
            // The previous record was abandoned.
            self.text.take_text(|_| ());
        }
        self.levels.clear();
        self.path.clear();
        (self.state, self.depth, self.number) = (FlattenState::Rows, 0, None);
        self.sink.begin_record(place)
    }

    fn begin_object(&mut self) -> Result<(), S::Error> {
        self.begin(true)
    }

    #[inline]
    fn key(&mut self, key: Key<'_>) -> Result<Interest, S::Error> {
        match self.state {
            FlattenState::Rows => {}
            FlattenState::Text => {
                written(self.text.key(key));
                return Ok(Interest::Take);
            }
            FlattenState::Whole => return self.sink.key(key),
            FlattenState::Drops => return Ok(Interest::Skip),
        }
        let is_row = self.levels.len() == 1;
        if let Some(level) = self.levels.last_mut() {
            level.empty = false;
            self.path.truncate(level.path_len);
        }
        if is_row {
            self.path.clear();
            self.number = key.number();
        } else {
            self.path.push('.');
            self.number = None;
        }
        self.path.push_str(key.text());
        Ok(Interest::Take)
    }

    fn end_object(&mut self) -> Result<(), S::Error> {
        self.end(true)
    }

    fn begin_array(&mut self) -> Result<(), S::Error> {
        self.begin(false)
    }

    fn end_array(&mut self) -> Result<(), S::Error> {
        self.end(false)
    }

    scalars!();

    forwards!(self => self.sink, Into::into; end_record wants_more finish);
}
