//! What must stand in the raw bytes of a record that a predicate can keep, so that other records need not be read (the idea
//! of Sparser: Palkar et al., "Filter Before You Parse", PVLDB 11(11), 2018; there matches that are spelled with escapes are
//! lost).
//!
//! A [`Needle`] is a text as it stands decoded. A record *has* it where each of its characters follows as it is or as an
//! escape: `\u` and its code, or `\/`. All other escapes mean characters that have to be escaped; those cut a needle. Numbers
//! give none, since a number has many spellings.

use super::like::Like;
use super::predicate::{Comparison, Literal, Matcher, Predicate};
use super::select::Projection;
use crate::path::Step;
use crate::text::{Escape, starts_unescaped};

/// As many needles are searched for at once; where a predicate needs more, it has none.
pub(crate) const NEEDLES_MAX: usize = 8;

/// The longest needle, in bytes. Longer texts are cut to their rarest part.
pub(crate) const NEEDLE_MAX: usize = 32;

/// What one search looks for. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Needles {
    all: Vec<Needle>,
    /// What follows a backslash in the escapes that could spell a part of a needle.
    pub(crate) escapes: [u8; 2],
    /// The bytes that stand in needles.
    bytes: [bool; 256],
}

/// A text, with a quote at either end where a string begins or ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Needle {
    text: Box<str>,
    pub(crate) pair: Pair,
}

/// Two bytes of a needle, those that are rarest in logs. Where they are one, the needle is a byte long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) first: u8,
    pub(crate) second: u8,
    /// Where the first stands in the needle.
    pub(crate) at: usize,
    /// How far behind it the second stands: less than [`NEEDLE_MAX`].
    pub(crate) distance: usize,
}

impl Needles {
    /// Some needle of these stands in each record of which `predicate` is true. `None` if nothing is known, or too much.
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

    /// Whether a needle has its first escape at the backslash `text[at]`, or has none and its pair's first byte at `at`.
    #[inline(never)]
    pub(crate) fn stand_at(&self, text: &[u8], at: usize) -> bool {
        if text[at] != b'\\' {
            return self.all.iter().any(|needle| needle.stands_at(text, at));
        }
        let escape = Escape::read(&text[at..]);
        let char = &escape.utf8.to_le_bytes()[..escape.utf8_len];
        let (before, behind) = (&text[..at], &text[at + escape.len..]);
        // Most escapes spell what no needle has.
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

    /// Whether it stands in the text, without escapes, its pair's first byte at `at`.
    fn stands_at(&self, text: &[u8], at: usize) -> bool {
        let Some(start) = at.checked_sub(self.pair.at) else { return false };
        text[start..].starts_with(self.text.as_bytes())
    }

    /// Whether it stands there with `char` as its first escape. Each match with escapes has a first, and no escape before it.
    fn stands_around(&self, before: &[u8], char: &[u8], behind: &[u8]) -> bool {
        let bytes = self.text.as_bytes();
        (0..bytes.len()).any(|at| {
            let (head, tail) = bytes.split_at(at);
            tail[0] == char[0]
                && tail.strip_prefix(char).is_some_and(|tail| before.ends_with(head) && starts_unescaped(behind, tail))
        })
    }
}

/// Texts of which a record must have one.
struct Needed {
    texts: Vec<Box<str>>,
    /// Some are keys, which most records have.
    keys: bool,
    /// How rare the most frequent of the texts is.
    bits: u32,
}

impl Needed {
    fn one(text: Box<str>, keys: bool) -> Self {
        let bits = text.bytes().map(bits).sum();
        Self { texts: vec![text], keys, bits }
    }

    /// A record needs one of all of these: `None` if any of them is.
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

    /// A record needs each of these: the best of them.
    fn best(all: impl Iterator<Item = Option<Self>>) -> Option<Self> {
        all.flatten().max_by_key(|needed| (!needed.keys, needed.bits))
    }
}

struct Derive<'p> {
    projection: &'p Projection,
}

impl Derive<'_> {
    /// What a record needs for `predicate` to be `wanted`.
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
                // Nothing equals null; what else equals a text is a text.
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
            // Nothing is among no constants, not even what is missing.
            Predicate::In { list, .. } if list.is_empty() => None,
            Predicate::CompareSlots { left, right, .. } => {
                Needed::best([self.key(*left), self.key(*right)].into_iter())
            }
            Predicate::Compare { slot, .. }
            | Predicate::In { slot, .. }
            | Predicate::Like { slot, .. }
            | Predicate::Matches { slot, .. }
            | Predicate::IsNull { slot }
            | Predicate::Truth { slot } => self.key(*slot),
        }
    }

    /// What a record needs to have a value in a slot: the keys that lead to it.
    fn key(&self, slot: usize) -> Option<Needed> {
        let steps = self.projection.paths().get(slot)?.steps();
        let keys = steps.iter().enumerate().filter_map(|(index, step)| match step {
            // A record that is no object has this key without it standing there.
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

/// The rarest part of texts that a record must all have. The two flags of each say whether a string begins with it, and whether
/// one ends.
fn rarest<'a>(texts: impl IntoIterator<Item = (&'a str, bool, bool)>) -> Option<Needed> {
    Needed::best(texts.into_iter().flat_map(|(text, starts, ends)| parts(text, starts, ends)).map(Some))
}

/// The parts of a text that stand in a JSON string as they are, but for escapes that are a writer's choice.
fn parts(text: &str, starts: bool, ends: bool) -> Vec<Needed> {
    // U+FFFD is also what stands for a bad escape.
    let must_be_escaped = |char| matches!(char, '"' | '\\' | '\0'..='\x1f' | char::REPLACEMENT_CHARACTER);
    let count = text.split(must_be_escaped).count();
    let parts = text.split(must_be_escaped).enumerate().map(|(index, part)| {
        let open = if starts && index == 0 { "\"" } else { "" };
        let close = if ends && index + 1 == count { "\"" } else { "" };
        format!("{open}{part}{close}")
    });
    parts.filter(|part| !matches!(part.as_str(), "" | "\"")).map(|part| Needed::one(cut(&part).into(), false)).collect()
}

/// The rarest part of a text that is no longer than [`NEEDLE_MAX`], in whole characters: an escape spells a whole one.
fn cut(text: &str) -> &str {
    let parts = text.char_indices().map(|(start, _)| {
        let end = text.len().min(start + NEEDLE_MAX);
        &text[start..text.floor_char_boundary(end)]
    });
    // Of equals the first.
    parts.rev().max_by_key(|part| part.bytes().map(bits).sum::<u32>()).unwrap_or(text)
}

/// How rare a byte is in logs: minus the logarithm of its share, roughly.
fn bits(byte: u8) -> u32 {
    u32::from(BITS[usize::from(byte)])
}

/// Measured on generated events and on the access, event and vendor logs that the engine is tested with. What is beyond ASCII is
/// common where it stands at all.
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
