//! Neighbours on threads: a reader or a sink at one end of a pipe, and readers whose lines are decoded on other
//! threads.

use super::readers::{End, Options, Owned, Reader};
use super::script::{Script, caught};
use super::sinks::Rogue;
use super::told::Told;
use crate::second::SerdeTree;
use crate::shown;
use jird::event::{Failure, JsonSource, Source};
use jird::hooks::event::pipe;
use jird::lines;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A reader on the source's thread of a pipe, or one whose lines are decoded on another thread.
pub(super) fn readers(script: &Script<'_>) {
    if script.size & 8 == 0 { read_and_pipe(script) } else { decode_lines(script) }
}

fn read_and_pipe(script: &Script<'_>) {
    let options = Options { variant: 0, chunk_bytes: script.chunk_bytes() };
    let mut told = Told::new(2 * script.rest.len() + 64);
    let piped = caught(|| {
        pipe(&mut told, |pipe| {
            let mut reader = Reader::new(script);
            let sent = options.apply(JsonSource::from_reader(&mut reader)).send(pipe);
            (sent.is_ok(), reader.end, reader.given)
        })
    });
    let Some(piped) = piped else { return };
    let (sent, end, given) = piped.unwrap_or_else(|failure| match failure {
        Failure::Sink(never, _) | Failure::Source(never) => match never {},
    });
    let seen = told.seen(None);
    let wanted = options.told(&mut options.apply(JsonSource::from_slice(&given)), given.len());
    assert!(wanted.told.starts_with(&seen.told), "{}\nfrom {}", seen.told, shown(&given));
    assert!(!sent || end == End::Said && wanted.told == seen.told, "{}", shown(&given));
}

/// The reader's text is not known here, so the check is only that nothing is lost without an error.
fn decode_lines(script: &Script<'_>) {
    let panicked = Arc::new(AtomicBool::new(false));
    let reader = Owned::new(&script.to_bytes(), Arc::clone(&panicked));
    let mut last = None;
    for (index, value) in lines::typed_on::<SerdeTree>(reader, 1).enumerate() {
        assert!(index <= 300_000, "lines without end");
        last = Some(value);
    }
    if panicked.load(Ordering::Relaxed) {
        assert!(matches!(last, Some(Err(_))), "the reader panicked, and the values end as if all had come");
    }
}

/// A sink at the end of a pipe.
pub(super) fn sink(script: &Script<'_>) {
    let mut rogue = Rogue::new(script);
    for _ in 0..2 {
        let _ = caught(|| pipe(&mut rogue, |pipe| JsonSource::from_slice(script.rest).send(pipe).is_ok()));
    }
}
