//! URLs: which store, and which key in it.

use crate::files::url_scheme;
use std::io;

/// The kinds of stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    S3,
    Google,
    Azure,
    /// A web server, which has no listing.
    Web,
}

/// A URL, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) kind: Kind,
    /// What names the store: `s3://bucket`; of a web server, `https://host:port`.
    pub(super) store: String,
    /// The key as it is, without a slash before it. Of a web server, the rest of the URL, with escapes and query.
    pub(super) key: String,
}

impl Address {
    /// Takes a URL apart. Keys are meant as they stand, as the vendors' own tools mean them: `%` is a percent sign. The
    /// paths of web servers are escaped.
    pub(super) fn parse(url: &str) -> io::Result<Self> {
        let wrong = |words: String| io::Error::new(io::ErrorKind::InvalidInput, words);
        let scheme = url_scheme(url).ok_or_else(|| wrong("is no URL".to_owned()))?;
        let kind = match scheme.to_ascii_lowercase().as_str() {
            "s3" | "s3a" => Kind::S3,
            "gs" => Kind::Google,
            "az" | "adl" | "azure" | "abfs" | "abfss" => Kind::Azure,
            "http" | "https" => Kind::Web,
            _ => {
                return Err(wrong(format!(
                    "there is no file of this name, and URLs that begin with {scheme}:// are not read; s3://, gs://, az://, \
                     http:// and https:// are"
                )));
            }
        };
        let rest = &url[scheme.len() + 3..];
        let end = if kind == Kind::Web { rest.find(['/', '?', '#']) } else { rest.find('/') };
        let (store, key) = rest.split_at(end.unwrap_or(rest.len()));
        if store.is_empty() {
            let what = if kind == Kind::Web { "host" } else { "bucket" };
            return Err(wrong(format!("the URL has no {what}, as {scheme}://{what}/key has")));
        }
        let key = key.strip_prefix('/').unwrap_or(key);
        let store = format!("{}://{store}", scheme.to_ascii_lowercase());
        Ok(Self { kind, store, key: key.to_owned() })
    }

    /// The URL, as it is printed.
    pub(super) fn url(&self) -> String {
        self.of_key(&self.key)
    }

    /// The URL of another key of the same store.
    pub(super) fn of_key(&self, key: &str) -> String {
        let slash = if self.kind == Kind::Web && key.starts_with(['?', '#']) { "" } else { "/" };
        format!("{}{slash}{key}", self.store)
    }

    /// What names the bucket.
    pub(super) fn bucket(&self) -> &str {
        self.store.split_once("://").map_or("", |(_, bucket)| bucket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_a_store_and_a_key() {
        for (url, kind, store, key) in [
            ("s3://b/a/c.ndjson", Kind::S3, "s3://b", "a/c.ndjson"),
            ("s3a://b", Kind::S3, "s3a://b", ""),
            ("S3://b/50%", Kind::S3, "s3://b", "50%"),
            ("gs://b/a?*", Kind::Google, "gs://b", "a?*"),
            ("abfss://c@account.dfs.core.windows.net/x", Kind::Azure, "abfss://c@account.dfs.core.windows.net", "x"),
            ("http://h:1/a%20b?q=1#f", Kind::Web, "http://h:1", "a%20b?q=1#f"),
            ("https://h?q", Kind::Web, "https://h", "?q"),
        ] {
            let address = Address::parse(url).unwrap();
            assert_eq!(address, Address { kind, store: store.to_owned(), key: key.to_owned() }, "{url}");
            let scheme = url_scheme(url).unwrap();
            assert_eq!(address.url().replace(&scheme.to_lowercase(), scheme).trim_end_matches('/'), url, "{url}");
        }
        for url in ["", "a.ndjson", "s3:/b/k", "s3:///k", "https:///x", "://x", "ftp://h/x"] {
            assert!(Address::parse(url).is_err(), "{url}");
        }
    }
}
