//! The progress bar on a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A progress bar on standard error, with rate and time left. It appears after the first second, and only on a
/// terminal.
pub(crate) struct Progress {
    done: Arc<AtomicBool>,
    drawer: Option<JoinHandle<()>>,
}

const TICK: Duration = Duration::from_millis(100);

impl Progress {
    /// Starts the bar. `read` returns the bytes read so far and the total, which is 0 if it is unknown.
    pub(crate) fn start(read: impl Fn() -> (u64, u64) + Send + 'static, quiet: bool) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let drawer = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let done = Arc::clone(&done);
            thread::spawn(move || draw(read, &done))
        });
        Self { done, drawer }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        if let Some(drawer) = self.drawer.take() {
            drawer.thread().unpark();
            // The thread only draws; if it panicked, nothing is lost.
            let _ = drawer.join();
        }
    }
}

fn draw(read: impl Fn() -> (u64, u64), done: &AtomicBool) {
    thread::park_timeout(Duration::from_secs(1));
    if done.load(Ordering::Relaxed) {
        return;
    }
    let total = read().1;
    let (bar, template) = if total > 0 {
        (ProgressBar::new(total), "{wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left")
    } else {
        (ProgressBar::no_length(), "{spinner} {bytes}, {bytes_per_sec}")
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    while !done.load(Ordering::Relaxed) {
        let (bytes, total) = read();
        if total > 0 {
            // The total can grow while the files are read.
            bar.set_length(total);
        }
        bar.set_position(bytes.min(if total > 0 { total } else { u64::MAX }));
        thread::park_timeout(TICK);
    }
    bar.finish_and_clear();
}
