//! `value["key"]` and `value[0]`.

use super::Value;
use crate::tree::map::Map;
use core::ops;

/// What a [`Value`] can be indexed with: a `usize` for arrays, a string for objects. Other types cannot implement it.
pub trait Index: sealed::Sealed {
    /// The value inside, if there is one.
    #[doc(hidden)]
    fn index_into<'v>(&self, v: &'v Value) -> Option<&'v Value>;

    /// As `index_into`, to be changed.
    #[doc(hidden)]
    fn index_into_mut<'v>(&self, v: &'v mut Value) -> Option<&'v mut Value>;

    /// As `index_into_mut`. A missing member is added. Panics if the value has no such place.
    #[doc(hidden)]
    fn index_or_insert<'v>(&self, v: &'v mut Value) -> &'v mut Value;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for usize {}
    impl Sealed for str {}
    impl Sealed for String {}
    impl<T: ?Sized + Sealed> Sealed for &T {}
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

impl Index for usize {
    fn index_into<'v>(&self, v: &'v Value) -> Option<&'v Value> {
        v.as_array()?.get(*self)
    }

    fn index_into_mut<'v>(&self, v: &'v mut Value) -> Option<&'v mut Value> {
        v.as_array_mut()?.get_mut(*self)
    }

    fn index_or_insert<'v>(&self, v: &'v mut Value) -> &'v mut Value {
        match v {
            Value::Array(elements) => {
                let len = elements.len();
                elements
                    .get_mut(*self)
                    .unwrap_or_else(|| panic!("cannot access index {self} of JSON array of length {len}"))
            }
            other => panic!("cannot access index {self} of JSON {}", kind(other)),
        }
    }
}

impl Index for str {
    fn index_into<'v>(&self, v: &'v Value) -> Option<&'v Value> {
        v.as_object()?.get(self)
    }

    fn index_into_mut<'v>(&self, v: &'v mut Value) -> Option<&'v mut Value> {
        v.as_object_mut()?.get_mut(self)
    }

    fn index_or_insert<'v>(&self, v: &'v mut Value) -> &'v mut Value {
        if v.is_null() {
            *v = Value::Object(Map::new());
        }
        match v {
            Value::Object(members) => members.entry(self).or_insert(Value::Null),
            other => panic!("cannot access key {self:?} in JSON {}", kind(other)),
        }
    }
}

/// Passes all on to a type that is behind this one.
macro_rules! forwarded {
    ($([$($generics:tt)*] $type:ty: $self:ident => $to:expr;)*) => {
        $(
            impl<$($generics)*> Index for $type {
                fn index_into<'v>(&$self, v: &'v Value) -> Option<&'v Value> {
                    $to.index_into(v)
                }

                fn index_into_mut<'v>(&$self, v: &'v mut Value) -> Option<&'v mut Value> {
                    $to.index_into_mut(v)
                }

                fn index_or_insert<'v>(&$self, v: &'v mut Value) -> &'v mut Value {
                    $to.index_or_insert(v)
                }
            }
        )*
    };
}
forwarded! {
    [] String: self => self.as_str();
    [T: ?Sized + Index] &T: self => (**self);
}

/// What is not there is `null`.
impl<I: Index> ops::Index<I> for Value {
    type Output = Value;

    fn index(&self, index: I) -> &Value {
        index.index_into(self).unwrap_or(&Value::Null)
    }
}

/// A missing member is added, as `null`.
///
/// # Panics
/// If an array has no such element, or the value is of another kind.
impl<I: Index> ops::IndexMut<I> for Value {
    fn index_mut(&mut self, index: I) -> &mut Value {
        index.index_or_insert(self)
    }
}
