//! Records, and whether they are the same after a journey.
#![allow(dead_code, reason = "each test is a crate of its own, and none needs everything")]

use jird::event::{self, JsonSource};
use jird::{Kind, Value};
use jird_formats::{ColumnPlan, Rows, Schema};
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The columns of a text.
pub(crate) fn plan_of(text: &str) -> ColumnPlan {
    let mut schema = Rows::new(Schema::default());
    event::copy(&mut JsonSource::from_slice(text.as_bytes()), &mut schema).unwrap();
    ColumnPlan::of(schema.table())
}

/// Records of each kind of column: integers of 64 bits and more, decimals, mixtures, nested, late keys.
pub(crate) fn records() -> String {
    let mut text = String::new();
    for index in 0..100_u64 {
        let id = u64::MAX - index * 7;
        let signed = i64::MIN + index as i64;
        let wide = format!("{}{index:037}", index % 9 + 1);
        let float = ["0.1", "-0.0", "1e300", "2.5E-3", "123456.789"][index as usize % 5];
        let exact = ["0.1000000000000000055", "1e309", "12345678901234567890.5"][index as usize % 3];
        let mixed = ["1", "\"1\"", "true", "null", "[1.0,{\"a\":\"\\u0000\"}]", "{}", "1.50"][index as usize % 7];
        let string = ["", "\\u0000", "\\ud83d\\ude00 \\\"quoted\\\"", "žluťoučký", "null"][index as usize % 5];
        write!(
            text,
            r#"{{"id":{id},"signed":{signed},"wide":{wide},"float":{float},"exact":{exact},"mixed":{mixed},"text":"{string}","#
        )
        .unwrap();
        write!(text, r#""nested":{{"list":[{index},null,{{"deep":[[]]}}],"{index}":1E2}},"flag":{},"#, index % 2 == 0)
            .unwrap();
        match index % 3 {
            0 => writeln!(text, r#""null":null}}"#).unwrap(),
            1 => writeln!(text, r#""null":null,"late {}":{index}}}"#, index / 50).unwrap(),
            _ => writeln!(text, r#""null":null,"id":"a second time"}}"#).unwrap(),
        }
    }
    text
}

/// Asserts that each record of `before` has the same values in `after`: numbers by value, and what is missing is null there.
pub(crate) fn assert_survives(before: &str, after: &str) {
    assert_eq!(before.lines().count(), after.lines().count());
    for (index, (before, after)) in before.lines().zip(after.lines()).enumerate() {
        let documents = [before, after].map(|text| jird::parse(text.as_bytes()).unwrap());
        let [one, other] = [documents[0].root(), documents[1].root()];
        if one.kind() != Kind::Object {
            assert!(same(one, other.get("value").unwrap()), "record {index}:\n{before}\n{after}");
            continue;
        }
        for (key, value) in other.entries() {
            let is_same = one.get(&key.as_str().unwrap()).map_or(value.is_null(), |before| same(before, value));
            assert!(is_same, "record {index}, {}:\n{before}\n{after}", key.raw_str().unwrap());
        }
        for (key, _) in one.entries() {
            assert!(other.get(&key.as_str().unwrap()).is_some(), "record {index} lost {}", key.raw_str().unwrap());
        }
    }
}

fn same(one: Value<'_>, other: Value<'_>) -> bool {
    one.kind() == other.kind()
        && match one.kind() {
            Kind::Number => {
                let [one, other] = [one, other].map(|value| value.as_number().unwrap());
                let negative_zero = |text: &str| text.starts_with('-') && text.contains('.');
                one.compare(other).is_eq()
                    && (one.is_integer() || negative_zero(one.text()) == negative_zero(other.text()))
            }
            Kind::Array => {
                one.elements().count() == other.elements().count()
                    && one.elements().zip(other.elements()).all(|(one, other)| same(one, other))
            }
            Kind::Object => {
                one.entries().count() == other.entries().count()
                    && one
                        .entries()
                        .zip(other.entries())
                        .all(|((key, one), (name, other))| key.as_str() == name.as_str() && same(one, other))
            }
            Kind::String => one.as_str() == other.as_str(),
            Kind::Bool => one.as_bool() == other.as_bool(),
            Kind::Null => true,
        }
}

/// The most memory that this process had, in megabytes; zero where the system does not say.
pub(crate) fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().split(' ').next()?.parse::<u64>().ok());
    peak.unwrap_or_default() / 1000
}

/// Damages a file in some ways, and reads each: which panicked.
pub(crate) fn damage(file: &[u8], times: u64, read: impl Fn(&[u8])) -> impl Iterator<Item = String> {
    let mut random = file.len() as u64;
    let mut next = move |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below.max(1)
    };
    let mut panics = Vec::new();
    for _ in 0..times {
        let mut damaged = file.to_vec();
        for _ in 0..=next(2) {
            // The beginning and the end hold what says how to read the rest.
            let near = match next(3) {
                0 => next(file.len().min(1500)),
                1 => file.len() - 1 - next(file.len().min(1500)),
                _ => next(file.len()),
            };
            match next(4) {
                0 => damaged[near] ^= 1 << next(8),
                1 => damaged[near] = [0, 1, 0x7F, 0x80, 0xFF][next(5)],
                2 => damaged[near..].iter_mut().take(4).for_each(|byte| *byte = 0xFF),
                _ => damaged[near..].iter_mut().take(8).zip(i64::MAX.to_le_bytes()).for_each(|(byte, big)| *byte = big),
            }
        }
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| read(&damaged))) {
            let what = panic.downcast_ref::<String>().cloned();
            let what = what.or_else(|| panic.downcast_ref::<&str>().map(|what| (*what).to_owned()));
            panics.push(what.unwrap_or_default());
        }
    }
    panics.sort();
    panics.dedup();
    panics.into_iter()
}
