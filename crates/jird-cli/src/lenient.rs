//! The options for text that is almost JSON.

use crate::outcome::BadData;
use anyhow::Result;
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use jird::lenient::{Allow, Leniency, LenientError, to_strict};
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
pub(crate) enum Notation {
    /// Strict JSON (RFC 8259)
    Json,
    /// JSON with comments and trailing commas
    Jsonc,
    /// JSON5; NaN and infinities need --allow nonfinite-as-null or nonfinite-as-text
    Json5,
}

impl Notation {
    /// What is read of it, and what else is allowed.
    pub(crate) fn leniency(self, allow: &[Allow]) -> Leniency {
        let notation = match self {
            Self::Json => Leniency::STRICT,
            Self::Jsonc => Leniency::JSONC,
            Self::Json5 => Leniency::JSON5,
        };
        allow.iter().fold(notation, |leniency, allow| leniency.with(*allow))
    }
}

impl LenientArgs {
    fn leniency(&self) -> Leniency {
        self.from.leniency(&self.allow)
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

/// The message for a text that is refused: what is wrong, and the line with a caret below it.
pub(crate) fn shown(error: &LenientError) -> String {
    format!("{error}\n  {}\n  {:caret$}^", error.snippet(), "", caret = error.caret())
}

/// The message for a text that is refused, without its line and column.
pub(crate) fn brief(error: &LenientError) -> String {
    format!("{error:#} (byte {})", error.offset())
}

/// Reads the names of what may be allowed.
pub(crate) fn parser() -> impl TypedValueParser<Value = Allow> {
    let value = |allow: Allow| PossibleValue::new(allow.name()).help(allow.about());
    PossibleValuesParser::new(Allow::ALL.map(value)).map(|name| {
        let named = Allow::ALL.into_iter().find(|allow| allow.name() == name);
        named.unwrap_or_else(|| unreachable!("one of the possible values"))
    })
}
