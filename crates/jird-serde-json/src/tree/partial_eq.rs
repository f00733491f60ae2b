//! Comparisons of trees with what they may contain.

use super::Value;
use crate::tree::number::Number;

macro_rules! texts {
    ($($type:ty),*) => {
        $(
            impl PartialEq<$type> for Value {
                fn eq(&self, other: &$type) -> bool {
                    self.as_str().is_some_and(|text| text == AsRef::<str>::as_ref(other))
                }
            }

            impl PartialEq<Value> for $type {
                fn eq(&self, other: &Value) -> bool {
                    other == self
                }
            }
        )*
    };
}
texts!(str, &str, String);

macro_rules! scalars {
    ($($as:expr => $wide:ty: $($type:ident)*;)*) => {
        $($(
            impl PartialEq<$type> for Value {
                fn eq(&self, other: &$type) -> bool {
                    let as_wide: fn(&Value) -> Option<$wide> = $as;
                    #[allow(clippy::cast_lossless, reason = "for `usize` there is no `From`")]
                    let other = *other as $wide;
                    #[allow(clippy::float_cmp, reason = "equal numbers are meant")]
                    as_wide(self).is_some_and(|value| value == other)
                }
            }

            impl PartialEq<Value> for $type {
                fn eq(&self, other: &Value) -> bool {
                    other == self
                }
            }

            impl PartialEq<$type> for &Value {
                fn eq(&self, other: &$type) -> bool {
                    **self == *other
                }
            }

            impl PartialEq<$type> for &mut Value {
                fn eq(&self, other: &$type) -> bool {
                    **self == *other
                }
            }
        )*)*
    };
}
scalars! {
    Value::as_i64 => i64: i8 i16 i32 i64 isize;
    Value::as_u64 => u64: u8 u16 u32 u64 usize;
    |value| value.as_number().and_then(Number::as_f32) => f32: f32;
    Value::as_f64 => f64: f64;
    Value::as_bool => bool: bool;
}
