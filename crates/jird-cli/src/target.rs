//! The targets of results: standard output, a pipe, or a file that appears only when it is complete.

use crate::progress;
#[cfg(any(feature = "convert", feature = "query"))]
use jird_formats::files::FileId;
pub(crate) use jird_formats::files::is_device;
use jird_formats::files::{self, Local, is_url};
#[cfg(feature = "query")]
use jird_formats::files::{Compression, Compressor};
#[cfg(feature = "query")]
use jird_query::Parts;
use std::convert::Infallible;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
#[cfg(any(feature = "convert", feature = "query"))]
use std::path::absolute;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The unfinished file of this process. [`abandon`] removes it.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// A file that is written next to its final place. If it is dropped without [`commit`](Self::commit), or if a signal
/// ends the command, it is removed.
#[derive(Debug)]
pub(crate) struct Beside {
    /// The temporary path.
    beside: PathBuf,
    /// The final path.
    path: PathBuf,
}

impl Beside {
    /// Creates an empty file next to `path`, or next to the target of `path` if that is a link. The file gets the
    /// permissions of the file that it will replace.
    ///
    /// # Errors
    /// If `path` is a directory or is read-only, and if no file can be created next to it.
    pub(crate) fn create(path: &Path) -> io::Result<(File, Self)> {
        if is_url(path) {
            let words = "is a URL; jird writes files of this machine, which other programs copy there";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, words));
        }
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let old = fs::metadata(&path).ok();
        if old.as_ref().is_some_and(Metadata::is_dir) {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
        }
        // `rename` does not check this.
        if old.as_ref().is_some_and(|old| old.permissions().readonly()) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is for reading only"));
        }
        if old.as_ref().is_some_and(Metadata::is_file) {
            refuse_database(&path)?;
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let beside = Self { beside: path.with_file_name(name), path };
        // Under the lock, so that a signal finds the file and its name, or neither.
        let mut unfinished = unfinished();
        let file = File::create(&beside.beside)?;
        *unfinished = Some(beside.beside.clone());
        drop(unfinished);
        if let Some(old) = old {
            file.set_permissions(old.permissions())?;
        }
        Ok((file, beside))
    }

    /// Creates an empty folder next to `path`.
    #[cfg(feature = "query")]
    fn create_folder(path: &Path) -> io::Result<Self> {
        if is_url(path) {
            let words = "is a URL; jird writes files of this machine, which other programs copy there";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, words));
        }
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let is_empty = || fs::read_dir(&path).is_ok_and(|mut entries| entries.next().is_none());
        if path.symlink_metadata().is_ok() && !is_empty() {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "it is there already, and is not empty"));
        }
        let Some(name) = path.file_name() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it names no new folder"));
        };
        let mut name = name.to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let beside = Self { beside: path.with_file_name(name), path };
        let mut unfinished = unfinished();
        fs::create_dir(&beside.beside)?;
        *unfinished = Some(beside.beside.clone());
        drop(unfinished);
        Ok(beside)
    }

    /// Moves the folder to its final place, after its files are on disk.
    #[cfg(feature = "query")]
    fn commit_folder(self) -> io::Result<()> {
        fs::rename(&self.beside, &self.path)?;
        unfinished().take();
        Ok(())
    }

    /// The temporary path.
    #[cfg(feature = "convert")]
    pub(crate) fn place(&self) -> &Path {
        &self.beside
    }

    /// Moves the file to its final place, after all of it is on disk: a crash of the machine leaves the old file or the
    /// new one.
    ///
    /// # Errors
    /// If the file cannot be written to disk or renamed.
    pub(crate) fn commit(self) -> io::Result<()> {
        File::options().write(true).open(&self.beside)?.sync_all()?;
        fs::rename(&self.beside, &self.path)?;
        unfinished().take();
        Ok(())
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if let Some(unfinished) = unfinished().take() {
            remove(&unfinished);
        }
    }
}

/// The target of a result. Its error messages name it.
#[derive(Debug)]
pub(crate) struct Target {
    to: To,
    name: String,
}

#[derive(Debug)]
enum To {
    Standard(io::Stdout),
    /// A pipe or a device, which a file cannot replace.
    Device(File),
    /// A file next to its final place.
    File(File, Beside),
}

impl Target {
    /// Standard output, or the file at `path`.
    ///
    /// # Errors
    /// If `path` cannot be opened, or no file can be created next to it.
    pub(crate) fn create(path: Option<&Path>) -> io::Result<Self> {
        let Some(path) = path else {
            return Ok(Self { to: To::Standard(io::stdout()), name: "standard output".to_owned() });
        };
        let name = path.display().to_string();
        let to = if is_device(path) {
            File::options().write(true).open(path).map(To::Device)
        } else {
            Beside::create(path).map(|(file, beside)| To::File(file, beside))
        };
        Ok(Self { to: to.map_err(|error| unwritten(&name, &error))?, name })
    }

