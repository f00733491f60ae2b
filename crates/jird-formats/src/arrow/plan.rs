//! The columns of a file that is to be written.

use crate::columns::{ColumnType, ValueType};
use crate::rows::{Schema, TimestampType};
use arrow_schema::{DataType, Field, SchemaRef, TimeUnit};
use core::fmt;
use std::sync::Arc;

/// The columns of a file that is to be written: names and types. They are fixed before the first record. So they come
/// from all records ([`of`](Self::of)), or from a caller that knows them.
///
/// Bytes are `Binary`. Points in time are `Timestamp` in microseconds, or in nanoseconds if some need them, with the
/// zone `UTC` if all are in UTC. If that type does not hold them all, they are text. A column that has only nulls is
/// `Null`. The other types are as in [`ColumnType`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnPlan {
    columns: Vec<(String, Holds)>,
}

/// The type of a column's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    Nothing,
    Values(ColumnType),
    /// Lists or structs.
    Nested(ValueType),
    Bytes,
    Times(TimestampType),
}

impl ColumnPlan {
    /// A plan without columns.
    pub fn new() -> Self {
        Self::default()
    }

    /// Columns for records that were read before. If the first records are enough to plan a file into which all the
    /// rest can be written, their plan is the plan for all. So a long input must be read twice only if writing with the
    /// first plan fails.
    pub fn of(schema: &Schema) -> Self {
        let columns = schema.columns().iter().map(|column| {
            let holds = match (column.column_type(), column.timestamp_type()) {
                (None, _) => Holds::Nothing,
                (_, Some(times)) => Holds::Times(times),
                _ if column.is_bytes() => Holds::Bytes,
                (Some(values), None) => column.nested_type().map_or(Holds::Values(values), Holds::Nested),
            };
            (column.name().to_owned(), holds)
        });
        Self { columns: columns.collect() }
    }

    /// Adds a column for values.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, holds: ColumnType) -> Self {
        self.columns.push((name.into(), Holds::Values(holds)));
        self
    }

    /// Adds a column for only nulls.
    #[must_use]
    pub fn with_nulls(mut self, name: impl Into<String>) -> Self {
        self.columns.push((name.into(), Holds::Nothing));
        self
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(name, _)| &name[..])
    }

    /// The plan as an Arrow schema.
    pub fn schema(&self) -> SchemaRef {
        Arc::new(arrow_schema::Schema::new(
            self.columns.iter().map(|(name, holds)| holds.field(name)).collect::<Vec<_>>(),
        ))
    }

    pub(super) fn columns(&self) -> &[(String, Holds)] {
        &self.columns
    }
}

impl Holds {
    pub(super) fn field(&self, name: &str) -> Field {
        match self {
            Self::Values(values) => values.field(name),
            Self::Nested(values) => field_of(name, values),
            Self::Nothing => Field::new(name, DataType::Null, true),
            Self::Bytes => Field::new(name, DataType::Binary, true),
            Self::Times(times) => {
                let unit = if times.nanoseconds { TimeUnit::Nanosecond } else { TimeUnit::Microsecond };
                Field::new(name, DataType::Timestamp(unit, times.is_utc.then(|| "UTC".into())), true)
            }
        }
    }
}

/// A field for values at one place.
pub(super) fn field_of(name: &str, holds: &ValueType) -> Field {
    match holds {
        ValueType::Null => Holds::Nothing.field(name),
        ValueType::Scalar(values) => values.field(name),
        ValueType::List(elements) => Field::new(name, DataType::List(Arc::new(field_of("item", elements))), true),
        ValueType::Struct(fields) => {
            let fields = fields.iter().map(|(name, holds)| field_of(name, holds)).collect();
            Field::new(name, DataType::Struct(fields), true)
        }
    }
}

impl fmt::Display for Holds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Values(values) => values.fmt(f),
            Self::Nested(_) => self.field("").data_type().fmt(f),
            Self::Nothing => f.write_str("only nulls"),
            Self::Bytes => f.write_str("bytes"),
            Self::Times(times) => {
                let unit = if times.nanoseconds { "nanoseconds" } else { "microseconds" };
                write!(f, "timestamps in {unit} {} UTC", if times.is_utc { "in" } else { "not in" })
            }
        }
    }
}
