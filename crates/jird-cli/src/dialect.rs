//! The options for CSV that is read.

use jird_formats::DialectChoice;

/// How CSV is written that is read.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct DialectArgs {
    /// What separates two fields of CSV that is read, such as ; or |, or `tab` [default: a comma; in TSV a tab]
    #[arg(long, value_name = "CHAR", value_parser = byte)]
    delimiter: Option<u8>,
    /// What surrounds fields of CSV that is read, or `none` [default: "]
    #[arg(long, value_name = "CHAR", value_parser = quote)]
    quote: Option<Quote>,
    /// The first record of CSV that is read has no names: the columns are column1, column2, …
    #[arg(long)]
    no_header: bool,
}

/// A byte that surrounds fields, or none.
#[derive(Clone, Copy, Debug)]
struct Quote(Option<u8>);

impl DialectArgs {
    pub(crate) fn choice(self) -> DialectChoice {
        DialectChoice {
            delimiter: self.delimiter,
            quote: self.quote.map(|Quote(quote)| quote),
            header: self.no_header.then_some(false),
        }
    }
}

fn byte(typed: &str) -> Result<u8, String> {
    match typed.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !matches!(byte, b'\n' | b'\r') => Ok(*byte),
        _ => Err("it is one ASCII character, or `tab`".to_owned()),
    }
}

fn quote(typed: &str) -> Result<Quote, String> {
    if typed == "none" { Ok(Quote(None)) } else { byte(typed).map(Some).map(Quote) }
}
