//! How many bytes values take.

use crate::base::error::Error;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;

/// What an element of a list counts at least: nulls take nothing in a list, and 4 bytes as text.
const ELEMENT_BYTES: usize = 8;

/// What takes less is neither asked for nor counted: it is too little to matter.
pub(crate) const SMALL_BYTES: usize = 1 << 20;

/// How many bytes the values of an array take, without those around it if it is a slice. Elements of lists count at
/// least 8 bytes. Costs nothing for texts.
pub(crate) fn bytes(array: &dyn Array) -> usize {
    let fixed = |width: usize| array.len().saturating_mul(width);
    match array.data_type() {
        DataType::Null => 0,
        DataType::Utf8 => between(array.as_string::<i32>().value_offsets()),
        DataType::LargeUtf8 => between(array.as_string::<i64>().value_offsets()),
        DataType::Binary => between(array.as_binary::<i32>().value_offsets()),
        DataType::LargeBinary => between(array.as_binary::<i64>().value_offsets()),
        DataType::Utf8View => array.as_string_view().lengths().map(|len| len as usize).sum(),
        DataType::BinaryView => array.as_binary_view().lengths().map(|len| len as usize).sum(),
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            elements(list.values(), list.value_offsets())
        }
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            elements(list.values(), list.value_offsets())
        }
        DataType::Map(..) => {
            let map = array.as_map();
            elements(&(std::sync::Arc::new(map.entries().clone()) as ArrayRef), map.value_offsets())
        }
        DataType::FixedSizeList(_, size) => {
            let size = usize::try_from(*size).unwrap_or_default();
            bytes(array.as_fixed_size_list().values()).saturating_add(fixed(size.saturating_mul(ELEMENT_BYTES)))
        }
        DataType::FixedSizeBinary(size) => fixed(usize::try_from(*size).unwrap_or_default()),
        DataType::Struct(_) => array.as_struct().columns().iter().map(|column| bytes(column)).sum(),
        // Each row can be the longest value.
        DataType::Dictionary(..) => fixed(bytes(array.as_any_dictionary().values())),
        other => match other.primitive_width() {
            Some(width) => fixed(width),
            None if *other == DataType::Boolean => fixed(1),
            None => array.get_array_memory_size(),
        },
    }
}

fn between<T: Copy + TryInto<usize>>(offsets: &[T]) -> usize {
    let at = |offset: Option<&T>| offset.and_then(|offset| (*offset).try_into().ok()).unwrap_or_default();
    at(offsets.last()).saturating_sub(at(offsets.first()))
}

fn elements<T: Copy + TryInto<usize>>(values: &ArrayRef, offsets: &[T]) -> usize {
    let count = between(offsets);
    let first = offsets.first().and_then(|first| (*first).try_into().ok()).unwrap_or_default();
    bytes(&values.slice(first, count)).saturating_add(count.saturating_mul(ELEMENT_BYTES))
}

/// The rows of a batch, in pieces that have at most this many bytes each, or one row.
pub(crate) fn pieces(batch: &RecordBatch, bytes_max: usize) -> Vec<RecordBatch> {
    if batch.num_rows() <= 1 || batch_bytes(batch) <= bytes_max {
        return vec![batch.clone()];
    }
    let half = batch.num_rows() / 2;
    let (first, second) = (batch.slice(0, half), batch.slice(half, batch.num_rows() - half));
    let mut all = pieces(&first, bytes_max);
    all.append(&mut pieces(&second, bytes_max));
    all
}

/// Fails if the machine does not have this much memory besides what the rest of a query takes meanwhile: an allocation
/// that would fail is not tried.
pub(crate) fn is_there(bytes: usize) -> Result<(), Error> {
    const MARGIN: usize = 32 << 20;
    if bytes < SMALL_BYTES {
        return Ok(());
    }
    let mut probe: Vec<u8> = Vec::new();
    probe.try_reserve_exact(bytes.saturating_add(MARGIN)).map_err(|_| Error::memory())
}

/// How many bytes the values of a batch take.
pub(crate) fn batch_bytes(batch: &RecordBatch) -> usize {
    batch.columns().iter().map(|column| bytes(column)).fold(0, usize::saturating_add)
}

/// Whether a value of this type takes more than this many bytes, whatever it is: also null.
pub(crate) fn is_wider_than(data_type: &DataType, bytes_max: usize) -> bool {
    fn width(data_type: &DataType) -> usize {
        match data_type {
            DataType::FixedSizeBinary(size) => usize::try_from(*size).unwrap_or_default(),
            DataType::FixedSizeList(field, size) => {
                width(field.data_type()).max(1).saturating_mul(usize::try_from(*size).unwrap_or_default())
            }
            DataType::Struct(fields) => {
                fields.iter().map(|field| width(field.data_type())).fold(0, usize::saturating_add)
            }
            DataType::List(field) | DataType::LargeList(field) | DataType::Map(field, _) => width(field.data_type()),
            DataType::Dictionary(_, values) => width(values),
            other => other.primitive_width().unwrap_or(1),
        }
    }
    width(data_type) > bytes_max
}
