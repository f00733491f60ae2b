//! Checks what `arrow-ipc` trusts, before data is handed to it.
//!
//! Its schema conversion and its batch decoder panic on messages that are valid flatbuffers but not valid Arrow: an
//! integer of nine bits, a list without an element type, a buffer beyond the body. Also, compressed data itself says
//! how much memory to allocate. After these checks, `arrow-data` validates the arrays.

use super::error::{malformed, unsupported};
use crate::error::Error;
use arrow_buffer::Buffer;
use arrow_ipc::{
    DateUnit, Endianness, Field, IntervalUnit, MetadataVersion, Precision, RecordBatch, Schema, TimeUnit, Type,
    UnionMode,
};
use arrow_schema::DataType;
use std::collections::HashSet;

/// The most bytes that all compressed buffers of a batch together may claim.
const DECOMPRESSED_BYTES_MAX: i64 = 1 << 31;

/// The most rows in an array, so that arithmetic on lengths stays far from overflow.
const ROWS_MAX: i64 = 1 << 40;

/// The deepest nesting of types.
const DEPTH_MAX: usize = 64;

/// Checks that a schema can be converted.
pub(crate) fn schema(schema: Schema<'_>) -> Result<(), Error> {
    if schema.endianness() != Endianness::Little {
        return Err(unsupported("the columns are big-endian"));
    }
    let fields = schema.fields().ok_or_else(|| malformed("the schema has no fields"))?;
    fields.iter().try_for_each(|one| field(one, 0))
}

fn field(field: Field<'_>, depth: usize) -> Result<(), Error> {
    let children: Vec<_> = field.children().into_iter().flatten().collect();
    let is_right = depth < DEPTH_MAX
        && field.dictionary().is_none_or(|dictionary| dictionary.indexType().is_some_and(is_integer))
        && is_type(field, children.len()).unwrap_or(false);
    if !is_right {
        return Err(malformed(format_args!(
            "column {:?} has a type that is not valid",
            field.name().unwrap_or_default()
        )));
    }
    children.into_iter().try_for_each(|child| self::field(child, depth + 1))
}

fn is_integer(int: arrow_ipc::Int<'_>) -> bool {
    [8, 16, 32, 64].contains(&int.bitWidth())
}

/// Whether a type's parts are present and known. `None`: one is absent.
fn is_type(field: Field<'_>, children: usize) -> Option<bool> {
    Some(match field.type_type() {
        Type::Null
        | Type::Bool
        | Type::Binary
        | Type::LargeBinary
        | Type::BinaryView
        | Type::Utf8
        | Type::LargeUtf8
        | Type::Utf8View
        | Type::Struct_ => true,
        Type::Int => is_integer(field.type_as_int()?),
        Type::FloatingPoint => Precision::ENUM_VALUES.contains(&field.type_as_floating_point()?.precision()),
        Type::FixedSizeBinary => field.type_as_fixed_size_binary()?.byteWidth() >= 0,
        Type::Date => DateUnit::ENUM_VALUES.contains(&field.type_as_date()?.unit()),
        Type::Time => {
            let time = field.type_as_time()?;
            match time.bitWidth() {
                32 => [TimeUnit::SECOND, TimeUnit::MILLISECOND].contains(&time.unit()),
                64 => [TimeUnit::MICROSECOND, TimeUnit::NANOSECOND].contains(&time.unit()),
                _ => false,
            }
        }
        Type::Timestamp => TimeUnit::ENUM_VALUES.contains(&field.type_as_timestamp()?.unit()),
        Type::Duration => TimeUnit::ENUM_VALUES.contains(&field.type_as_duration()?.unit()),
        Type::Interval => IntervalUnit::ENUM_VALUES.contains(&field.type_as_interval()?.unit()),
        Type::List | Type::LargeList | Type::ListView | Type::LargeListView | Type::Map => children == 1,
        Type::FixedSizeList => children == 1 && field.type_as_fixed_size_list()?.listSize() >= 0,
        Type::RunEndEncoded => children == 2,
        Type::Decimal => {
            let decimal = field.type_as_decimal()?;
            // The most digits that fit the width.
            let digits_max = match decimal.bitWidth() {
                32 => 9,
                64 => 18,
                128 => 38,
                256 => 76,
                _ => return None,
            };
            (1..=digits_max).contains(&decimal.precision()) && i8::try_from(decimal.scale()).is_ok()
        }
        Type::Union => {
            let union = field.type_as_union()?;
            let ids: Vec<i32> =
                union.typeIds().map_or_else(|| (0..children as i32).collect(), |ids| ids.iter().collect());
            let different: HashSet<_> = ids.iter().filter(|id| (0..128).contains(*id)).collect();
            UnionMode::ENUM_VALUES.contains(&union.mode()) && ids.len() == children && different.len() == children
        }
        _ => false,
    })
}

