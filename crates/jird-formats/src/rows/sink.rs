//! The event sink that makes rows of records.

use super::Row;
use super::json::Json;
use crate::cell::Cell;
use jird::event::{Interest, JsonText, Key, Numeral, Place, Sink, Timestamp};
use jird::hooks::event::KeyTable;

/// Receives rows.
pub trait Table {
    /// Why the table stops.
    type Error;

    /// Adds a column for a key that no record had before. The first column is 0. The call comes in the middle of a
    /// record, before that record's row. With [`Interest::Skip`] the table says that it never wants the key's values;
    /// their cells stay missing. Only the first 256 skipped keys become columns; for any other skipped key this method
    /// is called each time the key comes.
    fn add_column(&mut self, name: &str) -> Result<Interest, Self::Error>;
    /// Puts a scalar into the row of the current record, which may still be abandoned. By default the scalar is stored
    /// as it comes. A table that wants a number's value converts it here, before the number's text is copied.
    #[inline(always)]
    fn put(&mut self, row: &mut Row, column: usize, cell: Cell<'_>) {
        row.put(column, cell);
    }
    /// Receives a complete record, with a cell for each column so far. A table that writes the row later swaps it for
    /// another one, whose memory is then reused.
    fn add_row(&mut self, row: &mut Row, place: Place) -> Result<(), Self::Error>;
    /// All rows have come: the table commits.
    fn finish(&mut self) -> Result<(), Self::Error>;
}

/// Turns records into rows: an object's members become cells, and nested values become JSON text. If a key repeats
/// within its object, the first value counts. A record that is not an object has one cell, in the column `value`.
///
/// A key is first compared with the one at the same place in the record before, so records of one shape cost one
/// comparison for each key.
#[derive(Debug)]
pub struct Rows<T> {
    table: T,
    keys: KeyTable,
    wanted: Vec<bool>,
    /// The number of columns that are not wanted.
    skipped: usize,
    /// The column to try first for each of the source's key numbers; `u32::MAX` where it is not known.
    numbers: Vec<u32>,
    row: Row,
    place: Place,
    /// The column of the next value.
    column: usize,
    /// The number of open objects and arrays.
    depth: usize,
    /// The JSON text of the nested value.
    json: Json,
}

/// The column of records that are not objects, and of rows that would have no column.
pub(crate) const VALUE: &str = "value";
/// The most keys that are remembered as not wanted; each takes a cell in every row. There is a limit because every
/// record may have other keys.
const SKIPPED_MAX: usize = 1 << 8;
/// The column of values that are not wanted but come all the same.
const NOWHERE: usize = usize::MAX;

impl<T: Table> Rows<T> {
    /// Rows for `table`, which has no columns yet.
    pub fn new(table: T) -> Self {
        Self {
            table,
            keys: KeyTable::new(),
            wanted: Vec::new(),
            skipped: 0,
            numbers: Vec::new(),
            row: Row::default(),
            place: Place::default(),
            column: 0,
            depth: 0,
            json: Json::default(),
        }
    }

