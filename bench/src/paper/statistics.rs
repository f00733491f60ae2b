//! Tables 5 and 6: the contents of the documents, counted over jird's tape, and their sizes.

use jird::{Kind, Value};

use super::table::{Table, column};
use super::{documents, text};
use crate::options::Options;

/// The contents of a document, counted as in table 5.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Statistics {
    pub(super) bytes: f64,
    integers: u64,
    pub(super) floats: u64,
    /// Both keys and values.
    strings: u64,
    non_ascii: u64,
    objects: u64,
    arrays: u64,
    nulls: u64,
    trues: u64,
    falses: u64,
    /// Structural and pseudo-structural characters: brackets, colons, commas, and the first byte of each scalar.
    pub(super) structurals: u64,
}

impl Statistics {
    /// Counts while walking the tape.
    pub(super) fn of(text: &[u8]) -> Result<Self, String> {
        let document = jird::parse(text).map_err(|error| error.to_string())?;
        let non_ascii = text.iter().filter(|byte| !byte.is_ascii()).count() as u64;
        let mut statistics = Self { bytes: text.len() as f64, non_ascii, ..Self::default() };
        statistics.count(document.root());
        Ok(statistics)
    }

    fn count(&mut self, value: Value<'_>) {
        match value.kind() {
            Kind::Null => self.nulls += 1,
            Kind::Bool if value.as_bool() == Some(true) => self.trues += 1,
            Kind::Bool => self.falses += 1,
            Kind::Number if value.is_integer() => self.integers += 1,
            Kind::Number => self.floats += 1,
            Kind::String => self.strings += 1,
            Kind::Array => {
                self.arrays += 1;
                value.elements().for_each(|element| self.count(element));
            }
            Kind::Object => {
                self.objects += 1;
                for (_, member) in value.entries() {
                    self.strings += 1;
                    self.count(member);
                }
            }
        }
        let commas = value.len().saturating_sub(1) as u64;
        self.structurals += match value.kind() {
            Kind::Array => 2 + commas,
            // A key and a colon for each member.
            Kind::Object => 2 + commas + 2 * value.len() as u64,
            _ => 1,
        };
    }
}

/// Table 5.
pub(super) fn contents(options: &Options) -> Result<Table, String> {
    let mut rows = Vec::new();
    for name in documents(options) {
        let s = Statistics::of(&text(name)?)?;
        let counts = [
            s.integers,
            s.floats,
            s.strings,
            s.non_ascii,
            s.objects,
            s.arrays,
            s.nulls,
            s.trues,
            s.falses,
            s.structurals,
        ];
        let mut values: Vec<f64> = counts.iter().map(|count| *count as f64).collect();
        values.extend([s.bytes, s.bytes / s.structurals as f64]);
        rows.push((name.to_owned(), values));
    }
    let names =
        ["integer", "float", "string", "non-ascii", "object", "array", "null", "true", "false", "struct.", "bytes"];
    let columns = names.map(|name| column(name, 0)).into_iter().chain([column("byte/struct.", 1)]).collect();
    let notes = vec![
        "string: keys and values; non-ascii: bytes; struct.: brackets, colons, commas and the first byte of each scalar \
         (the paper's own count adds one for the end of the document)"
            .to_owned(),
    ];
    Ok(Table { title: "Table 5: what the documents hold".into(), heading: "file", columns, rows, notes, drawing: None })
}

/// Table 6.
pub(super) fn sizes(options: &Options) -> Result<Table, String> {
    let mut rows = Vec::new();
    for name in documents(options) {
        let text = text(name)?;
        let minified = jird::minify(&text).map_err(|error| error.to_string())?;
        let (small, large) = (minified.len() as f64, text.len() as f64);
        rows.push((name.to_owned(), vec![small, large, 100.0 * small / large]));
    }
    let columns = vec![column("bytes (minified)", 0), column("bytes (original)", 0), column("ratio (%)", 0)];
    let title = "Table 6: sizes of the documents".into();
    let notes = vec!["minified: without white space between tokens (jird::minify)".to_owned()];
    Ok(Table { title, heading: "file", columns, rows, notes, drawing: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structurals_are_brackets_colons_commas_and_starts_of_scalars() {
        let text = br#"{"a": [1, -2.5, "x"], "b": {}, "c": [null, true, false, []]}"#;
        let s = Statistics::of(text).expect("valid");
        assert_eq!((s.integers, s.floats, s.strings, s.objects, s.arrays), (1, 1, 4, 2, 3));
        // 10 brackets, 3 colons, 7 commas, 6 scalars, 3 keys.
        assert_eq!(s.structurals, 10 + 3 + 7 + 6 + 3);
    }
}
