//! Functions that make JSON arrays and objects, and those behind `= any (…)` and `= all (…)`, over columns of JSON text.

use super::predicate::{as_json, json_field, json_texts};
use crate::error::Error;
use crate::sql::{ALL, ANY, JSON_ARRAY, JSON_CONCAT, JSON_OBJECT, JSON_REPEAT};
use arrow::array::{Array, BooleanArray, StringArray};
use arrow::datatypes::{DataType, FieldRef};
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use jird::record::{Comparison, Field};
use jird::{Kind, event::write_string};
use std::cmp::Ordering;
use std::sync::Arc;

/// What a function makes of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum What {
    /// An array of the arguments.
    Array,
    /// An object: a key, its value, the next key, and so on.
    Object,
    /// The elements of all arguments, as one array.
    Concat,
    /// An array of the first argument, as often as the second one says.
    Repeat,
    /// Whether the comparison holds of an element, or of all elements. The arguments are the array, the value on the left
    /// side, and the operator.
    Any,
    All,
}

/// One of the functions.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct JsonBuild {
    what: What,
    signature: Signature,
}

impl JsonBuild {
    /// All of them.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        [What::Array, What::Object, What::Concat, What::Repeat, What::Any, What::All]
            .into_iter()
            .map(|what| Self { what, signature: Signature::variadic_any(Volatility::Immutable) })
    }
}

impl ScalarUDFImpl for JsonBuild {
    fn name(&self) -> &'static str {
        match self.what {
            What::Array => JSON_ARRAY,
            What::Object => JSON_OBJECT,
            What::Concat => JSON_CONCAT,
            What::Repeat => JSON_REPEAT,
            What::Any => ANY,
            What::All => ALL,
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(if matches!(self.what, What::Any | What::All) { DataType::Boolean } else { DataType::Utf8 })
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(match self.what {
            What::Any | What::All => Arc::new(arrow::datatypes::Field::new(self.name(), DataType::Boolean, true)),
            _ => json_field(self.name()),
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let rows = args.number_rows;
        if matches!(self.what, What::Any | What::All) {
            let texts = [as_json(&arrays[0])?, as_json(&arrays[1])?];
            let signs = as_json(&arrays[2])?;
            let sign = signs.iter().flatten().next().map_or(Ok(Comparison::Eq), comparison)?;
            let holds = |row: usize| {
                let [list, value] = [0, 1].map(|side| texts[side].is_valid(row).then(|| texts[side].value(row)));
                one_of(list, value, sign, self.what == What::All)
            };
            return Ok(ColumnarValue::Array(Arc::new((0..rows).map(holds).collect::<BooleanArray>())));
        }
        let texts = arrays.iter().zip(&args.arg_fields).map(|(array, field)| json_texts(array, field));
        let texts = texts.collect::<Result<Vec<_>>>()?;
        let made = (0..rows).map(|row| {
            let at = |index: usize| texts[index].is_valid(row).then(|| texts[index].value(row));
            let values = (0..texts.len()).map(at);
            match self.what {
                What::Object => object(values).map(Some),
                What::Concat => Ok(concat(values)),
                What::Repeat => repeat(at(0), at(1)),
                _ => Ok(Some(array(values))),
            }
        });
        Ok(ColumnarValue::Array(Arc::new(made.collect::<Result<StringArray>>()?)))
    }
}

fn array<'t>(values: impl Iterator<Item = Option<&'t str>>) -> String {
    let values: Vec<_> = values.map(|value| value.unwrap_or("null")).collect();
    format!("[{}]", values.join(","))
}

fn object<'t>(mut values: impl Iterator<Item = Option<&'t str>>) -> Result<String> {
    let mut text = b"{".to_vec();
    while let Some(key) = values.next() {
        let Some(key) = key.map(Field::from_raw).filter(|key| !key.is_null()) else {
            return Err(Error::data("a key of an object is null".to_owned()).into());
        };
        if text.len() > 1 {
            text.push(b',');
        }
        match key.as_str() {
            Some(content) => write_string(&content, &mut text),
            None => write_string(key.raw(), &mut text),
        }
        text.push(b':');
        text.extend_from_slice(values.next().flatten().unwrap_or("null").as_bytes());
    }
    text.push(b'}');
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// NULL if one of them is another value than an array; nulls are left out.
fn concat<'t>(values: impl Iterator<Item = Option<&'t str>>) -> Option<String> {
    let mut text = String::from("[");
    for value in values.flatten() {
        let inner = value.trim().strip_prefix('[')?.strip_suffix(']')?.trim();
        if text.len() > 1 && !inner.is_empty() {
            text.push(',');
        }
        text.push_str(inner);
    }
    text.push(']');
    Some(text)
}

