//! The ballast: a file whose only use is that it can be removed. It makes the room for the manifest of a store without
//! its old events, when a disk is so full that nothing else can be written.

use super::{Folder, NAME};
use std::io;

const BALLAST_NAME: &str = "BALLAST";
/// The ballast grows in steps of this size.
const STEP: u64 = 64 << 10;

impl Folder {
    /// Makes the ballast if there is none, or one that is too small: it has room for the manifest twice, and for some
    /// blocks of folders and journals. On a disk that is nearly full it is what room there is. It is a precaution:
    /// without it, everything works but the first steps out of a full disk.
    pub(crate) fn keep_ballast(&self) {
        let path = self.file(BALLAST_NAME);
        let len = |name: &str| self.files.open(&self.file(name)).and_then(|file| file.len());
        let wanted = STEP + (2 * len(NAME).unwrap_or_default()).next_multiple_of(STEP);
        if len(BALLAST_NAME).is_ok_and(|len| len >= wanted) {
            return;
        }
        let fill = || -> io::Result<()> {
            let file = self.files.create(&path)?;
            // What is there at an error is kept.
            let filled = (0..wanted / STEP).try_for_each(|step| file.append(&noise(step)));
            filled.and(file.sync())
        };
        if fill().is_ok() {
            let _ = self.files.sync_dir(&self.path);
        }
    }

    /// Makes room. Whether there was a ballast.
    pub(super) fn free_ballast(&self) -> bool {
        let is_freed = self.files.remove(&self.file(BALLAST_NAME)).is_ok();
        // Some file systems free the room of a file when its folder is on disk.
        is_freed && self.files.sync_dir(&self.path).is_ok()
    }
}

/// A step of bytes that no file system makes smaller.
fn noise(step: u64) -> Vec<u8> {
    let mut state = step;
    let word = |_| {
        // Splitmix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)).to_le_bytes()
    };
    (0..STEP / 8).flat_map(word).collect()
}
