//! One comparison, made ready for the cells of a column.

use super::{ColumnFacts, ColumnType, texts};
use crate::index::{FieldKinds, Leaf};
use jird::Number;
use jird::record::{Comparison, Literal, Predicate};
use std::cmp::Ordering;

/// How the numbers of a column differ from the doubles that stand for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounding {
    /// They are these doubles.
    None,
    /// They are the shortest decimals that are read as these doubles.
    Shortest,
    /// Any number that is read as such a double may be there.
    Unknown,
}

impl Rounding {
    /// That of two columns together.
    pub(super) fn with(self, other: Self) -> Self {
        // A double that is a number itself need not be the shortest one.
        if self == other { self } else { Self::Unknown }
    }
}

/// A constant as a double.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounded {
    /// The nearest double, which may be infinite.
    double: f64,
    /// How the double compares with the constant itself.
    order: Option<Ordering>,
    /// How the shortest decimal of the double compares with it.
    shortest: Option<Ordering>,
}

impl Rounded {
    /// `None` if the text is not a number.
    pub(super) fn new(text: &str) -> Option<Self> {
        let number = Number::new(text)?;
        let Some(double) = number.to_f64() else {
            let double = if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY };
            return Some(Self { double, order: None, shortest: None });
        };
        let mut written = Vec::new();
        texts::number(double, &mut written);
        let compare = |text: &str| Number::new(text).map(|other| other.compare(number));
        let shortest = str::from_utf8(&written).ok().and_then(compare);
        if number.is_exact_f64() {
            return Some(Self { double, order: Some(Ordering::Equal), shortest });
        }
        // No double has more significant digits than these 767.
        Some(Self { double, order: compare(&format!("{double:.766e}")), shortest })
    }

    /// The numbers whose order with the constant may be one for which `holds`.
    pub(super) fn bounds(self, holds: impl Fn(Ordering) -> bool, rounding: Rounding) -> Bounds {
        let equal = self.compare(self.double, rounding).is_none_or(&holds);
        let may_be = [holds(Ordering::Less), equal, holds(Ordering::Greater)];
        Bounds { double: self.double, may_be: may_be.into_iter().rev().fold(0, |bits, may| bits << 1 | u8::from(may)) }
    }

    /// How a number compares with the constant, given the double that stands for it. `None`: it cannot be said.
    #[inline]
    pub(super) fn compare(self, cell: f64, rounding: Rounding) -> Option<Ordering> {
        match cell.partial_cmp(&self.double) {
            Some(Ordering::Equal) => match rounding {
                Rounding::None => self.order,
                Rounding::Shortest => self.shortest,
                Rounding::Unknown => None,
            },
            order => order,
        }
    }
}

/// Which numbers may match, by how their doubles compare with another one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    double: f64,
    /// A bit each for those that are less, equal and greater.
    may_be: u8,
}

impl Bounds {
    /// Whether a number may match. No column has what is no number.
    #[inline]
    pub(super) fn may_be(self, cell: f64) -> bool {
        // Without branches, so that many rows are compared at once.
        let order = u8::from(cell >= self.double) + u8::from(cell > self.double);
        self.may_be >> order & 1 == 1
    }
}

/// What is asked of each number.
pub(super) enum AskNumber {
    Compare(Comparison, Rounded),
    In(Vec<Rounded>),
    /// Its kind decides.
    Anything,
}

impl AskNumber {
    pub(super) fn of(leaf: &Leaf) -> Self {
        match &leaf.predicate {
            Predicate::Compare { op, literal: Literal::Number(text), .. } => {
                Rounded::new(text).map_or(Self::Anything, |rounded| Self::Compare(*op, rounded))
            }
            Predicate::In { list, .. } => {
                let numbers = list.iter().filter_map(|literal| match literal {
                    Literal::Number(text) => Some(Rounded::new(text)),
                    _ => None,
                });
                numbers.collect::<Option<_>>().map_or(Self::Anything, Self::In)
            }
            _ => Self::Anything,
        }
    }

    /// Whether the comparison may have the wanted result.
    #[inline]
    pub(super) fn may_be(&self, wanted: bool, cell: f64, rounding: Rounding) -> bool {
        match self {
            Self::Compare(op, constant) => constant.bounds(|order| op.holds(order) == wanted, rounding).may_be(cell),
            Self::In(list) => {
                let mut orders = list.iter().map(|constant| constant.compare(cell, rounding));
                if wanted {
                    orders.any(|order| order.is_none_or(Ordering::is_eq))
                } else {
                    orders.all(|order| order.is_none_or(Ordering::is_ne))
                }
            }
            Self::Anything => true,
        }
    }
}

/// Whether a comparison may have the wanted result for a text.
pub(super) fn text_may_be(leaf: &Leaf, cell: &str) -> bool {
    let known = match &leaf.predicate {
        Predicate::Compare { op, literal: Literal::Text(constant), .. } => {
            op.holds(cell.as_bytes().cmp(constant.as_bytes()))
        }
        Predicate::In { list, .. } => {
            list.iter().any(|literal| matches!(literal, Literal::Text(constant) if **constant == *cell))
        }
        Predicate::Like { pattern, .. } => pattern.matches(cell),
        // A test that has no answer is not known to be false here, which keeps the row.
        Predicate::Matches { matcher, .. } => matcher.matches(cell),
        _ => return true,
    };
    known == leaf.wanted
}

/// Whether a comparison is decided by a column of this type, for all of its rows.
pub(super) fn is_exact(leaf: &Leaf, kind: ColumnType, facts: ColumnFacts) -> bool {
    let is_like = |literal: &Literal| match kind {
        ColumnType::Number | ColumnType::Decimal(_) => {
            matches!(literal, Literal::Number(_)) && facts.rounding() != Rounding::Unknown
        }
        ColumnType::Text | ColumnType::Words => matches!(literal, Literal::Text(_)),
        ColumnType::Bool => matches!(literal, Literal::Bool(_)),
        ColumnType::Spellings => false,
    };
    !facts.has_others()
        && match &leaf.predicate {
            Predicate::Compare { literal, .. } => is_like(literal),
            Predicate::In { list, .. } => kind != ColumnType::Bool && list.iter().all(is_like),
            Predicate::Like { .. } => matches!(kind, ColumnType::Text | ColumnType::Words),
            Predicate::Truth { .. } => kind == ColumnType::Bool,
            Predicate::IsNull { .. } => true,
            _ => false,
        }
}

/// Whether a comparison may have the wanted result for a value of one of these kinds.
pub(super) fn kind_may_be(leaf: &Leaf, kinds: FieldKinds) -> bool {
    leaf.on.kinds.has(kinds)
}
