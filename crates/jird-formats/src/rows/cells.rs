//! JSON texts as cells.

use super::json::Json;
use crate::cell::Cell;
use jird::event::Numeral;
use jird::hooks::event::send_text;
use jird::record::Field;
use jird::{Kind, event::JsonText};

/// Makes cells of JSON texts, for programs that have the text of each column but no records. Each cell is the one that
/// [`Rows`](crate::Rows) makes of the same value in a record.
///
/// ```
/// use jird_formats::{Cell, JsonCells};
/// let mut cells = JsonCells::default();
/// assert!(matches!(cells.cell(r#""say \"no\"""#), Cell::Text("say \"no\"")));
/// assert!(matches!(cells.cell(r#"{"a": [1.50, "\u0062"]}"#), Cell::Json(r#"{"a":[1.50,"b"]}"#)));
/// assert!(matches!(cells.cell("null"), Cell::Null));
/// ```
#[derive(Debug, Default)]
pub struct JsonCells {
    text: String,
    minified: Vec<u8>,
    json: Json,
}

impl JsonCells {
    /// The cell of a JSON value that was checked before. A text that is not JSON makes a wrong cell, but never an
    /// unsafe one.
    #[inline]
    pub fn cell<'s>(&'s mut self, text: &'s str) -> Cell<'s> {
        let field = Field::from_raw(text);
        match field.kind() {
            None => Cell::Missing,
            Some(Kind::Null) => Cell::Null,
            Some(Kind::Bool) => Cell::Bool(field.as_bool() == Some(true)),
            Some(Kind::Number) => field.as_number().map_or(Cell::Null, |number| Cell::Number(Numeral::Text(number))),
            Some(Kind::String) => field.text(&mut self.text).map_or(Cell::Null, Cell::Text),
            Some(Kind::Array | Kind::Object) => Cell::Json(self.nested(text)),
        }
    }

    /// The text as [`Json`] would write it, value by value. If nothing is escaped, only white space differs.
    fn nested<'s>(&'s mut self, text: &'s str) -> &'s str {
        if text.as_bytes().contains(&b'\\') {
            self.json.begin();
            return match send_text(text.as_bytes(), &mut self.json) {
                Ok(()) => core::str::from_utf8(&self.json.text).unwrap_or(text),
                Err(_) => text,
            };
        }
        if !has_space_between(text.as_bytes()) {
            return text;
        }
        JsonText::check(text.as_bytes(), &mut self.minified).map_or(text, JsonText::as_str)
    }
}

/// Whether there may be white space between tokens. Strings contain no white space but blanks. White space between two
/// tokens either begins right after a bracket, a colon or a comma, or ends right before one.
///
/// The loop has no branches, so that many bytes are compared at once.
fn has_space_between(text: &[u8]) -> bool {
    let opens = |byte| matches!(byte, b'{' | b'[' | b':' | b',');
    let closes = |byte| matches!(byte, b'}' | b']' | b':' | b',');
    let around = text.iter().zip(text.iter().skip(1)).zip(text.iter().skip(2));
    around.fold(false, |found, ((before, byte), after)| {
        found | (*byte <= b' ') & ((*byte != b' ') | opens(*before) | closes(*after))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::convert::Infallible;

    #[test]
    fn cells_of_texts_are_those_of_records() {
        use crate::rows::{Row, Rows, Table};
        use jird::event::{Interest, JsonSource, Place};

        struct Shown(String);
        impl Table for Shown {
            type Error = Infallible;
            fn add_column(&mut self, _: &str) -> Result<Interest, Infallible> {
                Ok(Interest::Take)
            }
            fn add_row(&mut self, row: &mut Row, _: Place) -> Result<(), Infallible> {
                self.0 = format!("{:?}", row.cell(0));
                Ok(())
            }
            fn finish(&mut self) -> Result<(), Infallible> {
                Ok(())
            }
        }

        let texts = [
            "null",
            "true",
            "-0",
            "1.50e3",
            "123456789012345678901234567890",
            r#""""#,
            r#""a\n\u00e9\"""#,
            "[]",
            "{}",
            "[ ]",
            "[1, 2]",
            "[1 ,2]",
            "[1\n,2]",
            "{\"a\"\t:1}",
            r#"{"a":"b c, d"}"#,
            r#"{"a": {"b":[true,null,"x"]} }"#,
            r#"{"\u0061":"\u00e9\/", "n":1E+2}"#,
            r#"{"a":1,"a":2}"#,
            r#"[" ","a ,b","x :"]"#,
        ];
        let mut cells = JsonCells::default();
        for text in texts {
            let mut rows = Rows::new(Shown(String::new()));
            let record = format!("{{\"k\": {text}}}");
            jird::event::copy(&mut JsonSource::from_slice(record.as_bytes()), &mut rows).unwrap();
            assert_eq!(format!("{:?}", cells.cell(text)), rows.into_table().0, "{text}");
        }
        assert!(!has_space_between(br#"{"a":"b c","d":["e f"]}"#));
    }
}
