//! The file `SEAL`: a wish of another process that the writer seals its logs, which it looks at twice a second.
//!
//! It says up to which event. A wish that is fulfilled, or that nobody took back, asks for nothing more.

use crate::error::Error;
use crate::files::{Unfinished, read_whole};
use crate::manifest::Folder;
use std::time::Duration;

const NAME: &str = "SEAL";
const NEW_NAME: &str = "SEAL.new";
/// How often a writer looks for it.
pub(crate) const EVERY: Duration = Duration::from_millis(if cfg!(test) { 2 } else { 500 });
/// An identity, a space, an arrival number, a line feed.
const BYTES_MAX: u64 = 64;

/// The arrival number below which all events of the store are to be sealed, if there is such a wish.
pub(crate) fn read(folder: &Folder, store: u64) -> Option<u64> {
    let bytes = read_whole(&*folder.files, &folder.file(NAME), BYTES_MAX).ok()?;
    let (of, arrivals) = std::str::from_utf8(&bytes).ok()?.strip_suffix('\n')?.split_once(' ')?;
    arrivals.parse().ok().filter(|_| of == format!("{store:016x}"))
}

/// Takes back a wish that its process has left.
pub(crate) fn discard(folder: &Folder) {
    [NAME, NEW_NAME].iter().for_each(|name| folder.discard(&folder.file(name)));
}

/// A wish. It is taken back when this is dropped. Whoever makes one has the lock of maintenance.
#[derive(Debug)]
pub(crate) struct SealRequest<'f>(&'f Folder);

impl<'f> SealRequest<'f> {
    /// Wishes that all events below an arrival number are sealed.
    pub(crate) fn make(folder: &'f Folder, store: u64, arrivals: u64) -> Result<Self, Error> {
        let path = folder.file(NAME);
        let make = || {
            let (file, unfinished) = Unfinished::create(&folder.files, &folder.file(NEW_NAME))?;
            file.append(format!("{store:016x} {arrivals}\n").as_bytes())?;
            unfinished.rename(&path)
        };
        make().map_err(|error| Error::io("make", &path, &error))?;
        Ok(Self(folder))
    }
}

impl Drop for SealRequest<'_> {
    fn drop(&mut self) {
        self.0.discard(&self.0.file(NAME));
    }
}
