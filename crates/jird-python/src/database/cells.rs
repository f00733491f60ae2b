//! Values of rows as bytes: a tag, and what it needs. The rows of a frame follow each other without anything between.

use core::str;
use serde_core::ser::{Serialize, SerializeMap, Serializer};
use std::sync::Arc;

/// A value of a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
}

const NULL: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
const INT: u8 = 3;
const FLOAT: u8 = 4;
const TEXT: u8 = 5;
const BYTES: u8 = 6;

impl<'a> Cell<'a> {
    pub(super) fn write(self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.push(NULL),
            Self::Bool(false) => out.push(FALSE),
            Self::Bool(true) => out.push(TRUE),
            Self::Int(value) => tagged(out, INT, value.to_le_bytes()),
            Self::Float(value) => tagged(out, FLOAT, value.to_le_bytes()),
            Self::Text(value) => counted(out, TEXT, value.as_bytes()),
            Self::Bytes(value) => counted(out, BYTES, value),
        }
    }

    /// Takes a value from the beginning of `from`; `None` if none was written there.
    fn read(from: &mut &'a [u8]) -> Option<Self> {
        Some(match *from.split_off_first()? {
            NULL => Self::Null,
            FALSE => Self::Bool(false),
            TRUE => Self::Bool(true),
            INT => Self::Int(i64::from_le_bytes(eight(from)?)),
            FLOAT => Self::Float(f64::from_le_bytes(eight(from)?)),
            TEXT => Self::Text(str::from_utf8(several(from)?).ok()?),
            BYTES => Self::Bytes(several(from)?),
            _ => return None,
        })
    }
}

fn tagged(out: &mut Vec<u8>, tag: u8, value: [u8; 8]) {
    out.push(tag);
    out.extend_from_slice(&value);
}

fn counted(out: &mut Vec<u8>, tag: u8, value: &[u8]) {
    tagged(out, tag, (value.len() as u64).to_le_bytes());
    out.extend_from_slice(value);
}

fn eight(from: &mut &[u8]) -> Option<[u8; 8]> {
    from.split_off(..8)?.try_into().ok()
}

fn several<'a>(from: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = usize::try_from(u64::from_le_bytes(eight(from)?)).ok()?;
    from.split_off(..len)
}

/// The rows of a frame, each with a value for each of the columns; `None` if it is not made of such rows.
pub(super) fn rows(columns: &Arc<[String]>, frame: Vec<u8>) -> Option<Vec<Row>> {
    let (mut rest, mut starts) = (&frame[..], Vec::new());
    while !rest.is_empty() {
        starts.push(frame.len() - rest.len());
        for _ in 0..columns.len() {
            Cell::read(&mut rest)?;
        }
    }
    let frame = Arc::new(frame);
    let row = |start| Row { columns: Arc::clone(columns), frame: Arc::clone(&frame), start };
    Some(starts.into_iter().map(row).collect())
}

/// A row of a frame.
pub(super) struct Row {
    columns: Arc<[String]>,
    frame: Arc<Vec<u8>>,
    start: usize,
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.columns.len()))?;
        let mut rest = &self.frame[self.start..];
        for column in &*self.columns {
            map.serialize_key(column)?;
            match Cell::read(&mut rest).unwrap_or(Cell::Null) {
                Cell::Null => map.serialize_value(&None::<bool>)?,
                Cell::Bool(value) => map.serialize_value(&value)?,
                Cell::Int(value) => map.serialize_value(&value)?,
                Cell::Float(value) => map.serialize_value(&value)?,
                Cell::Text(value) => map.serialize_value(value)?,
                Cell::Bytes(value) => map.serialize_value(&Bytes(value))?,
            }
        }
        map.end()
    }
}

/// Bytes, and no list of numbers.
pub(super) struct Bytes<'b>(pub(super) &'b [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}
