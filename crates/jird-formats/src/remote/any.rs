//! A file of this machine, or a remote one.

use super::RemoteFile;
use jird::hooks::lines::ReadAt;
use std::fs::File;
use std::io;

/// A file of this machine, or a remote one, which is read at any offset.
#[derive(Debug)]
pub enum AnyFile {
    /// A file of this machine.
    Local(File),
    /// A remote one.
    Remote(RemoteFile),
}

impl From<File> for AnyFile {
    fn from(file: File) -> Self {
        Self::Local(file)
    }
}

impl ReadAt for AnyFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            Self::Local(file) => file.read_at(buffer, offset),
            Self::Remote(file) => file.read_at(buffer, offset),
        }
    }
}

#[cfg(feature = "parquet")]
impl parquet::file::reader::Length for AnyFile {
    fn len(&self) -> u64 {
        match self {
            Self::Local(file) => file.len(),
            Self::Remote(file) => file.len(),
        }
    }
}

#[cfg(feature = "parquet")]
impl parquet::file::reader::ChunkReader for AnyFile {
    type T = io::BufReader<crate::files::Reader>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        Ok(io::BufReader::new(match self {
            // What it has of the file's buffer is read again: it is a reader of its own.
            Self::Local(file) => Box::new(file.get_read(start)?),
            Self::Remote(file) => Box::new(file.reader_from(start)),
        }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<bytes::Bytes> {
        match self {
            Self::Local(file) => file.get_bytes(start, length),
            Self::Remote(file) => file.get_bytes(start, length),
        }
    }
}
