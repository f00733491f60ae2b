//! The inputs of all commands: files, or standard input.

use crate::outcome::BadData;
use crate::progress::Amount;
use crate::remote::{self, Open};
use anyhow::{Context, anyhow, bail};
use jird::hooks::lines::ReadAt;
#[cfg(feature = "convert")]
use jird_formats::ErrorKind;
use jird_formats::encoding::{Encoding, blank_mark, stray_mark};
use jird_formats::files::{self, Local, Reader, Text, is_url, plain_name, widened};
#[cfg(feature = "convert")]
use jird_formats::sqlite::{self, rusqlite::Connection};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A file, or standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Stdin,
    File(PathBuf),
    /// A URL, and why it cannot be opened, if that is known.
    Url {
        url: PathBuf,
        failure: Option<String>,
    },
}

impl Input {
    /// The name `-` means standard input.
    pub(crate) fn new(name: &Path) -> Self {
        if name == Path::new("-") {
            return Self::Stdin;
        }
        let name = name.to_owned();
        if is_url(&name) { Self::Url { url: name, failure: None } } else { Self::File(name) }
    }

    /// The inputs that the user named, or standard input if there are none. URLs of patterns and of folders stand for
    /// several.
    pub(crate) fn all(names: &[PathBuf]) -> Vec<Self> {
        let named = |name: &PathBuf| {
            if !is_url(name) {
                return vec![Self::new(name)];
            }
            remote::expand(name).into_iter().map(|(url, failure)| Self::Url { url, failure }).collect()
        };
        if names.is_empty() { vec![Self::Stdin] } else { names.iter().flat_map(named).collect() }
    }

    /// The name that messages use.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Stdin => "<stdin>".into(),
            Self::File(path) | Self::Url { url: path, .. } => path.display().to_string(),
        }
    }

    /// The path or the URL.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Stdin => None,
            Self::File(path) | Self::Url { url: path, .. } => Some(path),
        }
    }

    /// Opens a URL.
    pub(crate) fn remote(url: &Path, failure: Option<&String>) -> anyhow::Result<Open> {
        match failure {
            Some(failure) => bail!("{}: {failure}", url.display()),
            None => remote::open(url),
        }
    }

    /// The input, decompressed.
    pub(crate) fn open(&self, read: &Counter) -> anyhow::Result<Text> {
        let text = match self {
            Self::Stdin => Text::open(Box::new(read.count(widened(io::stdin()))), None),
            Self::File(path) => Text::open(Box::new(read.count(open(path)?)), Some(path)),
            Self::Url { url, failure } => {
                let (reader, len): (Reader, u64) = match Self::remote(url, failure.as_ref())? {
                    Open::File(file) => (Box::new(file.reader()), file.len()),
                    Open::Once(reader, len) => (reader, len),
                };
                read.expect(Some(len));
                Text::open(Box::new(read.count(reader)), Some(plain_name(url)))
            }
        };
        text.with_context(|| self.name())
    }

    /// The size of the file; `None` for a pipe.
    fn len(&self) -> Option<u64> {
        let path = match self {
            Self::Stdin => return None,
            Self::File(path) => path,
            // It is expected when it is opened.
            Self::Url { .. } => return Some(0),
        };
        // A file that is not there is reported when it is opened.
        path.metadata().map_or(Some(0), |meta| meta.is_file().then_some(meta.len()))
    }

    /// Whether another program may still be writing the input.
    pub(crate) fn is_live(&self) -> bool {
        match self {
            Self::Stdin => true,
            Self::File(path) => !path.is_file(),
            Self::Url { .. } => false,
        }
    }

    /// The whole input, as a document to be parsed. A byte order mark is replaced by blanks.
    ///
    /// # Errors
    /// [`BadData`] if the text is in an encoding other than UTF-8; also errors of reading.
    pub(crate) fn document(&self) -> anyhow::Result<Vec<u8>> {
        let mut text = self.read(&Counter::default())?;
        if let Some(encoding) = Encoding::of(&text) {
            return Err(BadData(format!("{}: {encoding}", self.name())).into());
        }
        blank_mark(&mut text);
        Ok(text)
    }

    /// The message that this document is wrong, and where.
    pub(crate) fn wrong(&self, error: &jird::Error, text: &[u8]) -> BadData {
        let found = usize::try_from(error.offset()).ok().and_then(|at| text.get(at..)).unwrap_or_default();
        let stray = stray_mark(found).map_or_else(String::new, |mark| format!("{mark}: "));
        BadData(format!("{}: {stray}{}", self.name(), error.locate(text)))
    }

    /// The whole input, decompressed.
    pub(crate) fn read(&self, read: &Counter) -> anyhow::Result<Vec<u8>> {
        let mut text = Vec::new();
        if let Self::File(path) = self {
            let len = path.metadata().map_or(0, |meta| meta.len());
            text.try_reserve(usize::try_from(len).unwrap_or(usize::MAX)).map_err(io::Error::other)?;
        }
        self.open(read)?.into_reader().read_to_end(&mut text).with_context(|| self.name())?;
        Ok(text)
    }
}

