//! One document, or a text that is almost one.

use super::{Shape, around, array, keys, numbered, repeat, shape};

/// All shapes of this file.
pub const ALL: &[Shape] = &[
    // Brackets.
    shape("nothing but [", |n| repeat("[", n).into_bytes()),
    shape("nothing but {\"a\":", |n| repeat("{\"a\":", n).into_bytes()),
    shape("nothing but [{\"a\":", |n| repeat("[{\"a\":", n).into_bytes()),
    shape("nothing but ]", |n| repeat("]", n).into_bytes()),
    shape("nested arrays, closed", |n| [repeat("[", n / 2), repeat("]", n / 2)].concat().into_bytes()),
    shape("nested objects, closed", |n| {
        [repeat("{\"a\":", n), "1".to_owned(), "}".repeat((n / 5).max(1))].concat().into_bytes()
    }),
    shape("nested arrays of two", |n| {
        [repeat("[0,", n), "1".to_owned(), "]".repeat((n / 3).max(1))].concat().into_bytes()
    }),
    shape("deep values again and again", |n| array(&["[".repeat(100), "]".repeat(100)].concat(), n)),
    shape("deep objects again and again", |n| {
        array(&["{\"a\":".repeat(100), "1".to_owned(), "}".repeat(100)].concat(), n)
    }),
    shape("many empty arrays", |n| array("[]", n)),
    shape("many empty objects", |n| array("{}", n)),
    shape("brackets that do not match", |n| around("[", "[},", "", n)),
    // Objects and keys.
    shape("an object of many keys", |n| keys::object(n, |index| format!("k{index}"))),
    shape("an object of one key again and again", |n| around("{\"a\":1", ",\"a\":1", "}", n)),
    shape("keys that differ in the middle", |n| keys::object(n, keys::alike)),
    shape("long keys that differ at the end", |n| keys::object(n, |index| format!("{}{index}", "long".repeat(25)))),
    shape("keys of escapes", |n| keys::object(n, |index| format!("\\u0041\\n\\\"{index}"))),
    shape("keys in falling order", |n| keys::object(n, |index| format!("{:09}", 999_999_999 - index))),
    shape("small objects, then a large one", |n| keys::small_and_large(n, true)),
    shape("a large object, then small ones", |n| keys::small_and_large(n, false)),
    shape("objects in objects of many keys", |n| around("{\"x\":{", "\"k\":{\"a\":{\"b\":1}},", "\"z\":1}}", n)),
    // Strings.
    shape("a long string", |n| around("\"", "long text ", "\"", n)),
    shape("a long string of two bytes a character", |n| around("\"", "é", "\"", n)),
    shape("a long string of four bytes a character", |n| around("\"", "😀", "\"", n)),
    shape("a long string without end", |n| around("[\"", "long text ", "", n)),
    shape("a string of escapes", |n| around("\"", "\\n", "\"", n)),
    shape("a string of backslashes", |n| around("\"", "\\\\", "\"", n)),
    shape("backslashes without end", |n| around("\"", "\\", "", n)),
    shape("a string of escaped quotes", |n| around("[\"", "\\\"", "\"]", n)),
    shape("a string of \\u escapes", |n| around("\"", "\\u0041", "\"", n)),
    shape("a string of surrogate pairs", |n| around("\"", "\\ud83d\\ude00", "\"", n)),
    shape("lone surrogates", |n| array("\"\\ud800\"", n)),
    shape("a lone surrogate at the end", |n| around("[\"", "\\ud83d\\ude00", "\\ud800\"]", n)),
    shape("short strings", |n| array("\"a\"", n)),
    shape("empty strings", |n| array("\"\"", n)),
    shape("strings with an escape each", |n| array("\"a\\tb\"", n)),
    shape("nothing but quotes", |n| repeat("\"", n).into_bytes()),
    shape("a control character at the end", |n| around("[\"", "long text ", "\u{1}\"]", n)),
    // Numbers.
    shape("a number of many digits", |n| around("[", "7", "]", n)),
    shape("a fraction of many digits", |n| around("[0.", "7", "]", n)),
    shape("a fraction of many zeros", |n| around("[0.", "0", "1]", n)),
    shape("an exponent of many digits", |n| around("[1e", "9", "]", n)),
    shape("many digits, and an exponent that undoes them", |n| around("[1", "0", &format!("e-{n}]"), n)),
    shape("numbers of one digit", |n| array("1", n)),
    shape("numbers of all sizes", |n| {
        array("-1.5,1e308,0.1,12345678901234567890,1e-400,2.2250738585072011e-308,5e-324", n)
    }),
    shape("large exponents", |n| array("1e308", n)),
    shape("a number that is wrong at its end", |n| around("[1", "0", ".]", n)),
    // White space.
    shape("nothing but spaces", |n| repeat(" ", n).into_bytes()),
    shape("nothing but line feeds", |n| repeat("\n", n).into_bytes()),
    shape("spaces before a value", |n| [repeat(" ", n), "[1]".to_owned()].concat().into_bytes()),
    shape("spaces after a value", |n| ["[1]", &repeat(" ", n)].concat().into_bytes()),
    shape("spaces before a colon", |n| around("{\"a\"", " ", ":1}", n)),
    shape("spaces before all colons", |n| around("{", "\"a\"  : 1 , ", "\"z\" : 1 }", n)),
    shape("spaces before a comma", |n| around("[1", " \n", ",2]", n)),
    shape("spaces around all values", |n| around("[ 1 ", "\n , \t 1 ", "]", n)),
    // Errors at the end.
    shape("an array that is not closed", |n| around("[1", ",1", "", n)),
    shape("a comma at the end", |n| around("[1", ",1", ",]", n)),
    shape("a bracket too many", |n| around("[1", ",1", "]]", n)),
    shape("the wrong bracket at the end", |n| around("[[1", ",1", "}]", n)),
    shape("a literal that is wrong at the end", |n| around("[true", ",true", ",trux]", n)),
    shape("bytes that are not UTF-8 at the end", |n| [&around("[\"é", "\",\"é", "", n)[..], b"\xC3\"]"].concat()),
    shape("a character that is cut off", |n| [&around("[\"", "é", "", n)[..], b"\xF0\x9F"].concat()),
    // Errors at the start.
    shape("wrong at byte 2", |n| around("[}", "1,", "1]", n)),
    shape("a comma at byte 2", |n| around("[,", "1,", "1]", n)),
    shape("a key that is none at byte 2", |n| around("{1", ",1", "}", n)),
    shape("a literal that is wrong at byte 2", |n| around("[x", ",1", "]", n)),
    shape("a number that is wrong at byte 2", |n| around("[01", ",1", "]", n)),
    shape("wrong at byte 2, then strings", |n| around("[}", "\"a\",", "1]", n)),
    shape("wrong at byte 2, then brackets", |n| around("[}", "[]", "]", n)),
    shape("nothing but commas", |n| repeat(",", n).into_bytes()),
    shape("nothing but colons", |n| repeat(":", n).into_bytes()),
    shape("nothing but letters", |n| repeat("x", n).into_bytes()),
    shape("nothing but 0xFF", |n| vec![0xFF; n]),
    shape("nothing but 0x00", |n| vec![0; n]),
    // Several values.
    shape("numbers beside each other", |n| repeat("1 ", n).into_bytes()),
    shape("arrays beside each other", |n| repeat("[]", n).into_bytes()),
    shape("records in an array", |n| [b"[".to_vec(), keys::records(n, ",").into_bytes(), b"]".to_vec()].concat()),
    shape("records of many keys each", |n| {
        let members = numbered(500, ",", |index| format!("\"k{index}\":{index}"));
        array(&["{", &members, "}"].concat(), n)
    }),
];

