//! The kinds of values that a path has in a block or in a span.

use jird::Kind;
use jird::record::Field;
use std::fmt;

/// A set of kinds of values; `false` and `true` are kinds of their own, and so is a value that is missing.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct FieldKinds(u8);

impl FieldKinds {
    /// No value.
    pub const NONE: Self = Self(0);
    /// Some record has no value at the path.
    pub const MISSING: Self = Self(1);
    /// `null`
    pub const NULL: Self = Self(2);
    /// `false`
    pub const FALSE: Self = Self(4);
    /// `true`
    pub const TRUE: Self = Self(8);
    /// A number.
    pub const NUMBER: Self = Self(16);
    /// A text.
    pub const STRING: Self = Self(32);
    /// An array.
    pub const ARRAY: Self = Self(64);
    /// An object.
    pub const OBJECT: Self = Self(128);
    /// Everything: nothing is known.
    pub const ANY: Self = Self(255);
    /// What SQL calls NULL.
    pub const NULLS: Self = Self::MISSING.with(Self::NULL);
    /// `false` and `true`
    pub const BOOLS: Self = Self::FALSE.with(Self::TRUE);

    const NAMES: [&str; 8] = ["missing", "null", "false", "true", "number", "string", "array", "object"];

    /// The kind of a value.
    pub(crate) fn of(field: Field<'_>) -> Self {
        match field.kind() {
            None => Self::MISSING,
            Some(Kind::Null) => Self::NULL,
            Some(Kind::Bool) if field.raw() == "true" => Self::TRUE,
            Some(Kind::Bool) => Self::FALSE,
            Some(Kind::Number) => Self::NUMBER,
            Some(Kind::String) => Self::STRING,
            Some(Kind::Array) => Self::ARRAY,
            Some(Kind::Object) => Self::OBJECT,
        }
    }

    /// The kinds that are in at least one of the sets.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The kinds that are in both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The kinds that are in this set and not in the other one.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether some kind is in both sets.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether all kinds are in the other set.
    pub const fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// Whether there are no kinds.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn bits(self) -> u8 {
        self.0
    }

    pub(crate) const fn of_bits(bits: u8) -> Self {
        Self(bits)
    }
}

/// The names of the kinds: `number, string`.
impl fmt::Display for FieldKinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut between = "";
        for (bit, name) in Self::NAMES.iter().enumerate() {
            if self.0 >> bit & 1 != 0 {
                write!(f, "{between}{name}")?;
                between = ", ";
            }
        }
        Ok(())
    }
}

impl fmt::Debug for FieldKinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FieldKinds({self})")
    }
}
