//! The cursor over a document: by index, by key, by pointer, and level by level.

use super::{case, used};
use crate::case::{Case, Prepared};
use crate::shapes::{keys, numbered, repeat};
use jird::policy::Policy;
use jird::{Parser, Value};

/// The size n. Four times as many bytes still fit into a document in a build with small limits: see `JIRD_SMALL_LIMITS`
/// in the engine's build script.
const BYTES: usize = 12 << 10;

pub(super) fn cases() -> Vec<Case> {
    let deep = |bytes: usize| [repeat("[", bytes / 2), "]".repeat(bytes / 2)].concat().into_bytes();
    let two =
        |bytes: usize| [repeat("[[],", bytes), "1".to_owned(), "]".repeat((bytes / 4).max(1))].concat().into_bytes();
    let objects =
        |bytes: usize| [repeat("{\"a\":", bytes), "1".to_owned(), "}".repeat((bytes / 5).max(1))].concat().into_bytes();
    let wide = |bytes: usize| ["[", &repeat("[1,2],", bytes), "0]"].concat().into_bytes();
    vec![
        on_value("a value · at(0), level by level", deep, |value| follow(value, |value| value.at(0))),
        on_value("a value · at(1), level by level", two, |value| follow(value, |value| value.at(1))),
        on_value("a value · get, level by level", objects, |value| follow(value, |value| value.get("a"))),
        on_value("a value · seek, level by level", objects, |value| follow(value, |value| value.entries().seek("a"))),
        on_value("a value · len, level by level", deep, |value| {
            follow(value, |value| {
                used((value.len(), value.raw().len()));
                value.elements().next()
            });
        }),
        on_value("a value · a pointer to the innermost", deep, |value| {
            let levels = value.raw().len() / 2;
            used(value.pointer(&"/0".repeat(levels.saturating_sub(1))).is_some());
        }),
        on_value("a value · a pointer by keys to the innermost", objects, |value| {
            used(value.pointer(&"/a".repeat(value.raw().len() / 6)).is_some());
        }),
        on_value("a value · the last element", wide, |value| used(value.at(value.len() - 1))),
        on_value("a value · the length of each element", wide, |value| {
            value.elements().for_each(|value| used((value.len(), value.raw().len())));
        }),
        on_value(
            "a value · a key that is missing",
            |bytes| keys::object(bytes, |index| format!("k{index}")),
            |value| {
                used(value.get("missing").is_none());
            },
        ),
        on_value(
            "a value · keys sought in their order",
            |bytes| keys::object(bytes, |index| format!("k{index}")),
            |value| {
                let mut entries = value.entries();
                let found = (0..value.len()).filter(|index| entries.seek(&format!("k{index}")).is_some()).count();
                assert_eq!(found, value.len());
            },
        ),
        on_value(
            "a value · a key of escapes that is missing",
            |bytes| keys::object(bytes, |_| "\\u0041".repeat(20)),
            |value| {
                used(value.get(&"A".repeat(21)).is_none());
            },
        ),
        on_value(
            "a value · a long text compared with another",
            |bytes| ["[\"", &repeat("\\u0041", bytes), "\"]"].concat().into_bytes(),
            |value| {
                let text = "A".repeat(value.raw().len() / 6 - 1);
                used(value.at(0).is_some_and(|value| value.is_str(&text)));
            },
        ),
        on_value(
            "a value · all long texts",
            |bytes| ["[", &numbered(bytes, ",", |_| format!("\"{}\"", "long".repeat(100))), "]"].concat().into_bytes(),
            |value| value.elements().for_each(|value| used(value.as_str())),
        ),
        on_value(
            "a value · all long numbers",
            |bytes| ["[", &numbered(bytes, ",", |_| "7".repeat(400)), "]"].concat().into_bytes(),
            |value| value.elements().for_each(|value| used((value.as_f64(), value.as_i64()))),
        ),
    ]
}

/// Parses a text, and looks at its value.
fn on_value(name: &str, make: fn(usize) -> Vec<u8>, look: fn(Value<'_>)) -> Case {
    let case = case(name, move |bytes| {
        let text = make(bytes);
        Prepared::new(text.len(), move || {
            let policy = Policy { depth_max: usize::MAX >> 8, ..Policy::default() };
            look(Parser::with_policy(policy).parse(&text).expect("it is JSON"));
        })
    });
    Case { bytes: BYTES, ..case }
}

fn follow<'t>(mut value: Value<'t>, step: impl Fn(Value<'t>) -> Option<Value<'t>>) {
    while let Some(next) = step(value) {
        value = next;
    }
    used(value.kind());
}
