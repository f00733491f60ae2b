//! Functions of JSON arrays and objects, over columns of JSON text. Lists of Arrow have DataFusion's functions.

use super::exact::exact_total;
use super::predicate::{as_json, json_argument};
use super::stateless::{Makes, Takes, function};
use crate::sql::{
    JSON_AT, JSON_CONTAINS, JSON_DISTINCT, JSON_ELEMENTS, JSON_EXCEPT, JSON_FLATTEN, JSON_GREATEST, JSON_HAS_ALL,
    JSON_HAS_ANY, JSON_INTERSECT, JSON_JOIN, JSON_KEYS, JSON_LEAST, JSON_LEN, JSON_LENGTH, JSON_MEAN, JSON_POP_BACK,
    JSON_POP_FRONT, JSON_POSITION, JSON_POSITIONS, JSON_REVERSE, JSON_SLICE, JSON_SORT, JSON_TOTAL, JSON_UNION,
    JSON_WITHOUT,
};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Int64Array, ListBuilder, StringArray, StringBuilder};
use arrow::datatypes::{DataType, FieldRef, Int64Type};
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF};
use jird::hooks::{quoted, write_array};
use jird::record::Field;
use jird::{Document, Kind, Value};
use jird_formats::ColumnType;
use std::collections::HashSet;
use std::sync::Arc;

/// What a function makes of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ArrayFunction {
    /// The number of elements.
    Length,
    /// The number of elements, or of the characters of a text.
    Len,
    /// Whether an element is equal to the second argument.
    Contains,
    /// The elements as texts, with the second argument between them; nulls are left out.
    Join,
    /// The keys, as a JSON array.
    Keys,
    /// The value at the keys and numbers that follow. Negative numbers count from the end.
    At,
    /// The elements, as a list of JSON texts.
    Elements,
    /// The place of the first element that is equal to the second argument; places count from 1.
    Position,
    /// The elements from one place to another, both included.
    Slice,
    /// The elements in the order of [`Field::order_key`], but nulls last, as in `order by`.
    Sort,
    /// The elements without those that are equal to an earlier one.
    Distinct,
    Reverse,
    /// The least and the greatest element; nulls are left out.
    Least,
    Greatest,
    /// The places of all elements that are equal to the second argument.
    Positions,
    /// The elements that are not equal to the second argument.
    Without,
    /// Whether some or all elements of the second array are in the first one.
    HasAny,
    HasAll,
    /// The different elements of both arrays, or of the first one that are, or are not, in the second one.
    Union,
    Intersect,
    Except,
    /// The elements of the elements that are arrays, one level down.
    Flatten,
    /// All elements but the first, or but the last.
    PopFront,
    PopBack,
    /// The sum and the mean of the elements that are numbers.
    Total,
    Mean,
}

/// All of them. NULL for values of other kinds.
pub(super) fn all() -> [ScalarUDF; 26] {
    let row = |name, makes, compute| function(name, Takes::Some, makes, compute);
    let json = |name, compute| row(name, Makes::Json, compute);
    let number = |name, compute| row(name, Makes::Always(DataType::Int64), compute);
    let truth = |name, compute| row(name, Makes::Always(DataType::Boolean), compute);
    [
        number(JSON_LENGTH, |args| ArrayFunction::Length.of(args)),
        number(JSON_LEN, |args| ArrayFunction::Len.of(args)),
        number(JSON_POSITION, |args| ArrayFunction::Position.of(args)),
        truth(JSON_CONTAINS, |args| ArrayFunction::Contains.of(args)),
        truth(JSON_HAS_ANY, |args| ArrayFunction::HasAny.of(args)),
        truth(JSON_HAS_ALL, |args| ArrayFunction::HasAll.of(args)),
        row(JSON_JOIN, Makes::Always(DataType::Utf8), |args| ArrayFunction::Join.of(args)),
        row(JSON_ELEMENTS, Makes::Always(DataType::List(elements_field())), |args| ArrayFunction::Elements.of(args)),
        json(JSON_KEYS, |args| ArrayFunction::Keys.of(args)),
        json(JSON_AT, |args| ArrayFunction::At.of(args)),
        json(JSON_SLICE, |args| ArrayFunction::Slice.of(args)),
        json(JSON_SORT, |args| ArrayFunction::Sort.of(args)),
        json(JSON_DISTINCT, |args| ArrayFunction::Distinct.of(args)),
        json(JSON_REVERSE, |args| ArrayFunction::Reverse.of(args)),
        json(JSON_LEAST, |args| ArrayFunction::Least.of(args)),
        json(JSON_GREATEST, |args| ArrayFunction::Greatest.of(args)),
        json(JSON_POSITIONS, |args| ArrayFunction::Positions.of(args)),
        json(JSON_WITHOUT, |args| ArrayFunction::Without.of(args)),
        json(JSON_UNION, |args| ArrayFunction::Union.of(args)),
        json(JSON_INTERSECT, |args| ArrayFunction::Intersect.of(args)),
        json(JSON_EXCEPT, |args| ArrayFunction::Except.of(args)),
        json(JSON_FLATTEN, |args| ArrayFunction::Flatten.of(args)),
        json(JSON_POP_FRONT, |args| ArrayFunction::PopFront.of(args)),
        json(JSON_POP_BACK, |args| ArrayFunction::PopBack.of(args)),
        json(JSON_TOTAL, |args| ArrayFunction::Total.of(args)),
        json(JSON_MEAN, |args| ArrayFunction::Mean.of(args)),
    ]
}

