//! Conditions: a field by itself is a truth value there.

use super::walk::Walk;
use crate::base::error::Error;
use crate::sql::base::forms::{Form, Plain, truth};
use crate::sql::base::syntax::{arguments, function_name, is_call, number};
use crate::sql::resolve::resolver::Context;
use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator};

impl dyn Walk<'_> + '_ {
    /// Rewrites a condition. A field by itself is a truth value there.
    pub(crate) fn condition(&mut self, expr: &mut Expr, context: Context) -> Result<(), Error> {
        self.truth_or_number(expr)?;
        if let Some(leaf) = self.resolver().leaf(expr, true, context)? {
            *expr = leaf;
            return Ok(());
        }
        match expr {
            Expr::Nested(inner) | Expr::UnaryOp { op: UnaryOperator::Not, expr: inner } => {
                self.condition(inner, context)
            }
            Expr::BinaryOp { left, op: BinaryOperator::And | BinaryOperator::Or, right } => {
                self.condition(left, context)?;
                self.condition(right, context)
            }
            expr => {
                if self.any(expr, context)? == Form::Json {
                    *expr = truth(expr.clone());
                }
                Ok(())
            }
        }
    }

    /// The condition of `if`, where a number other than 0 is true, as a plain condition.
    fn truth_or_number(&mut self, expr: &mut Expr) -> Result<(), Error> {
        let Expr::Function(function) = &*expr else { return Ok(()) };
        let (true, [condition]) = (is_call(function, "truth_or_number"), &arguments(function)[..]) else {
            return Ok(());
        };
        let mut condition = (*condition).clone();
        while let Expr::Nested(inner) = condition {
            condition = *inner;
        }
        let is_field = self.resolver().field_at(&condition)?.is_some();
        // Other expressions may be numbers only because nothing is known of the fields in them.
        let computes = match &condition {
            Expr::Value(_) | Expr::UnaryOp { .. } | Expr::BinaryOp { .. } => true,
            Expr::Function(function) => (self.resolver().aggregates)(&function_name(function)),
            _ => false,
        };
        let is_number = computes
            && matches!(self.resolver().kind(&condition)?, Some(Plain::Integer | Plain::Number | Plain::Fraction));
        let condition = Box::new(if is_field { condition } else { Expr::Nested(condition.into()) });
        let zero = Box::new(number(0));
        let is_not_zero = Expr::BinaryOp { left: condition.clone(), op: BinaryOperator::NotEq, right: zero };
        *expr = match (is_field, is_number) {
            (true, _) => Expr::BinaryOp { left: condition, op: BinaryOperator::Or, right: is_not_zero.into() },
            (false, true) => is_not_zero,
            (false, false) => *condition,
        };
        Ok(())
    }
}
