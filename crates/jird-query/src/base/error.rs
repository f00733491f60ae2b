//! The errors of a query.

use crate::base::nearest::nearest;
use arrow_schema::ArrowError;
use core::fmt;
#[cfg(feature = "sql")]
use datafusion::error::DataFusionError;
use jird_formats::encoding::stray_mark;
use jird_formats::files::record_limit_hint;
use regex::{Captures, Regex};
use std::io;
use std::path::Path;
use std::sync::LazyLock;

/// The cause of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The SQL cannot be understood or planned.
    Sql,
    /// A file cannot be read.
    Input,
    /// A record is not JSON, or not what was asked for.
    Record,
    /// The text around the records is not JSON, such as an array that is not closed, so the records after it cannot be
    /// told apart.
    Frame,
    /// The SQL asks for something that the data does not allow.
    Data,
    /// The result, or what is put aside on the way to it, cannot be written.
    Output,
    /// The reader of the result has closed the pipe.
    BrokenPipe,
    /// The query was [interrupted](crate::Interrupt).
    Interrupted,
    /// The query needs more memory than [`Options::memory_max`](crate::Options::memory_max).
    Memory,
    /// The result has more rows than [`Options::rows_max`](crate::Options::rows_max).
    Rows,
    /// Something failed that should not fail: a bug of jird, or of a library.
    Internal,
}

/// Why a query failed. `Display` gives one line; for a bad record, an excerpt that shows the place follows.
#[derive(Clone, Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    place: Option<(u64, u64)>,
}

