//! Exact comparisons of integers with doubles. DataFusion would turn the integer into a double.

use super::stateless::{Makes, Takes, column, function};
use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::datatypes::{DataType, Decimal256Type, Float64Type, i256};
use arrow_cast::cast;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::error::Result;
use datafusion::logical_expr::planner::{PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{Expr, ExprSchemable, Operator, ScalarUDF, binary_expr, lit};
use std::cmp::Ordering;
use std::sync::Arc;

/// Plans a comparison of an integer with a double as a call of [`number_compare`].
pub(super) fn plan(expr: RawBinaryExpr, op: Operator, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
    let types = [expr.left.get_type(schema)?, expr.right.get_type(schema)?];
    let is_mixed = match &types {
        [DataType::Float64, other] | [other, DataType::Float64] => is_integer(other),
        _ => false,
    };
    if !is_mixed || is_small(&expr.left) || is_small(&expr.right) {
        return Ok(PlannerResult::Original(expr));
    }
    let order = number_compare().call(vec![expr.left, expr.right]);
    Ok(PlannerResult::Planned(binary_expr(order, op, lit(0_i64))))
}

/// Whether the values of a type are integers, which doubles may not hold.
fn is_integer(kind: &DataType) -> bool {
    kind.is_integer() || matches!(kind, DataType::Decimal128(_, 0) | DataType::Decimal256(_, 0))
}

/// Whether an expression is an integer that a double holds.
fn is_small(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(ScalarValue::Int64(Some(number)), _) => number.unsigned_abs() <= 1 << 53,
        Expr::Negative(inner) => is_small(inner),
        _ => false,
    }
}

/// The function that orders integers and doubles, either on either side: -1, 0 or 1.
pub(super) fn number_compare() -> ScalarUDF {
    function("number_compare", Takes::Exactly(2), Makes::Always(DataType::Int64), |args| {
        let (left, right) = (column(args, 0)?, column(args, 1)?);
        let orders: Int64Array = if left.data_type() == &DataType::Float64 {
            orders(&right, &left)?.into_iter().map(|order| order.map(|order| -order)).collect()
        } else {
            orders(&left, &right)?.into_iter().collect()
        };
        Ok(Arc::new(orders))
    })
}

/// The order of each integer and its double.
fn orders(integers: &ArrayRef, doubles: &ArrayRef) -> Result<Vec<Option<i64>>> {
    // A decimal of 76 digits holds every integer.
    let integers = cast(integers, &DataType::Decimal256(76, 0))?;
    let (integers, doubles) = (integers.as_primitive::<Decimal256Type>(), doubles.as_primitive::<Float64Type>());
    let order = |(integer, double): (Option<i256>, Option<f64>)| Some(order(integer?, double?) as i64);
    Ok(integers.iter().zip(doubles).map(order).collect())
}

/// As DataFusion orders doubles, NaN is greater than all numbers.
fn order(integer: i256, double: f64) -> Ordering {
    // 2¹²⁷ is the first double beyond this type of integers.
    let border = 2_f64.powi(127);
    let Some(integer) = integer.to_i128() else {
        // It has more than 38 digits; sums of that size are rounded.
        return integer.to_string().parse::<f64>().unwrap_or_default().total_cmp(&double);
    };
    if double.is_nan() || double >= border {
        return Ordering::Less;
    }
    if double < -border {
        return Ordering::Greater;
    }
    #[expect(clippy::cast_possible_truncation, reason = "checked")]
    let whole = double.trunc() as i128;
    integer.cmp(&whole).then_with(|| 0.0_f64.total_cmp(&(double.fract() + 0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_and_doubles_compare_exactly() {
        use Ordering::{Equal, Greater, Less};
        let exact = (1_i128 << 53) + 1;
        for (integer, double, wanted) in [
            (exact, 9_007_199_254_740_992.0, Greater),
            (exact - 1, 9_007_199_254_740_992.0, Equal),
            (-exact, -9_007_199_254_740_992.0, Less),
            (0, -0.0, Equal),
            (0, -0.5, Greater),
            (1, 1.5, Less),
            (-1, -1.5, Greater),
            (i128::MAX, 1e300, Less),
            (i128::MAX, f64::NAN, Less),
            (i128::MIN, f64::NEG_INFINITY, Greater),
            (i128::from(u64::MAX), 18_446_744_073_709_551_616.0, Less),
        ] {
            assert_eq!(order(i256::from_i128(integer), double), wanted, "{integer} {double}");
        }
        assert_eq!(order(i256::MAX, 1.0), Greater);
    }
}
