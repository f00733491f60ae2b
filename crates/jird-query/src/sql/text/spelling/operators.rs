//! Operators: `->` and `->>`, `^`, `= any`, `similar to`; and functions that take a path, which are operators too.

use super::super::plain::plain_expression;
use super::functions::filled;
use crate::base::error::Error;
use crate::sql::base::chain::chain;
use crate::sql::base::functions::{ALL, ANY, JSON_ARRAY, JSON_PATH};
use crate::sql::base::literal::{literal, text};
use crate::sql::base::syntax::{arguments, call, function_name, string};
use crate::sql::base::times::read_times;
use jird::JsonPath;
use jird::record::{Literal, Step};
use sqlparser::ast::{
    AccessExpr, BinaryOperator, Expr, GroupByExpr, Query, SelectItem, SetExpr, Subscript, UnaryOperator, Value,
};

/// Rewrites an operator.
pub(super) fn expr(expr: &mut Expr) -> Result<(), Error> {
    let meant = match expr {
        Expr::BinaryOp { left, op: BinaryOperator::Arrow, right } => looked_into(left, right)?,
        Expr::BinaryOp { left, op: BinaryOperator::LongArrow, right } => call("text", vec![looked_into(left, right)?]),
        // In PostgreSQL and DuckDB this is not an exclusive or.
        Expr::BinaryOp { left, op: BinaryOperator::BitwiseXor | BinaryOperator::PGExp, right } => {
            call("power", vec![(**left).clone(), (**right).clone()])
        }
        Expr::BinaryOp { left, op: BinaryOperator::DuckIntegerDivide | BinaryOperator::MyIntegerDivide, right } => {
            filled("($1 - $1 % $2) / $2", &[(**left).clone(), (**right).clone()])?
        }
        // The operators of DataFusion take null for a text.
        Expr::BinaryOp { left, op, right } if flags(op).is_some() => {
            let (flags, negated) = flags(op).unwrap_or_default();
            matched(left, right, flags, negated)
        }
        Expr::RLike { negated, expr, pattern, .. } => matched(expr, pattern, "", *negated),
        Expr::AnyOp { left, compare_op, right, .. } => any(left, compare_op, right)?,
        Expr::AllOp { left, compare_op, right } => all(left, compare_op, right)?,
        Expr::SimilarTo { negated, expr, pattern, escape_char: None } => {
            let Some(pattern) = text(pattern) else {
                return Err(Error::sql("the pattern of `similar to` must be a constant text"));
            };
            let pattern = Value::SingleQuotedString(format!("^(?s:{})$", regex_of(&pattern)));
            let like = call("regexp_like", vec![(**expr).clone(), Expr::value(pattern)]);
            negate(like, *negated)
        }
        Expr::Extract { field, expr, .. } => match years_of(&field.to_string()) {
            Some(template) => filled(template, &[(**expr).clone()])?,
            None => return Ok(()),
        },
        Expr::CompoundFieldAccess { root, access_chain } => match slice(root, access_chain)? {
            Some(slice) => slice,
            None => return Ok(()),
        },
        Expr::Function(function) => {
            let given = arguments(function);
            let (Some(subject), rest) = (given.first(), given.get(1..).unwrap_or_default()) else { return Ok(()) };
            match (function_name(function).as_str(), rest) {
                ("date_part" | "datepart", [time]) => match text(subject).as_deref().and_then(years_of) {
                    Some(template) => filled(template, &[(*time).clone()])?,
                    None => return Ok(()),
                },
                ("json_extract", [path]) => extracted(subject, path)?,
                ("json_extract_string", [path]) => call("text", vec![extracted(subject, path)?]),
                (JSON_PATH, [path]) => {
                    let path =
                        text(path).ok_or_else(|| Error::sql("the path of `json_path` must be a constant text"))?;
                    found(subject, &path)?
                }
                ("json_extract_path", keys) => subscripted(subject, keys.iter().map(|key| (*key).clone())),
                ("json_extract_path_text", keys) => {
                    call("text", vec![subscripted(subject, keys.iter().map(|key| (*key).clone()))])
                }
                _ => return Ok(()),
            }
        }
        _ => return Ok(()),
    };
    *expr = meant;
    Ok(())
}

/// Parts of a time that DataFusion lacks, of its year.
fn years_of(part: &str) -> Option<&'static str> {
    Some(match part.to_ascii_lowercase().as_str() {
        "decade" | "decades" => "cast(floor(date_part('year', $1) / 10.0) as bigint)",
        "century" | "centuries" => "cast(ceil(date_part('year', $1) / 100.0) as bigint)",
        "millennium" | "millenium" | "millennia" => "cast(ceil(date_part('year', $1) / 1000.0) as bigint)",
        _ => return None,
    })
}

/// `subject[step][step]…`
fn subscripted(subject: &Expr, steps: impl IntoIterator<Item = Expr>) -> Expr {
    let (root, mut access_chain) = match subject {
        Expr::CompoundFieldAccess { root, access_chain } => (root.clone(), access_chain.clone()),
        other => (other.clone().into(), Vec::new()),
    };
    access_chain.extend(steps.into_iter().map(|index| AccessExpr::Subscript(Subscript::Index { index })));
    Expr::CompoundFieldAccess { root, access_chain }
}

