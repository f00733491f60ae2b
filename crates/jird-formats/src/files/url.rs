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
/// assert!(jird_formats::files::is_url("https://example.org/events.ndjson"));
/// ```
pub fn is_url(name: &str) -> bool {
    url_scheme(name).is_some() && Path::new(name).symlink_metadata().is_err()
}
