//! The types of values within objects and arrays.
//!
//! If all values at one place are objects, they are a struct; if all are arrays, a list. Values that differ in kind are
//! JSON text, as in any column. Objects whose keys are data, with no end of them, are JSON text too.

use super::infer::Accumulator;
use super::kind::ColumnType;
use crate::cell::Cell;
use jird::record::Field;
use jird::{Kind, Parser, Value};
use std::collections::HashMap;

/// The most places in one column. Beyond that, its objects and arrays stay JSON text.
const PLACES_MAX: usize = 1000;
/// The deepest place in a column. Readers of Arrow refuse types that are nested much deeper.
const DEPTH_MAX: usize = 16;

/// The type of all values at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// Nothing but nulls.
    Null,
    /// Values of a type.
    Scalar(ColumnType),
    /// Arrays, and the type of their elements.
    List(Box<ValueType>),
    /// The fields, in the order in which they were first met.
    Struct(Vec<(String, ValueType)>),
}

/// Sees all objects and arrays of a column, in any number of pieces.
///
/// ```
/// use jird_formats::{Cell, ColumnType, Shape, ShapeReader, ValueType};
/// let (mut shape, mut later) = (Shape::default(), Shape::default());
/// shape.observe(Cell::Json("[1]"), &mut ShapeReader::default());
/// later.observe(Cell::Json("[1.5, null]"), &mut ShapeReader::default());
/// shape.merge(&later);
/// assert_eq!(shape.value_type(), Some(ValueType::List(Box::new(ValueType::Scalar(ColumnType::Float64)))));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Shape {
    root: Place,
    places: usize,
    is_beyond: bool,
}

/// Reads the texts of objects and arrays. A clone has buffers of its own.
#[derive(Debug, Default)]
pub struct ShapeReader(Parser);

impl Clone for ShapeReader {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// What was seen at one place.
#[derive(Clone, Debug, Default)]
struct Place {
    seen: Accumulator,
    /// The keys of objects, and where each one's place is.
    keys: HashMap<String, usize>,
    fields: Vec<(String, Place)>,
    elements: Option<Box<Place>>,
}

impl Shape {
    /// Takes in a value of the column.
    pub fn observe(&mut self, cell: Cell<'_>, reader: &mut ShapeReader) {
        match cell {
            Cell::Json(text) if !self.is_beyond => {
                let root = reader.0.parse_trusted(text.as_bytes());
                self.is_beyond = !self.root.observe(root, 0, &mut self.places);
            }
            cell => self.root.seen.observe_cell(cell, 0),
        }
    }

    /// Takes in what another shape saw of later values.
    pub fn merge(&mut self, other: &Self) {
        self.is_beyond |= other.is_beyond || !self.root.merge(&other.root, &mut self.places);
    }

    /// The type of the objects or arrays; `None` if the column has anything else, or too many places.
    pub fn value_type(&self) -> Option<ValueType> {
        match self.root.value_type() {
            nested @ (ValueType::List(_) | ValueType::Struct(_)) if !self.is_beyond => Some(nested),
            _ => None,
        }
    }
}

impl Place {
    /// Returns false if the value has more places, or deeper ones, than a column may have.
    fn observe(&mut self, value: Value<'_>, depth: usize, places: &mut usize) -> bool {
        self.seen.observe(Field::from_raw(value.raw_str().unwrap_or_default()), 0);
        if !value.kind().is_container() {
            return true;
        }
        if depth == DEPTH_MAX {
            return false;
        }
        let is_within = |is_new: bool, places: &mut usize| {
            *places += usize::from(is_new);
            *places <= PLACES_MAX
        };
        let elements = value.elements().all(|element| {
            let is_new = self.elements.is_none();
            let place = self.elements.get_or_insert_default();
            is_within(is_new, places) && place.observe(element, depth + 1, places)
        });
        elements
            && value.entries().all(|(key, field)| {
                let key = key.as_str().unwrap_or_default();
                let next = self.fields.len();
                let index = if let Some(index) = self.keys.get(&*key) {
                    *index
                } else {
                    self.keys.insert(key.to_string(), next);
                    self.fields.push((key.into_owned(), Self::default()));
                    next
                };
                is_within(index == next, places) && self.fields[index].1.observe(field, depth + 1, places)
            })
    }

    /// Returns false if both have more places than a column may have. Places are at most [`DEPTH_MAX`] deep.
    fn merge(&mut self, other: &Self, places: &mut usize) -> bool {
        self.seen.merge(&other.seen);
        let mut fits = true;
        if let Some(other) = &other.elements {
            *places += usize::from(self.elements.is_none());
            fits = self.elements.get_or_insert_default().merge(other, places);
        }
        for (key, field) in &other.fields {
            let next = self.fields.len();
            let index = *self.keys.entry(key.clone()).or_insert(next);
            if index == next {
                *places += 1;
                self.fields.push((key.clone(), Self::default()));
            }
            fits &= *places <= PLACES_MAX && self.fields[index].1.merge(field, places);
            if !fits {
                break;
            }
        }
        fits && *places <= PLACES_MAX
    }

    fn value_type(&self) -> ValueType {
        let elements = self.elements.as_deref().map(Self::value_type);
        match (self.seen.container(), elements) {
            (Some(Kind::Object), _) if !self.fields.is_empty() => {
                ValueType::Struct(self.fields.iter().map(|(key, place)| (key.clone(), place.value_type())).collect())
            }
            // The type of a list's elements is not known from nulls.
            (Some(Kind::Array), Some(elements)) if elements != ValueType::Null => ValueType::List(Box::new(elements)),
            _ => self.seen.column_type().map_or(ValueType::Null, ValueType::Scalar),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape_of(texts: &[&str]) -> Shape {
        let (mut shape, mut reader) = (Shape::default(), ShapeReader::default());
        texts.iter().for_each(|text| shape.observe(Cell::Json(text), &mut reader));
        shape
    }

    #[test]
    fn shapes_of_pieces_are_merged_to_the_shape_of_all() {
        let many = |from: usize| (from..from + 600).map(|key| format!("\"{key}\":1")).collect::<Vec<_>>().join(",");
        let deep = format!("{}1{}", "[".repeat(DEPTH_MAX + 1), "]".repeat(DEPTH_MAX + 1));
        let columns = [
            vec![r#"{"a":1,"b":[]}"#, r#"{"b":[null,{"c":"x"}]}"#, r#"{"a":1.5,"b":[{"d":[true],"c":null}]}"#],
            vec![r#"{"a":1}"#, "[1]", "{}"],
            vec!["[]", "[[1]]", "[[],null,[2]]", r#"[["x"]]"#],
            vec!["[1]", &deep, "[2]"],
        ];
        let wide = [format!("{{{}}}", many(0)), format!("{{{}}}", many(300)), format!("{{{}}}", many(600))];
        let wide = wide.iter().map(String::as_str).collect::<Vec<_>>();
        for texts in columns.iter().chain([&wide, &wide[..2].to_vec()]) {
            let whole = shape_of(texts).value_type();
            for first in 0..=texts.len() {
                for second in first..=texts.len() {
                    let mut merged = shape_of(&texts[..first]);
                    merged.merge(&shape_of(&texts[first..second]));
                    merged.merge(&shape_of(&texts[second..]));
                    assert_eq!(merged.value_type(), whole, "{texts:?} {first} {second}");
                }
            }
        }
        assert_eq!(shape_of(&wide).value_type(), None);
        assert!(shape_of(&wide[..2]).value_type().is_some());
    }
}
