//! A condition on the time field, which the order of the events answers: a block says from when to when its events are.
//!
//! In go a condition and the times of the first and the last event of a block; out comes whether one between them may
//! match, and what is left of the condition if all of them match a part of it. What must hold: all events of the block
//! have the time in the field, as the store reads it, and a query reads it alike ([`TextOrder::Unknown`] says that this is
//! not known).

use super::condition::{Condition, Leaf, Node, opposite};
use crate::event::TextOrder;
use crate::time::{self, Time};
use jird::Path;
use jird::record::{Comparison, Literal, Predicate};
use std::borrow::Cow;

/// Says of a [`Matcher`](jird::record::Matcher) how it compares the time of a text or of a number, as
/// [`time::parse`] and [`time::parse_number`] read it: as its hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeHint {
    /// The comparison, with the field on its left.
    pub op: Comparison,
    /// The constant.
    pub time: Time,
    /// Whether this is known only of times in texts such as `2024-03-05T07:00:00.5Z`. Casts of SQL read others in another way.
    pub is_of_texts: bool,
}

/// When the events of a block are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// Of the first and the last event, in nanoseconds since 1970.
    pub(crate) bounds: (i64, i64),
    pub(crate) order: TextOrder,
}

impl Condition {
    /// Whether an event at one of these times may match.
    pub(crate) fn may_hold_at(&self, time_field: &Path, times: &Times) -> bool {
        if times.order == TextOrder::Unknown {
            return true;
        }
        let slots = self.paths().iter().enumerate().filter(|(_, path)| *path == time_field);
        let slots: Vec<usize> = slots.map(|(slot, _)| slot).collect();
        slots.is_empty() || times.may_hold(self.root(), &slots)
    }

    /// What is left to ask of events at these times, without the comparisons that hold for all of them; `None` if
    /// nothing is.
    pub(crate) fn left_at(&self, time_field: &Path, times: &Times) -> Option<Cow<'_, Self>> {
        let slots: Vec<usize> = (0..self.paths().len()).filter(|slot| self.paths()[*slot] == *time_field).collect();
        let TextOrder::Width(_) = times.order else { return Some(Cow::Borrowed(self)) };
        if !self.slots().iter().any(|slot| slots.contains(slot)) {
            return Some(Cow::Borrowed(self));
        }
        let left = times.left_of(self.root(), &slots)?;
        Some(Cow::Owned(self.with_root(left)))
    }
}

impl Times {
    fn may_hold(&self, node: &Node, slots: &[usize]) -> bool {
        match node {
            Node::All(parts) => parts.iter().all(|part| self.may_hold(part, slots)),
            Node::Any(parts) => parts.iter().any(|part| self.may_hold(part, slots)),
            Node::Leaf(leaf) => !slots.contains(&leaf.on.slot) || self.may_have(leaf, leaf.wanted),
        }
    }

    /// A part without the comparisons that hold for all times; `None` if it always holds.
    fn left_of(&self, node: &Node, slots: &[usize]) -> Option<Node> {
        match node {
            Node::All(parts) => {
                let left: Vec<Node> = parts.iter().filter_map(|part| self.left_of(part, slots)).collect();
                (!left.is_empty()).then_some(Node::All(left))
            }
            Node::Any(parts) => {
                parts.iter().map(|part| self.left_of(part, slots)).collect::<Option<_>>().map(Node::Any)
            }
            Node::Leaf(leaf) => (!(slots.contains(&leaf.on.slot) && self.must_have(leaf))).then(|| node.clone()),
        }
    }

    /// Whether all times have the wanted result. Of a text each comparison is true or false, and never unknown.
    fn must_have(&self, leaf: &Leaf) -> bool {
        let is_understood = match &leaf.predicate {
            Predicate::Compare { literal: Literal::Text(_), .. } => true,
            Predicate::Matches { matcher, .. } => matcher.hint::<TimeHint>().is_some(),
            _ => false,
        };
        is_understood && !self.may_have(leaf, !leaf.wanted)
    }

    /// Whether a time may have this result.
    fn may_have(&self, leaf: &Leaf, wanted: bool) -> bool {
        let meant = |op: Comparison| if wanted { op } else { opposite(op) };
        match &leaf.predicate {
            Predicate::Compare { op, literal: Literal::Text(text), .. } => self.has_text(meant(*op), text),
            Predicate::In { list, .. } if wanted => list.iter().any(|literal| match literal {
                Literal::Text(text) => self.has_text(Comparison::Eq, text),
                _ => true,
            }),
            Predicate::Like { pattern, .. } if wanted => self.has_prefix(&pattern.prefix()),
            Predicate::Matches { matcher, .. } => match matcher.hint::<TimeHint>() {
                Some(hint) if !hint.is_of_texts || self.order.is_of_texts() => self.has_time(meant(hint.op), hint.time),
                _ => true,
            },
            _ => true,
        }
    }

