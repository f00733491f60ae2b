//! Regular expressions of filters: I-Regexp (RFC 9485), translated for the crate `regex`.
//!
//! A text that is not an I-Regexp matches nothing, as RFC 9535 §2.4.6 says. It is checked against the grammar of RFC
//! 9485 §4 before it is translated, so nothing of what `regex` has beyond that can be used. `^` and `$` stand at the
//! text's beginning and end, as in the languages that I-Regexp is meant to be translated to (§5) and as the JSONPath
//! compliance suite expects.

use super::syntax::Operand;
use regex::{Regex, RegexBuilder};

/// The memory that a compiled pattern may take, in bytes: `regex` refuses a larger one.
const COMPILED_BYTES_MAX: usize = 1 << 20;

/// How deep groups may be nested.
const GROUPS_MAX: usize = 50;

/// The second argument of `match` or `search`.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    /// Whether all of the text must match (`match`), instead of some part of it (`search`).
    pub(super) whole: bool,
    pub(super) source: PatternSource,
}

#[derive(Clone, Debug)]
pub(super) enum PatternSource {
    /// A string of the query, compiled; or why it matches nothing.
    Literal(Box<str>, Result<Regex, String>),
    /// What has the pattern. The last one is kept compiled in the memo of this number.
    Computed(Box<Operand>, usize),
}

impl PartialEq for Pattern {
    /// Compiled patterns are equal if their texts are.
    fn eq(&self, other: &Self) -> bool {
        self.whole == other.whole
            && match (&self.source, &other.source) {
                (PatternSource::Literal(one, _), PatternSource::Literal(two, _)) => one == two,
                (PatternSource::Computed(one, _), PatternSource::Computed(two, _)) => one == two,
                _ => false,
            }
    }
}

/// Compiles an I-Regexp.
///
/// # Errors
/// Why the text is not an I-Regexp, or is too large.
pub(super) fn compile(text: &str, whole: bool) -> Result<Regex, String> {
    let translated = Translation::of(text)?;
    let anchored = if whole { format!(r"\A(?:{translated})\z") } else { translated };
    RegexBuilder::new(&anchored)
        .size_limit(COMPILED_BYTES_MAX)
        .dfa_size_limit(COMPILED_BYTES_MAX)
        .nest_limit(GROUPS_MAX as u32 * 4)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => "the pattern takes too much memory".into(),
            _ => "a range or a repetition in the pattern runs backwards or is too large".into(),
        })
}

/// A pattern that is being checked and translated.
struct Translation<'t> {
    text: &'t str,
    rest: std::str::CharIndices<'t>,
    out: String,
}

impl<'t> Translation<'t> {
    fn of(text: &'t str) -> Result<String, String> {
        let mut translation = Self { text, rest: text.char_indices(), out: String::with_capacity(text.len() + 16) };
        translation.branches()?;
        Ok(translation.out)
    }

    fn peek(&self) -> Option<char> {
        self.rest.as_str().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        self.rest.next().map(|(_, char)| char)
    }

    fn wrong<T>(&self, what: &str) -> Result<T, String> {
        Err(format!("{what}, at byte {} of the pattern", self.text.len() - self.rest.as_str().len()))
    }

    /// `i-regexp`, with the groups in it: no recursion, since only their number matters.
    fn branches(&mut self) -> Result<(), String> {
        let mut groups = 0_usize;
        // Whether an atom stands before, which a quantifier may follow.
        let mut atom = false;
        while let Some(char) = self.peek() {
            match char {
                '*' | '+' | '?' | '{' if !atom => return self.wrong(&format!("`{char}` has nothing to repeat")),
                '{' => self.repetition()?,
                '(' if groups == GROUPS_MAX => return self.wrong("groups are nested too deep"),
                '(' => {
                    self.next();
                    self.out.push_str("(?:");
                    groups += 1;
                }
                ')' if groups == 0 => return self.wrong("`)` without `(`"),
                ')' => {
                    self.next();
                    self.out.push(')');
                    groups -= 1;
                }
                ']' | '}' => return self.wrong(&format!("`{char}` without its partner; `\\{char}` is the character")),
                '*' | '+' | '?' | '|' | '^' | '$' => {
                    self.next();
                    self.out.push(char);
                }
                '.' => {
                    self.next();
                    self.out.push_str(r"[^\n\r]");
                }
                '[' => self.class()?,
                '\\' => self.escape()?,
                _ => {
                    self.next();
                    self.literal(char);
                }
            }
            atom = !matches!(char, '*' | '+' | '?' | '{' | '(' | '|' | '^' | '$');
        }
        if groups > 0 { self.wrong("a group is not closed") } else { Ok(()) }
    }

