//! What a rewritten query asks of its sources, and what it gives.

use datafusion::sql::sqlparser::ast::Statement;
use jird::{Path, record::Predicate};
use std::sync::Arc;

/// The table that all FILE arguments together are.
pub(crate) const STREAM: &str = "stream";

/// The function around a field by which is sorted.
pub(crate) const SORT_KEY: &str = "sort_key";

/// The function around the argument of `sum`.
pub(crate) const SUM_ARGUMENT: &str = "sum_argument";

/// The function that makes JSON texts of any column.
pub(crate) const JSON_TEXT: &str = "json_text";

/// How a field is handed to DataFusion. All but `Typed` and `Group` are known without looking at the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Rep {
    /// JSON text as it stands; null is the text `null`, and only missing is NULL.
    Raw,
    /// JSON text as it stands; null and missing are NULL.
    Json,
    /// JSON text that equal values share; null and missing are NULL.
    Key,
    /// A value of the inferred type.
    Typed,
    /// As `Typed`, but of a mixed column as `Key`.
    Group,
}

impl Rep {
    pub(crate) const ALL: [Self; 5] = [Self::Raw, Self::Json, Self::Key, Self::Typed, Self::Group];

    /// The name of the column that holds the field `key` this way.
    pub(crate) fn column(self, key: &str) -> String {
        let prefix = match self {
            Self::Raw => "raw",
            Self::Json => "json",
            Self::Key => "key",
            Self::Typed => "typed",
            Self::Group => "group",
        };
        format!("{prefix}:{key}")
    }

    pub(crate) fn is_inferred(self) -> bool {
        matches!(self, Self::Typed | Self::Group)
    }
}

/// What the columns of a result are to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// JSON: fields as they stand, and whole records too.
    Json,
    /// Fields as they stand, a column each.
    Cells,
    /// Texts, which are printed without quotes: it must be known which columns are texts.
    Text,
    /// Values of one type each.
    Typed,
}

/// What the type of a field is needed for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NeedKind {
    /// To compute with it. A field without any value counts as text if `text`, else as a number.
    Value { text: bool },
    /// To group by it.
    Group,
    /// To print texts without their quotes.
    Display,
}

/// A field whose type is needed.
#[derive(Clone, Debug)]
pub(crate) struct Need {
    pub(crate) path: Path,
    /// As it is written in the SQL.
    pub(crate) written: String,
    pub(crate) kind: NeedKind,
}

/// A table of the query and what is read of it.
#[derive(Clone, Debug)]
pub(crate) struct SourceUse {
    /// [`STREAM`], or a path or pattern.
    pub(crate) table: String,
    pub(crate) columns: Vec<(Path, Rep)>,
    pub(crate) needs: Vec<Need>,
    /// Fields that were written in the SQL, for the note about names that never occur.
    pub(crate) named: Vec<(Path, String)>,
}

impl SourceUse {
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
    /// The name under which DataFusion knows it.
    pub(crate) name: String,
    /// As written.
    pub(crate) text: String,
    pub(crate) predicate: Predicate,
    /// The names of the columns it is called with.
    pub(crate) columns: Vec<String>,
    /// The source of which these are fields, and where they are in its records; if there is one.
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
#[derive(Clone, Debug)]
pub(crate) enum OutputKind {
    /// The record as it stands, without a key.
    Record,
    /// JSON text; NULL is missing.
    Plain(Vec<Origin>),
    /// JSON text; NULL is null.
    Json(Vec<Origin>),
    /// A value of whatever Arrow type.
    Computed,
}

/// SQL that DataFusion can plan, and what must be known beside it.
#[derive(Debug)]
pub(crate) struct Rewritten {
    pub(crate) statement: Statement,
    pub(crate) sources: Vec<SourceUse>,
    pub(crate) leaves: Vec<Arc<Leaf>>,
    pub(crate) outputs: Vec<Output>,
    /// Whether rows are grouped or sorted somewhere.
    pub(crate) gathers: bool,
}
