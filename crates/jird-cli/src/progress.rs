//! The progress line on a terminal.
//!
//! There is one at most. It appears on standard error after the first second, and only on a terminal. It is removed
//! before anything else is written to that terminal.

use std::io::{IsTerminal, Write, stderr, stdout};
use std::os::fd::AsFd;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How much is done.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Done {
    /// So many bytes are read, of so many; `None` if nobody knows how many there are.
    Bytes(u64, Option<u64>),
    /// So many of so many runs are done.
    #[cfg(feature = "query")]
    Runs(u64, u64),
    /// What is done is not counted.
    Uncounted,
}

/// Shows progress while it lives.
pub(crate) struct Progress(Option<JoinHandle<()>>);

/// The line. It is `None` if none is wanted, or none any more.
static LINE: Mutex<Option<Line>> = Mutex::new(None);

/// Work that takes less time gets no line.
const FIRST: Duration = Duration::from_secs(1);

const TICK: Duration = Duration::from_millis(100);

impl Progress {
    /// Starts to show what `done` returns.
    pub(crate) fn start(done: impl Fn() -> Done + Send + 'static, quiet: bool) -> Self {
        if quiet || !can_draw() {
            return Self(None);
        }
        *shown() = Some(Line { drawn: 0 });
        Self(Some(thread::spawn(move || draw(done))))
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
    if let Some(mut line) = shown().take() {
        line.clear();
    }
}

/// Removes the line if standard output is a terminal, because more output will follow at once.
pub(crate) fn end_before_output() {
    static IS_TERMINAL: LazyLock<bool> = LazyLock::new(|| stdout().is_terminal());
    if *IS_TERMINAL {
        end();
    }
}

/// Writes something else to the terminal. Soon after that the line is there again.
pub(crate) fn aside<T>(write: impl FnOnce() -> T) -> T {
    let mut shown = shown();
    if let Some(line) = &mut *shown {
        line.clear();
    }
    write()
}

/// Whether standard error is a terminal on which a line can be removed.
fn can_draw() -> bool {
    stderr().is_terminal()
        && std::env::var_os("TERM").is_some_and(|terminal| !terminal.is_empty() && terminal != "dumb")
}

fn shown() -> MutexGuard<'static, Option<Line>> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn draw(done: impl Fn() -> Done) {
    let begun = Instant::now();
    let mut wait = FIRST;
    loop {
        thread::park_timeout(wait);
        let mut shown = shown();
        let Some(line) = &mut *shown else { return };
        // The thread may be woken too early.
        if begun.elapsed() >= FIRST {
            line.draw(&text(done(), begun.elapsed(), columns(stderr())));
            wait = TICK;
        }
    }
}

/// How many columns a terminal has; `None` for a file, or if nobody knows.
#[cfg(feature = "query")]
pub(crate) fn columns(terminal: impl AsFd) -> Option<usize> {
    terminal_size::terminal_size_of(terminal).map(|(width, _)| usize::from(width.0)).filter(|width| *width > 0)
}

#[cfg(not(feature = "query"))]
pub(crate) fn columns(_: impl AsFd) -> Option<usize> {
    None
}

/// The line, in at most `width` columns. If that is unknown, it has no bar.
fn text(done: Done, elapsed: Duration, width: Option<usize>) -> String {
    let seconds = elapsed.as_secs_f64();
    let (words, part) = match done {
        Done::Bytes(read, None) => (format!("{} read, {}", size(read), rate(read, seconds)), None),
        Done::Bytes(read, Some(all)) if read < all => {
            let left = left(read, all, seconds);
            (format!("{} of {}, {}{left}", size(read), size(all), rate(read, seconds)), Some((read, all)))
        }
        Done::Bytes(_, Some(all)) => (format!("all {} read, working, {}", size(all), time(seconds)), None),
        #[cfg(feature = "query")]
        Done::Runs(done, all) => (format!("{done} of {all} runs{}", left(done, all, seconds)), Some((done, all))),
        Done::Uncounted => (format!("working, {}", time(seconds)), None),
    };
    // The terminal adds `^C`, and may begin a new line when the last column is full.
    let width = width.map(|width| width.saturating_sub("^C".len() + 1));
    let room = width.map_or(0, |width| width.saturating_sub(words.chars().count() + GAP)).min(BAR_MAX);
    match part {
        Some(part) if room >= BAR_MIN => format!("{}{:GAP$}{words}", bar(part, room), ""),
        _ => words.chars().take(width.unwrap_or(usize::MAX)).collect(),
    }
}

