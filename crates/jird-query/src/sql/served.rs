//! What queries of others may not do, who may be anybody.

use super::parse::Parsed;
use crate::error::Error;
use datafusion::sql::sqlparser::ast::{Expr, ObjectNamePart, visit_expressions};
use std::ops::ControlFlow;

/// Functions whose results may be as long as a number says.
const UNBOUNDED: [&str; 11] = [
    "array_repeat",
    "array_resize",
    "gen_series",
    "generate_series",
    "list_repeat",
    "list_resize",
    "lpad",
    "range",
    "repeat",
    "rpad",
    "space",
];

/// Refuses functions that fill all memory at one call, and `explain`, which tells of files.
pub(crate) fn check(parsed: &Parsed) -> Result<(), Error> {
    if parsed.explain {
        return Err(Error::sql("`explain` is for the command line: it tells of files"));
    }
    let found = visit_expressions(&parsed.query, |expr| {
        let Expr::Function(function) = expr else { return ControlFlow::Continue(()) };
        match function.name.0.last() {
            Some(ObjectNamePart::Identifier(name))
                if UNBOUNDED.iter().any(|known| known.eq_ignore_ascii_case(&name.value)) =>
            {
                let start = name.span.start;
                let message = format!("`{}` is not for queries of others: it can fill all memory", name.value);
                ControlFlow::Break(Error::sql(message).at(start.line, start.column))
            }
            _ => ControlFlow::Continue(()),
        }
    });
    found.break_value().map_or(Ok(()), Err)
}
