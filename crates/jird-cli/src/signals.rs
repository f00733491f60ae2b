//! Ends the command when a signal asks for it, and leaves nothing half-written behind.
//!
//! These are SIGINT, SIGTERM and SIGHUP, and Ctrl-C of Windows. One thread waits for them. So what it does about them is
//! ordinary code, with locks and files, and it runs at once even if all other threads compute or wait for a pipe.

use crate::system::{self, Signal};
use crate::{progress, target};
use std::process;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// A terminal that takes no output, because the user has stopped it, does not keep the command from ending.
const PATIENCE: Duration = Duration::from_millis(100);

/// Watches for signals. No other thread may run yet.
///
/// # Errors
/// If the system refuses.
pub(crate) fn watch() -> anyhow::Result<()> {
    system::watch(|signal| {
        if !(signal == Signal::HangUp && hung_up()) {
            end(signal);
        }
    })
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

/// Ends the command.
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
    target::abandon(|| process::exit(signal.code()))
}
