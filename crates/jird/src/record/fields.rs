//! Reads the wanted fields of one record after the other, and nothing else of them.

mod each;

use super::field::Field;
use super::finder::{Finder, SHORT_BYTES};
use super::grammar::{RecordVerdict, judge_record};
use super::select::{Projection, Select, Slot};
use crate::error::Error;
use crate::fault::{ErrorKind, Fault};
use crate::kernel::Kernel;
use crate::limits::SIZE_MAX;
use crate::policy::{Duplicates, Policy};
use crate::scan::Tokens;
use crate::tape::Parser;
use crate::text::{is_space, trim_end};

/// Reads the fields of a [`Projection`] from records that come one by one. For a few fields of many, this takes less
/// than half the time of [`Record::scan_trusted`](super::Record::scan_trusted), because it does not look at the rest.
/// That holds if all paths are keys; elements of arrays are found by a walk over the whole record, which takes longer.
///
/// The buffers belong to the reader: after the first records it allocates nothing.
///
/// ```
/// use jird::{Path, record::{Field, FieldReader, Projection}};
/// let projection = Projection::new(&[Path::root().key("Elapsed"), Path::root().key("Message")]);
/// let mut reader = FieldReader::new(&projection);
/// let mut sum = 0.0;
/// for event in [r#"{"Message": "slow", "Elapsed": 1.5}"#, r#"{"Elapsed": 2}"#] {
///     let mut fields = [Field::MISSING; 2];
///     reader.read_trusted(event.as_bytes(), &mut fields)?;
///     sum += fields[0].as_number().and_then(|elapsed| elapsed.to_f64()).unwrap_or_default();
/// }
/// assert_eq!(sum, 3.5);
/// # Ok::<(), jird::Error>(())
/// ```
#[derive(Debug)]
pub struct FieldReader<'p> {
    projection: &'p Projection,
    select: Select<'p>,
    finder: Finder,
    policy: Policy,
    kernel: Kernel,
    tokens: Tokens,
    /// Whether a record had a newline. Then each is searched for one first.
    has_newlines: bool,
    parser: Parser,
}

impl<'p> FieldReader<'p> {
    /// A reader with fresh buffers.
    pub fn new(projection: &'p Projection) -> Self {
        Self::with_kernel(projection, Policy::default(), Kernel::best())
    }

    /// A reader for records that are read under a policy, with a given instruction set.
    #[doc(hidden)]
    pub fn with_kernel(projection: &'p Projection, policy: Policy, kernel: Kernel) -> Self {
        Self {
            projection,
            select: Select::new(projection),
            finder: Finder::new(kernel),
            policy,
            kernel,
            tokens: Tokens::default(),
            has_newlines: false,
            parser: Parser::with_kernel(policy, kernel),
        }
    }

    /// Checks a record whole, and finds its fields: slot `i` of the projection goes to `fields[i]`, and
    /// [`Field::MISSING`] if the record does not have it. Linear in the record; copies nothing.
    ///
    /// ```
    /// use jird::{Path, record::{Field, FieldReader, Projection}};
    /// let projection = Projection::new(&[Path::root().key("a").key("b")]);
    /// let mut reader = FieldReader::new(&projection);
    /// let mut fields = [Field::MISSING];
    /// reader.read(br#"{"a": {"b": "\u0062"}}"#, &mut fields)?;
    /// assert_eq!(fields[0].as_str().as_deref(), Some("b"));
    /// assert_eq!(reader.read(br#"{"a": {"b": 1}, }"#, &mut fields).unwrap_err().offset(), 16);
    /// # Ok::<(), jird::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Record::scan`](super::Record::scan). `fields` is unchanged then.
    ///
    /// # Panics
    /// If `fields` is not as long as the projection has slots.
    pub fn read<'t>(&mut self, record: &'t [u8], fields: &mut [Field<'t>]) -> Result<(), Error> {
        assert_eq!(fields.len(), self.projection.slots(), "one field for each slot");
        let Some(text) = self.checked(record) else {
            self.parser.validate(record)?;
            return self.read_trusted(record, fields);
        };
        let is_tight = !self.tokens.has_loose_colon(text.as_bytes());
        self.finder.find_among(text.as_bytes(), &self.tokens, &mut 0, is_tight, &mut self.select);
        for (field, slot) in fields.iter_mut().zip(self.select.found()) {
            *field = Field::new(slot.kind, slot.escaped, &text[slot.range()]);
        }
        if !self.projection.whole().is_empty() {
            let root = Slot::whole(self.tokens.slices().0[0], 0, text.len());
            for &slot in self.projection.whole() {
                fields[slot] = Field::new(root.kind, root.escaped, text);
            }
        }
        Ok(())
    }

