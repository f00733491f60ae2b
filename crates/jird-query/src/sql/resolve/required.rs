//! Finds the texts that a match of a regular expression must contain: the literals that `match()` searches for in raw
//! bytes.

use regex_syntax::hir::{Class, Hir, HirKind};

/// At most this many literals are searched for at once.
const LITERALS_MAX: usize = 8;

/// Literals such that every matching text contains at least one of them. Empty if no such literals are known.
pub(super) fn literals(pattern: &str) -> Vec<String> {
    let hir = regex_syntax::parse(pattern).ok();
    hir.and_then(|hir| RequiredTexts::of(&hir).needed()).unwrap_or_default()
}

/// What is known of a part of a regular expression.
enum RequiredTexts {
    /// It matches exactly these texts.
    Exact(Vec<String>),
    /// Each match contains one of these texts.
    Needs(Vec<String>),
    Nothing,
}

impl RequiredTexts {
    fn of(hir: &Hir) -> Self {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Self::Exact(vec![String::new()]),
            HirKind::Literal(literal) => match str::from_utf8(&literal.0) {
                Ok(text) => Self::Exact(vec![text.to_owned()]),
                Err(_) => Self::Nothing,
            },
            HirKind::Class(class) => Self::of_class(class),
            HirKind::Capture(capture) => Self::of(&capture.sub),
            HirKind::Repetition(repetition) if repetition.min > 0 => {
                Self::of(&repetition.sub).needed().map_or(Self::Nothing, Self::Needs)
            }
            HirKind::Repetition(_) => Self::Nothing,
            HirKind::Concat(parts) => Self::in_a_row(parts),
            HirKind::Alternation(parts) => Self::one_of(parts),
        }
    }

    fn of_class(class: &Class) -> Self {
        let Class::Unicode(class) = class else { return Self::Nothing };
        let chars = class.ranges().iter().flat_map(|range| range.start()..=range.end());
        let texts: Vec<_> = chars.take(LITERALS_MAX + 1).map(String::from).collect();
        if texts.is_empty() || texts.len() > LITERALS_MAX { Self::Nothing } else { Self::Exact(texts) }
    }

    /// Exact neighbours are joined to longer texts. Of all needed literals, the best are kept.
    fn in_a_row(parts: &[Hir]) -> Self {
        let (mut texts, mut is_exact) = (vec![String::new()], true);
        let mut best = None;
        for part in parts {
            let known = Self::of(part);
            if let Self::Exact(tails) = &known
                && texts.len() * tails.len() <= LITERALS_MAX
            {
                texts = texts.iter().flat_map(|head| tails.iter().map(move |tail| format!("{head}{tail}"))).collect();
                continue;
            }
            is_exact = false;
            best = better(best, usable(core::mem::replace(&mut texts, vec![String::new()])));
            match known {
                // The combined texts would be too many, so this starts again.
                Self::Exact(tails) => texts = tails,
                known => best = better(best, known.needed()),
            }
        }
        if is_exact {
            return Self::Exact(texts);
        }
        better(best, usable(texts)).map_or(Self::Nothing, Self::Needs)
    }

    fn one_of(parts: &[Hir]) -> Self {
        let (mut texts, mut is_exact) = (Vec::new(), true);
        for part in parts {
            match Self::of(part) {
                Self::Exact(exact) => texts.extend(exact),
                Self::Needs(needed) => {
                    is_exact = false;
                    texts.extend(needed);
                }
                Self::Nothing => return Self::Nothing,
            }
        }
        match texts.len() {
            1..=LITERALS_MAX if is_exact => Self::Exact(texts),
            1..=LITERALS_MAX => usable(texts).map_or(Self::Nothing, Self::Needs),
            _ => Self::Nothing,
        }
    }

    fn needed(self) -> Option<Vec<String>> {
        match self {
            Self::Exact(texts) | Self::Needs(texts) => usable(texts),
            Self::Nothing => None,
        }
    }
}

/// Every text contains the empty text, so the empty text excludes nothing.
fn usable(texts: Vec<String>) -> Option<Vec<String>> {
    texts.iter().all(|text| !text.is_empty()).then_some(texts)
}

