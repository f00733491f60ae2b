//! The lock of those who care for a store, and removing what a crash left behind.

use crate::error::{Error, ErrorKind};
use crate::files::Lock;
use crate::manifest::Folder;

/// The lock of the writer.
pub(crate) const WRITER_LOCK: &str = "LOCK";

/// The lock of those who write span files: a compaction holds it while its files are in no manifest yet.
const CARE_LOCK: &str = "LOCK.care";

/// Takes the lock of those who write span files beside a writer.
pub(crate) fn care_lock(folder: &Folder) -> Result<Box<dyn Lock>, Error> {
    let path = folder.file(CARE_LOCK);
    let lock = folder.files.lock(&path, false).map_err(|error| Error::io("lock", &path, &error))?;
    lock.ok_or_else(|| {
        let path = folder.path.display();
        Error::new(ErrorKind::Locked, format!("another process compacts or repairs the store in {path}"))
    })
}

/// Removes span and log files that no manifest names. The caller has the lock of the writer; if a compaction is at work,
/// nothing is removed. How many files went.
pub(crate) fn orphans(folder: &Folder) -> Result<usize, Error> {
    let path = folder.file(CARE_LOCK);
    let lock = folder.files.lock(&path, false).map_err(|error| Error::io("lock", &path, &error))?;
    if lock.is_none() {
        return Ok(0);
    }
    // The loss of power that the last change of the manifest does not survive would bring the one before back, and with it
    // the names of what goes here.
    folder.sync()?;
    let manifest = folder.manifest()?;
    let mut named = std::collections::HashSet::new();
    for span in &manifest.spans {
        named.insert(folder.span(span.number));
        named.insert(folder.index(span.number));
    }
    named.extend(manifest.logs.iter().map(|log| folder.log(log.number)));
    let names = folder.files.list(&folder.path).map_err(|error| Error::io("list", &folder.path, &error))?;
    folder.discard_new_manifest()?;
    let ours = names.iter().filter(|name| is_ours(name)).map(|name| folder.file(name));
    Ok(ours.filter(|file| !named.contains(file)).inspect(|file| folder.discard(file)).count())
}

/// Whether a name is one that this crate gives to span, index and log files, and to half-written ones.
fn is_ours(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let of_span = |rest: &str| {
        let ends = [".arrow", ".index", ".index.new"];
        ends.iter().any(|end| rest.strip_suffix(end).is_some_and(is_number))
    };
    name == "SAVED.new"
        || name.strip_prefix("log-").is_some_and(is_number)
        || name.strip_prefix("span-").is_some_and(of_span)
}
