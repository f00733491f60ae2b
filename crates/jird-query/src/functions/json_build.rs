//! Functions that make JSON arrays and objects, and those behind `= any (…)` and `= all (…)`, over columns of JSON text.

use super::predicate::{as_json, json_field, json_texts};
use crate::base::error::Error;
use crate::sql::{ALL, ANY, JSON_ARRAY, JSON_BRACED, JSON_CONCAT, JSON_MEMBER, JSON_OBJECT, JSON_OF_LIST, JSON_REPEAT};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, StringArray};
use arrow::datatypes::{DataType, FieldRef};
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};
use jird::Kind;
use jird::hooks::write_string;
use jird::record::{Comparison, Field};
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
    /// An array of a list of JSON texts.
    OfList,
    /// A key and its value, as an object has them: text, and no JSON.
    Member,
    /// An object of such members.
    Braced,
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
        let all = [What::Array, What::Object, What::Concat, What::Repeat, What::OfList, What::Member, What::Braced];
        all.into_iter().chain([What::Any, What::All]).map(|what| Self { what, signature: any_number() })
    }
}

impl ScalarUDFImpl for JsonBuild {
    fn name(&self) -> &'static str {
        match self.what {
            What::Array => JSON_ARRAY,
            What::Object => JSON_OBJECT,
            What::Concat => JSON_CONCAT,
            What::Repeat => JSON_REPEAT,
            What::OfList => JSON_OF_LIST,
            What::Member => JSON_MEMBER,
            What::Braced => JSON_BRACED,
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
            What::Member => Arc::new(arrow::datatypes::Field::new("member", DataType::Utf8, true)),
            _ => json_field(self.name()),
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let rows = args.number_rows;
        match self.what {
            What::Any | What::All => return one_or_all(&arrays, rows, self.what == What::All),
            What::OfList => {
                let lists = arrays[0].as_list_opt::<i32>().ok_or_else(|| Error::sql("a list was expected"))?;
                let text = |list: ArrayRef| Ok(array(as_json(&list)?.iter()));
                let texts = lists.iter().map(|list| list.map(text).transpose()).collect::<Result<StringArray>>()?;
                return Ok(ColumnarValue::Array(Arc::new(texts)));
            }
            What::Braced => {
                let texts = as_json(&arrays[0])?;
                let braced = texts.iter().map(|members| members.map(|members| format!("{{{members}}}")));
                return Ok(ColumnarValue::Array(Arc::new(braced.collect::<StringArray>())));
            }
            _ => {}
        }
        let texts = arrays.iter().zip(&args.arg_fields).map(|(array, field)| json_texts(array, field));
        let texts = texts.collect::<Result<Vec<_>>>()?;
        let made = (0..rows).map(|row| {
            let at = |index: usize| texts[index].is_valid(row).then(|| texts[index].value(row));
            let values = (0..texts.len()).map(at);
            match self.what {
                What::Object => object(values).map(Some),
                What::Member => object(values).map(|object| Some(object[1..object.len() - 1].to_owned())),
                What::Concat => Ok(concat(values)),
                What::Repeat => repeat(at(0), at(1)),
                _ => Ok(Some(array(values))),
            }
        });
        Ok(ColumnarValue::Array(Arc::new(made.collect::<Result<StringArray>>()?)))
    }
}

/// Whether a comparison holds of one element of a list, or of all. A list that is the same for all rows is read once.
fn one_or_all(arrays: &[ArrayRef], rows: usize, all: bool) -> Result<ColumnarValue> {
    let texts = [as_json(&arrays[0])?, as_json(&arrays[1])?];
    let signs = as_json(&arrays[2])?;
    let sign = signs.iter().flatten().next().map_or(Ok(Comparison::Eq), comparison)?;
    let (mut read, mut keys) = (None, None);
    let mut holds = |row: usize| {
        let [list, value] = [0, 1].map(|side| texts[side].is_valid(row).then(|| texts[side].value(row)));
        if read != Some(list) {
            (read, keys) = (Some(list), list.and_then(keys_of));
        }
        one_of(keys.as_deref()?, value, sign, all)
    };
    Ok(ColumnarValue::Array(Arc::new((0..rows).map(&mut holds).collect::<BooleanArray>())))
}

/// `json_array()` is empty.
fn any_number() -> Signature {
    Signature::one_of(vec![TypeSignature::Nullary, TypeSignature::VariadicAny], Volatility::Immutable)
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

/// A value that is compared: its kind, and what orders it among those of its kind.
type Ordered = (Kind, Vec<u8>);

/// The elements of an array. Null is none.
fn keys_of(list: &str) -> Option<Vec<Option<Ordered>>> {
    let document = jird::parse(list.as_bytes()).ok()?;
    let root = document.root();
    let key = |element: jird::Value<'_>| ordered(str::from_utf8(element.raw()).ok()?);
    (root.kind() == Kind::Array).then(|| root.elements().map(key).collect())
}

fn ordered(text: &str) -> Option<Ordered> {
    let field = Field::from_raw(text);
    let kind = field.kind().filter(|kind| *kind != Kind::Null)?;
    let mut key = Vec::new();
    field.order_key(&mut key);
    Some((kind, key))
}

/// Whether `value sign element` holds of one element, or of all. Unknown if it is so of an element that decides.
fn one_of(list: &[Option<Ordered>], value: Option<&str>, sign: Comparison, all: bool) -> Option<bool> {
    let value = value.and_then(ordered);
    let mut known = true;
    for element in list {
        let order = match (&value, element) {
            (Some((kind, key)), Some((other_kind, other))) if kind == other_kind => Some(key.cmp(other)),
            _ => None,
        };
        match order.map(|order| sign.holds(order)) {
            Some(holds) if holds != all => return Some(holds),
            Some(_) => {}
            None => known = false,
        }
    }
    known.then_some(all)
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
            let holds = |all| keys_of(list).and_then(|list| one_of(&list, Some(value), sign, all));
            assert_eq!(holds(false), any, "{list} {value}");
            assert_eq!(holds(true), all, "{list} {value}");
        }
        let one = keys_of("[1]").unwrap();
        assert_eq!(one_of(&one, None, Comparison::Eq, false), None);
        assert_eq!(one_of(&[], None, Comparison::Eq, false), Some(false));
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
