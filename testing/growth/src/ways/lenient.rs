//! Lenient texts, rewritten into strict JSON.

use super::{Way, each, used, way};
use crate::case::Case;
use crate::shapes::{Shape, around, array, repeat, shape};
use jird::lenient::{Allow, Leniency, to_strict};

const WAYS: &[Way] = &[
    way("to_strict, JSON5", |text| used(to_strict(text, Leniency::JSON5).is_ok())),
    way("to_strict, all", |text| {
        let all = Allow::ALL.into_iter().fold(Leniency::STRICT, Leniency::with);
        used(to_strict(text, all).map_err(|error| error.to_string()).is_ok());
    }),
];

const SHAPES: &[Shape] = &[
    shape("comments", |bytes| around("[", "/**/", "1]", bytes)),
    shape("comments that begin in each other", |bytes| around("[", "/*/", "1]", bytes)),
    shape("line comments that U+2028 ends", |bytes| around("[", "//\u{2028}", "1]", bytes)),
    shape("comments that are not closed", |bytes| repeat("/*", bytes).into_bytes()),
    shape("trailing commas after white space", |bytes| array("[1 , \n ]", bytes)),
    shape("a trailing comma before long white space", |bytes| around("[1,", " ", "]", bytes)),
    shape("bare keys", |bytes| array("{a_key:.5}", bytes)),
    shape("a long bare key", |bytes| around("{", "\\u0061", ":1}", bytes)),
    shape("brackets", |bytes| around("", "[", "", bytes)),
    shape("first halves of surrogate pairs", |bytes| around("'", "\\ud800", "'", bytes)),
    shape("line continuations", |bytes| around("'", "\\\n", "'", bytes)),
    shape("control characters", |bytes| around("'", "\u{1}", "'", bytes)),
    shape("bytes that are not UTF-8", |bytes| [b"'", &vec![0xFF; bytes][..], b"'"].concat()),
    shape("an error at the end", |bytes| around("[", "a_", "", bytes)),
    shape("one hexadecimal integer", |bytes| around("0x", "f", "", bytes)),
    shape("the longest hexadecimal integers", |bytes| array(&["0x", &"f".repeat(1024)].concat(), bytes)),
];

pub(super) fn cases() -> Vec<Case> {
    each(WAYS, SHAPES).collect()
}
