//! What a command needs of Windows.

use super::Signal;
use anyhow::Context as _;
use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll};
use std::thread;
use tokio::runtime::Builder;
use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};
use winapi_util::console::Console;

/// Has a thread call `each` when the user presses Ctrl-C or Ctrl-Break, closes the console, or when the system ends.
///
/// # Errors
/// If the system refuses.
pub(crate) fn watch(each: impl Fn(Signal) + Send + 'static) -> anyhow::Result<()> {
    let runtime = Builder::new_current_thread().build().context("waiting for Ctrl-C")?;
    let events = || {
        let (mut ctrl_c, mut ctrl_break, mut close, mut shutdown) =
            (ctrl_c()?, ctrl_break()?, ctrl_close()?, ctrl_shutdown()?);
        io::Result::Ok(move |context: &mut Context<'_>| {
            let is_interrupt = ctrl_c.poll_recv(context).is_ready() | ctrl_break.poll_recv(context).is_ready();
            let (is_hang_up, is_end) = (close.poll_recv(context).is_ready(), shutdown.poll_recv(context).is_ready());
            match (is_interrupt, is_hang_up, is_end) {
                (true, ..) => Poll::Ready(Signal::Interrupt),
                (_, true, _) => Poll::Ready(Signal::HangUp),
                (_, _, true) => Poll::Ready(Signal::Terminate),
                _ => Poll::Pending,
            }
        })
    };
    let mut events = events().context("waiting for Ctrl-C")?;
    let wait = move || {
        loop {
            each(runtime.block_on(poll_fn(&mut events)));
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(wait).context("waiting for Ctrl-C")?;
    Ok(())
}

/// There is no such limit.
#[cfg(feature = "query")]
pub(crate) fn address_space_limit() -> Option<u64> {
    None
}

/// A process opens as many files as there is memory for.
#[cfg(feature = "convert")]
pub(crate) fn raise_open_files() {}

/// Waits. Windows tells only a write that what reads standard output has gone.
#[cfg(feature = "convert")]
pub(crate) fn reader_goes_within(time: std::time::Duration) -> bool {
    thread::sleep(time);
    false
}

/// Whether the consoles that standard output and standard error are show colours and move their cursor as escape
/// sequences say, which older ones do not.
pub(crate) fn shows_escapes() -> bool {
    let allow = |console: io::Result<Console>| {
        console.map_or(true, |mut console| console.set_virtual_terminal_processing(true).is_ok())
    };
    allow(Console::stdout()) && allow(Console::stderr())
}
