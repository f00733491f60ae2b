//! Documents as events: the same fold as that of a visit, without a document in memory.

use std::fmt;

use jird::event::{Interest, Key, Numeral, Sink};
use jird::value::MachineNumber;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::fold::Fold;
use crate::peer::{Answer, Refusal, fold_two};

/// Folds the events that it receives.
#[derive(Default)]
pub(crate) struct Folding {
    pub(crate) fold: Fold,
    /// The number of members or elements so far in the innermost container, and whether it is an array.
    members: usize,
    array: bool,
    outer: Vec<(usize, bool)>,
}

impl Folding {
    #[inline(always)]
    fn value(&mut self) {
        self.members += usize::from(self.array);
    }

    #[inline(always)]
    fn open(&mut self, array: bool) {
        self.value();
        self.outer.push((self.members, self.array));
        (self.members, self.array) = (0, array);
    }

    #[inline(always)]
    fn close(&mut self) {
        self.fold.container(self.members);
        (self.members, self.array) = self.outer.pop().unwrap_or_default();
    }
}

impl Sink for Folding {
    type Error = fmt::Error;

    #[inline(always)]
    fn begin_object(&mut self) -> fmt::Result {
        self.open(false);
        Ok(())
    }
    #[inline(always)]
    fn key(&mut self, key: Key<'_>) -> Result<Interest, fmt::Error> {
        self.members += 1;
        self.fold.string(key.text());
        Ok(Interest::Take)
    }
    #[inline(always)]
    fn end_object(&mut self) -> fmt::Result {
        self.close();
        Ok(())
    }
    #[inline(always)]
    fn begin_array(&mut self) -> fmt::Result {
        self.open(true);
        Ok(())
    }
    #[inline(always)]
    fn end_array(&mut self) -> fmt::Result {
        self.close();
        Ok(())
    }
    #[inline(always)]
    fn null(&mut self) -> fmt::Result {
        self.value();
        self.fold.null();
        Ok(())
    }
    #[inline(always)]
    fn bool(&mut self, value: bool) -> fmt::Result {
        self.value();
        self.fold.boolean(value);
        Ok(())
    }
    #[inline(always)]
    fn number(&mut self, number: Numeral<'_>) -> fmt::Result {
        self.value();
        match number.machine() {
            Some(MachineNumber::I64(value)) => self.fold.integer(value),
            Some(MachineNumber::U64(value)) => self.fold.unsigned(value),
            Some(MachineNumber::F64(value)) => self.fold.real(value),
            None => self.fold.real(f64::INFINITY),
        }
        Ok(())
    }
    #[inline(always)]
    fn string(&mut self, text: &str) -> fmt::Result {
        self.value();
        self.fold.string(text);
        Ok(())
    }
}

/// Two top-level fields of log events, which `two` reads.
#[derive(Default)]
pub(crate) struct TwoFields {
    pub(crate) fold: Fold,
    wanted: Option<Expected>,
    message: String,
    elapsed: f64,
}

#[derive(Clone, Copy)]
enum Expected {
    Message,
    Elapsed,
}

impl Sink for TwoFields {
    type Error = fmt::Error;

    #[inline(always)]
    fn end_record(&mut self) -> fmt::Result {
        self.fold.add(fold_two(&self.message, self.elapsed));
        Ok(())
    }

    #[inline(always)]
    fn key(&mut self, key: Key<'_>) -> Result<Interest, fmt::Error> {
        self.wanted = match key.text() {
            "Message" => Some(Expected::Message),
            "Elapsed" => Some(Expected::Elapsed),
            _ => None,
        };
        Ok(Interest::take_if(self.wanted.is_some()))
    }
    #[inline(always)]
    fn string(&mut self, text: &str) -> fmt::Result {
        if let Some(Expected::Message) = self.wanted {
            self.message.clear();
            self.message.push_str(text);
        }
        Ok(())
    }
    #[inline(always)]
    fn number(&mut self, number: Numeral<'_>) -> fmt::Result {
        if let Some(Expected::Elapsed) = self.wanted {
            self.elapsed = number.to_f64().ok_or(fmt::Error)?;
        }
        Ok(())
    }
}

/// The same fold through serde's visitors, for peers that support them.
#[derive(Default)]
pub(crate) struct Visited(Fold);

impl Visited {
    /// The fold of several values, one after the other.
    pub(crate) fn sum<E>(values: impl Iterator<Item = Result<Self, E>>) -> Answer<Fold> {
        let mut fold = Fold::default();
        for value in values {
            fold.add(value.map_err(Refusal::rejected)?.0);
        }
        Ok(fold)
    }
}

impl<'de> Deserialize<'de> for Visited {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut visited = Self::default();
        Visiting(&mut visited.0).deserialize(deserializer)?;
        Ok(visited)
    }
}

/// The fold of a value, through serde's visitors.
struct Visiting<'f>(&'f mut Fold);

impl<'de> DeserializeSeed<'de> for Visiting<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Visiting<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        self.0.null();
        Ok(())
    }
    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.0.boolean(value);
        Ok(())
    }
    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.0.integer(value);
        Ok(())
    }
    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.0.unsigned(value);
        Ok(())
    }
    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.0.real(value);
        Ok(())
    }
    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.0.string(text);
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let mut count = 0;
        while elements.next_element_seed(Visiting(&mut *self.0))?.is_some() {
            count += 1;
        }
        self.0.container(count);
        Ok(())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut count = 0;
        while members.next_key_seed(Visiting(&mut *self.0))?.is_some() {
            members.next_value_seed(Visiting(&mut *self.0))?;
            count += 1;
        }
        self.0.container(count);
        Ok(())
    }
}