    /// Moves a file to its final place.
    ///
    /// # Errors
    /// If the file cannot be renamed.
    pub(crate) fn commit(self) -> io::Result<()> {
        let Self { to, name } = self;
        if let To::File(_, beside) = to { beside.commit().map_err(|error| unwritten(&name, &error)) } else { Ok(()) }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            To::Standard(out) => {
                progress::end_before_output();
                out.write(bytes)
            }
            To::Device(file) | To::File(file, _) => file.write(bytes),
        }
        .map_err(|error| unwritten(&self.name, &error))
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::Standard(out) => out.flush(),
            To::Device(file) | To::File(file, _) => file.flush(),
        }
        .map_err(|error| unwritten(&self.name, &error))
    }
}

/// A folder that a query fills in parts, and that appears when all of them are complete.
#[cfg(feature = "query")]
#[derive(Debug)]
pub(crate) struct PartsTarget {
    beside: Option<Beside>,
    /// The name of a part, with `{}` in place of its number.
    name: String,
    compression: Compression,
    open: Option<Compressor<File>>,
}

#[cfg(feature = "query")]
impl PartsTarget {
    /// A folder next to `path`, which must be free, or an empty folder.
    ///
    /// # Errors
    /// If it is not, or if no folder can be created next to it.
    pub(crate) fn create(path: &Path, name: String, compression: Compression) -> io::Result<Self> {
        let shown = path.display().to_string();
        let beside = Beside::create_folder(path).map_err(|error| unwritten(&shown, &error))?;
        Ok(Self { beside: Some(beside), name, compression, open: None })
    }

    /// Moves the folder to its final place.
    ///
    /// # Errors
    /// If it cannot be renamed.
    pub(crate) fn commit(&mut self) -> io::Result<()> {
        let Some(beside) = self.beside.take() else { return Ok(()) };
        let name = beside.path.display().to_string();
        beside.commit_folder().map_err(|error| unwritten(&name, &error))
    }
}

#[cfg(feature = "query")]
impl Parts for PartsTarget {
    fn begin(&mut self, folder: &str) -> io::Result<()> {
        let Some(beside) = &self.beside else { return Ok(()) };
        let folder = beside.beside.join(folder);
        fs::create_dir_all(&folder)?;
        // A folder comes again if its name stands for values of several kinds.
        let mut number = 0;
        let file = loop {
            let path = folder.join(self.name.replace("{}", &format!("{number}")));
            match File::create_new(path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                created => break created?,
            }
        };
        self.open = Some(self.compression.compress(file)?);
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.open.as_mut().map_or(Ok(()), |open| open.write_all(bytes))
    }

    fn end(&mut self) -> io::Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        open.finish()?.sync_all()
    }
}

/// Refuses to replace a database, or a file that SQLite keeps next to one: other programs may have it open, and would
/// go on with the old file.
fn refuse_database(path: &Path) -> io::Result<()> {
    match files::open(path) {
        Ok(Local::Database) => Err(io::Error::other(
            "it is a database of SQLite, and is not replaced; remove it first, or name another file",
        )),
        Err(error) if error.kind() == io::ErrorKind::Other => Err(error),
        // What cannot be read can be replaced.
        Ok(Local::File(_)) | Err(_) => Ok(()),
    }
}

#[cfg(any(feature = "convert", feature = "query"))]
/// Whether two names mean the same file, which need not exist.
pub(crate) fn are_one(one: &Path, other: &Path) -> bool {
    let is_same_name = || absolute(one).ok().is_some_and(|one| absolute(other).is_ok_and(|other| one == other));
    is_same_name() || FileId::of_file(one).is_some_and(|one| Some(one) == FileId::of_file(other))
}

/// Whether standard output is this file.
#[cfg(feature = "convert")]
pub(crate) fn is_stdout(path: &Path) -> bool {
    FileId::of_file(path).is_some_and(|file| Some(file) == FileId::of_stdout())
}

#[cold]
fn unwritten(name: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot write {name}: {error}"))
}

/// Removes the unfinished file, and calls `end`, before which no other file is begun.
pub(crate) fn abandon(end: impl FnOnce() -> Infallible) -> ! {
    let mut unfinished = unfinished();
    if let Some(path) = unfinished.take() {
        remove(&path);
    }
    match end() {}
}

fn unfinished() -> MutexGuard<'static, Option<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes an unfinished file, and the files that SQLite keeps next to a database.
fn remove(path: &Path) {
    if path.is_dir() {
        let _ = fs::remove_dir_all(path);
        return;
    }
    for suffix in ["", "-journal", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        let _ = fs::remove_file(name);
    }
}
