//! Texts that rule out records: every record that a predicate can keep has one of them in its raw bytes, so the others
//! need not be read. The idea is Sparser's (Palkar et al., "Filter Before You Parse", PVLDB 11(11), 2018); Sparser
//! itself misses matches that are spelled with escapes.
//!
//! A [`Needle`] is a decoded text. A record *has* the needle where each of the needle's characters follows, either as
//! it is or as an escape: `\u` and its code, or `\/`. All other escapes stand for characters that must be escaped; a
//! needle is cut at those characters. Numbers give no needles, because a number has many spellings.

use super::like::Like;
use super::predicate::{Comparison, Literal, Matcher, Predicate};
use super::select::Projection;
use crate::path::Step;
use crate::text::{Escape, starts_unescaped};

/// The maximum number of needles in one search; a predicate that needs more is not searched for.
pub(crate) const NEEDLES_MAX: usize = 8;

/// The longest needle, in bytes. Longer texts are cut to their rarest part.
pub(crate) const NEEDLE_MAX: usize = 32;

/// The needles of one search; there is at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Needles {
    all: Vec<Needle>,
    /// The bytes that follow the backslash in the escapes that may spell a part of a needle.
    pub(crate) escapes: [u8; 2],
    /// The bytes that occur in needles.
    bytes: [bool; 256],
}

/// A needle's text, with a quote at either end if a string begins or ends there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Needle {
    text: Box<str>,
    pub(crate) pair: Pair,
}

/// The two bytes of a needle that are rarest in logs. If both are the same byte of the needle, the needle is one byte
/// long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) first: u8,
    pub(crate) second: u8,
    /// The index of the first byte in the needle.
    pub(crate) at: usize,
    /// The distance from the first byte to the second: less than [`NEEDLE_MAX`].
    pub(crate) distance: usize,
}

impl Needles {
    /// Needles: each record that satisfies `predicate` has at least one of them. `None` if the predicate gives no
    /// needles, or too many.
    pub(crate) fn of(predicate: &Predicate, projection: &Projection) -> Option<Self> {
        let Needed { texts, .. } = Derive { projection }.of(predicate, true)?;
        let all: Vec<_> = texts.into_iter().map(Needle::new).collect();
        let slash = all.iter().any(|needle| needle.text.contains('/'));
        let mut bytes = [false; 256];
        all.iter().flat_map(|needle| needle.text.bytes()).for_each(|byte| bytes[usize::from(byte)] = true);
        Some(Self { all, escapes: [b'u', if slash { b'/' } else { b'u' }], bytes })
    }

    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|needle| &*needle.text)
    }

    pub(crate) fn pairs(&self) -> impl ExactSizeIterator<Item = Pair> {
        self.all.iter().map(|needle| needle.pair)
    }

    /// If `text[at]` is a backslash: whether some needle has its first escape there. Otherwise: whether some needle
    /// stands there without escapes, with the first byte of its pair at `at`.
    #[inline(never)]
    pub(crate) fn stand_at(&self, text: &[u8], at: usize) -> bool {
        if text[at] != b'\\' {
            return self.all.iter().any(|needle| needle.stands_at(text, at));
        }
        let escape = Escape::read(&text[at..]);
        let char = &escape.utf8.to_le_bytes()[..escape.utf8_len];
        let (before, behind) = (&text[..at], &text[at + escape.len..]);
        // Most escapes spell characters that no needle has.
        self.bytes[usize::from(char[0])] && self.all.iter().any(|needle| needle.stands_around(before, char, behind))
    }
}

impl Needle {
    fn new(text: Box<str>) -> Self {
        let bytes = text.as_bytes();
        let pairs = (0..bytes.len()).flat_map(|at| (at + 1..bytes.len()).map(move |second| (at, second)));
        let rarest = pairs.max_by_key(|&(at, second)| bits(bytes[at]) + bits(bytes[second]));
        let (at, second) = rarest.unwrap_or((0, 0));
        let pair = Pair { first: bytes[at], second: bytes[second], at, distance: second - at };
        Self { text, pair }
    }

