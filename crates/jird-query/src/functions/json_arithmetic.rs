//! Arithmetic with JSON numbers: integers stay exact integers, as in columns of one type; other numbers are computed with
//! as doubles.

use super::predicate::{as_json, json_field};
use crate::base::error::Error;
use crate::sql::JSON_ARITHMETIC;
use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::datatypes::{DataType, FieldRef};
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use jird::event::Numeral;
use jird::{Number, record::Field};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The function. Its arguments are an operator, and two columns of JSON text; a function of one number does not look at
/// the second. NULL if one of them is not a number, or if the result is beyond the largest double, which is counted.
#[derive(Debug)]
pub(crate) struct JsonArithmetic {
    signature: Signature,
    infinite: Arc<AtomicU64>,
}

impl JsonArithmetic {
    pub(crate) fn new(infinite: Arc<AtomicU64>) -> Self {
        Self { signature: Signature::any(3, Volatility::Immutable), infinite }
    }
}

#[cfg(feature = "cluster")]
impl JsonArithmetic {
    /// How many results became null.
    pub(crate) fn infinite(&self) -> &Arc<AtomicU64> {
        &self.infinite
    }
}

impl PartialEq for JsonArithmetic {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.infinite, &other.infinite)
    }
}

impl Eq for JsonArithmetic {}

impl Hash for JsonArithmetic {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.infinite).hash(state);
    }
}

impl ScalarUDFImpl for JsonArithmetic {
    fn name(&self) -> &'static str {
        JSON_ARITHMETIC
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(json_field(self.name()))
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
        let is_missing = |row: usize| results.is_null(row) && left.is_valid(row) && right.is_valid(row);
        let is_number = |json: &str| Field::from_raw(json).as_number().is_some();
        let is_infinite = |row: &usize| is_missing(*row) && is_number(left.value(*row)) && is_number(right.value(*row));
        if results.null_count() > 0 {
            self.infinite.fetch_add((0..results.len()).filter(is_infinite).count() as u64, Relaxed);
        }
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
            "ceil" | "floor" | "integer" => Some(left),
            "round" | "trunc" => with_places(left, right, operator == "round"),
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
        if let Some(rounded) = rounded(left) {
            return Ok(Some(rounded.to_string()));
        }
        let double = Field::from_raw(left).as_number().and_then(Number::to_f64).map(f64::round);
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
        "round" => at_place(left, right, f64::round),
        "trunc" => at_place(left, right, f64::trunc),
        "/" => left / right,
        _ => left % right,
    };
    let mut text = Vec::new();
    if result.is_finite() {
        Numeral::F64(result).write(&mut text);
    }
    Ok(String::from_utf8(text).ok().filter(|text| !text.is_empty()))
}

/// A decimal without exponent as the nearest integer; halves are rounded away from zero.
fn rounded(text: &str) -> Option<i128> {
    let (whole, fraction) = text.split_once('.')?;
    let (number, digits) = (integer(whole)?, fraction.as_bytes());
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let away = if whole.starts_with('-') { -1 } else { 1 };
    if digits.first().is_some_and(|digit| *digit >= b'5') { number.checked_add(away) } else { Some(number) }
}

/// An integer with this number of decimal places; a negative number makes the last digits zeros. Halves are rounded away
/// from zero. `None` if the result does not fit.
fn with_places(integer: i128, places: i128, rounds: bool) -> Option<i128> {
    if places >= 0 {
        return Some(integer);
    }
    let Some(unit) = u32::try_from(places.unsigned_abs()).ok().and_then(|zeros| 10_i128.checked_pow(zeros)) else {
        return Some(0);
    };
    let rest = integer % unit;
    let is_up = rounds && rest.abs() >= unit - rest.abs();
    let kept = integer - rest;
    if is_up { kept.checked_add(unit * rest.signum()) } else { Some(kept) }
}

/// Computes with a double at a decimal place, as DataFusion does. A double without digits beyond that place stays as it
/// is, and one that is too small for the place becomes 0, also where the factor has no double.
fn at_place(double: f64, places: f64, compute: fn(f64) -> f64) -> f64 {
    #[expect(clippy::cast_possible_truncation, reason = "more places than an `i32` has change nothing")]
    let unit = 10_f64.powi(places as i32);
    let moved = double * unit;
    match (unit == 0.0, moved.is_finite()) {
        (true, _) => 0.0,
        (false, true) => compute(moved) / unit,
        (false, false) => double,
    }
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
            ("-2.5", "integer", "0", Some("-3")),
            ("-0.5", "integer", "0", Some("-1")),
            ("9007199254740993.49", "integer", "0", Some("9007199254740993")),
            ("2.5e0", "integer", "0", Some("3")),
            ("2.5", "floor", "0", Some("2.0")),
            ("2.25", "round", "1", Some("2.3")),
            ("-2.25", "trunc", "1", Some("-2.2")),
            ("9007199254740993", "round", "1", Some("9007199254740993")),
            ("9007199254740993", "round", "400", Some("9007199254740993")),
            ("9007199254740995", "round", "-1", Some("9007199254741000")),
            ("-15", "round", "-1", Some("-20")),
            ("-14", "round", "-1", Some("-10")),
            ("19", "trunc", "-1", Some("10")),
            ("15", "round", "-2", Some("0")),
            ("15", "round", "-40", Some("0")),
            ("1.5", "round", "400", Some("1.5")),
            ("1e300", "round", "20", Some("1e+300")),
            ("-1.5", "trunc", "400", Some("-1.5")),
            ("1.5", "round", "-400", Some("0.0")),
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