    /// `range-quantifier`
    fn repetition(&mut self) -> Result<(), String> {
        self.next();
        let inside = self.rest.as_str().split('}').next().unwrap_or_default();
        let (from, to) = inside.split_once(',').map_or((inside, None), |(from, to)| (from, Some(to)));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if from.is_empty()
            || !digits(from)
            || !to.is_none_or(digits)
            || !self.rest.as_str()[inside.len()..].starts_with('}')
        {
            return self.wrong("`{` begins a repetition, as in `{2}` or `{2,5}`; `\\{` is the character");
        }
        self.out.extend(["{", inside, "}"]);
        self.rest = self.text[self.text.len() - self.rest.as_str().len() + inside.len() + 1..].char_indices();
        Ok(())
    }

    /// `charClassExpr`
    fn class(&mut self) -> Result<(), String> {
        self.next();
        self.out.push('[');
        if self.peek() == Some('^') {
            self.next();
            self.out.push('^');
        }
        let mut first = true;
        loop {
            let is_first = std::mem::take(&mut first);
            match self.peek() {
                None => return self.wrong("a class is not closed by `]`"),
                Some(']') if is_first => return self.wrong("a class is empty; `\\]` is the character"),
                Some(']') => {
                    self.next();
                    self.out.push(']');
                    return Ok(());
                }
                Some('-') => {
                    self.next();
                    if !is_first && self.peek() != Some(']') {
                        return self.wrong("`-` stands between two characters, or at the class's beginning or end");
                    }
                    self.literal('-');
                }
                Some('\\') if self.is_property() => self.property()?,
                Some(_) => {
                    self.class_char()?;
                    // A range, unless the hyphen is the class's last character.
                    let mut ahead = self.rest.as_str().chars();
                    if ahead.next() == Some('-') && ahead.next() != Some(']') {
                        self.next();
                        self.out.push('-');
                        if self.is_property() || matches!(self.peek(), None | Some('-' | '[')) {
                            return self.wrong("a range has no end");
                        }
                        self.class_char()?;
                    }
                }
            }
        }
    }

    /// `CCchar`
    fn class_char(&mut self) -> Result<(), String> {
        match self.peek() {
            Some('\\') => self.escape(),
            Some('[') => self.wrong("`[` within a class is written `\\[`"),
            Some(char) => {
                self.next();
                self.literal(char);
                Ok(())
            }
            None => self.wrong("a class is not closed by `]`"),
        }
    }

    fn is_property(&self) -> bool {
        matches!(self.rest.as_str().as_bytes(), [b'\\', b'p' | b'P', ..])
    }

    /// `SingleCharEsc` and `charClassEsc`
    fn escape(&mut self) -> Result<(), String> {
        if self.is_property() {
            return self.property();
        }
        let begin = self.rest.clone();
        self.next();
        match self.next() {
            Some(char @ ('(' | ')' | '*' | '+' | '-' | '.' | '?' | '[' | '\\' | ']' | '^' | '{' | '|' | '}')) => {
                self.literal(char);
            }
            Some(char @ ('n' | 'r' | 't')) => self.out.extend(['\\', char]),
            Some('$') => self.literal('$'),
            Some(char) => {
                self.rest = begin;
                return self.wrong(&format!("`\\{char}` is not an escape of I-Regexp"));
            }
            None => return self.wrong("the pattern ends after `\\`"),
        }
        Ok(())
    }