    /// Whether the text of a time may compare so with this text.
    fn has_text(&self, op: Comparison, text: &str) -> bool {
        self.texts().is_none_or(|[first, last]| lies(op, (first.as_str(), last.as_str()), text))
    }

    /// Whether the text of a time may begin so.
    fn has_prefix(&self, prefix: &str) -> bool {
        let Some([first, last]) = self.texts() else { return true };
        last.as_str() >= prefix && first.get(..prefix.len()).is_none_or(|start| start <= prefix)
    }

    fn has_time(&self, op: Comparison, (seconds, nanos): Time) -> bool {
        let wide = |time: i64| i128::from(time);
        let time = i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
        lies(op, (wide(self.bounds.0), wide(self.bounds.1)), time)
    }

    /// The texts of the first and the last time, if the texts of the times between them lie between these.
    fn texts(&self) -> Option<[String; 2]> {
        let TextOrder::Width(width) = self.order else { return None };
        Some([self.bounds.0, self.bounds.1].map(|time| time::of_width(time, width)))
    }
}

/// Whether a value from the first to the last may compare so with a constant.
fn lies<T: PartialOrd + Copy>(op: Comparison, (first, last): (T, T), constant: T) -> bool {
    match op {
        Comparison::Eq => first <= constant && constant <= last,
        Comparison::Ne => !(first == constant && last == constant),
        Comparison::Lt => first < constant,
        Comparison::Le => first <= constant,
        Comparison::Gt => last > constant,
        Comparison::Ge => last >= constant,
    }
}

#[cfg(test)]
mod tests {
    use super::{Condition, Node, TimeHint, Times};
    use crate::event::TextOrder;
    use crate::time;
    use checks::random::Random;
    use jird::Path;
    use jird::record::{Comparison, Field, Like, Literal, Matcher, Mismatches, Predicate};
    use std::borrow::Cow;

    const OPS: [Comparison; 6] =
        [Comparison::Eq, Comparison::Ne, Comparison::Lt, Comparison::Le, Comparison::Gt, Comparison::Ge];

    fn at_time(op: Comparison, constant: i64) -> Predicate {
        let time = (constant.div_euclid(1_000_000_000), constant.rem_euclid(1_000_000_000) as u32);
        let holds = move |found: time::Time| op.holds(found.cmp(&time));
        let matcher = Matcher::unsure(move |text| time::parse(text.as_bytes()).map(holds));
        let matcher = matcher.with_numbers(move |text| time::parse_number(text).map(holds));
        Predicate::Matches { slot: 0, matcher: matcher.with_hint(TimeHint { op, time, is_of_texts: false }) }
    }

    /// A time within four seconds of 1970, in steps of a second or of a tenth.
    fn any_time(random: &mut Random, width: u8) -> i64 {
        let steps = if width < 22 { 8 } else { 80 };
        (random.below(steps) as i64 - steps as i64 / 2) * (8_000_000_000 / steps as i64)
    }

    /// Conditions on a time: as a text, cut anywhere, or as a time; and combinations of them.
    fn any_predicate(random: &mut Random, width: u8, depth: usize) -> Predicate {
        let parts = |random: &mut Random| {
            (0..=random.below(2)).map(|_| any_predicate(random, width, depth + 1)).collect::<Vec<_>>()
        };
        if depth < 3 {
            match random.below(6) {
                0 => return Predicate::And(parts(random)),
                1 => return Predicate::Or(parts(random)),
                2 => return Predicate::Not(any_predicate(random, width, depth + 1).into()),
                _ => {}
            }
        }
        let op = OPS[random.below(6)];
        let time = any_time(random, 30);
        let mut text = time::of_width(time, width);
        match random.below(4) {
            0 => {
                text.truncate(random.below(31));
                Predicate::Compare { slot: 0, op, literal: Literal::Text(text.into()) }
            }
            1 => {
                text.truncate(random.below(31));
                Predicate::Like { slot: 0, pattern: Like::new(&format!("{text}%")) }
            }
            2 => Predicate::In { slot: 0, list: vec![Literal::Text(text.into())] },
            _ => at_time(op, time),
        }
    }

    #[test]
    fn no_block_with_a_match_is_left_out() {
        let path = Path::default().key("@t");
        let (mut found, mut left_out) = (0, 0);
        for seed in 0..20_000 {
            let mut random = Random::new(seed);
            let width = [20, 21, 22, 24][random.below(4)];
            let mut times: Vec<_> = (0..=random.below(3)).map(|_| any_time(&mut random, width)).collect();
            times.sort_unstable();
            let predicate = any_predicate(&mut random, width, 0);
            let condition = Condition::new(&predicate, std::slice::from_ref(&path));
            let bounds = (times[0], times[times.len() - 1]);
            let matches = times.iter().any(|time| {
                let text = format!("\"{}\"", time::of_width(*time, width));
                predicate.eval(&[Field::from_raw(&text)], &mut Mismatches::default()) == Some(true)
            });
            for order in [TextOrder::Width(width), TextOrder::Dated, TextOrder::Unknown] {
                let may = condition.may_hold_at(&path, &Times { bounds, order });
                assert!(may || !matches, "seed {seed}: {order:?} {predicate:?} {times:?}");
                left_out += u64::from(!may);
            }
            found += u64::from(matches);
        }
        assert!(found > 2000 && left_out > 2000, "{found} {left_out}");
    }

