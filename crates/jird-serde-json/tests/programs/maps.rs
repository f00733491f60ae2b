// A program that counts: maps and their entries.
use self::serde_json::map::{Entry, IntoIter, IntoValues, Iter, IterMut, Keys, OccupiedEntry, VacantEntry, Values, ValuesMut};
use self::serde_json::{Map, Value, json};
use std::fmt::Write;

fn occupied(mut entry: OccupiedEntry<'_>, out: &mut String) {
    writeln!(out, "{} {}", entry.key(), entry.get()).unwrap();
    *entry.get_mut() = json!([entry.get()]);
    let before = entry.insert(json!("second"));
    let now = entry.into_mut();
    *now = json!([before, now.clone()]);
}

fn vacant<'a>(entry: VacantEntry<'a>) -> &'a mut Value {
    assert_eq!(entry.key(), "new");
    entry.insert(json!("first"))
}

pub fn run() -> String {
    let mut out = String::new();
    let mut map: Map<String, Value> = Map::with_capacity(3);
    for word in "the cat and the dog and the bird".split(' ') {
        let count = map.entry(word).or_insert(json!(0));
        *count = json!(count.as_u64().unwrap() + 1);
    }
    map.entry("fish").or_insert_with(|| json!(0));
    map.entry("cat").and_modify(|n| *n = json!(9)).or_insert(json!(1));
    writeln!(out, "{map:?} {} {} {}", map.len(), map.is_empty(), Map::default().is_empty()).unwrap();
    writeln!(out, "{:?} {:?} {:?}", map.get("cat"), map.get("cow"), map.get_key_value("dog")).unwrap();
    writeln!(out, "{} {}", map.contains_key("cat"), map["bird"]).unwrap();
    *map.get_mut("bird").unwrap() = json!("b");
    map["dog"] = json!("d");
    for _ in 0..2 {
        match map.entry("new") {
            Entry::Vacant(entry) => writeln!(out, "{}", vacant(entry)).unwrap(),
            Entry::Occupied(entry) => occupied(entry, &mut out),
        }
    }
    let copy = Value::Object(map.clone());
    writeln!(out, "{:?} {copy}", map.entry("new").key()).unwrap();
    if let Entry::Occupied(entry) = map.entry("new") {
        writeln!(out, "{:?}", entry.remove_entry()).unwrap();
    }
    if let Entry::Occupied(entry) = map.entry("fish") {
        writeln!(out, "{}", entry.remove()).unwrap();
    }
    writeln!(out, "{:?} {:?} {:?}", map.remove("cat"), map.remove_entry("and"), map.remove("and")).unwrap();
    let (iter, keys, values): (Iter<'_>, Keys<'_>, Values<'_>) = (map.iter(), map.keys(), map.values());
    writeln!(out, "{:?} {:?} {:?}", iter.clone().rev().collect::<Vec<_>>(), keys.clone().len(), values.clone().next_back()).unwrap();
    let each: IterMut<'_> = map.iter_mut();
    each.for_each(|(key, value)| *value = json!([key, value.take()]));
    let each: ValuesMut<'_> = map.values_mut();
    each.for_each(|value| *value = json!({"v": value.take()}));
    for (_, value) in &mut map {
        value["w"] = json!(1);
    }
    for (key, value) in &map {
        writeln!(out, "{key} {value}").unwrap();
    }
    let mut other: Map<_, _> = [("x".to_owned(), json!(1)), ("the".to_owned(), json!(2)), ("x".to_owned(), json!(3))].into_iter().collect();
    map.append(&mut other);
    map.extend([("y".to_owned(), json!(4))]);
    map.retain(|key, _| key != "dog");
    map.sort_keys();
    writeln!(out, "{} {map:?} {}", other.len(), map == map.clone()).unwrap();
    let owned: IntoIter = map.clone().into_iter();
    let values: IntoValues = map.clone().into_values();
    writeln!(out, "{:?} {:?}", owned.size_hint(), values.collect::<Vec<_>>()).unwrap();
    writeln!(out, "{:?} {:?}", r#"{"b": 1, "a": 2, "b": 3}"#.parse::<Map<_, _>>(), "[]".parse::<Map<_, _>>()).unwrap();
    map.clear();
    let mut copy = other.clone();
    copy.clone_from(&map);
    writeln!(out, "{map:?} {copy:?} {}", self::serde_json::to_string(&map).unwrap()).unwrap();
    writeln!(out, "{:?}", self::serde_json::from_value::<Map<String, Value>>(json!({"k": [1]}))).unwrap();
    writeln!(out, "{:?}", self::serde_json::from_value::<Map<String, Value>>(json!([1]))).unwrap();
    out
}
