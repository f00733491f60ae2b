//! Which columns a file to be written has.

use crate::columns::ColumnType;
use crate::rows::{Schema, TimestampType};
use arrow_schema::{DataType, Field, SchemaRef, TimeUnit};
use core::fmt;
use std::sync::Arc;

/// The columns of a file to be written: names and types. They are fixed before the first record, and so come from all records
/// ([`of`](Self::of)), or from whoever knows better.
///
/// Bytes are `Binary`. Points in time are `Timestamp` in microseconds, or in nanoseconds if some need it, with the zone `UTC` if all
/// are in it; where that does not hold them all they are text. A column that has nothing but nulls is `Null`. The rest is as
/// [`ColumnType`] says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnPlan {
    columns: Vec<(String, Holds)>,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    Nothing,
    Values(ColumnType),
    Bytes,
    Times(TimestampType),
}

impl ColumnPlan {
    /// Without columns.
    pub fn new() -> Self {
        Self::default()
    }

    /// Columns for records that were read before. A plan for the first of them is as good as one for all if the rest can be written
    /// by it: then it is the same. So a long input need not be read twice, unless writing by the first plan fails.
    pub fn of(schema: &Schema) -> Self {
        let columns = schema.columns().iter().map(|column| {
            let holds = match (column.column_type(), column.timestamp_type()) {
                (None, _) => Holds::Nothing,
                (_, Some(times)) => Holds::Times(times),
                _ if column.is_bytes() => Holds::Bytes,
                (Some(values), None) => Holds::Values(values),
            };
            (column.name().to_owned(), holds)
        });
        Self { columns: columns.collect() }
    }

    /// With one more column, of values.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, holds: ColumnType) -> Self {
        self.columns.push((name.into(), Holds::Values(holds)));
        self
    }

    /// Names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(name, _)| &name[..])
    }

    /// As an Arrow schema.
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
    fn field(self, name: &str) -> Field {
        match self {
            Self::Values(values) => values.field(name),
            Self::Nothing => Field::new(name, DataType::Null, true),
            Self::Bytes => Field::new(name, DataType::Binary, true),
            Self::Times(times) => {
                let unit = if times.nanoseconds { TimeUnit::Nanosecond } else { TimeUnit::Microsecond };
                Field::new(name, DataType::Timestamp(unit, times.is_utc.then(|| "UTC".into())), true)
            }
        }
    }
}

impl fmt::Display for Holds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Values(values) => values.fmt(f),
            Self::Nothing => f.write_str("nothing but nulls"),
            Self::Bytes => f.write_str("bytes"),
            Self::Times(times) => {
                let unit = if times.nanoseconds { "nanoseconds" } else { "microseconds" };
                write!(f, "timestamps in {unit} {} UTC", if times.is_utc { "in" } else { "not in" })
            }
        }
    }
}
