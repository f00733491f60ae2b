//! The parts of a query (RFC 9535 §2), as the parser makes them and the evaluation reads them.

use super::pattern::Pattern;

/// A query, or one within a filter: its segments. Where it begins is known to its owner.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Query {
    pub(super) segments: Vec<Segment>,
}

/// A segment (§2.5): applied to a node, it selects children of the node.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Segment {
    /// Whether it also selects children of every descendant (`..`).
    pub(super) descends: bool,
    pub(super) selectors: Vec<Selector>,
}

/// A selector (§2.3).
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Selector {
    Name(Box<str>),
    Wildcard,
    /// From the end if negative.
    Index(i64),
    Slice(Slice),
    Filter(Box<Test>),
}

/// `start:end:step` (§2.3.4). A step of 0 selects nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) start: Option<i64>,
    pub(super) end: Option<i64>,
    pub(super) step: i64,
}

/// A logical expression of a filter (§2.3.5).
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test {
    /// `||`
    Any(Vec<Test>),
    /// `&&`
    All(Vec<Test>),
    Not(Box<Test>),
    Compare(Operand, Comparison, Operand),
    /// Whether the query selects a node.
    Exists(Subquery),
    /// `match` (§2.4.6) and `search` (§2.4.7).
    Matches(Operand, Pattern),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// What has a value or Nothing (`ValueType` of §2.4.1).
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    Null,
    Bool(bool),
    /// A number's text.
    Number(Box<str>),
    String(Box<str>),
    /// A singular query: the value of its node.
    Singular(Subquery),
    /// `length` (§2.4.4)
    Length(Box<Operand>),
    /// `count` (§2.4.5)
    Count(Subquery),
    /// `value` (§2.4.8)
    Value(Subquery),
}

/// A query within a filter.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Subquery {
    pub(super) start: Start,
    pub(super) query: Query,
}

/// Where a query within a filter begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// `@`: at the node that the filter tests.
    Current,
    /// `$`: at the document's root. Such a query has the same result for each node; it is kept in the memo of this
    /// number.
    Root(usize),
}

impl Query {
    /// Calls `each` for every pattern in the query's filters.
    pub(super) fn each_pattern(&self, each: &mut dyn FnMut(&Pattern)) {
        for selector in self.segments.iter().flat_map(|segment| &segment.selectors) {
            if let Selector::Filter(test) = selector {
                test.each_pattern(each);
            }
        }
    }
}

impl Test {
    fn each_pattern(&self, each: &mut dyn FnMut(&Pattern)) {
        match self {
            Self::Any(tests) | Self::All(tests) => tests.iter().for_each(|test| test.each_pattern(each)),
            Self::Not(test) => test.each_pattern(each),
            Self::Exists(query) => query.query.each_pattern(each),
            Self::Compare(..) => {}
            Self::Matches(_, pattern) => each(pattern),
        }
    }
}

impl Segment {
    /// Whether it has a filter.
    pub(super) fn filters(&self) -> bool {
        self.selectors.iter().any(|selector| matches!(selector, Selector::Filter(_)))
    }
}

impl Slice {
    /// The first index, the bound that is not reached, and the step, for an array of `len` elements (§2.3.4.2.2).
    /// Without elements, both are the same.
    pub(super) fn bounds(self, len: usize) -> (i64, i64, i64) {
        let len = i64::try_from(len).unwrap_or(i64::MAX);
        let normal = |index: i64| if index >= 0 { index } else { index.saturating_add(len) };
        match self.step {
            0 => (0, 0, 1),
            step @ 1.. => {
                let start = normal(self.start.unwrap_or(0)).clamp(0, len);
                (start, normal(self.end.unwrap_or(len)).clamp(start, len), step)
            }
            step => {
                let start = normal(self.start.unwrap_or(len - 1)).clamp(-1, len - 1);
                (start, self.end.map_or(-1, normal).clamp(-1, start), step)
            }
        }
    }

    /// Whether the element at `index` of `len` is selected.
    pub(super) fn has(self, index: usize, len: usize) -> bool {
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        match self.bounds(len) {
            (start, end, step @ 1..) => index >= start && index < end && (index - start) % step == 0,
            (start, end, step) => index <= start && index > end && (start - index) % step == 0,
        }
    }

    /// Whether the number of elements decides what is selected.
    pub(super) fn counts_from_end(self) -> bool {
        self.step < 0 || self.start.is_some_and(i64::is_negative) || self.end.is_some_and(i64::is_negative)
    }
}

/// The index in an array of `len` elements.
pub(super) fn normal_index(index: i64, len: usize) -> Option<usize> {
    let index = if index >= 0 { index } else { index.checked_add(i64::try_from(len).ok()?)? };
    usize::try_from(index).ok().filter(|index| *index < len)
}

#[cfg(test)]
mod tests {
    use super::Slice;

    #[test]
    fn a_slice_selects_what_the_pseudocode_of_the_standard_does() {
        let choices = || std::iter::once(None).chain((-4..=4).map(Some)).chain([Some(i64::MAX), Some(i64::MIN + 1)]);
        for (start, end) in choices().flat_map(|start| choices().map(move |end| (start, end))) {
            for (step, len) in (-3..=3).flat_map(|step| (0..4).map(move |len| (step, len))) {
                let slice = Slice { start, end, step };
                let wanted = by_the_standard(slice, len);
                let mut found: Vec<i64> = (0..len).filter(|index| slice.has(*index as usize, len as usize)).collect();
                if step < 0 {
                    found.reverse();
                }
                assert_eq!(found, wanted, "{slice:?} of {len}");
                let (mut at, to, step) = slice.bounds(len as usize);
                let mut walked = Vec::new();
                while if step > 0 { at < to } else { at > to } {
                    walked.push(at);
                    at += step;
                }
                assert_eq!(walked, wanted, "{slice:?} of {len}");
            }
        }
    }

    /// RFC 9535 §2.3.4.2.2, word by word.
    fn by_the_standard(Slice { start, end, step }: Slice, len: i64) -> Vec<i64> {
        let normalize = |i: i64| if i >= 0 { i } else { len.saturating_add(i) };
        let start = normalize(start.unwrap_or(if step >= 0 { 0 } else { len - 1 }));
        let end = end.map_or(if step >= 0 { len } else { -1 }, normalize);
        let mut selected = Vec::new();
        if step > 0 {
            let (lower, upper) = (start.max(0).min(len), end.max(0).min(len));
            let mut i = lower;
            while i < upper {
                selected.push(i);
                i += step;
            }
        } else if step < 0 {
            let (upper, lower) = (start.max(-1).min(len - 1), end.max(-1).min(len - 1));
            let mut i = upper;
            while lower < i {
                selected.push(i);
                i += step;
            }
        }
        selected
    }
}
