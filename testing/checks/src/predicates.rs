//! Compares predicates with three-valued logic as in SQL textbooks.

use crate::lines::{find, paths};
use crate::random::Random;
use crate::reference::{self, Node, Tree};
use crate::{CHUNK_BYTES, shown, ways};
use jird::hooks::Kernel;
use jird::hooks::lines::When;
use jird::lines::{Check, Options, Scanner};
use jird::policy::Policy;
use jird::record::{Comparison, JsonTest, Like, Literal, Matcher, Mismatches, Predicate, Projection};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// The first eight bytes make a predicate; the rest is lines. Of the records before the first fault, exactly those that
/// the naive evaluator keeps are kept. The predicate alone gives the same answer for every field. Reading only the
/// lines that can match changes nothing, except for bad lines that cannot match.
///
/// # Panics
/// If this does not hold.
pub fn predicates(data: &[u8]) {
    let Some((seed, text)) = data.split_first_chunk() else { return };
    let mut random = Random::new(u64::from_le_bytes(*seed));
    let (records, fault) = reference::read_lines(text, Policy::DEPTH_MAX);
    let paths = paths(text, &records);
    let projection = Projection::new(&paths);
    let predicate = predicate(&mut random, paths.len(), 3);
    let wanted: Vec<usize> = records
        .iter()
        .filter(|record| {
            let slots: Vec<_> = paths.iter().map(|path| find(record, path)).collect();
            naive(&predicate, &slots, text) == Some(true)
        })
        .map(|record| record.start)
        .collect();
    for kernel in ways(Kernel::available()) {
        for piece_bytes in ways([CHUNK_BYTES[0], CHUNK_BYTES[2]]) {
            let options = Options { kernel, piece_bytes, ..Options::default() };
            let kept = Kept::of(text, options, &projection, &predicate);
            let name = format!("{} {predicate:?} of {}", kernel.name(), shown(text));
            let end = kept.bad.first().copied().unwrap_or(usize::MAX);
            let before = kept.rows.iter().copied().take_while(|&row| row < end);
            assert!(before.eq(wanted.iter().copied()), "{name}");
            assert_eq!(end == usize::MAX, fault.is_none(), "{name}");
            for check in ways([Check::All, Check::Touched, Check::Trusted]) {
                let options = Options { check, ..options };
                assert_searches_change_nothing(text, options, &projection, &predicate, &kept, &name);
            }
        }
    }
    // Unknown and false both keep nothing, so only evaluating the predicate itself shows the difference.
    let _ = Scanner::new(Options::default()).scan(text, &projection, None, |row| {
        let record = records.iter().find(|record| record.start == row.offset()).expect("the reference has the record");
        let slots: Vec<_> = paths.iter().map(|path| find(record, path)).collect();
        let mut mismatches = Mismatches::default();
        let found = predicate.eval(row.fields(), &mut mismatches);
        assert_eq!(found, naive(&predicate, &slots, text), "{predicate:?} of {}", shown(row.text()));
        if let Predicate::Compare { slot, literal, .. } = &predicate {
            let wanted = u64::from(kinds_differ(slots[*slot], literal));
            assert_eq!(mismatches.kinds, wanted, "{predicate:?} of {}", shown(row.text()));
        }
        ControlFlow::Continue(())
    });
}

/// What a scan kept.
#[derive(Debug, PartialEq)]
struct Kept {
    rows: Vec<usize>,
    bad: Vec<usize>,
    records: u64,
    mismatches: Mismatches,
}

impl Kept {
    fn of(text: &[u8], options: Options, projection: &Projection, predicate: &Predicate) -> Self {
        let (mut rows, mut bad) = (Vec::new(), Vec::new());
        let scanned = Scanner::new(options).scan_all(
            text,
            projection,
            Some(predicate),
            |row| {
                assert_eq!(predicate.eval(row.fields(), &mut Mismatches::default()), Some(true));
                rows.push(row.offset());
                ControlFlow::Continue(())
            },
            |line| {
                bad.push(line.offset);
                ControlFlow::Continue(())
            },
        );
        assert_eq!((scanned.matched, scanned.bad), (rows.len() as u64, bad.len() as u64));
        assert!(scanned.touched <= scanned.records, "{scanned:?}");
        Self { rows, bad, records: scanned.records, mismatches: scanned.mismatches }
    }
}

