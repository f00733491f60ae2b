//! Expressions that say themselves that their values are times or intervals.

use super::functions::CAST_AS;
use super::syntax::{arguments, call, function_name};
use sqlparser::ast::{BinaryOperator, DataType, Expr, Query, SelectItem, SetExpr, WindowFrame, WindowFrameBound};

/// Functions whose results are times.
const TIMES: &[&str] = &[
    "current_date",
    "current_timestamp",
    "date_bin",
    "date_trunc",
    "datetrunc",
    "from_unixtime",
    "localtimestamp",
    "make_date",
    "now",
    "time_bucket",
    "timestamp",
    "to_date",
    "to_timestamp",
    "to_timestamp_micros",
    "to_timestamp_millis",
    "to_timestamp_nanos",
    "to_timestamp_seconds",
    "today",
];

/// Functions that return one of their arguments.
const PASSING: &[&str] = &[
    "any_value",
    CAST_AS,
    "coalesce",
    "first_value",
    "greatest",
    "ifnull",
    "lag",
    "last_value",
    "lead",
    "least",
    "max",
    "min",
    "nth_value",
    "nullif",
    "nvl",
];

/// Whether the values of an expression are times, as far as it says so itself.
pub(crate) fn is_time(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_time(inner),
        Expr::TypedString(typed) => is_type_of_times(&typed.data_type),
        Expr::Cast { data_type, .. } => is_type_of_times(data_type),
        Expr::AtTimeZone { .. } => true,
        Expr::Function(function) => {
            let name = function_name(function);
            let first = || arguments(function).first().is_some_and(|first| is_time(first));
            TIMES.contains(&name.as_str()) || PASSING.contains(&name.as_str()) && first()
        }
        Expr::BinaryOp { left, op: BinaryOperator::Plus, right } => is_time(left) || is_time(right),
        Expr::BinaryOp { left, op: BinaryOperator::Minus, right } => is_time(left) && is_span(right),
        Expr::Case { conditions, .. } => conditions.iter().any(|when| is_time(&when.result)),
        _ => false,
    }
}

fn is_type_of_times(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Timestamp(..) | DataType::TimestampNtz(..) | DataType::Date | DataType::Datetime(_))
}

pub(crate) fn is_type_of_spans(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Interval { .. })
}

/// Whether an expression is an interval, as far as it says so itself.
pub(crate) fn is_span(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_span(inner),
        Expr::Interval(_) => true,
        Expr::Cast { data_type, .. } => is_type_of_spans(data_type),
        Expr::BinaryOp { left, op: BinaryOperator::Minus, right } => {
            is_time(left) && !is_span(right) || is_time(right) || is_span(left)
        }
        Expr::BinaryOp { left, op: BinaryOperator::Plus, right } => is_span(left) && is_span(right),
        Expr::BinaryOp { left, op: BinaryOperator::Multiply | BinaryOperator::Divide, right } => {
            is_span(left) || is_span(right)
        }
        _ => false,
    }
}

/// Whether the bounds of a window are intervals.
pub(crate) fn is_range_of_times(frame: &WindowFrame) -> bool {
    let is = |bound: &WindowFrameBound| match bound {
        WindowFrameBound::Preceding(Some(width)) | WindowFrameBound::Following(Some(width)) => is_span(width),
        _ => false,
    };
    is(&frame.start_bound) || frame.end_bound.as_ref().is_some_and(is)
}

/// Reads a value, or each value of a row, and the columns of the subquery that it is compared with as times, where one of
/// them says that it is a time.
pub(crate) fn read_times(subject: &mut Expr, subquery: &mut Query) {
    let mut values: Vec<_> = match subject {
        Expr::Tuple(values) => values.iter_mut().collect(),
        value => vec![value],
    };
    let mut columns = Vec::new();
    columns_within(&mut subquery.body, &mut columns);
    let width = values.len();
    for (place, value) in values.iter_mut().enumerate() {
        let mut sides: Vec<_> = columns.iter_mut().skip(place).step_by(width).map(|column| &mut **column).collect();
        sides.push(&mut **value);
        if sides.iter().any(|side| is_time(side)) {
            sides.into_iter().for_each(|side| *side = call("timestamp", vec![side.clone()]));
        }
    }
}

/// The columns of each `select` of a set operation.
fn columns_within<'q>(body: &'q mut SetExpr, columns: &mut Vec<&'q mut Expr>) {
    match body {
        SetExpr::Select(select) => columns.extend(select.projection.iter_mut().filter_map(|item| match item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
            _ => None,
        })),
        SetExpr::SetOperation { left, right, .. } => {
            columns_within(left, columns);
            columns_within(right, columns);
        }
        SetExpr::Query(query) => columns_within(&mut query.body, columns),
        _ => {}
    }
}
