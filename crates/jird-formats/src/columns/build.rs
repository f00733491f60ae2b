//! Arrow arrays from fields.

use super::kind::ColumnType;
use super::value_text::value_text;
use arrow_array::builder::{
    BooleanBuilder, Decimal128Builder, Float64Builder, Int64Builder, StringBuilder, UInt64Builder,
};
use arrow_array::{ArrayRef, Float64Array, StringArray};
use jird::record::Field;
use std::fmt::Write;
use std::sync::Arc;

/// All integers below it are doubles.
const INTEGER_MAX: f64 = 9_007_199_254_740_992.0;

/// A value that its column's type cannot hold, because the type was inferred from other values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfit;

/// Builds one column, value by value.
#[derive(Debug)]
pub struct ColumnBuilder {
    kind: Builder,
    /// Scratch space for strings with escapes.
    scratch: String,
}

#[derive(Debug)]
enum Builder {
    Bool(BooleanBuilder),
    Int64(Int64Builder),
    UInt64(UInt64Builder),
    Decimal(Decimal128Builder),
    Float64(Float64Builder),
    /// Doubles in which -0.0 is written as 0.0.
    Unsigned(Float64Builder),
    Text(StringBuilder),
    Json(StringBuilder),
    Plain(StringBuilder),
    Key(StringBuilder),
    Any(StringBuilder),
}

impl ColumnBuilder {
    /// A column of this type. Null and missing become nulls.
    pub fn new(kind: ColumnType) -> Self {
        Self::of(match kind {
            ColumnType::Bool => Builder::Bool(BooleanBuilder::new()),
            ColumnType::Int64 => Builder::Int64(Int64Builder::new()),
            ColumnType::UInt64 => Builder::UInt64(UInt64Builder::new()),
            ColumnType::Decimal => {
                Builder::Decimal(Decimal128Builder::new().with_data_type(ColumnType::Decimal.data_type()))
            }
            ColumnType::Float64 => Builder::Float64(Float64Builder::new()),
            ColumnType::Text => Builder::Text(StringBuilder::new()),
            ColumnType::Json => Builder::Json(StringBuilder::new()),
        })
    }

    /// A column of JSON texts as they stand in the input. A JSON null is the text `null`; only a missing value becomes
    /// a null.
    pub fn plain() -> Self {
        Self::of(Builder::Plain(StringBuilder::new()))
    }

    /// A column of JSON texts in which equal values have [equal texts](value_text). Null and missing become nulls.
    pub fn key() -> Self {
        Self::of(Builder::Key(StringBuilder::new()))
    }

    /// A column of texts for values of every kind: the content of strings, and of all else the JSON text as it stands in
    /// the input. Null and missing become nulls.
    pub fn any() -> Self {
        Self::of(Builder::Any(StringBuilder::new()))
    }

    /// A column of this type in which equal values are equal to Arrow too. Arrow tells -0.0 from 0.0, so both become
    /// 0.0. JSON texts are [keys](Self::key).
    pub fn group(kind: ColumnType) -> Self {
        match kind {
            ColumnType::Float64 => Self::of(Builder::Unsigned(Float64Builder::new())),
            ColumnType::Json => Self::key(),
            kind => Self::new(kind),
        }
    }

    fn of(kind: Builder) -> Self {
        Self { kind, scratch: String::new() }
    }

    /// Appends a copy of one value. Allocates only to grow.
    ///
    /// # Errors
    /// [`Unfit`] if the type cannot hold the value; a null is appended in its place.
    #[inline]
    pub fn append(&mut self, field: Field<'_>) -> Result<(), Unfit> {
        let null = field.is_null();
        match &mut self.kind {
            Builder::Plain(texts) => append_text(texts, field.kind().map(|_| field.raw()), null),
            Builder::Json(texts) => append_text(texts, (!null).then(|| field.raw()), null),
            Builder::Text(texts) => append_text(texts, field.text(&mut self.scratch), null),
            Builder::Any(texts) => {
                let text = field.text(&mut self.scratch);
                append_text(texts, text.or_else(|| (!null).then(|| field.raw())), null)
            }
            Builder::Key(texts) => {
                let raw = (!null).then(|| value_text(field, &mut self.scratch));
                append_text(texts, raw, null)
            }
            Builder::Bool(bools) => {
                let value = field.as_bool();
                bools.append_option(value);
                fits(value.is_some(), null)
            }
            Builder::Int64(ints) => {
                let value = field.as_number().and_then(jird::Number::as_i64);
                ints.append_option(value);
                fits(value.is_some(), null)
            }
            Builder::UInt64(ints) => {
                let value = field.as_number().and_then(jird::Number::as_u64);
                ints.append_option(value);
                fits(value.is_some(), null)
            }
            Builder::Decimal(ints) => {
                let value = field.as_number().and_then(jird::Number::to_decimal38);
                ints.append_option(value);
                fits(value.is_some(), null)
            }
            Builder::Float64(floats) => {
                let value = field.as_number().and_then(jird::Number::to_f64);
                floats.append_option(value);
                fits(value.is_some(), null)
            }
            Builder::Unsigned(floats) => {
                let value = field.as_number().and_then(jird::Number::to_f64);
                floats.append_option(value.map(|value| value + 0.0));
                fits(value.is_some(), null)
            }
        }
    }

