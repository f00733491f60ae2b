//! Bodies of requests: what is checked before anything is written.

use crate::base::problem::Problem;
use crate::request::catalog::Table;
use jird::event::{self, Failure, Interest, JsonSource, Pattern, Place};
use jird::policy::{Duplicates, Policy};
use jird::{Kind, Parser};
use jird_formats::sqlite::quote;
use jird_formats::{Row, Rows};

/// A checked body: objects without repeated keys.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Input<'b> {
    Object(&'b [u8]),
    Array(&'b [u8]),
    Lines(&'b [u8]),
}

impl<'b> Input<'b> {
    /// Checks a body that is an object, or an array of objects.
    ///
    /// # Errors
    /// 400, with the place of what is wrong.
    pub(crate) fn json(body: &'b [u8]) -> Result<Self, Problem> {
        let mut parser = parser();
        let root = parser.parse(body).map_err(|error| Problem::of_body(&error, body))?;
        match root.kind() {
            Kind::Object => Ok(Self::Object(body)),
            Kind::Array => match root.elements().position(|element| element.kind() != Kind::Object) {
                None => Ok(Self::Array(body)),
                Some(index) => Err(Problem::bad(format!("the body has an element at /{index} that is not an object"))),
            },
            _ => Err(Problem::bad("the body is neither an object nor an array of objects")),
        }
    }

    /// Checks a body that has an object on each line.
    ///
    /// # Errors
    /// As [`json`](Self::json).
    pub(crate) fn lines(body: &'b [u8]) -> Result<Self, Problem> {
        let mut parser = parser();
        let mut offset = 0;
        for (number, line) in (1_u64..).zip(body.split(|byte| *byte == b'\n')) {
            if !line.iter().all(u8::is_ascii_whitespace) {
                let root = parser.parse(line).map_err(|error| Problem::of_line(&error, line, number, offset))?;
                if root.kind() != Kind::Object {
                    return Err(Problem::bad(format!("the body has a value on line {number} that is not an object")));
                }
            }
            offset += line.len() as u64 + 1;
        }
        Ok(Self::Lines(body))
    }

    pub(crate) fn body(&self) -> &'b [u8] {
        let (Self::Object(body) | Self::Array(body) | Self::Lines(body)) = self;
        body
    }
}

/// A parser that refuses keys that repeat: one of the values would be lost.
pub(crate) fn parser() -> Parser {
    Parser::with_policy(Policy { duplicates: Duplicates::Refuse, ..Policy::default() })
}

/// The elements of an array.
pub(crate) fn elements() -> Pattern {
    "/*".parse().expect("it is a pattern")
}

/// The columns that a body, one object, has values for, and the values in the same order.
///
/// # Errors
/// 400 if it is not one object, or has a key that is not a column.
pub(crate) fn object(table: &Table, body: &[u8]) -> Result<(Vec<usize>, Row), Problem> {
    if !matches!(Input::json(body)?, Input::Object(_)) {
        return Err(Problem::bad("the body is not one object"));
    }
    let mut rows = Rows::new(One { table, columns: Vec::new(), row: Row::default() });
    match event::copy(&mut JsonSource::from_slice_trusted(body), &mut rows) {
        Ok(()) => {}
        Err(Failure::Source(error)) => return Err(Problem::of_body(&error, body)),
        Err(Failure::Sink(problem, _)) => return Err(problem),
    }
    let one = rows.into_table();
    Ok((one.columns, one.row))
}

/// Keeps one row.
struct One<'t> {
    table: &'t Table,
    columns: Vec<usize>,
    row: Row,
}

impl jird_formats::Table for One<'_> {
    type Error = Problem;

    fn add_column(&mut self, name: &str) -> Result<Interest, Problem> {
        let Some(column) = self.table.column(name) else {
            return Err(Problem::bad(format!("the column {} is not one of the table", quote(name))));
        };
        self.columns.push(column);
        Ok(Interest::Take)
    }

    fn add_row(&mut self, row: &mut Row, _place: Place) -> Result<(), Problem> {
        core::mem::swap(row, &mut self.row);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Problem> {
        Ok(())
    }
}
