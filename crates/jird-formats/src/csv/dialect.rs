//! Which bytes delimit, quote and end.

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
    /// Stands between two fields.
    pub delimiter: u8,
    /// Stands around a field that may have any byte in it. It has that meaning at a field's first byte only. `None`: there are no
    /// quotes.
    pub quote: Option<u8>,
    /// Within quotes, says that the next byte has no meaning but itself.
    pub escape: Option<u8>,
    /// Within quotes, two quotes are one.
    pub double_quote: bool,
    /// A line that begins with it is none: up to the next line feed.
    pub comment: Option<u8>,
    /// Ends a record.
    pub terminator: Terminator,
    /// The first record has the columns' names.
    pub header: bool,
}

/// What ends a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Terminator {
    /// Read: any of `\n`, `\r\n` and `\r`, also mixed. Written: `\n`.
    #[default]
    Lines,
    /// Read: as [`Lines`](Self::Lines). Written: `\r\n`.
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

impl Dialect {
    /// Tabs in place of commas.
    pub fn tsv() -> Self {
        Self { delimiter: b'\t', ..Self::default() }
    }

    /// The bytes that end a record when it is read.
    pub(super) fn ends(&self) -> [u8; 2] {
        match self.terminator {
            Terminator::Lines | Terminator::Crlf => [b'\n', b'\r'],
            Terminator::Byte(byte) => [byte; 2],
        }
    }

    /// Why it makes no sense, if it does not.
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
            return Some("the dialect has one byte for two things");
        }
        None
    }

    /// The parser that decides what is right.
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
