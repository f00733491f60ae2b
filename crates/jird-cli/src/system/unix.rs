//! What a command needs of Unix.

use super::Signal;
use anyhow::Context;
#[cfg(feature = "convert")]
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
#[cfg(any(feature = "convert", feature = "query"))]
use nix::sys::resource::{Resource, getrlimit};
use nix::sys::signal::{SigSet, Signal as Number};
use std::env;
use std::thread;
#[cfg(feature = "convert")]
use std::{
    io,
    os::fd::AsFd,
    time::{Duration, Instant},
};

const ENDING: [(Number, Signal); 3] =
    [(Number::SIGINT, Signal::Interrupt), (Number::SIGTERM, Signal::Terminate), (Number::SIGHUP, Signal::HangUp)];

/// Has a thread call `each` for every signal that would end the command. The signals are blocked in every thread, and this
/// one waits for them. Threads inherit what is blocked, so no other thread may run yet.
///
/// # Errors
/// If the system refuses.
pub(crate) fn watch(each: impl Fn(Signal) + Send + 'static) -> anyhow::Result<()> {
    let ignored = ignored();
    let watched = ENDING.into_iter().filter(|(number, _)| ignored >> (*number as u32 - 1) & 1 == 0);
    let signals: SigSet = watched.map(|(number, _)| number).collect();
    signals.thread_block().context("blocking signals")?;
    // A file that may not grow is an error of the write, which says so, and not the end of the command.
    SigSet::from(Number::SIGXFSZ).thread_block().context("blocking signals")?;
    let wait = move || {
        while let Ok(number) = signals.wait() {
            ENDING.iter().filter(|(ending, _)| *ending == number).for_each(|(_, signal)| each(*signal));
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(wait).context("waiting for signals")?;
    Ok(())
}

/// The signals that this command was started to ignore, one bit for each, the first in bit 0: SIGHUP by `nohup`, SIGINT
/// in the background of a shell script. Only Linux tells them.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

/// The smaller of `ulimit -v` and `ulimit -d`, if they are set.
#[cfg(feature = "query")]
pub(crate) fn address_space_limit() -> Option<u64> {
    let limits = [Resource::RLIMIT_AS, Resource::RLIMIT_DATA].into_iter();
    limits.filter_map(|which| Some(getrlimit(which).ok()?.0)).filter(|limit| *limit != u64::MAX).min()
}

/// Lets the process open as many files as the system allows: a store has two for each span. If that is refused, a store
/// with too many spans says what to do.
#[cfg(feature = "convert")]
pub(crate) fn raise_open_files() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
    {
        let _ = nix::sys::resource::setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

/// Waits this long, or until what reads standard output goes, as after `| head`. Whether it went.
#[cfg(feature = "convert")]
pub(crate) fn reader_goes_within(time: Duration) -> bool {
    let (output, begun) = (io::stdout(), Instant::now());
    // Errors and the end are told without being asked for.
    let mut polled = [PollFd::new(output.as_fd(), PollFlags::empty())];
    let timeout = PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX);
    let is_polled = poll(&mut polled, timeout).is_ok();
    let told = polled[0].revents().unwrap_or(PollFlags::empty());
    if is_polled && told.intersects(PollFlags::POLLERR | PollFlags::POLLHUP) {
        return true;
    }
    // Some systems cannot be asked of some files, and answer at once.
    thread::sleep(time.saturating_sub(begun.elapsed()));
    false
}

/// Whether a terminal shows colours and moves its cursor as escape sequences say.
pub(crate) fn shows_escapes() -> bool {
    env::var_os("TERM").is_some_and(|terminal| !terminal.is_empty() && terminal != "dumb")
}
