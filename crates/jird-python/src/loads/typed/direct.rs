//! Texts → values by a plan, in one pass and without a tape.
//!
//! As in `small`, each value is made where it ends, and what is not common is left to the tape: long integers, deep texts,
//! repeated keys, and every mistake, for which [`decode`](super::decode) has the words. The tape then makes all values a
//! second time. Python code would run twice for them, so a plan that calls any is never read this way.

use super::direct_scalars::first_of_number;
use super::fields::FieldSet;
use super::objects::construct;
use super::plan::{Absent, Construction, Field, Object, Plan, Step, Union};
use crate::loads::build::Making;
use crate::loads::small::{SMALL_MAX, SmallReader, Stop};
use crate::raw::collect::Pause;
use crate::raw::keys::{Values, is_same};
use crate::raw::make::{self, Dict, Member};
use crate::raw::objects::Slots;
use pyo3::prelude::*;
use pyo3::types::{PyFrozenSet, PySet, PyTuple};

/// The value of a text; `None` if the engine must read it.
#[inline]
pub(super) fn read<'py>(
    py: Python<'py>,
    plan: &Plan,
    text: &[u8],
    making: &mut Making,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    debug_assert!(plan.is_quiet);
    let Making { keys, values, parts, .. } = making;
    values.renew();
    let pause = Pause::new(py);
    let reader = SmallReader { py, text, at: 0, depth: 0, keys, parts };
    let mut direct = DirectReader { plan, reader, values, gathered: Vec::new() };
    let made = direct.document();
    drop(pause);
    direct.reader.ended_with(made)
}

/// A value, or why the tape is needed.
pub(super) type DirectResult<'py> = Result<Bound<'py, PyAny>, Stop>;

pub(super) struct DirectReader<'p, 't, 'py> {
    pub(super) plan: &'p Plan,
    pub(super) reader: SmallReader<'t, 'py>,
    pub(super) values: &'t mut Values,
    /// Values of the objects that are open and have no slots, field by field; the innermost last.
    gathered: Vec<Option<Bound<'py, PyAny>>>,
}

/// Python's exception is set again; it is raised, or the tape raises it again.
#[cold]
pub(super) fn raised(py: Python<'_>, error: PyErr) -> Stop {
    error.restore(py);
    Stop::Raised
}