impl ArrayFunction {
    fn of(self, args: &ScalarFunctionArgs) -> Result<ArrayRef> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let texts = as_json(&arrays[0])?;
        Ok(match self {
            ArrayFunction::Length => Arc::new(texts.iter().map(|text| length(&parsed(text?)?)).collect::<Int64Array>()),
            ArrayFunction::Len => Arc::new(texts.iter().map(|text| len(text?)).collect::<Int64Array>()),
            ArrayFunction::Contains | ArrayFunction::HasAny | ArrayFunction::HasAll => {
                let wanted = json_argument(args, 1)?;
                let pairs = texts.iter().zip(&wanted);
                let has = |(text, wanted): (Option<&str>, Option<&str>)| has(self, text?, wanted?);
                Arc::new(pairs.map(has).collect::<BooleanArray>())
            }
            ArrayFunction::Positions
            | ArrayFunction::Without
            | ArrayFunction::Union
            | ArrayFunction::Intersect
            | ArrayFunction::Except => {
                let other = json_argument(args, 1)?;
                let pairs = texts.iter().zip(&other);
                let beside = |(text, other): (Option<&str>, Option<&str>)| beside(self, text?, other?);
                Arc::new(pairs.map(beside).collect::<StringArray>())
            }
            ArrayFunction::Total | ArrayFunction::Mean => {
                let total = |text: Option<&str>| -> Result<Option<String>> {
                    let Some(elements) = text.and_then(elements_of) else { return Ok(None) };
                    exact_total(elements.iter().map(String::as_str), self == ArrayFunction::Mean)
                };
                Arc::new(texts.iter().map(total).collect::<Result<StringArray>>()?)
            }
            ArrayFunction::Join => {
                let between = arrow_cast::cast(&arrays[1], &DataType::Utf8)?;
                let pairs = texts.iter().zip(between.as_string::<i32>());
                Arc::new(pairs.map(|(text, between)| join(&parsed(text?)?, between?)).collect::<StringArray>())
            }
            ArrayFunction::Keys => Arc::new(texts.iter().map(|text| keys(&parsed(text?)?)).collect::<StringArray>()),
            ArrayFunction::At => {
                let at = |row: usize| {
                    let document = texts.is_valid(row).then(|| parsed(texts.value(row)))??;
                    at(&document, &arrays[1..], row)
                };
                Arc::new((0..texts.len()).map(at).collect::<StringArray>())
            }
            ArrayFunction::Elements => elements(&texts),
            ArrayFunction::Position => {
                let wanted = json_argument(args, 1)?;
                let pairs = texts.iter().zip(&wanted);
                Arc::new(pairs.map(|(text, wanted)| position(&parsed(text?)?, wanted?)).collect::<Int64Array>())
            }
            ArrayFunction::Slice => {
                let [from, to] = [1, 2].map(|argument| arrow_cast::cast(&arrays[argument], &DataType::Int64));
                let (from, to) = (from?, to?);
                let places = from.as_primitive::<Int64Type>().iter().zip(to.as_primitive::<Int64Type>());
                let rows = texts.iter().zip(places);
                Arc::new(rows.map(|(text, (from, to))| slice(&parsed(text?)?, from?, to?)).collect::<StringArray>())
            }
            what => {
                let of = |text: Option<&str>| rearranged(what, parsed(text?)?.root());
                Arc::new(texts.iter().map(of).collect::<StringArray>())
            }
        })
    }
}