impl Error {
    /// The cause of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The line of the SQL where something is wrong, and the character in it, both counted from one, if they are known.
    pub fn place(&self) -> Option<(u64, u64)> {
        self.place
    }

    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), place: None }
    }

    /// An error that another process has told of.
    #[cfg(feature = "cluster")]
    pub(crate) fn of_kind(kind: ErrorKind, message: String) -> Self {
        Self::new(kind, message)
    }

    pub(crate) fn sql(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Sql, message)
    }

    /// An error of the parser of SQL, which says at its end where it is.
    pub(crate) fn parser(error: &impl fmt::Display) -> Self {
        let message = error.to_string();
        let place = message.rsplit_once(" at Line: ").and_then(|(_, place)| {
            let (line, column) = place.split_once(", Column: ")?;
            Some((line.parse().ok()?, column.parse().ok()?))
        });
        Self { place, ..Self::sql(syntax(&message)) }
    }

    /// The same error, at a place of the SQL.
    pub(crate) fn at(self, line: u64, column: u64) -> Self {
        Self { place: (line > 0).then_some((line, column)), ..self }
    }

    pub(crate) fn data(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Data, message)
    }

    pub(crate) fn record(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Record, message)
    }

    pub(crate) fn frame(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Frame, message)
    }

    pub(crate) fn unread(message: String) -> Self {
        Self::new(ErrorKind::Input, message)
    }

    pub(crate) fn input(path: &Path, error: &io::Error) -> Self {
        Self::new(ErrorKind::Input, format!("{}: {}", path.display(), words(error)))
    }

    pub(crate) fn store(error: &jird_store::Error) -> Self {
        Self::new(ErrorKind::Input, error.to_string())
    }

    pub(crate) fn output(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::new(ErrorKind::BrokenPipe, words(error)),
            _ => Self::output_of("the result", error),
        }
    }

    pub(crate) fn output_of(what: &str, error: &io::Error) -> Self {
        Self::new(ErrorKind::Output, format!("cannot write {what}: {}", words(error)))
    }

    pub(crate) fn interrupted() -> Self {
        Self::new(ErrorKind::Interrupted, "the query was interrupted")
    }

    /// There is not so much memory.
    pub(crate) fn memory() -> Self {
        Self::new(ErrorKind::Memory, "the query needs more memory than it may take")
    }

    /// There is not so much memory for something.
    pub(crate) fn too_large(what: &str, bytes: usize) -> Self {
        let size = match bytes >> 20 {
            0 => "more".to_owned(),
            megabytes @ ..10_000 => format!("up to {megabytes} MiB"),
            megabytes => format!("up to {} GiB", megabytes >> 10),
        };
        Self::new(ErrorKind::Memory, format!("{what} takes {size}, and there is not so much memory for it"))
    }

    /// Rows cannot be put aside in this folder.
    pub(crate) fn unspilled(folder: &Path, error: &io::Error) -> Self {
        let advice = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; set TMPDIR to a folder with more room",
            _ => "",
        };
        let message = format!("rows cannot be put aside in {}: {}{advice}", folder.display(), words(error));
        Self::new(ErrorKind::Output, message)
    }

    /// More rows would be put aside than may be.
    pub(crate) fn spilled(limit: u64) -> Self {
        let message =
            format!("the query would put more than {limit} bytes aside on disk; --spill-limit sets another limit");
        Self::new(ErrorKind::Output, message)
    }

    /// The same error, with what to do.
    pub(crate) fn advised(self, advice: &str) -> Self {
        Self { message: self.message + advice, ..self }
    }

    /// Something failed that should not fail.
    pub(crate) fn internal(message: String) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    pub(crate) fn rows(rows_max: u64) -> Self {
        Self::new(ErrorKind::Rows, format!("the result has more than {rows_max} rows"))
    }

    /// The same error, with other names for what it names.
    pub(crate) fn renamed(self, rename: impl FnOnce(String) -> String) -> Self {
        Self { message: rename(self.message), ..self }
    }

    /// An error of Arrow, or one of ours that Arrow passed on.
    pub(crate) fn of_arrow(error: &ArrowError) -> Self {
        let words = match error {
            ArrowError::IoError(words, inner) => match inner.get_ref().and_then(|inner| inner.downcast_ref::<Self>()) {
                Some(ours) => return ours.clone(),
                None => words.clone(),
            },
            ArrowError::CastError(words) | ArrowError::ComputeError(words) => words.clone(),
            other => other.to_string(),
        };
        Self::sql(without_internals(&words))
    }

    /// An error of DataFusion, or one of ours that DataFusion passed on.
    #[cfg(feature = "sql")]
    pub(crate) fn of(error: &DataFusionError) -> Self {
        let found = Self::of_root(error);
        match error.find_root() {
            // Ours say what they mean.
            DataFusionError::External(_) => found,
            _ if found.kind == ErrorKind::Sql => found.renamed(|words| without_internals(&words)),
            _ => found,
        }
    }

    #[cfg(feature = "sql")]
    fn of_root(error: &DataFusionError) -> Self {
        match error.find_root() {
            DataFusionError::External(inner) => match inner.downcast_ref::<Self>() {
                Some(ours) => ours.clone(),
                None => Self::sql(inner.to_string()),
            },
            // Their message asks to report a bug to them. Here it is the query that is not supported.
            DataFusionError::Internal(words) => Self::sql(format!(
                "this query is not supported: {}",
                words.lines().next().unwrap_or_default().trim_end()
            )),
            DataFusionError::Plan(words) => {
                Self::sql(plain(words.split("\nThis issue was likely").next().unwrap_or(words)))
            }
            DataFusionError::Execution(words) => Self::sql(words.clone()),
            DataFusionError::SQL(error, _) => Self::parser(error),
            DataFusionError::ResourcesExhausted(_) => Self::memory(),
            DataFusionError::ExecutionJoin(error) if error.is_panic() => {
                Self::internal(format!("the query failed in a way that is a bug: {error}"))
            }
            DataFusionError::NotImplemented(words) => Self::sql(format!("not supported: {words}")),
            DataFusionError::ArrowError(error, _) => Self::of_arrow(error),
            root => Self::sql(root.strip_backtrace().split("\nThis issue was likely").next().unwrap_or_default()),
        }
    }
}

/// A message of the parser: `sql parser error: Expected: ), found: , at Line: 1, Column: 36`.
fn syntax(words: &str) -> String {
    let words = words.strip_prefix("sql parser error: ").unwrap_or(words);
    let words = words.replacen("Expected: ", "expected ", 1).replacen(", found: ", ", found ", 1);
    let words = words.replacen("expected EOF", "expected the end", 1).replacen("found EOF", "found the end", 1);
    let words = words.replacen(" at Line: ", " at line ", 1).replacen(", Column: ", ", column ", 1);
    format!("syntax error: {words}")
}

