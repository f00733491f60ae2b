//! Functions of texts that DataFusion does not have: `printf`, and texts in the form of URLs.

use super::predicate::json_texts;
use super::stateless::{Makes, Takes, column, function, of_one};
use crate::base::error::Error;
use arrow::array::{Array, ArrayRef, AsArray, StringArray, new_null_array};
use arrow::datatypes::DataType;
use arrow_cast::cast;
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF};
use jird::record::Field;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use sprintf::parser::{FormatElement, parse_format_string};
use sprintf::{ConversionType, NumericParam, Printf, vsprintfp};
use std::sync::Arc;

/// What is not escaped in a URL (RFC 3986, section 2.3).
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The widest column of `printf`.
const WIDTH_MAX: i32 = 200;

/// All of them.
pub(super) fn all() -> [ScalarUDF; 3] {
    [
        // The format is a constant, as in C.
        function("printf", Takes::Some, Makes::Always(DataType::Utf8), printf),
        of_one("url_encode", Makes::Always(DataType::Utf8), |args| {
            changed(args, |text| Some(utf8_percent_encode(text, ESCAPED).to_string()))
        }),
        // What is not UTF-8 after decoding becomes null.
        of_one("url_decode", Makes::Always(DataType::Utf8), |args| {
            changed(args, |text| percent_decode_str(text).decode_utf8().ok().map(Into::into))
        }),
    ]
}

fn changed(args: &ScalarFunctionArgs, change: fn(&str) -> Option<String>) -> Result<ArrayRef> {
    let texts = cast(&column(args, 0)?, &DataType::Utf8)?;
    Ok(Arc::new(texts.as_string::<i32>().iter().map(|text| text.and_then(change)).collect::<StringArray>()))
}

fn printf(args: &ScalarFunctionArgs) -> Result<ArrayRef> {
    let Some(ColumnarValue::Scalar(format)) = args.args.first() else {
        return Err(Error::sql("printf takes a constant format first, such as '%d of %s'").into());
    };
    let Some(format) = format.try_as_str().flatten() else {
        return Ok(new_null_array(&DataType::Utf8, args.number_rows));
    };
    let wrong = |error: String| Error::sql(format!("printf('{format}', …): {error}"));
    let parts = parse_format_string(format).map_err(|error| wrong(error.to_string()))?;
    let mut wanted = Vec::new();
    for part in &parts {
        let FormatElement::Format(spec) = part else { continue };
        let is_small = |number| matches!(number, NumericParam::Literal(..=WIDTH_MAX));
        // The precision of a text cuts it.
        let cuts = spec.conversion_type == ConversionType::String && spec.precision != NumericParam::FromArgument;
        if !is_small(spec.width) || !cuts && !is_small(spec.precision) {
            return Err(wrong(format!("widths are numbers up to {WIDTH_MAX}")).into());
        }
        if spec.conversion_type != ConversionType::PercentSign {
            wanted.push(spec.conversion_type);
        }
    }
    let mut columns = Vec::new();
    for (value, field) in args.args.iter().zip(&args.arg_fields).skip(1) {
        columns.push(json_texts(&value.to_array(args.number_rows)?, field)?);
    }
    if wanted.len() != columns.len() {
        return Err(wrong(format!("{} values are wanted, and {} given", wanted.len(), columns.len())).into());
    }
    let row = |row: usize| -> Result<Option<String>> {
        let mut values = Vec::new();
        for (column, wanted) in columns.iter().zip(&wanted) {
            let Some(value) = column.is_valid(row).then(|| column.value(row)) else { return Ok(None) };
            values.push(printed(value, *wanted).ok_or_else(|| {
                wrong(format!("{} is not what is wanted there", value.chars().take(30).collect::<String>()))
            })?);
        }
        let values: Vec<_> = values.iter().map(|value| &**value).collect();
        Ok(Some(vsprintfp(&parts, &values).map_err(|error| wrong(error.to_string()))?))
    };
    Ok(Arc::new((0..args.number_rows).map(row).collect::<Result<StringArray>>()?))
}

/// A JSON value as a part of the format takes it.
fn printed(json: &str, wanted: ConversionType) -> Option<Box<dyn Printf>> {
    let field = Field::from_raw(json);
    Some(match wanted {
        ConversionType::String => {
            Box::new(field.as_str().map_or_else(|| json.to_owned(), std::borrow::Cow::into_owned))
        }
        ConversionType::Char => Box::new(field.as_str()?.chars().next()?),
        ConversionType::DecInt | ConversionType::OctInt | ConversionType::HexIntLower | ConversionType::HexIntUpper => {
            match json.parse::<i64>() {
                Ok(number) => Box::new(number),
                Err(_) => Box::new(json.parse::<u64>().ok()?),
            }
        }
        _ => Box::new(json.parse::<f64>().ok()?),
    })
}
