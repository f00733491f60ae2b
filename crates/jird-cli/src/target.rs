//! Where the result of a query goes: standard output, or a file that appears only when it is whole.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The unfinished file of this process, for the interrupt handler.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// The exit code of a command that was interrupted: 128 and the number of the signal.
const INTERRUPTED: i32 = 130;

/// Where a result is written.
#[derive(Debug)]
pub(crate) enum Target {
    /// Standard output.
    Standard(io::Stdout),
    /// A file beside its final place.
    File {
        /// The file as it is written.
        file: File,
        /// Where it is written.
        beside: PathBuf,
        /// Where it will be.
        path: PathBuf,
    },
}

impl Target {
    /// Standard output, or the file at `path`.
    ///
    /// # Errors
    /// If no file can be made beside `path`.
    pub(crate) fn create(path: Option<&Path>) -> io::Result<Self> {
        let Some(path) = path else { return Ok(Self::Standard(io::stdout())) };
        if path.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a directory"));
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let beside = path.with_file_name(name);
        on_interrupt_remove(&beside)?;
        let file = File::create(&beside)?;
        Ok(Self::File { file, beside, path: path.to_owned() })
    }

    /// Puts a file in its place.
    ///
    /// # Errors
    /// If it cannot be renamed.
    pub(crate) fn commit(self) -> io::Result<()> {
        if let Self::File { beside, path, .. } = &self {
            fs::rename(beside, path)?;
            *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        Ok(())
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Standard(out) => out.write(bytes),
            Self::File { file, .. } => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Standard(out) => out.flush(),
            Self::File { file, .. } => file.flush(),
        }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Self::File { beside, .. } = self
            && let Some(_unfinished) = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).take()
        {
            let _ = fs::remove_file(beside);
        }
    }
}

/// Leaves no half-written file behind when the user interrupts.
fn on_interrupt_remove(path: &Path) -> io::Result<()> {
    *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = Some(path.to_owned());
    let handler = || {
        if let Some(path) = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = fs::remove_file(path);
        }
        std::process::exit(INTERRUPTED);
    };
    ctrlc::set_handler(handler).map_err(io::Error::other)
}
