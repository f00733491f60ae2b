//! Checks the output of `minify`.

use serde_json::Value;

use crate::fold::{Agreement, Fold};
use crate::peers;

/// `text` without the white space between its tokens, computed byte by byte.
pub(crate) fn stripped(text: &[u8]) -> Vec<u8> {
    let (mut in_string, mut escaped) = (false, false);
    let wanted = |byte: &&u8| {
        let keep = in_string || !matches!(**byte, b' ' | b'\t' | b'\n' | b'\r');
        match **byte {
            b'"' if !escaped => in_string = !in_string,
            _ => {}
        }
        escaped = in_string && !escaped && **byte == b'\\';
        keep
    };
    text.iter().filter(wanted).copied().collect()
}

/// Whether `minified` is `text` without white space. The bytes must be equal. Peers that rewrite numbers and strings,
/// or sort members, may instead have equal values.
pub(crate) fn check(text: &[u8], minified: &[u8]) -> Result<(), &'static str> {
    let wanted = stripped(text);
    if minified == wanted {
        return Ok(());
    }
    if stripped(minified) != minified {
        return Err("leaves white space");
    }
    match (fold(minified), fold(&wanted)) {
        (Some(mine), Some(reference)) if mine.agrees(reference) != Agreement::Differs => Ok(()),
        _ => Err("writes another document"),
    }
}

fn fold(text: &[u8]) -> Option<Fold> {
    let value: Value = serde_json::from_slice(text).ok()?;
    Some(peers::fold_value(&value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_goes_only_between_tokens() {
        let rows: &[(&str, &str)] =
            &[("{ \"a b\" :\t[ 1 ,\r\n2 ] }", "{\"a b\":[1,2]}"), (r#"[ "\" ", "\\" , " " ]"#, r#"["\" ","\\"," "]"#)];
        for (text, wanted) in rows {
            assert_eq!(String::from_utf8_lossy(&stripped(text.as_bytes())), *wanted);
        }
    }

    #[test]
    fn rewritten_values_pass_and_other_values_do_not() {
        assert_eq!(check(b"[1.50, \"\\u0041\"]", b"[1.5,\"A\"]"), Ok(()));
        assert_eq!(check(b"[1, 2]", b"[1, 2]"), Err("leaves white space"));
        assert_eq!(check(b"[1, 2]", b"[1,3]"), Err("writes another document"));
        assert_eq!(check(b"[1, 2]", b"[1,"), Err("writes another document"));
    }
}
