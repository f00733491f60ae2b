//! Whether two values are equal, as RFC 6902 §4.6 says.

use crate::tape::{Kind, Value};
use std::borrow::Cow;

/// Whether two values are equal: strings by their characters, numbers exactly by value, arrays element by element, and
/// objects member by member in any order (RFC 6902 §4.6).
///
/// If a key occurs several times in an object, the members with this key are compared in order. Takes time linear in the
/// values, times the logarithm of the members of objects whose order differs, and no stack.
///
/// ```
/// let one = jird::parse(br#"{"a": 1.0, "b": ["\u0041", 100]}"#)?;
/// let other = jird::parse(br#"{"b": ["A", 1e2], "a": 1}"#)?;
/// assert!(jird::patch::are_equal(one.root(), other.root()));
/// # Ok::<(), jird::Error>(())
/// ```
pub fn are_equal(one: Value<'_>, other: Value<'_>) -> bool {
    let mut pairs = vec![(one, other)];
    while let Some((one, other)) = pairs.pop() {
        if one.kind() != other.kind() || one.len() != other.len() {
            return false;
        }
        let is_equal = match one.kind() {
            Kind::Null => true,
            Kind::Bool => one.as_bool() == other.as_bool(),
            Kind::Number => same_number(one, other),
            Kind::String => same_string(one, other),
            Kind::Array => {
                pairs.extend(one.elements().zip(other.elements()));
                true
            }
            Kind::Object => same_keys(one, other, &mut pairs),
        };
        if !is_equal {
            return false;
        }
    }
    true
}

fn same_number(one: Value<'_>, other: Value<'_>) -> bool {
    one.raw() == other.raw()
        || one.as_number().zip(other.as_number()).is_some_and(|(one, other)| one.compare(other).is_eq())
}

pub(super) fn same_string(one: Value<'_>, other: Value<'_>) -> bool {
    one.raw() == other.raw() || one.as_str() == other.as_str()
}

/// Whether two objects with the same number of members have the same keys. Their values become pairs to compare.
fn same_keys<'v>(one: Value<'v>, other: Value<'v>, pairs: &mut Vec<(Value<'v>, Value<'v>)>) -> bool {
    let before = pairs.len();
    for ((key, value), (other_key, other_value)) in one.entries().zip(other.entries()) {
        if !same_string(key, other_key) {
            pairs.truncate(before);
            return same_keys_in_any_order(one, other, pairs);
        }
        pairs.push((value, other_value));
    }
    true
}

fn same_keys_in_any_order<'v>(one: Value<'v>, other: Value<'v>, pairs: &mut Vec<(Value<'v>, Value<'v>)>) -> bool {
    let [one, other] = [one, other].map(|object| {
        let mut members: Vec<_> = object.entries().map(|(key, value)| (name(key), value)).collect();
        members.sort_by(|(one, _), (other, _)| one.cmp(other));
        members
    });
    one.into_iter().zip(other).all(|((key, value), (other_key, other_value))| {
        pairs.push((value, other_value));
        key == other_key
    })
}

/// The content of a key.
pub(super) fn name(key: Value<'_>) -> Cow<'_, str> {
    key.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(one: &str, other: &str, wanted: bool) {
        let [one, other] = [one, other].map(|text| crate::parse(text.as_bytes()).unwrap());
        assert_eq!(are_equal(one.root(), other.root()), wanted, "{one:?} {other:?}");
        assert_eq!(are_equal(other.root(), one.root()), wanted, "{other:?} {one:?}");
    }

    #[test]
    fn values_are_equal_by_what_they_mean() {
        check("1", "1.0", true);
        check("100", "1e2", true);
        check("-0", "0.0", true);
        check("9007199254740993", "9007199254740992", false);
        check("0.1", "0.1000000000000000055511151231257827", false);
        check("1", r#""1""#, false);
        check(r#""\u00e9\/""#, r#""é/""#, true);
        check("null", "false", false);
        check("[1, 2]", "[2, 1]", false);
        check("[[]]", "[{}]", false);
        check(r#"{"a": 1, "b": [2]}"#, r#"{"b": [2.0], "a": 1}"#, true);
        check(r#"{"a": 1, "b": 2}"#, r#"{"a": 1, "c": 2}"#, false);
        check(r#"{"a": 1}"#, r#"{"a": 1, "b": 2}"#, false);
    }

    #[test]
    fn members_with_one_key_are_compared_in_order() {
        check(r#"{"a": 1, "a": 2, "b": 3}"#, r#"{"b": 3, "a": 1, "a": 2}"#, true);
        check(r#"{"a": 1, "a": 2}"#, r#"{"a": 2, "a": 1}"#, false);
        check(r#"{"a": 1, "b": 1}"#, r#"{"a": 1, "a": 1}"#, false);
    }
}