/// Checks that reading only the lines that can match finds the same matches, whether the scanner searches for them or
/// not. For valid lines this holds without checks too. `all` is what was kept with all checks.
fn assert_searches_change_nothing(
    text: &[u8],
    options: Options,
    projection: &Projection,
    predicate: &Predicate,
    all: &Kept,
    name: &str,
) {
    let kept = |search| Kept::of(text, Options { search, ..options }, projection, predicate);
    let (always, never) = (kept(When::Always), kept(When::Never));
    match options.check {
        Check::All => assert_eq!((&always, &never), (all, all), "{name}"),
        Check::Touched => {
            assert_eq!(always, never, "{name}");
            assert_eq!(always, kept(When::Measured), "{name}");
            assert_eq!(always.rows, all.rows, "{name}");
            assert!(always.bad.iter().all(|line| all.bad.contains(line)), "{name}");
            // A bad line that cannot match was skipped, and counts as a record.
            assert_eq!(always.records + always.bad.len() as u64, all.records + all.bad.len() as u64, "{name}");
        }
        Check::Trusted if all.bad.is_empty() => {
            assert_eq!(always, never, "{name}");
            assert_eq!((always.rows, always.records), (all.rows.clone(), all.records), "{name}");
        }
        Check::Trusted => {}
    }
}

/// A predicate over `slots` slots.
fn predicate(random: &mut Random, slots: usize, depth: usize) -> Predicate {
    let slot = random.below(slots);
    let op =
        random.pick(&[Comparison::Eq, Comparison::Ne, Comparison::Lt, Comparison::Le, Comparison::Gt, Comparison::Ge]);
    let several =
        |random: &mut Random| -> Vec<_> { (0..random.below(4)).map(|_| predicate(random, slots, depth - 1)).collect() };
    match random.below(if depth == 0 { 9 } else { 12 }) {
        0..=2 => Predicate::Compare { slot, op, literal: literal(random) },
        3 | 4 => Predicate::CompareSlots { left: slot, op, right: random.below(slots) },
        5 => Predicate::In { slot, list: (0..random.below(4)).map(|_| literal(random)).collect() },
        6 => Predicate::IsNull { slot },
        7 => match random.below(4) {
            3 => Predicate::Json { slot, test: JsonTest::new(|json| json.contains(['a', '1', '['])) },
            0 => Predicate::Matches {
                slot,
                matcher: Matcher::new(|text| text.contains(['a', '/'])).requiring(["a", "/"]),
            },
            _ => Predicate::Like {
                slot,
                pattern: Like::new(random.pick(&[
                    "a%",
                    "%a%",
                    "_",
                    "%é",
                    "",
                    "a\\_",
                    "%/ /%",
                    "\u{1F600}",
                    "日_語",
                    "%a%b",
                ])),
            },
        },
        8 => Predicate::Truth { slot },
        9 => Predicate::And(several(random)),
        10 => Predicate::Or(several(random)),
        _ => Predicate::Not(Box::new(predicate(random, slots, depth - 1))),
    }
}

fn literal(random: &mut Random) -> Literal {
    match random.below(9) {
        0 => Literal::Null,
        8 => Literal::Container(
            (random.pick(&[
                "[]",
                "[1.0]",
                "{}",
                r#"{"a":1e0}"#,
                "[[],{}]",
                r#"["a",null]"#,
                r#"{"b":[true], "a": 2}"#,
            ]))
            .into(),
        ),
        1 => Literal::Bool(random.below(2) == 0),
        2..=4 => Literal::Text(
            (random.pick(&["", "a", "ab", "1", "é", "a\nb", "\u{1F600}", "日本語", "// /* */ {[,:]}", "\\"])).into(),
        ),
        _ => Literal::Number(
            (random.pick(&["0", "1", "1.0", "-1.5e-3", "100", "9223372036854775808", "1e400", "0.1"])).into(),
        ),
    }
}

fn naive(predicate: &Predicate, slots: &[Option<&Node>], text: &[u8]) -> Option<bool> {
    match predicate {
        // False is the least, true the greatest, and unknown is between them. `and` is the minimum, `or` the maximum.
        Predicate::And(all) => all.iter().map(|part| rank(naive(part, slots, text))).min().map_or(Some(true), unrank),
        Predicate::Or(any) => any.iter().map(|part| rank(naive(part, slots, text))).max().map_or(Some(false), unrank),
        Predicate::Not(inner) => naive(inner, slots, text).map(|known| !known),
        Predicate::Compare { slot, op, literal } => {
            let operand = slots[*slot].map(|node| Operand::of_node(node, text));
            order(operand, Some(Operand::of_literal(literal))).map(|order| op.holds(order))
        }
        Predicate::CompareSlots { left, op, right } => {
            let [left, right] = [left, right].map(|slot| slots[*slot].map(|node| Operand::of_node(node, text)));
            order(left, right).map(|order| op.holds(order))
        }
        // `x in (a, b)` is short for `x = a or x = b`.
        Predicate::In { slot, list } => {
            let equal =
                |literal: &Literal| Predicate::Compare { slot: *slot, op: Comparison::Eq, literal: literal.clone() };
            naive(&Predicate::Or(list.iter().map(equal).collect()), slots, text)
        }
        Predicate::IsNull { slot } => Some(slots[*slot].is_none_or(|node| node.tree == Tree::Null)),
        Predicate::Like { slot, pattern } => content(slots[*slot]).map(|content| pattern.matches(content)),
        Predicate::Matches { slot, matcher } => content(slots[*slot]).map(|content| matcher.matches(content)),
        Predicate::Json { slot, test } => {
            let node = slots[*slot].filter(|node| node.tree != Tree::Null)?;
            Some(test.holds(std::str::from_utf8(&text[node.start..node.end]).expect("the text is JSON")))
        }
        Predicate::Truth { slot } => match slots[*slot]?.tree {
            Tree::Bool(known) => Some(known),
            _ => None,
        },
    }
}