    /// The record without white space around it, if it is short and masks show that it is valid. Its tokens are
    /// `self.tokens` then.
    fn checked<'t>(&mut self, record: &'t [u8]) -> Option<&'t str> {
        if record.len() > SHORT_BYTES || self.policy.duplicates == Duplicates::Refuse {
            return None;
        }
        let text = trimmed(record);
        let has_newline = || memchr::memchr(b'\n', text).is_some();
        if self.has_newlines && has_newline() {
            return None;
        }
        self.tokens.clear();
        match judge_record(self.kernel, text, &mut self.tokens, &self.policy) {
            RecordVerdict::Right(text) => Some(text),
            RecordVerdict::Wrong => None,
            RecordVerdict::Unclear => {
                // A newline would be white space here, and not the end of a record.
                self.has_newlines = has_newline();
                None
            }
        }
    }

    /// Finds the fields of a record that was checked before, without checking it again: slot `i` of the projection
    /// goes to `fields[i]`, and [`Field::MISSING`] if the record does not have it. Linear in the record; copies nothing.
    ///
    /// Reads the record up to the last wanted field. It reads all of the record, and takes longer, if a path leads to an
    /// element of an array, or if a key before that field has an escape or is followed by white space.
    ///
    /// This function is safe on any text. In a text that is not JSON it finds *some* fields. Their texts are UTF-8,
    /// and numbers, literals and the quotes of strings are checked.
    ///
    /// # Errors
    /// If a field that was found is not a value, or is not UTF-8, which happens only if the text is not JSON; and
    /// `size` for a text of 4 GiB. The fields are some of both records then.
    ///
    /// # Panics
    /// If `fields` is not as long as the projection has slots.
    pub fn read_trusted<'t>(&mut self, record: &'t [u8], fields: &mut [Field<'t>]) -> Result<(), Error> {
        assert_eq!(fields.len(), self.projection.slots(), "one field for each slot");
        if record.len() > SIZE_MAX {
            return Err(Error::new(ErrorKind::Size, SIZE_MAX as u64));
        }
        let start = start(record);
        let text = &record[start..];
        self.finder.find(text, &mut self.select);
        let fault = |fault: Fault| Error::in_text(fault, text).shifted(start as u64);
        for (field, &slot) in fields.iter_mut().zip(self.select.found()) {
            Field::fill(field, text, slot).map_err(fault)?;
        }
        for &slot in self.projection.whole() {
            let root = Slot::whole(Slot::first_kind(text), 0, trim_end(text, 0, text.len()));
            Field::fill(&mut fields[slot], text, root).map_err(fault)?;
        }
        Ok(())
    }
}

/// The offset of the first byte that is not white space.
fn start(record: &[u8]) -> usize {
    record.iter().position(|&byte| !is_space(byte)).unwrap_or(record.len())
}

