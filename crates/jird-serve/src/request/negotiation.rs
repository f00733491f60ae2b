//! What a client wants of an answer: `Accept`, `Accept-Encoding`, `Prefer`.

use crate::base::problem::Problem;
use crate::request::rows::Format;
use hyper::StatusCode;
use hyper::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName};
use std::borrow::Cow;

/// How an answer is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Coding {
    Gzip,
    Zstd,
}

impl Coding {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// The values of a header, with commas between them; those that are not text are left out.
pub(crate) fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<Cow<'h, str>> {
    let mut values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    let mut text = Cow::Borrowed(values.next()?);
    for more in values {
        text.to_mut().extend([",", more]);
    }
    Some(text)
}

/// The parts of a list, each with its quality (RFC 9110, section 12.4.2) in thousandths.
fn qualities(list: &str) -> impl Iterator<Item = (&str, u32)> {
    list.split(',').map(|part| {
        let mut parts = part.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let quality = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        let quality = quality.and_then(|text| text.parse::<f32>().ok()).filter(|quality| (0.0..=1.0).contains(quality));
        (name, quality.map_or(1000, |quality| (quality * 1000.0) as u32))
    })
}

/// What a body is, in lower case and without parameters.
pub(crate) fn media(headers: &HeaderMap) -> String {
    let media = text(headers, &CONTENT_TYPE).unwrap_or_default().to_ascii_lowercase();
    media.split(';').next().unwrap_or_default().trim().to_owned()
}

/// The best of some forms, each with its media types; the first one if nothing is asked for.
///
/// # Errors
/// 406 with this detail if none is acceptable.
pub(crate) fn best<F: Copy>(headers: &HeaderMap, forms: &[(F, &[&str])], detail: &str) -> Result<F, Problem> {
    let Some(accept) = text(headers, &ACCEPT) else { return Ok(forms[0].0) };
    let quality = |names: &[&str]| {
        // An entry for one type takes precedence over an entry for many.
        let found = |name: &str| qualities(&accept).find(|(known, _)| known.eq_ignore_ascii_case(name));
        names.iter().find_map(|name| found(name)).map_or(0, |(_, quality)| quality)
    };
    let mut best = (0, None);
    for (form, names) in forms {
        let quality = quality(names);
        if quality > best.0 {
            best = (quality, Some(*form));
        }
    }
    best.1.ok_or_else(|| Problem::new(StatusCode::NOT_ACCEPTABLE, detail))
}

/// Whether exactly one row is asked for, as an object: PostgREST's media type for that.
pub(crate) fn wants_one(headers: &HeaderMap) -> bool {
    text(headers, &ACCEPT).is_some_and(|accept| qualities(&accept).next().is_some_and(|(name, _)| name == ONE))
}

const PREFER: HeaderName = HeaderName::from_static("prefer");

/// The media type of a single row.
const ONE: &str = "application/vnd.pgrst.object+json";

/// The form of the rows.
///
/// # Errors
/// 406 if none is acceptable.
pub(crate) fn format(headers: &HeaderMap, is_one: bool) -> Result<Format, Problem> {
    if wants_one(headers) {
        return Ok(Format::Object);
    }
    let json = if is_one { Format::Object } else { Format::Array };
    let forms = [
        (json, &["application/json", "application/*", "*/*"][..]),
        (Format::Lines, &["application/x-ndjson", "application/ndjson", "application/jsonl"]),
        (Format::Csv, &["text/csv", "text/*"]),
    ];
    best(headers, &forms, "rows come as application/json, application/x-ndjson or text/csv")
}

/// How the answer may be compressed.
pub(crate) fn coding(headers: &HeaderMap) -> Option<Coding> {
    let accept = text(headers, &ACCEPT_ENCODING)?;
    let quality = |coding: Coding| {
        let found = qualities(&accept).find(|(name, _)| name.eq_ignore_ascii_case(coding.name()));
        found.map_or(0, |(_, quality)| quality)
    };
    let (gzip, zstd) = (quality(Coding::Gzip), quality(Coding::Zstd));
    match gzip.max(zstd) {
        0 => None,
        best if zstd == best => Some(Coding::Zstd),
        _ => Some(Coding::Gzip),
    }
}

/// What `Prefer` (RFC 7240) says, as far as it is known here.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Preferences {
    /// `count=exact`
    pub(crate) counts: bool,
    /// `return=representation`
    pub(crate) wants_rows: bool,
    /// `resolution`
    pub(crate) duplicates: Option<Duplicates>,
}

/// What becomes of rows whose key is already there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Duplicates {
    /// `merge-duplicates`: they update the ones that are there.
    Merge,
    /// `ignore-duplicates`: they are left out.
    Ignore,
}

impl Preferences {
    pub(crate) fn new(headers: &HeaderMap) -> Self {
        let Some(prefer) = text(headers, &PREFER) else { return Self::default() };
        let has = |wanted: &str| prefer.split([',', ';']).any(|part| part.trim().eq_ignore_ascii_case(wanted));
        Self {
            // An exact count is the best estimate.
            counts: ["count=exact", "count=planned", "count=estimated"].iter().any(|wanted| has(wanted)),
            wants_rows: has("return=representation"),
            duplicates: if has("resolution=merge-duplicates") {
                Some(Duplicates::Merge)
            } else {
                has("resolution=ignore-duplicates").then_some(Duplicates::Ignore)
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn accepting(name: HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn the_best_of_what_is_accepted_is_taken() {
        let format = |accept| format(&accepting(ACCEPT, accept), false);
        for (accept, wanted) in [
            ("*/*", Format::Array),
            ("text/html, */*;q=0.1", Format::Array),
            ("text/csv", Format::Csv),
            ("application/json;q=0.5, application/x-ndjson", Format::Lines),
            ("text/csv;q=0, */*", Format::Array),
        ] {
            assert_eq!(format(accept).unwrap(), wanted, "{accept}");
        }
        assert!(format("image/png").is_err());
        assert!(format("application/json;q=0").is_err());
        let coding = |accept| coding(&accepting(ACCEPT_ENCODING, accept));
        assert_eq!(coding("gzip, deflate, br, zstd"), Some(Coding::Zstd));
        assert_eq!(coding("gzip;q=1.0, zstd;q=0.5"), Some(Coding::Gzip));
        assert_eq!(coding("zstd;q=0, identity"), None);
    }
}
