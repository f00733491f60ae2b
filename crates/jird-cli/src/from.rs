//! The format of inputs that may have any format, as an argument, with the other notations of JSON.

use crate::format;
use crate::lenient::{self, Notation};
use anyhow::{Result, bail};
use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use jird::lenient::{Allow, Leniency};
use jird_formats::files::FileFormat;

/// The format of inputs of any format, and what is read besides strict JSON.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct FromArgs {
    /// The format of the inputs [default: by the name, or the first bytes]
    #[arg(long, value_parser = any_parser(), value_name = "FORMAT")]
    from: Option<AnyFormat>,
    /// What else is accepted in JSON, separated by commas: comments, bare-keys, …, which `jird fmt --help` lists
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = lenient::parser(), hide_possible_values = true)]
    allow: Vec<Allow>,
}

/// A format, or another notation of JSON.
#[derive(Clone, Copy, Debug)]
enum AnyFormat {
    Format(FileFormat),
    Notation(Notation),
}

impl FromArgs {
    /// The format, if it is given. Of another notation, the name or the text says whether it is lines.
    pub(crate) fn format(&self) -> Option<FileFormat> {
        match self.from {
            Some(AnyFormat::Format(format)) => Some(format),
            Some(AnyFormat::Notation(_)) | None => None,
        }
    }

    /// What is read besides strict JSON.
    ///
    /// # Errors
    /// If the format is none of JSON.
    pub(crate) fn leniency(&self) -> Result<Leniency> {
        let from = match self.from {
            Some(AnyFormat::Notation(notation)) => notation,
            Some(AnyFormat::Format(format)) if !matches!(format, FileFormat::Json | FileFormat::Ndjson) => {
                if !self.allow.is_empty() {
                    bail!("--allow is for JSON, and the format is {}", format.name());
                }
                Notation::Json
            }
            Some(AnyFormat::Format(_)) | None => Notation::Json,
        };
        Ok(from.leniency(&self.allow))
    }
}

/// The formats, and the other notations of JSON.
fn any_parser() -> impl TypedValueParser<Value = AnyFormat> {
    let notations = [Notation::Jsonc, Notation::Json5];
    let more = notations.iter().filter_map(ValueEnum::to_possible_value);
    PossibleValuesParser::new(FileFormat::all().map(format::value).chain(more)).map(move |name| {
        let notation = Notation::from_str(&name, false).ok().filter(|notation| !matches!(notation, Notation::Json));
        let named = FileFormat::named(&name).map(AnyFormat::Format).or(notation.map(AnyFormat::Notation));
        named.unwrap_or_else(|| unreachable!("one of the possible values"))
    })
}