/// The record without white space around it.
fn trimmed(record: &[u8]) -> &[u8] {
    let start = start(record);
    &record[start..trim_end(record, start, record.len())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Path;

    #[test]
    fn a_long_record_is_read_chunk_by_chunk() {
        let root = Path::root;
        let by_walk = Projection::new(&[root().key("a").key("b").index(1), root().key("c")]);
        let by_sweep = Projection::new(&[root().key("a").key("b"), root().key("c")]);
        let long = "[1, \"}\"],".repeat(SHORT_BYTES / 8);
        let deep = ["[".repeat(3000), "]".repeat(3000)].concat();
        for (rest, is_deep) in [("0", false), (&*deep, true)] {
            let text = format!(r#" {{"x":[{long}{rest}], "a" :{{"b" : [10, 20]}},"c":"\u0041"}} "#);
            for (projection, wanted) in [(&by_walk, "20"), (&by_sweep, "[10, 20]")] {
                for kernel in Kernel::available() {
                    let mut reader = FieldReader::with_kernel(projection, Policy::default(), kernel);
                    let mut fields = [Field::MISSING; 2];
                    let read = reader.read(text.as_bytes(), &mut fields);
                    assert_eq!(read.err().map(|error| error.kind()), is_deep.then_some(ErrorKind::Depth));
                    assert!(is_deep || fields.map(Field::raw) == [wanted, r#""\u0041""#], "{fields:?}");
                    let mut trusted = [Field::MISSING; 2];
                    reader.read_trusted(text.as_bytes(), &mut trusted).expect("it is JSON");
                    assert_eq!(trusted.map(Field::raw), [wanted, r#""\u0041""#], "{kernel:?}");
                    assert_eq!(trusted[1].as_str().as_deref(), Some("A"));
                }
            }
        }
    }

    #[test]
    fn records_of_one_and_of_many_lines_are_read_in_turn() {
        let projection = Projection::new(&[Path::root().key("b")]);
        let mut reader = FieldReader::new(&projection);
        for text in
            ["{\"b\":1}", "{\n\"a\": [\n],\n\"b\": 1\n}", "{\n\"b\":1}", "{\"a\":0,\"b\":1}\n", "\n{\"b\":1}"].repeat(2)
        {
            let mut fields = [Field::MISSING];
            reader.read(text.as_bytes(), &mut fields).expect("it is JSON");
            assert_eq!(fields[0].raw(), "1", "{text}");
            let broken = text.replace('}', ",}");
            let wanted = crate::validate(broken.as_bytes()).unwrap_err();
            assert_eq!(reader.read(broken.as_bytes(), &mut fields).unwrap_err(), wanted, "{broken}");
        }
    }

    #[test]
    fn what_is_wrong_is_refused_as_a_parse_refuses_it() {
        let projection = Projection::new(&[Path::root().key("a"), Path::root()]);
        let mut reader = FieldReader::new(&projection);
        let texts = [
            "",
            " ",
            "{} {}",
            "1\n2",
            "{\"a\":1}\n{}",
            "{\"a\":\n1}",
            "{\"a\":01}",
            "\"\u{1}\"",
            "\"\\x\"",
            "[1",
            "nul",
            "\t7\n",
        ];
        for text in texts {
            let mut fields = [Field::MISSING; 2];
            let read = reader.read(text.as_bytes(), &mut fields);
            let wanted = crate::parse(text.as_bytes());
            assert_eq!(read.as_ref().err(), wanted.as_ref().err(), "{text:?}");
            let whole = wanted.as_ref().map_or("", |document| core::str::from_utf8(document.root().raw()).unwrap());
            assert_eq!(fields[1].raw(), whole, "{text:?}");
        }
        let policy = Policy { duplicates: Duplicates::Refuse, ..Policy::default() };
        let mut reader = FieldReader::with_kernel(&projection, policy, Kernel::best());
        assert!(reader.read(br#"{"a":1,"b":{"c":2,"c":3}}"#, &mut [Field::MISSING; 2]).is_err());
        assert!(reader.read(br#"{"a":1,"b":{"c":2}}"#, &mut [Field::MISSING; 2]).is_ok());
    }
}
