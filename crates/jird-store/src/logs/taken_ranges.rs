//! `TAKEN`: how many events were acknowledged, next to the log that has them.
//!
//! ```text
//! two slots of 512 bytes, the rest of each is 0:
//!        "jirdtkn1"  8 bytes
//!        identity of the store     u64
//!        arrival number of the next event u64    all before it were acknowledged
//!        checksum of all above     u64
//! ```
//!
//! The log alone cannot tell a batch that was being written when the process ended from one that was acknowledged and
//! damaged later. The writer notes here what it acknowledges, in one slot after the other, so that one is always whole. It
//! does not sync the file: the end of a process costs nothing that was written, and after a loss of power an older note
//! is still true. When a writer ends, the manifest has the number.

use crate::error::Error;
use crate::files::{Output, Unfinished, checksum, has_checksum, read_whole};
use crate::manifest::Folder;
use std::sync::Arc;

const NAME: &str = "TAKEN";
const NEW_NAME: &str = "TAKEN.new";
const MAGIC: &[u8; 8] = b"jirdtkn1";
/// Two slots lie in two sectors of a disk.
const SLOT_BYTES: usize = 512;
const NOTE_BYTES: usize = 32;

/// What is noted.
#[derive(Clone, Debug, Default)]
pub(crate) struct TakenRanges(Vec<(u64, u64)>);

impl TakenRanges {
    /// Reads the notes. A reader that runs next to a writer reads them before the manifest: then the files that the
    /// manifest names have all that they say. If they cannot be read, nothing is known.
    pub(crate) fn read(folder: &Folder) -> Self {
        if !folder.files.is_local() {
            return Self::default();
        }
        let bytes = read_whole(&*folder.files, &folder.file(NAME), 2 * SLOT_BYTES as u64).unwrap_or_default();
        Self(bytes.chunks(SLOT_BYTES).filter_map(note).collect())
    }

    /// The arrival number below which everything was acknowledged in a store, as far as it is noted.
    pub(crate) fn of(&self, store: u64) -> u64 {
        self.0.iter().filter(|(of, _)| *of == store).map(|(_, arrivals)| *arrivals).max().unwrap_or_default()
    }
}

impl TakenRanges {
    /// Whether something is noted of a store.
    pub(crate) fn knows(&self, store: u64) -> bool {
        self.0.iter().any(|(of, _)| *of == store)
    }
}

fn note(slot: &[u8]) -> Option<(u64, u64)> {
    let note = slot.get(..NOTE_BYTES)?.strip_prefix(MAGIC)?;
    let [store, arrivals, sum] =
        [0, 8, 16].map(|at| u64::from_le_bytes(note[at..at + 8].try_into().unwrap_or_default()));
    let is_whole = has_checksum(&slot[..NOTE_BYTES - 8], sum) && arrivals < u64::MAX / 2;
    is_whole.then_some((store, arrivals))
}

/// The file, for a writer.
#[derive(Debug)]
pub(crate) struct TakenFile {
    file: Arc<dyn Output>,
    store: u64,
    is_second: bool,
}

impl TakenFile {
    /// Makes the file in the place of an earlier one. The manifest has what that said.
    pub(crate) fn create(folder: &Folder, store: u64, arrivals: u64) -> Result<Self, Error> {
        let (new, path) = (folder.file(NEW_NAME), folder.file(NAME));
        let make = || {
            let (file, unfinished) = Unfinished::create(&folder.files, &new)?;
            let mut slots = [0; 2 * SLOT_BYTES];
            slots[..NOTE_BYTES].copy_from_slice(&bytes(store, arrivals));
            file.append(&slots)?;
            unfinished.rename(&path)?;
            Ok(file)
        };
        let file = make().map_err(|error| Error::io("make", &path, &error))?;
        Ok(Self { file, store, is_second: false })
    }

    /// Notes that all events below an arrival number are acknowledged. If that fails, the last note stays.
    pub(crate) fn note(&mut self, arrivals: u64) {
        self.is_second = !self.is_second;
        let offset = if self.is_second { SLOT_BYTES as u64 } else { 0 };
        let _ = self.file.write_at(&bytes(self.store, arrivals), offset);
    }
}

fn bytes(store: u64, arrivals: u64) -> [u8; NOTE_BYTES] {
    let mut note = [0; NOTE_BYTES];
    note[..8].copy_from_slice(MAGIC);
    note[8..16].copy_from_slice(&store.to_le_bytes());
    note[16..24].copy_from_slice(&arrivals.to_le_bytes());
    let sum = checksum(&note[..24]);
    note[24..].copy_from_slice(&sum.to_le_bytes());
    note
}
