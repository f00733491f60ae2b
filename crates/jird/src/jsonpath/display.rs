//! Queries in their canonical form: names as `.name` where that can be written, else in single quotes as in normalized
//! paths (RFC 9535 §2.7); one space around operators and after commas; no brackets that change nothing.

use super::cursor::is_short_name;
use super::pattern::{Pattern, PatternSource};
use super::syntax::{Comparison, Operand, Query, Segment, Selector, Slice, Start, Subquery, Test};
use crate::path::write_quoted;
use core::fmt::{self, Display, Formatter};

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.segments.iter().try_for_each(|segment| write!(f, "{segment}"))
    }
}

impl Display for Segment {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let dots = if self.descends { ".." } else { "." };
        match &self.selectors[..] {
            [Selector::Name(name)] if is_short_name(name) => write!(f, "{dots}{name}"),
            [Selector::Wildcard] => write!(f, "{dots}*"),
            selectors => {
                f.write_str(if self.descends { "..[" } else { "[" })?;
                list(f, selectors, ", ")?;
                f.write_str("]")
            }
        }
    }
}

impl Display for Selector {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write_quoted(f, name),
            Self::Wildcard => f.write_str("*"),
            Self::Index(index) => write!(f, "{index}"),
            Self::Slice(slice) => write!(f, "{slice}"),
            Self::Filter(test) => write!(f, "?{test}"),
        }
    }
}

impl Display for Slice {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let number = |number: Option<i64>| number.map_or_else(String::new, |number| number.to_string());
        write!(f, "{}:{}", number(self.start), number(self.end))?;
        if self.step == 1 { Ok(()) } else { write!(f, ":{}", self.step) }
    }
}

impl Display for Test {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any(tests) => list(f, tests, " || "),
            Self::All(tests) => {
                let tests: Vec<_> = tests.iter().map(|test| Grouped(test, matches!(test, Self::Any(_)))).collect();
                list(f, &tests, " && ")
            }
            Self::Not(test) => {
                let needs_group = !matches!(**test, Self::Exists(_) | Self::Matches(..));
                write!(f, "!{}", Grouped(test, needs_group))
            }
            Self::Compare(left, operator, right) => write!(f, "{left} {operator} {right}"),
            Self::Exists(query) => write!(f, "{query}"),
            Self::Matches(text, Pattern { whole, source }) => {
                let name = if *whole { "match" } else { "search" };
                write!(f, "{name}({text}, ")?;
                match source {
                    PatternSource::Literal(pattern, _) => write_quoted(f, pattern)?,
                    PatternSource::Computed(operand, _) => write!(f, "{operand}")?,
                }
                f.write_str(")")
            }
        }
    }
}

/// A test, in brackets if it needs them.
struct Grouped<'t>(&'t Test, bool);

impl Display for Grouped<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.1 { write!(f, "({})", self.0) } else { write!(f, "{}", self.0) }
    }
}

impl Display for Comparison {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        })
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(text) => f.write_str(text),
            Self::String(text) => write_quoted(f, text),
            Self::Singular(query) => write!(f, "{query}"),
            Self::Length(operand) => write!(f, "length({operand})"),
            Self::Count(query) => write!(f, "count({query})"),
            Self::Value(query) => write!(f, "value({query})"),
        }
    }
}

impl Display for Subquery {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.start == Start::Current { '@' } else { '$' }, self.query)
    }
}

fn list(f: &mut Formatter<'_>, items: &[impl Display], between: &str) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if index == 0 { "" } else { between })?;
    }
    Ok(())
}
