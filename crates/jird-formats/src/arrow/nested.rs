//! Makes lists and structs of objects and arrays.

use super::build::CellBuilder;
use super::plan::{Holds, field_of};
use crate::cell::Cell;
use crate::columns::ValueType;
use arrow_array::{ArrayRef, ListArray, StructArray};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer, OffsetBuffer};
use arrow_schema::{FieldRef, Fields};
use jird::event::Numeral;
use jird::{Kind, Parser, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// Collects the values of one column.
pub(super) struct NestedBuilder {
    parser: Parser,
    values: ValueBuilder,
}

impl NestedBuilder {
    pub(super) fn new(holds: &ValueType) -> Self {
        Self { parser: Parser::new(), values: ValueBuilder::new(holds) }
    }

    /// Appends the value that a JSON text denotes; `None` if the column cannot hold it.
    pub(super) fn append(&mut self, text: &str, scratch: &mut Vec<u8>) -> Option<()> {
        self.values.append(self.parser.parse_trusted(text.as_bytes()), scratch)
    }

    pub(super) fn append_null(&mut self) {
        self.values.append_null();
    }

    pub(super) fn finish(&mut self) -> ArrayRef {
        self.values.finish()
    }
}

/// Collects the values at one place.
enum ValueBuilder {
    Cells(CellBuilder),
    List {
        field: FieldRef,
        /// The number of elements up to the end of each list.
        ends: Vec<i32>,
        valid: BooleanBufferBuilder,
        elements: Box<ValueBuilder>,
    },
    Struct {
        fields: Fields,
        valid: BooleanBufferBuilder,
        columns: Vec<ValueBuilder>,
        places: HashMap<String, usize>,
        /// Which fields the current object has had.
        had: Vec<bool>,
    },
}

impl ValueBuilder {
    fn new(holds: &ValueType) -> Self {
        let valid = BooleanBufferBuilder::new(0);
        match holds {
            ValueType::Null => Self::Cells(CellBuilder::new(&Holds::Nothing)),
            ValueType::Scalar(values) => Self::Cells(CellBuilder::new(&Holds::Values(*values))),
            ValueType::List(elements) => Self::List {
                field: Arc::new(field_of("item", elements)),
                ends: Vec::new(),
                valid,
                elements: Box::new(Self::new(elements)),
            },
            ValueType::Struct(fields) => Self::Struct {
                fields: fields.iter().map(|(name, holds)| field_of(name, holds)).collect(),
                valid,
                columns: fields.iter().map(|(_, holds)| Self::new(holds)).collect(),
                places: fields.iter().map(|(name, _)| name.clone()).zip(0..).collect(),
                had: vec![false; fields.len()],
            },
        }
    }

    fn append(&mut self, value: Value<'_>, scratch: &mut Vec<u8>) -> Option<()> {
        match (self, value.kind()) {
            (builder, Kind::Null) => builder.append_null(),
            (Self::Cells(cells), kind) => append_cell(cells, kind, value, scratch)?,
            (Self::List { ends, valid, elements, .. }, Kind::Array) => {
                let start = ends.last().copied().unwrap_or(0);
                ends.push(start.checked_add(i32::try_from(value.len()).ok()?)?);
                valid.append(true);
                value.elements().try_for_each(|element| elements.append(element, scratch))?;
            }
            (Self::Struct { valid, columns, places, had, .. }, Kind::Object) => {
                had.fill(false);
                valid.append(true);
                for (key, field) in value.entries() {
                    let place = *places.get(&*key.as_str()?)?;
                    // Of a repeated key, the first value counts.
                    if !core::mem::replace(&mut had[place], true) {
                        columns[place].append(field, scratch)?;
                    }
                }
                let missing = columns.iter_mut().zip(had).filter(|(_, had)| !**had);
                missing.for_each(|(column, _)| column.append_null());
            }
            _ => return None,
        }
        Some(())
    }

    fn append_null(&mut self) {
        match self {
            Self::Cells(cells) => cells.append_null(),
            Self::List { ends, valid, .. } => {
                ends.push(ends.last().copied().unwrap_or(0));
                valid.append(false);
            }
            Self::Struct { valid, columns, .. } => {
                valid.append(false);
                columns.iter_mut().for_each(Self::append_null);
            }
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Cells(cells) => cells.finish(),
            Self::List { field, ends, valid, elements } => {
                let offsets = [0].into_iter().chain(core::mem::take(ends)).collect::<Vec<i32>>();
                let nulls = Some(NullBuffer::new(valid.finish()));
                Arc::new(ListArray::new(field.clone(), OffsetBuffer::new(offsets.into()), elements.finish(), nulls))
            }
            Self::Struct { fields, valid, columns, .. } => {
                let arrays = columns.iter_mut().map(Self::finish).collect();
                Arc::new(StructArray::new(fields.clone(), arrays, Some(NullBuffer::new(valid.finish()))))
            }
        }
    }
}

fn append_cell(cells: &mut CellBuilder, kind: Kind, value: Value<'_>, scratch: &mut Vec<u8>) -> Option<()> {
    let text;
    let cell = match kind {
        Kind::Null => Cell::Null,
        Kind::Bool => Cell::Bool(value.as_bool()?),
        Kind::Number => Cell::Number(Numeral::Text(value.as_number()?)),
        Kind::String => {
            text = value.as_str()?;
            Cell::Text(&text)
        }
        Kind::Array | Kind::Object => Cell::Json(value.raw_str()?),
    };
    cells.append(cell, scratch).map(drop)
}
