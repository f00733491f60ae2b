//! What a rewritten query needs from its sources, and what it returns.

use crate::input::{FolderCondition, FolderFilter};
use jird::{Path, record::Predicate};
use sqlparser::ast::Statement;
use std::sync::Arc;

/// How a field is passed to DataFusion. All representations except `Typed` and `Group` are known without reading the
/// data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Rep {
    /// JSON text as it stands; null is the text `null`, and only a missing field is NULL.
    Raw,
    /// JSON text as it stands; null and missing fields are NULL.
    Json,
    /// JSON text that is equal for equal values; null and missing fields are NULL.
    Key,
    /// A value of the inferred type.
    Typed,
    /// Like `Typed`, but like `Key` for a mixed column.
    Group,
    /// The place of the record in its input, as an integer. No SQL names it.
    Place,
}

impl Rep {
    /// The representations of a field.
    pub(crate) const ALL: [Self; 5] = [Self::Raw, Self::Json, Self::Key, Self::Typed, Self::Group];

    /// The name of the column that holds the field `key` in this representation.
    pub(crate) fn column(self, key: &str) -> String {
        let prefix = match self {
            Self::Raw => "raw",
            Self::Json => "json",
            Self::Key => "key",
            Self::Typed => "typed",
            Self::Group => "group",
            Self::Place => "place",
        };
        format!("{prefix}:{key}")
    }

    pub(crate) fn is_inferred(self) -> bool {
        matches!(self, Self::Typed | Self::Group)
    }
}

/// The kind of columns that a result needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// JSON: fields as they stand, and also whole records.
    Json,
    /// Fields as they stand, one column each.
    Cells,
    /// Columns of values of one type each.
    Typed,
}

/// Why the type of a field is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NeedKind {
    /// To compute with the field. A field without any value counts as text if `text` is set, else as a number.
    Value { text: bool },
    /// To group by the field.
    Group,
    /// To make a column of the result that has one type.
    Column,
}

/// A field whose type is needed.
#[derive(Clone, Debug)]
pub(crate) struct Need {
    pub(crate) path: Path,
    /// The field as the SQL writes it.
    pub(crate) written: String,
    pub(crate) kind: NeedKind,
}

/// A table of the query, and what is read of it.
#[derive(Clone, Debug)]
pub(crate) struct SourceUse {
    /// [`STREAM`], or a path or pattern.
    pub(crate) table: String,
    pub(crate) columns: Vec<(Path, Rep)>,
    pub(crate) needs: Vec<Need>,
    /// Fields that the SQL names, for the note about names that never occur.
    pub(crate) named: Vec<(Path, String)>,
    /// How many times the SQL reads the table.
    pub(crate) places: usize,
    /// Of some of these places: conditions that all records must meet which are wanted there.
    pub(crate) required: Vec<Vec<FolderCondition>>,
}

impl SourceUse {
    /// What must be true of the keys of folders, wherever the table is read.
    pub(crate) fn folder_filter(&self) -> FolderFilter {
        let is_known = self.required.len() == self.places;
        FolderFilter { places: if is_known { self.required.clone() } else { Vec::new() } }
    }

    /// Adds a column if it is not there yet.
    pub(crate) fn add(&mut self, path: &Path, rep: Rep) {
        if !self.columns.iter().any(|(other, other_rep)| other == path && *other_rep == rep) {
            self.columns.push((path.clone(), rep));
        }
    }
}

/// A predicate over columns of JSON text; slot `i` is argument `i`.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    /// The name by which DataFusion knows it.
    pub(crate) name: String,
    /// The condition as the SQL writes it.
    pub(crate) text: String,
    pub(crate) predicate: Predicate,
    /// The names of the columns it is called with.
    pub(crate) columns: Vec<String>,
    /// The source and the paths of the fields, if all are from one source.
    pub(crate) fields: Option<(usize, Vec<Path>)>,
}

/// A field by source and path.
pub(crate) type Origin = (usize, Path);

/// A column of the result.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub(crate) name: String,
    pub(crate) kind: OutputKind,
}

/// How a column of the result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputKind {
    /// The record as it stands, without a key.
    Record,
    /// JSON text; NULL is a missing field.
    Plain,
    /// JSON text; NULL is null.
    Json,
    /// A value of any Arrow type.
    Computed,
}

/// An expression that uses only some of its values; the others are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Narrowed {
    /// The expression as the SQL writes it.
    pub(crate) written: String,
    pub(crate) to: KindOfValues,
}

/// The values that are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KindOfValues {
    Numbers,
    Times,
    Texts,
    /// What texts hold as JSON.
    Json,
    Arrays,
}

/// SQL that DataFusion can plan, and the other facts that the run needs.
#[derive(Debug)]
pub(crate) struct Rewritten {
    pub(crate) statement: Statement,
    pub(crate) sources: Vec<SourceUse>,
    pub(crate) leaves: Vec<Arc<Leaf>>,
    /// The expressions that use only some of their values, by the numbers of their calls.
    pub(crate) narrowed: Vec<Narrowed>,
    pub(crate) outputs: Vec<Output>,
    /// The keys of the columns that the records of a result become, if `*` stands for very many.
    pub(crate) apart: Vec<String>,
    /// Whether the query groups or sorts rows.
    pub(crate) gathers: bool,
    /// How another process can rewrite the query in the same way.
    #[cfg(feature = "cluster")]
    pub(crate) recipe: Option<Arc<str>>,
}
