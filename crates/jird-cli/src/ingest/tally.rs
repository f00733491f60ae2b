//! How much was taken of each file. It is reported however the run ends, and the report is exact: after it, nothing
//! more is taken.

use crate::outcome::report as say;
use crate::signals;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How much was taken of each file so far. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally(Arc<(Mutex<State>, Condvar)>);

#[derive(Debug, Default)]
struct State {
    files: Vec<FileTally>,
    /// Whether events are on their way into the store.
    is_taking: bool,
    /// Whether a signal ends the command.
    is_ending: bool,
}

/// What was taken of a file.
#[derive(Clone, Debug)]
pub(super) struct FileTally {
    pub(super) name: String,
    /// Whether `--resume` can go on in it.
    pub(super) is_file: bool,
    /// Events that this run took.
    pub(super) events: u64,
    /// Where it began: bytes and whole lines that were taken before.
    pub(super) from: Place,
    /// Up to where it was taken.
    pub(super) to: Place,
    pub(super) end: End,
}

/// A place in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) bytes: u64,
    pub(super) lines: u64,
}

/// Whether all of a file was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Not yet, or not at all.
    Short,
    /// To its end.
    Whole,
    /// Up to a last line without a line feed that is not a whole value.
    OpenLine,
}

/// A signal waits no longer for events that are on their way.
const PATIENCE: Duration = Duration::from_millis(500);

impl Tally {
    /// Has a signal tell what was taken.
    pub(super) fn tell_at_signals(&self) {
        let tally = self.clone();
        signals::first(move || tally.end());
    }

    /// A file that nothing was taken from yet. Returns its number.
    pub(super) fn begin(&self, name: String, is_file: bool, from: Place) -> usize {
        let files = &mut self.state().files;
        files.push(FileTally { name, is_file, events: 0, from, to: from, end: End::Short });
        files.len() - 1
    }

    /// Takes events of a file, with `take`, up to a place.
    pub(super) fn take<T, E>(
        &self,
        number: usize,
        events: u64,
        to: Place,
        take: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let mut state = self.state();
        while state.is_ending {
            state = self.0.1.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.is_taking = true;
        drop(state);
        let result = take();
        let mut state = self.state();
        state.is_taking = false;
        if result.is_ok()
            && let Some(file) = state.files.get_mut(number)
        {
            (file.events, file.to) = (file.events + events, to);
        }
        drop(state);
        self.0.1.notify_all();
        result
    }

    /// How a file ended.
    pub(super) fn ended(&self, number: usize, end: End) {
        if let Some(file) = self.state().files.get_mut(number) {
            file.end = end;
        }
    }

    /// Says what was taken of each file; with `quiet`, only of those that were not taken whole.
    pub(super) fn tell(&self, quiet: bool) {
        let state = self.state();
        // A signal ends the command, and has told.
        let files = if state.is_ending { Vec::new() } else { state.files.clone() };
        drop(state);
        files.iter().filter(|file| !quiet || file.end != End::Whole).for_each(|file| say(&file.words()));
    }

    /// Says it before a signal ends the command.
    fn end(&self) {
        let mut state = self.state();
        state.is_ending = true;
        let waited = self.0.1.wait_timeout_while(state, PATIENCE, |state| state.is_taking);
        state = waited.unwrap_or_else(PoisonError::into_inner).0;
        let (files, is_taking) = (state.files.clone(), state.is_taking);
        drop(state);
        files.iter().for_each(|file| say(&file.words()));
        if is_taking {
            say("the store is busy: up to 1 MB more of the last file may have been taken");
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FileTally {
    fn words(&self) -> String {
        let Self { name, events, from, to, .. } = self;
        let events = if *events == 1 { "1 event".to_owned() } else { format!("{events} events") };
        let begin = if from.bytes > 0 { format!(" after byte {}", from.bytes) } else { String::new() };
        let to = format!("line {}, byte {}", to.lines, to.bytes);
        match (self.end, self.is_file) {
            (End::Whole, _) => format!("{name}: {events} taken{begin} to the end ({to})"),
            (End::OpenLine, _) => format!(
                "{name}: {events} taken{begin} up to {to}; the last line has no end yet and is left to the next run with --resume"
            ),
            (End::Short, true) => {
                format!("{name}: {events} taken{begin} up to {to}, and nothing after that; --resume goes on from there")
            }
            (End::Short, false) => format!("{name}: {events} taken{begin} up to {to}, and nothing after that"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_what_was_taken() {
        let tally = Tally::default();
        let number = tally.begin("a".into(), true, Place { bytes: 4, lines: 2 });
        tally.take(number, 2, Place { bytes: 8, lines: 4 }, || Ok::<_, ()>(())).unwrap();
        assert!(tally.take(number, 5, Place { bytes: 90, lines: 9 }, || Err::<(), ()>(())).is_err());
        let words = tally.state().files[0].words();
        assert_eq!(
            words,
            "a: 2 events taken after byte 4 up to line 4, byte 8, and nothing after that; --resume goes on from there"
        );
        tally.ended(number, End::Whole);
        assert_eq!(tally.state().files[0].words(), "a: 2 events taken after byte 4 to the end (line 4, byte 8)");
    }
}
