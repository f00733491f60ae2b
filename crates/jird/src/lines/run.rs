//! What is looked for in the records of a piece, and what was seen of it.

use super::row::Scanned;
use super::search::search;
use crate::fault::{ErrorKind, Fault};
use crate::kernel::Kernel;
use crate::number;
use crate::record::{Field, Needles, Predicate, Projection, Select, Slot};
use crate::tape::Kind;

/// A scan in progress: what is looked for and what was seen.
pub(super) struct Run<'p, 't> {
    /// What the filter asks for, or everything.
    pub(super) asked: Wanted<'p>,
    /// The rest, looked for when the filter holds.
    pub(super) rest: Wanted<'p>,
    pub(super) fields: Vec<Field<'t>>,
    pub(super) filter: Option<&'p Predicate>,
    pub(super) kernel: Kernel,
    /// One of these is in every record that can match. Mismatches in the other lines do not count, nor do their faults unless all
    /// is checked: so it makes no difference whether they are searched for.
    pub(super) needles: Option<&'p Needles>,
    pub(super) scanned: Scanned,
}

impl Run<'_, '_> {
    /// Whether nothing within a record is looked for.
    pub(super) fn seeks_nothing(&self) -> bool {
        self.asked.slots.is_empty() && self.rest.slots.is_empty()
    }

    /// Whether a search would have passed this line by.
    #[cold]
    pub(super) fn would_pass_by(&self, line: &[u8]) -> bool {
        self.needles.is_some_and(|needles| search(self.kernel, line, 0, needles).at == line.len())
    }
}

/// Slots that are filled together.
pub(super) struct Wanted<'p> {
    pub(super) select: Select<'p>,
    slots: Vec<usize>,
    /// Those of them that want the record as a whole.
    whole: Vec<usize>,
}

impl<'p> Wanted<'p> {
    pub(super) fn new(projection: &'p Projection, wants: impl Fn(usize) -> bool) -> Self {
        let slots = || (0..projection.slots()).filter(|slot| wants(*slot));
        let is_whole = |slot: &usize| projection.paths()[*slot].steps().is_empty();
        Self {
            select: Select::new(projection),
            slots: slots().filter(|slot| !is_whole(slot)).collect(),
            whole: slots().filter(is_whole).collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty() && self.whole.is_empty()
    }

    /// Makes fields of what was found of `record`.
    #[inline(always)]
    pub(super) fn fill<'t>(
        &self,
        text: &PieceText<'t>,
        record: impl Fn() -> Slot,
        fields: &mut [Field<'t>],
    ) -> Result<(), Fault> {
        for &slot in &self.slots {
            text.fill(self.select.found()[slot], &mut fields[slot])?;
        }
        for &slot in &self.whole {
            text.fill(record(), &mut fields[slot])?;
        }
        Ok(())
    }
}

/// A piece of text, and as `str` as far as it was checked.
pub(super) struct PieceText<'t> {
    pub(super) bytes: &'t [u8],
    pub(super) checked: Option<&'t str>,
    pub(super) base: usize,
    /// No colon of its tokens has white space before it, as far as the kernel asks.
    pub(super) is_tight: bool,
}

impl<'t> PieceText<'t> {
    /// Makes a field of what was found. Of an unchecked text it is checked here.
    #[inline(always)]
    pub(super) fn fill(&self, slot: Slot, field: &mut Field<'t>) -> Result<(), Fault> {
        if let Some(raw) = self.checked.and_then(|text| text.get(slot.range())) {
            *field = Field::new(slot.kind, slot.escaped, raw);
        } else {
            *field = slot.kind.map_or(Ok(Field::MISSING), |kind| self.unchecked_field(kind, slot))?;
        }
        Ok(())
    }

    /// What stands there may be anything, and so may be where it ends.
    fn unchecked_field(&self, kind: Kind, slot: Slot) -> Result<Field<'t>, Fault> {
        let range = slot.range();
        let fault = |kind| Fault::at_byte(kind, range.start);
        let raw = self.bytes.get(range.clone()).ok_or_else(|| fault(ErrorKind::String))?;
        let text = || core::str::from_utf8(raw).map_err(|_| fault(ErrorKind::Utf8));
        let raw = match kind {
            Kind::Number => number::checked_str(self.bytes, range.start, range.end).ok_or(ErrorKind::Number),
            Kind::Null if raw != b"null" => Err(ErrorKind::Literal),
            Kind::Bool if !matches!(raw, b"true" | b"false") => Err(ErrorKind::Literal),
            Kind::String if !matches!(raw, [b'"', .., b'"']) => Err(ErrorKind::String),
            _ => Ok(text()?),
        };
        raw.map(|raw| Field::new(Some(kind), slot.escaped, raw)).map_err(fault)
    }
}
