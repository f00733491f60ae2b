//! The inputs of all commands: files, or standard input.

use crate::outcome::BadData;
use anyhow::{Context, anyhow, bail};
use jird_formats::encoding::stray_mark;
#[cfg(feature = "query")]
use jird_formats::encoding::{Encoding, blank_mark};
use jird_formats::files::{Text, widened};
#[cfg(feature = "convert")]
use jird_formats::sqlite::{self, SqliteErrorKind, rusqlite::Connection};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A file, or standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Stdin,
    File(PathBuf),
}

impl Input {
    /// The name `-` means standard input.
    pub(crate) fn new(name: &Path) -> Self {
        if name == Path::new("-") { Self::Stdin } else { Self::File(name.to_owned()) }
    }

    /// The inputs that the user named, or standard input if there are none.
    pub(crate) fn all(names: &[PathBuf]) -> Vec<Self> {
        if names.is_empty() { vec![Self::Stdin] } else { names.iter().map(|name| Self::new(name)).collect() }
    }

    /// The name that messages use.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Stdin => "<stdin>".into(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// The input, decompressed.
    pub(crate) fn open(&self) -> anyhow::Result<Text> {
        let text = match self {
            Self::Stdin => Text::open(Box::new(widened(io::stdin())), None),
            Self::File(path) => Text::open(Box::new(open(path)?), Some(path)),
        };
        text.with_context(|| self.name())
    }

    /// Whether another program may still be writing the input.
    pub(crate) fn is_live(&self) -> bool {
        match self {
            Self::Stdin => true,
            Self::File(path) => !path.is_file(),
        }
    }

    /// The whole input, as a document to be parsed. A byte order mark is replaced by blanks.
    ///
    /// # Errors
    /// [`BadData`] if the text is in an encoding other than UTF-8; also errors of reading.
    #[cfg(feature = "query")]
    pub(crate) fn document(&self) -> anyhow::Result<Vec<u8>> {
        let mut text = self.read()?;
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
    pub(crate) fn read(&self) -> anyhow::Result<Vec<u8>> {
        let mut text = Vec::new();
        if let Self::File(path) = self {
            let len = path.metadata().map_or(0, |meta| meta.len());
            text.try_reserve(usize::try_from(len).unwrap_or(usize::MAX)).map_err(io::Error::other)?;
        }
        self.open()?.into_reader().read_to_end(&mut text).with_context(|| self.name())?;
        Ok(text)
    }
}

/// Opens a database for reading.
#[cfg(feature = "convert")]
pub(crate) fn database(path: &Path) -> anyhow::Result<Connection> {
    // SQLite's own message for a missing file does not name the file.
    drop(open(path)?);
    let opening = match sqlite::open_read_only(path) {
        // A writer was ended in the middle of a transaction. Only a connection that may write can roll it back, so this
        // opens one first, as every program that opens the file would.
        Err(error) if error.kind() == SqliteErrorKind::ReadOnly => {
            sqlite::open(path).map(drop).and_then(|()| sqlite::open_read_only(path))
        }
        opening => opening,
    };
    let name = || path.display().to_string();
    opening
        .map_err(|error| match error.kind() {
            SqliteErrorKind::Locked => anyhow!("{error}; {LOCKED}"),
            _ => error.into(),
        })
        .with_context(name)
}

/// The advice for a locked database.
#[cfg(feature = "convert")]
pub(crate) const LOCKED: &str = "another program is at it: try again when that is done";

/// Opens a file for reading. Directories are refused here, because here the message can name them.
pub(crate) fn open(path: &Path) -> anyhow::Result<File> {
    let file = File::open(path).map_err(|error| {
        let is_pattern = error.kind() == io::ErrorKind::NotFound && path.to_string_lossy().contains(['*', '?', '[']);
        let hint = if is_pattern { "; no file has a name like this" } else { "" };
        anyhow!("{}: {error}{hint}", path.display())
    })?;
    if file.metadata().is_ok_and(|meta| meta.is_dir()) {
        bail!("{}: is a directory; name the files in it", path.display());
    }
    Ok(file)
}
