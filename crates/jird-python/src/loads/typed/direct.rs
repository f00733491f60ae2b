//! Texts → values by a plan, in one pass and without a tape.
//!
//! As in `small`, each value is made where it ends, and what is not common is left to the tape: long integers, deep texts,
//! repeated keys, and every mistake, for which [`decode`](super::decode) has the words. The tape then makes all values a
//! second time. Python code would run twice for them, so a plan that calls any is never read this way.

use super::direct_scalars::first_of_number;
use super::fields::FieldSet;
use super::objects::{Filled, construct, set_absent};
use super::plan::{Construction, Field, Object, Plan, Step, Tag, Union};
use crate::loads::build::Making;
use crate::loads::small::{SMALL_MAX, SmallReader, SmallResult};
use crate::raw::collect::Pause;
use crate::raw::keys::{Values, is_same};
use crate::raw::make::{self, Dict, Member};
use crate::raw::objects::Slots;
use pyo3::prelude::*;
use pyo3::types::{PyFrozenSet, PySet, PyTuple};

/// The value of a text; `None` if the engine must read it, unless Python's exception is set.
#[inline]
pub(super) fn read<'py>(py: Python<'py>, plan: &Plan, text: &[u8], making: &mut Making) -> SmallResult<'py> {
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

pub(super) struct DirectReader<'p, 't, 'py> {
    pub(super) plan: &'p Plan,
    pub(super) reader: SmallReader<'t, 'py>,
    pub(super) values: &'t mut Values,
    /// Values of the objects that are open and have no slots, field by field; the innermost last.
    gathered: Vec<Option<Bound<'py, PyAny>>>,
}

/// What was made. Python's exception is set again otherwise.
#[inline(always)]
pub(super) fn raised<T>(py: Python<'_>, made: PyResult<T>) -> Option<T> {
    made.map_err(|error| error.restore(py)).ok()
}

