//! One remote object that can be read at any offset.

use super::address::Address;
use super::blocks::{BlockLayout, Blocks};
use super::clients::Clients;
use super::download::Download;
use super::watch::{Limits, Refusal};
use super::{Remote, Remotes, words};
use futures_util::StreamExt;
use jird::hooks::lines::ReadAt;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore, ObjectStoreExt};
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A remote object. Clones share what was fetched of it. Several threads may read it at any offset.
///
/// All of it is from one version of the object: if the store has another one in its place, reading fails.
#[derive(Clone, Debug)]
pub struct RemoteFile {
    object: Arc<Object>,
    /// An object keeps its blocks until the last view of it, such as this one, is gone.
    owner: Arc<Owner>,
}

/// How a remote object is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// From one end to the other, perhaps by several threads, each its part: ranges are fetched ahead.
    InOrder,
    /// Here and there: what is asked for is fetched, in units of 256 kB.
    Anywhere,
}

/// An object, and how it is fetched.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) number: u64,
    pub(super) len: u64,
    pub(super) cut: BlockLayout,
    pub(super) limits: Arc<Limits>,
    address: Address,
    store: Arc<dyn ObjectStore>,
    path: Path,
    version: Version,
}

/// What tells versions of an object apart.
#[derive(Clone, Debug, PartialEq)]
struct Version {
    tag: Option<String>,
    modified: i64,
    size: u64,
}

/// Removes the blocks of an object when it is no longer read.
#[derive(Debug)]
struct Owner {
    blocks: Arc<Blocks>,
    number: u64,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.blocks.forget(self.number);
    }
}

impl Version {
    fn of(meta: &ObjectMeta) -> Self {
        Self { tag: meta.e_tag.clone(), modified: meta.last_modified.timestamp(), size: meta.size }
    }
}

/// The number of the next object.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Opens an object: fetches its first bytes, which say how long it is.
pub(super) async fn open(remotes: &Remotes, address: &Address) -> io::Result<Remote> {
    let clients: &Clients = &remotes.clients;
    if address.kind != super::address::Kind::Web && (address.key.is_empty() || address.key.ends_with('/')) {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a folder; name the objects in it"));
    }
    let (store, path) = clients.store(address)?;
    let range = 0..remotes.blocks.head_bytes();
    let options = GetOptions { range: Some(GetRange::Bounded(range)), ..GetOptions::default() };
    let (meta, head) = match store.get_opts(&path, options).await {
        Ok(result) => {
            let meta = result.meta.clone();
            let range = 0..remotes.blocks.head_bytes().min(meta.size);
            (meta, collect(result, &range, Vec::new()).await.map_err(|error| of(address, error))?)
        }
        Err(error) if matches!(words::refused(&error), Some(Refusal::NoRanges)) => {
            return Download::start(address.clone(), store, path).await.map(Remote::Whole);
        }
        // Nothing has no first byte.
        Err(error) if words::is_no_range(&error) => match store.head(&path).await {
            Ok(meta) if meta.size == 0 => (meta, Vec::new()),
            _ => return Err(words::of(address, &error)),
        },
        Err(error) => return Err(words::of(address, &error)),
    };
    let number = NEXT.fetch_add(1, Relaxed);
    let blocks = Arc::clone(&remotes.blocks);
    let limits = Arc::clone(&clients.limits);
    let version = Version::of(&meta);
    let (address, len, cut) = (address.clone(), meta.size, BlockLayout::Lines);
    let object = Object { number, len, cut, limits, address, store, path, version };
    if !head.is_empty() {
        blocks.keep_head(number, head);
    }
    Ok(Remote::File(RemoteFile { object: Arc::new(object), owner: Arc::new(Owner { blocks, number }) }))
}

/// An error on the way: of the store, or of ours.
enum Failure {
    Store(object_store::Error),
    Ours(io::Error),
}

fn of(address: &Address, failure: Failure) -> io::Error {
    match failure {
        Failure::Store(error) => words::of(address, &error),
        Failure::Ours(error) => error,
    }
}

