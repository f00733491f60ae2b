//! Threads that nothing waits for.

use std::convert::Infallible;
use std::io;
use std::sync::mpsc::{SendError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
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

/// What a thread of a [`Crew`] does.
type Job = Box<dyn FnOnce() + Send>;

/// Threads that nothing waits for, and that do one job after the other: for work that comes in many small parts,
/// such as the files of a folder. There are as many as jobs at the same time. They end when the last clone is dropped,
/// each after its job.
///
/// ```
/// use std::sync::mpsc::channel;
/// let crew = jird_formats::Crew::default();
/// let (send, sums) = channel();
/// for n in 1..=3 {
///     let send = send.clone();
///     crew.run("sums", move || send.send(n * n).unwrap())?;
/// }
/// drop(send);
/// assert_eq!(sums.iter().sum::<i32>(), 14);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Crew {
    /// How to reach the threads that have nothing to do.
    idle: Arc<Mutex<Vec<SyncSender<Job>>>>,
}

impl Crew {
    /// Has a thread do this: one that is idle, or else a new one, which gets this name.
    ///
    /// # Errors
    /// If the system has no more threads.
    pub fn run(&self, name: &str, job: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Some(idle) = idle else { return self.start(name, Box::new(job)) };
        match idle.send(Box::new(job)) {
            Ok(()) => Ok(()),
            // A job has ended its thread by a panic.
            Err(SendError(job)) => self.start(name, job),
        }
    }

    fn start(&self, name: &str, first: Job) -> io::Result<()> {
        let crew = Arc::downgrade(&self.idle);
        apart(name, None, move || {
            let mut job = first;
            loop {
                job();
                let (sender, jobs) = sync_channel(1);
                // The list alone holds the sender: when it goes, so does the thread.
                let Some(idle) = crew.upgrade() else { return };
                idle.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
                drop(idle);
                let Ok(next) = jobs.recv() else { return };
                job = next;
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Crew, apart};
    use std::collections::HashSet;
    use std::sync::Arc;
    use std::sync::mpsc::channel;

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

    #[test]
    fn jobs_one_after_the_other_take_few_threads() {
        let crew = Crew::default();
        let (send, done) = channel();
        let mut threads = HashSet::new();
        for _ in 0..500 {
            let send = send.clone();
            crew.run("jobs", move || send.send(std::thread::current().id()).unwrap()).unwrap();
            threads.insert(done.recv().unwrap());
        }
        assert!(threads.len() < 100, "{}", threads.len());
        // A job that panics ends its thread, and no other.
        for _ in 0..3 {
            let send = send.clone();
            crew.run("jobs", move || {
                send.send(std::thread::current().id()).unwrap();
                panic!("it is told");
            })
            .unwrap();
            done.recv().unwrap();
        }
    }

    #[test]
    fn threads_end_with_their_crew() {
        let alive = Arc::new(());
        let crew = Crew::default();
        for _ in 0..9 {
            let alive = Arc::clone(&alive);
            crew.run("kept", move || drop(alive)).unwrap();
        }
        while Arc::strong_count(&alive) > 1 {
            std::thread::yield_now();
        }
        let idle = Arc::downgrade(&crew.idle);
        drop(crew);
        while idle.strong_count() > 0 {
            std::thread::yield_now();
        }
    }
}
