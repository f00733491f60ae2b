//! JSON Patch, merge patches, and the difference of two documents.

use super::{case, used};
use crate::case::{Case, Prepared};
use crate::judge::Bar;
use crate::shapes::{keys, numbered, repeat};
use jird::patch::{apply, diff, merge, merge_diff, remove, set};

type Make = fn(usize) -> Vec<u8>;

pub(super) fn cases() -> Vec<Case> {
    [applied(), merged(), differing(), single()].into_iter().flatten().collect()
}

/// Patches, each for a document that is as long as it.
fn applied() -> Vec<Case> {
    let rows: [(&str, Make, Make); 11] = [
        ("elements added at the start", array, |bytes| operations(bytes, r#"{"op":"add","path":"/0","value":1}"#)),
        ("elements added at the end", array, |bytes| operations(bytes, r#"{"op":"add","path":"/-","value":1}"#)),
        ("elements removed at the start", array, |bytes| operations(bytes, r#"{"op":"remove","path":"/0"}"#)),
        ("elements replaced", array, |bytes| {
            numbered_operations(bytes, |at| format!(r#"{{"op":"replace","path":"/{at}","value":7}}"#))
        }),
        ("elements moved", array, |bytes| operations(bytes, r#"{"op":"move","from":"/9","path":"/0"}"#)),
        ("elements copied", array, |bytes| operations(bytes, r#"{"op":"copy","from":"/9","path":"/0"}"#)),
        ("elements tested", array, |bytes| operations(bytes, r#"{"op":"test","path":"/9","value":1}"#)),
        ("members added", object, |bytes| {
            numbered_operations(bytes, |at| format!(r#"{{"op":"add","path":"/n{at}","value":7}}"#))
        }),
        ("members replaced", object, |bytes| {
            numbered_operations(bytes, |at| format!(r#"{{"op":"replace","path":"/k{at}","value":7}}"#))
        }),
        ("members removed", object, |bytes| {
            numbered_operations(bytes, |at| format!(r#"{{"op":"remove","path":"/k{at}"}}"#))
        }),
        ("a member replaced again and again", object, |bytes| {
            operations(bytes, r#"{"op":"replace","path":"/k0","value":[1]}"#)
        }),
    ];
    let mut cases: Vec<_> = rows
        .map(|(name, document, patch)| {
            on_two("apply", name, document, patch, |document, patch| {
                used(apply(document, patch).map(|edited| edited.len()).map_err(|error| error.to_string()));
            })
        })
        .into();
    cases.push(on_two(
        "apply",
        "not a patch",
        array,
        |bytes| repeat("[", bytes).into_bytes(),
        |document, patch| {
            used(apply(document, patch).is_ok());
        },
    ));
    cases
}

fn merged() -> Vec<Case> {
    let rows: [(&str, Make, Make); 5] = [
        ("all members replaced", object, |bytes| keys::object(bytes, |at| format!("k{at}"))),
        ("new members", object, |bytes| keys::object(bytes, |at| format!("n{at}"))),
        ("keys alike", |bytes| keys::object(bytes, keys::alike), |bytes| keys::object(bytes, keys::alike)),
        ("members removed", object, |bytes| {
            ["{", &numbered(bytes, ",", |at| format!("\"k{at}\":null")), "}"].concat().into_bytes()
        }),
        ("deep objects", deep, deep),
    ];
    rows.map(|(name, document, patch)| {
        on_two("merge", name, document, patch, |document, patch| {
            used(merge(document, patch).map(|merged| merged.len()));
        })
    })
    .into()
}

fn differing() -> Vec<Case> {
    let rows: [(&str, Make, Make); 9] = [
        ("nothing", object, object),
        ("all elements", array, |bytes| ["[", &numbered(bytes, ",", |at| format!("-{at}")), "]"].concat().into_bytes()),
        ("every second element", array, |bytes| {
            [
                "[",
                &numbered(bytes, ",", |at| if at % 2 == 0 { at.to_string() } else { "x".into() }.replace('x', "-1")),
                "]",
            ]
            .concat()
            .into_bytes()
        }),
        ("one element before all others", array, |bytes| {
            ["[-1,", &numbered(bytes, ",", |at| at.to_string()), "]"].concat().into_bytes()
        }),
        ("an array turned around", array, |bytes| {
            let count = bytes / 5;
            ["[", &numbered(bytes, ",", |at| count.saturating_sub(at).to_string()), "]"].concat().into_bytes()
        }),
        (
            "equal elements, some more",
            |bytes| ["[", &repeat("1,", bytes), "1]"].concat().into_bytes(),
            |bytes| ["[2,", &repeat("1,", bytes / 2), "3]"].concat().into_bytes(),
        ),
        ("all members", object, |bytes| {
            ["{", &numbered(bytes, ",", |at| format!("\"k{at}\":[]")), "}"].concat().into_bytes()
        }),
        ("no key in both", object, |bytes| keys::object(bytes, |at| format!("n{at}"))),
        (
            "keys alike",
            |bytes| keys::object(bytes, keys::alike),
            |bytes| ["{", &numbered(bytes, ",", |at| format!("\"{}\":-1", keys::alike(at))), "}"].concat().into_bytes(),
        ),
    ];
    let mut cases = Vec::new();
    for (name, old, new) in rows {
        let difference = |old: &[u8], new: &[u8]| {
            let (Ok(old), Ok(new)) = (jird::parse(old), jird::parse(new)) else { return };
            used(diff(&old, &new).to_patch().len());
        };
        // What differs is looked for in vain up to 1024 places.
        cases.push(Case { bar: Bar::SORTED.per_byte(20_000.0), ..on_two("diff", name, old, new, difference) });
        cases.push(on_two("merge_diff", name, old, new, |old, new| {
            let (Ok(old), Ok(new)) = (jird::parse(old), jird::parse(new)) else { return };
            used(merge_diff(&old, &new).is_ok());
        }));
    }
    cases
}

/// Single edits, whose pointer may be as long as the document.
fn single() -> Vec<Case> {
    vec![
        case("a patch · set the innermost", |bytes| {
            let (text, pointer) = (deep(bytes), "/a".repeat(levels(bytes)));
            Prepared::new(text.len(), move || used(set(&text, &pointer, "2").map(|text| text.len())))
        }),
        case("a patch · remove the last element", |bytes| {
            let text = array(bytes);
            let pointer = format!("/{}", text.iter().filter(|byte| **byte == b',').count());
            Prepared::new(text.len(), move || used(remove(&text, &pointer).map(|text| text.len())))
        }),
        case("a patch · set, with a pointer of escapes", |bytes| {
            let pointer = format!("/{}", repeat("~1", bytes));
            Prepared::new(pointer.len(), move || used(set(b"{}", &pointer, "2").map(|text| text.len())))
        }),
    ]
}

/// A case of two texts that are about equally long.
fn on_two(way: &str, name: &str, one: Make, other: Make, run: fn(&[u8], &[u8])) -> Case {
    case(&format!("a patch · {way}, {name}"), move |bytes| {
        let (one, other) = (one(bytes / 2), other(bytes / 2));
        Prepared::new(one.len() + other.len(), move || run(&one, &other))
    })
}

fn array(bytes: usize) -> Vec<u8> {
    ["[", &numbered(bytes, ",", |at| at.to_string()), "]"].concat().into_bytes()
}

fn object(bytes: usize) -> Vec<u8> {
    keys::object(bytes, |at| format!("k{at}"))
}

fn levels(bytes: usize) -> usize {
    (bytes / 6).clamp(1, 1000)
}

/// Objects in each other, and more of them, because how deep they may be has a limit.
fn deep(bytes: usize) -> Vec<u8> {
    let levels = levels(bytes);
    let one = ["{\"a\":".repeat(levels), "1".to_owned(), "}".repeat(levels)].concat();
    let more = numbered(bytes.saturating_sub(one.len()), ",", |at| format!("\"{at}\":{{\"a\":1}}"));
    [&one[..one.len() - 1], if more.is_empty() { "" } else { "," }, &more, "}"].concat().into_bytes()
}

fn operations(bytes: usize, operation: &str) -> Vec<u8> {
    numbered_operations(bytes, |_| operation.to_owned())
}

fn numbered_operations(bytes: usize, operation: impl Fn(usize) -> String) -> Vec<u8> {
    ["[", &numbered(bytes, ",", operation), "]"].concat().into_bytes()
}