/// `subject -> step`. A text that begins as a JSONPath does is one; `$ref` is a key.
fn looked_into(subject: &Expr, step_or_path: &Expr) -> Result<Expr, Error> {
    match text(step_or_path).filter(|path| **path == *"$" || path.starts_with("$.") || path.starts_with("$[")) {
        Some(path) => found(subject, &path),
        None => Ok(subscripted(subject, [step(step_or_path)?])),
    }
}

/// `json_extract(subject, path)`, whose path may have the forms of other databases, and that of JSONPath.
fn extracted(subject: &Expr, path: &Expr) -> Result<Expr, Error> {
    match (steps(path), text(path)) {
        (Err(_), Some(path)) if path.starts_with('$') => found(subject, &path),
        (steps, _) => Ok(subscripted(subject, steps?)),
    }
}

/// What a JSONPath finds in a value. One that is a path of a field becomes that path, which the scan follows.
fn found(subject: &Expr, path: &str) -> Result<Expr, Error> {
    let compiled = JsonPath::new(path).map_err(|error| Error::sql(format!("`{path}` is no JSONPath: {error}")))?;
    let Some(plain) = compiled.as_path() else { return Ok(call(JSON_PATH, vec![subject.clone(), string(path)])) };
    Ok(subscripted(
        subject,
        plain.steps().iter().map(|step| match step {
            Step::Key(key) => string(key),
            Step::Index(index) => Expr::value(Value::Number(index.to_string(), false)),
        }),
    ))
}

/// What stands after `->`.
fn step(expr: &Expr) -> Result<Expr, Error> {
    match literal(expr) {
        Some(Literal::Text(_) | Literal::Number(_)) => Ok(expr.clone()),
        _ => Err(Error::sql(format!("`->` takes a constant key or number, not `{expr}`"))),
    }
}

/// The steps of `$.a[0]."b c"`, of `/a/0/b`, or of one key.
fn steps(path: &Expr) -> Result<Vec<Expr>, Error> {
    let wrong = || Error::sql(format!("`{path}` is not a constant path; write one such as '$.a[0].b' or '/a/0/b'"));
    let written = text(path).ok_or_else(wrong)?;
    let key = |key: &str| string(key);
    let number = |digits: &str| Expr::value(Value::Number(digits.to_owned(), false));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(pointer) = written.strip_prefix('/') {
        let unescaped = |part: &str| part.replace("~1", "/").replace("~0", "~");
        return Ok(pointer
            .split('/')
            .map(|part| if is_number(part) { number(part) } else { key(&unescaped(part)) })
            .collect());
    }
    let Some(mut rest) = written.strip_prefix('$') else { return Ok(vec![key(&written)]) };
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix(".\"") {
            let (name, after) = quoted.split_once('"').ok_or_else(wrong)?;
            steps.push(key(name));
            rest = after;
        } else if let Some(name) = rest.strip_prefix('.') {
            let end = name.find(['.', '[']).unwrap_or(name.len());
            if end == 0 {
                return Err(wrong());
            }
            steps.push(key(&name[..end]));
            rest = &name[end..];
        } else {
            let (index, after) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')).ok_or_else(wrong)?;
            let digits = index.strip_prefix("#-").or_else(|| index.strip_prefix('-'));
            let is_from_end = digits.is_some();
            let digits = digits.unwrap_or(index);
            if !is_number(digits) {
                return Err(wrong());
            }
            let index = number(digits);
            steps.push(if is_from_end {
                Expr::UnaryOp { op: UnaryOperator::Minus, expr: index.into() }
            } else {
                index
            });
            rest = after;
        }
    }
    Ok(steps)
}

/// `a = any(…)` of constants, of a query, or of the elements of an array.
fn any(left: &Expr, op: &BinaryOperator, right: &Expr) -> Result<Expr, Error> {
    match (op, right) {
        (BinaryOperator::Eq, Expr::Subquery(query)) => {
            Ok(Expr::InSubquery { expr: left.clone().into(), subquery: query.clone(), negated: false })
        }
        (BinaryOperator::Eq, Expr::Array(array)) => {
            Ok(Expr::InList { expr: left.clone().into(), list: array.elem.clone(), negated: false })
        }
        (_, Expr::Subquery(query)) => of_rows(ANY, left, op, query),
        (_, array) => Ok(of_elements(ANY, left, op, array)),
    }
}

/// `a <> all(…)` of constants or of a query.
fn all(left: &Expr, op: &BinaryOperator, right: &Expr) -> Result<Expr, Error> {
    match (op, right) {
        (BinaryOperator::NotEq, Expr::Subquery(query)) => {
            Ok(Expr::InSubquery { expr: left.clone().into(), subquery: query.clone(), negated: true })
        }
        (BinaryOperator::NotEq, Expr::Array(array)) => {
            Ok(Expr::InList { expr: left.clone().into(), list: array.elem.clone(), negated: true })
        }
        (_, Expr::Subquery(query)) => of_rows(ALL, left, op, query),
        (_, array) => Ok(of_elements(ALL, left, op, array)),
    }
}

