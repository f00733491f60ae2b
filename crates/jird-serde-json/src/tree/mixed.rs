//! Trees of `serde_json` itself, for programs in which both crates meet.

use super::Value;
use crate::error::Error;

/// Nothing is lost.
impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(value) => Value::Bool(value),
            serde_json::Value::Number(number) => Value::Number(number.into()),
            serde_json::Value::String(text) => Value::String(text),
            serde_json::Value::Array(elements) => Value::Array(elements.into_iter().map(Value::from).collect()),
            serde_json::Value::Object(members) => {
                Value::Object(members.into_iter().map(|(key, value)| (key, value.into())).collect())
            }
        }
    }
}

/// # Errors
/// If a number has digits that a number of `serde_json` would lose.
impl TryFrom<Value> for serde_json::Value {
    type Error = Error;

    fn try_from(value: Value) -> Result<Self, Error> {
        Ok(match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(value),
            Value::Number(number) => Self::Number(number.try_into()?),
            Value::String(text) => Self::String(text),
            Value::Array(elements) => Self::Array(elements.into_iter().map(Self::try_from).collect::<Result<_, _>>()?),
            Value::Object(members) => {
                let members = members.into_iter().map(|(key, value)| Ok((key, Self::try_from(value)?)));
                Self::Object(members.collect::<Result<_, Error>>()?)
            }
        })
    }
}
