//! The page at `/`, compiled in: its text, its style sheet, and its script, which asks this server for all else.
//!
//! The files hold no data, so they need no token; the page asks its reader for that. [`POLICY`] says what the page may
//! do: it runs its own script, takes its own style sheet, and asks this server, and nothing else. Even the script
//! cannot make markup out of texts.

use crate::http::body::Body;
use crate::http::compress::packed;
use crate::http::etag::{Tag, Tags};
use crate::request::negotiation::{self, Coding};
use hyper::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue,
    IF_NONE_MATCH, REFERRER_POLICY, VARY,
};
use hyper::{Response, StatusCode};

/// What the page may load and do ("Content Security Policy Level 3"; "Trusted Types" for the last two).
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";

/// The script is written in parts, and each needs those before it.
const SCRIPT: &str = concat!(
    include_str!("page/base.js"),
    include_str!("page/value.js"),
    include_str!("page/time.js"),
    include_str!("page/chart.js"),
    include_str!("page/grid.js"),
    include_str!("page/download.js"),
    include_str!("page/list.js"),
    include_str!("page/follow.js"),
    include_str!("page/facets.js"),
    include_str!("page/log.js"),
    include_str!("page/table.js"),
    include_str!("page/file.js"),
    include_str!("page/query.js"),
    include_str!("page/saved.js"),
    include_str!("page/alerts.js"),
    include_str!("page/page.js"),
);

const STYLE: &str = concat!(include_str!("page/page.css"), include_str!("page/views.css"));

/// A file of the page.
struct File {
    /// The segments of its path.
    path: &'static [&'static str],
    media: &'static str,
    text: &'static str,
}

const FILES: [File; 3] = [
    File { path: &[], media: "text/html; charset=utf-8", text: include_str!("page/page.html") },
    File { path: &["_", "page.css"], media: "text/css; charset=utf-8", text: STYLE },
    File { path: &["_", "page.js"], media: "text/javascript; charset=utf-8", text: SCRIPT },
];

/// The page, or one of its files, if the path leads to it. Browsers keep them, and ask each time whether they are
/// still the same.
pub(crate) fn page(path: &[String], headers: &HeaderMap) -> Option<Response<Body>> {
    let file = FILES.iter().find(|file| file.path == path)?;
    let tag = Tag::of(file.text.as_bytes());
    // If it cannot be packed, it goes as it is.
    let coded = negotiation::coding(headers).and_then(|coding| Some((coding, packed(file.text.into(), coding).ok()?)));
    let suffix = coded.as_ref().map_or("", |(coding, _)| match coding {
        Coding::Gzip => "-gzip",
        Coding::Zstd => "-zstd",
    });
    let mut response = Response::new(Body::whole(Vec::new()));
    let told = response.headers_mut();
    for (name, value) in [
        (CACHE_CONTROL, "no-cache"),
        (VARY, "accept-encoding"),
        (CONTENT_SECURITY_POLICY, POLICY),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        told.insert(name, HeaderValue::from_static(value));
    }
    told.insert(ETAG, HeaderValue::from_str(&format!("\"{tag}{suffix}\"")).expect("it has digits and signs"));
    if negotiation::text(headers, &IF_NONE_MATCH).is_some_and(|tags| Tags::new(&tags).has(tag)) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return Some(response);
    }
    told.insert(CONTENT_TYPE, HeaderValue::from_static(file.media));
    *response.body_mut() = match coded {
        None => Body::whole(file.text),
        Some((coding, bytes)) => {
            told.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
            Body::whole(bytes)
        }
    };
    Some(response)
}
