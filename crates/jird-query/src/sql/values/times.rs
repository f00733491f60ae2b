//! Times and other values: what is compared with a time, or moved by an interval, is read as a time.

use super::walk::Walk;
use crate::base::error::Error;
use crate::sql::base::literal::{literal, text};
use crate::sql::base::times::{is_span, is_time};
use crate::sql::resolve::resolver::Context;
use jird::record::Literal;
use jird_store::time;
use sqlparser::ast::{BinaryOperator, Expr, Value};

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
        if let Some(constant) = text(expr) {
            check_time(&constant)?;
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
        if matches!(op, BinaryOperator::Multiply | BinaryOperator::Divide) && (spans[0] || spans[1]) {
            self.expr(left, context)?;
            self.expr(right, context)?;
            return Ok(true);
        }
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

/// Refuses a constant that is not a time.
pub(super) fn check_time(constant: &str) -> Result<(), Error> {
    match time::parse(constant.as_bytes()) {
        Some(_) => Ok(()),
        None => Err(Error::sql(format!("'{constant}' is not a time; write it as '2024-03-05T07:00:00Z'"))),
    }
}
