//! Functions that `PostgreSQL`, `DuckDB` or SQLite have under other names.

use super::super::expr::{arguments, function_name};
use super::super::parse::plain_expression;
use crate::error::Error;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArguments, Ident, ObjectName, UnaryOperator, Value, visit_expressions_mut,
};
use std::ops::ControlFlow;

/// Functions with another name, but the same arguments.
const RENAMED: &[(&str, &str)] = &[
    ("approx_count_distinct", "approx_distinct"),
    ("array_has", "array_contains"),
    ("array_join", "array_to_string"),
    ("cardinality", "array_length"),
    ("every", "bool_and"),
    ("ifnull", "coalesce"),
    ("json_array_length", "array_length"),
    ("lcase", "lower"),
    ("list", "array_agg"),
    ("list_contains", "array_contains"),
    ("list_distinct", "array_distinct"),
    ("list_has", "array_contains"),
    ("list_length", "array_length"),
    ("list_max", "array_max"),
    ("list_min", "array_min"),
    ("list_position", "array_position"),
    ("list_reverse", "array_reverse"),
    ("list_slice", "array_slice"),
    ("list_sort", "array_sort"),
    ("listagg", "string_agg"),
    ("regexp_matches", "regexp_like"),
    ("sign", "signum"),
    ("str_split", "string_to_array"),
    ("string_split", "string_to_array"),
    ("strptime", "to_timestamp"),
    ("ucase", "upper"),
];

/// The meanings of other functions, by the number of arguments.
const MEANINGS: &[(&str, usize, &str)] = &[
    ("if", 3, IF),
    ("iif", 3, IF),
    ("mod", 2, "$1 % $2"),
    ("count_if", 1, "count(*) filter (where $1)"),
    ("countif", 1, "count(*) filter (where $1)"),
    ("group_concat", 1, "string_agg($1, ',')"),
    ("group_concat", 2, "string_agg($1, $2)"),
    ("quantile_cont", 2, "percentile_cont($2) within group (order by $1)"),
    ("quantile", 2, QUANTILE),
    ("quantile_disc", 2, QUANTILE),
    ("approx_quantile", 2, "approx_percentile_cont($2) within group (order by $1)"),
    ("arg_max", 2, ARG_MAX),
    ("max_by", 2, ARG_MAX),
    ("arg_min", 2, ARG_MIN),
    ("min_by", 2, ARG_MIN),
    // Any will do; the least is the same with any number of threads.
    ("any_value", 1, "min($1)"),
    ("sha256", 1, "encode(digest($1, 'sha256'), 'hex')"),
    ("regexp_full_match", 2, "regexp_like($1, '^(?:' || $2 || ')$')"),
    ("today", 0, "current_date()"),
    ("epoch", 1, "date_part('epoch', $1)"),
    ("year", 1, "date_part('year', $1)"),
    ("quarter", 1, "date_part('quarter', $1)"),
    ("month", 1, "date_part('month', $1)"),
    ("week", 1, "date_part('week', $1)"),
    ("day", 1, "date_part('day', $1)"),
    ("dayofmonth", 1, "date_part('day', $1)"),
    ("dayofweek", 1, "date_part('dow', $1)"),
    ("dayofyear", 1, "date_part('doy', $1)"),
    ("hour", 1, "date_part('hour', $1)"),
    ("minute", 1, "date_part('minute', $1)"),
    ("second", 1, "date_part('second', $1)"),
];

/// Numbers other than 0 are true here, so the condition is marked.
const IF: &str = "case when truth_or_number($1) then $2 else $3 end";

/// Functions whose second argument is a share of the values.
const SHARES: &[&str] = &["approx_quantile", "quantile", "quantile_cont", "quantile_disc"];

/// The least value that at least this share of the values does not exceed.
const QUANTILE: &str = "array_element(array_agg(numbers_of($1) order by order_of_numbers($1)) filter (where numbers_of($1) is not null), \
                        cast(case when $2 between 0 and 1 then greatest(1, ceil($2 * count(numbers_of($1)))) end as bigint))";

/// The value where another is greatest or least; values that are null are left out.
const ARG_MAX: &str =
    "first_value($1 order by $2 desc nulls last) filter (where ($1) is not null and ($2) is not null)";
const ARG_MIN: &str = "first_value($1 order by $2 nulls last) filter (where ($1) is not null and ($2) is not null)";

/// Aggregates in [`MEANINGS`], which get the `filter` and the `over` of the function that they stand for.
const AGGREGATES: &[&str] =
    &["approx_percentile_cont", "array_agg", "count", "first_value", "percentile_cont", "string_agg"];