    /// Whether the needle stands in the text without escapes, with the first byte of its pair at `at`.
    fn stands_at(&self, text: &[u8], at: usize) -> bool {
        let Some(start) = at.checked_sub(self.pair.at) else { return false };
        text[start..].starts_with(self.text.as_bytes())
    }

    /// Whether the needle stands in the text with `char` as its first escape. Each match with escapes has a first
    /// escape, with no escape before it.
    fn stands_around(&self, before: &[u8], char: &[u8], behind: &[u8]) -> bool {
        let bytes = self.text.as_bytes();
        (0..bytes.len()).any(|at| {
            let (head, tail) = bytes.split_at(at);
            tail[0] == char[0]
                && tail.strip_prefix(char).is_some_and(|tail| before.ends_with(head) && starts_unescaped(behind, tail))
        })
    }
}

/// Texts; a record must have at least one of them.
struct Needed {
    texts: Vec<Box<str>>,
    /// Some of the texts are keys, which most records have.
    keys: bool,
    /// The rarity of the most frequent text, in bits.
    bits: u32,
}

impl Needed {
    fn one(text: Box<str>, keys: bool) -> Self {
        let bits = text.bytes().map(bits).sum();
        Self { texts: vec![text], keys, bits }
    }

    /// Combines alternative requirements, where a record must meet at least one: `None` if any of them is unknown.
    fn any(all: impl Iterator<Item = Option<Self>>) -> Option<Self> {
        let mut needed = Self { texts: Vec::new(), keys: false, bits: u32::MAX };
        for part in all {
            let part = part?;
            needed.keys |= part.keys;
            needed.bits = needed.bits.min(part.bits);
            for text in part.texts {
                if !needed.texts.contains(&text) {
                    needed.texts.push(text);
                }
            }
        }
        (1..=NEEDLES_MAX).contains(&needed.texts.len()).then_some(needed)
    }

    /// Combines requirements that a record must all meet: picks the best of them.
    fn best(all: impl Iterator<Item = Option<Self>>) -> Option<Self> {
        all.flatten().max_by_key(|needed| (!needed.keys, needed.bits))
    }
}

struct Derive<'p> {
    projection: &'p Projection,
}

impl Derive<'_> {
    /// The texts that a record needs if `predicate` is to be `wanted`.
    fn of(&self, predicate: &Predicate, wanted: bool) -> Option<Needed> {
        let parts = |parts: &[Predicate]| -> Vec<_> { parts.iter().map(|part| self.of(part, wanted)).collect() };
        match predicate {
            Predicate::And(all) if wanted => Needed::best(parts(all).into_iter()),
            Predicate::Or(any) if !wanted => Needed::best(parts(any).into_iter()),
            Predicate::And(any) | Predicate::Or(any) => Needed::any(parts(any).into_iter()),
            Predicate::Not(inner) => self.of(inner, !wanted),
            Predicate::Compare { slot, op, literal: Literal::Text(text) }
                if *op == if wanted { Comparison::Eq } else { Comparison::Ne } =>
            {
                rarest([(&**text, true, true)]).or_else(|| self.key(*slot))
            }
            Predicate::In { slot, list } if wanted => {
                // No value equals null, and only a text equals a text.
                let list = list.iter().filter(|literal| **literal != Literal::Null);
                let texts = Needed::any(list.map(|literal| match literal {
                    Literal::Text(text) => rarest([(&**text, true, true)]),
                    _ => None,
                }));
                texts.or_else(|| self.key(*slot))
            }
            Predicate::Like { slot, pattern } if wanted => like(pattern).or_else(|| self.key(*slot)),
            Predicate::Matches { slot, matcher } if wanted => matches(matcher).or_else(|| self.key(*slot)),
            Predicate::IsNull { .. } if wanted => None,
            // No value is in an empty list, not even a missing one.
            Predicate::In { list, .. } if list.is_empty() => None,
            Predicate::CompareSlots { left, right, .. } => {
                Needed::best([self.key(*left), self.key(*right)].into_iter())
            }
            Predicate::Compare { slot, .. }
            | Predicate::In { slot, .. }
            | Predicate::Like { slot, .. }
            | Predicate::Matches { slot, .. }
            | Predicate::Json { slot, .. }
            | Predicate::IsNull { slot }
            | Predicate::Truth { slot } => self.key(*slot),
        }
    }

    /// The texts that a record needs to have a value in a slot: the keys on the path to it.
    fn key(&self, slot: usize) -> Option<Needed> {
        let steps = self.projection.paths().get(slot)?.steps();
        let keys = steps.iter().enumerate().filter_map(|(index, step)| match step {
            // A record that is not an object is read as if it had this key.
            Step::Key(key) if index > 0 || &**key != super::select::VALUE => Some((&**key, true, true)),
            _ => None,
        });
        rarest(keys).map(|needed| Needed { keys: true, ..needed })
    }
}

