//! Patterns and folders: the keys that they stand for, by the store's listing.

use super::address::{Address, Kind};
use super::{Remotes, runtime, words};
use crate::files::{FileFormat, alternatives};
use futures_util::StreamExt;
use object_store::ObjectStore;
use object_store::path::Path;
use std::io;
use std::sync::Arc;

/// The most keys that a listing may have. A server whose pages never end is left, too.
const KEYS_MAX: usize = 1_000_000;

/// What a URL stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listed {
    /// Itself.
    One,
    /// The URLs of these objects, sorted by their bytes. Of a folder, those of records.
    Many(Listing),
    /// An event store, whose folder has this URL, without a slash at its end.
    Store(String),
}

/// What a pattern or a folder stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The URLs.
    pub urls: Vec<String>,
    /// Objects of a folder that are passed by, because their names do not say that they hold records.
    pub passed_by: Vec<String>,
    /// Whether it is a folder.
    pub is_folder: bool,
}

impl Remotes {
    /// What a URL stands for. One that ends with a slash is an event store, if it holds one, or else all objects below
    /// it whose names mark them as JSON, but for hidden ones. `*`, `?`, `[…]`, `{…}` and `**` make a pattern, unless an
    /// object has just this key. Of web servers, every URL stands for itself, as they list nothing.
    ///
    /// # Errors
    /// Those of the store. The words do not name the URL.
    pub fn list(&self, url: &str) -> io::Result<Listed> {
        let address = Address::parse(url)?;
        if address.key.ends_with('/') || address.key.is_empty() {
            let folder = url.trim_end_matches('/');
            if self.has_store(folder)? {
                return Ok(Listed::Store(folder.to_owned()));
            }
            if address.kind == Kind::Web {
                return Ok(Listed::One);
            }
            return self.folder(&address).map(Listed::Many);
        }
        if address.kind == Kind::Web || !address.key.contains(['*', '?', '[', '{']) {
            return Ok(Listed::One);
        }
        let mut urls = Vec::new();
        for pattern in alternatives(&address.key) {
            self.matches(&address, &pattern, &mut urls)?;
        }
        urls.sort_unstable();
        urls.dedup();
        // If nothing matches, the pattern is reported as a missing object, or is its key.
        let listing = Listing { urls, ..Listing::default() };
        Ok(if listing.urls.is_empty() { Listed::One } else { Listed::Many(listing) })
    }

    /// Whether an event store is at a URL. Costs one request.
    ///
    /// # Errors
    /// Those of the store.
    pub fn has_store(&self, url: &str) -> io::Result<bool> {
        let manifest = Address::parse(&format!("{}/MANIFEST", url.trim_end_matches('/')))?;
        match self.open(&manifest.url()) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !words::is_no_bucket(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn folder(&self, address: &Address) -> io::Result<Listing> {
        let mut listing = Listing { is_folder: true, ..Listing::default() };
        let prefix = address.key.as_str();
        for key in self.keys(address, prefix, true)? {
            let Some(below) = key.strip_prefix(prefix) else { continue };
            if below.split('/').any(|part| part.starts_with('.')) {
                continue;
            }
            let url = address.of_key(&key);
            let format = FileFormat::of_own_name(std::path::Path::new(&key));
            if matches!(format, Some(FileFormat::Ndjson | FileFormat::Json)) {
                listing.urls.push(url);
            } else {
                listing.passed_by.push(url);
            }
        }
        listing.urls.sort_unstable();
        listing.passed_by.sort_unstable();
        Ok(listing)
    }

    /// Adds the URLs of the keys that match a pattern without braces.
    fn matches(&self, address: &Address, pattern: &str, urls: &mut Vec<String>) -> io::Result<()> {
        let wrong = |error: glob::PatternError| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("the pattern {pattern} is wrong: {error}"))
        };
        let wanted = glob::Pattern::new(pattern).map_err(wrong)?;
        let plain = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
        let (prefix, rest) = pattern.split_at(pattern[..plain].rfind('/').map_or(0, |slash| slash + 1));
        let options = glob::MatchOptions { require_literal_separator: true, ..glob::MatchOptions::new() };
        for key in self.keys(address, prefix, rest.contains('/') || rest.contains("**"))? {
            if wanted.matches_with(&key, options) {
                urls.push(address.of_key(&key));
            }
        }
        Ok(())
    }

    /// The keys that begin with a prefix, which is empty or ends with a slash; those below folders only if `below` says
    /// so.
    fn keys(&self, address: &Address, prefix: &str, below: bool) -> io::Result<Vec<String>> {
        let any = Address { key: format!("{prefix}-"), ..address.clone() };
        let (store, _) = self.clients.store(&any)?;
        let prefix = Path::parse(prefix).map_err(|error| words::of_key(&error))?;
        let address = address.clone();
        runtime::wait_for(async move { keys(&address, store, prefix, below).await })
    }
}

async fn keys(address: &Address, store: Arc<dyn ObjectStore>, prefix: Path, below: bool) -> io::Result<Vec<String>> {
    let failed = |error: object_store::Error| words::of(address, &error);
    if !below {
        let listed = store.list_with_delimiter(Some(&prefix)).await.map_err(failed)?;
        return Ok(listed.objects.into_iter().map(|object| object.location.to_string()).collect());
    }
    let mut keys = Vec::new();
    let mut listed = store.list(Some(&prefix));
    while let Some(object) = listed.next().await {
        keys.push(object.map_err(failed)?.location.to_string());
        if keys.len() > KEYS_MAX {
            let words =
                format!("there are more than {KEYS_MAX} objects; a longer prefix before the first * lists fewer");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, words));
        }
    }
    Ok(keys)
}
