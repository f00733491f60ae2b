//! The options for text that is almost JSON.

use crate::format;
use crate::outcome::BadData;
use anyhow::{Result, bail};
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use jird::lenient::{Allow, Leniency, LenientError, to_strict};
use jird_formats::files::FileFormat;
use std::borrow::Cow;

/// What is read besides strict JSON.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct LenientArgs {
    /// What the documents are written in
    #[arg(long, value_enum, value_name = "NOTATION", default_value_t = Notation::Json)]
    from: Notation,
    /// What else is accepted, separated by commas
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = parser())]
    allow: Vec<Allow>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Notation {
    /// Strict JSON (RFC 8259)
    Json,
    /// JSON with comments and trailing commas
    Jsonc,
    /// JSON5; NaN and infinities need --allow nonfinite-as-null or nonfinite-as-text
    Json5,
}

impl LenientArgs {
    fn leniency(&self) -> Leniency {
        let notation = match self.from {
            Notation::Json => Leniency::STRICT,
            Notation::Jsonc => Leniency::JSONC,
            Notation::Json5 => Leniency::JSON5,
        };
        self.allow.iter().fold(notation, |leniency, allow| leniency.with(*allow))
    }

    /// Whether nothing but strict JSON is read.
    pub(crate) fn is_strict(&self) -> bool {
        self.leniency() == Leniency::STRICT
    }

    /// The strict text of a document. If only strict JSON is read, it is the text itself, which is not checked here.
    ///
    /// # Errors
    /// [`LenientError`] for the first place that is not allowed.
    pub(crate) fn strict<'t>(&self, text: &'t [u8]) -> Result<Cow<'t, [u8]>, LenientError> {
        if self.is_strict() { Ok(Cow::Borrowed(text)) } else { to_strict(text, self.leniency()) }
    }

    /// Reads the strict text of a document. An error of `read` in a text that was rewritten has its place in that text, and
    /// says so.
    pub(crate) fn read<T>(&self, text: &[u8], read: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        let strict = self.strict(text)?;
        read(&strict).map_err(|error| match (&strict, error.downcast_ref::<jird::Error>()) {
            (Cow::Owned(strict), Some(wrong)) => {
                BadData(format!("in the text as strict JSON: {}", wrong.locate(strict))).into()
            }
            _ => error,
        })
    }
}

/// The format of inputs of any format, and what is read besides strict JSON.
#[cfg(feature = "query")]
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct FromArgs {
    /// The format of the inputs [default: by the name, or the first bytes]
    #[arg(long, value_parser = any_parser(), value_name = "FORMAT")]
    from: Option<AnyFormat>,
    /// What else is accepted in JSON, separated by commas: comments, bare-keys, …, which `jird fmt --help` lists
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = parser(), hide_possible_values = true)]
    allow: Vec<Allow>,
}

/// A format, or another notation of JSON.
#[cfg(feature = "query")]
#[derive(Clone, Copy, Debug)]
enum AnyFormat {
    Format(FileFormat),
    Notation(Notation),
}

#[cfg(feature = "query")]
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
        Ok(LenientArgs { from, allow: self.allow.clone() }.leniency())
    }
}

/// The formats, and the other notations of JSON.
#[cfg(feature = "query")]
fn any_parser() -> impl TypedValueParser<Value = AnyFormat> {
    let notations = [Notation::Jsonc, Notation::Json5];
    let more = notations.iter().filter_map(ValueEnum::to_possible_value);
    PossibleValuesParser::new(FileFormat::all().map(format::value).chain(more)).map(move |name| {
        let notation = Notation::from_str(&name, false).ok().filter(|notation| !matches!(notation, Notation::Json));
        let named = FileFormat::named(&name).map(AnyFormat::Format).or(notation.map(AnyFormat::Notation));
        named.unwrap_or_else(|| unreachable!("one of the possible values"))
    })
}

/// The message for a text that is refused: what is wrong, and the line with a caret below it.
pub(crate) fn shown(error: &LenientError) -> String {
    format!("{error}\n  {}\n  {:caret$}^", error.snippet(), "", caret = error.caret())
}

/// The message for a text that is refused, without its line and column.
pub(crate) fn brief(error: &LenientError) -> String {
    format!("{error:#} (byte {})", error.offset())
}

fn parser() -> impl TypedValueParser<Value = Allow> {
    let value = |allow: Allow| PossibleValue::new(allow.name()).help(allow.about());
    PossibleValuesParser::new(Allow::ALL.map(value)).map(|name| {
        let named = Allow::ALL.into_iter().find(|allow| allow.name() == name);
        named.unwrap_or_else(|| unreachable!("one of the possible values"))
    })
}