/// Prefers the list whose shortest text is longer; if equal, the list with fewer texts.
fn better(one: Option<Vec<String>>, other: Option<Vec<String>>) -> Option<Vec<String>> {
    let worth = |texts: &Vec<String>| (texts.iter().map(String::len).min(), core::cmp::Reverse(texts.len()));
    [one, other].into_iter().flatten().max_by_key(worth)
}

#[cfg(test)]
mod tests {
    use super::literals;
    use regex::Regex;

    #[test]
    fn literals_are_what_a_pattern_cannot_do_without() {
        for (pattern, wanted) in [
            ("/api/customers", &["/api/customers"][..]),
            (r"\/api\/customers", &["/api/customers"]),
            (r"^GET /api/(customers|orders)/\d+$", &["GET /api/customers/", "GET /api/orders/"]),
            (r"\bword\b", &["word"]),
            ("(?m)^word$", &["word"]),
            ("(abc)+x?yz", &["abc"]),
            ("(abc){2,}", &["abc"]),
            ("[Ee]rror: .*timeout", &["timeout"]),
            ("[Ee]rror", &["Error", "error"]),
            ("x.y", &["y"]),
            ("é|日本", &["é", "日本"]),
            ("a|bc*|d", &["a", "b", "d"]),
            // No text is in every match.
            ("", &[]),
            ("(?:)", &[]),
            ("^$", &[]),
            ("(^|$)", &[]),
            (".", &[]),
            (r"\d+", &[]),
            (r"[^a]", &[]),
            ("a*", &[]),
            ("(abc)?", &[]),
            ("(abc){0,3}", &[]),
            ("a|b*", &[]),
            ("abc|", &[]),
            ("abc|.", &[]),
            // More literals than are searched for at once.
            ("a|b|c|d|e|f|g|h|i", &[]),
            ("one|two|three|four|five|six|seven|eight|nine", &[]),
            // Neither case of a letter is more likely than the other.
            ("(?i)customers", &["cu", "cU", "Cu", "CU"]),
            ("(?i)1a", &["1A", "1a"]),
            ("(?-u:\\xff)abc", &[]),
            ("(", &[]),
        ] {
            let mut found = literals(pattern);
            if pattern == "(?i)customers" {
                assert!(found.iter().all(|text| text.len() > 1), "{found:?}");
                continue;
            }
            found.sort();
            let mut wanted = wanted.to_vec();
            wanted.sort_unstable();
            assert_eq!(found, wanted, "{pattern}");
        }
    }

    #[test]
    fn a_text_that_matches_has_one_of_the_literals() {
        let mut texts = vec![String::new()];
        for _ in 0..5 {
            let longer: Vec<_> = texts
                .iter()
                .flat_map(|text| "abcdAkK\u{212a}".chars().map(move |char| format!("{text}{char}")))
                .collect();
            texts.extend(longer);
            texts.sort_unstable();
            texts.dedup();
        }
        for pattern in [
            "a+b?c",
            "(ab|c)(d|k)a*",
            "[abc]d|kK",
            "(a|b)*c",
            "a{2,3}b",
            "^a?b",
            "(?i)ab",
            "(?i)k",
            "(?i)kak",
            "a(b|)c",
            "(bc)?d",
            "(?:ab)*k",
            "((a)|(b))c[dk]",
            "(a|bc|)(d|)k",
            "[ab][ab][ab][ab]",
            "[ab][ab]c[ab]",
            "a(?:b(?:c|d)|c)(?:a|bk)",
            "^(?:abc|abd|a)$",
            "(?:a|b|c|d|A|k|K|ab|cd)d",
            r"a\Bb|c\bd",
        ] {
            let regex = Regex::new(pattern).unwrap();
            let needed = literals(pattern);
            for text in texts.iter().filter(|text| regex.is_match(text)) {
                let has_one = needed.is_empty() || needed.iter().any(|literal| text.contains(literal));
                assert!(has_one, "{pattern} needs {needed:?}, and matches {text}");
            }
        }
    }
}
