//! Comparisons of several values at once: `(a, b) = (1, 2)`, `(a, b) in (select c, d from t)`.

use super::super::parse::plain_expression;
use crate::error::Error;
use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, UnaryOperator};

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
        Expr::InSubquery { expr: row, subquery, negated } => {
            let Expr::Tuple(row) = &**row else { return Ok(()) };
            let names: Vec<_> = (1..=row.len()).map(|number| format!("in_{number}")).collect();
            // A row that may be equal, because a value of it or of the other row is null, makes `not in` unknown.
            let equal = |(name, value): (&String, &Expr)| {
                let value = operand(value);
                if *negated {
                    format!("({name} = {value} OR {name} IS NULL OR {value} IS NULL)")
                } else {
                    format!("{name} = {value}")
                }
            };
            let equal: Vec<_> = names.iter().zip(row).map(equal).collect();
            let (names, equal, not) = (names.join(", "), equal.join(" AND "), if *negated { "NOT " } else { "" });
            plain_expression(&format!("{not}EXISTS (SELECT 1 FROM ({subquery}) AS in_rows ({names}) WHERE {equal})"))?
        }
        _ => return Ok(()),
    };
    *expr = meant;
    Ok(())
}

/// The text of an expression, in parentheses if an operator beside it could take only a part of it.
fn operand(expr: &Expr) -> String {
    match expr {
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Value(_) | Expr::Function(_) | Expr::Nested(_) => {
            expr.to_string()
        }
        _ => format!("({expr})"),
    }
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