/// Checks that a batch has what its types need, and has it in its body.
pub(crate) fn batch<'t>(
    batch: RecordBatch<'_>,
    types: impl Iterator<Item = &'t DataType>,
    version: MetadataVersion,
    body: &Buffer,
) -> Result<(), Error> {
    let nodes = batch.nodes().ok_or_else(|| malformed("a batch has no nodes"))?;
    let buffers = batch.buffers().ok_or_else(|| malformed("a batch has no buffers"))?;
    let variadic: Vec<i64> = batch.variadicBufferCounts().into_iter().flatten().collect();
    let mut need = Need { version, variadic: &variadic, buffers: Some(0), ..Need::default() };
    types.for_each(|data_type| need.add(data_type));
    let enough = need.nodes == nodes.len() && need.buffers == Some(buffers.len()) && need.variadic.is_empty();
    let lengths = nodes
        .iter()
        .all(|node| (0..=ROWS_MAX).contains(&node.length()) && (0..=node.length()).contains(&node.null_count()));
    if !enough || !lengths || !(0..=ROWS_MAX).contains(&batch.length()) {
        return Err(malformed("the parts of a batch do not fit its schema"));
    }
    let mut decompressed = 0_i64;
    for buffer in buffers {
        let bytes =
            slice(body, buffer.offset(), buffer.length()).ok_or_else(|| malformed("a buffer lies beyond its body"))?;
        if batch.compression().is_some() && !bytes.is_empty() {
            let (promise, _) =
                bytes.split_first_chunk().ok_or_else(|| malformed("a compressed buffer has no length"))?;
            decompressed = decompressed.saturating_add(i64::from_le_bytes(*promise).max(0));
        }
    }
    if decompressed > DECOMPRESSED_BYTES_MAX {
        return Err(unsupported("a batch decompresses to more than 2 GiB"));
    }
    sizes(batch, &need, body)
}

fn slice(body: &[u8], offset: i64, len: i64) -> Option<&[u8]> {
    let start = usize::try_from(offset).ok()?;
    body.get(start..start.checked_add(usize::try_from(len).ok()?)?)
}

/// Checks that the buffers are long enough for what is cut out of them before anything is validated.
fn sizes(batch: RecordBatch<'_>, need: &Need<'_>, body: &Buffer) -> Result<(), Error> {
    let (Some(nodes), Some(buffers)) = (batch.nodes(), batch.buffers()) else { return Ok(()) };
    for &Part { node, buffer, of } in &need.parts {
        let (node, buffer) = (nodes.get(node), buffers.get(buffer));
        let bytes = slice(body, buffer.offset(), buffer.length()).unwrap_or_default();
        let len = match bytes.split_first_chunk() {
            Some((promise, rest)) if batch.compression().is_some() => match i64::from_le_bytes(*promise) {
                // The data after the length is not compressed.
                -1 => rest.len() as i64,
                promise => promise,
            },
            _ => buffer.length(),
        };
        let is_right = match of {
            Of::Nulls => node.null_count() == 0 || len >= (node.length() + 7) / 8,
            Of::Words(width) => len % width == 0,
            Of::Rows(width) => len % width == 0 && len / width >= node.length() && buffer.offset() % 8 == 0,
        };
        if !is_right {
            return Err(malformed("a buffer has the wrong length"));
        }
    }
    Ok(())
}

