//! What may be read besides strict JSON, by name.

/// Something that strict JSON does not have, and that [`Leniency`] can allow. Each is off unless it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Allow {
    /// `// …` up to the end of the line, and `/* … */`. Comments become white space; their line feeds stay.
    Comments,
    /// One comma after the last element or member: `[1, 2,]`. It is removed.
    TrailingCommas,
    /// Strings and keys in single quotes: `'it\'s'`. They become strings in double quotes.
    SingleQuotes,
    /// Keys without quotes: `{size: 1}`. A key is an identifier of ECMAScript: letters, `$`, `_`, then also digits and
    /// marks, and escapes such as `\u0061`. Letters and digits are those of `char::is_alphanumeric`.
    BareKeys,
    /// `NaN`, `Infinity` and `-Infinity` as `null`, which is what ECMAScript's `JSON.stringify` writes for them.
    NonfiniteAsNull,
    /// `NaN`, `Infinity` and `-Infinity` as the strings `"NaN"`, `"Infinity"` and `"-Infinity"`. This wins if both are on.
    NonfiniteAsText,
    /// `0xFF` as `255`. All digits count; there may be [`HEX_DIGITS_MAX`](super::HEX_DIGITS_MAX) of them.
    Hexadecimal,
    /// A number with a plus sign: `+1` becomes `1`.
    PlusSign,
    /// A number that begins or ends with its point: `.5` becomes `0.5`, and `5.` becomes `5.0`.
    BarePoint,
    /// A byte order mark at the very start. It is removed.
    ByteOrderMark,
    /// Control characters in strings, except line feeds and carriage returns. They become escapes.
    ControlCharacters,
    /// Line feeds and carriage returns in strings. They become escapes.
    LineBreaks,
    /// The escapes of ECMAScript: `\v`, `\0`, `\x41`, and `\` before any other character, which means that character.
    Escapes,
    /// `\` at the end of a line, inside a string: the string goes on in the next line.
    LineContinuations,
    /// White space of ECMAScript between tokens: vertical tabs, form feeds, no-break spaces, byte order marks, U+2028, U+2029
    /// and Unicode's spaces. They become spaces. U+2028 and U+2029 also end comments then, as in JSON5.
    WhiteSpace,
    /// Bytes that are not UTF-8, in strings and comments. Each maximal part of a character (Unicode, section 3.9) becomes
    /// U+FFFD.
    InvalidUtf8,
    /// Half a surrogate pair, as an escape in a string: `"\ud800"`. It becomes `\uFFFD`.
    LoneSurrogates,
    /// Python's `True`, `False` and `None`.
    PythonLiterals,
    /// JavaScript's `undefined`, as `null`.
    Undefined,
}

/// What is allowed besides strict JSON. By default nothing; each option is named.
///
/// ```
/// use jird::lenient::{Allow, Leniency, to_strict};
/// let leniency = Leniency::JSONC.with(Allow::SingleQuotes);
/// assert_eq!(to_strict(b"['a', /* b */ 1,]", leniency).unwrap(), &b"[\"a\",   1]"[..]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Leniency(u32);

impl Leniency {
    /// Strict JSON (RFC 8259).
    pub const STRICT: Self = Self(0);

    /// JSON with comments, as in settings of editors: [`Comments`](Allow::Comments) and
    /// [`TrailingCommas`](Allow::TrailingCommas).
    pub const JSONC: Self = Self::STRICT.with(Allow::Comments).with(Allow::TrailingCommas);

    /// JSON5 (spec.json5.org, 1.0.0), with two exceptions. Strict JSON has no `NaN` and no infinities, so it takes
    /// [`NonfiniteAsNull`](Allow::NonfiniteAsNull) or [`NonfiniteAsText`](Allow::NonfiniteAsText) as well to read them. Half
    /// a surrogate pair is refused without [`LoneSurrogates`](Allow::LoneSurrogates), because it is not a character.
    pub const JSON5: Self = Self::JSONC
        .with(Allow::SingleQuotes)
        .with(Allow::BareKeys)
        .with(Allow::Hexadecimal)
        .with(Allow::PlusSign)
        .with(Allow::BarePoint)
        .with(Allow::ByteOrderMark)
        .with(Allow::ControlCharacters)
        .with(Allow::Escapes)
        .with(Allow::LineContinuations)
        .with(Allow::WhiteSpace);