fn rank(known: Option<bool>) -> u8 {
    match known {
        Some(false) => 0,
        None => 1,
        Some(true) => 2,
    }
}

fn unrank(rank: u8) -> Option<bool> {
    match rank {
        0 => Some(false),
        2 => Some(true),
        _ => None,
    }
}

fn content(node: Option<&Node>) -> Option<&str> {
    if let Tree::String(content) = &node?.tree { Some(content) } else { None }
}

fn kinds_differ(node: Option<&Node>, literal: &Literal) -> bool {
    let Some(kind) = node.map(|node| &node.tree).filter(|tree| **tree != Tree::Null) else { return false };
    match literal {
        Literal::Null => false,
        Literal::Bool(_) => !matches!(kind, Tree::Bool(_)),
        Literal::Number(_) => !matches!(kind, Tree::Number),
        Literal::Text(_) => !matches!(kind, Tree::String(_)),
        Literal::Container(text) if text.starts_with('[') => !matches!(kind, Tree::Array(_)),
        Literal::Container(_) => !matches!(kind, Tree::Object(_)),
    }
}

/// A value. Kinds are ordered as they stand here, and values of one kind among each other.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Operand {
    Null,
    Bool(bool),
    Number(Decimal),
    Text(String),
    Array(Vec<Operand>),
    /// The keys in order, and their values.
    Object(Vec<String>, Vec<Operand>),
}

impl Operand {
    fn of_node(node: &Node, text: &[u8]) -> Self {
        match &node.tree {
            Tree::Null => Self::Null,
            Tree::Bool(known) => Self::Bool(*known),
            Tree::Number => Self::Number(Decimal::of(&String::from_utf8_lossy(&text[node.start..node.end]))),
            Tree::String(content) => Self::Text(content.clone()),
            Tree::Array(elements) => Self::Array(elements.iter().map(|node| Self::of_node(node, text)).collect()),
            Tree::Object(members) => {
                let mut first = BTreeMap::new();
                for (key, value) in members {
                    first.entry(content(Some(key)).unwrap_or_default().to_owned()).or_insert(value);
                }
                let values = first.values().map(|value| Self::of_node(value, text)).collect();
                Self::Object(first.into_keys().collect(), values)
            }
        }
    }

    fn of_literal(literal: &Literal) -> Self {
        match literal {
            Literal::Null => Self::Null,
            Literal::Bool(known) => Self::Bool(*known),
            Literal::Number(text) => Self::Number(Decimal::of(text)),
            Literal::Text(text) => Self::Text(text.to_string()),
            Literal::Container(text) => {
                let node = reference::read(text.as_bytes(), Policy::DEPTH_MAX).expect("these literals are JSON");
                Self::of_node(&node, text.as_bytes())
            }
        }
    }
}

/// How two values of one kind are ordered; unknown if their kinds differ, or if one is null.
fn order(left: Option<Operand>, right: Option<Operand>) -> Option<Ordering> {
    let (left, right) = (left?, right?);
    let is_one_kind = std::mem::discriminant(&left) == std::mem::discriminant(&right);
    (is_one_kind && left != Operand::Null).then(|| left.cmp(&right))
}

/// The number 0.d₁d₂d₃… × 10^`exponent`. d₁ and the last digit are not 0, and zero has no digits.
struct Decimal {
    negative: bool,
    exponent: i128,
    digits: Vec<u8>,
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Decimal {
    fn of(text: &str) -> Self {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let exponent: i128 = exponent.parse().unwrap_or(if exponent.starts_with('-') { -1 << 100 } else { 1 << 100 });
        let (whole, fraction) =
            mantissa.trim_start_matches('-').split_once('.').unwrap_or((mantissa.trim_start_matches('-'), ""));
        let all: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let zeros = all.iter().take_while(|&&digit| digit == b'0').count();
        let mut digits = all[zeros..].to_vec();
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        let exponent = if digits.is_empty() { 0 } else { exponent + whole.len() as i128 - zeros as i128 };
        Self { negative: mantissa.starts_with('-') && !digits.is_empty(), exponent, digits }
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let size =
            |number: &Self| (!number.digits.is_empty(), if number.digits.is_empty() { 0 } else { number.exponent });
        let sizes = || size(self).cmp(&size(other)).then_with(|| self.digits.cmp(&other.digits));
        match (self.negative, other.negative) {
            (false, false) => sizes(),
            (true, true) => sizes().reverse(),
            (left, right) => right.cmp(&left),
        }
    }
}
