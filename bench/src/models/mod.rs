//! Documents as structs, with members in the document's order. Every peer that uses serde reads and writes the same
//! structs.

pub(crate) mod canada;
pub(crate) mod citm;
pub(crate) mod decoded;
pub(crate) mod encoded;
pub(crate) mod twitter;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Text that is borrowed if it has no escapes. (A plain `Cow` in an `Option` or a `Vec` would always be copied.)
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(transparent)]
pub(crate) struct Text<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

/// Whether two documents have the same values; 1 and 1.0 are the same number.
pub(crate) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, one)| other.get(key).is_some_and(|other| same(one, other)))
        }
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task;

    /// Checks that the model reads the whole document and writes it again.
    fn check<'a, T: Deserialize<'a> + Serialize>(text: &'a [u8]) {
        let model: T = serde_json::from_slice(text).expect("the model fits");
        let wanted: Value = serde_json::from_slice(text).expect("JSON");
        assert!(same(&serde_json::to_value(model).expect("JSON"), &wanted));
    }

    #[test]
    fn models_keep_everything() {
        let read = |name| task::documents(name).map(|mut texts| texts.remove(0));
        let Ok(twitter) = read("twitter") else { return };
        check::<twitter::Twitter<'_>>(&twitter);
        check::<citm::Catalog<'_>>(&read("citm_catalog").expect("beside the other"));
        check::<canada::Canada<'_>>(&read("canada").expect("beside the other"));
    }
}
