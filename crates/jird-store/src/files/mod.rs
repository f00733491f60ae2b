//! The operations on files that a store needs, as a trait, so that tests can make every one of them fail and can take
//! the power away between any two.
//!
//! What the store expects of a file system: a renamed file replaces another at once; what was synced survives a loss of
//! power; names of new, renamed and removed files survive after the folder was synced, and before that each of them may
//! or may not.

mod foreign;
mod real;
#[cfg(test)]
pub(crate) mod simulated;
#[cfg_attr(unix, path = "system/unix.rs")]
#[cfg_attr(not(unix), path = "system/elsewhere.rs")]
mod system;
mod unfinished;

use jird::hooks::lines::ReadAt;
use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use foreign::ForeignFiles;
pub use foreign::{Object, Objects};
pub(crate) use real::RealFiles;
pub(crate) use unfinished::Unfinished;

/// The operations on one folder of files.
pub(crate) trait Files: Debug + Send + Sync {
    /// Makes a folder in one that is there.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// The names in a folder.
    fn list(&self, path: &Path) -> io::Result<Vec<String>>;
    /// Makes an empty file to append to, in the place of one that is there already.
    fn create(&self, path: &Path) -> io::Result<Arc<dyn Output>>;
    /// Adds bytes to the end of a file, which is made if it is not there. Several processes may do so.
    fn add(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Opens a file for reading. Anything but a regular file is refused.
    fn open(&self, path: &Path) -> io::Result<Arc<dyn Input>>;
    /// Gives a file another name, and replaces a file that has it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives a regular file a second name, in a folder of the same file system. Nothing may have that name.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Removes a folder that is empty.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a folder survive a loss of power.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// How many bytes can still be written to a folder, as far as the system says.
    fn room(&self, path: &Path) -> io::Result<u64>;
    /// Makes what an earlier process wrote to a file survive a loss of power.
    fn sync_file(&self, path: &Path) -> io::Result<()>;
    /// Whether other processes of this machine may change the files.
    fn is_local(&self) -> bool {
        true
    }
    /// Locks a file, which is made if it is not there; waits for it if `wait` says so. `None` if another has it.
    fn lock(&self, path: &Path, wait: bool) -> io::Result<Option<Box<dyn Lock>>>;
}

/// A file that grows. Only one thread appends to it, while others may sync it.
pub(crate) trait Output: Debug + Send + Sync {
    /// Appends all bytes. After an error, some of them may have been appended.
    fn append(&self, bytes: &[u8]) -> io::Result<()>;
    /// Writes over bytes that are there.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Cuts the file to a length.
    fn truncate(&self, len: u64) -> io::Result<()>;
    /// Makes what was appended survive a loss of power.
    fn sync(&self) -> io::Result<()>;
}

/// A file that is read at any offset.
pub(crate) trait Input: ReadAt + Debug {
    /// How long the file is.
    fn len(&self) -> io::Result<u64>;
}

/// A lock that is held until this is dropped.
pub(crate) trait Lock: Debug + Send + Sync {}

/// Makes a folder, and those above it that are not there. Their names survive a loss of power. Whether the folder was not
/// there.
pub(crate) fn create_dirs(files: &dyn Files, path: &Path) -> io::Result<bool> {
    let above = match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
        Some(parent) => parent.to_owned(),
        None => return Ok(false),
    };
    let made = match files.create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && above != Path::new(".") => {
            create_dirs(files, &above)?;
            files.create_dir(path)
        }
        made => made,
    };
    let is_made = match made {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
        made => made.map(|()| true)?,
    };
    // Also for a folder that is there: a process that was killed may have made it.
    match files.sync_dir(&above) {
        // It may be written to, but not read, and so not synced.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(is_made),
        synced => synced.map(|()| is_made),
    }
}

/// Up to this many bytes are read without first asking how long the file is: that would be a system call for each block.
const UNASKED: u64 = 1 << 20;

/// Reads exactly the bytes of a range into a vector whose memory grows with what is there, whatever `len` claims.
pub(crate) fn read_exact(input: &dyn Input, offset: u64, len: u64, buffer: &mut Vec<u8>) -> io::Result<()> {
    let is_there = |end: &u64| len <= UNASKED || input.len().is_ok_and(|there| *end <= there);
    let end = offset.checked_add(len).filter(is_there);
    let (Some(_), Ok(len)) = (end, usize::try_from(len)) else {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file is too short"));
    };
    // A file may have a length without having that many bytes on disk.
    let more = len.saturating_sub(buffer.len());
    buffer.try_reserve_exact(more).map_err(|_| io::Error::new(io::ErrorKind::OutOfMemory, "the file is too long"))?;
    // The bytes that are there already need not be cleared.
    buffer.resize(len, 0);
    let mut filled = 0;
    while filled < len {
        match input.read_at(&mut buffer[filled..], offset + filled as u64) {
            Ok(0) => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file is too short")),
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads a whole file of at most `bytes_max`.
pub(crate) fn read_whole(files: &dyn Files, path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let input = files.open(path)?;
    let len = input.len()?;
    if len > bytes_max {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("{len} bytes are too many for such a file")));
    }
    let mut bytes = Vec::new();
    read_exact(&*input, 0, len, &mut bytes)?;
    Ok(bytes)
}

/// A number that no other call returns, in no process.
pub(crate) fn random() -> u64 {
    // Its keys are random in each process, and other ones in each call.
    std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), std::process::id())
}

/// The checksum of everything on disk: XXH3, 64 bits, seed 0.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    twox_hash::XxHash3_64::oneshot(bytes)
}

/// Whether bytes have this checksum. A fuzzer could not make a right one, and would never come past it: for it, any is.
pub(crate) fn has_checksum(bytes: &[u8], sum: u64) -> bool {
    cfg!(fuzzing) || checksum(bytes) == sum
}

/// The low half of a checksum, where there are many.
pub(crate) fn checksum_low(bytes: &[u8]) -> u32 {
    checksum(bytes) as u32
}

/// The same for the low half.
pub(crate) fn has_checksum_low(bytes: &[u8], sum: u32) -> bool {
    cfg!(fuzzing) || checksum_low(bytes) == sum
}