    /// Rows for a table that has columns of these names, in this order.
    pub fn with_columns<'n>(table: T, names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut rows = Self::new(table);
        for name in names {
            rows.keys.insert(name);
        }
        rows.wanted.resize(rows.keys.len(), true);
        rows
    }

    /// The table.
    pub fn table(&self) -> &T {
        &self.table
    }

    /// The table, to change.
    pub fn table_mut(&mut self) -> &mut T {
        &mut self.table
    }

    /// The table.
    pub fn into_table(self) -> T {
        self.table
    }

    /// All columns so far, including those that are not wanted.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.keys.names()
    }

    /// The column of a key; for a new key, the next new column. [`NOWHERE`] if the key has none.
    #[inline]
    fn column_of(&mut self, key: Key<'_>) -> Result<usize, T::Error> {
        // The guess is the column that this number had before, perhaps in another source. Without a number, it is the
        // column after that of the previous key.
        let numbered = key.number().and_then(|number| self.numbers.get(number as usize));
        let guess = numbered.copied().unwrap_or(self.column.wrapping_add(1) as u32);
        let column = match self.keys.get_near(key.text(), guess) {
            Some(column) => column,
            None => match self.add_column(key.text())? {
                Some(column) => column,
                None => return Ok(NOWHERE),
            },
        };
        if let Some(number) = key.number()
            && guess != column
        {
            let number = number as usize;
            if self.numbers.len() <= number {
                self.numbers.resize(number + 1, u32::MAX);
            }
            self.numbers[number] = column;
        }
        Ok(column as usize)
    }

    #[cold]
    fn add_column(&mut self, name: &str) -> Result<Option<u32>, T::Error> {
        let is_wanted = self.table.add_column(name)? == Interest::Take;
        if !is_wanted {
            if self.skipped == SKIPPED_MAX {
                return Ok(None);
            }
            self.skipped += 1;
        }
        self.wanted.push(is_wanted);
        let column = self.keys.insert(name);
        self.row.widen(self.keys.len());
        Ok(Some(column))
    }

    /// A scalar becomes a cell, or a part of the nested value.
    #[inline(always)]
    fn scalar(&mut self, cell: Cell<'_>) -> Result<(), T::Error> {
        match self.depth {
            0 => return self.value(cell),
            1 => self.table.put(&mut self.row, self.column, cell),
            _ => self.json.cell(cell),
        }
        Ok(())
    }

    /// The record as a whole.
    #[inline(never)]
    fn value(&mut self, cell: Cell<'_>) -> Result<(), T::Error> {
        self.column = self.column_of(Key::new(VALUE))?;
        if self.column != NOWHERE {
            self.table.put(&mut self.row, self.column, cell);
        }
        Ok(())
    }

    fn open(&mut self, bracket: u8) {
        if self.depth == 1 {
            self.json.begin();
        }
        self.json.open(bracket);
        self.depth += 1;
    }

    /// Closes a container within the record; the outermost one completes its JSON text.
    fn close(&mut self, bracket: u8) {
        self.depth -= 1;
        self.json.close(bracket);
        if self.depth == 1 {
            let json = core::mem::take(&mut self.json.text);
            let text = core::str::from_utf8(&json).expect("strings and ASCII were written");
            if self.column != NOWHERE {
                self.row.put(self.column, Cell::Json(text));
            }
            self.json.text = json;
        }
    }
}

impl<T: Table> Sink for Rows<T> {
    type Error = T::Error;

    fn begin_record(&mut self, place: Place) -> Result<(), T::Error> {
        self.row.clear(self.keys.len());
        (self.place, self.column, self.depth) = (place, NOWHERE, 0);
        Ok(())
    }

    fn end_record(&mut self) -> Result<(), T::Error> {
        self.table.add_row(&mut self.row, self.place)
    }

    #[inline]
    fn begin_object(&mut self) -> Result<(), T::Error> {
        if self.depth > 0 {
            self.open(b'{');
        } else {
            self.depth = 1;
        }
        Ok(())
    }

    #[inline]
    fn key(&mut self, key: Key<'_>) -> Result<Interest, T::Error> {
        if self.depth > 1 {
            self.json.key(key.text());
            return Ok(Interest::Take);
        }
        let column = self.column_of(key)?;
        if column == NOWHERE {
            return Ok(Interest::Skip);
        }
        self.column = column;
        Ok(Interest::take_if(self.wanted[column] && self.row.is_missing(column)))
    }

    #[inline]
    fn end_object(&mut self) -> Result<(), T::Error> {
        if self.depth > 1 {
            self.close(b'}');
        }
        Ok(())
    }

    fn begin_array(&mut self) -> Result<(), T::Error> {
        if self.depth == 0 {
            self.column = self.column_of(Key::new(VALUE))?;
            self.depth = 1;
        }
        self.open(b'[');
        Ok(())
    }

    fn end_array(&mut self) -> Result<(), T::Error> {
        self.close(b']');
        Ok(())
    }

    #[inline]
    fn null(&mut self) -> Result<(), T::Error> {
        self.scalar(Cell::Null)
    }

    #[inline]
    fn bool(&mut self, value: bool) -> Result<(), T::Error> {
        self.scalar(Cell::Bool(value))
    }

    #[inline]
    fn number(&mut self, number: Numeral<'_>) -> Result<(), T::Error> {
        self.scalar(Cell::Number(number))
    }

    #[inline]
    fn string(&mut self, text: &str) -> Result<(), T::Error> {
        self.scalar(Cell::Text(text))
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), T::Error> {
        self.scalar(Cell::Bytes(bytes))
    }

    fn timestamp(&mut self, time: Timestamp) -> Result<(), T::Error> {
        self.scalar(Cell::Timestamp(time))
    }