fn repeat(value: Option<&str>, times: Option<&str>) -> Result<Option<String>> {
    /// The most bytes of an array.
    const BYTES_MAX: usize = 64 << 20;
    let Some(times) = times.and_then(|times| times.parse::<i64>().ok()) else { return Ok(None) };
    let (value, times) = (value.unwrap_or("null"), usize::try_from(times).unwrap_or(0));
    if value.len().saturating_add(1).saturating_mul(times) > BYTES_MAX {
        return Err(Error::too_large("an array of repeated values", BYTES_MAX).into());
    }
    Ok(Some(array(std::iter::repeat_n(Some(value), times))))
}

fn comparison(sign: &str) -> Result<Comparison> {
    Ok(match sign {
        "=" => Comparison::Eq,
        "<>" | "!=" => Comparison::Ne,
        "<" => Comparison::Lt,
        "<=" => Comparison::Le,
        ">" => Comparison::Gt,
        ">=" => Comparison::Ge,
        _ => return Err(Error::sql(format!("`{sign} any` and `{sign} all` are not supported")).into()),
    })
}

/// Whether `value sign element` holds of one element, or of all. Unknown if it is so of an element that decides.
fn one_of(list: Option<&str>, value: Option<&str>, sign: Comparison, all: bool) -> Option<bool> {
    let document = jird::parse(list?.as_bytes()).ok()?;
    let root = document.root();
    if root.kind() != Kind::Array {
        return None;
    }
    let mut known = true;
    for element in root.elements() {
        let raw = str::from_utf8(element.raw()).ok()?;
        match value.and_then(|value| order(value, raw)).map(|order| sign.holds(order)) {
            Some(holds) if holds != all => return Some(holds),
            Some(_) => {}
            None => known = false,
        }
    }
    known.then_some(all)
}

/// The order of two values of one kind.
fn order(left: &str, right: &str) -> Option<Ordering> {
    let (left, right) = (Field::from_raw(left), Field::from_raw(right));
    if left.kind() != right.kind() || left.is_null() {
        return None;
    }
    let key = |field: Field<'_>| {
        let mut key = Vec::new();
        field.order_key(&mut key);
        key
    };
    Some(key(left).cmp(&key(right)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_and_all_know_what_is_unknown() {
        for (list, value, sign, any, all) in [
            ("[1,2.0,3]", "2", "=", Some(true), Some(false)),
            ("[3,null,1]", "5", "=", None, Some(false)),
            ("[5,null]", "5", "=", Some(true), None),
            ("[]", "5", "=", Some(false), Some(true)),
            ("[1,\"a\"]", "1", "<>", None, Some(false)),
            ("[1,2]", "3", ">", Some(true), Some(true)),
            ("7", "7", "=", None, None),
        ] {
            let sign = comparison(sign).unwrap();
            assert_eq!(one_of(Some(list), Some(value), sign, false), any, "{list} {value}");
            assert_eq!(one_of(Some(list), Some(value), sign, true), all, "{list} {value}");
        }
        assert_eq!(one_of(None, Some("1"), Comparison::Eq, false), None);
        assert_eq!(one_of(Some("[1]"), None, Comparison::Eq, false), None);
        assert_eq!(one_of(Some("[]"), None, Comparison::Eq, false), Some(false));
    }

    #[test]
    fn arrays_and_objects_are_json() {
        assert_eq!(
            object([Some("\"a\\n\""), Some("1"), Some("2"), None].into_iter()).unwrap(),
            r#"{"a\n":1,"2":null}"#
        );
        assert!(object([None, Some("1")].into_iter()).is_err());
        assert_eq!(concat([Some("[1, 2]"), None, Some("[ ]"), Some("[3]")].into_iter()).as_deref(), Some("[1, 2,3]"));
        assert_eq!(concat([Some("[1]"), Some("2")].into_iter()), None);
        assert_eq!(repeat(Some("[1]"), Some("2")).unwrap().as_deref(), Some("[[1],[1]]"));
        assert!(repeat(Some("1"), Some("999999999999")).is_err());
    }
}
