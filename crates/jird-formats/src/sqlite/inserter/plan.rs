//! Maps the fields of a type to the columns of a table.

use crate::error::{Error, ErrorKind};
use crate::sqlite::affinity::Affinity;
use crate::sqlite::database::{TableInfo, quote};

/// The fields of a type, in the order in which they come, and their columns.
#[derive(Debug, Default)]
pub(super) struct Plan {
    fields: Vec<Field>,
    /// The JSON text of a nested value.
    pub(super) json: Vec<u8>,
    /// Some value lacks a field.
    pub(super) is_sparse: bool,
}

#[derive(Debug)]
pub(super) struct Field {
    key: String,
    /// The address and length of a `'static` key. Another key with the same address and length is the same.
    place: Option<(*const u8, usize)>,
    pub(super) column: usize,
    pub(super) affinity: Affinity,
}

impl Plan {
    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    #[inline]
    pub(super) fn field(&self, place: usize) -> &Field {
        &self.fields[place]
    }

    /// The place of a key, which is usually the `expected` one.
    #[inline]
    pub(super) fn find(&self, key: &str, expected: usize) -> Option<usize> {
        match self.fields.get(expected) {
            Some(field) if field.key == key => Some(expected),
            _ => self.fields.iter().position(|field| field.key == key),
        }
    }

    /// The place of a `'static` key, whose bytes are compared only once.
    #[inline(always)]
    pub(super) fn find_static(&mut self, key: &'static str, expected: usize) -> Option<usize> {
        match self.fields.get(expected) {
            Some(field) if field.place == Some((key.as_ptr(), key.len())) => Some(expected),
            _ => self.find_new(key, expected),
        }
    }

    #[cold]
    #[inline(never)]
    fn find_new(&mut self, key: &'static str, expected: usize) -> Option<usize> {
        let found = self.find(key, expected)?;
        self.fields[found].place = Some((key.as_ptr(), key.len()));
        Some(found)
    }

    /// The place of the field that belongs to a column.
    pub(super) fn place_of(&self, column: usize) -> Option<usize> {
        self.fields.iter().position(|field| field.column == column)
    }

    /// The names of the columns, except for column `without`.
    pub(super) fn names<'i>(&self, info: &'i TableInfo, without: Option<usize>) -> Vec<&'i str> {
        let fields = self.fields.iter().enumerate().filter(|(place, _)| Some(*place) != without);
        fields.map(|(_, field)| info.columns[field.column].name.as_str()).collect()
    }

    /// Adds a field.
    ///
    /// # Errors
    /// If the table has no column for it.
    pub(super) fn add(&mut self, key: &str, info: &TableInfo) -> Result<(), Error> {
        let (table, name) = (quote(&info.name), quote(key));
        let Some(column) = info.column(key) else {
            let message = format!("the table {table} has no column {name}");
            return Err(Error::new(ErrorKind::Missing, message));
        };
        if info.columns[column].is_generated {
            let message = format!("the column {name} of {table} is generated");
            return Err(Error::new(ErrorKind::Unfit, message));
        }
        if self.place_of(column).is_some() {
            let message = format!("the row has two values for the column {name} of {table}");
            return Err(Error::new(ErrorKind::Missing, message));
        }
        self.fields.push(Field { key: key.to_owned(), place: None, column, affinity: info.columns[column].affinity });
        Ok(())
    }
}
