//! Ends the command when a signal asks for it, and leaves nothing half-written behind.
//!
//! SIGINT, SIGTERM and SIGHUP are blocked in every thread, and one thread waits for them. So what it does about them is
//! ordinary code, with locks and files, and it runs at once even if all other threads compute or wait for a pipe.

use crate::{progress, target};
use anyhow::Context;
use nix::sys::signal::{SigSet, Signal};
use std::process;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

const ENDING: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

/// A terminal that takes no output, because the user has stopped it, does not keep the command from ending.
const PATIENCE: Duration = Duration::from_millis(100);

/// Watches for signals. Threads inherit what is blocked, so no other thread may run yet.
///
/// # Errors
/// If the system refuses.
pub(crate) fn watch() -> anyhow::Result<()> {
    let ignored = ignored();
    let signals: SigSet = ENDING.into_iter().filter(|signal| ignored >> (*signal as u32 - 1) & 1 == 0).collect();
    signals.thread_block().context("blocking signals")?;
    // A file that may not grow is an error of the write, which says so, and not the end of the command.
    SigSet::from(Signal::SIGXFSZ).thread_block().context("blocking signals")?;
    let wait = move || {
        while let Ok(signal) = signals.wait() {
            if !(signal == Signal::SIGHUP && hung_up()) {
                end(signal);
            }
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(wait).context("waiting for signals")?;
    Ok(())
}

/// What is done before a signal ends the command.
#[cfg(any(feature = "cluster", feature = "convert", feature = "serve"))]
static FIRST: std::sync::Mutex<Option<Box<dyn FnOnce() + Send>>> = std::sync::Mutex::new(None);

/// Has a signal do this before it ends the command.
#[cfg(any(feature = "cluster", feature = "convert", feature = "serve"))]
pub(crate) fn first(work: impl FnOnce() + Send + 'static) {
    *FIRST.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(Box::new(work));
}

/// What SIGHUP does in place of ending the command.
#[cfg(feature = "serve")]
static ON_HANGUP: std::sync::Mutex<Option<Box<dyn Fn() + Send>>> = std::sync::Mutex::new(None);

/// Has SIGHUP do this, each time, and not end the command.
#[cfg(feature = "serve")]
pub(crate) fn on_hangup(work: impl Fn() + Send + 'static) {
    *ON_HANGUP.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(Box::new(work));
}

/// Whether SIGHUP does something else than to end the command. It is done.
fn hung_up() -> bool {
    #[cfg(feature = "serve")]
    if let Some(work) = &*ON_HANGUP.lock().unwrap_or_else(std::sync::PoisonError::into_inner) {
        work();
        return true;
    }
    false
}

/// Ends the command as shells report a command that a signal has ended: with 128 and the number of the signal.
fn end(signal: Signal) -> ! {
    #[cfg(any(feature = "cluster", feature = "convert", feature = "serve"))]
    {
        let first = FIRST.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some(work) = first {
            work();
        }
    }
    let (cleared, is_clear) = channel();
    thread::spawn(move || {
        progress::end();
        let _ = cleared.send(());
    });
    let _ = is_clear.recv_timeout(PATIENCE);
    target::abandon(|| process::exit(128 + signal as i32))
}

/// The signals that this command was started to ignore, one bit for each, the first in bit 0: SIGHUP by `nohup`, SIGINT
/// in the background of a shell script.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}
