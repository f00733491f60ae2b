//! What a schema may cost: how many of its parts look at one value, and how many of them are open at once.
//!
//! `$ref`, `allOf` and the like apply other schemas to the same value. A few lines of them can ask for 2^100 checks of
//! one value, or for a stack without end. This module follows them before any record is read, and refuses such schemas.

use anyhow::{Result, bail};
use serde_json::Value as Json;
use std::collections::HashMap;

/// What a schema costs for one value at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// Schemas that are open at once.
    pub(super) depth: usize,
    /// Schemas that look at the value, each as often as it does.
    pub(super) looks: u64,
}

/// The maximum of [`Cost::looks`].
const LOOKS_MAX: u64 = 100_000;
/// The maximum of [`Cost::depth`]: compiling a longer chain of references takes more than linear time.
const DEPTH_MAX: usize = 5_000;

/// The greatest depth and the greatest number of looks of all parts of a schema.
///
/// Takes time linear in the schema and its references, and stack in proportion to the longest chain of references.
pub(super) fn of(schema: &Json) -> Result<Cost> {
    let mut parts = Parts::default();
    parts.add(schema, "", 0);
    let mut known = vec![State::New; parts.all.len()];
    let mut worst = Cost::default();
    for index in 0..parts.all.len() {
        let cost = parts.cost(index, &mut known)?;
        worst = Cost { depth: worst.depth.max(cost.depth), looks: worst.looks.max(cost.looks) };
    }
    Ok(worst)
}

#[derive(Clone, Copy)]
enum State {
    New,
    Open,
    Done(Cost),
}

/// All objects of a schema. Any of them may be a schema itself.
#[derive(Default)]
struct Parts<'s> {
    all: Vec<Part<'s>>,
    by_pointer: HashMap<String, usize>,
    /// The parts with this `$anchor`, `$dynamicAnchor`, or this last part of `$id`.
    by_name: HashMap<&'s str, Vec<usize>>,
}

struct Part<'s> {
    object: &'s serde_json::Map<String, Json>,
    pointer: String,
    /// The part with the `$id` that pointers are relative to.
    base: usize,
}

/// Keywords with one schema for the same value, with an array of them, and with an object of them.
const ONE: [&str; 4] = ["not", "if", "then", "else"];
const MANY: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const NAMED: [&str; 2] = ["dependentSchemas", "dependencies"];
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

impl<'s> Parts<'s> {
    fn add(&mut self, value: &'s Json, pointer: &str, base: usize) {
        match value {
            Json::Array(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    self.add(element, &format!("{pointer}/{index}"), base);
                }
            }
            Json::Object(object) => {
                let index = self.all.len();
                let text = |name: &str| object.get(name).and_then(Json::as_str);
                let id = text("$id").or_else(|| text("id"));
                let base = if id.is_some() { index } else { base };
                let names = [id.map(last_part), text("$anchor"), text("$dynamicAnchor")];
                names.into_iter().flatten().for_each(|name| self.by_name.entry(name).or_default().push(index));
                self.by_pointer.insert(pointer.to_owned(), index);
                self.all.push(Part { object, pointer: pointer.to_owned(), base });
                for (key, value) in object {
                    self.add(value, &format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")), base);
                }
            }
            _ => {}
        }
    }

    fn cost(&self, index: usize, known: &mut [State]) -> Result<Cost> {
        match known[index] {
            State::Done(cost) => return Ok(cost),
            State::Open => bail!(
                "the schema at `{}` applies itself to the same value again, without end",
                shown_pointer(&self.all[index].pointer)
            ),
            State::New => known[index] = State::Open,
        }
        let mut cost = Cost { depth: 0, looks: 1 };
        for inner in self.same_value(index) {
            let inner = self.cost(inner, known)?;
            cost = Cost { depth: cost.depth.max(inner.depth), looks: cost.looks.saturating_add(inner.looks) };
        }
        cost.depth += 1;
        if cost.looks > LOOKS_MAX {
            bail!(
                "the schema at `{}` checks one value more than {LOOKS_MAX} times",
                shown_pointer(&self.all[index].pointer)
            );
        }
        if cost.depth > DEPTH_MAX {
            bail!("the schema has a chain of more than {DEPTH_MAX} references for one value");
        }
        known[index] = State::Done(cost);
        Ok(cost)
    }

