//! Integer arithmetic that never wraps. DataFusion's `+`, `-`, `*` and `sum` would wrap silently.

use super::stateless::{Compute, Makes, Takes, column, function, of_one};
use super::timestamp::data_type as time_type;
use super::{intervals, number_compare, time_compare};
use crate::base::error::Error;
use crate::sql::SUM_ARGUMENT;
use arrow::array::{ArrayRef, Datum};
use arrow::compute::kernels::numeric;
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use arrow_cast::cast;
use datafusion::common::DFSchema;
use datafusion::error::Result;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{Cast, Expr, ExprSchemable, Operator, ScalarFunctionArgs, ScalarUDF, binary_expr};
use jird_formats::ColumnType;
use sqlparser::ast::BinaryOperator;

/// The function that converts integers to decimals of 38 digits, and such decimals to decimals of 76 digits, so that their
/// sum cannot overflow. Other types stay unchanged.
pub(super) fn sum_argument() -> ScalarUDF {
    let made = |types: &[DataType]| match &types[0] {
        integer if integer.is_integer() => ColumnType::Decimal.data_type(),
        DataType::Decimal128(38, scale) => DataType::Decimal256(76, *scale),
        other => other.clone(),
    };
    of_one(SUM_ARGUMENT, Makes::ByTypes(made), |args| Ok(cast(&column(args, 0)?, args.return_field.data_type())?))
}

/// Plans `+`, `-` and `*` of integers of one type as calls that never wrap, and comparisons of integers with doubles as
/// exact ones.
#[derive(Debug)]
pub(crate) struct CheckedPlanner;

impl ExprPlanner for CheckedPlanner {
    fn plan_binary_op(&self, expr: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        let expr = match moved_date(expr, schema)? {
            PlannerResult::Original(expr) => expr,
            planned @ PlannerResult::Planned(_) => return Ok(planned),
        };
        let expr = match intervals::plan(expr, schema)? {
            PlannerResult::Original(expr) => expr,
            planned @ PlannerResult::Planned(_) => return Ok(planned),
        };
        let function = match expr.op {
            BinaryOperator::Plus => checked_add(),
            BinaryOperator::Minus => checked_sub(),
            BinaryOperator::Multiply => checked_mul(),
            BinaryOperator::Divide => return ratio(expr, schema),
            BinaryOperator::Eq => return comparison(expr, Operator::Eq, schema),
            BinaryOperator::NotEq => return comparison(expr, Operator::NotEq, schema),
            BinaryOperator::Lt => return comparison(expr, Operator::Lt, schema),
            BinaryOperator::LtEq => return comparison(expr, Operator::LtEq, schema),
            BinaryOperator::Gt => return comparison(expr, Operator::Gt, schema),
            BinaryOperator::GtEq => return comparison(expr, Operator::GtEq, schema),
            _ => return Ok(PlannerResult::Original(expr)),
        };
        let (left, right) = (expr.left.get_type(schema)?, expr.right.get_type(schema)?);
        if left != right || !matches!(left, DataType::Int64 | DataType::UInt64) {
            return Ok(PlannerResult::Original(expr));
        }
        Ok(PlannerResult::Planned(function.call(vec![expr.left, expr.right])))
    }
}

/// A date that an interval moves is a time, as in `PostgreSQL` and `DuckDB`. DataFusion's stays a date, without the hours.
fn moved_date(expr: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
    let operator = match expr.op {
        BinaryOperator::Plus => Operator::Plus,
        BinaryOperator::Minus => Operator::Minus,
        _ => return Ok(PlannerResult::Original(expr)),
    };
    let is_date = |kind: &DataType| matches!(kind, DataType::Date32 | DataType::Date64);
    let is_span = |kind: &DataType| matches!(kind, DataType::Interval(_) | DataType::Duration(_));
    let time = |side: Expr| Expr::Cast(Cast::new(Box::new(side), time_type(None)));
    let (left, right) = (expr.left.get_type(schema)?, expr.right.get_type(schema)?);
    Ok(if is_date(&left) && is_span(&right) {
        PlannerResult::Planned(binary_expr(time(expr.left), operator, expr.right))
    } else if is_span(&left) && is_date(&right) && operator == Operator::Plus {
        PlannerResult::Planned(binary_expr(time(expr.right), operator, expr.left))
    } else {
        PlannerResult::Original(expr)
    })
}

/// Comparisons that DataFusion would make of other values.
fn comparison(expr: RawBinaryExpr, op: Operator, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
    match time_compare::plan(expr, op, schema)? {
        PlannerResult::Original(expr) => number_compare::plan(expr, op, schema),
        planned @ PlannerResult::Planned(_) => Ok(planned),
    }
}

/// A division of decimals, such as sums of integers, has a double as its result. DataFusion cuts it after a few places.
fn ratio(expr: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
    let types = [expr.left.get_type(schema)?, expr.right.get_type(schema)?];
    let is_decimal = |kind: &DataType| matches!(kind, DataType::Decimal128(..) | DataType::Decimal256(..));
    if !types.iter().any(is_decimal) || !types.iter().all(DataType::is_numeric) {
        return Ok(PlannerResult::Original(expr));
    }
    let double = |side: Expr| Expr::Cast(Cast::new(Box::new(side), DataType::Float64));
    Ok(PlannerResult::Planned(binary_expr(double(expr.left), Operator::Divide, double(expr.right))))
}

pub(super) fn checked_add() -> ScalarUDF {
    checked("+", |args| computed(args, "+", numeric::add))
}

pub(super) fn checked_sub() -> ScalarUDF {
    checked("-", |args| computed(args, "-", numeric::sub))
}

pub(super) fn checked_mul() -> ScalarUDF {
    checked("*", |args| computed(args, "*", numeric::mul))
}

/// The function that computes with two integers and returns an error on overflow.
fn checked(name: &'static str, compute: Compute) -> ScalarUDF {
    function(name, Takes::Exactly(2), Makes::ByTypes(|types| types[0].clone()), compute)
}

type Kernel = fn(&dyn Datum, &dyn Datum) -> std::result::Result<ArrayRef, ArrowError>;

fn computed(args: &ScalarFunctionArgs, name: &str, kernel: Kernel) -> Result<ArrayRef> {
    let (left, right) = (column(args, 0)?, column(args, 1)?);
    let holder = if *left.data_type() == DataType::Int64 { "i64" } else { "u64" };
    let too_large = |_| {
        Error::data(format!("`{name}` of integers gives more than {holder} holds: cast one side to decimal(38, 0)"))
            .into()
    };
    kernel(&left, &right).map_err(too_large)
}
