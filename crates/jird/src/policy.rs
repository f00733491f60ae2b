//! What a reader of JSON may choose: limits and refusals. Everything here only narrows or widens limits; none makes
//! invalid JSON valid.

/// Which numbers are accepted beyond the grammar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Numbers {
    /// Every number of RFC 8259 §6; what does not fit a machine type is kept as text.
    #[default]
    Any,
    /// Numbers that are finite as an IEEE 754 double: `1e309` is refused.
    Finite,
    /// As `Finite`, and integers must fit `i64` or `u64`, as in the simdjson paper.
    Machine,
}

/// What to do with a key that its object has already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Duplicates {
    /// Keep all; lookups find the first.
    #[default]
    Keep,
    /// An error of kind [`Duplicate`](crate::ErrorKind::Duplicate).
    Refuse,
}

/// Limits and refusals of a parse.
///
/// ```
/// use jird::{Numbers, Parser, Policy};
/// let mut parser = Parser::with_policy(Policy { numbers: Numbers::Finite, ..Policy::default() });
/// assert_eq!(parser.parse(b"[1e309]").unwrap_err().code(), "range");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Which numbers are accepted.
    pub numbers: Numbers,
    /// Whether keys may be repeated.
    pub duplicates: Duplicates,
    /// How many objects and arrays may be open at once.
    pub depth_max: usize,
}

/// How many arrays, objects and enum variants a [`Deserializer`](crate::Deserializer) goes into, unless told otherwise. Each takes some of the
/// stack: serde's visitors call each other. What is stepped over may be deeper.
#[cfg(feature = "serde")]
pub const TYPED_DEPTH_MAX: usize = 127;

/// The default limit for one record of many, in bytes.
pub const RECORD_BYTES_MAX: usize = 64 << 20;

/// The default of [`Policy::depth_max`].
pub const DEPTH_MAX: usize = 1024;

impl Default for Policy {
    fn default() -> Self {
        Self { numbers: Numbers::default(), duplicates: Duplicates::default(), depth_max: DEPTH_MAX }
    }
}
