//! Names that stand for files and queries in a query.

/// A name that a query may write in place of paths: `from errors`, for `'logs/*-errors.ndjson'`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defined {
    /// The name, without quotes.
    pub name: String,
    /// What it stands for: paths, patterns, folders, stores, URLs, one after the other.
    pub files: Vec<String>,
}

/// SQL that defines views: `create view errors as select … from 'logs/*.ndjson' where …;`, and others like it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definitions {
    /// What it is called in messages, such as the path of its file.
    pub name: String,
    /// The SQL.
    pub sql: String,
}