/// Rewrites a call.
pub(super) fn expr(expr: &mut Expr) -> Result<(), Error> {
    let Expr::Function(function) = expr else { return Ok(()) };
    let name = function_name(function);
    if let Some((_, other)) = RENAMED.iter().find(|(known, _)| *known == name) {
        function.name = ObjectName::from(vec![Ident::new(*other)]);
        return Ok(());
    }
    if name == "strftime" {
        return to_char(function);
    }
    if name == "mode" {
        return Err(Error::sql(
            "there is no function `mode`: the most frequent value of `v` is the first row of \
             `select v, count(*) as n … group by v order by n desc limit 1`",
        ));
    }
    let given = arguments(function).into_iter().cloned().collect::<Vec<_>>();
    let mut counts = MEANINGS.iter().filter(|(known, ..)| *known == name).peekable();
    if counts.peek().is_none() {
        return Ok(());
    }
    let takes: Vec<_> = counts.clone().map(|(_, count, _)| count.to_string()).collect();
    let Some((.., template)) = counts.find(|(_, count, _)| *count == given.len()) else {
        let values = if takes == ["1"] { "value" } else { "values" };
        return Err(Error::sql(format!("`{name}` takes {} {values}", takes.join(" or "))));
    };
    if SHARES.contains(&name.as_str())
        && let Some(share) = given.get(1).filter(|share| !may_be_share(share))
    {
        return Err(Error::sql(format!("`{name}` takes a share from 0 to 1, not {share}")));
    }
    let mut meant = filled(template, &given)?;
    carry_clauses(&mut meant, function);
    let FunctionArguments::List(list) = &function.args else { return Ok(()) };
    if list.duplicate_treatment.is_some() || !list.clauses.is_empty() {
        // `group_concat(distinct a order by a)`
        match &mut meant {
            Expr::Function(Function { name: inner, args: FunctionArguments::List(inner_list), .. })
                if inner.to_string() == "string_agg" =>
            {
                inner_list.duplicate_treatment = list.duplicate_treatment;
                inner_list.clauses.clone_from(&list.clauses);
            }
            _ => return Err(Error::sql(format!("`{name}` takes no `distinct` and no `order by`"))),
        }
    }
    *expr = meant;
    Ok(())
}

/// Whether an argument is a share from 0 to 1, or one that is computed.
fn may_be_share(argument: &Expr) -> bool {
    let is_share = |text: &str| text.parse::<f64>().is_ok_and(|share| (0.0..=1.0).contains(&share));
    match argument {
        Expr::Value(value) => match &value.value {
            Value::Number(text, _) => is_share(text),
            _ => true,
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match &**expr {
            Expr::Value(_) => is_share(&format!("-{expr}")),
            _ => true,
        },
        _ => true,
    }
}

/// The template with these arguments.
pub(super) fn filled(template: &str, given: &[Expr]) -> Result<Expr, Error> {
    let mut meant = plain_expression(template)?;
    let _ = visit_expressions_mut(&mut meant, |expr| {
        if let Expr::Value(value) = &*expr
            && let Value::Placeholder(number) = &value.value
            && let Some(argument) = number[1..].parse::<usize>().ok().and_then(|number| given.get(number - 1))
        {
            *expr = nested(argument);
        }
        ControlFlow::<()>::Continue(())
    });
    Ok(meant)
}

/// Gives the aggregates of an expression the `filter` and the `over` of the function that it replaces.
fn carry_clauses(meant: &mut Expr, function: &Function) {
    let _ = visit_expressions_mut(meant, |expr| {
        let Expr::Function(inner) = expr else { return ControlFlow::<()>::Continue(()) };
        if AGGREGATES.contains(&function_name(inner).as_str()) {
            inner.over.clone_from(&function.over);
            inner.filter = match (inner.filter.take(), &function.filter) {
                (Some(left), Some(right)) => {
                    Some(Box::new(Expr::BinaryOp { left, op: BinaryOperator::And, right: right.clone() }))
                }
                (own, other) => own.or_else(|| other.clone()),
            };
        }
        ControlFlow::Continue(())
    });
}

/// An argument as an operand.
fn nested(argument: &Expr) -> Expr {
    match argument {
        Expr::BinaryOp { .. } | Expr::UnaryOp { .. } => Expr::Nested(argument.clone().into()),
        other => other.clone(),
    }
}

/// `strftime` of `DuckDB` takes the time first, that of SQLite the format.
fn to_char(function: &mut Function) -> Result<(), Error> {
    function.name = ObjectName::from(vec![Ident::new("to_char")]);
    let FunctionArguments::List(list) = &mut function.args else {
        return Err(Error::sql("`strftime` takes a time and a format"));
    };
    if list.args.first().is_some_and(|first| first.to_string().starts_with('\'')) {
        list.args.reverse();
    }
    Ok(())
}