/// Columns between the bar and the words.
const GAP: usize = 2;

/// A shorter bar says nothing, and a longer one no more.
const BAR_MIN: usize = 8;
const BAR_MAX: usize = 40;

#[expect(clippy::cast_possible_truncation, reason = "it is at most the room")]
fn bar((done, all): (u64, u64), room: usize) -> String {
    let full = (u128::from(done.min(all)) * room as u128 / u128::from(all.max(1))) as usize;
    "█".repeat(full) + &"░".repeat(room - full)
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn size(bytes: u64) -> String {
    match bytes as f64 {
        bytes if bytes < 1e6 => format!("{:.0} kB", bytes / 1e3),
        bytes if bytes < 1e10 => format!("{:.0} MB", bytes / 1e6),
        bytes => format!("{:.1} GB", bytes / 1e9),
    }
}

/// The mean so far.
#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn rate(bytes: u64, seconds: f64) -> String {
    match bytes as f64 / seconds {
        rate if rate < 1e7 => format!("{:.1} MB/s", rate / 1e6),
        rate => format!("{:.0} MB/s", rate / 1e6),
    }
}

/// How long the rest takes if it is as fast as what is done.
#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn left(done: u64, all: u64, seconds: f64) -> String {
    match done {
        0 => String::new(),
        _ => format!(", {} left", time(seconds * all.saturating_sub(done) as f64 / done as f64)),
    }
}

fn time(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 100.0 => format!("{seconds:.0} s"),
        seconds if seconds < 6000.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{:.0} h", seconds / 3600.0),
    }
}

/// The line on the terminal.
struct Line {
    /// How many columns of it are drawn.
    drawn: usize,
}

impl Line {
    fn draw(&mut self, text: &str) {
        self.clear();
        put(text);
        self.drawn = text.chars().count();
    }

    /// Removes it, also if the terminal became narrower and broke it into several lines.
    fn clear(&mut self) {
        if self.drawn > 0 {
            let breaks = columns(stderr()).map_or(0, |width| (self.drawn - 1) / width);
            let up = if breaks > 0 { format!("\x1b[{breaks}A") } else { String::new() };
            put(&format!("\r{up}\x1b[J"));
            self.drawn = 0;
        }
    }
}

fn put(text: &str) {
    let mut terminal = stderr();
    // Nothing is lost if it is not seen.
    let _ = terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(done: Done, seconds: u64, width: Option<usize>, expected: &str) {
        assert_eq!(text(done, Duration::from_secs(seconds), width), expected);
    }

    #[test]
    fn a_line_says_how_much_how_fast_and_how_long() {
        let half = Done::Bytes(245_000_000, Some(490_000_000));
        check(half, 5, None, "245 MB of 490 MB, 49 MB/s, 5 s left");
        check(half, 5, Some(60), "██████████░░░░░░░░░░  245 MB of 490 MB, 49 MB/s, 5 s left");
        check(half, 5, Some(40), "245 MB of 490 MB, 49 MB/s, 5 s left");
        check(half, 5, Some(22), "245 MB of 490 MB, 4");
        check(Done::Bytes(0, Some(490_000_000)), 5, Some(40), "░░░░░░░░░░░  0 kB of 490 MB, 0.0 MB/s");
        check(Done::Bytes(490_000_000, Some(490_000_000)), 130, Some(90), "all 490 MB read, working, 2 min");
        check(Done::Bytes(12_345_678_901, None), 7000, Some(90), "12.3 GB read, 1.8 MB/s");
        #[cfg(feature = "query")]
        check(Done::Runs(10, 40), 5, Some(40), "██░░░░░░░░░  10 of 40 runs, 15 s left");
        check(Done::Uncounted, 5, Some(40), "working, 5 s");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for width in 0..120 {
            for read in [0, 1, 999_999, 1_000_000, 9_999_999_999, u64::MAX - 1] {
                for done in [Done::Bytes(read, None), Done::Bytes(read, Some(u64::MAX)), Done::Bytes(read, Some(read))]
                {
                    let text = text(done, Duration::from_millis(1234), Some(width));
                    assert!(text.chars().count() <= width.saturating_sub(3), "{width}: {text}");
                }
            }
        }
    }
}
