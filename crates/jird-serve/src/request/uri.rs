//! Paths and queries of requests: cut and decoded.

use crate::base::problem::Problem;

/// The most parameters of a query.
const PARAMETERS_MAX: usize = 100;

/// Decodes `%41`, and in queries `+` as a space.
fn decoded(text: &str, plus_is_space: bool) -> Result<String, Problem> {
    let wrong = || Problem::bad(format!("{text:?} is not percent-encoded UTF-8"));
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match first {
            b'%' => {
                let [high, low, after @ ..] = rest else { return Err(wrong()) };
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let (Some(high), Some(low)) = (digit(*high), digit(*low)) else { return Err(wrong()) };
                bytes.push((high << 4 | low) as u8);
                rest = after;
            }
            b'+' if plus_is_space => bytes.push(b' '),
            byte => bytes.push(*byte),
        }
    }
    let decoded = String::from_utf8(bytes).map_err(|_| wrong())?;
    if decoded.contains('\0') { Err(Problem::bad("a path or query cannot have a NUL")) } else { Ok(decoded) }
}

/// The segments of a path, decoded. A slash at the end makes no difference.
pub(crate) fn segments(path: &str) -> Result<Vec<String>, Problem> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    if path.is_empty() {
        return Ok(Vec::new());
    }
    path.split('/').map(|segment| decoded(segment, false)).collect()
}

/// The parameters of a query, decoded, in their order.
pub(crate) fn parameters(query: Option<&str>) -> Result<Vec<(String, String)>, Problem> {
    let query = query.unwrap_or_default();
    let parts = query.split('&').filter(|part| !part.is_empty());
    if parts.clone().count() > PARAMETERS_MAX {
        return Err(Problem::bad(format!("the query has more than {PARAMETERS_MAX} parameters")));
    }
    parts
        .map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            Ok((decoded(name, true)?, decoded(value, true)?))
        })
        .collect()
}

/// The parameter with which programs that send events may give the token.
pub(crate) const API_KEY: &str = "apiKey";

/// A target as logs may have it: without the token.
pub(crate) fn without_secrets(target: &str) -> String {
    let Some((path, query)) = target.split_once('?') else { return target.to_owned() };
    let parts = query.split('&').map(|part| match part.split_once('=') {
        Some((name, _)) if decoded(name, true).is_ok_and(|name| name == API_KEY) => format!("{name}=…"),
        _ => part.to_owned(),
    });
    format!("{path}?{}", parts.collect::<Vec<_>>().join("&"))
}

/// A number of rows.
pub(crate) fn count(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok().filter(|count| i64::try_from(*count).is_ok()) } else { None }
}

/// A text as one segment of a path.
pub(crate) fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            for digit in [byte >> 4, byte & 15] {
                encoded.push(char::from(b"0123456789ABCDEF"[usize::from(digit)]));
            }
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_queries_are_decoded_or_refused() {
        assert_eq!(segments("/tasks/").unwrap(), ["tasks"]);
        assert_eq!(segments("/a%2Fb/%C3%A9+").unwrap(), ["a/b", "é+"]);
        assert!(segments("/").unwrap().is_empty());
        let pairs = parameters(Some("a=1+2&b&c=%3D=")).unwrap();
        assert_eq!(pairs, [("a", "1 2"), ("b", ""), ("c", "==")].map(|(a, b)| (a.to_owned(), b.to_owned())));
        for wrong in ["/%", "/%4", "/%zz", "/%ff", "/a%00"] {
            assert!(segments(wrong).is_err(), "{wrong}");
        }
        assert!(parameters(Some(&"a&".repeat(101))).is_err());
        assert_eq!(segments(&format!("/{}", encoded("a b/ü?"))).unwrap(), ["a b/ü?"]);
    }

    #[test]
    fn logs_have_no_tokens() {
        for (target, shown) in [
            ("/ingest?clef&apiKey=secret", "/ingest?clef&apiKey=…"),
            ("/ingest?api%4bey=secret&a=b", "/ingest?api%4bey=…&a=b"),
            ("/ingest?apiKey=a=b&apiKey=c", "/ingest?apiKey=…&apiKey=…"),
            ("/apiKey=a?apikey=b", "/apiKey=a?apikey=b"),
            ("/a", "/a"),
        ] {
            assert_eq!(without_secrets(target), shown);
        }
    }
}
