//! Arithmetic with JSON numbers: integers stay exact integers, as in columns of one type; other numbers are computed with
//! as doubles.

use super::predicate::as_json;
use crate::error::Error;
use crate::sql::JSON_ARITHMETIC;
use arrow::array::{ArrayRef, AsArray, StringArray};
use arrow::datatypes::{DataType, FieldRef};
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use jird::event::Numeral;
use jird::{Number, record::Field};
use jird_formats::ColumnType;
use std::sync::Arc;

/// The function. Its arguments are an operator, and two columns of JSON text; a function of one number does not look at
/// the second. NULL if one of them is no number.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct JsonArithmetic(Signature);

impl JsonArithmetic {
    pub(crate) fn new() -> Self {
        Self(Signature::any(3, Volatility::Immutable))
    }
}

impl ScalarUDFImpl for JsonArithmetic {
    fn name(&self) -> &'static str {
        JSON_ARITHMETIC
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(Arc::new(ColumnType::Json.field(self.name())))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let operators = arrays[0].as_string::<i32>();
        let (left, right) = (as_json(&arrays[1])?, as_json(&arrays[2])?);
        let operator = operators.iter().next().flatten().unwrap_or_default();
        let results = left.iter().zip(&right).map(|(left, right)| match (left, right) {
            (Some(left), Some(right)) => computed(operator, left, right),
            _ => Ok(None),
        });
        let results: StringArray = results.collect::<Result<_>>()?;
        Ok(ColumnarValue::Array(Arc::new(results) as ArrayRef))
    }
}

fn computed(operator: &str, left: &str, right: &str) -> Result<Option<String>> {
    if let (Some(left), Some(right)) = (integer(left), integer(right)) {
        let result = match operator {
            "+" => left.checked_add(right),
            "-" => left.checked_sub(right),
            "*" => left.checked_mul(right),
            "abs" => left.checked_abs(),
            "ceil" | "floor" | "round" | "trunc" | "integer" => Some(left),
            _ if right == 0 => return Err(Error::data(format!("`{left} {operator} 0`: division by zero")).into()),
            "/" => left.checked_div(right),
            _ => left.checked_rem(right),
        };
        let result =
            result.ok_or_else(|| Error::data(format!("`{left} {operator} {right}` has more than 38 digits")))?;
        return Ok(Some(result.to_string()));
    }
    let is_integer = |text: &str| text.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
    if is_integer(left) && is_integer(right) {
        return Err(Error::data(format!("`{left} {operator} {right}` has more than 38 digits")).into());
    }
    if operator == "integer" {
        let double = Field::from_raw(left).as_number().and_then(Number::to_f64).map(f64::trunc);
        // 2¹²⁷ is the first integer that does not fit.
        #[expect(clippy::cast_possible_truncation, reason = "checked")]
        return Ok(double.filter(|double| double.abs() < 2_f64.powi(127)).map(|double| (double as i128).to_string()));
    }
    let double = |text| Field::from_raw(text).as_number().and_then(Number::to_f64);
    let (Some(left), Some(right)) = (double(left), double(right)) else { return Ok(None) };
    let result = match operator {
        "+" => left + right,
        "-" => left - right,
        "*" => left * right,
        "abs" => left.abs(),
        "ceil" => left.ceil(),
        "floor" => left.floor(),
        "round" => left.round(),
        "trunc" => left.trunc(),
        "/" => left / right,
        _ => left % right,
    };
    let mut text = Vec::new();
    if result.is_finite() {
        Numeral::F64(result).write(&mut text);
    }
    Ok(String::from_utf8(text).ok().filter(|text| !text.is_empty()))
}

/// A number that is written as an integer.
fn integer(text: &str) -> Option<i128> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::computed;

    #[test]
    fn integers_stay_integers() {
        for (left, operator, right, result) in [
            ("9007199254740993", "+", "1", Some("9007199254740994")),
            ("18446744073709551616", "-", "1", Some("18446744073709551615")),
            ("3", "*", "-4", Some("-12")),
            ("7", "/", "2", Some("3")),
            ("-7", "%", "2", Some("-1")),
            ("7.0", "/", "2", Some("3.5")),
            ("-9223372036854775809", "abs", "0", Some("9223372036854775809")),
            ("-2.5", "integer", "0", Some("-2")),
            ("2.5", "floor", "0", Some("2.0")),
            ("1", "+", "0.5", Some("1.5")),
            ("1e308", "*", "10", None),
            ("\"1\"", "+", "1", None),
        ] {
            assert_eq!(computed(operator, left, right).unwrap().as_deref(), result, "{left} {operator} {right}");
        }
        assert!(computed("/", "1", "0").is_err());
        assert!(computed("+", "100000000000000000000000000000000000000001", "1").is_err());
    }
}
