//! Compares `jird-serde-json` with `serde_json`.

use crate::{Target, shown, ways};
use jird_serde_json::Value;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Debug;

/// Any bytes are read into trees and types as `serde_json` reads them, and written again as it writes them. Errors have
/// the same words, line, column and category.
///
/// # Panics
/// If this does not hold.
pub fn migrate(text: &[u8]) {
    ways(TYPES).for_each(|check| check(text));
}

const TYPES: [Target; 6] = [
    trees,
    types::<Vec<Option<f64>>>,
    types::<BTreeMap<String, Option<Vec<u16>>>>,
    types::<Vec<(i64, bool, char)>>,
    types::<Vec<Known>>,
    types::<Vec<Either>>,
];

#[derive(Debug, Deserialize, Serialize)]
struct Known {
    a: Option<String>,
    #[serde(flatten)]
    rest: BTreeMap<String, Option<i32>>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(untagged)]
enum Either {
    Number(i8),
    Text(String),
    List(Vec<Either>),
    Object(BTreeMap<String, Either>),
}

fn types<T: DeserializeOwned + Serialize + Debug>(text: &[u8]) {
    let wanted = serde_json::from_slice::<T>(text);
    let read = jird_serde_json::from_reader::<_, T>(text);
    for found in [jird_serde_json::from_slice::<T>(text), read] {
        match (&wanted, &found) {
            (Ok(wanted), Ok(found)) => {
                assert_eq!(format!("{wanted:?}"), format!("{found:?}"), "{}", shown(text));
                assert_eq!(jird_serde_json::to_string(found).ok(), serde_json::to_string(wanted).ok());
                assert_eq!(jird_serde_json::to_string_pretty(found).ok(), serde_json::to_string_pretty(wanted).ok());
            }
            (Err(wanted), Err(found)) => same_error(wanted, found, text),
            _ => panic!("{wanted:?} of serde_json, {found:?}: {}", shown(text)),
        }
    }
}

fn trees(text: &[u8]) {
    let wanted = serde_json::from_slice::<serde_json::Value>(text);
    match (wanted, jird_serde_json::from_slice::<Value>(text)) {
        (Ok(wanted), Ok(found)) => {
            same_tree(&found, &wanted, text);
            let written = jird_serde_json::to_string(&found).expect("a tree can be written");
            let again = serde_json::from_str(&written).expect("what is written is JSON");
            same_tree(&found, &again, text);
            assert_eq!(Value::from(wanted), found, "{}", shown(text));
        }
        (Err(wanted), Err(found)) => same_error(&wanted, &found, text),
        (wanted, found) => panic!("{wanted:?} of serde_json, {found:?}: {}", shown(text)),
    }
}

fn same_error(wanted: &serde_json::Error, found: &jird_serde_json::Error, text: &[u8]) {
    let seen = |error: &serde_json::Error| (error.to_string(), error.line(), error.column(), error.classify());
    assert_eq!(seen(found), seen(wanted), "{}", shown(text));
}

/// The tree of `serde_json` has rounded the numbers.
fn same_tree(found: &Value, wanted: &serde_json::Value, text: &[u8]) {
    let same = match (found, wanted) {
        (Value::Null, serde_json::Value::Null) => true,
        (Value::Bool(found), serde_json::Value::Bool(wanted)) => found == wanted,
        (Value::Number(found), serde_json::Value::Number(wanted)) => {
            (found.as_u64(), found.as_i64(), found.is_f64()) == (wanted.as_u64(), wanted.as_i64(), wanted.is_f64())
                && found.as_f64().map(f64::to_bits) == wanted.as_f64().map(f64::to_bits)
        }
        (Value::String(found), serde_json::Value::String(wanted)) => found == wanted,
        (Value::Array(found), serde_json::Value::Array(wanted)) => {
            found.iter().zip(wanted).for_each(|(found, wanted)| same_tree(found, wanted, text));
            found.len() == wanted.len()
        }
        (Value::Object(found), serde_json::Value::Object(wanted)) => {
            for ((key, found), (wanted_key, wanted)) in found.iter().zip(wanted) {
                assert_eq!(key, wanted_key, "{}", shown(text));
                same_tree(found, wanted, text);
            }
            found.len() == wanted.len()
        }
        _ => false,
    };
    assert!(same, "{found:?} is not {wanted:?}: {}", shown(text));
}
