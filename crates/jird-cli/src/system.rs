//! What the operating systems do in different ways, for a command: signals, limits, terminals.

#[cfg_attr(unix, path = "system/unix.rs")]
#[cfg_attr(windows, path = "system/windows.rs")]
mod on;

#[cfg(feature = "query")]
pub(crate) use on::address_space_limit;
#[cfg(feature = "convert")]
pub(crate) use on::{raise_open_files, reader_goes_within};
pub(crate) use on::{shows_escapes, watch};

use jird_formats::files::Handle;

/// Why the system ends a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C, and Ctrl-Break of Windows.
    Interrupt,
    HangUp,
    Terminate,
}

impl Signal {
    /// The exit code of a command that it has ended, as shells report it: 128 and the number of the signal on Unix.
    pub(crate) fn code(self) -> i32 {
        128 + match self {
            Self::HangUp => 1,
            Self::Interrupt => 2,
            Self::Terminate => 15,
        }
    }
}

/// How many columns a terminal has; `None` for a file, or if it is unknown.
pub(crate) fn columns(terminal: impl Handle) -> Option<usize> {
    terminal_size::terminal_size_of(terminal).map(|(width, _)| usize::from(width.0)).filter(|width| *width > 0)
}