/// What a message of DataFusion says of plans that users do not see, and what it means to them.
const INTERNALS: [(&str, &str); 24] = [
    (
        "ORDER BY is not implemented for window functions",
        "an aggregate with an order of its own is not computed over a window: use first_value or last_value with the window's `order by`, or groups in a subquery of `from`",
    ),
    ("cannot contain window function", "an aggregate over a window: compute the window in a subquery of `from`"),
    (
        "subquery can only be used in",
        "not supported: a subquery at this place; in `order by`, name it as a column and order by that name",
    ),
    (
        "Expects PARTITION BY",
        "not supported: this `partition by`; compute it in a subquery of `from`, and partition by the column",
    ),
    ("overflow on ", "a number is too large for its type; `cast(a as decimal(38, 0))` gives it a larger one"),
    ("too large to store in a Decimal", "a number has more digits than the type that it is cast to"),
    ("temporal operation", "this is not computed with times: intervals are added to times and to intervals"),
    ("Incompatible inputs", KINDS),
    ("common type to coerce", KINDS),
    ("Cannot infer common argument type", KINDS),
    ("incompatible inputs", KINDS),
    ("Correlated scalar subquery", VALUE_OF_ROW),
    ("Physical plan does not support logical expression", VALUE_OF_ROW),
    ("__correlated", VALUE_OF_ROW),
    ("ScalarSubquery", VALUE_OF_ROW),
    ("retract_batch", SLIDING),
    ("sliding accumulator", SLIDING),
    ("sliding window frames", SLIDING),
    ("No infix parser", "this operator is not supported"),
    ("Expected LIMIT", "`limit` and `offset` take a whole number"),
    ("Expected OFFSET", "`limit` and `offset` take a whole number"),
    ("non-boolean predicate", "a condition is true or false; this one is another value"),
    ("must be boolean type", "a condition is true or false; this one is another value"),
    (
        "cannot be nested",
        "an aggregate or a window inside of another one: compute the inner one in a subquery of `from`",
    ),
];

const KINDS: &str =
    "values of different kinds stand side by side here; a cast makes them one kind, as `cast(a as varchar)`";

const SLIDING: &str = "not supported: this aggregate over a window that leaves rows behind; let the window begin with \
                       `unbounded preceding`";

const VALUE_OF_ROW: &str = "not supported: a subquery that depends on the outer row by something else than `=`, or whose answer is a value at this \
                            place, such as one beside `or`, in `case` or as a column; write it as a join";

/// Words that only plans have.
const OF_PLANS: [&str; 23] = [
    "Aggregate schema",
    "IntervalMonthDayNano",
    "ValueWithSpan",
    "Plan: [",
    "Exec",
    "Expr {",
    "Ident {",
    "Literal types",
    "LogicalPlan",
    "Schema error",
    "SchemaError",
    "Span(",
    "Unsupported ",
    "__common_expr",
    "in_rows(",
    "json_compare(",
    "json_key(",
    "only_numbers(",
    "order_value(",
    "predicate_",
    "user-defined coercion",
    "Internal error",
    "should have been",
];

