//! Which bytes delimit, quote and end fields and records.

/// A way to write records as text. All bytes are ASCII, and no two are the same.
///
/// ```
/// use jird_formats::Dialect;
/// let semicolons = Dialect { delimiter: b';', comment: Some(b'#'), ..Dialect::default() };
/// assert_eq!(semicolons.quote, Some(b'"'));
/// assert_eq!(Dialect::tsv().delimiter, b'\t');
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// Separates two fields.
    pub delimiter: u8,
    /// Surrounds a field, which may then contain any byte. It has that meaning only as a field's first byte. `None`:
    /// there are no quotes.
    pub quote: Option<u8>,
    /// Within quotes, takes away the special meaning of the next byte.
    pub escape: Option<u8>,
    /// Within quotes, two quotes stand for one.
    pub double_quote: bool,
    /// Begins a comment, if it is a line's first byte. The comment ends at the next line feed.
    pub comment: Option<u8>,
    /// What ends a record.
    pub terminator: Terminator,
    /// Whether the first record has the columns' names.
    pub header: bool,
}

/// What ends a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Terminator {
    /// When reading: any of `\n`, `\r\n` and `\r`, also mixed. When writing: `\n`.
    #[default]
    Lines,
    /// When reading: as [`Lines`](Self::Lines). When writing: `\r\n`.
    Crlf,
    /// This byte.
    Byte(u8),
}

impl Default for Dialect {
    /// RFC 4180, with a header.
    fn default() -> Self {
        Self {
            delimiter: b',',
            quote: Some(b'"'),
            escape: None,
            double_quote: true,
            comment: None,
            terminator: Terminator::Lines,
            header: true,
        }
    }
}

/// The settings given for the dialect of a file; for the rest, the default of its format holds.
///
/// ```
/// use jird_formats::{Dialect, DialectChoice};
/// let german = DialectChoice { delimiter: Some(b';'), ..DialectChoice::default() };
/// assert_eq!(german.of(Dialect::default()), Dialect { delimiter: b';', ..Dialect::default() });
/// assert_eq!(DialectChoice::default().of(Dialect::tsv()), Dialect::tsv());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DialectChoice {
    /// Separates two fields.
    pub delimiter: Option<u8>,
    /// Surrounds a field; `Some(None)`: there are no quotes.
    pub quote: Option<Option<u8>>,
    /// Whether the first record has the columns' names.
    pub header: Option<bool>,
}

impl DialectChoice {
    /// The dialect of a file whose format has this one.
    #[must_use]
    pub fn of(self, format: Dialect) -> Dialect {
        Dialect {
            delimiter: self.delimiter.unwrap_or(format.delimiter),
            quote: self.quote.unwrap_or(format.quote),
            header: self.header.unwrap_or(format.header),
            ..format
        }
    }

    /// Whether anything is given.
    pub fn is_given(self) -> bool {
        self != Self::default()
    }
}

impl Dialect {
    /// Tabs in place of commas.
    pub fn tsv() -> Self {
        Self { delimiter: b'\t', ..Self::default() }
    }

    /// The bytes that end a record when reading.
    pub(super) fn ends(&self) -> [u8; 2] {
        match self.terminator {
            Terminator::Lines | Terminator::Crlf => [b'\n', b'\r'],
            Terminator::Byte(byte) => [byte; 2],
        }
    }

    /// Why the dialect is invalid, if it is.
    pub(super) fn fault(&self) -> Option<&'static str> {
        let [end, other] = self.ends();
        let mut bytes = vec![self.delimiter, end];
        bytes.extend((other != end).then_some(other));
        bytes.extend([self.quote, self.escape, self.comment].into_iter().flatten());
        if !bytes.is_ascii() {
            return Some("the dialect has a byte that is not ASCII");
        }
        bytes.sort_unstable();
        if bytes.windows(2).any(|pair| pair[0] == pair[1]) {
            return Some("the dialect uses one byte for two purposes");
        }
        None
    }

    /// The parser that defines what is valid.
    pub(super) fn core(&self) -> csv_core::Reader {
        let terminator = match self.terminator {
            Terminator::Lines | Terminator::Crlf => csv_core::Terminator::CRLF,
            Terminator::Byte(byte) => csv_core::Terminator::Any(byte),
        };
        csv_core::ReaderBuilder::new()
            .delimiter(self.delimiter)
            .quoting(self.quote.is_some())
            .quote(self.quote.unwrap_or(b'"'))
            .escape(self.escape)
            .double_quote(self.double_quote)
            .terminator(terminator)
            .build()
    }
}