impl<'py> DirectReader<'_, '_, 'py> {
    fn document(&mut self) -> SmallResult<'py> {
        let first = self.reader.next();
        let made = self.value(0, first)?;
        self.reader.end()?;
        Some(made)
    }

    /// The value of a step that begins with this byte, which was taken.
    #[inline]
    pub(super) fn value(&mut self, step: usize, first: u8) -> SmallResult<'py> {
        let plan = self.plan;
        match (&plan.steps[step], first) {
            (Step::Int, _) => self.int(first),
            (Step::Str, _) => self.string(first),
            (Step::Float, _) => self.float(first),
            (Step::Bool, _) => self.bool(first),
            (Step::None, b'n') | (Step::Any, _) => self.reader.value(first),
            (Step::Object(object), b'{' | b'[') => self.object(object, first, None),
            (Step::Union(union), _) => self.union(union, first),
            (Step::List(of), b'[') => self.list(*of),
            (Step::Dict(_, of), b'{') => self.dict(*of),
            (Step::Choice(choice), _) => self.choice(choice, first),
            (step, _) => self.other(step, first),
        }
    }

    #[inline(always)]
    fn bool(&mut self, first: u8) -> SmallResult<'py> {
        let rest: &[u8] = match first {
            b't' => b"rue",
            b'f' => b"alse",
            _ => return None,
        };
        self.reader.literal(rest, make::bool(self.reader.py, first == b't'))
    }

    /// What is less frequent.
    #[inline(never)]
    fn other(&mut self, step: &Step, first: u8) -> SmallResult<'py> {
        let py = self.reader.py;
        match (step, first) {
            (Step::Tuple(of), b'[') => {
                let from = self.elements(*of)?;
                let tuple = PyTuple::new(py, self.reader.parts.elements.drain(from..));
                raised(py, tuple.map(Bound::into_any))
            }
            (Step::Tuples(steps), b'[') => self.tuple(steps),
            (Step::Set(of), b'[') => {
                let from = self.elements(*of)?;
                let set = PySet::new(py, self.reader.parts.elements.drain(from..));
                set.map(Bound::into_any).ok()
            }
            (Step::FrozenSet(of), b'[') => {
                let from = self.elements(*of)?;
                let set = PyFrozenSet::new(py, self.reader.parts.elements.drain(from..));
                set.map(Bound::into_any).ok()
            }
            (step, b'"') => self.of_string(step),
            _ => None,
        }
    }

    #[inline(never)]
    fn list(&mut self, of: usize) -> SmallResult<'py> {
        let from = self.elements(of)?;
        make::list(self.reader.py, self.reader.parts.elements.drain(from..))
    }

    /// The elements of an array whose bracket was taken, as parts from the index that is returned on.
    fn elements(&mut self, of: usize) -> Option<usize> {
        match &self.plan.steps[of] {
            Step::Int => self.each(Self::int),
            Step::Float => self.each(Self::float),
            Step::Bool => self.each(Self::bool),
            Step::Str => self.each(Self::string),
            step @ (Step::DateTime | Step::Date) => self.each(|direct, first| match first {
                b'"' => direct.of_string(step),
                _ => None,
            }),
            Step::Choice(choice) => self.each(|direct, first| direct.choice(choice, first)),
            Step::Union(union) => self.each(|direct, first| direct.union(union, first)),
            _ => self.each(|direct, first| direct.value(of, first)),
        }
    }

    /// The same, with a function that makes an element whose first byte was taken.
    #[inline(always)]
    fn each(&mut self, mut element: impl FnMut(&mut Self, u8) -> SmallResult<'py>) -> Option<usize> {
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
                    _ => return None,
                }
            }
        }
        self.reader.depth -= 1;
        Some(from)
    }

    /// A tuple with a step for each element.
    #[inline(never)]
    fn tuple(&mut self, steps: &[usize]) -> SmallResult<'py> {
        self.reader.open()?;
        let from = self.reader.parts.elements.len();
        for (index, &step) in steps.iter().enumerate() {
            if index > 0 && self.reader.next() != b',' {
                return None;
            }
            let first = self.reader.next();
            let element = self.value(step, first)?;
            self.reader.parts.elements.push(element.unbind());
        }
        if self.reader.next() != b']' {
            return None;
        }
        self.reader.depth -= 1;
        let py = self.reader.py;
        let tuple = PyTuple::new(py, self.reader.parts.elements.drain(from..));
        raised(py, tuple.map(Bound::into_any))
    }

    #[inline(never)]
    fn dict(&mut self, of: usize) -> SmallResult<'py> {
        match &self.plan.steps[of] {
            Step::Int => self.members(Self::int),
            Step::Str => self.members(Self::string),
            _ => self.members(|direct, first| direct.value(of, first)),
        }
    }

    /// A dict whose bracket was taken, with a function that makes a value whose first byte was taken.
    #[inline(always)]
    fn members(&mut self, mut value: impl FnMut(&mut Self, u8) -> SmallResult<'py>) -> SmallResult<'py> {
        self.reader.open()?;
        let (py, text) = (self.reader.py, self.reader.text);
        let from = self.reader.parts.members.len();
        // In a long text there may be many members: they are counted before the dict is made.
        let mut dict = if text.len() <= SMALL_MAX { Some(Dict::new(py, 0)?) } else { None };
        let mut next = self.reader.next();
        if next != b'}' {
            loop {
                let (start, end) = self.key(next)?;
                let key = self.reader.keys.key_of(py, &text[start..end]).ok()??;
                let first = self.reader.next();
                let value = value(self, first)?;
                match &mut dict {
                    Some(dict) => dict.set(&key, &value)?,
                    None => self.reader.parts.members.push(Member::new(key, value)),
                }
                match self.reader.next() {
                    b',' => next = self.reader.next(),
                    b'}' => break,
                    _ => return None,
                }
            }
        }
        self.reader.depth -= 1;
        match dict {
            Some(dict) => Some(dict.finish()),
            None => make::dict(py, self.reader.parts.members.drain(from..)),
        }
    }

    /// Where a key is, whose first byte was taken. Its colon is taken too.
    #[inline(always)]
    pub(super) fn key(&mut self, first: u8) -> Option<(usize, usize)> {
        if first != b'"' {
            return None;
        }
        let found = self.reader.string()?;
        if self.reader.next() == b':' { Some(found) } else { None }
    }

    /// An object whose bracket was taken; after it, the field at the index `tag` may have been read, which is not kept.
    #[inline(never)]
    fn object(&mut self, object: &Object, first: u8, tag: Option<usize>) -> SmallResult<'py> {
        let may_be_array = object.is_array || matches!(object.how, Construction::Tuple);
        if first == b'[' && !may_be_array || first == b'{' && object.is_array {
            return None;
        }
        self.reader.open()?;
        let made = match &object.how {
            Construction::Slots(slots) => self.in_slots(object, slots, first, tag),
            _ => self.gathered(object, first, tag),
        }?;
        self.reader.depth -= 1;
        Some(made)
    }

    #[inline(always)]
    fn in_slots(&mut self, object: &Object, slots: &Slots, first: u8, tag: Option<usize>) -> SmallResult<'py> {
        let py = self.reader.py;
        let mut filled = raised(py, Filled::new(py, object, slots))?;
        let mut seen = FieldSet::default();
        self.fields(object, first, tag, &mut seen, |_, _, field, made| filled.set(field, made))?;
        filled.finish(&seen, |field| absent(py, field)).ok()
    }

    fn gathered(&mut self, object: &Object, first: u8, tag: Option<usize>) -> SmallResult<'py> {
        let py = self.reader.py;
        let base = self.gathered.len();
        self.gathered.resize_with(base + object.fields.len(), || None);
        let mut seen = FieldSet::default();
        self.fields(object, first, tag, &mut seen, |direct, index, _, made| {
            direct.gathered[base + index] = Some(made);
        })?;
        let gathered = &mut self.gathered[base..];
        set_absent(object, &seen, |field| absent(py, field), |index, _, made| gathered[index] = Some(made)).ok()?;
        raised(py, construct(py, object, self.gathered.drain(base..)))
    }

    /// Calls `found` with each field that the text has, and its value.
    #[inline(always)]
    fn fields(
        &mut self,
        object: &Object,
        first: u8,
        tag: Option<usize>,
        seen: &mut FieldSet,
        mut found: impl FnMut(&mut Self, usize, &Field, Bound<'py, PyAny>),
    ) -> Option<()> {
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
                    None => return None,
                }
                index += 1;
                match self.reader.next() {
                    b',' => next = self.element()?,
                    b']' => break,
                    _ => return None,
                }
            }
            return Some(());
        }
        let mut likely = 0;
        if let Some(index) = tag {
            seen.add(index);
            likely = index + 1;
        }
        if next == b'}' {
            return Some(());
        }
        if tag.is_some() {
            if next != b',' {
                return None;
            }
            next = self.reader.next();
        }
        let text = self.reader.text;
        loop {
            let expected = object.fields.get(likely).and_then(|field| field.begin.as_deref());
            let (place, start, end) = match expected {
                Some(begin) if next == b'"' && self.begins(begin) => (Some(likely), 0, 0),
                _ => {
                    let (start, end) = self.key(next)?;
                    (object.find(likely, &text[start..end]), start, end)
                }
            };
            let first = self.reader.next();
            match place {
                // The last of them stays, and a tag may be among them.
                Some(index) if seen.has(index) => return None,
                Some(index) => {
                    likely = index + 1;
                    let field = &object.fields[index];
                    let made = self.value(field.step, first)?;
                    found(self, index, field, made);
                    seen.add(index);
                }
                None if object.is_closed || str::from_utf8(&text[start..end]).is_err() => return None,
                None => self.skip(first)?,
            }
            match self.reader.next() {
                b',' => next = self.reader.next(),
                b'}' => return Some(()),
                _ => return None,
            }
        }
    }

    /// Takes the first byte of an element after a comma.
    #[inline(always)]
    fn element(&mut self) -> Option<u8> {
        match self.reader.next() {
            b']' => None,
            next => Some(next),
        }
    }

    #[inline(always)]
    fn union(&mut self, union: &Union, first: u8) -> SmallResult<'py> {
        let kind = match first {
            b'n' => 0,
            b't' | b'f' => 1,
            b'-' | b'0'..=b'9' if union.takes_numbers_alike => 2,
            b'-' | b'0'..=b'9' => first_of_number(self.reader.text, self.reader.at),
            b'"' => 4,
            b'{' => 5,
            b'[' => 6,
            _ => return None,
        };
        match *union.by_kind[kind] {
            [only] => match self.plan.steps[only] {
                Step::Int => self.int(first),
                Step::Str => self.string(first),
                _ => self.value(only, first),
            },
            [] => None,
            _ if first == b'{' => self.tagged(union),
            // Those that take every value of their kind.
            [step, ..] if matches!(self.plan.steps[step], Step::Int | Step::Float | Step::Str) => {
                self.value(step, first)
            }
            _ => None,
        }
    }

    /// An object whose bracket was taken, of the class that its tag names.
    #[inline(never)]
    fn tagged(&mut self, union: &Union) -> SmallResult<'py> {
        let Some(tag) = &union.tag else { return None };
        let from = self.reader.at;
        let mut next = self.reader.next();
        let is_first = next == b'"' && tag.begin.as_deref().is_some_and(|begin| self.begins(begin));
        if !is_first {
            self.reader.open()?;
            loop {
                let (start, end) = self.key(next)?;
                if is_same(&self.reader.text[start..end], tag.key.as_bytes()) {
                    break;
                }
                let first = self.reader.next();
                self.skip(first)?;
                if self.reader.next() != b',' {
                    return None;
                }
                next = self.reader.next();
            }
            self.reader.depth -= 1;
        }
        let step = self.tag(tag)?;
        let Step::Object(object) = &self.plan.steps[step] else { return None };
        let is_tag = |field: &Field| field.attribute.is_none() && field.key.as_deref() == Some(&tag.key);
        let read = if is_first && !object.is_array { object.fields.iter().position(is_tag) } else { None };
        if read.is_none() {
            self.reader.at = from;
        }
        self.object(object, b'{', read)
    }

    /// The step that a tag's value chooses, which comes next.
    #[inline(always)]
    fn tag(&mut self, tag: &Tag) -> Option<usize> {
        match self.reader.next() {
            b'"' => {
                let (start, end) = self.reader.string()?;
                tag.strings.get(&self.reader.text[start..end]).copied()
            }
            first => tag.ints.get(&self.number_of_choice(first)?).copied(),
        }
    }

    /// Takes these bytes, if they come next.
    #[inline(always)]
    fn begins(&mut self, begin: &[u8]) -> bool {
        let end = self.reader.at + begin.len();
        let is_next = self.reader.text.get(self.reader.at..end).is_some_and(|found| is_same(found, begin));
        if is_next {
            self.reader.at = end;
        }
        is_next
    }
}

/// What a field has that the text does not: a value, or nothing.
fn absent<'py>(py: Python<'py>, field: &Field) -> Result<Option<Bound<'py, PyAny>>, ()> {
    field.absent.made(py).and_then(|made| raised(py, made)).ok_or(())
}
