//! The outcome of a run, as an exit code.

use crate::progress;
use std::io::{self, Write};

/// Ordered from best to worst: the outcome of a run is the worst outcome of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// Exit code 0: all is well.
    Fine,
    /// Exit code 0 too: the reader of the output closed it, because it has seen enough.
    Cut,
    /// Exit code 1: the data was not as asked.
    BadData,
    /// Exit code 2: the work could not be done.
    Failed,
}

impl Outcome {
    /// Does the work for each input, and reports its error. The others are still done, unless the output was closed.
    pub(crate) fn worst<T>(inputs: Vec<T>, mut each: impl FnMut(&T) -> anyhow::Result<Self>) -> Self {
        let mut worst = Self::Fine;
        for input in inputs {
            let outcome = each(&input).unwrap_or_else(|error| Self::of_error(&error));
            worst = worst.max(outcome);
            if outcome == Self::Cut {
                break;
            }
        }
        worst
    }

    /// The exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Fine | Self::Cut => 0,
            Self::BadData => 1,
            Self::Failed => 2,
        }
    }

    /// Reports an error that ended the run. A broken pipe is passed over in silence: its reader has seen enough.
    pub(crate) fn of_error(error: &anyhow::Error) -> Self {
        if is_broken_pipe(error) {
            return Self::Cut;
        }
        report(&words(error));
        if error.downcast_ref::<BadData>().is_some() { Self::BadData } else { Self::Failed }
    }
}

/// The error of what this program lacks: where it can be had. `what` it is is in the `feature`.
#[cfg(not(all(feature = "query", feature = "convert", feature = "parquet", feature = "serve")))]
pub(crate) fn absent(what: &str, feature: &str) -> anyhow::Error {
    anyhow::anyhow!(
        "{what} is not in this program, which was built without the feature `{feature}`; `cargo install jird-cli` and, \
         in Python, pip install 'jird[query]' bring one with it"
    )
}

/// An error with this message: the data was not as asked.
#[derive(Debug)]
pub(crate) struct BadData(pub(crate) String);

impl std::fmt::Display for BadData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadData {}

/// The advice that follows the error message of a bad record.
#[cfg(any(feature = "convert", feature = "query"))]
pub(crate) const PASS_BY: &str =
    "\n`--on-error skip` leaves bad records out, `--on-error quarantine=FILE` sets them aside";

/// Prints a message to standard error.
/// They are lost if standard error was closed, as after `2>&1 | head`.
pub(crate) fn report(words: &str) {
    let _ = progress::aside(|| writeln!(io::stderr(), "jird: {words}"));
}

/// An error and its causes in one line, without repetitions.
pub(crate) fn words(error: &anyhow::Error) -> String {
    let mut words = String::new();
    let last = |text: &str| text.rsplit(": ").next().unwrap_or_default().to_owned();
    for cause in error.chain().map(ToString::to_string) {
        let cause = without_number(cause);
        if cause.starts_with(&words) {
            words = cause;
        } else if !words.contains(&cause) && last(&words) != last(&cause) {
            words.extend([": ", &cause]);
        }
    }
    words
}

/// A message without the number of the system's error, which says nothing to people.
fn without_number(message: String) -> String {
    match message.split_once(" (os error ").and_then(|(before, rest)| Some((before, rest.split_once(')')?.1))) {
        Some((before, after)) => format!("{before}{after}"),
        None => message,
    }
}

/// Reports how many bad records were left out.
#[cfg(any(feature = "convert", feature = "query"))]
pub(crate) fn left_out(bad: u64, first: Option<&str>, quiet: bool) -> Outcome {
    if bad == 0 {
        return Outcome::Fine;
    }
    if !quiet {
        let first = first.unwrap_or_default();
        report(&format!("{bad} bad record{} left out, the first: {first}", if bad == 1 { "" } else { "s" }));
    }
    Outcome::BadData
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kind = |cause: &(dyn std::error::Error + 'static)| match cause.downcast_ref::<jird::Error>() {
        Some(error) => error.io_error_kind(),
        None => cause.downcast_ref().map(io::Error::kind),
    };
    error.chain().filter_map(kind).any(|kind| kind == io::ErrorKind::BrokenPipe)
}
