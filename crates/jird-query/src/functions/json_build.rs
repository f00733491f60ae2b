//! Functions that make JSON arrays and objects, and those behind `= any (…)` and `= all (…)`, over columns of JSON text.

use super::predicate::{as_json, json_argument};
use super::stateless::{Makes, Takes, column, function};
use crate::base::error::Error;
use crate::sql::{ALL, ANY, JSON_ARRAY, JSON_BRACED, JSON_CONCAT, JSON_MEMBER, JSON_OBJECT, JSON_OF_LIST, JSON_REPEAT};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, StringArray};
use arrow::datatypes::DataType;
use datafusion::error::Result;
use datafusion::logical_expr::{ScalarFunctionArgs, ScalarUDF};
use jird::Kind;
use jird::hooks::write_string;
use jird::record::{Comparison, Field};
use std::sync::Arc;

/// All of them.
pub(super) fn all() -> [ScalarUDF; 9] {
    let json = |name, compute| function(name, Takes::Any, Makes::Json, compute);
    let truth = |name, compute| function(name, Takes::Any, Makes::Always(DataType::Boolean), compute);
    [
        // An array of the arguments.
        json(JSON_ARRAY, |args| of_rows(args, |values| Ok(Some(array(values.iter().copied()))))),
        // An object: a key, its value, the next key, and so on.
        json(JSON_OBJECT, |args| of_rows(args, |values| Ok(Some(format!("{{{}}}", members(values)?))))),
        // The elements of all arguments, as one array.
        json(JSON_CONCAT, |args| of_rows(args, |values| Ok(concat(values)))),
        // An array of the first argument, as often as the second one says.
        json(JSON_REPEAT, |args| of_rows(args, |values| repeat(values[0], values[1]))),
        // An array of a list of JSON texts.
        json(JSON_OF_LIST, |args| {
            let lists = column(args, 0)?;
            let lists = lists.as_list_opt::<i32>().ok_or_else(|| Error::sql("a list was expected"))?;
            let text = |list: ArrayRef| Ok(array(as_json(&list)?.iter()));
            let texts = lists.iter().map(|list| list.map(text).transpose());
            Ok(Arc::new(texts.collect::<Result<StringArray>>()?))
        }),
        // Keys and values, as an object has them: text, and no JSON.
        function(JSON_MEMBER, Takes::Any, Makes::Always(DataType::Utf8), |args| {
            of_rows(args, |values| members(values).map(Some))
        }),
        // An object of such members.
        json(JSON_BRACED, |args| {
            let texts = as_json(&column(args, 0)?)?;
            let braced = texts.iter().map(|members| members.map(|members| format!("{{{members}}}")));
            Ok(Arc::new(braced.collect::<StringArray>()))
        }),
        // Whether the comparison holds of an element, or of all elements. The arguments are the array, the value on the
        // left side, and the operator.
        truth(ANY, |args| one_or_all(args, false)),
        truth(ALL, |args| one_or_all(args, true)),
    ]
}

/// The texts that are made of the values of each row.
fn of_rows(args: &ScalarFunctionArgs, make: impl Fn(&[Option<&str>]) -> Result<Option<String>>) -> Result<ArrayRef> {
    let texts = (0..args.args.len()).map(|index| json_argument(args, index)).collect::<Result<Vec<_>>>()?;
    let mut values = Vec::new();
    let made = (0..args.number_rows).map(|row| {
        values.clear();
        values.extend(texts.iter().map(|text| text.is_valid(row).then(|| text.value(row))));
        make(&values)
    });
    Ok(Arc::new(made.collect::<Result<StringArray>>()?))
}

/// Whether a comparison holds of one element of a list, or of all. A list that is the same for all rows is read once.
fn one_or_all(args: &ScalarFunctionArgs, all: bool) -> Result<ArrayRef> {
    let texts = [as_json(&column(args, 0)?)?, as_json(&column(args, 1)?)?];
    let signs = as_json(&column(args, 2)?)?;
    let sign = signs.iter().flatten().next().map_or(Ok(Comparison::Eq), comparison)?;
    let (mut read, mut keys) = (None, None);
    let mut holds = |row: usize| {
        let [list, value] = [0, 1].map(|side| texts[side].is_valid(row).then(|| texts[side].value(row)));
        if read != Some(list) {
            (read, keys) = (Some(list), list.and_then(keys_of));
        }
        one_of(keys.as_deref()?, value, sign, all)
    };
    Ok(Arc::new((0..args.number_rows).map(&mut holds).collect::<BooleanArray>()))
}

fn array<'t>(values: impl Iterator<Item = Option<&'t str>>) -> String {
    let values: Vec<_> = values.map(|value| value.unwrap_or("null")).collect();
    format!("[{}]", values.join(","))
}

/// What stands between the braces of an object.
fn members(values: &[Option<&str>]) -> Result<String> {
    let mut text = Vec::new();
    for pair in values.chunks(2) {
        let Some(key) = pair[0].map(Field::from_raw).filter(|key| !key.is_null()) else {
            return Err(Error::data("a key of an object is null".to_owned()).into());
        };
        if !text.is_empty() {
            text.push(b',');
        }
        match key.as_str() {
            Some(content) => write_string(&content, &mut text),
            None => write_string(key.raw(), &mut text),
        }
        text.push(b':');
        text.extend_from_slice(pair.get(1).copied().flatten().unwrap_or("null").as_bytes());
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// NULL if one of them is another value than an array; nulls are left out.
fn concat(values: &[Option<&str>]) -> Option<String> {
    let mut text = String::from("[");
    for value in values.iter().flatten() {
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
        assert_eq!(members(&[Some("\"a\\n\""), Some("1"), Some("2"), None]).unwrap(), r#""a\n":1,"2":null"#);
        assert!(members(&[None, Some("1")]).is_err());
        assert_eq!(concat(&[Some("[1, 2]"), None, Some("[ ]"), Some("[3]")]).as_deref(), Some("[1, 2,3]"));
        assert_eq!(concat(&[Some("[1]"), Some("2")]), None);
        assert_eq!(repeat(Some("[1]"), Some("2")).unwrap().as_deref(), Some("[[1],[1]]"));
        assert!(repeat(Some("1"), Some("999999999999")).is_err());
    }
}