/// The shapes that tell apart entry points made of the same parts.
pub fn core() -> Vec<Shape> {
    const CORE: [&str; 28] = [
        "nothing but [",
        "nested arrays, closed",
        "nested objects, closed",
        "deep objects again and again",
        "many empty arrays",
        "an object of many keys",
        "an object of one key again and again",
        "keys that differ in the middle",
        "small objects, then a large one",
        "a large object, then small ones",
        "objects in objects of many keys",
        "a long string without end",
        "a string of escapes",
        "backslashes without end",
        "lone surrogates",
        "short strings",
        "a number of many digits",
        "numbers of all sizes",
        "nothing but spaces",
        "spaces before a colon",
        "spaces around all values",
        "a comma at the end",
        "bytes that are not UTF-8 at the end",
        "wrong at byte 2",
        "nothing but 0xFF",
        "numbers beside each other",
        "records in an array",
        "records of many keys each",
    ];
    named(&CORE)
}

/// The shapes of these names.
///
/// # Panics
/// If no shape has one of the names.
pub fn named(names: &[&str]) -> Vec<Shape> {
    let find = |name: &&str| ALL.iter().find(|shape| shape.name == *name).copied();
    names.iter().map(|name| find(name).unwrap_or_else(|| panic!("no shape is called {name:?}"))).collect()
}
