//! The cells of some columns of a block, in the rows that match: what a reader of columns gets in place of lines.

use super::decide::Typed;
use super::{Column, Columns, spellings, texts};
use arrow_array::Array;
use arrow_buffer::BooleanBuffer;
use jird::Path;
use std::ops::Range;

/// One value of an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'c> {
    /// A number, which jird writes as it stands in the document.
    Number(f64),
    /// A text, the same.
    Text(&'c str),
    /// A boolean.
    Bool(bool),
    /// A value of any kind: its JSON as it stands in the document.
    Json(&'c str),
    /// The event has no such field.
    Missing,
}

impl Cell<'_> {
    /// Appends the value as it stands in the document; nothing if it is missing.
    pub fn write(self, out: &mut Vec<u8>) {
        match self {
            Self::Number(value) => texts::number(value, out),
            Self::Text(value) => texts::text(value, out),
            Self::Bool(value) => texts::bool(value, out),
            Self::Json(text) => out.extend_from_slice(text.as_bytes()),
            Self::Missing => {}
        }
    }
}

/// The rows of a block that match, and the columns of a reader.
#[derive(Debug)]
pub struct Cells {
    columns: Columns,
    paths: Vec<Path>,
    /// The rows, from the first one that was asked for.
    kept: BooleanBuffer,
    first: usize,
    /// For each path the texts that its column does not show, by row.
    spelled: Vec<spellings::Texts>,
}

impl Cells {
    /// The cells at some paths, in the `rows` for which the columns say that they may match. `None` if the columns do
    /// not know all of them.
    pub(crate) fn new(
        columns: Columns,
        paths: &[Path],
        rows: Range<usize>,
        kept: Option<BooleanBuffer>,
    ) -> Option<Self> {
        let kept = match kept {
            Some(kept) => (rows.end <= kept.len()).then(|| kept.slice(rows.start, rows.len()))?,
            None => BooleanBuffer::new_set(rows.len()),
        };
        let mut known = Vec::new();
        for path in paths {
            let column = columns.of_path(path)?;
            column.facts.text_of_null()?;
            known.push(column.facts.is_spelled());
        }
        let with_spellings: Vec<Path> =
            paths.iter().zip(&known).filter(|(_, known)| **known).map(|(path, _)| path.clone()).collect();
        let mut read = match &columns.spellings {
            _ if with_spellings.is_empty() => Vec::new(),
            Some(spelled) => spellings::texts(spelled, &with_spellings)?,
            None => return None,
        }
        .into_iter();
        let spelled = known.into_iter().map(|known| if known { read.next() } else { Some(Vec::new()) });
        let spelled = spelled.collect::<Option<_>>()?;
        Some(Self { columns, paths: paths.to_vec(), kept, first: rows.start, spelled })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.kept.count_set_bits()
    }

    /// About how many bytes these rows take in all arrays, those of the condition included.
    pub fn bytes(&self) -> usize {
        self.columns.bytes() / self.kept.len().max(1) * self.rows()
    }

    /// Calls `each` with the cells of a column, in the order of the events.
    ///
    /// # Panics
    /// If there are fewer columns.
    pub fn each(&self, column: usize, each: impl FnMut(Cell<'_>)) {
        let found = self.columns.of_path(&self.paths[column]);
        match found.and_then(|found| Some((found, super::decide::typed(found)?))) {
            Some((found, Typed::Numbers(values))) => {
                self.visit(column, found, |row| Cell::Number(values.value(row)), each);
            }
            Some((found, Typed::Texts(values))) => self.visit(column, found, |row| Cell::Text(values.value(row)), each),
            Some((found, Typed::Bools(values))) => self.visit(column, found, |row| Cell::Bool(values.value(row)), each),
            None => unreachable!("it was there before"),
        }
    }

    fn visit<'c>(
        &'c self,
        number: usize,
        column: &Column,
        value: impl Fn(usize) -> Cell<'c>,
        mut each: impl FnMut(Cell<'c>),
    ) {
        let null = column.facts.text_of_null().flatten().map_or(Cell::Missing, Cell::Json);
        let mut spelled = self.spelled[number].iter().peekable();
        let nulls = column.array.nulls();
        for row in self.kept.set_indices().map(|row| self.first + row) {
            while spelled.next_if(|(other, _)| *other < row).is_some() {}
            each(match spelled.peek() {
                Some((other, text)) if *other == row => Cell::Json(text),
                _ if nulls.is_some_and(|nulls| nulls.is_null(row)) => null,
                _ => value(row),
            });
        }
    }
}