    /// `catEsc` and `complEsc`
    fn property(&mut self) -> Result<(), String> {
        const CATEGORIES: [&str; 36] = [
            "L", "Ll", "Lm", "Lo", "Lt", "Lu", "M", "Mc", "Me", "Mn", "N", "Nd", "Nl", "No", "P", "Pc", "Pd", "Pe",
            "Pf", "Pi", "Po", "Ps", "Z", "Zl", "Zp", "Zs", "S", "Sc", "Sk", "Sm", "So", "C", "Cc", "Cf", "Cn", "Co",
        ];
        let escape = self.rest.as_str();
        let name = escape[2..].strip_prefix('{').and_then(|rest| rest.split_once('}')).map(|(name, _)| name);
        match name.filter(|name| CATEGORIES.contains(name)) {
            Some(name) => {
                let len = name.len() + 4;
                self.out.push_str(&escape[..len]);
                self.rest = escape[len..].char_indices();
                Ok(())
            }
            None => self.wrong("`\\p` takes a general category of Unicode, as in `\\p{L}` or `\\p{Lu}`"),
        }
    }

    /// A character as itself.
    fn literal(&mut self, char: char) {
        let mut bytes = [0; 4];
        self.out.push_str(&regex::escape(char.encode_utf8(&mut bytes)));
    }
}

#[cfg(test)]
mod tests {
    use super::compile;

    fn check(pattern: &str, matching: &[&str], others: &[&str]) {
        let regex = compile(pattern, true).unwrap_or_else(|wrong| panic!("{pattern}: {wrong}"));
        matching.iter().for_each(|text| assert!(regex.is_match(text), "{pattern} and {text:?}"));
        others.iter().for_each(|text| assert!(!regex.is_match(text), "{pattern} and {text:?}"));
    }

    #[test]
    fn i_regexps_match_as_their_standard_says() {
        check("", &[""], &["a"]);
        check("a|b*|", &["a", "", "bb"], &["ab"]);
        check("(ab){2,}c?", &["abab", "ababababc"], &["ab", "abc"]);
        check("a{2}|b{1,2}", &["aa", "b", "bb"], &["a", "bbb"]);
        check(".", &["a", "\u{2028}", "\u{1F600}", "\u{85}"], &["\n", "\r", "", "ab"]);
        check("[^a-c]", &["d", "\n", "-"], &["a", "b", "c"]);
        check("[-a]", &["-", "a"], &["b"]);
        check("[a-]", &["-", "a"], &["b"]);
        check("[^-a]", &["b"], &["-", "a"]);
        check(r"[\]\[\-\\]", &["]", "[", "-", "\\"], &["a"]);
        check("[a&&b]", &["&", "a", "b"], &["c"]);
        check(r"[\p{Lu}\P{L}]", &["A", "1"], &["a"]);
        check(r"\p{Nd}+\.\t", &["12.\t"], &["a.\t"]);
        check(r"#\(x \)", &["#(x )"], &["(x)"]);
        check("a#b/\"'~<>", &["a#b/\"'~<>"], &[]);
        check("[a b#]", &[" ", "#"], &["c"]);
    }

    #[test]
    fn what_i_regexp_does_not_have_is_refused() {
        for pattern in [
            r"\d",
            r"\w+",
            r"\bx",
            r"\A",
            r"\x41",
            r"\u0041",
            r"\p{Greek}",
            r"\pL",
            r"\p{Lx}",
            r"\p{Cs}",
            "(?:a)",
            "(?i)a",
            "(?<n>a)",
            "a**",
            "a+?",
            "a{,2}",
            "a{2",
            "a{x}",
            "a{}",
            "*",
            "|*",
            "(*a)",
            "(",
            ")",
            "a)",
            "[",
            "[]",
            "[]a]",
            "[^]",
            "[a",
            "[[:alpha:]]",
            "[a[b]]",
            r"[\d]",
            "[a-b-c]",
            "[a--b]",
            "]",
            "}",
            "a{3,2}",
            "[b-a]",
            r"\",
            r"[a\",
            "a{99999999999}",
            r"[a-\p{L}]",
            r"\/",
            r"\p{L",
            r"\p",
            "(((a){1000}){1000}){1000}",
            "^*",
        ] {
            assert!(compile(pattern, false).is_err(), "{pattern}");
        }
        assert!(compile(&"(".repeat(1 << 20), false).is_err());
        assert!(compile(&["(".repeat(50), ")".repeat(50)].concat(), false).is_ok());
    }

    #[test]
    fn a_refusal_says_where() {
        assert_eq!(compile(r"a\d", false).unwrap_err(), r"`\d` is not an escape of I-Regexp, at byte 1 of the pattern");
    }
}
