//! The progress line on a terminal.
//!
//! There is one at most. It appears on standard error after the first second, and only on a terminal. It is removed
//! before anything else is written to that terminal.
//!
//! Programs that run `jird` may read how much is done, too: see [`tell`].

use crate::system;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};
use std::env;
use std::fs::File;
use std::io::{self, IsTerminal, Write, stderr, stdout};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How much is done.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Amount {
    /// Bytes read, and their total; `None` if the total is unknown.
    Bytes(u64, Option<u64>),
    /// Runs done, and their total.
    #[cfg(feature = "query")]
    Runs(u64, u64),
    /// What is done is not counted.
    Uncounted,
}

/// Shows progress while it lives.
pub(crate) struct Progress(Option<JoinHandle<()>>);

/// The line. It is `None` if none is wanted, or none any more.
static LINE: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Work that takes less time gets no line.
const FIRST: Duration = Duration::from_secs(1);

const TICK: Duration = Duration::from_millis(100);

impl Progress {
    /// Starts to show what `done` returns.
    pub(crate) fn start(done: impl Fn() -> Amount + Send + Sync + 'static, quiet: bool) -> Self {
        let done = Arc::new(done);
        if let Some(path) = env::var_os("JIRD_PROGRESS") {
            let done = Arc::clone(&done);
            // This thread is not joined: its reader may have stopped reading.
            thread::spawn(move || tell(&*done, path.as_ref()));
        }
        if quiet || !can_draw() {
            return Self(None);
        }
        let target = ProgressDrawTarget::term_like(Box::new(Terminal::default()));
        *shown() = Some(ProgressBar::with_draw_target(None, target));
        Self(Some(thread::spawn(move || draw(&*done))))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let Some(drawer) = self.0.take() else { return };
        end();
        drawer.thread().unpark();
        // The thread only draws. If it panicked, nothing is lost.
        let _ = drawer.join();
    }
}

/// Removes the line. No other comes.
pub(crate) fn end() {
    if let Some(line) = shown().take() {
        line.finish_and_clear();
    }
}

/// Removes the line if standard output is a terminal, because more output will follow at once.
pub(crate) fn end_before_output() {
    static IS_TERMINAL: LazyLock<bool> = LazyLock::new(|| stdout().is_terminal());
    if *IS_TERMINAL {
        end();
    }
}

/// Writes something else to the terminal. The line is there again after that.
pub(crate) fn aside<T>(write: impl FnOnce() -> T) -> T {
    match &*shown() {
        Some(line) => line.suspend(write),
        None => write(),
    }
}

/// Whether standard error is a terminal on which a line can be removed.
fn can_draw() -> bool {
    stderr().is_terminal() && system::shows_escapes()
}

fn shown() -> MutexGuard<'static, Option<ProgressBar>> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn draw(done: &dyn Fn() -> Amount) {
    let begun = Instant::now();
    let mut wait = FIRST;
    loop {
        thread::park_timeout(wait);
        let shown = shown();
        let Some(line) = &*shown else { return };
        // The thread may be woken too early.
        if begun.elapsed() >= FIRST {
            show(line, done());
            wait = TICK;
        }
    }
}

/// Appends how much is done to the file, which may be a pipe: ten lines a second, such as `{"read":2097152,"all":490000000}`
/// in bytes, with null where the total is unknown. Ends when they cannot be written.
fn tell(done: &dyn Fn() -> Amount, path: &Path) {
    let Ok(mut file) = File::options().append(true).open(path) else { return };
    loop {
        thread::sleep(TICK);
        if let Amount::Bytes(read, all) = done() {
            let all = all.map_or("null".to_owned(), |all| all.to_string());
            if file.write_all(format!("{{\"read\":{read},\"all\":{all}}}\n").as_bytes()).is_err() {
                return;
            }
        }
    }
}

fn show(line: &ProgressBar, done: Amount) {
    let (part, all) = match done {
        Amount::Bytes(part, all) => (part, all),
        #[cfg(feature = "query")]
        Amount::Runs(part, all) => (part, Some(all)),
        Amount::Uncounted => (0, None),
    };
    let style = ProgressStyle::with_template(&template(done, room())).unwrap_or_else(|_| ProgressStyle::default_bar());
    line.set_style(style.progress_chars("█░"));
    line.update(|state| {
        state.set_pos(part);
        state.set_len(all.unwrap_or(part));
    });
}

