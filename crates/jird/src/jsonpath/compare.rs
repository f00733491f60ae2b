//! Comparisons of values (RFC 9535 §2.3.5.2.2).

use super::steps::Steps;
use super::syntax::Comparison;
use crate::number::Number;
use crate::tape::{Kind, Value};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;

/// What an operand has: a value or Nothing.
#[derive(Clone, Debug)]
pub(super) enum Comparable<'a> {
    Nothing,
    Null,
    Bool(bool),
    Number(Number<'a>),
    /// A length or a number of nodes.
    Count(usize),
    String(Cow<'a, str>),
    /// An array or object.
    Container(Value<'a>),
}

impl<'a> Comparable<'a> {
    /// A value of the document.
    pub(super) fn of(value: Value<'a>) -> Self {
        match value.kind() {
            Kind::Null => Self::Null,
            Kind::Bool => value.as_bool().map_or(Self::Nothing, Self::Bool),
            Kind::Number => value.as_number().map_or(Self::Nothing, Self::Number),
            Kind::String => value.as_str().map_or(Self::Nothing, Self::String),
            Kind::Object | Kind::Array => Self::Container(value),
        }
    }

    /// `length` of §2.4.4: of a string in characters, of an array or object in children; otherwise Nothing.
    pub(super) fn length(&self) -> Self {
        match self {
            Self::String(text) => Self::Count(text.chars().count()),
            Self::Container(value) => Self::Count(value.len()),
            _ => Self::Nothing,
        }
    }

    /// Whether the comparison is true. Numbers compare exactly, strings by their characters.
    pub(super) fn compare(&self, comparison: Comparison, other: &Self, steps: &Steps) -> bool {
        match comparison {
            Comparison::Equal => self.equals(other, steps),
            Comparison::NotEqual => !self.equals(other, steps),
            Comparison::Less => self.order(other) == Some(Ordering::Less),
            Comparison::Greater => self.order(other) == Some(Ordering::Greater),
            Comparison::LessOrEqual => self.order(other) == Some(Ordering::Less) || self.equals(other, steps),
            Comparison::GreaterOrEqual => self.order(other) == Some(Ordering::Greater) || self.equals(other, steps),
        }
    }

    fn equals(&self, other: &Self, steps: &Steps) -> bool {
        match (self, other) {
            (Self::Nothing, Self::Nothing) | (Self::Null, Self::Null) => true,
            (Self::Bool(one), Self::Bool(two)) => one == two,
            (Self::Container(one), Self::Container(two)) => same(*one, *two, steps),
            _ => self.order(other) == Some(Ordering::Equal),
        }
    }

    /// The order of two numbers or two strings; others have none.
    fn order(&self, other: &Self) -> Option<Ordering> {
        if let (Self::String(one), Self::String(two)) = (self, other) {
            return Some(one.as_bytes().cmp(two.as_bytes()));
        }
        let (mut one, mut two) = (String::new(), String::new());
        Some(self.number(&mut one)?.compare(other.number(&mut two)?))
    }

    fn number<'s>(&'s self, text: &'s mut String) -> Option<Number<'s>> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Count(count) => {
                *text = count.to_string();
                Number::new(text)
            }
            _ => None,
        }
    }
}

/// Whether two values are equal: arrays by their elements, objects by their members in any order. Of members with one
/// key the first counts. Takes time linear in the smaller value, and no stack.
fn same<'a>(one: Value<'a>, two: Value<'a>, steps: &Steps) -> bool {
    let mut left = vec![(one, two)];
    while let Some((one, two)) = left.pop() {
        if !steps.may_step(1) {
            return false;
        }
        let is_same = match (one.kind(), two.kind()) {
            (Kind::Array, Kind::Array) => {
                let may_be = one.len() == two.len();
                left.extend(one.elements().zip(two.elements()).filter(|_| may_be));
                may_be
            }
            (Kind::Object, Kind::Object) => match_members(one, two, &mut left),
            (Kind::Object | Kind::Array, _) | (_, Kind::Object | Kind::Array) => false,
            _ => Comparable::of(one).equals(&Comparable::of(two), steps),
        };
        if !is_same {
            return false;
        }
    }
    true
}

/// Up to this number, members are compared one by one.
const FEW: usize = 8;

/// Adds the pairs of values whose keys are equal. False if some key is in one object only.
fn match_members<'a>(one: Value<'a>, two: Value<'a>, left: &mut Vec<(Value<'a>, Value<'a>)>) -> bool {
    if one.len() <= FEW && two.len() <= FEW {
        let has_all = |of: Value<'a>, from: Value<'a>| {
            from.entries().all(|(key, _)| key.as_str().is_some_and(|key| of.get(&key).is_some()))
        };
        let firsts = one.entries().filter_map(|(key, _)| {
            let key = key.as_str()?;
            Some((one.get(&key)?, two.get(&key)?))
        });
        left.extend(firsts);
        return has_all(two, one) && has_all(one, two);
    }
    let (one, two) = (by_key(one), by_key(two));
    one.len() == two.len()
        && one.iter().all(|(key, value)| {
            two.get(key).is_some_and(|other| {
                left.push((*value, *other));
                true
            })
        })
}

/// The first member of each key.
fn by_key(object: Value<'_>) -> HashMap<Cow<'_, str>, Value<'_>> {
    let mut members = HashMap::with_capacity(object.len());
    for (key, value) in object.entries() {
        if let Some(key) = key.as_str() {
            members.entry(key).or_insert(value);
        }
    }
    members
}
