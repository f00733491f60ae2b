//! Readers that count what is read.

use super::Progress;
use super::remote::AnyFile;
use jird::hooks::lines::ReadAt;
use jird_formats::encoding::Unmarked;
use jird_formats::files::{Reader, Spooling};
use std::io::{self, Read};
use std::sync::Arc;

/// A file that several threads may read at any offset.
#[derive(Debug)]
pub(crate) enum PositionedFile {
    Whole(Unmarked<AnyFile>, Arc<Progress>),
    /// A copy that is still made, whose bytes are counted there.
    Copying(Spooling),
}

impl ReadAt for PositionedFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            Self::Whole(text, progress) => {
                let read = text.read_at(buffer, offset)?;
                progress.add(read as u64);
                Ok(read)
            }
            Self::Copying(spooling) => spooling.read_at(buffer, offset),
        }
    }
}

/// Counts the bytes that are read.
pub(super) struct Counted {
    pub(super) inner: Reader,
    pub(super) progress: Arc<Progress>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.progress.add(read as u64);
        Ok(read)
    }
}
