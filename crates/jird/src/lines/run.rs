//! The state of a scan: the fields that are looked for, and the counts.

use super::row::Scanned;
use super::search::search;
use crate::fault::Fault;
use crate::kernel::Kernel;
use crate::record::{Field, Needles, Predicate, Projection, Select, Slot};

/// A scan in progress.
pub(super) struct Run<'p, 't> {
    /// The slots that the filter needs, or all slots if there is no filter.
    pub(super) asked: SlotGroup<'p>,
    /// The other slots; they are filled when the filter holds.
    pub(super) rest: SlotGroup<'p>,
    pub(super) fields: Vec<Field<'t>>,
    pub(super) filter: Option<&'p Predicate>,
    pub(super) kernel: Kernel,
    /// Every record that can match contains one of these needles. In other lines mismatches do not count, and errors
    /// count only if everything is checked; so the results do not depend on whether lines are searched for needles.
    pub(super) needles: Option<&'p Needles>,
    pub(super) scanned: Scanned,
}

impl Run<'_, '_> {
    /// Whether no field within a record is looked for.
    pub(super) fn seeks_nothing(&self) -> bool {
        self.asked.slots.is_empty() && self.rest.slots.is_empty()
    }

    /// Whether a search would have skipped this line.
    #[cold]
    pub(super) fn would_pass_by(&self, line: &[u8]) -> bool {
        self.needles.is_some_and(|needles| search(self.kernel, line, 0, needles).at == line.len())
    }
}

/// Slots that are filled together.
pub(super) struct SlotGroup<'p> {
    pub(super) select: Select<'p>,
    slots: Vec<usize>,
    /// The slots that take the record as a whole.
    whole: Vec<usize>,
}

impl<'p> SlotGroup<'p> {
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

    /// Fills fields from the values that were found in `record`.
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

/// A piece of text; `checked` is the part of it that was checked, as `str`.
pub(super) struct PieceText<'t> {
    pub(super) bytes: &'t [u8],
    pub(super) checked: Option<&'t str>,
    pub(super) base: usize,
    /// Whether no colon among its tokens has white space before it. It matters only to kernels that skim, and others
    /// are not asked.
    pub(super) is_tight: bool,
}

impl<'t> PieceText<'t> {
    /// Fills a field from the value that was found. In an unchecked text the value is checked here.
    #[inline(always)]
    pub(super) fn fill(&self, slot: Slot, field: &mut Field<'t>) -> Result<(), Fault> {
        if let Some(raw) = self.checked.and_then(|text| text.get(slot.range())) {
            *field = Field::new(slot.kind, slot.escaped, raw);
        } else {
            Field::fill(field, self.bytes, slot)?;
        }
        Ok(())
    }
}