impl<'py> DirectReader<'_, '_, 'py> {
    fn document(&mut self) -> DirectResult<'py> {
        let first = self.reader.next();
        let made = self.value(0, first)?;
        self.reader.end()?;
        Ok(made)
    }

    /// The value of a step that begins with this byte, which was taken.
    #[inline]
    pub(super) fn value(&mut self, step: usize, first: u8) -> DirectResult<'py> {
        let plan = self.plan;
        match (&plan.steps[step], first) {
            (Step::Int, _) => self.int(first),
            (Step::Str, _) => self.string(first),
            (Step::Float, _) => self.float(first),
            (Step::Bool, _) => self.bool(first),
            (Step::None, b'n') | (Step::Any, _) => self.reader.value(first),
            (Step::Object(object), b'{' | b'[') => self.object(object, first),
            (Step::Union(union), _) => self.union(union, first),
            (Step::List(of), b'[') => self.list(*of),
            (Step::Dict(_, of), b'{') => self.dict(*of),
            (Step::Choice(choice), _) => self.choice(choice, first),
            (step, _) => self.other(step, first),
        }
    }

    #[inline(always)]
    fn bool(&mut self, first: u8) -> DirectResult<'py> {
        let rest: &[u8] = match first {
            b't' => b"rue",
            b'f' => b"alse",
            _ => return Err(Stop::Unusual),
        };
        self.reader.literal(rest, make::bool(self.reader.py, first == b't'))
    }

    /// What is less frequent.
    #[inline(never)]
    fn other(&mut self, step: &Step, first: u8) -> DirectResult<'py> {
        let py = self.reader.py;
        match (step, first) {
            (Step::Tuple(of), b'[') => {
                let from = self.elements(*of)?;
                let tuple = PyTuple::new(py, self.reader.parts.elements.drain(from..));
                tuple.map(Bound::into_any).map_err(|error| raised(py, error))
            }
            (Step::Tuples(steps), b'[') => self.tuple(steps),
            (Step::Set(of), b'[') => {
                let from = self.elements(*of)?;
                let set = PySet::new(py, self.reader.parts.elements.drain(from..));
                set.map(Bound::into_any).map_err(|_| Stop::Unusual)
            }
            (Step::FrozenSet(of), b'[') => {
                let from = self.elements(*of)?;
                let set = PyFrozenSet::new(py, self.reader.parts.elements.drain(from..));
                set.map(Bound::into_any).map_err(|_| Stop::Unusual)
            }
            (step, b'"') => self.of_string(step),
            _ => Err(Stop::Unusual),
        }
    }

    #[inline(never)]
    fn list(&mut self, of: usize) -> DirectResult<'py> {
        let from = self.elements(of)?;
        make::list(self.reader.py, self.reader.parts.elements.drain(from..)).ok_or(Stop::Raised)
    }

    /// The elements of an array whose bracket was taken, as parts from the index that is returned on.
    fn elements(&mut self, of: usize) -> Result<usize, Stop> {
        match &self.plan.steps[of] {
            Step::Int => self.each(Self::int),
            Step::Float => self.each(Self::float),
            Step::Bool => self.each(Self::bool),
            Step::Str => self.each(Self::string),
            step @ (Step::DateTime | Step::Date) => self.each(|direct, first| match first {
                b'"' => direct.of_string(step),
                _ => Err(Stop::Unusual),
            }),
            Step::Choice(choice) => self.each(|direct, first| direct.choice(choice, first)),
            Step::Union(union) => self.each(|direct, first| direct.union(union, first)),
            _ => self.each(|direct, first| direct.value(of, first)),
        }
    }

    /// The same, with a function that makes an element whose first byte was taken.
    #[inline(always)]
    fn each(&mut self, mut element: impl FnMut(&mut Self, u8) -> DirectResult<'py>) -> Result<usize, Stop> {
        self.reader.open()?;
        let from = self.reader.parts.elements.len();
        let mut next = self.reader.next();
        if next != b']' {
            loop {
                let element = element(self, next)?;
                self.reader.parts.elements.push(element.unbind());
                match self.reader.next() {
                    b',' => next = self.reader.next(),
                    b']' => break,
                    _ => return Err(Stop::Unusual),
                }
            }
        }
        self.reader.depth -= 1;
        Ok(from)
    }

    /// A tuple with a step for each element.
    #[inline(never)]
    fn tuple(&mut self, steps: &[usize]) -> DirectResult<'py> {
        self.reader.open()?;
        let from = self.reader.parts.elements.len();
        for (index, &step) in steps.iter().enumerate() {
            if index > 0 && self.reader.next() != b',' {
                return Err(Stop::Unusual);
            }
            let first = self.reader.next();
            let element = self.value(step, first)?;
            self.reader.parts.elements.push(element.unbind());
        }
        if self.reader.next() != b']' {
            return Err(Stop::Unusual);
        }
        self.reader.depth -= 1;
        let py = self.reader.py;
        let tuple = PyTuple::new(py, self.reader.parts.elements.drain(from..));
        tuple.map(Bound::into_any).map_err(|error| raised(py, error))
    }

    #[inline(never)]
    fn dict(&mut self, of: usize) -> DirectResult<'py> {
        match &self.plan.steps[of] {
            Step::Int => self.members(Self::int),
            Step::Str => self.members(Self::string),
            _ => self.members(|direct, first| direct.value(of, first)),
        }
    }

    /// A dict whose bracket was taken, with a function that makes a value whose first byte was taken.
    #[inline(always)]
    fn members(&mut self, mut value: impl FnMut(&mut Self, u8) -> DirectResult<'py>) -> DirectResult<'py> {
        self.reader.open()?;
        let (py, text) = (self.reader.py, self.reader.text);
        let from = self.reader.parts.members.len();
        // In a long text there may be many members: they are counted before the dict is made.
        let mut dict = if text.len() <= SMALL_MAX { Some(Dict::new(py, 0).ok_or(Stop::Raised)?) } else { None };
        let mut next = self.reader.next();
        if next != b'}' {
            loop {
                let (start, end) = self.key(next)?;
                let key = self.reader.keys.key_of(py, &text[start..end]).map_err(|_| Stop::Unusual)?;
                let key = key.ok_or(Stop::Raised)?;
                let first = self.reader.next();
                let value = value(self, first)?;
                match &mut dict {
                    Some(dict) => dict.set(&key, &value).ok_or(Stop::Raised)?,
                    None => self.reader.parts.members.push(Member::new(key, value)),
                }
                match self.reader.next() {
                    b',' => next = self.reader.next(),
                    b'}' => break,
                    _ => return Err(Stop::Unusual),
                }
            }
        }
        self.reader.depth -= 1;
        match dict {
            Some(dict) => Ok(dict.finish()),
            None => make::dict(py, self.reader.parts.members.drain(from..)).ok_or(Stop::Raised),
        }
    }

    /// Where a key is, whose first byte was taken. Its colon is taken too.
    #[inline(always)]
    pub(super) fn key(&mut self, first: u8) -> Result<(usize, usize), Stop> {
        if first != b'"' {
            return Err(Stop::Unusual);
        }
        let found = self.reader.string()?;
        if self.reader.next() == b':' { Ok(found) } else { Err(Stop::Unusual) }
    }

    #[inline(never)]
    fn object(&mut self, object: &Object, first: u8) -> DirectResult<'py> {
        let may_be_array = object.is_array || matches!(object.how, Construction::Tuple);
        if first == b'[' && !may_be_array || first == b'{' && object.is_array {
            return Err(Stop::Unusual);
        }
        self.reader.open()?;
        let made = match &object.how {
            Construction::Slots(slots) => self.in_slots(object, slots, first),
            _ => self.gathered(object, first),
        }?;
        self.reader.depth -= 1;
        Ok(made)
    }

    #[inline(always)]
    fn in_slots(&mut self, object: &Object, slots: &Slots, first: u8) -> DirectResult<'py> {
        let py = self.reader.py;
        let mut instance = slots.instance(py).map_err(|error| raised(py, error))?;
        let mut is_flat = object.is_struct;
        let seen = self.fields(object, first, |_, _, field, made| {
            is_flat &= !make::is_collected(&made);
            if field.attribute.is_some() {
                instance.set(field.slot, made);
            }
        })?;
        if !seen.is_full(object.fields.len()) {
            for (index, field) in object.fields.iter().enumerate() {
                if !seen.has(index)
                    && let Some(made) = absent(py, field)?
                    && field.attribute.is_some()
                {
                    is_flat &= !make::is_collected(&made);
                    instance.set(field.slot, made);
                }
            }
        }
        Ok(instance.finish(is_flat))
    }

    fn gathered(&mut self, object: &Object, first: u8) -> DirectResult<'py> {
        let py = self.reader.py;
        let base = self.gathered.len();
        self.gathered.resize_with(base + object.fields.len(), || None);
        let seen = self.fields(object, first, |direct, index, _, made| direct.gathered[base + index] = Some(made))?;
        if !seen.is_full(object.fields.len()) {
            for (index, field) in object.fields.iter().enumerate() {
                if !seen.has(index) {
                    self.gathered[base + index] = absent(py, field)?;
                }
            }
        }
        construct(py, object, self.gathered.drain(base..)).map_err(|error| raised(py, error))
    }

    /// Calls `found` with each field that the text has, and its value.
    #[inline(always)]
    fn fields(
        &mut self,
        object: &Object,
        first: u8,
        mut found: impl FnMut(&mut Self, usize, &Field, Bound<'py, PyAny>),
    ) -> Result<FieldSet, Stop> {
        let mut seen = FieldSet::default();
        let mut next = self.reader.next();
        if first == b'[' {
            let mut index = 0;
            while next != b']' {
                match object.fields.get(index) {
                    Some(field) => {
                        let made = self.value(field.step, next)?;
                        found(self, index, field, made);
                        seen.add(index);
                    }
                    None if object.is_array && !object.is_closed => self.skip(next)?,
                    None => return Err(Stop::Unusual),
                }
                index += 1;
                match self.reader.next() {
                    b',' => next = self.element()?,
                    b']' => break,
                    _ => return Err(Stop::Unusual),
                }
            }
            return Ok(seen);
        }
        if next == b'}' {
            return Ok(seen);
        }
        let (mut likely, text) = (0, self.reader.text);
        loop {
            let expected = object.fields.get(likely).and_then(|field| field.begin.as_deref());
            let is_expected = |begin: &[u8]| {
                let end = self.reader.at + begin.len();
                next == b'"' && text.get(self.reader.at..end).is_some_and(|found| is_same(found, begin))
            };
            let (place, start, end) = match expected {
                Some(begin) if is_expected(begin) => {
                    self.reader.at += begin.len();
                    (Some(likely), 0, 0)
                }
                _ => {
                    let (start, end) = self.key(next)?;
                    (object.find(likely, &text[start..end]), start, end)
                }
            };
            let first = self.reader.next();
            match place {
                // The last of them stays, and a tag may be among them.
                Some(index) if seen.has(index) => return Err(Stop::Unusual),
                Some(index) => {
                    likely = index + 1;
                    let field = &object.fields[index];
                    let made = self.value(field.step, first)?;
                    found(self, index, field, made);
                    seen.add(index);
                }
                None if object.is_closed || str::from_utf8(&text[start..end]).is_err() => return Err(Stop::Unusual),
                None => self.skip(first)?,
            }
            match self.reader.next() {
                b',' => next = self.reader.next(),
                b'}' => return Ok(seen),
                _ => return Err(Stop::Unusual),
            }
        }
    }

    /// Takes the first byte of an element after a comma.
    #[inline(always)]
    fn element(&mut self) -> Result<u8, Stop> {
        match self.reader.next() {
            b']' => Err(Stop::Unusual),
            next => Ok(next),
        }
    }

    #[inline(always)]
    fn union(&mut self, union: &Union, first: u8) -> DirectResult<'py> {
        let kind = match first {
            b'n' => 0,
            b't' | b'f' => 1,
            b'-' | b'0'..=b'9' if union.takes_numbers_alike => 2,
            b'-' | b'0'..=b'9' => first_of_number(self.reader.text, self.reader.at),
            b'"' => 4,
            b'{' => 5,
            b'[' => 6,
            _ => return Err(Stop::Unusual),
        };
        match *union.by_kind[kind] {
            [only] => match self.plan.steps[only] {
                Step::Int => self.int(first),
                Step::Str => self.string(first),
                _ => self.value(only, first),
            },
            [] => Err(Stop::Unusual),
            _ if first == b'{' => self.tagged(union),
            // Those that take every value of their kind.
            [step, ..] if matches!(self.plan.steps[step], Step::Int | Step::Float | Step::Str) => {
                self.value(step, first)
            }
            _ => Err(Stop::Unusual),
        }
    }

    /// An object whose bracket was taken, of the class that its tag names.
    #[inline(never)]
    fn tagged(&mut self, union: &Union) -> DirectResult<'py> {
        let Some(tag) = &union.tag else { return Err(Stop::Unusual) };
        let (begin, text) = (self.reader.at, self.reader.text);
        self.reader.open()?;
        loop {
            let next = self.reader.next();
            let (start, end) = self.key(next)?;
            let first = self.reader.next();
            if text[start..end] == *tag.key.as_bytes() {
                let chosen = match first {
                    b'"' => {
                        let (start, end) = self.reader.string()?;
                        tag.strings.get(&text[start..end]).copied()
                    }
                    _ => self.number_of_choice(first)?.and_then(|number| tag.ints.get(&number).copied()),
                };
                self.reader.depth -= 1;
                self.reader.at = begin;
                return self.value(chosen.ok_or(Stop::Unusual)?, b'{');
            }
            self.skip(first)?;
            if self.reader.next() != b',' {
                return Err(Stop::Unusual);
            }
        }
    }
}

/// What a field has that the text does not: a value, or nothing.
fn absent<'py>(py: Python<'py>, field: &Field) -> Result<Option<Bound<'py, PyAny>>, Stop> {
    match &field.absent {
        Absent::Required => Err(Stop::Unusual),
        Absent::Value(default) => Ok(Some(default.bind(py).clone())),
        Absent::Factory(factory) => factory.bind(py).call0().map(Some).map_err(|error| raised(py, error)),
        Absent::Omitted => Ok(None),
    }
}
