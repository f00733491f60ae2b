//! Queries, and how they are written.

use std::fmt::{self, Display, Formatter};

/// A part of the way to a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(&'static str),
    Index(usize),
}

pub(crate) type Path = &'static [Step];

/// A query. Its columns are called `c0`, `c1` and so on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query {
    pub(crate) distinct: bool,
    pub(crate) items: Vec<Item>,
    pub(crate) condition: Option<Condition>,
    pub(crate) group: Vec<Path>,
    pub(crate) order: Vec<Order>,
    pub(crate) limit: Option<usize>,
    pub(crate) offset: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum Item {
    Field(Path),
    Number(Path),
    Text(Path),
    Type(Path),
    /// A condition as a column.
    Condition(Condition),
    Aggregate(Aggregate),
}

#[derive(Clone, Debug)]
pub(crate) enum Aggregate {
    CountAll,
    Count(Path),
    CountDistinct(Path),
    Sum(Path),
    /// `sum(number(…))`
    SumNumber(Path),
    Avg(Path),
    Min(Path),
    Max(Path),
}

#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) path: Path,
    pub(crate) descending: bool,
    pub(crate) nulls_first: Option<bool>,
}

#[derive(Clone, Debug)]
pub(crate) enum Literal {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
}

#[derive(Clone, Debug)]
pub(crate) enum Operand {
    Field(Path),
    Literal(Literal),
}

#[derive(Clone, Debug)]
pub(crate) enum Condition {
    Compare(Operand, &'static str, Operand),
    In(Path, Vec<Literal>),
    Between(Path, Literal, Literal),
    Like(Path, String),
    Match(Path, String),
    IsNull(Path),
    Truth(Path),
    /// `json_type(…) = …`
    TypeIs(Path, &'static str),
    /// `number(…) = …` and so on
    NumberIs(Path, &'static str, &'static str),
    /// `text(…) = …`
    TextIs(Path, String),
    And(Vec<Condition>),
    Or(Vec<Condition>),
    Not(Box<Condition>),
}

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.distinct { "select distinct " } else { "select " })?;
        let items: Vec<_> = self.items.iter().enumerate().map(|(at, item)| format!("{item} as c{at}")).collect();
        f.write_str(&items.join(", "))?;
        if let Some(condition) = &self.condition {
            write!(f, " where {condition}")?;
        }
        if !self.group.is_empty() {
            write!(f, " group by {}", list(self.group.iter().map(|path| Name(path))))?;
        }
        if !self.order.is_empty() {
            write!(f, " order by {}", list(&self.order))?;
        }
        if let Some(limit) = self.limit {
            write!(f, " limit {limit}")?;
        }
        if self.offset > 0 { write!(f, " offset {}", self.offset) } else { Ok(()) }
    }
}

impl Display for Item {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(path) => write!(f, "{}", Name(path)),
            Self::Number(path) => write!(f, "number({})", Name(path)),
            Self::Text(path) => write!(f, "text({})", Name(path)),
            Self::Type(path) => write!(f, "json_type({})", Name(path)),
            Self::Condition(condition) => write!(f, "{condition}"),
            Self::Aggregate(aggregate) => write!(f, "{aggregate}"),
        }
    }
}

impl Display for Aggregate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::CountAll => f.write_str("count(*)"),
            Self::Count(path) => write!(f, "count({})", Name(path)),
            Self::CountDistinct(path) => write!(f, "count(distinct {})", Name(path)),
            Self::Sum(path) => write!(f, "sum({})", Name(path)),
            Self::SumNumber(path) => write!(f, "sum(number({}))", Name(path)),
            Self::Avg(path) => write!(f, "avg({})", Name(path)),
            Self::Min(path) => write!(f, "min({})", Name(path)),
            Self::Max(path) => write!(f, "max({})", Name(path)),
        }
    }
}

impl Display for Order {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let nulls = match self.nulls_first {
            None => "",
            Some(true) => " nulls first",
            Some(false) => " nulls last",
        };
        write!(f, "{}{}{nulls}", Name(self.path), if self.descending { " desc" } else { "" })
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let joined = |parts: &[Self], word: &str| {
            parts.iter().map(|part| format!("({part})")).collect::<Vec<_>>().join(&format!(" {word} "))
        };
        match self {
            Self::Compare(left, op, right) => write!(f, "{left} {op} {right}"),
            Self::In(path, literals) => write!(f, "{} in ({})", Name(path), list(literals)),
            Self::Between(path, low, high) => write!(f, "{} between {low} and {high}", Name(path)),
            Self::Like(path, pattern) => write!(f, "{} like {}", Name(path), quoted_text(pattern)),
            Self::Match(path, pattern) => write!(f, "match({}, {})", Name(path), quoted_text(pattern)),
            Self::IsNull(path) => write!(f, "{} is null", Name(path)),
            Self::Truth(path) => write!(f, "{}", Name(path)),
            Self::TypeIs(path, kind) => write!(f, "json_type({}) = '{kind}'", Name(path)),
            Self::NumberIs(path, op, number) => write!(f, "number({}) {op} {number}", Name(path)),
            Self::TextIs(path, text) => write!(f, "text({}) = {}", Name(path), quoted_text(text)),
            Self::And(parts) => f.write_str(&joined(parts, "and")),
            Self::Or(parts) => f.write_str(&joined(parts, "or")),
            // Where the grammar has a form of its own for it, that one.
            Self::Not(inner) => match &**inner {
                Self::In(path, literals) => write!(f, "{} not in ({})", Name(path), list(literals)),
                Self::Between(path, low, high) => write!(f, "{} not between {low} and {high}", Name(path)),
                Self::Like(path, pattern) => write!(f, "{} not like {}", Name(path), quoted_text(pattern)),
                Self::IsNull(path) => write!(f, "{} is not null", Name(path)),
                inner => write!(f, "not ({inner})"),
            },
        }
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(path) => Name(path).fmt(f),
            Self::Literal(literal) => literal.fmt(f),
        }
    }
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(known) => known.fmt(f),
            Self::Number(number) => f.write_str(number),
            Self::Text(text) => f.write_str(&quoted_text(text)),
        }
    }
}

/// A field as SQL writes it: `"a"."b"[0]`.
struct Name<'p>(&'p [Step]);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) if at == 0 => write!(f, "\"{}\"", key.replace('"', "\"\""))?,
                Step::Key(key) if at % 2 == 1 => write!(f, ".\"{}\"", key.replace('"', "\"\""))?,
                Step::Key(key) => write!(f, "[{}]", quoted_text(key))?,
            }
        }
        Ok(())
    }
}

/// A text as SQL writes it.
pub(crate) fn quoted_text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn list<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}
