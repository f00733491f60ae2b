//! What a rewritten query needs from its sources, and what it returns.

use crate::input::{FolderCondition, FolderFilter};
use datafusion::sql::sqlparser::ast::Statement;
use jird::{Path, record::Predicate};
use std::sync::Arc;

/// The table that consists of all FILE arguments.
pub(crate) const STREAM: &str = "stream";

/// The function around each key of `order by`.
pub(crate) const SORT_KEY: &str = "sort_key";

/// The function around the argument of `sum`.
pub(crate) const SUM_ARGUMENT: &str = "sum_argument";

/// The function that converts any column to JSON texts.
pub(crate) const JSON_TEXT: &str = "json_text";

/// The function that converts JSON texts to keys by which any values can be ordered.
pub(crate) const ORDER_KEY: &str = "order_key";

/// The same, but equal values have equal keys: they cannot be converted back.
pub(crate) const ORDER_VALUE: &str = "order_value";

/// The function that converts JSON texts to texts that are equal for equal values.
pub(crate) const JSON_KEY: &str = "json_key";

/// The function that compares two JSON texts.
pub(crate) const JSON_IN_TEXT: &str = "json_in_text";
pub(crate) const JSON_COMPARE: &str = "json_compare";

/// The function that converts such a key to the JSON text that it was made of, and the one that converts a list of them
/// to a JSON array.
pub(crate) const JSON_OF_KEY: &str = "json_of_key";
pub(crate) const JSON_OF_KEYS: &str = "json_of_keys";

/// The function that says whether a row is one of a list of rows.
pub(crate) const IN_ROWS: &str = "in_rows";

/// The function that leaves only the numbers of JSON texts.
pub(crate) const ONLY_NUMBERS: &str = "only_numbers";

/// The function that converts JSON texts to points in time.
pub(crate) const TIME_OF_JSON: &str = "time_of_json";

/// The functions behind `at time zone` and `to_char`.
pub(crate) const AT_TIME_ZONE: &str = "at_time_zone";
pub(crate) const TO_CHAR: &str = "to_char";

/// The function that computes with two JSON numbers.
pub(crate) const JSON_ARITHMETIC: &str = "json_arithmetic";

/// The functions behind `= any (…)` and `= all (…)` of the elements of an array.
pub(crate) const ANY: &str = "json_any";
pub(crate) const ALL: &str = "json_all";

/// Functions that make JSON arrays and objects.
pub(crate) const JSON_ARRAY: &str = "json_array";
pub(crate) const JSON_OBJECT: &str = "json_object";
pub(crate) const JSON_CONCAT: &str = "json_concat";
pub(crate) const JSON_REPEAT: &str = "json_repeat";

/// The function that leaves only the texts of JSON texts.
pub(crate) const ONLY_TEXTS: &str = "only_texts";

/// The function that leaves only the arrays of JSON texts.
pub(crate) const ONLY_ARRAYS: &str = "only_arrays";

/// Functions of JSON arrays and objects.
pub(crate) const JSON_LENGTH: &str = "json_length";
pub(crate) const JSON_LEN: &str = "json_len";
pub(crate) const JSON_CONTAINS: &str = "json_contains";
pub(crate) const JSON_JOIN: &str = "json_join";
pub(crate) const JSON_KEYS: &str = "json_keys";
pub(crate) const JSON_AT: &str = "json_at";
pub(crate) const JSON_ELEMENTS: &str = "json_elements";
pub(crate) const JSON_POSITION: &str = "json_position";
pub(crate) const JSON_SLICE: &str = "json_slice";
pub(crate) const JSON_SORT: &str = "json_sort";
pub(crate) const JSON_DISTINCT: &str = "json_distinct";
pub(crate) const JSON_REVERSE: &str = "json_reverse";
pub(crate) const JSON_LEAST: &str = "json_least";
pub(crate) const JSON_GREATEST: &str = "json_greatest";

/// Functions of lists, over JSON arrays.
pub(crate) const JSON_POSITIONS: &str = "json_positions";
pub(crate) const JSON_WITHOUT: &str = "json_without";
pub(crate) const JSON_HAS_ANY: &str = "json_has_any";
pub(crate) const JSON_HAS_ALL: &str = "json_has_all";
pub(crate) const JSON_UNION: &str = "json_union";
pub(crate) const JSON_INTERSECT: &str = "json_intersect";
pub(crate) const JSON_EXCEPT: &str = "json_except";
pub(crate) const JSON_FLATTEN: &str = "json_flatten";
pub(crate) const JSON_POP_FRONT: &str = "json_pop_front";
pub(crate) const JSON_POP_BACK: &str = "json_pop_back";
pub(crate) const JSON_TOTAL: &str = "json_total";
pub(crate) const JSON_MEAN: &str = "json_mean";

/// The function that makes a JSON array of a list of JSON texts.
pub(crate) const JSON_OF_LIST: &str = "json_of_list";

/// The functions behind `json_group_object`: a member as text, and the object of such members.
pub(crate) const JSON_MEMBER: &str = "json_member";
pub(crate) const JSON_BRACED: &str = "json_braced";

/// Functions that change JSON texts.
pub(crate) const JSON_SET: &str = "json_set";
pub(crate) const JSON_INSERT: &str = "json_insert";
pub(crate) const JSON_REPLACE: &str = "json_replace";
pub(crate) const JSON_REMOVE: &str = "json_remove";
pub(crate) const JSON_MERGE_PATCH: &str = "json_merge_patch";

/// The most frequent value of a column of JSON texts, and how often there is each.
pub(crate) const JSON_MODE: &str = "json_mode";
pub(crate) const JSON_HISTOGRAM: &str = "json_histogram";

/// Sums and means of the numbers of JSON texts: as doubles, and as a JSON number.
pub(crate) const NUMBER_SUM: &str = "number_sum";
pub(crate) const NUMBER_AVG: &str = "number_avg";
pub(crate) const JSON_SUM: &str = "json_sum";

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

/// An expression of which only some values are used; the others are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Narrowed {
    /// The expression as the SQL writes it.
    pub(crate) written: String,
    pub(crate) to: Kept,
}

/// The values that are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
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
    /// The expressions of which only some values are used, by the numbers of their calls.
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
