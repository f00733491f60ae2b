//! Where results go: standard output, or a file that appears only when it is whole.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The unfinished file of this process, for the interrupt handler.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// The exit code of a command that was interrupted: 128 and the number of the signal.
const INTERRUPTED: i32 = 130;

/// A file that is made beside its place. Dropped without [`commit`](Self::commit), it is removed, also by an interrupt.
#[derive(Debug)]
pub(crate) struct Beside {
    /// Where it is made.
    beside: PathBuf,
    /// Where it will be.
    path: PathBuf,
}

impl Beside {
    /// Finds a place beside `path`. Nothing is made yet.
    ///
    /// # Errors
    /// If `path` is a directory.
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        if path.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a directory"));
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let beside = path.with_file_name(name);
        on_interrupt_remove(&beside)?;
        Ok(Self { beside, path: path.to_owned() })
    }

    /// Where it is made.
    pub(crate) fn place(&self) -> &Path {
        &self.beside
    }

    /// Puts it in its place.
    ///
    /// # Errors
    /// If it cannot be renamed.
    pub(crate) fn commit(self) -> io::Result<()> {
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

/// Where a result is written.
#[derive(Debug)]
pub(crate) enum Target {
    /// Standard output.
    Standard(io::Stdout),
    /// A file beside its final place.
    File(File, Beside),
}

impl Target {
    /// Standard output, or the file at `path`.
    ///
    /// # Errors
    /// If no file can be made beside `path`.
    pub(crate) fn create(path: Option<&Path>) -> io::Result<Self> {
        let Some(path) = path else { return Ok(Self::Standard(io::stdout())) };
        let beside = Beside::new(path)?;
        Ok(Self::File(File::create(beside.place())?, beside))
    }

    /// Puts a file in its place.
    ///
    /// # Errors
    /// If it cannot be renamed.
    pub(crate) fn commit(self) -> io::Result<()> {
        if let Self::File(_, beside) = self { beside.commit() } else { Ok(()) }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Standard(out) => out.write(bytes),
            Self::File(file, _) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Standard(out) => out.flush(),
            Self::File(file, _) => file.flush(),
        }
    }
}

fn unfinished() -> std::sync::MutexGuard<'static, Option<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes an unfinished file, and what a database keeps beside it.
fn remove(path: &Path) {
    for suffix in ["", "-journal", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        let _ = fs::remove_file(name);
    }
}

/// Leaves no half-written file behind when the user interrupts.
fn on_interrupt_remove(path: &Path) -> io::Result<()> {
    static HANDLER: OnceLock<Result<(), String>> = OnceLock::new();
    *unfinished() = Some(path.to_owned());
    let handler = || {
        if let Some(path) = unfinished().take() {
            remove(&path);
        }
        std::process::exit(INTERRUPTED);
    };
    let set = HANDLER.get_or_init(|| ctrlc::set_handler(handler).map_err(|error| error.to_string()));
    set.clone().map_err(io::Error::other)
}
