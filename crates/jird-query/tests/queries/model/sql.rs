//! How queries are written.

use super::query::{
    Aggregate, Condition, Frame, Function, Item, Join, Literal, Operand, Order, Query, Source, Step, Table, Union,
    Window,
};
use std::fmt::{self, Display, Formatter};

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if !self.with.is_empty() {
            let named = self.with.iter().enumerate().map(|(at, query)| format!("w{at} as ({query})"));
            write!(f, "with {} ", list(named))?;
        }
        f.write_str(if self.distinct { "select distinct " } else { "select " })?;
        f.write_str(&list(self.items.iter().enumerate().map(|(at, item)| format!("{item} as c{at}"))))?;
        if let Some(from) = &self.from {
            write!(f, " from {from}")?;
        }
        for Join { left, source, on } in &self.joins {
            write!(f, "{} join {source} on {on}", if *left { " left" } else { "" })?;
        }
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
        if self.offset > 0 {
            write!(f, " offset {}", self.offset)?;
        }
        match &self.union {
            Some(Union { all, other }) => write!(f, " union {}{other}", if *all { "all " } else { "" }),
            None => Ok(()),
        }
    }
}

impl Display for Source {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.table {
            Table::Stream => f.write_str("stream")?,
            Table::File(at) => f.write_str(&quoted_text(&file_mark(*at)))?,
            Table::With(at) => write!(f, "w{at}")?,
            Table::Query(query) => write!(f, "({query})")?,
        }
        self.alias.map_or(Ok(()), |alias| write!(f, " as {alias}"))
    }
}

/// What stands for the path of a file until a query is run.
pub(crate) fn file_mark(at: usize) -> String {
    format!("<file {at}>")
}

impl Display for Item {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(path) => write!(f, "{}", Name(path)),
            Self::Number(path) => write!(f, "number({})", Name(path)),
            Self::Text(path) => write!(f, "text({})", Name(path)),
            Self::Type(path) => write!(f, "json_type({})", Name(path)),
            Self::Coalesce(paths) => write!(f, "coalesce({})", list(paths.iter().map(|path| Name(path)))),
            Self::Case(condition, path, other) => {
                write!(f, "case when {condition} then {} else {} end", Name(path), Name(other))
            }
            Self::Condition(condition) => write!(f, "{condition}"),
            Self::Aggregate(aggregate) => write!(f, "{aggregate}"),
            Self::Window(window) => write!(f, "{window}"),
            Self::Query(query) => write!(f, "({query})"),
        }
    }
}

impl Display for Window {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if !self.partition.is_empty() {
            parts.push(format!("partition by {}", list(self.partition.iter().map(|path| Name(path)))));
        }
        if !self.order.is_empty() {
            parts.push(format!("order by {}", list(&self.order)));
        }
        if let Some(Frame { before, after }) = self.frame {
            let bound = |rows: Option<usize>| rows.map_or("unbounded".to_owned(), |rows| rows.to_string());
            parts.push(format!("rows between {} preceding and {} following", bound(before), bound(after)));
        }
        write!(f, "{} over ({})", self.function, parts.join(" "))
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::RowNumber => f.write_str("row_number()"),
            Self::Rank => f.write_str("rank()"),
            Self::DenseRank => f.write_str("dense_rank()"),
            Self::Lag(path, rows) => write!(f, "lag({}, {rows})", Name(path)),
            Self::Lead(path, rows) => write!(f, "lead({}, {rows})", Name(path)),
            Self::First(path) => write!(f, "first_value({})", Name(path)),
            Self::Last(path) => write!(f, "last_value({})", Name(path)),
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
            Self::Same(left, right) => write!(f, "{} = {}", Name(left), Name(right)),
            Self::InQuery(path, query) => write!(f, "{} in ({query})", Name(path)),
            Self::Exists(query) => write!(f, "exists ({query})"),
            Self::And(parts) => f.write_str(&joined(parts, "and")),
            Self::Or(parts) => f.write_str(&joined(parts, "or")),
            // Where the grammar has a form of its own for it, that one.
            Self::Not(inner) => match &**inner {
                Self::In(path, literals) => write!(f, "{} not in ({})", Name(path), list(literals)),
                Self::Between(path, low, high) => write!(f, "{} not between {low} and {high}", Name(path)),
                Self::Like(path, pattern) => write!(f, "{} not like {}", Name(path), quoted_text(pattern)),
                Self::IsNull(path) => write!(f, "{} is not null", Name(path)),
                Self::InQuery(path, query) => write!(f, "{} not in ({query})", Name(path)),
                Self::Exists(query) => write!(f, "not exists ({query})"),
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
            Self::Query(query) => write!(f, "({query})"),
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
                Step::Back(back) => write!(f, "[-{back}]")?,
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