fn like(pattern: &Like) -> Option<Needed> {
    let parts: Vec<_> = pattern.fixed_parts();
    rarest(parts.iter().map(|(text, starts, ends)| (text.as_str(), *starts, *ends)))
}

fn matches(matcher: &Matcher) -> Option<Needed> {
    Needed::any(matcher.literals().iter().map(|text| rarest([(&**text, false, false)])))
}

/// The rarest part of texts that a record must all have. The two flags of each say whether a string begins with it,
/// and whether a string ends with it.
fn rarest<'a>(texts: impl IntoIterator<Item = (&'a str, bool, bool)>) -> Option<Needed> {
    Needed::best(texts.into_iter().flat_map(|(text, starts, ends)| parts(text, starts, ends)).map(Some))
}

/// The parts of a text that occur in a JSON string as they are, apart from escapes that a writer may choose to use.
fn parts(text: &str, starts: bool, ends: bool) -> Vec<Needed> {
    // U+FFFD also stands for an invalid escape.
    let must_be_escaped = |char| matches!(char, '"' | '\\' | '\0'..='\x1f' | char::REPLACEMENT_CHARACTER);
    let count = text.split(must_be_escaped).count();
    let parts = text.split(must_be_escaped).enumerate().map(|(index, part)| {
        let open = if starts && index == 0 { "\"" } else { "" };
        let close = if ends && index + 1 == count { "\"" } else { "" };
        format!("{open}{part}{close}")
    });
    parts.filter(|part| !matches!(part.as_str(), "" | "\"")).map(|part| Needed::one(cut(&part).into(), false)).collect()
}

/// The rarest part of a text that is at most [`NEEDLE_MAX`] bytes long. It consists of whole characters, because an
/// escape spells a whole one.
fn cut(text: &str) -> &str {
    let parts = text.char_indices().map(|(start, _)| {
        let end = text.len().min(start + NEEDLE_MAX);
        &text[start..text.floor_char_boundary(end)]
    });
    // Of equal parts the first one wins.
    parts.rev().max_by_key(|part| part.bytes().map(bits).sum::<u32>()).unwrap_or(text)
}

/// How rare a byte is in logs: roughly minus the logarithm of its share.
fn bits(byte: u8) -> u32 {
    u32::from(BITS[usize::from(byte)])
}

