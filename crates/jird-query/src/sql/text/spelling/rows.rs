//! Comparisons of several values at once: `(a, b) = (1, 2)`, `(a, b) in ((1, 2), (3, 4))`.

use crate::base::error::Error;
use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator};

/// Rewrites a comparison of rows to comparisons of their values.
pub(super) fn expr(expr: &mut Expr) -> Result<(), Error> {
    let meant = match expr {
        Expr::BinaryOp { left, op, right } => match (&**left, op, &**right) {
            (Expr::Tuple(left), BinaryOperator::Eq, Expr::Tuple(right)) => equal(left, right)?,
            (Expr::Tuple(left), BinaryOperator::NotEq, Expr::Tuple(right)) => not(equal(left, right)?),
            _ => return Ok(()),
        },
        Expr::InList { expr, list, negated } => {
            let Expr::Tuple(row) = &**expr else { return Ok(()) };
            let one_of = list.iter().map(|other| match other {
                Expr::Tuple(other) => equal(row, other),
                other => Err(Error::sql(format!("`{other}` is one value, and it is compared with {}", row.len()))),
            });
            let any = joined(one_of.collect::<Result<_, _>>()?, &BinaryOperator::Or)?;
            if *negated { not(any) } else { any }
        }
        _ => return Ok(()),
    };
    *expr = meant;
    Ok(())
}

fn equal(left: &[Expr], right: &[Expr]) -> Result<Expr, Error> {
    if left.len() != right.len() {
        return Err(Error::sql(format!("{} values are compared with {}", left.len(), right.len())));
    }
    let pair = |(left, right): (&Expr, &Expr)| Expr::BinaryOp {
        left: left.clone().into(),
        op: BinaryOperator::Eq,
        right: right.clone().into(),
    };
    joined(left.iter().zip(right).map(pair).collect(), &BinaryOperator::And)
}

/// The conditions as one.
fn joined(conditions: Vec<Expr>, op: &BinaryOperator) -> Result<Expr, Error> {
    let all = conditions.into_iter().reduce(|left, right| Expr::BinaryOp {
        left: left.into(),
        op: op.clone(),
        right: right.into(),
    });
    all.map(|all| Expr::Nested(all.into())).ok_or_else(|| Error::sql("a comparison with nothing"))
}

fn not(condition: Expr) -> Expr {
    Expr::UnaryOp { op: UnaryOperator::Not, expr: condition.into() }
}
