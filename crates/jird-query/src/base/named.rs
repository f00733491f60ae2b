//! The tables of a query that reads only what it is given.

use std::path::PathBuf;

/// Something that a query may read, and its name in SQL: a file, an event store, or a table of a database.
///
/// ```
/// use jird_query::Named;
/// let _file = Named::new("people", "log/people.ndjson");
/// let _table = Named::new("orders", "shop.db").of_database("orders");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    /// The table or view, if the file is a database.
    pub(crate) table: Option<String>,
}

impl Named {
    /// A file or an event store.
    pub fn new(name: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self { name: name.into(), path: path.into(), table: None }
    }

    /// The table or view of this name in the database that the file is.
    #[must_use]
    pub fn of_database(self, table: impl Into<String>) -> Self {
        Self { table: Some(table.into()), ..self }
    }

    /// A message that has names in place of paths.
    pub(crate) fn in_place_of_paths(message: String, named: &[Self]) -> String {
        named.iter().fold(message, |message, named| {
            let path = named.path.display().to_string();
            if path.is_empty() { message } else { message.replace(&path, &named.name) }
        })
    }
}
