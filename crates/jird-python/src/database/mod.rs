//! SQLite databases as targets.
//!
//! The process that Python runs in never opens a database. It may have one open by a library of its own, such as
//! Python's `sqlite3`, and the system's locks belong to processes: two copies of SQLite in one process do not see each
//! other's locks, and whichever closes a file drops the locks of both
//! (<https://sqlite.org/howtocorrupt.html>, §2.2). So a process of its own writes the rows, which `jird._writer` starts and
//! feeds.
//!
//! ```text
//! cells    values of rows as bytes
//! objects  objects → frames of such rows
//! batches  a stream of Arrow → frames of its batches; and their rows
//! writer   what the other process does: frames → rows of a table
//! ```
//!
//! A frame is its length in 8 bytes, and as many bytes. Instead of a length, [`END`] says that there are no more, and that
//! what was sent is to be committed; [`ABANDONED`] that it is to be forgotten, as it also is if the sender is gone.

mod batches;
mod cells;
mod objects;
mod writer;

pub(crate) use batches::Frames;
pub(crate) use objects::frame_of;
pub(crate) use writer::write_databases;

/// Instead of the length of a frame: commit.
pub(crate) const END: u64 = 0;

/// Instead of the length of a frame: forget all of it.
pub(crate) const ABANDONED: u64 = u64::MAX;

/// Bytes of the length of a frame.
const HEAD: usize = 8;

/// Puts the length of the rest before it, in the first [`HEAD`] bytes.
fn close(frame: &mut [u8]) {
    let len = (frame.len() - HEAD) as u64;
    frame[..HEAD].copy_from_slice(&len.to_le_bytes());
}