    /// Appends a number that is exactly this double. `false` if this takes its text: nothing was appended then.
    #[inline]
    pub fn append_number(&mut self, value: f64) -> bool {
        match &mut self.kind {
            Builder::Float64(floats) => floats.append_value(value),
            Builder::Unsigned(floats) => floats.append_value(value + 0.0),
            Builder::Int64(ints) if is_integer(value) => {
                ints.append_value(value as i64);
            }
            _ => return false,
        }
        true
    }

    /// Appends numbers that are exactly these doubles; the caller may know that they are integers of at most 2⁵³. `false` if
    /// this takes something else, or cannot hold all of them: nothing was appended then.
    pub fn append_numbers(&mut self, values: &Float64Array, are_integers: bool) -> bool {
        match &mut self.kind {
            Builder::Float64(floats) => floats.append_array(values),
            Builder::Unsigned(floats) => floats.append_array(&values.unary(|value| value + 0.0)),
            Builder::Int64(ints) if are_integers || values.iter().flatten().all(is_integer) => {
                ints.append_array(&values.unary(|value| value as i64));
            }
            _ => return false,
        }
        true
    }

    /// Appends the content of a string. `false` if this takes its JSON: nothing was appended then.
    #[inline]
    pub fn append_text(&mut self, text: &str) -> bool {
        match &mut self.kind {
            Builder::Text(texts) | Builder::Any(texts) => texts.append_value(text),
            Builder::Json(texts) | Builder::Plain(texts) if has_no_escapes(text) => {
                // It takes a text in parts, and never refuses one.
                for part in ["\"", text, "\""] {
                    let _ = texts.write_str(part);
                }
                texts.append_value("");
            }
            _ => return false,
        }
        true
    }

    /// Whether this takes the content of strings as it is.
    pub fn takes_texts(&self) -> bool {
        matches!(self.kind, Builder::Text(_) | Builder::Any(_))
    }

    /// Appends the contents of strings, if this [takes](Self::takes_texts) them; else nothing.
    ///
    /// # Panics
    /// If the array would have more than 2 GB of text.
    pub fn append_texts(&mut self, values: &StringArray) {
        if let Builder::Text(texts) | Builder::Any(texts) = &mut self.kind {
            texts.append_array(values).expect("a batch has less than 2 GB of text");
        }
    }

    /// The number of bytes of text held so far.
    pub fn text_bytes(&self) -> usize {
        match &self.kind {
            Builder::Text(texts)
            | Builder::Json(texts)
            | Builder::Plain(texts)
            | Builder::Key(texts)
            | Builder::Any(texts) => texts.values_slice().len(),
            _ => 0,
        }
    }

    /// The array of the values appended so far. The builder starts over.
    pub fn finish(&mut self) -> ArrayRef {
        match &mut self.kind {
            Builder::Bool(builder) => Arc::new(builder.finish()),
            Builder::Int64(builder) => Arc::new(builder.finish()),
            Builder::UInt64(builder) => Arc::new(builder.finish()),
            Builder::Decimal(builder) => Arc::new(builder.finish()),
            Builder::Float64(builder) | Builder::Unsigned(builder) => Arc::new(builder.finish()),
            Builder::Text(builder)
            | Builder::Json(builder)
            | Builder::Plain(builder)
            | Builder::Key(builder)
            | Builder::Any(builder) => Arc::new(builder.finish()),
        }
    }
}

/// Whether JSON has a text as it stands.
fn has_no_escapes(text: &str) -> bool {
    text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\')
}

/// Whether a double is an integer that no other one is rounded to.
#[inline]
fn is_integer(value: f64) -> bool {
    value.fract() == 0.0 && value.abs() < INTEGER_MAX
}

/// Whether a column of this type can hold a value.
#[inline]
pub fn holds(kind: ColumnType, field: Field<'_>) -> bool {
    let number = || field.as_number();
    field.is_null()
        || match kind {
            ColumnType::Bool => field.as_bool().is_some(),
            ColumnType::Int64 => number().and_then(jird::Number::as_i64).is_some(),
            ColumnType::UInt64 => number().and_then(jird::Number::as_u64).is_some(),
            ColumnType::Decimal => number().and_then(jird::Number::to_decimal38).is_some(),
            ColumnType::Float64 => number().and_then(jird::Number::to_f64).is_some(),
            ColumnType::Text => field.kind() == Some(jird::Kind::String),
            ColumnType::Json => true,
        }
}

fn append_text(texts: &mut StringBuilder, text: Option<&str>, null: bool) -> Result<(), Unfit> {
    if let Some(text) = text {
        texts.append_value(text);
        Ok(())
    } else {
        texts.append_null();
        fits(null, null)
    }
}