    fn holds(node: &Node, fields: &[Field<'_>]) -> bool {
        match node {
            Node::All(parts) => parts.iter().all(|part| holds(part, fields)),
            Node::Any(parts) => parts.iter().any(|part| holds(part, fields)),
            Node::Leaf(leaf) => leaf.predicate.eval(fields, &mut Mismatches::default()) == Some(leaf.wanted),
        }
    }

    #[test]
    fn what_is_left_of_a_condition_holds_for_the_same_times() {
        let paths = [Path::default().key("@t"), Path::default().key("n")];
        let (mut whole, mut shorter) = (0, 0);
        for seed in 0..20_000 {
            let mut random = Random::new(seed);
            let width = [20, 22, 24, 30][random.below(4)];
            let mut times: Vec<_> = (0..=random.below(3)).map(|_| any_time(&mut random, width)).collect();
            times.sort_unstable();
            let one = Predicate::Compare { slot: 1, op: OPS[random.below(6)], literal: Literal::Number("1".into()) };
            let predicate = match (any_predicate(&mut random, width, 0), random.below(3)) {
                (of_time, 0) => of_time,
                (of_time, 1) => Predicate::And(vec![of_time, one]),
                (of_time, _) => Predicate::Or(vec![of_time, one]),
            };
            let condition = Condition::new(&predicate, &paths);
            let bounds = (times[0], times[times.len() - 1]);
            let left = condition.left_at(&paths[0], &Times { bounds, order: TextOrder::Width(width) });
            for (time, number) in times.iter().flat_map(|time| ["0", "1", "2", "null"].map(|number| (time, number))) {
                let text = format!("\"{}\"", time::of_width(*time, width));
                let fields = [Field::from_raw(&text), Field::from_raw(number)];
                let is_left = left.as_deref().is_none_or(|left| holds(left.root(), &fields));
                let is_so = holds(condition.root(), &fields);
                assert_eq!(is_left, is_so, "seed {seed}: {predicate:?} {times:?} {number}");
            }
            whole += u32::from(left.is_none());
            shorter += u32::from(left.is_some_and(|left| !left.slots().contains(&0)));
            for order in [TextOrder::Dated, TextOrder::Unknown] {
                let left = condition.left_at(&paths[0], &Times { bounds, order });
                assert!(
                    matches!(left, Some(Cow::Borrowed(_))),
                    "only texts of one width are known to be true or false"
                );
            }
        }
        assert!(whole > 2000 && shorter > 1000, "{whole} {shorter}");
    }

    #[test]
    fn blocks_outside_are_left_out_if_all_events_have_a_time() {
        let path = Path::default().key("@t");
        let text = |op, text: &str| Predicate::Compare { slot: 0, op, literal: Literal::Text(text.into()) };
        let like = Predicate::Like { slot: 0, pattern: Like::new("1970-01-01T00:00:01%") };
        let times = |order| Times { bounds: (2_000_000_000, 3_000_000_000), order };
        for (predicate, of_texts, of_dates) in [
            (text(Comparison::Lt, "1970-01-01T00:00:02"), false, true),
            (text(Comparison::Lt, "1970-01-01T00:00:02Z"), false, true),
            (text(Comparison::Le, "1970-01-01T00:00:02Z"), true, true),
            (text(Comparison::Ge, "1970-01-01T00:00:03.5Z"), true, true),
            (text(Comparison::Ge, "1970-01-01T00:00:04"), false, true),
            (text(Comparison::Eq, "1970-01-01T00:00:01Z"), false, true),
            (like, false, true),
            (at_time(Comparison::Lt, 2_000_000_000), false, false),
            (at_time(Comparison::Gt, 2_999_999_999), true, true),
            (Predicate::Not(at_time(Comparison::Lt, 3_000_000_001).into()), false, false),
            (Predicate::Or(vec![at_time(Comparison::Lt, 0), text(Comparison::Gt, "1971")]), false, true),
        ] {
            let condition = Condition::new(&predicate, std::slice::from_ref(&path));
            let may = |order| condition.may_hold_at(&path, &times(order));
            assert_eq!(
                (may(TextOrder::Width(20)), may(TextOrder::Dated), may(TextOrder::Unknown)),
                (of_texts, of_dates, true),
                "{predicate:?}"
            );
            assert!(condition.may_hold_at(&Path::default().key("other"), &times(TextOrder::Width(20))));
        }
    }
}
