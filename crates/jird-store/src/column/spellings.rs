//! The texts that columns do not show: `1.50` where a column has 1.5, `null` where most events lack the field, a text where
//! most events have a number.
//!
//! A block keeps them in one more column, of objects such as `{"/Elapsed":1.50}` for the few rows that have such a text,
//! so that a column answers for the whole block. A field with many of them, or with long ones, has none there: its
//! documents are read.

use arrow_array::builder::StringBuilder;
use arrow_array::{Array, StringArray};
use jird::Path;
use jird::record::{Field, FieldReader, Projection};

/// The most texts that a block keeps for a field.
const COUNT_MAX: usize = 512;
/// No longer text is kept, in bytes.
const BYTES_MAX: usize = 256;

/// The texts of a field that is built. Without a list, there were too many.
pub(super) struct Unusual(Option<Texts>);

impl Unusual {
    pub(super) fn new() -> Self {
        Self(Some(Vec::new()))
    }

    /// Keeps the text of a row.
    pub(super) fn add(&mut self, row: usize, text: &str) {
        match &mut self.0 {
            Some(texts) if texts.len() < COUNT_MAX && text.len() <= BYTES_MAX => texts.push((row, text.into())),
            texts => *texts = None,
        }
    }

    /// Gives up.
    pub(super) fn clear(&mut self) {
        self.0 = None;
    }

    /// Whether all texts were kept.
    pub(super) fn is_whole(&self) -> bool {
        self.0.is_some()
    }
}

/// The column of a block of this many rows.
pub(super) fn column(paths: &[Path], mut fields: Vec<Unusual>, rows: usize) -> StringArray {
    let mut texts = vec![Vec::new(); rows];
    for (path, unusual) in paths.iter().zip(&mut fields) {
        let key = jird::hooks::quoted(&path.to_string());
        for (row, text) in unusual.0.take().unwrap_or_default() {
            let out: &mut Vec<u8> = &mut texts[row];
            out.push(if out.is_empty() { b'{' } else { b',' });
            out.extend_from_slice(key.as_bytes());
            out.push(b':');
            out.extend_from_slice(text.as_bytes());
        }
    }
    let mut column = StringBuilder::new();
    for mut text in texts {
        if text.is_empty() {
            column.append_null();
        } else {
            text.push(b'}');
            column.append_value(String::from_utf8_lossy(&text));
        }
    }
    column.finish()
}

/// The texts of a field, by row, ascending.
pub(super) type Texts = Vec<(usize, Box<str>)>;

/// The texts of some fields. `None` if the column is damaged.
pub(super) fn texts(column: &StringArray, paths: &[Path]) -> Option<Vec<Texts>> {
    let keys: Vec<Path> = paths.iter().map(|path| Path::root().key(path.to_string())).collect();
    let projection = Projection::new(&keys);
    let mut reader = FieldReader::new(&projection);
    let mut texts = vec![Vec::new(); paths.len()];
    for row in (0..column.len()).filter(|row| column.is_valid(*row)) {
        let mut fields = vec![Field::MISSING; projection.slots()];
        reader.read(column.value(row).as_bytes(), &mut fields).ok()?;
        for (texts, field) in texts.iter_mut().zip(&fields).filter(|(_, field)| field.kind().is_some()) {
            texts.push((row, field.raw().into()));
        }
    }
    Some(texts)
}