#[inline]
fn fits(is_value: bool, null: bool) -> Result<(), Unfit> {
    if is_value || null { Ok(()) } else { Err(Unfit) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Array, cast::AsArray};

    fn built(mut builder: ColumnBuilder, values: &[&str]) -> Vec<Option<String>> {
        for value in values {
            builder.append(Field::from_raw(value)).unwrap();
        }
        builder.finish().as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect()
    }

    #[test]
    fn a_number_and_a_text_are_appended_as_their_json_is() {
        let kinds = [ColumnType::Int64, ColumnType::Float64, ColumnType::Text, ColumnType::Json, ColumnType::UInt64];
        let builders = || {
            let typed = kinds.map(ColumnBuilder::new).into_iter().chain(kinds.map(ColumnBuilder::group));
            typed.chain([ColumnBuilder::plain(), ColumnBuilder::any(), ColumnBuilder::key()])
        };
        for (mut quick, mut slow) in builders().zip(builders()) {
            for (value, json) in [(1.5, "1.5"), (-3.0, "-3"), (9e15, "9000000000000000")] {
                if quick.append_number(value) {
                    let _ = slow.append(Field::from_raw(json));
                }
            }
            let many = Float64Array::from(vec![Some(2.0), None, Some(-0.0)]);
            if quick.append_numbers(&many, false) {
                for json in ["2", "null", "-0"] {
                    let _ = slow.append(Field::from_raw(json));
                }
            }
            let others = Float64Array::from(vec![Some(2.0), Some(0.5), Some(-4.0e300)]);
            if quick.append_numbers(&others, false) {
                for json in ["2", "0.5", "-4e300"] {
                    let _ = slow.append(Field::from_raw(json));
                }
            }
            for (text, json) in [("é\n", r#""é\n""#), ("é a/b", r#""é a/b""#), ("", r#""""#), ("\"", r#""\"""#)] {
                if quick.append_text(text) {
                    let _ = slow.append(Field::from_raw(json));
                }
            }
            assert_eq!(&quick.finish(), &slow.finish());
        }
    }

    #[test]
    fn a_plain_column_tells_null_from_missing_and_copies_the_rest() {
        let values = ["", "null", "1.0", r#""a\/b""#];
        let expected = [None, Some("null"), Some("1.0"), Some(r#""a\/b""#)].map(|text| text.map(str::to_owned));
        assert_eq!(built(ColumnBuilder::plain(), &values), expected);
    }

    #[test]
    fn a_column_of_any_values_has_the_content_of_strings_and_the_text_of_all_else() {
        let values = ["", "null", "1.0", r#""a\/b""#, r#"{"a": 1}"#, "true", r#""x""#];
        let expected = [None, None, Some("1.0"), Some("a/b"), Some(r#"{"a": 1}"#), Some("true"), Some("x")];
        assert_eq!(built(ColumnBuilder::any(), &values), expected.map(|text| text.map(str::to_owned)));
    }

    #[test]
    fn equal_values_have_equal_keys() {
        let values = ["1", "1.0", "10e-1", r#""a/b""#, r#""a\/b""#, "null", ""];
        let expected = [Some("1"), Some("1"), Some("1"), Some(r#""a/b""#), Some(r#""a/b""#), None, None];
        assert_eq!(built(ColumnBuilder::key(), &values), expected.map(|text| text.map(str::to_owned)));
    }

    #[test]
    fn values_that_the_type_cannot_hold_are_errors() {
        let mut builder = ColumnBuilder::new(ColumnType::Int64);
        assert_eq!(builder.append(Field::from_raw("1")), Ok(()));
        assert_eq!(builder.append(Field::from_raw("1.5")), Err(Unfit));
        assert_eq!(builder.append(Field::from_raw("null")), Ok(()));
        let array = builder.finish();
        assert_eq!((array.len(), array.null_count()), (3, 2));
    }

    #[test]
    fn a_column_holds_what_its_builder_takes() {
        let kinds = [
            ColumnType::Bool,
            ColumnType::Int64,
            ColumnType::UInt64,
            ColumnType::Decimal,
            ColumnType::Float64,
            ColumnType::Text,
            ColumnType::Json,
        ];
        let values = ["", "null", "true", "1", "-1", "1.5", "1e400", "18446744073709551615", r#""a\n""#, "[]", "{}"];
        for kind in kinds {
            for value in values {
                let field = Field::from_raw(value);
                assert_eq!(holds(kind, field), ColumnBuilder::new(kind).append(field).is_ok(), "{kind} {value}");
            }
        }
    }

    #[test]
    fn big_integers_are_exact() {
        let mut builder = ColumnBuilder::new(ColumnType::Decimal);
        builder.append(Field::from_raw("99999999999999999999999999999999999999")).unwrap();
        let array = builder.finish();
        let values = array.as_primitive::<arrow_array::types::Decimal128Type>();
        assert_eq!(values.value(0), 99_999_999_999_999_999_999_999_999_999_999_999_999);
    }
}
