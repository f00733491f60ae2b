//! The files of a query.

use crate::error::{Error, words};
use jird::lines::ReadAt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What standard input is called.
const STDIN: &str = "<stdin>";

/// Several files as one table, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Input {
    pub(crate) files: Vec<Arc<InputFile>>,
}

/// A file, or something else that can be read.
#[derive(Debug)]
pub(crate) struct InputFile {
    /// The path, or [`STDIN`].
    pub(crate) path: PathBuf,
    /// Bytes, if it can be read again and at any place.
    pub(crate) size: Option<u64>,
    is_stdin: bool,
}

impl Input {
    /// The files that `arguments` name: paths, patterns, `-`. What cannot be read is left out, and reported in `unreadable`.
    pub(crate) fn open(arguments: &[String], unreadable: &mut Vec<String>) -> Result<Self, Error> {
        let mut files = Vec::new();
        for argument in arguments {
            if argument == "-" {
                files.push(Arc::new(InputFile { path: STDIN.into(), size: None, is_stdin: true }));
                continue;
            }
            for path in expand(argument)? {
                match InputFile::open(&path) {
                    Ok(file) => files.push(Arc::new(file)),
                    Err(message) => {
                        let message = format!("{}: {message}", path.display());
                        if !unreadable.contains(&message) {
                            unreadable.push(message);
                        }
                    }
                }
            }
        }
        Ok(Self { files })
    }

    /// Whether all of it can be read twice.
    pub(crate) fn is_rereadable(&self) -> bool {
        self.files.iter().all(|file| file.size.is_some())
    }

    /// The file and the offset in it of a byte counted from the start of the first file.
    pub(crate) fn at(&self, mut offset: u64) -> Option<(&InputFile, u64)> {
        for file in &self.files {
            let size = file.size.unwrap_or_default();
            if offset < size {
                return Some((file, offset));
            }
            offset -= size;
        }
        None
    }
}

impl InputFile {
    fn open(path: &Path) -> Result<Self, String> {
        let metadata = path.metadata().map_err(|error| words(&error))?;
        if metadata.is_dir() {
            return Err("is a directory: name its files, for example DIRECTORY/*.ndjson".to_owned());
        }
        let size = metadata.is_file().then_some(metadata.len());
        if size.is_some() {
            // A pipe must not be opened twice; a file may as well be refused now.
            File::open(path).map_err(|error| words(&error))?;
        }
        Ok(Self { path: path.to_owned(), size, is_stdin: false })
    }

    /// Opens it for reading at any place.
    pub(crate) fn file(&self) -> Result<PositionedFile, Error> {
        File::open(&self.path).map(PositionedFile).map_err(|error| self.error(&error))
    }

    /// Opens it for reading once.
    pub(crate) fn stream(&self) -> Result<Box<dyn io::Read>, Error> {
        if self.is_stdin {
            return Ok(Box::new(io::stdin().lock()));
        }
        Ok(Box::new(File::open(&self.path).map_err(|error| self.error(&error))?))
    }

    pub(crate) fn error(&self, error: &io::Error) -> Error {
        Error::input(&self.path, error)
    }

    /// The line, counted from one, that holds the byte at `offset`. Reads all before it.
    pub(crate) fn line_at(&self, offset: u64) -> io::Result<u64> {
        let file = File::open(&self.path)?;
        let mut buffer = vec![0; 1 << 20];
        let (mut at, mut lines) = (0, 1);
        while at < offset {
            let wanted = usize::try_from(offset - at).unwrap_or(usize::MAX).min(buffer.len());
            let read = file.read_at(&mut buffer[..wanted], at)?;
            if read == 0 {
                break;
            }
            lines += feeds(&buffer[..read]);
            at += read as u64;
        }
        Ok(lines)
    }
}

/// The line feeds in a text.
pub(crate) fn feeds(text: &[u8]) -> u64 {
    text.iter().map(|&byte| u64::from(byte == b'\n')).sum()
}

/// A file that several threads may read at any place.
#[derive(Debug)]
pub(crate) struct PositionedFile(File);

impl ReadAt for PositionedFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(buffer, offset)
    }
}

/// The paths that a pattern stands for, sorted bytewise. A path that exists is itself.
fn expand(argument: &str) -> Result<Vec<PathBuf>, Error> {
    let path = Path::new(argument);
    if path.symlink_metadata().is_ok() || !argument.contains(['*', '?', '[']) {
        return Ok(vec![path.to_owned()]);
    }
    let found =
        glob::glob(argument).map_err(|error| Error::sql(format!("the pattern {argument} is wrong: {error}")))?;
    let mut paths: Vec<_> = found.filter_map(Result::ok).collect();
    paths.sort_by(|left, right| left.as_os_str().as_encoded_bytes().cmp(right.as_os_str().as_encoded_bytes()));
    // None at all is reported as the missing file that the pattern then is.
    Ok(if paths.is_empty() { vec![path.to_owned()] } else { paths })
}
