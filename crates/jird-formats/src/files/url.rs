//! Names that are URLs.

use std::path::Path;

/// The scheme of a URL: what stands before `://`, if that is letters and digits.
///
/// ```
/// use jird_formats::files::url_scheme;
/// assert_eq!(url_scheme("s3://bucket/events.ndjson"), Some("s3"));
/// assert_eq!(url_scheme("logs/events.ndjson"), None);
/// ```
pub fn url_scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once("://")?;
    let is_scheme = scheme.starts_with(|char: char| char.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    is_scheme.then_some(scheme)
}

/// Whether a name is a URL, and not a path: a file that exists is what it is, whatever its name looks like.
///
/// ```
/// use jird_formats::files::is_url;
/// assert!(is_url("https://example.org/events.ndjson".as_ref()));
/// ```
pub fn is_url(name: &Path) -> bool {
    name.to_str().is_some_and(|name| url_scheme(name).is_some()) && name.symlink_metadata().is_err()
}

/// The part of a name that says what is in it: of the URL of a web server, what stands before `?` and `#`.
///
/// ```
/// use jird_formats::files::plain_name;
/// assert_eq!(plain_name("https://host/a.ndjson?key=1".as_ref()), "https://host/a.ndjson");
/// assert_eq!(plain_name("what?.ndjson".as_ref()), "what?.ndjson");
/// ```
pub fn plain_name(name: &Path) -> &Path {
    match name.to_str() {
        Some(url) if matches!(url_scheme(url), Some("http" | "https")) => {
            Path::new(url.split(['?', '#']).next().unwrap_or(url))
        }
        _ => name,
    }
}
