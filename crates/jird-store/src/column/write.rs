//! Writes the cells of columns as JSON: the texts of values, and lines that stand for documents.

use super::decide::Typed;
use super::fields::Shape;
use super::texts::{bool, number, text};
use super::{Columns, Fields, spellings};
use arrow_array::Array;
use jird::Path;

/// A column, for rows that are null the text that they stand for.
struct Cells<'c> {
    values: Typed<'c>,
    null: Option<&'static str>,
    /// The texts that the column does not show, by row, ascending.
    spelled: spellings::Texts,
}

impl Cells<'_> {
    fn is_null(&self, row: usize) -> bool {
        match &self.values {
            Typed::Numbers(values) => values.is_null(row),
            Typed::Texts(values) => values.is_null(row),
            Typed::Bools(values) => values.is_null(row),
        }
    }

    /// Appends what `before` is and the value; nothing if it is missing.
    fn write(&self, row: usize, out: &mut Vec<u8>, before: impl FnOnce(&mut Vec<u8>)) {
        if let Ok(at) = self.spelled.binary_search_by_key(&row, |(row, _)| *row) {
            before(out);
            out.extend_from_slice(self.spelled[at].1.as_bytes());
            return;
        }
        if self.is_null(row) {
            if let Some(null) = self.null {
                before(out);
                out.extend_from_slice(null.as_bytes());
            }
            return;
        }
        before(out);
        match &self.values {
            Typed::Numbers(values) => number(values.value(row), out),
            Typed::Texts(values) => text(values.value(row), out),
            Typed::Bools(values) => bool(values.value(row), out),
        }
    }
}

impl Columns {
    /// Replaces `out` by a line for each of these rows, in which each of the fields has the text that it has in the
    /// document. `false` if the columns do not know all of these texts; then `out` is as it was.
    pub fn write(&self, fields: &Fields, rows: impl Iterator<Item = usize>, out: &mut Vec<u8>) -> bool {
        let is_spelled = |path: &Path| self.of_path(path).is_some_and(|column| column.facts.is_spelled());
        let spelled: Vec<Path> = fields.paths().iter().filter(|path| is_spelled(path)).cloned().collect();
        let mut texts = match &self.spellings {
            Some(column) if !spelled.is_empty() => spellings::texts(column, &spelled).unwrap_or_default(),
            _ => Vec::new(),
        };
        let cells = fields.paths().iter().map(|path| {
            let column = self.of_path(path)?;
            let spelled = match spelled.iter().position(|other| other == path) {
                Some(at) => std::mem::take(texts.get_mut(at)?),
                None => Vec::new(),
            };
            Some(Cells { values: super::decide::typed(column)?, null: column.facts.text_of_null()?, spelled })
        });
        let Some(cells) = cells.collect::<Option<Vec<_>>>() else { return false };
        out.clear();
        for row in rows {
            document(&fields.shape, &cells, row, out);
            out.push(b'\n');
        }
        true
    }
}

/// Appends the value at a place of a document. An object without members may stand where the document has none.
fn document(shape: &Shape, cells: &[Cells<'_>], row: usize, out: &mut Vec<u8>) {
    let Shape::Object(members) = shape else { return };
    out.push(b'{');
    let start = out.len();
    for (key, shape) in members {
        let begin = |out: &mut Vec<u8>| {
            if out.len() > start {
                out.push(b',');
            }
            out.extend_from_slice(key.as_bytes());
        };
        match shape {
            Shape::Value(value) => cells[*value].write(row, out, begin),
            Shape::Object(_) => {
                begin(out);
                document(shape, cells, row, out);
            }
        }
    }
    out.push(b'}');
}