/// What arrays of some types consist of.
#[derive(Default)]
struct Need<'v> {
    version: MetadataVersion,
    nodes: usize,
    /// `None` if there are more than `usize` counts.
    buffers: Option<usize>,
    /// The number of buffers of each array of views that is still to come.
    variadic: &'v [i64],
    parts: Vec<Part>,
}

/// A buffer whose length matters, and the node whose rows it holds.
struct Part {
    node: usize,
    buffer: usize,
    of: Of,
}

/// The content of a buffer.
#[derive(Clone, Copy)]
enum Of {
    /// A bit for each row, if some rows are null.
    Nulls,
    /// Words of this many bytes.
    Words(i64),
    /// A value of this many bytes for each row.
    Rows(i64),
}

impl Need<'_> {
    fn add(&mut self, data_type: &DataType) {
        use Of::{Nulls, Rows, Words};
        let node = self.nodes;
        self.nodes += 1;
        match data_type {
            DataType::Null => {}
            DataType::RunEndEncoded(ends, values) => {
                self.add(ends.data_type());
                self.add(values.data_type());
            }
            DataType::Utf8 | DataType::Binary => self.take(node, &[Nulls, Words(4), Words(1)]),
            DataType::LargeUtf8 | DataType::LargeBinary => self.take(node, &[Nulls, Words(8), Words(1)]),
            DataType::Utf8View | DataType::BinaryView => {
                self.take(node, &[Nulls, Words(16)]);
                self.buffers = match self.variadic.split_first() {
                    Some((&count, rest)) => {
                        self.variadic = rest;
                        self.buffers.zip(usize::try_from(count).ok()).and_then(|(one, other)| one.checked_add(other))
                    }
                    None => None,
                };
            }
            DataType::List(field) | DataType::Map(field, _) => {
                self.take(node, &[Nulls, Words(4)]);
                self.add(field.data_type());
            }
            DataType::LargeList(field) => {
                self.take(node, &[Nulls, Words(8)]);
                self.add(field.data_type());
            }
            DataType::ListView(field) => {
                self.take(node, &[Nulls, Words(4), Words(4)]);
                self.add(field.data_type());
            }
            DataType::LargeListView(field) => {
                self.take(node, &[Nulls, Words(8), Words(8)]);
                self.add(field.data_type());
            }
            DataType::FixedSizeList(field, _) => {
                self.take(node, &[Nulls]);
                self.add(field.data_type());
            }
            DataType::Struct(fields) => {
                self.take(node, &[Nulls]);
                fields.iter().for_each(|field| self.add(field.data_type()));
            }
            DataType::Union(fields, mode) => {
                if self.version < MetadataVersion::V5 {
                    self.take(node, &[Words(1)]);
                }
                self.take(node, &[Rows(1)]);
                if *mode == arrow_schema::UnionMode::Dense {
                    self.take(node, &[Rows(4)]);
                }
                fields.iter().for_each(|(_, field)| self.add(field.data_type()));
            }
            // Numbers, and the keys of a dictionary. Wide numbers are excepted, because their buffer may be padded by
            // half a number.
            other => {
                let numbers = if let DataType::Dictionary(numbers, _) = other { numbers } else { other };
                let width = numbers.primitive_width().filter(|width| *width <= 8).unwrap_or(1);
                self.take(node, &[Nulls, Words(width as i64)]);
            }
        }
    }

    fn take(&mut self, node: usize, parts: &[Of]) {
        for of in parts {
            let Some(buffer) = self.buffers else { return };
            self.parts.push(Part { node, buffer, of: *of });
            self.buffers = buffer.checked_add(1);
        }
    }
}