/// Counts the bytes that are read of all inputs, before decompression. Clones share their counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counter(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    read: AtomicU64,
    /// How many will be read.
    all: AtomicU64,
    /// How many inputs are pipes that have not ended, so that the total is unknown.
    pipes: AtomicU64,
    /// Whether bytes are read that are not counted.
    is_uncounted: AtomicBool,
}

impl Counter {
    /// A counter of all bytes of these inputs.
    pub(crate) fn of(inputs: &[Input]) -> Self {
        let counter = Self::default();
        inputs.iter().for_each(|input| counter.expect(input.len()));
        counter
    }

    /// Expects `len` more bytes; `None` if the number is unknown.
    pub(crate) fn expect(&self, len: Option<u64>) {
        match len {
            Some(len) => _ = self.0.all.fetch_add(len, Ordering::Relaxed),
            None => _ = self.0.pipes.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// A pipe has ended after this many bytes.
    #[cfg(feature = "convert")]
    pub(crate) fn pipe_ended(&self, bytes: u64) {
        self.expect(Some(bytes));
        self.0.pipes.fetch_sub(1, Ordering::Relaxed);
    }

    /// From now on bytes are read that are not counted.
    #[cfg(feature = "convert")]
    pub(crate) fn leave_uncounted(&self) {
        self.0.is_uncounted.store(true, Ordering::Relaxed);
    }

    /// How many bytes were read; `None` if some were not counted.
    #[cfg(feature = "convert")]
    pub(crate) fn read(&self) -> Option<u64> {
        let Counts { read, is_uncounted, .. } = &*self.0;
        (!is_uncounted.load(Ordering::Relaxed)).then(|| read.load(Ordering::Relaxed))
    }

    /// Counts from zero again. Returns how many bytes were read before.
    #[cfg(feature = "convert")]
    pub(crate) fn restart(&self) -> u64 {
        self.0.read.swap(0, Ordering::Relaxed)
    }

    /// What is done, for the progress line.
    pub(crate) fn done(&self) -> Amount {
        let Counts { read, all, pipes, is_uncounted } = &*self.0;
        if is_uncounted.load(Ordering::Relaxed) {
            return Amount::Uncounted;
        }
        let is_known = pipes.load(Ordering::Relaxed) == 0;
        Amount::Bytes(read.load(Ordering::Relaxed), is_known.then(|| all.load(Ordering::Relaxed)))
    }

    /// A reader whose bytes are counted.
    pub(crate) fn count<R>(&self, inner: R) -> Counted<R> {
        Counted { inner, counter: self.clone() }
    }

    fn add(&self, bytes: u64) {
        self.0.read.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Counts the bytes that are read.
#[derive(Debug)]
pub(crate) struct Counted<R> {
    inner: R,
    counter: Counter,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.counter.add(read as u64);
        Ok(read)
    }
}

impl<R: ReadAt> ReadAt for Counted<R> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let read = self.inner.read_at(buffer, offset)?;
        self.counter.add(read as u64);
        Ok(read)
    }
}

/// Opens a database for reading.
#[cfg(feature = "convert")]
pub(crate) fn database(path: &Path) -> anyhow::Result<Connection> {
    // SQLite's own message for a missing file does not name the file.
    drop(local(path)?);
    let opening = match sqlite::open_read_only(path) {
        // A writer was ended in the middle of a transaction. Only a connection that may write can roll it back, so this
        // opens one first, as every program that opens the file would.
        Err(error) if error.kind() == ErrorKind::ReadOnly => {
            sqlite::open(path).map(drop).and_then(|()| sqlite::open_read_only(path))
        }
        opening => opening,
    };
    let name = || path.display().to_string();
    opening
        .map_err(|error| match error.kind() {
            ErrorKind::Locked => anyhow!("{error}; {LOCKED}"),
            _ => error.into(),
        })
        .with_context(name)
}

/// The advice for a locked database.
#[cfg(feature = "convert")]
pub(crate) const LOCKED: &str = "another program is at it: try again when that is done";

/// Opens a file for reading, which may not be a database.
pub(crate) fn open(path: &Path) -> anyhow::Result<File> {
    match local(path)? {
        Local::File(file) => Ok(file),
        Local::Database => Err(of_database(&path.display().to_string())),
    }
}

/// A database stands where a text is needed.
#[cold]
pub(crate) fn of_database(name: &str) -> anyhow::Error {
    BadData(format!("{name}: it is a database of SQLite, and no text")).into()
}

/// Opens a file for reading, unless it is a database. Directories are refused here, because here the message can name
/// them.
pub(crate) fn local(path: &Path) -> anyhow::Result<Local> {
    if is_url(path) {
        bail!("{}: is a URL, and a file of this machine is needed here", path.display());
    }
    if path.is_dir() {
        bail!("{}: is a directory; name the files in it", path.display());
    }
    files::open(path).map_err(|error| {
        let is_pattern = error.kind() == io::ErrorKind::NotFound && path.to_string_lossy().contains(['*', '?', '[']);
        let hint = if is_pattern { "; no file has a name like this" } else { "" };
        anyhow!("{}: {error}{hint}", path.display())
    })
}