/// A message with the names that users have written, and nothing of what the query became.
fn without_internals(words: &str) -> String {
    static COLUMNS: LazyLock<Regex> =
        LazyLock::new(|| pattern(r#""?\b(?:raw|json|key|typed|group):/([^"\s,()\]]*)"?"#));
    static CALLS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(?:sort_key|sum_argument|order_key)\(([^()]*)\)"));
    if let Some((_, meaning)) = INTERNALS.iter().find(|(sign, _)| words.contains(sign)) {
        return (*meaning).to_owned();
    }
    let words = of_sql_types(words);
    let mut words = COLUMNS.replace_all(&words, |found: &Captures<'_>| found[1].replace('/', ".")).into_owned();
    while let std::borrow::Cow::Owned(without) = CALLS.replace_all(&words, "$1") {
        words = without;
    }
    if OF_PLANS.iter().any(|sign| words.contains(sign)) {
        return "not supported: this query as it is written; a subquery in `from` for a part of it may do".to_owned();
    }
    words
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern is right")
}

const CAST: &str = "a cast gives an argument another type, as `cast(a as double)`";

/// Arrow's names of types, as patterns, and SQL's.
const SQL_TYPES: [(&str, &str); 13] = [
    (r"\b(?:Utf8View|LargeUtf8|Utf8)\b", "text"),
    (r"\b(?:LargeBinary|BinaryView|Binary|FixedSizeBinary\([^)]*\))", "bytes"),
    (r"\bFloat(?:16|32|64)\b", "double"),
    (r"\bUInt64\b", "unsigned bigint"),
    (r"\bInt64\b", "bigint"),
    (r"\bU?Int(?:8|16|32)\b", "int"),
    (r"\bBoolean\b", "boolean"),
    (r"\bTimestamp\([^)]*\)", "timestamp"),
    (r"\bDate(?:32|64)\b", "date"),
    (r"\bTime(?:32|64)\([^)]*\)", "time"),
    (r"\b(?:Interval|Duration)\([^)]*\)", "interval"),
    (r"\bDecimal(?:32|64|128|256)\(", "decimal("),
    (r"\b(?:Large|FixedSize)?List\(([^()]*)\)", "array of $1"),
];

/// A message with SQL's names of types.
fn of_sql_types(words: &str) -> String {
    static TYPES: LazyLock<Vec<(Regex, &str)>> =
        LazyLock::new(|| SQL_TYPES.iter().map(|(theirs, sql)| (pattern(theirs), *sql)).collect());
    TYPES.iter().fold(words.to_owned(), |words, (theirs, sql)| theirs.replace_all(&words, *sql).into_owned())
}

/// A message of DataFusion's planner. It has two lines for an unknown function: `Invalid function 'x'.` and `Did you mean
/// 'y'?`
fn plain(words: &str) -> String {
    let words = words.split("\n\nbacktrace:").next().unwrap_or_default();
    if let Some(call) = words.split_once("argument types '").and_then(|(_, rest)| rest.split('\'').next()) {
        let call = of_sql_types(call);
        // Types of objects and maps have names and types within them.
        return match call.split_once('(') {
            Some((name, types)) if types.contains(':') => {
                format!("there is no function `{name}` for objects or maps; {CAST}")
            }
            _ => format!("there is no function `{call}`; {CAST}"),
        };
    }
    if let Some((before, _)) = words.split_once(" failed to match any signature") {
        return format!("`{}` does not take these arguments; {CAST}", before.split('\'').nth(1).unwrap_or_default());
    }
    let quoted = |text: &str| text.split('\'').nth(1).map(str::to_owned);
    match words.strip_prefix("Invalid function ").and_then(|rest| rest.split_once('\n')) {
        Some((name, near)) => match (quoted(name), quoted(near)) {
            (Some(name), Some(near)) => {
                match nearest(&name, [near.as_str()].into_iter().filter(|near| is_public(near))) {
                    Some(near) => format!("there is no function `{name}`; did you mean `{near}`?"),
                    None => format!("there is no function `{name}`"),
                }
            }
            _ => words.to_owned(),
        },
        None => words.to_owned(),
    }
}

/// Whether a function is one that people call. The others are what their queries become.
fn is_public(function: &str) -> bool {
    const OURS: [&str; 16] = [
        "at_time_zone",
        "cast_as",
        "in_rows",
        "json_all",
        "json_any",
        "json_at",
        "json_braced",
        "json_compare",
        "json_concat",
        "json_len",
        "json_member",
        "json_text",
        "order_key",
        "order_value",
        "sort_key",
        "sum_argument",
    ];
    let is_part =
        ["_of_", "only_", "_key", "_compare", "json_in_", "_arithmetic"].iter().any(|part| function.contains(part));
    !is_part && !OURS.contains(&function)
}

/// The message that a rule is broken, with what the rule alone does not say: that a byte order mark stands at the start
/// of `found`, which is the text from the error on, or the limit of a record, in bytes.
pub(crate) fn with_hint(rule: String, kind: jird::ErrorKind, record_limit: usize, found: &[u8]) -> String {
    match stray_mark(found) {
        _ if kind == jird::ErrorKind::Size => rule + &record_limit_hint(record_limit),
        Some(mark) => format!("{rule}; {mark}"),
        None => rule,
    }
}

/// The system's message without its error number.
pub(crate) fn words(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}

#[cfg(feature = "sql")]
impl From<Error> for DataFusionError {
    fn from(error: Error) -> Self {
        Self::External(error.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
