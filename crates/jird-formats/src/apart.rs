//! Threads that nothing waits for.

use std::convert::Infallible;
use std::io;
use std::sync::mpsc::sync_channel;
use std::thread::Builder;

/// Starts a thread that nothing waits for, with a stack of some bytes or of the usual size.
///
/// It begins once it has been detached: glibc reads from a thread after detaching it (its bug 19951), which is a crash
/// if the thread has ended by then and its stack is gone. Stacks of more than 40 MB always are.
///
/// ```
/// let (sender, receiver) = std::sync::mpsc::channel();
/// jird_formats::apart("sums", None, move || {
///     let _ = sender.send((1..=10).sum::<u32>());
/// })?;
/// assert_eq!(receiver.recv(), Ok(55));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// If the system starts no thread.
pub fn apart(name: &str, stack_bytes: Option<usize>, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let (held, detached) = sync_channel::<Infallible>(0);
    let mut builder = Builder::new().name(name.to_owned());
    if let Some(bytes) = stack_bytes {
        builder = builder.stack_size(bytes);
    }
    let handle = builder.spawn(move || {
        let _ = detached.recv();
        run();
    })?;
    drop(handle);
    drop(held);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::apart;
    use std::sync::Arc;

    #[test]
    fn threads_may_end_as_soon_as_they_begin() {
        let alive = Arc::new(());
        for _ in 0..2_000 {
            let alive = Arc::clone(&alive);
            apart("short", Some(64 << 20), move || drop(alive)).unwrap();
        }
        while Arc::strong_count(&alive) > 1 {
            std::thread::yield_now();
        }
    }
}