/// What the line shows in `room` columns.
fn template(done: Amount, room: usize) -> String {
    const BYTES: &str = "{decimal_bytes} of {decimal_total_bytes}";
    let whole = match done {
        Amount::Bytes(_, None) => "{decimal_bytes} read, {decimal_bytes_per_sec}".to_owned(),
        Amount::Bytes(read, Some(all)) if read < all => format!("{BYTES}, {{decimal_bytes_per_sec}}, {{eta}} left"),
        Amount::Bytes(_, Some(_)) => return "all {decimal_total_bytes} read, working, {elapsed}".to_owned(),
        #[cfg(feature = "query")]
        Amount::Runs(..) => "{pos} of {len} runs, {eta} left".to_owned(),
        Amount::Uncounted => return "working, {elapsed}".to_owned(),
    };
    match room.checked_sub(WORDS + GAP) {
        Some(bar) if bar >= BAR_MIN && !matches!(done, Amount::Bytes(_, None)) => {
            format!("{{bar:{}}}{:GAP$}{whole}", bar.min(BAR_MAX), "")
        }
        _ if room >= WORDS => whole,
        _ if matches!(done, Amount::Bytes(_, Some(_))) => BYTES.to_owned(),
        _ => "{elapsed}".to_owned(),
    }
}

/// The most columns that the words take: `999.99 GB of 999.99 GB, 99.99 GB/s, 59m left`.
const WORDS: usize = 45;

/// Columns between the bar and the words.
const GAP: usize = 2;

/// A shorter bar says nothing, and a longer one no more.
const BAR_MIN: usize = 8;
const BAR_MAX: usize = 40;

/// How many columns the line may take. The terminal adds `^C`, and may begin a new line when the last column is full.
fn room() -> usize {
    const UNKNOWN: usize = 80;
    system::columns(stderr()).unwrap_or(UNKNOWN).saturating_sub("^C".len() + 1).max(1)
}

/// Standard error as a terminal with a few columns less. indicatif fills its lines up to the last column.
#[derive(Debug, Default)]
struct Terminal {
    /// How many columns of the line are drawn.
    drawn: AtomicUsize,
}

impl Terminal {
    #[expect(clippy::unused_self, reason = "the terminal is standard error")]
    fn put(&self, text: &str) -> io::Result<()> {
        stderr().write_all(text.as_bytes())
    }
}

impl TermLike for Terminal {
    fn width(&self) -> u16 {
        u16::try_from(room()).unwrap_or(u16::MAX)
    }

    fn move_cursor_up(&self, lines: usize) -> io::Result<()> {
        if lines > 0 { self.put(&format!("\x1b[{lines}A")) } else { Ok(()) }
    }

    fn move_cursor_down(&self, lines: usize) -> io::Result<()> {
        if lines > 0 { self.put(&format!("\x1b[{lines}B")) } else { Ok(()) }
    }

    fn move_cursor_right(&self, columns: usize) -> io::Result<()> {
        if columns > 0 { self.put(&format!("\x1b[{columns}C")) } else { Ok(()) }
    }

    fn move_cursor_left(&self, columns: usize) -> io::Result<()> {
        if columns > 0 { self.put(&format!("\x1b[{columns}D")) } else { Ok(()) }
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.put(&format!("{text}\n"))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.drawn.fetch_add(text.chars().filter(|char| !char.is_control()).count(), Relaxed);
        self.put(text)
    }

    /// Removes the line, also if the terminal became narrower and broke it into several.
    fn clear_line(&self) -> io::Result<()> {
        let drawn = self.drawn.swap(0, Relaxed);
        let breaks = system::columns(stderr()).map_or(0, |width| drawn.saturating_sub(1) / width);
        self.put("\r")?;
        self.move_cursor_up(breaks)?;
        self.put("\x1b[J")
    }

    fn flush(&self) -> io::Result<()> {
        stderr().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_what_fits() {
        let half = Amount::Bytes(245_000_000, Some(490_000_000));
        let words = "{decimal_bytes} of {decimal_total_bytes}, {decimal_bytes_per_sec}, {eta} left";
        assert_eq!(template(half, 200), format!("{{bar:40}}  {words}"));
        assert_eq!(template(half, 60), format!("{{bar:13}}  {words}"));
        assert_eq!(template(half, 50), words);
        assert_eq!(template(half, 30), "{decimal_bytes} of {decimal_total_bytes}");
        assert_eq!(template(Amount::Bytes(5, Some(5)), 60), "all {decimal_total_bytes} read, working, {elapsed}");
        assert_eq!(template(Amount::Bytes(5, None), 60), "{decimal_bytes} read, {decimal_bytes_per_sec}");
        assert_eq!(template(Amount::Uncounted, 10), "working, {elapsed}");
        #[cfg(feature = "query")]
        assert_eq!(template(Amount::Runs(1, 3), 60), "{bar:13}  {pos} of {len} runs, {eta} left");
    }
}
