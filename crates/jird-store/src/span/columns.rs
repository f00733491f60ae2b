//! The columns next to the documents, as they lie in a file. Nothing in it is trusted.

use super::arrow;
use crate::column::{ColumnType, Digits};
use crate::settings::Compression;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Decimal32Array, DictionaryArray, Float64Array, StringArray, UInt8Array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use std::ops::Range;
use std::sync::Arc;

/// The names of the types in a table, but for that of decimals, which also tells their digits.
const TYPES: [(&str, ColumnType); 5] = [
    ("number", ColumnType::Number),
    ("text", ColumnType::Text),
    ("words", ColumnType::Words),
    ("bool", ColumnType::Bool),
    ("spellings", ColumnType::Spellings),
];

const DECIMAL: &str = "decimal";

pub(super) fn type_name(kind: ColumnType) -> &'static str {
    if let ColumnType::Decimal(_) = kind {
        return DECIMAL;
    }
    TYPES.iter().find(|(_, other)| *other == kind).map_or("", |(name, _)| name)
}

/// The type of this name; `digits` are those of decimals.
pub(super) fn type_of_name(name: &str, digits: impl FnOnce() -> Option<Digits>) -> Option<ColumnType> {
    if name == DECIMAL {
        return digits().map(ColumnType::Decimal);
    }
    TYPES.iter().find(|(other, _)| *other == name).map(|(_, kind)| *kind)
}

/// A column of this type as it is written, of what it is in memory.
pub(super) fn stored(kind: ColumnType, array: ArrayRef) -> ArrayRef {
    let ColumnType::Decimal(digits) = kind else { return array };
    let doubles = array.as_primitive::<Float64Type>();
    // A value that is null may be anything.
    let units = doubles.values().iter().map(|double| digits.units(*double).unwrap_or_default());
    let units = Decimal32Array::new(units.collect(), doubles.nulls().cloned());
    Arc::new(units.with_data_type(kind.data_type()))
}

/// How many buffers a column has.
fn buffers(kind: ColumnType) -> usize {
    match kind {
        ColumnType::Bool | ColumnType::Number | ColumnType::Decimal(_) | ColumnType::Words => 2,
        ColumnType::Text | ColumnType::Spellings => 3,
    }
}

/// Where a column is in a message.
pub(super) struct Stretch<'r> {
    /// Its buffers.
    pub(super) ranges: &'r [Range<usize>],
    /// From the first byte of them to the last.
    pub(super) whole: Range<usize>,
}

/// Where each column is, of buffers in a row. `None` if they are not one after the other. An empty buffer may stand anywhere.
pub(super) fn stretches<'r>(types: &[ColumnType], mut ranges: &'r [Range<usize>]) -> Option<Vec<Stretch<'r>>> {
    let mut stretch = |kind: &ColumnType| {
        let (of_column, rest) = ranges.split_at_checked(buffers(*kind))?;
        ranges = rest;
        let mut whole: Option<Range<usize>> = None;
        for range in of_column.iter().filter(|range| !range.is_empty()) {
            let start = whole.as_ref().map_or(range.start, |whole| whole.start);
            (start <= range.start && whole.is_none_or(|whole| whole.end <= range.start)).then_some(())?;
            whole = Some(start..range.end);
        }
        Some(Stretch { ranges: of_column, whole: whole.unwrap_or_default() })
    };
    types.iter().map(&mut stretch).collect()
}

/// The buffers of a column of a block.
pub(super) struct Buffers<'b> {
    pub(super) bytes: &'b [u8],
    /// Where `bytes` begin, in what `ranges` count from.
    pub(super) start: usize,
    pub(super) ranges: &'b [Range<usize>],
    pub(super) compression: Compression,
    pub(super) rows: usize,
    /// For a column of words the words.
    pub(super) words: &'b StringArray,
}

impl Buffers<'_> {
    /// The column of this type. `None` if a buffer cannot be one of it.
    pub(super) fn read(mut self, kind: ColumnType) -> Option<ArrayRef> {
        let rows = self.rows;
        let nulls = self.bits()?.map(NullBuffer::new);
        Some(match kind {
            ColumnType::Bool => {
                Arc::new(BooleanArray::new(self.bits()?.unwrap_or_else(|| BooleanBuffer::new_unset(rows)), nulls))
            }
            ColumnType::Words => {
                let mut keys = self.next(rows)?;
                keys.truncate(rows);
                let words = Arc::new(self.words.clone());
                let keys = (keys.len() == rows).then(|| UInt8Array::new(ScalarBuffer::from(keys), nulls))?;
                Arc::new(DictionaryArray::try_new(keys, words).ok()?)
            }
            ColumnType::Number => {
                let values = doubles(self.next(rows.checked_mul(8)?)?).slice(0, rows);
                Arc::new(Float64Array::new(values, nulls))
            }
            ColumnType::Decimal(digits) => {
                let bytes = self.next(rows.checked_mul(4)?)?;
                let units = bytes.as_chunks::<4>().0.get(..rows)?;
                Arc::new(Float64Array::new(digits.doubles(units).into(), nulls))
            }
            ColumnType::Text | ColumnType::Spellings => {
                let bytes = self.next(rows.checked_add(1)?.checked_mul(4)?)?;
                let offsets = bytes.as_chunks::<4>().0.iter().map(|bytes| i32::from_le_bytes(*bytes)).take(rows + 1);
                let offsets: Vec<i32> = offsets.collect();
                let is_right = offsets.len() == rows + 1 && offsets[0] == 0 && offsets.is_sorted();
                is_right.then_some(())?;
                let texts = self.next(usize::try_from(*offsets.last()?).ok()?)?;
                let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
                Arc::new(StringArray::try_new(offsets, Buffer::from_vec(texts), nulls).ok()?)
            }
        })
    }

    /// A bit for each row, if there is such a buffer.
    #[expect(clippy::option_option, reason = "damaged, or not there")]
    fn bits(&mut self) -> Option<Option<BooleanBuffer>> {
        if self.ranges.first()?.is_empty() {
            self.ranges = &self.ranges[1..];
            return Some(None);
        }
        let bytes = self.next(self.rows.div_ceil(8))?;
        Some(Some(BooleanBuffer::new(Buffer::from_vec(bytes), 0, self.rows)))
    }

    /// The next buffer, with at least this many bytes.
    fn next(&mut self, len: usize) -> Option<Vec<u8>> {
        let (range, rest) = self.ranges.split_first()?;
        self.ranges = rest;
        let mut out = Vec::new();
        if len == 0 {
            return Some(out);
        }
        let bytes = self.bytes.get(range.start.checked_sub(self.start)?..range.end.checked_sub(self.start)?)?;
        arrow::unpack(bytes, self.compression, len, &mut out)?;
        Some(out)
    }
}

