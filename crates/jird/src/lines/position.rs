//! Files that are read and written at any offset. This is where the engine depends on the operating system.

use super::read::ReadAt;
use std::fs::File;
use std::io;

/// Except on Unix, reading also moves the position of the file.
impl ReadAt for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        system::read_at(self, buffer, offset)
    }
}

/// Writes all bytes from `offset` on. Except on Unix, this also moves the position of the file.
///
/// # Errors
/// The errors of writing.
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    system::write_all_at(file, bytes, offset)
}

#[cfg(unix)]
mod system {
    use std::os::unix::fs::FileExt;
    use std::{fs::File, io};

    pub(super) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        file.read_at(buffer, offset)
    }

    pub(super) fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        file.write_all_at(bytes, offset)
    }
}

#[cfg(windows)]
mod system {
    use std::os::windows::fs::FileExt;
    use std::{fs::File, io};

    pub(super) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        file.seek_read(buffer, offset)
    }

    pub(super) fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            match file.seek_write(bytes, offset) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => (bytes, offset) = (&bytes[written..], offset + written as u64),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Elsewhere, such as in WebAssembly, files are read only at their position, which threads use in turn.
#[cfg(not(any(unix, windows)))]
mod system {
    use std::fs::File;
    use std::io::{self, Read, Seek, SeekFrom, Write};
    use std::sync::{Mutex, PoisonError};

    static TURN: Mutex<()> = Mutex::new(());

    pub(super) fn read_at(mut file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        file.read(buffer)
    }

    pub(super) fn write_all_at(mut file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        file.write_all(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(any(miri, target_family = "wasm"), ignore = "needs files")]
    fn a_file_is_written_and_read_at_any_offset() {
        let path = std::env::temp_dir().join(format!("jird-position-{}", std::process::id()));
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
        for (bytes, offset) in [("bcd", 1), ("a", 0), ("f", 5), ("e", 4)] {
            write_all_at(&file, bytes.as_bytes(), offset).unwrap();
        }
        let mut buffer = [0; 4];
        for (offset, read) in [(4, "ef"), (1, "bcde"), (0, "abcd"), (6, ""), (100, "")] {
            let len = file.read_at(&mut buffer, offset).unwrap();
            assert_eq!(str::from_utf8(&buffer[..len]).unwrap(), read, "at {offset}");
        }
        drop(file);
        std::fs::remove_file(path).unwrap();
    }
}
