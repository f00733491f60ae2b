//! Times beside other values: what is compared with a time, or moved by an interval, is read as a time.

use super::walk::Walk;
use crate::base::error::Error;
use crate::sql::base::literal::{literal, text};
use crate::sql::base::syntax::{arguments, function_name};
use crate::sql::resolve::resolver::Context;
use datafusion::sql::sqlparser::ast::{BinaryOperator, DataType, Expr, Value, WindowFrame, WindowFrameBound};
use jird::record::Literal;
use jird_store::time;

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

/// Whether an expression is an interval, as far as it says so itself.
pub(crate) fn is_span(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_span(inner),
        Expr::Interval(_) => true,
        Expr::Cast { data_type, .. } => matches!(data_type, DataType::Interval { .. }),
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

impl dyn Walk<'_> + '_ {
    /// Rewrites values that are compared with each other or become one column, if one of them is a time: then all are.
    /// Returns whether it did.
    pub(crate) fn as_times(&mut self, exprs: &mut [&mut Expr], context: Context) -> Result<bool, Error> {
        if !exprs.iter().any(|expr| is_time(expr)) {
            return Ok(false);
        }
        for expr in exprs {
            self.as_time(expr, context)?;
        }
        Ok(true)
    }

    /// Rewrites a value that is used as a time.
    fn as_time(&mut self, expr: &mut Expr, context: Context) -> Result<(), Error> {
        if is_time(expr) {
            return self.expr(expr, context);
        }
        if let Some(constant) = text(expr)
            && time::parse(constant.as_bytes()).is_none()
        {
            return Err(Error::sql(format!("'{constant}' is not a time; write it as '2024-03-05T07:00:00Z'")));
        }
        if matches!(expr, Expr::Value(value) if value.value == Value::Null) {
            return Ok(());
        }
        self.time(expr, context)
    }

    /// Rewrites the sides of `+` and `-`, if one of them is an interval or a time: what is moved by an interval is a
    /// time, and so is what a time is subtracted from. Returns whether it did.
    pub(crate) fn moved(
        &mut self,
        (left, op, right): (&mut Expr, &BinaryOperator, &mut Expr),
        context: Context,
    ) -> Result<bool, Error> {
        let is_minus = *op == BinaryOperator::Minus;
        let (times, spans) = ([is_time(left), is_time(right)], [is_span(left), is_span(right)]);
        let is_known = |side: usize| times[side] || spans[side];
        if !is_minus && *op != BinaryOperator::Plus || !is_known(0) && !is_known(1) {
            return Ok(false);
        }
        let is_read = [spans[1] || is_minus && times[1], if is_minus { times[0] } else { spans[0] }];
        for (index, side) in [left, right].into_iter().enumerate() {
            // `date '2024-01-08' - 7` is a week before.
            let is_number = matches!(literal(side), Some(Literal::Number(_)));
            if is_read[index] && !is_known(index) && !is_number {
                self.as_time(side, context)?;
            } else {
                self.expr(side, context)?;
            }
        }
        Ok(true)
    }
}
