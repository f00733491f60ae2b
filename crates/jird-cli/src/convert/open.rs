//! Inputs: decompressed, counted, and readable more than once.

use crate::input::{self, Counter, Input};
use crate::remote::{Open, RemoteFile};
use anyhow::{Context, Result, bail};
use jird_formats::files::{
    Compression, FileFormat, Local, MAGIC_BYTES, Spool, SpoolOptions, Text, plain_name, widened,
};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Text or bytes after decompression.
pub(crate) type Reader = BufReader<jird_formats::files::Reader>;

/// Bytes read at a time.
const BUFFER_BYTES: usize = 1 << 18;

/// A buffered reader of the whole text.
pub(crate) fn buffered(text: Text) -> Reader {
    BufReader::with_capacity(BUFFER_BYTES, text.into_reader())
}

/// An open input: a file, or standard input or another pipe. If a pipe must be read again, its bytes are copied to
/// disk.
#[derive(Debug)]
pub(crate) struct Opened {
    /// The name that messages use.
    pub(crate) name: String,
    path: Option<PathBuf>,
    /// A file, or the copy of a pipe: it can be read again.
    file: Option<File>,
    /// A pipe other than standard input. If nothing is, the input is standard input.
    pipe: Option<File>,
    /// Whether it is a database, which only SQLite opens.
    pub(super) is_database: bool,
    /// An object of a remote store, which can be read again.
    remote: Option<RemoteFile>,
    /// What a server sends only as a whole; none after it was read.
    download: Option<OneReader>,
    /// Counts what is read of all inputs.
    counter: Counter,
    /// Counts what was read of this one since it was last read from its start.
    own: Counter,
    spooling: SpoolOptions,
}

/// A reader that can be taken once.
struct OneReader(Option<jird_formats::files::Reader>);

impl OneReader {
    fn take(&mut self) -> io::Result<jird_formats::files::Reader> {
        self.0.take().ok_or_else(|| io::Error::other("the server sends it only once"))
    }
}

impl std::fmt::Debug for OneReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Taken").field(&self.0.is_some()).finish()
    }
}

impl Opened {
    /// Opens an input.
    pub(crate) fn new(input: &Input, counter: &Counter, spooling: &SpoolOptions) -> Result<Self> {
        let opened = Self {
            name: input.name(),
            path: None,
            file: None,
            pipe: None,
            is_database: false,
            remote: None,
            download: None,
            counter: counter.clone(),
            own: Counter::default(),
            spooling: spooling.clone(),
        };
        let path = match input {
            Input::Stdin => {
                counter.expect(None);
                return Ok(opened);
            }
            Input::Url { url, failure } => {
                let path = Some(url.clone());
                return Ok(match Input::remote(url, failure.as_ref())? {
                    Open::File(file) => {
                        counter.expect(Some(file.len()));
                        Self { path, remote: Some(file), ..opened }
                    }
                    Open::Once(reader, _) => {
                        counter.expect(None);
                        Self { path, download: Some(OneReader(Some(reader))), ..opened }
                    }
                });
            }
            Input::File(path) => path,
        };
        let file = match input::local(path)? {
            Local::Database => return Ok(Self { path: Some(path.clone()), is_database: true, ..opened }),
            Local::File(file) => file,
        };
        let meta = file.metadata().with_context(|| input.name())?;
        counter.expect(meta.is_file().then_some(meta.len()));
        let (file, pipe) = if meta.is_file() { (Some(file), None) } else { (None, Some(file)) };
        Ok(Self { path: Some(path.clone()), file, pipe, ..opened })
    }

    /// How many bytes were read of it, before decompression; `None` if they were not counted. What was read only to
    /// plan columns does not count.
    pub(super) fn bytes(&self) -> Option<u64> {
        self.own.read()
    }

    /// Notes that bytes of this input are read that are not counted.
    pub(super) fn leave_uncounted(&self) {
        self.counter.leave_uncounted();
        self.own.leave_uncounted();
    }

    /// Whether another program may still be writing this input. Then its records are passed on before the rest arrives.
    pub(crate) fn is_live(&self) -> bool {
        self.file.is_none() && self.remote.is_none() && !self.is_database
    }