/// The doubles that lie in these bytes.
fn doubles(bytes: Vec<u8>) -> ScalarBuffer<f64> {
    let (chunks, _) = bytes.as_chunks::<8>();
    if cfg!(target_endian = "little") && bytes.as_ptr().align_offset(align_of::<f64>()) == 0 {
        return ScalarBuffer::from(Buffer::from_vec(bytes));
    }
    chunks.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A column of two rows from its buffers.
    fn column(kind: ColumnType, buffers: &[&[u8]]) -> Option<ArrayRef> {
        let mut ranges = Vec::new();
        for buffer in buffers {
            let start = ranges.last().map_or(0, |range: &Range<usize>| range.end);
            ranges.push(start..start + buffer.len());
        }
        let bytes = buffers.concat();
        let words = StringArray::from(vec!["a", "b"]);
        let (compression, ranges) = (Compression::None, &ranges[..]);
        let buffers = Buffers { bytes: &bytes, start: 0, ranges, compression, rows: 2, words: &words };
        buffers.read(kind)
    }

    #[test]
    fn a_column_is_a_stretch_of_the_message() {
        use ColumnType::{Number, Text};
        let found = |ranges: &[Range<usize>]| {
            let found = stretches(&[Number, Text], ranges)?;
            Some(found.into_iter().map(|stretch| (stretch.ranges.len(), stretch.whole)).collect::<Vec<_>>())
        };
        assert_eq!(found(&[8..9, 16..32, 0..0, 32..44, 48..50]), Some(vec![(2, 8..32), (3, 32..50)]));
        assert_eq!(found(&[0..0, 0..0, 0..0, 0..0, 99..99]), Some(vec![(2, 0..0), (3, 0..0)]));
        // Buffers that overlap, or stand in another order, and too few of them.
        for ranges in [[8..9, 8..32, 0..0, 32..44, 48..50], [16..32, 8..9, 0..0, 32..44, 48..50]] {
            assert_eq!(found(&ranges), None, "{ranges:?}");
        }
        assert_eq!(found(&[8..9, 16..32, 0..0, 32..44]), None);
    }

    #[test]
    fn buffers_that_lie_are_no_columns() {
        let offsets = |offsets: [i32; 3]| offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect::<Vec<u8>>();
        let texts = |of: [i32; 3], text: &[u8]| column(ColumnType::Text, &[&[], &offsets(of), text]).is_some();
        assert!(texts([0, 1, 3], "xé".as_bytes()) && texts([0, 0, 0], b"abc"));
        for of in [[1, 1, 3], [0, 2, 1], [0, -1, 3], [0, 3, 4], [0, 0, -1], [0, 0, i32::MAX], [i32::MIN, 0, 3]] {
            assert!(!texts(of, b"abc"), "{of:?}");
        }
        // A text that begins within a character, and one that is none.
        assert!(!texts([0, 2, 3], "xé".as_bytes()) && !texts([0, 1, 2], b"x\xff"));
        assert!(column(ColumnType::Text, &[&[], &offsets([0, 0, 0])[..8], b""]).is_none());
        assert!(column(ColumnType::Text, &[&[], &offsets([0, 0, 0])]).is_none());
        assert!(column(ColumnType::Number, &[&[3], &[0; 16]]).is_some());
        assert!(column(ColumnType::Number, &[&[3], &[0; 15]]).is_none());
        let tenths = ColumnType::Decimal(Digits::new(1).expect("one digit is few"));
        let units = [25_i32.to_le_bytes(), i32::MIN.to_le_bytes()].concat();
        let read = column(tenths, &[&[1], &units]).expect("it is whole");
        assert_eq!(*read.as_primitive::<Float64Type>(), Float64Array::from(vec![Some(2.5), None]));
        assert_eq!(read.as_primitive::<Float64Type>().values()[1].to_bits(), (-214_748_364.8_f64).to_bits());
        assert!(column(tenths, &[&[3], &units[..7]]).is_none() && column(tenths, &[&[3]]).is_none());
        assert!(
            column(ColumnType::Words, &[&[], &[1, 0]]).is_some()
                && column(ColumnType::Words, &[&[1], &[1, 9]]).is_some()
        );
        assert!(
            column(ColumnType::Words, &[&[], &[1, 2]]).is_none() && column(ColumnType::Words, &[&[], &[1]]).is_none()
        );
        assert!(column(ColumnType::Bool, &[&[], &[3]]).is_some());
        assert!(column(ColumnType::Bool, &[&[]]).is_none() && column(ColumnType::Bool, &[]).is_none());
    }
}
