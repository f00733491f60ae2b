//! The function around each key of `order by`. DataFusion sorts doubles by their bits, so it puts -0.0 before 0.0; in
//! SQL and JSON they are one number.

use crate::sql::SORT_KEY;
use arrow::array::{ArrayRef, AsArray, Float64Array};
use arrow::datatypes::{DataType, Float64Type};
use datafusion::error::Result;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use std::sync::Arc;

/// Removes the sign of zeros. Other values stay unchanged.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct SortKey(Signature);

impl SortKey {
    pub(crate) fn new() -> Self {
        Self(Signature::any(1, Volatility::Immutable))
    }
}

impl ScalarUDFImpl for SortKey {
    fn name(&self) -> &'static str {
        SORT_KEY
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(types[0].clone())
    }

    /// Removes the call if the key is not a double, so that the plan is as without it.
    fn simplify(&self, mut args: Vec<Expr>, info: &SimplifyContext) -> Result<ExprSimplifyResult> {
        match args.pop() {
            Some(key) if info.get_data_type(&key)? != DataType::Float64 => Ok(ExprSimplifyResult::Simplified(key)),
            key => Ok(ExprSimplifyResult::Original(key.into_iter().collect())),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let array = args.args[0].to_array(args.number_rows)?;
        let Some(doubles) = array.as_primitive_opt::<Float64Type>() else { return Ok(ColumnarValue::Array(array)) };
        let unsigned: Float64Array = doubles.unary(unsigned_zero);
        Ok(ColumnarValue::Array(Arc::new(unsigned) as ArrayRef))
    }
}

/// The same number, but 0.0 for -0.0.
pub(super) fn unsigned_zero(number: f64) -> f64 {
    number + 0.0
}