    /// The parts that are applied to the same value.
    fn same_value(&self, index: usize) -> Vec<usize> {
        let part = &self.all[index];
        let mut found = Vec::new();
        let mut add = |pointer: String| found.extend(self.by_pointer.get(&pointer));
        for key in ONE {
            add(format!("{}/{key}", part.pointer));
        }
        for key in MANY {
            let len = part.object.get(key).and_then(Json::as_array).map_or(0, Vec::len);
            (0..len).for_each(|at| add(format!("{}/{key}/{at}", part.pointer)));
        }
        for key in NAMED {
            for name in part.object.get(key).and_then(Json::as_object).into_iter().flat_map(serde_json::Map::keys) {
                add(format!("{}/{key}/{}", part.pointer, name.replace('~', "~0").replace('/', "~1")));
            }
        }
        for reference in REFERENCES.iter().filter_map(|key| part.object.get(*key)?.as_str()) {
            self.targets(part.base, reference, &mut found);
        }
        found
    }

    /// The parts that a reference may lead to: more than one if it is not clear.
    fn targets(&self, base: usize, reference: &str, found: &mut Vec<usize>) {
        let (file, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let named = |name: &str| self.by_name.get(name).into_iter().flatten().copied();
        let bases: Vec<usize> = if file.is_empty() { vec![base, 0] } else { named(last_part(file)).collect() };
        let fragment = decoded(fragment);
        if !fragment.is_empty() && !fragment.starts_with('/') {
            return found.extend(named(&fragment));
        }
        let before = found.len();
        for base in bases {
            found.extend(self.by_pointer.get(&format!("{}{fragment}", self.all[base].pointer)));
        }
        // The base and the document are often one.
        let mut new = found.split_off(before);
        new.sort_unstable();
        new.dedup();
        found.append(&mut new);
    }
}

/// The last part of a URI, without its fragment: what all ways to write a reference to it have in common.
fn last_part(uri: &str) -> &str {
    let uri = uri.split_once('#').map_or(uri, |(before, after)| if before.is_empty() { after } else { before });
    uri.rsplit(['/', ':']).next().unwrap_or(uri)
}

/// A fragment without its percent signs.
fn decoded(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok());
        match hex {
            Some(byte) if *first == b'%' => (bytes.push(byte), rest = &after[2..]),
            _ => (bytes.push(*first), rest = after),
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn shown_pointer(pointer: &str) -> &str {
    if pointer.is_empty() { "#" } else { pointer }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(schema: &str, expected: Option<(usize, u64)>) {
        let schema: Json = jird::from_str(schema).unwrap();
        assert_eq!(of(&schema).ok().map(|cost| (cost.depth, cost.looks)), expected, "{schema}");
    }

    #[test]
    fn what_looks_at_one_value_is_counted() {
        check("true", Some((0, 0)));
        check(r#"{"type":"object"}"#, Some((1, 1)));
        check(r#"{"properties":{"a":{"properties":{"b":{}}}}}"#, Some((1, 1)));
        check(r##"{"$defs":{"a":{"not":{}}},"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}]}"##, Some((4, 7)));
        check(r#"{"$id":"http://x/y","$defs":{"a b":{"$anchor":"n"}},"$ref":"y#/$defs/a%20b"}"#, Some((2, 2)));
        check(r##"{"$defs":{"a":{"$anchor":"n"}},"items":{"$ref":"#n"}}"##, Some((2, 2)));
        check(r##"{"items":{"$ref":"#"}}"##, Some((2, 2)));
    }

    #[test]
    fn what_does_not_end_is_refused() {
        check(r##"{"$ref":"#"}"##, None);
        check(r##"{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"anyOf":[true,{"$ref":"#/$defs/a"}]}}}"##, None);
        let twice = |at: usize| {
            format!(r##""c{at}":{{"allOf":[{{"$ref":"#/$defs/c{0}"}},{{"$ref":"#/$defs/c{0}"}}]}}"##, at + 1)
        };
        let all: Vec<_> = (0..60).map(twice).collect();
        check(&format!(r#"{{"$defs":{{{},"c60":{{}}}}}}"#, all.join(",")), None);
    }
}
