//! Digits ⇄ numbers.
//!
//! [`check`] says whether a slice is an RFC 8259 §6 number. Every other function here takes a token that was checked,
//! and says so in its name or its comment. On anything else it gives a meaningless answer, but it neither panics nor
//! reads outside the slice. The end of a token is known before its digits are read, so digits are read eight at a time
//! and nothing is scanned twice (`swar`).
//!
//! A function has two forms, `f(token)` and `f_at(text, start, end)`. Prefer the second one if the text is available:
//! it may load the bytes after a short token together with the token. The forms that are called in a reader's own loop
//! are inlined there, because a call costs as much as a tenth of a number.
//!
//! ```text
//! check     token → integer or not, negative or not; or the first wrong byte
//! plain     token of up to 19 digits → those digits as one integer, and how many stand after the point
//! parts     any token → sign, digits, exponent as they stand
//! integer   token → i64, u64, i128, u128
//! float     token → f64, f32, correctly rounded          powers: the table it multiplies by
//! machine   token → integer or not; i64, u64 or f64, whichever it is
//! exact     token → i64, u64 or a decimal of up to 19 digits, without rounding
//! token     a token and its place in the text
//! decimal   two tokens → their order; one token → canonical text
//! write     integers → digits                               shortest: doubles → digits
//! value     the public type `Number`
//! ```

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "taking words apart is what happens here; each place says what it keeps"
)]
#![allow(clippy::inline_always, reason = "a few instructions each, and the loops around them must see through them")]
#![allow(clippy::needless_bitwise_bool, reason = "one branch instead of several")]

mod check;
mod decimal;
#[cfg(feature = "serde")]
mod exact;
mod float;
mod integer;
mod machine;
mod order;
mod parts;
mod plain;
mod powers;
#[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "only what is typed is written so"))]
mod shortest;
mod swar;
mod token;
mod value;
#[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "only what is typed is written so"))]
mod write;

pub(crate) use check::{Class, check, check_at, checked_str};
#[cfg(feature = "serde")]
pub use exact::Decimal;
#[cfg(feature = "serde")]
pub(crate) use exact::{Exact, exact_at};
pub(crate) use float::{to_f32, to_f64, to_f64_at};
#[cfg(feature = "serde")]
pub(crate) use integer::to_small_at;
pub(crate) use integer::{to_i64, to_i64_at, to_i128, to_short, to_u64, to_u64_at, to_u128};
pub use machine::{MachineNumber, decimal, number_at};
pub(crate) use machine::{is_integer_at, is_integer_token, to_machine_at};
#[cfg_attr(not(feature = "serde"), allow(unused_imports, reason = "only what is typed is written so"))]
pub(crate) use shortest::{Shortest, shortest};
pub use value::Number;
#[cfg_attr(not(feature = "serde"), allow(unused_imports, reason = "only what is typed is written so"))]
pub use write::two_digits;
pub(crate) use write::{digits, short_digits, small_digits};

use crate::policy::Numbers;

/// Whether a policy accepts a checked token.
pub(crate) fn in_range(token: &[u8], class: Class, numbers: Numbers) -> bool {
    match numbers {
        Numbers::Any => true,
        Numbers::Machine if class.is_integer() => to_i64(token).is_some() || to_u64(token).is_some(),
        Numbers::Finite | Numbers::Machine => to_f64(token).is_some(),
    }
}
