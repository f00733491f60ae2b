//! Trees from the engine's deserializers.
//!
//! While a tree is made, members and elements of all its open objects and arrays stand on one stack. An object or array
//! that ends takes its own from the top, in one piece of the right size. The stack is kept for the next tree of the thread.

use super::Value;
use super::de::{Form, ValueVisitor};
use crate::tree::exact;
use crate::tree::map::Map;
use crate::tree::number::{NUMBERS, Number};
use core::cell::Cell;
use core::fmt;
use serde_core::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Unexpected, Visitor};

/// The tree of a value. Numbers come with all of their digits.
#[inline]
pub(super) fn tree<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    let mut stack = KEPT.try_with(Cell::take).unwrap_or_default();
    let tree = ValueSeed(&mut stack).deserialize(deserializer);
    stack.clear();
    if stack.members.capacity() <= MEMBERS_KEPT_MAX && stack.elements.capacity() <= MEMBERS_KEPT_MAX {
        let _ = KEPT.try_with(|kept| kept.set(stack));
    }
    tree
}

/// A larger stack is not kept.
const MEMBERS_KEPT_MAX: usize = 1 << 10;

thread_local! {
    static KEPT: Cell<Stack> = const { Cell::new(Stack { members: Vec::new(), elements: Vec::new() }) };
}

#[derive(Default)]
struct Stack {
    members: Vec<(String, Value)>,
    elements: Vec<Value>,
}

impl Stack {
    /// Forgets what a tree that failed has left.
    #[inline]
    fn clear(&mut self) {
        self.members.clear();
        self.elements.clear();
    }
}

struct ValueSeed<'s>(&'s mut Stack);

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_newtype_struct(NUMBERS, self)
    }
}

/// Numbers that come as such, from a row of a table.
macro_rules! forwarded {
    ($($method:ident($type:ty))*) => {
        $(
            fn $method<E: de::Error>(self, value: $type) -> Result<Value, E> {
                ValueVisitor(Form::Any).$method(value)
            }
        )*
    };
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    #[inline]
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    #[inline]
    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    #[inline]
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    #[inline]
    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    /// A decimal that the engine has packed.
    #[inline]
    fn visit_u128<E>(self, value: u128) -> Result<Value, E> {
        Ok(Value::Number(Number::of_packed(value)))
    }

    #[inline]
    fn visit_bytes<E: de::Error>(self, text: &[u8]) -> Result<Value, E> {
        match exact::number_of_bytes(text) {
            Some(number) => Ok(Value::Number(number)),
            None => Err(E::invalid_type(Unexpected::Bytes(text), &self)),
        }
    }

    #[inline]
    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    #[inline]
    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    forwarded! {
        visit_i128(i128) visit_f64(f64)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    /// Called by a deserializer that does not know the name of the struct.
    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(ValueVisitor(Form::Any))
    }

    #[inline]
    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let start = self.0.elements.len();
        while let Some(element) = elements.next_element_seed(ValueSeed(self.0))? {
            self.0.elements.push(element);
        }
        Ok(Value::Array(self.0.elements.split_off(start)))
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let start = self.0.members.len();
        while let Some(key) = members.next_key()? {
            let value = members.next_value_seed(ValueSeed(self.0))?;
            self.0.members.push((key, value));
        }
        Ok(Value::Object(Map::of_members(self.0.members.split_off(start))))
    }
}
