//! Pipes with more room.

use std::os::fd::AsFd;

/// The room that a pipe gets: the most that Linux gives to any user.
#[cfg(target_os = "linux")]
const PIPE_BYTES: usize = 1 << 20;

/// Gives a pipe room for a megabyte, where the system can, so that its writer and its reader wait less for each other:
/// 490 MB took 0.4 s with the usual 64 KB, and 0.1 s with a megabyte. Other files stay as they are.
///
/// ```
/// let input = jird_formats::files::widened(std::io::stdin());
/// # drop(input);
/// ```
pub fn widened<F: AsFd>(file: F) -> F {
    // It fails for files that are not pipes, and for users with too many pipes; neither matters.
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(&file, PIPE_BYTES);
    file
}
