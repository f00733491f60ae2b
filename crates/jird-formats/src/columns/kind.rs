//! The types that a column of JSON values can have.

#[cfg(feature = "arrow")]
use arrow_schema::{DataType, Field};
use core::fmt;
#[cfg(feature = "arrow")]
use std::collections::HashMap;

/// The Arrow extension type of a column of JSON texts, each as it stood in its record.
pub const JSON_EXTENSION: &str = "jird.json";

/// The same of the Arrow project ("Canonical Extension Types", JSON), which other programs write.
#[cfg(feature = "arrow")]
const CANONICAL_JSON_EXTENSION: &str = "arrow.json";

/// The key under which Arrow keeps the name of an extension type.
#[cfg(feature = "arrow")]
const EXTENSION_NAME: &str = "ARROW:extension:name";

/// A column's type. In all types, null and missing are Arrow's null.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnType {
    /// `true` and `false`.
    Bool,
    /// Integers that all fit `i64`.
    Int64,
    /// Integers that all fit `u64`, none of them negative.
    UInt64,
    /// Integers of at most 38 digits, as Arrow's `Decimal128(38, 0)`.
    Decimal,
    /// Numbers that all survive as `f64`; at least one has a point or an exponent.
    Float64,
    /// The content of strings.
    Text,
    /// Everything else: JSON text as it stood in the input, in `Utf8` marked with the extension type
    /// [`JSON_EXTENSION`].
    Json,
}

#[cfg(feature = "arrow")]
impl ColumnType {
    /// The Arrow type.
    pub fn data_type(self) -> DataType {
        match self {
            Self::Bool => DataType::Boolean,
            Self::Int64 => DataType::Int64,
            Self::UInt64 => DataType::UInt64,
            Self::Decimal => DataType::Decimal128(38, 0),
            Self::Float64 => DataType::Float64,
            Self::Text | Self::Json => DataType::Utf8,
        }
    }

    /// A nullable Arrow field of this type.
    pub fn field(self, name: impl Into<String>) -> Field {
        let field = Field::new(name, self.data_type(), true);
        match self {
            Self::Json => field.with_metadata(HashMap::from([(EXTENSION_NAME.to_owned(), JSON_EXTENSION.to_owned())])),
            _ => field,
        }
    }

    /// Whether a field holds JSON text, as [`ColumnType::field`] or the Arrow project marks it.
    pub fn is_json(field: &Field) -> bool {
        let name = field.metadata().get(EXTENSION_NAME);
        name.is_some_and(|name| name == JSON_EXTENSION || name == CANONICAL_JSON_EXTENSION)
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bool => "boolean",
            Self::Int64 => "i64",
            Self::UInt64 => "u64",
            Self::Decimal => "decimal(38,0)",
            Self::Float64 => "f64",
            Self::Text => "text",
            Self::Json => "json",
        })
    }
}