/// Measured on generated events and on the access, event and vendor logs that the engine is tested with. Bytes beyond
/// ASCII count as common, because they are common in texts that have any.
static BITS: [u8; 256] = {
    let mut bits = [7; 256];
    let mut byte = 0;
    while byte < 0x80 {
        bits[byte] = 11;
        byte += 1;
    }
    let common: [(&[u8], u8); 7] = [
        (b"\"", 3),
        (b"et s0:o", 4),
        (b"drap,ni2u1", 5),
        (b"{}43l5m.SCc7896hE", 6),
        (b"R/@qTA\\P-gMIx", 7),
        (b"NDZHOBbFf", 8),
        (b"()UwLGkyvJVW_", 9),
    ];
    let mut group = 0;
    while group < common.len() {
        let (bytes, rarity) = common[group];
        let mut at = 0;
        while at < bytes.len() {
            bits[bytes[at] as usize] = rarity;
            at += 1;
        }
        group += 1;
    }
    bits
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::Path;

    fn text(slot: usize, op: Comparison, text: &str) -> Predicate {
        Predicate::Compare { slot, op, literal: Literal::Text(text.into()) }
    }

    fn number(slot: usize) -> Predicate {
        Predicate::Compare { slot, op: Comparison::Gt, literal: Literal::Number("200".into()) }
    }

    fn like(pattern: &str) -> Predicate {
        Predicate::Like { slot: 0, pattern: Like::new(pattern) }
    }

    #[test]
    fn a_record_needs_what_the_predicate_cannot_do_without() {
        use Comparison::{Eq, Ge, Ne};
        let root = Path::root;
        let paths = [
            root().key("a"),
            root().key("value"),
            root().key("value").key("Properties").index(1),
            root(),
            root().key("k\"z"),
        ];
        let not = |inner| Predicate::Not(Box::new(inner));
        let or = |parts: &[Predicate]| Predicate::Or(parts.to_vec());
        let and = |parts: &[Predicate]| Predicate::And(parts.to_vec());
        let matcher = Matcher::new(|_| true);
        let list = |list: &[Literal]| Predicate::In { slot: 0, list: list.to_vec() };
        let many = (0..=NEEDLES_MAX).map(|index| text(0, Eq, &format!("text {index}"))).collect::<Vec<_>>();
        let long = format!("{}Zz{}", "0".repeat(50), "1".repeat(50));
        let rows: [(Predicate, &[&str]); 32] = [
            (text(0, Eq, "x/y"), &["\"x/y\""]),
            (text(0, Eq, ""), &["\"\""]),
            (text(0, Eq, "say \"yes and more\"\n"), &["yes and more"]),
            (text(0, Eq, "\"last"), &["last\""]),
            (text(0, Eq, "\u{FFFD}"), &["\"a\""]),
            (text(0, Eq, "\n"), &["\"a\""]),
            (text(0, Ge, "x"), &["\"a\""]),
            (text(0, Ne, "x"), &["\"a\""]),
            (not(text(0, Ne, "x")), &["\"x\""]),
            (not(text(0, Eq, "x")), &["\"a\""]),
            (number(0), &["\"a\""]),
            (number(1), &[]),
            (number(2), &["\"Properties\""]),
            (number(3), &[]),
            (number(4), &["z\""]),
            (like("%abc%longer_%"), &["longer"]),
            (like("abc%"), &["\"abc"]),
            (like("%abc"), &["abc\""]),
            (like("%_%"), &["\"a\""]),
            (list(&[Literal::Text("x".into()), Literal::Null, Literal::Text("y".into())]), &["\"x\"", "\"y\""]),
            (list(&[Literal::Text("x".into()), Literal::Bool(true)]), &["\"a\""]),
            (not(list(&[Literal::Text("x".into())])), &["\"a\""]),
            (not(list(&[])), &[]),
            (and(&[number(0), text(0, Eq, "x"), text(0, Eq, "rarer")]), &["\"rarer\""]),
            (or(&[text(0, Eq, "x"), number(0), text(0, Eq, "x")]), &["\"x\"", "\"a\""]),
            (or(&[text(0, Eq, "x"), number(1)]), &[]),
            (not(or(&[number(1), not(text(0, Eq, "x"))])), &["\"x\""]),
            (Predicate::IsNull { slot: 0 }, &[]),
            (not(Predicate::IsNull { slot: 2 }), &["\"Properties\""]),
            (or(&many), &[]),
            (Predicate::Matches { slot: 0, matcher: matcher.clone() }, &["\"a\""]),
            (
                Predicate::Matches { slot: 0, matcher: matcher.requiring([&*long]) },
                &["000000000000000000000000000000Zz"],
            ),
        ];
        let projection = Projection::new(&paths);
        for (predicate, wanted) in rows {
            let found = predicate.literals(&projection);
            if found.iter().any(|text| text.contains('Z')) {
                assert!(found.len() == 1 && found[0].len() == NEEDLE_MAX && long.contains(&found[0]), "{found:?}");
            } else {
                assert_eq!(found, wanted, "{predicate:?}");
            }
        }
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        for shift in 0..4 {
            let text = format!("{}{}", "a".repeat(shift), "é😀日".repeat(20));
            let needle = cut(&text);
            assert!(needle.len() > NEEDLE_MAX - 4 && needle.len() <= NEEDLE_MAX && text.contains(needle));
        }
    }
}
