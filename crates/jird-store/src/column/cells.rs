//! The cells of some columns of a block, in the rows that match: what a reader of columns gets in place of lines.

use super::decide::Typed;
use super::{Column, Columns, Numbers, spellings, texts};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array};
use arrow_buffer::BooleanBuffer;
use jird::Path;
use std::cell::OnceCell;
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
    /// For each path the texts that its column does not show, by row, if they were asked for: few readers look at them.
    spelled: Vec<OnceCell<Option<spellings::Texts>>>,
}

impl Cells {
    /// The cells at some paths, in the `rows` for which the columns say that they may match. `None` if the columns do
    /// not know all of the first `shown`.
    pub(crate) fn new(
        columns: Columns,
        (paths, shown): (&[Path], usize),
        rows: Range<usize>,
        kept: Option<BooleanBuffer>,
    ) -> Option<Self> {
        let kept = match kept {
            Some(kept) => (rows.end <= kept.len()).then(|| kept.slice(rows.start, rows.len()))?,
            None => BooleanBuffer::new_set(rows.len()),
        };
        for path in paths.iter().take(shown) {
            columns.of_path(path)?.facts.text_of_null()?;
        }
        let spelled = vec![OnceCell::new(); paths.len()];
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

    /// The numbers of a column, null where they are null or missing, and which of these rows match; if all of them are
    /// integers of at most 2⁵³ or decimals that are the shortest of their doubles, however they are spelled, and nothing in
    /// the column is of another kind.
    ///
    /// # Panics
    /// If there are fewer columns.
    pub fn numbers(&self, column: usize) -> Option<(Float64Array, BooleanArray)> {
        let column = self.columns.of_path(&self.paths[column])?;
        column.facts.numbers().filter(|_| !column.facts.has_others())?;
        let Typed::Numbers(values) = super::decide::typed(column)? else { return None };
        Some((values.slice(self.first, self.kept.len()), BooleanArray::new(self.kept.clone(), None)))
    }

    /// Whether all of these [numbers](Self::numbers) are integers of at most 2⁵³.
    ///
    /// # Panics
    /// If there are fewer columns.
    pub fn are_integers(&self, column: usize) -> bool {
        let column = self.columns.of_path(&self.paths[column]).filter(|column| !column.facts.has_others());
        column.is_some_and(|column| column.facts.numbers() == Some(Numbers::Integers))
    }

    /// The texts of a column as strings or a dictionary of strings, null where they are null or missing, and which of these
    /// rows match; if nothing else is in the column.
    ///
    /// # Panics
    /// If there are fewer columns.
    pub fn texts(&self, column: usize) -> Option<(ArrayRef, BooleanArray)> {
        let column = self.columns.of_path(&self.paths[column]).filter(|column| !column.facts.has_others())?;
        let Typed::Texts(_) = super::decide::typed(column)? else { return None };
        Some((column.array.slice(self.first, self.kept.len()), BooleanArray::new(self.kept.clone(), None)))
    }

    /// Whether [`Self::each`] can show a column: whether it is not damaged.
    ///
    /// # Panics
    /// If there are fewer columns.
    pub fn can_show(&self, column: usize) -> bool {
        self.spelled(column).is_some()
    }

    /// The texts that a column does not show, by row; `None` if they are damaged.
    fn spelled(&self, column: usize) -> Option<&spellings::Texts> {
        let read = || {
            let path = &self.paths[column];
            if !self.columns.of_path(path)?.facts.is_spelled() {
                return Some(Vec::new());
            }
            spellings::texts(self.columns.spellings.as_ref()?, std::slice::from_ref(path))?.pop()
        };
        self.spelled[column].get_or_init(read).as_ref()
    }

    /// Whether an event has something there. If that is damaged or was not read, it may have.
    ///
    /// # Panics
    /// If there are fewer columns.
    pub fn has_some(&self, column: usize) -> bool {
        let Some(found) = self.columns.of_path(&self.paths[column]) else { return true };
        let has_value = |row: usize| found.array.is_valid(self.first + row);
        if self.kept.set_indices().any(has_value) || !self.can_show(column) {
            return true;
        }
        let mut has_some = false;
        self.each(column, |cell| has_some |= cell != Cell::Missing);
        has_some
    }

    /// Calls `each` with the cells of a column, in the order of the events.
    ///
    /// # Panics
    /// If there are fewer columns, or if it [cannot be shown](Self::can_show).
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
        let mut spelled = self.spelled(number).expect("it can be shown").iter().peekable();
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
