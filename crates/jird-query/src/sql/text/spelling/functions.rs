//! Functions that `PostgreSQL`, `DuckDB` or SQLite have under other names.

use super::super::plain::plain_expression;
use crate::base::error::Error;
use crate::sql::base::literal;
use crate::sql::base::syntax::{arguments, arguments_mut, function_name};
use crate::sql::base::visit;
use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArguments, Ident, LambdaFunction, LambdaFunctionParameter, LambdaSyntax,
    ObjectName, OneOrManyWithParens, UnaryOperator, Value,
};
use std::ops::ControlFlow;

/// Functions with another name, but the same arguments.
const RENAMED: &[(&str, &str)] = &[
    ("apply", "array_transform"),
    ("approx_count_distinct", "approx_distinct"),
    ("array_apply", "array_transform"),
    ("array_has", "array_contains"),
    ("array_join", "array_to_string"),
    ("array_remove", "array_remove_all"),
    ("cardinality", "array_length"),
    ("datediff", "date_diff"),
    ("every", "bool_and"),
    ("first", "first_value"),
    ("ifnull", "coalesce"),
    ("json_agg", "array_agg"),
    ("json_array_length", "array_length"),
    ("json_arrayagg", "array_agg"),
    ("json_group_array", "array_agg"),
    ("json_object_agg", "json_group_object"),
    ("json_objectagg", "json_group_object"),
    ("json_patch", "json_merge_patch"),
    ("jsonb_agg", "array_agg"),
    ("jsonb_object_agg", "json_group_object"),
    ("jsonb_set", "json_set"),
    ("last", "last_value"),
    ("lcase", "lower"),
    ("list", "array_agg"),
    ("list_apply", "array_transform"),
    ("list_has", "array_contains"),
    ("list_remove", "array_remove_all"),
    ("list_zip", "arrays_zip"),
    ("listagg", "string_agg"),
    ("map_keys", "json_keys"),
    ("pg_typeof", "json_type"),
    ("regexp_matches", "regexp_like"),
    ("sign", "signum"),
    ("str_split", "string_to_array"),
    ("str_split_regex", "regexp_split_to_array"),
    ("string_split", "string_to_array"),
    ("string_split_regex", "regexp_split_to_array"),
    ("strptime", "to_timestamp"),
    ("typeof", "json_type"),
    ("mode", "json_mode"),
    ("histogram", "json_histogram"),
    ("ucase", "upper"),
];

/// The meanings of other functions, by the number of arguments.
const MEANINGS: &[(&str, usize, &str)] = &[
    ("if", 3, IF),
    ("iif", 3, IF),
    ("iff", 3, IF),
    ("json_valid", 1, "try_cast($1 as json) is not null"),
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
    ("date_add", 2, "$1 + $2"),
    ("last_day", 1, "cast(date_trunc('month', $1) + interval '1 month' - interval '1 day' as date)"),
    ("dayname", 1, "to_char($1, '%A')"),
    ("monthname", 1, "to_char($1, '%B')"),
    ("epoch_ms", 1, "cast(date_part('epoch', $1) * 1000 as bigint)"),
    ("base64", 1, "encode($1, 'base64')"),
    ("to_base64", 1, "encode($1, 'base64')"),
    ("from_base64", 1, "cast(decode($1, 'base64') as varchar)"),
    ("json_group_object", 2, "json_braced(string_agg(json_member($1, $2), ','))"),
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
    rename(function);
    let name = function_name(function);
    if name == "strftime" {
        return to_char(function);
    }
    let given = arguments(function).into_iter().cloned().collect::<Vec<_>>();
    if name == "date_diff" {
        *expr = date_diff(&given)?;
        return Ok(());
    }
    if let (true, [_, Expr::Array(shares)]) = (SHARES.contains(&name.as_str()), &given[..]) {
        // Of several shares, there is an array.
        let (mut array, function) = (shares.clone(), function.clone());
        for share in &mut array.elem {
            let mut one = function.clone();
            if let Some(argument) = arguments_mut(&mut one).into_iter().nth(1) {
                argument.clone_from(share);
            }
            *share = Expr::Function(one);
            self::expr(share)?;
        }
        *expr = Expr::Array(array);
        return Ok(());
    }
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
        let mut takes = false;
        let _ = visit::exprs_mut(&mut meant, |expr| {
            if let Expr::Function(Function { name: inner, args: FunctionArguments::List(inner_list), .. }) = expr
                && inner.to_string() == "string_agg"
            {
                inner_list.duplicate_treatment = list.duplicate_treatment;
                inner_list.clauses.clone_from(&list.clauses);
                takes = true;
            }
            ControlFlow::<()>::Continue(())
        });
        if !takes {
            return Err(Error::sql(format!("`{name}` takes no `distinct` and no `order by`")));
        }
    }
    *expr = meant;
    Ok(())
}