    /// The same, and this is allowed too.
    #[must_use]
    pub const fn with(self, allow: Allow) -> Self {
        Self(self.0 | 1 << allow as u8)
    }

    /// The same, but this is refused.
    #[must_use]
    pub const fn without(self, refuse: Allow) -> Self {
        Self(self.0 & !(1 << refuse as u8))
    }

    /// Whether this is allowed.
    pub const fn allows(self, what: Allow) -> bool {
        self.0 & 1 << what as u8 != 0
    }
}

impl Allow {
    /// All of them.
    pub const ALL: [Self; 19] = [
        Self::Comments,
        Self::TrailingCommas,
        Self::SingleQuotes,
        Self::BareKeys,
        Self::NonfiniteAsNull,
        Self::NonfiniteAsText,
        Self::Hexadecimal,
        Self::PlusSign,
        Self::BarePoint,
        Self::ByteOrderMark,
        Self::ControlCharacters,
        Self::LineBreaks,
        Self::Escapes,
        Self::LineContinuations,
        Self::WhiteSpace,
        Self::InvalidUtf8,
        Self::LoneSurrogates,
        Self::PythonLiterals,
        Self::Undefined,
    ];

    /// The name, as the command line has it; it stays the same in every version.
    pub const fn name(self) -> &'static str {
        self.words().0
    }

    /// What it allows, in a few words: "comments".
    pub const fn about(self) -> &'static str {
        self.words().1
    }

    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Comments => ("comments", "comments"),
            Self::TrailingCommas => ("trailing-commas", "a comma before a closing bracket"),
            Self::SingleQuotes => ("single-quotes", "strings in single quotes"),
            Self::BareKeys => ("bare-keys", "keys without quotes"),
            Self::NonfiniteAsNull => ("nonfinite-as-null", "NaN and infinities, which become null"),
            Self::NonfiniteAsText => ("nonfinite-as-text", "NaN and infinities, which become strings"),
            Self::Hexadecimal => ("hexadecimal", "hexadecimal integers"),
            Self::PlusSign => ("plus-sign", "numbers with a plus sign"),
            Self::BarePoint => ("bare-point", "numbers that begin or end with a point"),
            Self::ByteOrderMark => ("byte-order-mark", "a byte order mark at the start"),
            Self::ControlCharacters => ("control-characters", "control characters in strings"),
            Self::LineBreaks => ("line-breaks", "line breaks in strings"),
            Self::Escapes => ("escapes", "the escapes of ECMAScript"),
            Self::LineContinuations => ("line-continuations", "a backslash at the end of a line of a string"),
            Self::WhiteSpace => ("white-space", "the white space of ECMAScript"),
            Self::InvalidUtf8 => ("invalid-utf8", "bytes that are not UTF-8, which become U+FFFD"),
            Self::LoneSurrogates => ("lone-surrogates", "half a surrogate pair, which becomes U+FFFD"),
            Self::PythonLiterals => ("python-literals", "True, False and None"),
            Self::Undefined => ("undefined", "undefined, which becomes null"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_option_is_apart_from_the_others() {
        for allow in Allow::ALL {
            let one = Leniency::STRICT.with(allow);
            assert!(Allow::ALL.into_iter().all(|other| one.allows(other) == (other == allow)));
            assert_eq!(one.without(allow), Leniency::STRICT);
            assert_eq!(Allow::ALL.into_iter().filter(|other| other.name() == allow.name()).count(), 1);
        }
        assert_eq!(Leniency::default(), Leniency::STRICT);
    }
}