fn elements_field() -> FieldRef {
    Arc::new(ColumnType::Json.field("item"))
}

fn parsed(text: &str) -> Option<Document<'_>> {
    jird::parse(text.as_bytes()).ok()
}

fn raw(value: Value<'_>) -> String {
    String::from_utf8_lossy(value.raw()).into_owned()
}

fn length(document: &Document<'_>) -> Option<i64> {
    let root = document.root();
    match root.kind() {
        Kind::Array => i64::try_from(root.elements().count()).ok(),
        _ => None,
    }
}

fn len(text: &str) -> Option<i64> {
    match Field::from_raw(text).as_str() {
        Some(content) => i64::try_from(content.chars().count()).ok(),
        None => length(&parsed(text)?),
    }
}

/// What orders a value among all JSON values, and is equal for equal ones.
fn order_key(text: &str) -> Vec<u8> {
    let mut key = Vec::new();
    Field::from_raw(text).order_key(&mut key);
    key
}

/// The elements of an array.
fn elements_of(text: &str) -> Option<Vec<String>> {
    let document = parsed(text)?;
    let root = document.root();
    (root.kind() == Kind::Array).then(|| root.elements().map(raw).collect())
}

/// Whether an array has a value, or some or all elements of another array.
fn has(what: ArrayFunction, text: &str, wanted: &str) -> Option<bool> {
    let keys: HashSet<_> = elements_of(text)?.iter().map(|element| order_key(element)).collect();
    Some(match what {
        ArrayFunction::HasAny => elements_of(wanted)?.iter().any(|wanted| keys.contains(&order_key(wanted))),
        ArrayFunction::HasAll => elements_of(wanted)?.iter().all(|wanted| keys.contains(&order_key(wanted))),
        _ => keys.contains(&order_key(wanted)),
    })
}

/// What is made of an array and another value.
fn beside(what: ArrayFunction, text: &str, other: &str) -> Option<String> {
    let elements = elements_of(text)?;
    if matches!(what, ArrayFunction::Positions | ArrayFunction::Without) {
        let wanted = order_key(other);
        let is_wanted = |element: &String| order_key(element) == wanted;
        return Some(match what {
            ArrayFunction::Without => array(elements.into_iter().filter(|element| !is_wanted(element))),
            _ => array((1..).zip(&elements).filter(|(_, element)| is_wanted(element)).map(|(at, _)| format!("{at}"))),
        });
    }
    let others = elements_of(other)?;
    let keys: HashSet<_> = others.iter().map(|other| order_key(other)).collect();
    let mut met = HashSet::new();
    let mut is_new = |element: &String| met.insert(order_key(element));
    Some(if what == ArrayFunction::Union {
        array(elements.into_iter().chain(others).filter(|element| is_new(element)))
    } else {
        let is_kept = |element: &String| keys.contains(&order_key(element)) == (what == ArrayFunction::Intersect);
        array(elements.into_iter().filter(|element| is_kept(element) && is_new(element)))
    })
}

/// The elements of the elements that are arrays; other elements stay.
fn flat(root: Value<'_>) -> String {
    let inner = |element: Value<'_>| match element.kind() {
        Kind::Array => element.elements().map(raw).collect(),
        _ => vec![raw(element)],
    };
    array(root.elements().flat_map(inner))
}

fn position(document: &Document<'_>, wanted: &str) -> Option<i64> {
    let root = document.root();
    let wanted = order_key(wanted);
    let mut elements = (root.kind() == Kind::Array).then(|| root.elements())?;
    let place = elements.position(|element| order_key(&raw(element)) == wanted)?;
    i64::try_from(place + 1).ok()
}

