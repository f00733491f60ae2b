//! Whether each line of a text is a document of its own.

#[cfg(feature = "files")]
use crate::files::FileFormat;
use jird::lenient::{Leniency, to_strict};

/// How documents stand in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LenientLayout {
    /// Each line is a document.
    Lines,
    /// The text is one document, whose lines may be any.
    Document,
}

impl LenientLayout {
    /// The layout of a file that begins with `start`: that of the format that the user or its name says, or else
    /// [what it looks like](Self::of_start).
    ///
    /// # Errors
    /// If the file is in another format than JSON: a message for people, to follow its name.
    #[cfg(feature = "files")]
    pub fn of_file(named: Option<FileFormat>, start: &[u8], leniency: Leniency) -> Result<Self, String> {
        match FileFormat::of_bytes(start).filter(|format| format.is_binary()).or(named) {
            Some(FileFormat::Ndjson) => Ok(Self::Lines),
            None | Some(FileFormat::Json) => Ok(Self::of_start(start, leniency)),
            Some(other) => Err(Self::refusal(other)),
        }
    }

    /// Why a file in another format than JSON is refused, to follow its name.
    #[cfg(feature = "files")]
    pub fn refusal(format: FileFormat) -> String {
        format!("it is read as {}: --from json5, --from jsonc and --allow are for JSON", format.name())
    }

    /// The layout of a text that begins with `start`. The first line that is not blank or a comment decides: if it is a
    /// document by itself, and more follows, the text is lines. A text that is an array in one line is a document.
    ///
    /// ```
    /// use jird::lenient::Leniency;
    /// use jird_formats::LenientLayout;
    /// let of = |start: &str| LenientLayout::of_start(start.as_bytes(), Leniency::JSON5);
    /// assert_eq!(of("// all\n{a: 1}\n{a: 2}\n"), LenientLayout::Lines);
    /// assert_eq!(of("{\n  a: 1,\n}\n"), LenientLayout::Document);
    /// assert_eq!(of("[{a: 1}, {a: 2}] // both\n"), LenientLayout::Document);
    /// ```
    pub fn of_start(start: &[u8], leniency: Leniency) -> Self {
        let mut rest = start;
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            let (line, more) = (&rest[..end], &rest[end + 1..]);
            if !is_blank(line, leniency) {
                // An object that is alone is one record either way.
                let is_alone = line.trim_ascii_start().starts_with(b"[") && is_blank(more, leniency);
                return if to_strict(line, leniency).is_ok() && !is_alone { Self::Lines } else { Self::Document };
            }
            rest = more;
        }
        // A line that goes on.
        let is_record = rest.trim_ascii_start().starts_with(b"{") && rest.trim_ascii() != b"{";
        if is_record { Self::Lines } else { Self::Document }
    }
}

/// Whether a text holds nothing but white space and comments.
pub(super) fn is_blank(text: &[u8], leniency: Leniency) -> bool {
    let text = text.trim_ascii();
    match text.first() {
        None => true,
        // Almost every value begins with one of these.
        Some(b'{' | b'[' | b'"' | b'\'' | b'0'..=b'9') => false,
        // An array of nothing, around the text, is valid.
        Some(_) => to_strict(&[b"[", text, b"\n]"].concat(), leniency)
            .is_ok_and(|strict| strict.iter().filter(|byte| !byte.is_ascii_whitespace()).eq(b"[]")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_holds_something_decides() {
        for (start, expected) in [
            ("", LenientLayout::Document),
            ("{a: 1}\n{a: 2}\n", LenientLayout::Lines),
            ("\n /* x */ // y\n{a: 1}\n{a: 2}", LenientLayout::Lines),
            ("{a: 1}\n", LenientLayout::Lines),
            ("{a: 1, b:", LenientLayout::Lines),
            ("{", LenientLayout::Document),
            ("{ // a\n a: 1}\n", LenientLayout::Document),
            ("// a\n/* b\n*/ {a: 1}\n", LenientLayout::Document),
            ("[1]\n", LenientLayout::Document),
            ("[1] // all\n\n", LenientLayout::Document),
            ("[1]\n[2]\n", LenientLayout::Lines),
            ("[{a: 1},", LenientLayout::Document),
            ("[\n1]\n", LenientLayout::Document),
            ("1\n2\n", LenientLayout::Lines),
            ("// only a comment", LenientLayout::Document),
        ] {
            assert_eq!(LenientLayout::of_start(start.as_bytes(), Leniency::JSON5), expected, "{start:?}");
        }
        assert_eq!(LenientLayout::of_start(b"// a\n{}\n{}\n", Leniency::STRICT), LenientLayout::Document);
    }

    #[test]
    fn comments_are_blank_where_they_are_allowed() {
        for (text, json5, strict) in [
            ("", true, true),
            (" \t\r", true, true),
            ("// ]", true, false),
            ("/* a */ /* b */", true, false),
            ("\u{a0}", true, false),
            ("/* a", false, false),
            ("],[", false, false),
            ("true", false, false),
            (",", false, false),
        ] {
            assert_eq!(is_blank(text.as_bytes(), Leniency::JSON5), json5, "{text:?}");
            assert_eq!(is_blank(text.as_bytes(), Leniency::STRICT), strict, "{text:?}");
        }
    }
}
