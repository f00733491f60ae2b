//! What the operating systems do in different ways, for files. Programs that read and write files use these functions, too.

#[cfg_attr(unix, path = "system/unix.rs")]
#[cfg_attr(windows, path = "system/windows.rs")]
mod on;

#[cfg(not(any(unix, windows)))]
compile_error!("the feature `files` needs Unix or Windows");

pub use on::Handle;
pub(crate) use on::{CLOSING_ENDS_LOCKS, id_of, splice};
use std::fs::{File, Metadata};
use std::path::Path;

/// What tells a file from all others: the numbers of its device, and of the file there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId(pub u64, pub u64);

impl FileId {
    /// That of a regular file. On Unix nothing is opened for it, because closing a database would end SQLite's locks.
    ///
    /// ```
    /// use jird_formats::files::FileId;
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("data");
    /// assert_eq!(FileId::of_file(&path), None);
    /// std::fs::write(&path, "1")?;
    /// assert!(FileId::of_file(&path).is_some_and(|id| Some(id) == FileId::of_file(&path)));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn of_file(path: &Path) -> Option<Self> {
        on::id_of_file(path)
    }

    /// That of what `data` tells about; `None` on Windows, where closing a file ends no locks.
    pub fn of(data: &Metadata) -> Option<Self> {
        on::id_of(data)
    }

    /// That of a pipe or a socket with a name, if the system tells it.
    pub fn of_pipe(path: &Path) -> Option<Self> {
        on::id_of_pipe(path)
    }

    /// That of the file or pipe which is standard input.
    pub fn of_stdin() -> Option<Self> {
        on::id_of_stdin()
    }

    /// That of the file or pipe which is standard output.
    pub fn of_stdout() -> Option<Self> {
        on::id_of_stdout()
    }
}

/// Standard input without the buffer of the standard library, which nothing else may use then. `None` if it is not there, or
/// if it is a console of Windows, whose text is not bytes.
pub fn stdin_file() -> Option<File> {
    on::stdin_file()
}

/// Whether `path` exists and is neither a file nor a folder. Bytes written there pass through and cannot be taken back.
pub fn is_device(path: &Path) -> bool {
    on::is_device(path)
}

/// Gives a pipe room for a megabyte, where the system can, so that its writer and its reader wait less for each other:
/// 490 MB took 0.4 s with the usual 64 KB, and 0.1 s with a megabyte. Other files stay as they are.
///
/// ```
/// let input = jird_formats::files::widened(std::io::stdin());
/// # drop(input);
/// ```
pub fn widened<F: Handle>(file: F) -> F {
    on::widen(&file);
    file
}