/// The elements, or the characters of a text, from the place `from` to the place `to`. Places count from 1, or from -1 at
/// the end.
fn slice(document: &Document<'_>, from: i64, to: i64) -> Option<String> {
    let root = document.root();
    let text = root.as_str();
    let count = match (&text, root.kind()) {
        (Some(text), _) => text.chars().count(),
        (None, Kind::Array) => root.elements().count(),
        _ => return None,
    };
    let count = i64::try_from(count).ok()?;
    let place = |number: i64| if number < 0 { count.saturating_add(number).saturating_add(1) } else { number };
    let before = usize::try_from(place(from).max(1) - 1).ok()?;
    let end = usize::try_from(place(to).clamp(0, count)).ok()?;
    Some(match text {
        Some(text) => quoted(&text.chars().take(end).skip(before).collect::<String>()),
        None => array(root.elements().map(raw).take(end).skip(before)),
    })
}

/// The elements in another order, or some of them.
fn rearranged(what: ArrayFunction, root: Value<'_>) -> Option<String> {
    if root.kind() != Kind::Array {
        return None;
    }
    let texts = root.elements().map(raw);
    match what {
        ArrayFunction::Reverse => {
            let mut texts: Vec<_> = texts.collect();
            texts.reverse();
            return Some(array(texts));
        }
        ArrayFunction::Flatten => return Some(flat(root)),
        ArrayFunction::PopFront => return Some(array(texts.skip(1))),
        ArrayFunction::PopBack => {
            let mut texts: Vec<_> = texts.collect();
            texts.pop();
            return Some(array(texts));
        }
        _ => {}
    }
    let mut keyed: Vec<_> = texts.map(|text| (order_key(&text), text)).collect();
    let in_order = |one: &(Vec<u8>, String), other: &(Vec<u8>, String)| one.0.cmp(&other.0);
    let is_value = |(_, text): &(Vec<u8>, String)| text != "null";
    match what {
        ArrayFunction::Least => return keyed.into_iter().filter(is_value).min_by(in_order).map(|(_, text)| text),
        ArrayFunction::Greatest => return keyed.into_iter().filter(is_value).max_by(in_order).map(|(_, text)| text),
        ArrayFunction::Distinct => {
            let mut met = HashSet::new();
            keyed.retain(|(key, _)| met.insert(key.clone()));
        }
        _ => keyed.sort_by(|one, other| (!is_value(one)).cmp(&!is_value(other)).then_with(|| in_order(one, other))),
    }
    Some(array(keyed.into_iter().map(|(_, text)| text)))
}

/// A JSON array of these texts.
fn array(texts: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", texts.into_iter().collect::<Vec<_>>().join(","))
}

fn join(document: &Document<'_>, between: &str) -> Option<String> {
    let root = document.root();
    if root.kind() != Kind::Array {
        return None;
    }
    let text = |element: Value<'_>| match element.kind() {
        Kind::Null => None,
        Kind::String => element.as_str().map(|text| text.to_string()),
        _ => Some(raw(element)),
    };
    Some(root.elements().filter_map(text).collect::<Vec<_>>().join(between))
}

fn keys(document: &Document<'_>) -> Option<String> {
    let root = document.root();
    if root.kind() != Kind::Object {
        return None;
    }
    let mut text = Vec::new();
    write_array(&mut text, |array| {
        root.entries().for_each(|(key, _)| array.element(&key.as_str().unwrap_or_default()));
    });
    String::from_utf8(text).ok()
}

fn at(document: &Document<'_>, steps: &[ArrayRef], row: usize) -> Option<String> {
    let mut value = document.root();
    for step in steps {
        value = if let Some(numbers) = step.as_primitive_opt::<Int64Type>() {
            let number = numbers.is_valid(row).then(|| numbers.value(row))?;
            let count = if number < 0 { i64::try_from(value.elements().count()).ok()? } else { 0 };
            value.elements().nth(usize::try_from(number + count).ok()?)?
        } else {
            let keys = step.as_string_opt::<i32>()?;
            value.get(keys.is_valid(row).then(|| keys.value(row))?)?
        };
    }
    (value.kind() != Kind::Null).then(|| raw(value))
}

fn elements(texts: &StringArray) -> ArrayRef {
    let mut lists = ListBuilder::new(StringBuilder::new()).with_field(elements_field());
    for text in texts {
        let document = text.and_then(parsed);
        let Some(root) = document.as_ref().map(Document::root).filter(|root| root.kind() == Kind::Array) else {
            lists.append(false);
            continue;
        };
        for element in root.elements() {
            match element.kind() {
                Kind::Null => lists.values().append_null(),
                _ => lists.values().append_value(raw(element)),
            }
        }
        lists.append(true);
    }
    Arc::new(lists.finish())
}
