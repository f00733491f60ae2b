//! Entity tags (RFC 9110, section 8.8.3): an answer with the same bytes has the same tag, also after a restart.

use bytes::Bytes;
use core::fmt::{self, Write as _};
use hyper::header::HeaderValue;
use twox_hash::XxHash3_128;

/// The tag of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag(u128);

impl Tag {
    /// The tag of these bytes, before they are compressed.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self(XxHash3_128::oneshot(bytes))
    }

    /// The tag of an answer that also tells how many rows there are: browsers keep `Content-Range` with the body, and do
    /// not take another one from a 304.
    pub(crate) fn with_total(self, total: u64) -> Self {
        let [hash, total] = [self.0, u128::from(total)].map(u128::to_le_bytes);
        Self::of(&[hash, total].concat())
    }

    /// The value of `ETag`, with a suffix for compressed answers.
    pub(crate) fn header(self, suffix: &str) -> HeaderValue {
        let mut quoted = Vec::with_capacity(34 + suffix.len());
        quoted.push(b'"');
        quoted.extend_from_slice(&self.digits());
        quoted.extend_from_slice(suffix.as_bytes());
        quoted.push(b'"');
        HeaderValue::from_maybe_shared(Bytes::from(quoted)).expect("it has letters, digits and signs")
    }

    /// The hash in hexadecimal digits.
    fn digits(self) -> [u8; 32] {
        let mut digits = [0; 32];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.0.to_be_bytes()) {
            pair.copy_from_slice(&[byte >> 4, byte & 15].map(|digit| b"0123456789abcdef"[usize::from(digit)]));
        }
        digits
    }
}

impl fmt::Display for Tag {
    /// Without the quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.digits().iter().try_for_each(|digit| f.write_char(char::from(*digit)))
    }
}

/// The tags of `If-Match` or `If-None-Match`.
#[derive(Clone, Debug)]
pub(crate) enum Tags {
    Any,
    /// As they stand in the header.
    These(String),
}

impl Tags {
    pub(crate) fn new(header: &str) -> Self {
        if header.trim() == "*" { Self::Any } else { Self::These(header.to_owned()) }
    }

    /// Whether the tag of these bytes is among them. Compressed answers have the tag with a suffix, which makes no
    /// difference.
    pub(crate) fn have(&self, bytes: &[u8]) -> bool {
        self.has(Tag::of(bytes))
    }

    pub(crate) fn has(&self, tag: Tag) -> bool {
        let Self::These(text) = self else { return true };
        let tag = tag.to_string();
        text.split(',').any(|one| {
            let one = one.trim();
            let one = one.strip_prefix("W/").unwrap_or(one);
            let one = one.strip_prefix('"').and_then(|one| one.strip_suffix('"')).unwrap_or_default();
            one == tag || one.strip_suffix("-gzip").or_else(|| one.strip_suffix("-zstd")) == Some(&tag)
        })
    }
}
