//! Lines, good and bad.

use super::{Shape, keys, numbered, repeat, shape};

/// Bad lines. After each of them some hundreds of bytes are scanned again.
const fn bad(name: &'static str, make: fn(usize) -> Vec<u8>) -> Shape {
    Shape { smaller: 12, ..shape(name, make) }
}

/// All shapes of this file.
pub const ALL: &[Shape] = &[
    shape("good lines", |n| keys::records(n, "\n").into_bytes()),
    shape("short lines", |n| repeat("1\n", n).into_bytes()),
    shape("blank lines", |n| repeat("\n", n).into_bytes()),
    shape("lines of spaces", |n| repeat("  \n", n).into_bytes()),
    shape("carriage returns", |n| repeat("1\r\n", n).into_bytes()),
    // Bad lines of each kind.
    bad("lines of x", |n| repeat("x\n", n).into_bytes()),
    bad("lines of [", |n| repeat("[\n", n).into_bytes()),
    bad("lines of {", |n| repeat("{\n", n).into_bytes()),
    bad("lines of ]", |n| repeat("]\n", n).into_bytes()),
    bad("lines of [}", |n| repeat("[}\n", n).into_bytes()),
    bad("lines of a quote", |n| repeat("\"\n", n).into_bytes()),
    bad("lines that open a string", |n| repeat("{\"a\":\"text\n", n).into_bytes()),
    bad("lines that end in a backslash", |n| repeat("\"\\\n", n).into_bytes()),
    bad("lines with a bad escape", |n| repeat("\"\\x\"\n", n).into_bytes()),
    bad("lines with half a surrogate", |n| repeat("\"\\ud800\"\n", n).into_bytes()),
    bad("lines with a control character", |n| repeat("\"\u{1}\"\n", n).into_bytes()),
    bad("lines that are not UTF-8", |n| b"\"\xFF\"\n".repeat(n / 4)),
    bad("lines that are cut off in a character", |n| b"\"\xE2\x82\n".repeat(n / 4)),
    bad("lines with a bad number", |n| repeat("[01]\n", n).into_bytes()),
    bad("lines with a bad literal", |n| repeat("trux\n", n).into_bytes()),
    bad("lines without a colon", |n| repeat("{\"a\" 1}\n", n).into_bytes()),
    bad("lines without a comma", |n| repeat("[1 1]\n", n).into_bytes()),
    bad("lines with a comma too many", |n| repeat("[1,]\n", n).into_bytes()),
    bad("lines with a key that is none", |n| repeat("{1:1}\n", n).into_bytes()),
    bad("lines of two values", |n| repeat("1 1\n", n).into_bytes()),
    shape("lines that are too deep", |n| repeat(&["[".repeat(2000), "\n".to_owned()].concat(), n).into_bytes()),
    bad("lines of the wrong type", |n| repeat("{\"id\":\"x\"}\n", n).into_bytes()),
    // Good and bad lines.
    bad("a bad line after each good one", |n| repeat("{\"id\":1}\nx\n", n).into_bytes()),
    shape("a long bad line after each short one", |n| {
        repeat(&["1\n[", &"1,".repeat(500), "x]\n"].concat(), n).into_bytes()
    }),
    bad("bad lines, then good ones", |n| [repeat("[\n", n / 2), keys::records(n / 2, "\n")].concat().into_bytes()),
    bad("good lines, then bad ones", |n| [keys::records(n / 2, "\n"), repeat("\n\"", n / 2)].concat().into_bytes()),
    // Long lines.
    shape("one line without end", |n| ["[", &repeat("1,", n)].concat().into_bytes()),
    shape("one line of a string without end", |n| ["\"", &repeat("text ", n)].concat().into_bytes()),
    shape("one long line", |n| ["[", &repeat("1,", n), "1]\n"].concat().into_bytes()),
    shape("short lines, then a long one", |n| {
        [repeat("1\n", n / 2), "[".to_owned(), repeat("1,", n / 2), "1]".to_owned()].concat().into_bytes()
    }),
    // Keys and texts.
    shape("a new key in each line", |n| numbered(n, "\n", |index| format!("{{\"k{index}\":1}}")).into_bytes()),
    shape("a key that one line has", |n| ["{\"rare\":1}\n", &repeat("{\"id\":1}\n", n)].concat().into_bytes()),
    shape("the same key again and again", |n| {
        repeat(&["{", &"\"id\":1,".repeat(100), "\"id\":1}\n"].concat(), n).into_bytes()
    }),
    shape("spaces before colons", |n| repeat("{\"id\"    : 1, \"name\"   :  \"x\"}\n", n).into_bytes()),
    shape("keys that are spelled with escapes", |n| {
        repeat("{\"\\u0069d\":1,\"n\\u0061me\":\"needl\\u0065\"}\n", n).into_bytes()
    }),
    shape("the beginning of what is sought", |n| {
        repeat("{\"id\":1,\"name\":\"needl needl needl needl\"}\n", n).into_bytes()
    }),
    shape("what is sought", |n| repeat("{\"id\":1,\"name\":\"a needle\"}\n", n).into_bytes()),
    shape("backslashes where something is sought", |n| {
        repeat(&["{\"name\":\"", &"\\u006e".repeat(50), "\"}\n"].concat(), n).into_bytes()
    }),
];

/// The shapes that tell apart entry points made of the same parts.
pub fn core() -> Vec<Shape> {
    const CORE: [&str; 14] = [
        "good lines",
        "short lines",
        "blank lines",
        "lines of x",
        "lines of [",
        "lines that open a string",
        "lines that are not UTF-8",
        "good lines, then bad ones",
        "one line without end",
        "one line of a string without end",
        "short lines, then a long one",
        "a new key in each line",
        "spaces before colons",
        "backslashes where something is sought",
    ];
    CORE.iter().filter_map(|name| ALL.iter().find(|shape| shape.name == *name).copied()).collect()
}