/// Gives a function the name that it has here. Functions of lists are those of arrays.
fn rename(function: &mut Function) {
    let name = function_name(function);
    let other = match RENAMED.iter().find(|(known, _)| *known == name) {
        Some((_, other)) => (*other).to_owned(),
        None => match name.strip_prefix("list_").filter(|rest| *rest != "value") {
            Some(rest) => format!("array_{rest}"),
            None => return,
        },
    };
    function.name = ObjectName::from(vec![Ident::new(other)]);
}

/// Functions that take a lambda, as `x -> x + 1`, after an array.
const OF_LAMBDAS: &[&str] = &["array_any_match", "array_filter", "array_first", "array_transform"];

/// Makes a lambda of the second argument of a function that takes one, before the operators in it are looked at.
pub(super) fn lambda(expr: &mut Expr) {
    let Expr::Function(function) = expr else { return };
    let mut renamed = function.clone();
    rename(&mut renamed);
    if OF_LAMBDAS.contains(&function_name(&renamed).as_str())
        && let Some(body) = arguments_mut(function).into_iter().nth(1)
        && let Some(name) = parameter(body)
    {
        let name = LambdaFunctionParameter { name, data_type: None };
        let lambda = LambdaFunction {
            params: OneOrManyWithParens::One(name),
            body: body.clone().into(),
            syntax: LambdaSyntax::Arrow,
        };
        *body = Expr::Lambda(lambda);
    }
}

/// Takes the parameter and the arrow from the left end of an expression.
fn parameter(body: &mut Expr) -> Option<Ident> {
    let Expr::BinaryOp { left, op, right } = body else {
        return match body {
            Expr::IsNull(inner)
            | Expr::IsNotNull(inner)
            | Expr::IsTrue(inner)
            | Expr::IsNotTrue(inner)
            | Expr::IsFalse(inner)
            | Expr::IsNotFalse(inner)
            | Expr::IsUnknown(inner)
            | Expr::IsNotUnknown(inner)
            | Expr::IsDistinctFrom(inner, _)
            | Expr::IsNotDistinctFrom(inner, _)
            | Expr::Like { expr: inner, .. }
            | Expr::ILike { expr: inner, .. }
            | Expr::SimilarTo { expr: inner, .. }
            | Expr::RLike { expr: inner, .. }
            | Expr::AnyOp { left: inner, .. }
            | Expr::AllOp { left: inner, .. }
            | Expr::AtTimeZone { timestamp: inner, .. }
            | Expr::InList { expr: inner, .. }
            | Expr::Between { expr: inner, .. }
            | Expr::Cast { expr: inner, .. } => parameter(inner),
            _ => None,
        };
    };
    match (&**left, op) {
        (Expr::Identifier(name), BinaryOperator::Arrow) => {
            let name = name.clone();
            *body = (**right).clone();
            Some(name)
        }
        _ => parameter(left),
    }
}

/// `date_diff(unit, from, to)`: how many borders of the unit lie between two times, as in `DuckDB`.
fn date_diff(given: &[Expr]) -> Result<Expr, Error> {
    let [unit, from, to] = given else {
        return Err(Error::sql("`date_diff` takes a unit, such as 'day', and two times"));
    };
    let wrong = || Error::sql(format!("`date_diff` takes a constant unit such as 'day', not {unit}"));
    let name = literal::text(unit).ok_or_else(wrong)?.to_lowercase();
    let months =
        "(date_part('year', $2) - date_part('year', $1)) * 12 + date_part('month', $2) - date_part('month', $1)";
    let name = name.trim_end_matches('s');
    let seconds = match name {
        "year" => {
            return filled(
                "cast(date_part('year', $2) - date_part('year', $1) as bigint)",
                &[from.clone(), to.clone()],
            );
        }
        "month" => return filled(&format!("cast({months} as bigint)"), &[from.clone(), to.clone()]),
        "quarter" => {
            let quarters = "cast((date_part('year', $2) - date_part('year', $1)) * 4 + date_part('quarter', $2) - date_part('quarter', $1) as bigint)";
            return filled(quarters, &[from.clone(), to.clone()]);
        }
        "week" => 604_800,
        "day" => 86_400,
        "hour" => 3_600,
        "minute" => 60,
        "second" => 1,
        _ => return Err(wrong()),
    };
    let between = format!(
        "cast((date_part('epoch', date_trunc('{name}', $2)) - date_part('epoch', date_trunc('{name}', $1))) / {seconds} as bigint)"
    );
    filled(&between, &[from.clone(), to.clone()])
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
    let _ = visit::exprs_mut(&mut meant, |expr| {
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
    let _ = visit::exprs_mut(meant, |expr| {
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
