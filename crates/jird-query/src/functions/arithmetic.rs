//! Integer arithmetic that never wraps. DataFusion's `+`, `-`, `*` and `sum` would wrap silently.

use super::{number_compare, time_compare};
use crate::base::error::Error;
use crate::sql::SUM_ARGUMENT;
use arrow::array::ArrayRef;
use arrow::compute::kernels::numeric;
use arrow::datatypes::DataType;
use arrow_cast::cast;
use datafusion::common::DFSchema;
use datafusion::error::Result;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{
    Cast, ColumnarValue, Expr, ExprSchemable, Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility, binary_expr,
};
use datafusion::sql::sqlparser::ast::BinaryOperator;
use jird_formats::ColumnType;

/// Converts integers to decimals of 38 digits, and such decimals to decimals of 76 digits, so that their sum cannot
/// overflow. Other types stay unchanged.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct SumArgument(Signature);

impl SumArgument {
    pub(crate) fn new() -> Self {
        Self(Signature::any(1, Volatility::Immutable))
    }
}

impl ScalarUDFImpl for SumArgument {
    fn name(&self) -> &'static str {
        SUM_ARGUMENT
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(match &types[0] {
            integer if integer.is_integer() => ColumnType::Decimal.data_type(),
            DataType::Decimal128(38, scale) => DataType::Decimal256(76, *scale),
            other => other.clone(),
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let array = args.args[0].to_array(args.number_rows)?;
        Ok(ColumnarValue::Array(cast(&array, args.return_field.data_type())?))
    }
}

/// Plans `+`, `-` and `*` of integers of one type as [`Checked`], and comparisons of integers with doubles as exact ones.
#[derive(Debug)]
pub(crate) struct CheckedPlanner;

impl ExprPlanner for CheckedPlanner {
    fn plan_binary_op(&self, expr: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        let operation = match expr.op {
            BinaryOperator::Plus => Operation::Add,
            BinaryOperator::Minus => Operation::Subtract,
            BinaryOperator::Multiply => Operation::Multiply,
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
        let function = ScalarUDF::from(Checked::new(operation));
        Ok(PlannerResult::Planned(function.call(vec![expr.left, expr.right])))
    }
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Operation {
    Add,
    Subtract,
    Multiply,
}

/// Integer arithmetic that returns an error on overflow.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Checked {
    operation: Operation,
    signature: Signature,
}

impl Checked {
    fn new(operation: Operation) -> Self {
        Self { operation, signature: Signature::any(2, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Checked {
    fn name(&self) -> &'static str {
        match self.operation {
            Operation::Add => "+",
            Operation::Subtract => "-",
            Operation::Multiply => "*",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(types[0].clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let (left, right) = (&arrays[0], &arrays[1]);
        let result: std::result::Result<ArrayRef, _> = match self.operation {
            Operation::Add => numeric::add(left, right),
            Operation::Subtract => numeric::sub(left, right),
            Operation::Multiply => numeric::mul(left, right),
        };
        let result = result.map_err(|_| {
            let name = self.name();
            Error::data(format!(
                "`{name}` of integers gives more than {} holds: cast one side to decimal(38, 0)",
                if *left.data_type() == DataType::Int64 { "i64" } else { "u64" }
            ))
        })?;
        Ok(ColumnarValue::Array(result))
    }
}
