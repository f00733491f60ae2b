//! Inputs, decompressed and counted, which can be read again.

use super::format::Format;
use crate::input::{self, Input};
use anyhow::{Context, Result, bail};
use jird_formats::files::{Compression, MAGIC_BYTES, Text};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Text or bytes, decompressed.
pub(crate) type Reader = BufReader<jird_formats::files::Reader>;

/// Bytes read at a time.
const BUFFER_BYTES: usize = 1 << 18;

/// All of a text.
pub(crate) fn buffered(text: Text) -> Reader {
    BufReader::with_capacity(BUFFER_BYTES, text.into_reader())
}

/// How many bytes were read of all inputs, as they lie in their files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counter(Arc<AtomicU64>);

impl Counter {
    /// So far.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// An input that is open: a file; or standard input or another pipe, of which what was read is kept on disk if it must be read
/// again.
#[derive(Debug)]
pub(crate) struct Opened {
    /// For messages.
    pub(crate) name: String,
    path: Option<PathBuf>,
    /// What can be read again.
    file: Option<File>,
    /// What cannot; standard input if it is not there either.
    pipe: Option<File>,
    counter: Counter,
}

impl Opened {
    /// Opens it.
    pub(crate) fn new(input: &Input, counter: &Counter) -> Result<Self> {
        let opened = Self { name: input.name(), path: None, file: None, pipe: None, counter: counter.clone() };
        let Input::File(path) = input else { return Ok(opened) };
        let file = input::open(path)?;
        let is_file = file.metadata().with_context(|| input.name())?.is_file();
        let (file, pipe) = if is_file { (Some(file), None) } else { (None, Some(file)) };
        Ok(Self { path: Some(path.clone()), file, pipe, ..opened })
    }

    /// The size of the file; zero if it is no file.
    pub(crate) fn len(&self) -> u64 {
        self.file.as_ref().and_then(|file| file.metadata().ok()).map_or(0, |meta| meta.len())
    }

    /// Whether somebody may be writing it: what has come is wanted before the rest has.
    pub(crate) fn is_live(&self) -> bool {
        self.file.is_none()
    }

    /// What its name says.
    pub(crate) fn format_of_name(&self) -> Option<Format> {
        self.path.as_deref().and_then(Format::of_name)
    }

    /// Where it lies; a pipe lies nowhere.
    pub(crate) fn path(&self) -> Option<&Path> {
        if self.pipe.is_some() { None } else { self.path.as_deref() }
    }

    /// Makes sure that it can be read more than once: a pipe is copied to a file that nobody else sees.
    pub(crate) fn spool(&mut self) -> Result<()> {
        if self.file.is_none() {
            let mut file = tempfile::tempfile().with_context(|| format!("no place for a copy of {}", self.name))?;
            match &mut self.pipe {
                Some(pipe) => io::copy(pipe, &mut file),
                None => io::copy(&mut io::stdin().lock(), &mut file),
            }
            .with_context(|| format!("copying {}", self.name))?;
            self.file = Some(file);
        }
        Ok(())
    }

    /// Its bytes from the start, decompressed.
    pub(crate) fn read(&mut self) -> Result<Text> {
        let counted: jird_formats::files::Reader = match &self.file {
            Some(file) => {
                let mut file = file.try_clone()?;
                file.seek(SeekFrom::Start(0)).with_context(|| self.name.clone())?;
                Box::new(Counted { inner: file, counter: self.counter.clone() })
            }
            None => match &self.pipe {
                Some(pipe) => Box::new(Counted { inner: pipe.try_clone()?, counter: self.counter.clone() }),
                None => Box::new(Counted { inner: io::stdin(), counter: self.counter.clone() }),
            },
        };
        Text::open(counted, self.path()).with_context(|| self.name.clone())
    }

    /// The file itself, for what is read here and there.
    pub(crate) fn file(&mut self) -> Result<File> {
        self.spool()?;
        self.check_unpacked()?;
        let file = self.file.as_ref().context("standard input was copied")?;
        Ok(file.try_clone()?)
    }
}

impl Opened {
    /// What is read here and there must not be compressed.
    pub(crate) fn check_unpacked(&self) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let mut file = file.try_clone()?;
        let mut start = Vec::new();
        file.seek(SeekFrom::Start(0))
            .and_then(|_| file.take(MAGIC_BYTES as u64).read_to_end(&mut start))
            .with_context(|| self.name.clone())?;
        match Compression::of_bytes(&start).name().or_else(|| Compression::foreign(self.path(), &start)) {
            Some(compressor) => {
                bail!("{}: it is compressed by {compressor}, and read here and there; decompress it first", self.name)
            }
            None => Ok(()),
        }
    }
}

/// Adds up what is read.
struct Counted<R> {
    inner: R,
    counter: Counter,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.counter.0.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
