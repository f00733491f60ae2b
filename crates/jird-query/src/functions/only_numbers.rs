//! The numbers of a column of mixed kinds. What is left out is counted.

use crate::sql::ONLY_NUMBERS;
use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::datatypes::{DataType, FieldRef, Int64Type};
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use jird::{Kind, record::Field};
use jird_formats::ColumnType;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How many values each call that narrows an expression has left out, by the number of the call.
pub(crate) type LeftOut = Arc<Vec<AtomicU64>>;

/// The function: of a column of JSON texts it returns the numbers, and null for everything else. Its second argument is
/// the number of the call; with a third, numbers that no double holds are left out too.
#[derive(Debug)]
pub(crate) struct OnlyNumbers {
    signature: Signature,
    left_out: LeftOut,
}

impl OnlyNumbers {
    pub(crate) fn new(left_out: LeftOut) -> Self {
        Self { signature: Signature::variadic_any(Volatility::Immutable), left_out }
    }
}

impl PartialEq for OnlyNumbers {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.left_out, &other.left_out)
    }
}

impl Eq for OnlyNumbers {}

impl Hash for OnlyNumbers {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.left_out).hash(state);
    }
}

impl ScalarUDFImpl for OnlyNumbers {
    fn name(&self) -> &'static str {
        ONLY_NUMBERS
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(Arc::new(ColumnType::Json.field(self.name())))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let texts = arrays[0].as_string::<i32>();
        let is_finite = arrays.len() > 2;
        let is_number = |text: &&str| {
            let field = Field::from_raw(text);
            field.kind() == Some(Kind::Number)
                && (!is_finite || field.as_number().is_some_and(|n| n.to_f64().is_some()))
        };
        let numbers: StringArray = texts.iter().map(|text| text.filter(is_number)).collect();
        let left_out = numbers.null_count() - texts.null_count();
        if left_out > 0 {
            let call = arrays[1].as_primitive_opt::<Int64Type>().filter(|calls| !calls.is_empty());
            let call = call.and_then(|calls| usize::try_from(calls.value(0)).ok());
            if let Some(count) = call.and_then(|call| self.left_out.get(call)) {
                count.fetch_add(left_out as u64, Relaxed);
            }
        }
        Ok(ColumnarValue::Array(Arc::new(numbers) as ArrayRef))
    }
}
