//! Decides, for each row of a block, whether it may match.

use super::ColumnFacts;
use super::build::{Column, ColumnType};
use super::cell::{self, AskNumber, Rounding};
use crate::index::{Condition, FieldKinds, Leaf, Node};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt8Type};
use arrow_array::{Array, BooleanArray, Float64Array, StringArray, UInt8Array};
use arrow_buffer::BooleanBuffer;
use jird::Path;
use jird::record::Predicate;

/// The columns of a block.
#[derive(Clone, Debug)]
pub struct Columns {
    rows: usize,
    of_paths: Vec<(Path, Column)>,
    pub(super) spellings: Option<StringArray>,
}

/// The array of a column, by its type.
pub(super) enum Typed<'a> {
    Numbers(&'a Float64Array),
    Texts(TextCells<'a>),
    Bools(&'a BooleanArray),
}

/// Texts, each once per row, or once per span.
#[derive(Clone, Copy)]
pub(super) enum TextCells<'a> {
    Plain(&'a StringArray),
    Words(&'a UInt8Array, &'a StringArray),
}

impl<'a> TextCells<'a> {
    /// The text of a row that is not null.
    pub(super) fn value(self, row: usize) -> &'a str {
        match self {
            Self::Plain(texts) => texts.value(row),
            Self::Words(keys, words) => words.value(usize::from(keys.value(row))),
        }
    }

    pub(super) fn is_null(self, row: usize) -> bool {
        match self {
            Self::Plain(texts) => texts.is_null(row),
            Self::Words(keys, _) => keys.is_null(row),
        }
    }
}

impl Columns {
    /// The columns of a block of `rows` documents. The one at the root has the spellings. An array of another length, or of a
    /// type that no column has, is left out: it decides nothing.
    pub fn new(rows: usize, columns: impl IntoIterator<Item = (Path, Column)>) -> Self {
        let columns = columns.into_iter().filter(|(_, column)| column.array.len() == rows && typed(column).is_some());
        let (mut spellings, of_paths): (Vec<_>, Vec<_>) = columns.partition(|(path, _)| path.steps().is_empty());
        let spellings = spellings.pop().and_then(|(_, column)| column.array.as_string_opt().cloned());
        Self { rows, of_paths, spellings }
    }

    /// For each row, whether it may match; `None` if all of them may. Rows that cannot match surely do not: neither
    /// false nor unknown is a match.
    pub fn decide(&self, condition: &Condition) -> Option<BooleanBuffer> {
        self.node(condition, condition.root()).filter(|kept| kept.count_set_bits() < self.rows)
    }

    /// Whether some path of the condition has a column here. If not, the columns need not be read: they say nothing that
    /// the condition does not say itself.
    pub fn serve(&self, condition: &Condition) -> bool {
        condition.slots().iter().any(|slot| self.column(condition, *slot).is_some())
    }

    /// `None`: every row may.
    fn node(&self, condition: &Condition, node: &Node) -> Option<BooleanBuffer> {
        match node {
            Node::Leaf(leaf) => self.leaf(condition, leaf),
            Node::All(parts) => {
                parts.iter().filter_map(|part| self.node(condition, part)).reduce(|all, part| &all & &part)
            }
            Node::Any(parts) => {
                let mut any = BooleanBuffer::new_unset(self.rows);
                for part in parts {
                    any = &any | &self.node(condition, part)?;
                }
                Some(any)
            }
        }
    }

    fn column(&self, condition: &Condition, slot: usize) -> Option<&Column> {
        self.of_path(condition.paths().get(slot)?)
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Bytes of the arrays.
    pub(super) fn bytes(&self) -> usize {
        self.of_paths.iter().map(|(_, column)| column.array.get_array_memory_size()).sum()
    }

    pub(super) fn of_path(&self, path: &Path) -> Option<&Column> {
        self.of_paths.iter().find(|(other, _)| other == path).map(|(_, column)| column)
    }

    fn leaf(&self, condition: &Condition, leaf: &Leaf) -> Option<BooleanBuffer> {
        let column = self.column(condition, leaf.on.slot)?;
        if let Some(other) = leaf.other {
            return self.two(column, self.column(condition, other)?, leaf);
        }
        // A row that is null is null or missing, unless the column has no room for some values.
        let null = column.facts.has_others() || cell::kind_may_be(leaf, FieldKinds::NULLS);
        let mask = match typed(column)? {
            Typed::Numbers(values) => {
                let (rounding, may) = (column.facts.rounding(), cell::kind_may_be(leaf, FieldKinds::NUMBER));
                let numbers = values.values();
                match AskNumber::of(leaf) {
                    _ if !may => mask(values, null, |_| false),
                    AskNumber::Compare(op, constant) => {
                        let bounds = constant.bounds(|order| op.holds(order) == leaf.wanted, rounding);
                        with_nulls(values, null, bits_of(numbers, |number| bounds.may_be(number)))
                    }
                    ask => mask(values, null, |row| ask.may_be(leaf.wanted, numbers[row], rounding)),
                }
            }
            Typed::Texts(TextCells::Words(keys, words)) => {
                let may = cell::kind_may_be(leaf, FieldKinds::STRING);
                // A row that is null may have any key.
                let mut known = [false; 256];
                for (known, word) in known.iter_mut().zip(words) {
                    *known = may && word.is_some_and(|word| cell::text_may_be(leaf, word));
                }
                let keys_of_rows = keys.values();
                mask(keys, null, |row| known[usize::from(keys_of_rows[row])])
            }
            Typed::Texts(TextCells::Plain(values)) => {
                let may = cell::kind_may_be(leaf, FieldKinds::STRING);
                // Texts that have a column repeat.
                let mut last = None;
                mask(values, null, |row| {
                    let text = values.value(row);
                    match last {
                        Some((same, known)) if same == text => known,
                        _ => {
                            let known = may && cell::text_may_be(leaf, text);
                            last = Some((text, known));
                            known
                        }
                    }
                })
            }
            Typed::Bools(values) => mask(values, null, |row| {
                cell::kind_may_be(leaf, if values.value(row) { FieldKinds::TRUE } else { FieldKinds::FALSE })
            }),
        };
        Some(mask)
    }

    /// Compares two columns.
    fn two(&self, left: &Column, right: &Column, leaf: &Leaf) -> Option<BooleanBuffer> {
        let Predicate::CompareSlots { op, .. } = &leaf.predicate else { return None };
        let holds = |order| op.holds(order) == leaf.wanted;
        // The comparison with a value for which a column has no room is not known here.
        let others = |row: usize| {
            let hides = |column: &Column| column.facts.has_others() && column.array.is_null(row);
            hides(left) || hides(right)
        };
        let both = |row: usize| left.array.is_valid(row) && right.array.is_valid(row);
        let rounding = left.facts.rounding().with(right.facts.rounding());
        let mask = match (typed(left)?, typed(right)?) {
            (Typed::Numbers(left), Typed::Numbers(right)) => BooleanBuffer::collect_bool(self.rows, |row| {
                let order = left.value(row).partial_cmp(&right.value(row));
                let known = order.filter(|order| order.is_ne() || rounding != Rounding::Unknown);
                if both(row) { known.is_none_or(holds) } else { others(row) }
            }),
            (Typed::Texts(left), Typed::Texts(right)) => BooleanBuffer::collect_bool(self.rows, |row| {
                if both(row) { holds(left.value(row).as_bytes().cmp(right.value(row).as_bytes())) } else { others(row) }
            }),
            (Typed::Bools(left), Typed::Bools(right)) => BooleanBuffer::collect_bool(self.rows, |row| {
                if both(row) { holds(left.value(row).cmp(&right.value(row))) } else { others(row) }
            }),
            // Values of different kinds do not compare.
            _ => BooleanBuffer::collect_bool(self.rows, others),
        };
        Some(mask)
    }
}

/// Whether [`Columns::decide`] keeps exactly the rows that match, if these are the types and facts of the columns.
pub(crate) fn is_exact(condition: &Condition, column: impl Fn(&Path) -> Option<(ColumnType, ColumnFacts)>) -> bool {
    fn of(node: &Node, is_exact: &impl Fn(&Leaf) -> bool) -> bool {
        match node {
            Node::All(parts) | Node::Any(parts) => parts.iter().all(|part| of(part, is_exact)),
            Node::Leaf(leaf) => is_exact(leaf),
        }
    }
    of(condition.root(), &|leaf| {
        let known = condition.paths().get(leaf.on.slot).and_then(&column);
        // Two fields may have values of different kinds. The engine counts such comparisons, and columns do not.
        known.is_some_and(|(kind, facts)| leaf.other.is_none() && cell::is_exact(leaf, kind, facts))
    })
}

/// A mask of the rows that have a value and may match, and of the rows that are null, if they may. `may` is asked for all
/// rows, whatever stands there in those that are null.
fn mask(values: &dyn Array, null: bool, may: impl FnMut(usize) -> bool) -> BooleanBuffer {
    with_nulls(values, null, BooleanBuffer::collect_bool(values.len(), may))
}

/// A bit for each number: first bytes of 0 and 1, which compilers make of several numbers at once, and then their bits.
fn bits_of(numbers: &[f64], may: impl Fn(f64) -> bool) -> BooleanBuffer {
    let mut bits = Vec::with_capacity(numbers.len().div_ceil(8));
    let mut add = |numbers: &[f64]| {
        let mut bytes = [0; 8];
        bytes.iter_mut().zip(numbers).for_each(|(byte, number)| *byte = u8::from(may(*number)));
        // The product has the byte n at the bit 56 + n, and sums without a carry below.
        bits.push((u64::from_le_bytes(bytes).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8);
    };
    let (whole, rest) = numbers.as_chunks::<8>();
    whole.iter().for_each(|numbers| add(numbers));
    if !rest.is_empty() {
        add(rest);
    }
    BooleanBuffer::new(bits.into(), 0, numbers.len())
}

/// The mask where there are values; and `null` where there are none.
fn with_nulls(values: &dyn Array, null: bool, mask: BooleanBuffer) -> BooleanBuffer {
    match values.nulls() {
        None => mask,
        Some(nulls) if null => &mask | &!nulls.inner(),
        Some(nulls) => &mask & nulls.inner(),
    }
}

pub(super) fn typed(column: &Column) -> Option<Typed<'_>> {
    let array = &column.array;
    array
        .as_primitive_opt::<Float64Type>()
        .map(Typed::Numbers)
        .or_else(|| array.as_string_opt().map(|texts| Typed::Texts(TextCells::Plain(texts))))
        .or_else(|| {
            let words = array.as_dictionary_opt::<UInt8Type>()?;
            Some(Typed::Texts(TextCells::Words(words.keys(), words.values().as_string_opt()?)))
        })
        .or_else(|| array.as_boolean_opt().map(Typed::Bools))
}

#[cfg(test)]
mod tests {
    use super::bits_of;
    use arrow_buffer::BooleanBuffer;

    #[test]
    fn each_number_has_its_bit() {
        let numbers: Vec<f64> = (0..150).map(|row| f64::from(row * 89 % 150)).collect();
        for len in 0..numbers.len() {
            for least in [0.0, 40.0, 75.0, 150.0] {
                let may = |number: f64| number >= least;
                let wanted = BooleanBuffer::collect_bool(len, |row| may(numbers[row]));
                assert_eq!(bits_of(&numbers[..len], may), wanted, "{len} numbers from {least}");
            }
        }
    }
}