/// The bytes of an answer, which must be exactly those of a range.
async fn collect(result: GetResult, range: &Range<u64>, mut bytes: Vec<u8>) -> Result<Vec<u8>, Failure> {
    let expected = range.end - range.start;
    if result.range != *range {
        let got = format!("{}-{}", result.range.start, result.range.end);
        let refused = Refusal::OtherRange { asked: range.clone(), got };
        return Err(Failure::Ours(io::Error::new(io::ErrorKind::InvalidData, refused.to_string())));
    }
    bytes.clear();
    let len = usize::try_from(expected).unwrap_or(usize::MAX);
    bytes.try_reserve_exact(len).map_err(|error| Failure::Ours(io::Error::new(io::ErrorKind::OutOfMemory, error)))?;
    let mut parts = result.into_stream();
    while let Some(part) = parts.next().await {
        let part = part.map_err(Failure::Store)?;
        if bytes.len() + part.len() > len {
            return Err(Failure::Ours(io::Error::new(io::ErrorKind::InvalidData, Refusal::TooLong.to_string())));
        }
        bytes.extend_from_slice(&part);
    }
    if bytes.len() < len {
        let cut = Refusal::CutOff { expected, got: bytes.len() as u64 };
        return Err(Failure::Ours(io::Error::new(io::ErrorKind::ConnectionAborted, cut.to_string())));
    }
    Ok(bytes)
}

impl Object {
    /// Fetches a range, which is within the object, into memory that may be used again.
    pub(super) async fn fetch(&self, range: Range<u64>, memory: Vec<u8>) -> io::Result<Vec<u8>> {
        let options = GetOptions { range: Some(GetRange::Bounded(range.clone())), ..GetOptions::default() };
        let fetched = match self.store.get_opts(&self.path, options).await {
            Ok(result) if Version::of(&result.meta) != self.version => {
                return Err(io::Error::new(io::ErrorKind::InvalidData, words::CHANGED));
            }
            Ok(result) => collect(result, &range, memory).await,
            // The object is shorter than it was.
            Err(error) if words::is_no_range(&error) => {
                return Err(io::Error::new(io::ErrorKind::InvalidData, words::CHANGED));
            }
            Err(error) => Err(Failure::Store(error)),
        };
        fetched.map_err(|failure| of(&self.address, failure))
    }
}

impl RemoteFile {
    /// The length of the object, in bytes.
    #[expect(clippy::len_without_is_empty, reason = "as of a file")]
    pub fn len(&self) -> u64 {
        self.object.len
    }

    /// What tells this version of the object from others, for another process that reads the same one.
    pub fn version(&self) -> String {
        let Version { tag, modified, size } = &self.object.version;
        format!("{} {modified} {size}", tag.as_deref().unwrap_or("-"))
    }

    /// The same object, read in another way.
    #[must_use]
    pub fn with_access(&self, access: Access) -> Self {
        let cut = match access {
            Access::InOrder => BlockLayout::Lines,
            Access::Anywhere => BlockLayout::Parts,
        };
        if cut == self.object.cut {
            return self.clone();
        }
        let Object { len, limits, address, store, path, version, .. } = &*self.object;
        let number = NEXT.fetch_add(1, Relaxed);
        let object = Object {
            number,
            len: *len,
            cut,
            limits: Arc::clone(limits),
            address: address.clone(),
            store: Arc::clone(store),
            path: path.clone(),
            version: version.clone(),
        };
        let blocks = Arc::clone(&self.owner.blocks);
        Self { object: Arc::new(object), owner: Arc::new(Owner { blocks, number }) }
    }

    /// A reader of the whole object. Any number of readers can be used at once.
    pub fn reader(&self) -> RemoteReader {
        self.reader_from(0)
    }

    /// A reader from an offset on.
    pub fn reader_from(&self, at: u64) -> RemoteReader {
        RemoteReader { file: self.clone(), at }
    }

    fn read(&self, buffer: &mut [u8], offset: u64, is_stream: bool) -> io::Result<usize> {
        if buffer.is_empty() || offset >= self.object.len {
            return Ok(0);
        }
        self.owner.blocks.read_at(&self.object, buffer, offset, is_stream)
    }
}

impl ReadAt for RemoteFile {
    /// Reads at most to the end of a block.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.read(buffer, offset, false)
    }
}

/// Reads a remote object from one end to the other.
#[derive(Debug)]
pub struct RemoteReader {
    file: RemoteFile,
    at: u64,
}

impl Read for RemoteReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer, self.at, true)?;
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(feature = "parquet")]
impl RemoteFile {
    /// As of a Parquet reader.
    pub(super) fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<bytes::Bytes> {
        use parquet::errors::ParquetError;
        if start.checked_add(length as u64).is_none_or(|end| end > self.object.len) {
            return Err(ParquetError::EOF(format!("the file has no {length} bytes from byte {start} on")));
        }
        let mut bytes = vec![0; length];
        let mut filled = 0;
        while filled < length {
            match self.read_at(&mut bytes[filled..], start + filled as u64)? {
                0 => return Err(ParquetError::EOF("the file is too short".to_owned())),
                read => filled += read,
            }
        }
        Ok(bytes.into())
    }
}
