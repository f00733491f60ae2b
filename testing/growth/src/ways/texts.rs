//! Uses of texts other than JSON: patterns, numbers, pointers, and tables of keys.

use super::{case, used};
use crate::case::{Case, Prepared};
use crate::judge::Bar;
use crate::shapes::{keys, repeat};
use jird::event::filter::Project;
use jird::event::{self, JsonSink, JsonSource, Pattern};
use jird::hooks::event::KeyTable;
use jird::{Number, Path, record::Like};

pub(super) fn cases() -> Vec<Case> {
    let mut all = vec![
        like("like · %a%a%a%b on a", "%a%a%a%b", "a", ""),
        like("like · %a%a%a%b on ab, and c", "%a%a%a%b", "ab", "c"),
        like("like · %a_a_a% on a", "%a_a_a%", "a", ""),
        like("like · a%a%a%a%a%a%a%a%b on a", "a%a%a%a%a%a%a%a%b", "a", ""),
        like("like · %aaaaaaaaaaaaaaab% on a", "%aaaaaaaaaaaaaaab%", "a", ""),
        like("like · %_%_%_%x on é", "%_%_%_%x", "é", ""),
        case("like · a long pattern is compiled", |bytes| {
            let pattern = repeat("%a_\\%", bytes);
            Prepared::new(bytes, move || used(Like::new(&pattern)))
        }),
        case("like · as many % as there are a", |bytes| {
            let (pattern, text) = (repeat("a%", bytes), repeat("a", bytes));
            Prepared::new(bytes, move || used(Like::new(&pattern).matches(&text)))
        }),
        number("a number · of many digits", |n| repeat("7", n)),
        number("a number · of many digits and a point", |n| ["0.", &repeat("7", n)].concat()),
        number("a number · of many zeros", |n| ["0.", &repeat("0", n), "1"].concat()),
        number("a number · halfway between two doubles", |n| ["9007199254740993", ".", &repeat("0", n), "1"].concat()),
        number("a number · of many digits of an exponent", |n| ["1e-", &repeat("9", n)].concat()),
        number("a number · zeros, and an exponent that undoes them", |n| {
            ["1", &repeat("0", n), "e-", &n.to_string()].concat()
        }),
        case("a pointer · of many steps", |bytes| {
            let text = repeat("/a~1b", bytes);
            Prepared::new(bytes, move || {
                let pattern: Pattern = text.parse().expect("a pattern");
                used(pattern.to_string().len());
                let path = (0..text.len() / 5).fold(Path::root(), |path, _| path.key("a/b"));
                used(path.to_string().len());
            })
        }),
        case("a projection · of as many paths as keys", |bytes| {
            let text = keys::object(bytes, |index| format!("k{index}"));
            let paths: Vec<Pattern> = (0..bytes / 12).map(|index| Pattern::dotted(&format!("k{index}"))).collect();
            Prepared::new(text.len(), move || {
                let mut sink = Project::new(JsonSink::new(std::io::sink()), paths);
                used(event::copy(&mut JsonSource::from_slice(&text), &mut sink).is_ok());
            })
        }),
        table("a table of keys · short", |index| format!("k{index}")),
        table("a table of keys · long", |index| format!("{}{index}", "long".repeat(30))),
        table("a table of keys · that collide", keys::alike),
        case("a table of keys · made again for each record", |bytes| {
            Prepared::new(bytes, move || {
                let mut table = KeyTable::new();
                (0..bytes / 8).for_each(|index| used(table.insert(&format!("k{index}"))));
                for _ in 0..bytes / 8 {
                    table.clear();
                    used(table.insert("a"));
                }
            })
        }),
    ];
    // Each of seven conversions looks at every digit.
    all.iter_mut().filter(|case| case.name.starts_with("a number")).for_each(|case| case.bar = Bar::LINEAR);
    all
}

/// Matches a pattern on a text in which one piece is repeated.
fn like(name: &str, pattern: &'static str, piece: &'static str, end: &'static str) -> Case {
    case(name, move |bytes| {
        let text = [&repeat(piece, bytes), end].concat();
        Prepared::new(text.len(), move || used(Like::new(pattern).matches(&text)))
    })
}

/// Converts a number to every type there is.
fn number(name: &str, make: fn(usize) -> String) -> Case {
    case(name, move |bytes| {
        let text = make(bytes);
        Prepared::new(text.len(), move || {
            let number = Number::new(&text).expect("it is a number");
            used((number.to_f64(), number.to_f32(), number.as_i64(), number.as_i128(), number.to_decimal38()));
            let mut out = String::new();
            number.normalize(&mut out);
            let other = Number::new(&out).expect("it is a number");
            used((number.is_exact_f64(), number.machine_number(), number.compare(other), out.len()));
        })
    })
}

/// Puts keys into a table, and looks them up.
fn table(name: &str, key: fn(usize) -> String) -> Case {
    case(name, move |bytes| {
        let mut keys: Vec<String> = Vec::new();
        while keys.iter().map(String::len).sum::<usize>() < bytes && keys.len() < bytes / key(0).len() {
            keys.push(key(keys.len()));
        }
        Prepared::new(bytes, move || {
            let mut table = KeyTable::new();
            keys.iter().for_each(|key| used(table.insert(key)));
            keys.iter().for_each(|key| used(table.get(key)));
            keys.iter().zip(1..).for_each(|(key, guess)| used(table.get_near(key, guess)));
        })
    })
}