    /// Whether it is a file, which can be read any number of times.
    pub(super) fn is_file(&self) -> bool {
        self.file.is_some()
    }

    /// Whether it comes from a server.
    pub(crate) fn is_remote(&self) -> bool {
        self.remote.is_some() || self.download.is_some()
    }

    /// The format that the name stands for.
    pub(crate) fn format_of_name(&self) -> Option<FileFormat> {
        self.path.as_deref().map(plain_name).and_then(FileFormat::of_name)
    }

    /// The path of the file; `None` for a pipe.
    pub(crate) fn path(&self) -> Option<&Path> {
        if self.pipe.is_some() || self.download.is_some() { None } else { self.path.as_deref().map(plain_name) }
    }

    /// Ensures that the input can be read more than once: a pipe is copied to an anonymous temporary file.
    pub(crate) fn spool(&mut self) -> Result<()> {
        if self.is_live() {
            let bytes = self.copy()?;
            self.counter.pipe_ended(bytes);
            self.counter.expect(Some(bytes));
        }
        Ok(())
    }

    /// Copies the input to an anonymous temporary file. Returns how many bytes it has.
    fn copy(&mut self) -> Result<u64> {
        let spool = match (&mut self.pipe, &mut self.download, &self.remote) {
            (Some(pipe), ..) => Spool::fill(&mut self.counter.count(pipe), &self.spooling),
            (_, Some(download), _) => {
                download.take().and_then(|reader| Spool::fill(&mut self.counter.count(reader), &self.spooling))
            }
            (.., Some(remote)) => Spool::fill(&mut self.counter.count(remote.reader()), &self.spooling),
            _ => Spool::fill(&mut self.counter.count(widened(io::stdin()).lock()), &self.spooling),
        };
        let spool = spool.with_context(|| self.name.clone())?;
        self.file = Some(spool.file().with_context(|| self.name.clone())?);
        Ok(spool.disk_bytes())
    }

    /// The bytes from the start, decompressed.
    pub(crate) fn read(&mut self) -> Result<Text> {
        if self.is_database {
            return Err(input::of_database(&self.name));
        }
        // What is read again was not expected.
        self.counter.expect(Some(self.own.restart()));
        let (all, own) = (&self.counter, &self.own);
        let counted: jird_formats::files::Reader = match &self.file {
            Some(file) => {
                let mut file = file.try_clone()?;
                file.seek(SeekFrom::Start(0)).with_context(|| self.name.clone())?;
                Box::new(own.count(all.count(file)))
            }
            None => match (&self.pipe, &mut self.download, &self.remote) {
                (Some(pipe), ..) => Box::new(own.count(all.count(pipe.try_clone()?))),
                (_, Some(download), _) => {
                    Box::new(own.count(all.count(download.take().with_context(|| self.name.clone())?)))
                }
                (.., Some(remote)) => Box::new(own.count(all.count(remote.reader()))),
                _ => Box::new(own.count(all.count(widened(io::stdin())))),
            },
        };
        Text::open(counted, self.path()).with_context(|| self.name.clone())
    }

    /// The file itself, for formats that are read with seeks.
    pub(crate) fn file(&mut self) -> Result<File> {
        if self.is_database {
            return Err(input::of_database(&self.name));
        }
        self.spool()?;
        if self.file.is_none() {
            self.copy()?;
        }
        self.check_unpacked()?;
        self.leave_uncounted();
        let file = self.file.as_ref().context("standard input was copied")?;
        Ok(file.try_clone()?)
    }
}

impl Opened {
    /// Returns an error if the file is compressed, because formats that are read with seeks must not be.
    pub(crate) fn check_unpacked(&self) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let mut file = file.try_clone()?;
        let mut start = Vec::new();
        file.seek(SeekFrom::Start(0))
            .and_then(|_| file.take(MAGIC_BYTES as u64).read_to_end(&mut start))
            .with_context(|| self.name.clone())?;
        match Compression::of_bytes(&start).name().or_else(|| Compression::foreign(self.path(), &start)) {
            Some(compressor) => {
                bail!(
                    "{}: a file of this format cannot be read while it is compressed with {compressor}; decompress it first",
                    self.name
                )
            }
            None => Ok(()),
        }
    }
}