fn of_rows(function: &str, left: &Expr, op: &BinaryOperator, query: &Query) -> Result<Expr, Error> {
    let (mut left, mut query) = (left.clone(), query.clone());
    read_times(&mut left, &mut query);
    Ok(of_elements(function, &left, op, &rows_of(&query)?))
}

/// The values of a query as an array; none if it has no rows.
fn rows_of(query: &Query) -> Result<Expr, Error> {
    if let SetExpr::Select(select) = &*query.body
        && select.projection.len() != 1
    {
        return Err(Error::sql("`any` and `all` take a query of one column"));
    }
    // A plain query may name the row around it, and DataFusion looks for that in the query itself.
    if let Query { with: None, limit_clause: None, body, .. } = query
        && let SetExpr::Select(select) = &**body
        && let [SelectItem::UnnamedExpr(value) | SelectItem::ExprWithAlias { expr: value, .. }] = &select.projection[..]
        && matches!(&select.group_by, GroupByExpr::Expressions(groups, _) if groups.is_empty())
        && select.having.is_none()
        && select.qualify.is_none()
        && select.distinct.is_none()
        && chain(value).is_some()
    {
        let all = plain_expression(&format!("array_agg(DISTINCT {value})"))?;
        let (mut query, mut select) = (query.clone(), select.clone());
        select.projection = vec![SelectItem::UnnamedExpr(all)];
        query.order_by = None;
        query.body = SetExpr::Select(select).into();
        return Ok(call("coalesce", vec![Expr::Subquery(query.into()), call(JSON_ARRAY, Vec::new())]));
    }
    plain_expression(&format!("coalesce((SELECT array_agg(DISTINCT v) FROM ({query}) AS any_of (v)), json_array())"))
}

/// `list[first:last]`: both count from 1, as in `array_slice`. `None` if there is no slice.
fn slice(root: &Expr, chain: &[AccessExpr]) -> Result<Option<Expr>, Error> {
    let is_slice = |access: &AccessExpr| matches!(access, AccessExpr::Subscript(Subscript::Slice { .. }));
    let Some((last, before)) = chain.split_last().filter(|_| chain.iter().any(is_slice)) else { return Ok(None) };
    let AccessExpr::Subscript(Subscript::Slice { lower_bound, upper_bound, stride: None }) = last else {
        return Err(Error::sql("a slice is `list[first:last]`, and nothing follows it: put brackets around it"));
    };
    if before.iter().any(is_slice) {
        return Err(Error::sql("a slice of a slice: put brackets around the first one"));
    }
    let list = match before {
        [] => root.clone(),
        before => Expr::CompoundFieldAccess { root: root.clone().into(), access_chain: before.to_vec() },
    };
    let number = |number: &str| Expr::value(Value::Number(number.to_owned(), false));
    let end = || Expr::UnaryOp { op: UnaryOperator::Minus, expr: number("1").into() };
    let (from, to) = (lower_bound.clone().unwrap_or_else(|| number("1")), upper_bound.clone().unwrap_or_else(end));
    Ok(Some(call("array_slice", vec![list, from, to])))
}

/// `left op any (array)`, with a name that no query has.
fn of_elements(name: &str, left: &Expr, op: &BinaryOperator, array: &Expr) -> Expr {
    let op = string(&op.to_string());
    call(name, vec![array.clone(), left.clone(), op])
}

/// The flags of an operator that matches a regular expression, and whether it negates.
fn flags(op: &BinaryOperator) -> Option<(&'static str, bool)> {
    Some(match op {
        BinaryOperator::PGRegexMatch => ("", false),
        BinaryOperator::PGRegexIMatch => ("i", false),
        BinaryOperator::PGRegexNotMatch => ("", true),
        BinaryOperator::PGRegexNotIMatch => ("i", true),
        _ => return None,
    })
}

fn matched(text: &Expr, pattern: &Expr, flags: &str, negated: bool) -> Expr {
    let mut given = vec![text.clone(), pattern.clone()];
    if !flags.is_empty() {
        given.push(string(flags));
    }
    negate(call("regexp_like", given), negated)
}

fn negate(expr: Expr, negated: bool) -> Expr {
    if negated { Expr::UnaryOp { op: UnaryOperator::Not, expr: expr.into() } } else { expr }
}

/// The regular expression of a pattern of `similar to`, whose `%` and `_` are those of `like`.
fn regex_of(pattern: &str) -> String {
    let mut regex = String::new();
    let mut chars = pattern.chars();
    while let Some(char) = chars.next() {
        match char {
            '%' => regex.push_str(".*"),
            '_' => regex.push('.'),
            '\\' => regex.push_str(&regex::escape(&chars.next().map(String::from).unwrap_or_default())),
            '.' | '^' | '$' => regex.extend(['\\', char]),
            other => regex.push(other),
        }
    }
    regex
}