    /// A scalar becomes a cell; any other text is copied.
    fn json(&mut self, text: JsonText<'_>) -> Result<(), T::Error> {
        let json = text.as_str();
        if self.depth > 1 || self.depth == 1 && json.starts_with(['{', '[']) {
            self.scalar(Cell::Json(json))
        } else {
            text.send(self)
        }
    }

    fn finish(&mut self) -> Result<(), T::Error> {
        self.table.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::convert::Infallible;
    use jird::event::{self, JsonSource};

    /// Skips the columns that begin with `-`.
    #[derive(Default)]
    struct Lines(Vec<String>);

    impl Table for Lines {
        type Error = Infallible;

        fn add_column(&mut self, name: &str) -> Result<Interest, Infallible> {
            self.0.push(format!("column {name}"));
            Ok(Interest::take_if(!name.starts_with('-')))
        }
        fn add_row(&mut self, row: &mut Row, _place: Place) -> Result<(), Infallible> {
            let cell = |cell: Cell<'_>| match cell {
                Cell::Missing => "missing".to_owned(),
                Cell::Json(json) => format!("json {json}"),
                cell => {
                    let mut json = event::JsonSink::new(Vec::new());
                    cell.send(&mut json).unwrap();
                    String::from_utf8(json.so_far().to_vec()).unwrap()
                }
            };
            self.0.push(row.cells().map(cell).collect::<Vec<_>>().join(" | "));
            Ok(())
        }
        fn finish(&mut self) -> Result<(), Infallible> {
            Ok(())
        }
    }

    fn lines(text: &str) -> Vec<String> {
        let mut rows = Rows::new(Lines::default());
        event::copy(&mut JsonSource::from_slice(text.as_bytes()), &mut rows).unwrap();
        rows.into_table().0
    }

    #[test]
    fn the_keys_of_another_source_have_other_numbers() {
        let mut rows = Rows::new(Lines::default());
        for names in [["a", "b"], ["b", "a"], ["c", "a"]] {
            rows.begin_record(Place::default()).unwrap();
            rows.begin_object().unwrap();
            for (number, name) in (0..).zip(names) {
                assert_eq!(rows.key(Key::numbered(name, number)), Ok(Interest::Take));
                rows.string(name).unwrap();
            }
            rows.end_object().unwrap();
            rows.end_record().unwrap();
        }
        let wanted = ["column a", "column b", "\"a\" | \"b\"", "\"a\" | \"b\"", "column c", "\"a\" | missing | \"c\""];
        assert_eq!(rows.into_table().0, wanted);
    }

    #[test]
    fn records_become_rows_with_a_column_for_each_key() {
        let text =
            r#"{"a":1.50,"b":{"x":[1,{"y":null}],"z":"\u00e9\n"},"a":2} {"c":null,"a":"t","-d":[1]} {"b":[]} {}"#;
        let wanted = [
            "column a",
            "column b",
            r#"1.50 | json {"x":[1,{"y":null}],"z":"é\n"}"#,
            "column c",
            "column -d",
            "\"t\" | missing | null | missing",
            "missing | json [] | missing | missing",
            "missing | missing | missing | missing",
        ];
        assert_eq!(lines(text), wanted);
    }

    #[test]
    fn skipped_keys_take_no_memory() {
        let mut rows = Rows::new(Lines::default());
        for record in 0..6000 {
            let text = format!(r#"{{"a":{record},"-{record}":[1],"b":true}}"#);
            jird::event::Source::send(&mut JsonSource::from_slice(text.as_bytes()), &mut rows).unwrap();
            let told = core::mem::take(&mut rows.table.0).pop().unwrap();
            assert!(told.starts_with(&record.to_string()) && told.contains("true"), "{told}");
        }
        assert_eq!(rows.columns().count(), SKIPPED_MAX + 2);
    }

    #[test]
    fn records_that_are_not_objects_go_to_the_column_value() {
        let text = r#"1 [1,[2],{"a":3}] {"value":"x","b":0} null [] "y""#;
        let wanted = [
            "column value",
            "1",
            r#"json [1,[2],{"a":3}]"#,
            "column b",
            "\"x\" | 0",
            "null | missing",
            "json [] | missing",
            "\"y\" | missing",
        ];
        assert_eq!(lines(text), wanted);
    }
}
