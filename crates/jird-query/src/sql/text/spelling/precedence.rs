//! `is [not] distinct from` binds tighter than `not`, `and` and `or`. The parser takes all that follows for its right side.

use crate::sql::base::syntax::null;
use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, UnaryOperator};
use std::iter::Peekable;
use std::mem::replace;
use std::vec::IntoIter;

/// Whether the right side of an `is distinct from` goes too far.
pub(super) fn is_wrong(expr: &Expr) -> bool {
    match expr {
        Expr::IsDistinctFrom(_, right) | Expr::IsNotDistinctFrom(_, right) => !matches!(Word::of(right), Shape::Value),
        _ => false,
    }
}

/// Puts a condition together again, in brackets of its own.
pub(super) fn mend(expr: &mut Expr) {
    let mut parts = Vec::new();
    split(replace(expr, null()), &mut parts);
    *expr = join(&mut parts.into_iter().peekable(), Operator::Or);
}

/// The operators of conditions, from the one that binds least.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Operator {
    Or,
    Xor,
    And,
    /// Before its operand. Between operands, it stands for what binds tighter.
    Not,
    Distinct,
    NotDistinct,
}

/// A condition as it was written, from left to right.
enum Word {
    Value(Box<Expr>),
    Operator(Operator),
}

/// What an expression is to a condition around it.
enum Shape {
    Value,
    Not,
    Two(Operator),
}

impl Word {
    fn of(expr: &Expr) -> Shape {
        match expr {
            Expr::BinaryOp { op: BinaryOperator::Or, .. } => Shape::Two(Operator::Or),
            Expr::BinaryOp { op: BinaryOperator::Xor, .. } => Shape::Two(Operator::Xor),
            Expr::BinaryOp { op: BinaryOperator::And, .. } => Shape::Two(Operator::And),
            Expr::UnaryOp { op: UnaryOperator::Not, .. } => Shape::Not,
            Expr::IsDistinctFrom(..) => Shape::Two(Operator::Distinct),
            Expr::IsNotDistinctFrom(..) => Shape::Two(Operator::NotDistinct),
            _ => Shape::Value,
        }
    }
}

fn split(expr: Expr, parts: &mut Vec<Word>) {
    match (Word::of(&expr), expr) {
        (Shape::Not, Expr::UnaryOp { expr, .. }) => {
            parts.push(Word::Operator(Operator::Not));
            split(*expr, parts);
        }
        (
            Shape::Two(operator),
            Expr::BinaryOp { left, right, .. }
            | Expr::IsDistinctFrom(left, right)
            | Expr::IsNotDistinctFrom(left, right),
        ) => {
            split(*left, parts);
            parts.push(Word::Operator(operator));
            split(*right, parts);
        }
        (_, expr) => parts.push(Word::Value(expr.into())),
    }
}

/// Takes the parts that operators bind which bind at least as tight as one.
fn join(parts: &mut Peekable<IntoIter<Word>>, least: Operator) -> Expr {
    let mut left = match parts.next() {
        Some(Word::Value(value)) => *value,
        Some(Word::Operator(_)) => Expr::UnaryOp { op: UnaryOperator::Not, expr: join(parts, Operator::Not).into() },
        None => null(),
    };
    while let Some(Word::Operator(operator)) =
        parts.next_if(|part| matches!(part, Word::Operator(next) if *next >= least))
    {
        let next = match operator {
            Operator::Or => Operator::Xor,
            Operator::Xor => Operator::And,
            Operator::And => Operator::Not,
            Operator::Not | Operator::Distinct | Operator::NotDistinct => Operator::NotDistinct,
        };
        // Nothing binds tighter than the last two, which are taken from left to right.
        let right = if next == Operator::NotDistinct { operand(parts) } else { join(parts, next) };
        let (left_side, right_side) = (Box::new(left), Box::new(right));
        let two = |op| Expr::BinaryOp { left: left_side.clone(), op, right: right_side.clone() };
        left = match operator {
            Operator::Or => two(BinaryOperator::Or),
            Operator::Xor => two(BinaryOperator::Xor),
            Operator::And | Operator::Not => two(BinaryOperator::And),
            Operator::Distinct => Expr::IsDistinctFrom(left_side, right_side),
            Operator::NotDistinct => Expr::IsNotDistinctFrom(left_side, right_side),
        };
    }
    left
}

/// What stands behind `distinct from`.
fn operand(parts: &mut Peekable<IntoIter<Word>>) -> Expr {
    match parts.next_if(|part| matches!(part, Word::Value(_))) {
        Some(Word::Value(value)) => *value,
        _ => join(parts, Operator::Not),
    }
}

#[cfg(test)]
mod tests {
    use crate::sql::parse;
    use datafusion::sql::sqlparser::ast::{Expr, visit_expressions_mut};
    use std::ops::ControlFlow;

    #[test]
    fn distinct_from_binds_tighter_than_and() {
        for (written, meant) in [
            ("a is not distinct from b and c < 5", "(a IS NOT DISTINCT FROM b) AND (c < 5)"),
            ("a is distinct from b or c and d", "(a IS DISTINCT FROM b) OR (c AND d)"),
            ("x and a is distinct from b or c", "(x AND (a IS DISTINCT FROM b)) OR c"),
            (
                "a is distinct from b and c is distinct from d or e",
                "((a IS DISTINCT FROM b) AND (c IS DISTINCT FROM d)) OR e",
            ),
            ("not a is distinct from b and c", "(NOT (a IS DISTINCT FROM b)) AND c"),
            (
                "a is distinct from b and not c is distinct from d and e",
                "((a IS DISTINCT FROM b) AND (NOT (c IS DISTINCT FROM d))) AND e",
            ),
            ("a is distinct from b = c or d", "(a IS DISTINCT FROM (b = c)) OR d"),
            ("a is distinct from (b and c)", "a IS DISTINCT FROM (b AND c)"),
            (
                "case when a is distinct from b and c then 1 end = 1",
                "CASE WHEN (a IS DISTINCT FROM b) AND c THEN 1 END = 1",
            ),
        ] {
            assert_eq!(bracketed(written), bracketed(meant), "{written}");
        }
    }

    /// A condition with brackets around each of its parts.
    fn bracketed(condition: &str) -> String {
        let mut query = parse(&format!("select x from s where {condition}")).unwrap().query;
        let _ = visit_expressions_mut(&mut query, |expr| {
            while let Expr::Nested(inner) = expr {
                *expr = (**inner).clone();
            }
            if !matches!(expr, Expr::Identifier(_) | Expr::Value(_)) {
                *expr = Expr::Nested(expr.clone().into());
            }
            ControlFlow::<()>::Continue(())
        });
        query.to_string()
    }
}
