//! Limits and refusals that the caller of a parser chooses. These settings only narrow or widen limits; none of them
//! makes invalid JSON valid.

/// Which numbers are accepted beyond the grammar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Numbers {
    /// Every number of RFC 8259 §6; a number that does not fit a machine type is kept as text.
    #[default]
    Any,
    /// Numbers that are finite as an IEEE 754 double: `1e309` is refused.
    Finite,
    /// As `Finite`; in addition, integers must fit `i64` or `u64`, as in the simdjson paper.
    Machine,
}

/// What to do with a key that its object already has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Duplicates {
    /// Keep all members; lookups find the first.
    #[default]
    Keep,
    /// Report an error of kind [`Duplicate`](crate::ErrorKind::Duplicate).
    Refuse,
}

/// Limits and refusals of a parse.
///
/// ```
/// use jird::Parser;
/// use jird::policy::{Numbers, Policy};
/// let mut parser = Parser::with_policy(Policy { numbers: Numbers::Finite, ..Policy::default() });
/// assert_eq!(parser.parse(b"[1e309]").unwrap_err().code(), "range");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Which numbers are accepted.
    pub numbers: Numbers,
    /// Whether keys may be repeated.
    pub duplicates: Duplicates,
    /// The maximum number of objects and arrays that may be open at once.
    pub depth_max: usize,
}

/// The default number of nested arrays, objects and enum variants that a [`Deserializer`](crate::Deserializer) enters.
/// Each level takes some stack, because serde's visitors call each other. Skipped values may be nested more deeply.
#[cfg(feature = "serde")]
pub(crate) const TYPED_DEPTH_MAX: usize = 127;

/// The default limit for one record of many, in bytes.
pub const RECORD_BYTES_MAX: usize = 64 << 20;

impl Policy {
    /// The default of [`depth_max`](Self::depth_max).
    pub const DEPTH_MAX: usize = 1024;
}

impl Default for Policy {
    fn default() -> Self {
        Self { numbers: Numbers::default(), duplicates: Duplicates::default(), depth_max: Self::DEPTH_MAX }
    }
}
