//! How a run ended, as an exit code.

use std::io;
use std::process::ExitCode;

/// From best to worst: of two outcomes the worse one is the run's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// All is well.
    Fine,
    /// The data was not as asked: 1.
    BadData,
    /// The work could not be done: 2.
    Failed,
}

impl Outcome {
    /// Reports an error that ended the run. A pipe that nobody reads any more is no error.
    pub(crate) fn of_error(error: &anyhow::Error) -> Self {
        if is_broken_pipe(error) {
            return Self::Fine;
        }
        report(&words(error));
        if error.downcast_ref::<BadData>().is_some() { Self::BadData } else { Self::Failed }
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(match outcome {
            Outcome::Fine => 0,
            Outcome::BadData => 1,
            Outcome::Failed => 2,
        })
    }
}

/// The data was not as asked; in words.
#[derive(Debug)]
pub(crate) struct BadData(pub(crate) String);

impl std::fmt::Display for BadData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadData {}

/// Says something on standard error.
#[expect(clippy::print_stderr, reason = "the one place where words go out")]
pub(crate) fn report(words: &str) {
    eprintln!("jird: {words}");
}

/// An error and its causes, each thing said once.
pub(crate) fn words(error: &anyhow::Error) -> String {
    let mut words = String::new();
    let last = |text: &str| text.rsplit(": ").next().unwrap_or_default().to_owned();
    for cause in error.chain().map(ToString::to_string) {
        if cause.starts_with(&words) {
            words = cause;
        } else if !words.contains(&cause) && last(&words) != last(&cause) {
            words.extend([": ", &cause]);
        }
    }
    words
}

/// Says how many bad records were left out.
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
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
