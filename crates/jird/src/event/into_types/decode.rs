//! A recording as a tree.

use super::Unused;
use crate::data_model::{Children, Node, NodeDeserializer, TreeScope};
use crate::error::Error;
use crate::event::recording::{Item, Recording};
use crate::event::{JsonSink, Scalar};
use crate::fault::ErrorKind;
use crate::tape::Kind;
use serde_core::de::{Deserialize, Visitor};

impl Recording {
    /// Decodes the record, and notes which of its keys the type does not use.
    #[inline]
    pub(super) fn decode_into<'a, T: Deserialize<'a>>(&'a self, unused: &Unused) -> Result<T, Error> {
        if !self.is_complete() {
            return Err(Error::new(ErrorKind::Unclosed, 0));
        }
        if self.kind(0).is_none() {
            return Err(ErrorKind::Value.into());
        }
        let _scope = TreeScope::enter();
        let record = RecordedValue { recording: self, unused, at: 0, is_member: false };
        T::deserialize(NodeDeserializer::new(record)).map_err(|error| {
            let is_placed = error.offset() != 0 || error.is_placed();
            if is_placed { error } else { error.placed(self.place().offset, 0, 0) }
        })
    }
}

/// A value of a recording.
#[derive(Clone, Copy)]
struct RecordedValue<'d, 'a> {
    recording: &'a Recording,
    unused: &'d Unused,
    /// Its first event.
    at: usize,
    /// Whether it is the value of one of the record's own keys.
    is_member: bool,
}

impl<'d, 'a> RecordedValue<'d, 'a> {
    #[inline(always)]
    fn children(&self) -> RecordedChildren<'d, 'a> {
        RecordedChildren { next: Self { at: self.at + 1, is_member: self.at == 0, ..*self } }
    }
}

impl<'d, 'a> Node<'a> for RecordedValue<'d, 'a> {
    type Leaf = Scalar<'a>;
    type Elements = RecordedChildren<'d, 'a>;
    type Members = RecordedChildren<'d, 'a>;

    #[inline(always)]
    fn kind(&self) -> Kind {
        self.recording.kind(self.at).unwrap_or(Kind::Null)
    }

    #[inline(always)]
    fn leaf(&self) -> Scalar<'a> {
        if let Item::Scalar(scalar) = self.recording.item(self.at) { scalar } else { Scalar::Null }
    }

    #[inline(always)]
    fn elements(&self) -> RecordedChildren<'d, 'a> {
        self.children()
    }

    #[inline(always)]
    fn members(&self) -> RecordedChildren<'d, 'a> {
        self.children()
    }

    fn visit_raw<V: Visitor<'a>>(&self, visitor: V) -> Result<V::Value, Error> {
        if let Item::Scalar(scalar) = self.recording.item(self.at) {
            return scalar.visit_raw(visitor);
        }
        let mut json = JsonSink::in_memory();
        self.recording.send_at(self.at, &mut json)?;
        json.take_text(|text| visitor.visit_str(text))
    }

    #[inline(always)]
    fn becomes_struct(&self, fields: &'static [&'static str]) {
        if self.at == 0 {
            self.unused.fields.set(Some(fields));
        }
    }

    #[inline(always)]
    fn ignored(&self) -> Result<(), Error> {
        if self.is_member
            && let Item::Key(key) = self.recording.item(self.at - 1)
        {
            self.unused.note(key.text(), self.at - 1);
        }
        Ok(())
    }
}

/// The children of a recorded value.
struct RecordedChildren<'d, 'a> {
    /// The next one, or its key, or the end.
    next: RecordedValue<'d, 'a>,
}

impl<'d, 'a> Children<'a> for RecordedChildren<'d, 'a> {
    type Key = &'a str;
    type Value = RecordedValue<'d, 'a>;

    #[inline(always)]
    fn next_key(&mut self) -> Option<&'a str> {
        let Item::Key(key) = self.next.recording.item(self.next.at) else { return None };
        self.next.at += 1;
        Some(key.text())
    }

    /// Nothing at the end; nor at a key, if the source did not keep to the protocol.
    #[inline(always)]
    fn next_value(&mut self) -> Option<RecordedValue<'d, 'a>> {
        let next = self.next;
        next.recording.kind(next.at)?;
        self.next.at = next.recording.behind(next.at);
        Some(next)
    }

    #[inline(always)]
    fn left(&mut self) -> Option<Error> {
        let is_end = matches!(self.next.recording.item(self.next.at), Item::End);
        if is_end { None } else { Some(ErrorKind::Trailing.into()) }
    }
}
