//! Values found by JSON Pointer (RFC 6901).

use super::{Kind, Value};
use std::borrow::Cow;

/// Follows an RFC 6901 pointer from `value`. `None` if it leads nowhere, or is not a pointer.
pub(crate) fn pointer<'a>(value: Value<'a>, pointer: &str) -> Option<Value<'a>> {
    if pointer.is_empty() {
        return Some(value);
    }
    pointer.strip_prefix('/')?.split('/').try_fold(value, |value, token| match value.kind() {
        Kind::Object => value.get(&unescape(token)?),
        Kind::Array => value.at(index(token)?),
        _ => None,
    })
}

/// Replaces `~0` by `~` and `~1` by `/` (RFC 6901 §3); any other `~` makes the pointer invalid.
pub fn unescape(token: &str) -> Option<Cow<'_, str>> {
    if !token.contains('~') {
        return Some(Cow::Borrowed(token));
    }
    let broken = token.match_indices('~').any(|(at, _)| !matches!(token.as_bytes().get(at + 1), Some(b'0' | b'1')));
    (!broken).then(|| Cow::Owned(token.replace("~1", "/").replace("~0", "~")))
}

/// Parses an array index without leading zeros (RFC 6901 §4).
pub fn index(token: &str) -> Option<usize> {
    let digits = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
    if digits && (token == "0" || !token.starts_with('0')) { token.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    fn check(text: &str, pointer: &str, wanted: Option<&str>) {
        let document = crate::parse(text.as_bytes()).unwrap();
        let found = document.root().pointer(pointer).and_then(crate::Value::raw_str);
        assert_eq!(found, wanted, "{pointer:?} in {text}");
    }

    #[test]
    fn a_pointer_leads_where_rfc_6901_says() {
        let text = r#"{"foo":["bar","baz"],"":0,"a/b":1,"m~n":8,"k\"l":6,"01":[7]}"#;
        check(text, "", Some(text));
        check(text, "/foo/0", Some(r#""bar""#));
        check(text, "/", Some("0"));
        check(text, "/a~1b", Some("1"));
        check(text, "/m~0n", Some("8"));
        check(text, "/k\"l", Some("6"));
        check(text, "/01/0", Some("7"));
    }

    #[test]
    fn a_pointer_that_leads_nowhere_finds_nothing() {
        let text = r#"{"foo":["bar"],"m~n":8}"#;
        for pointer in ["foo", "/foo/1", "/foo/00", "/foo/-", "/foo/+0", "/foo/ 0", "/m~n", "/m~2n", "/foo/0/x", "/bar"]
        {
            check(text, pointer, None);
        }
    }
}
