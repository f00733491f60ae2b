//! Keys, and objects made of them.

use super::numbered;

/// An object of about `bytes` bytes, with these keys.
pub fn object(bytes: usize, key: impl Fn(usize) -> String) -> Vec<u8> {
    ["{", &numbered(bytes, ",", |index| format!("\"{}\":{index}", key(index))), "}"].concat().into_bytes()
}

/// Keys with the same hash in a key table, which looks only at both ends of a key.
pub fn alike(index: usize) -> String {
    format!("beginning{index:08}ending..")
}

/// Small objects in one half of the text, and one large object in the other.
pub fn small_and_large(bytes: usize, small_first: bool) -> Vec<u8> {
    let small = super::repeat("{\"a\":1},", bytes / 2);
    let large = object(bytes / 2, |index| format!("k{index}"));
    let large = String::from_utf8_lossy(&large);
    let text =
        if small_first { ["[", &small, &large, "]"].concat() } else { ["[", &large, ",", &small, "1]"].concat() };
    text.into_bytes()
}

/// Records as in logs.
pub fn records(bytes: usize, between: &str) -> String {
    numbered(bytes, between, |index| {
        format!(r#"{{"id":{index},"name":"record {index}","tags":["a","b\n"],"in":{{"x":{index}.5,"y":null}}}}"#)
    })
}
