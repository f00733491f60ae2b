//! Readers and writers that claim more than they did, or panic: errors, and no
//! `str` that is not UTF-8.

use crate::common;

use jird::Deserializer;
use jird::event::{Failure, Interest, JsonSink, JsonSource, Key, Sink, Source};
use jird::hooks::lines::ReadAt;
use jird::hooks::lines::{StreamPieces, read_range};
use jird::lines;
use serde::Serialize;
use std::convert::Infallible;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;

/// Gives 300 bytes, takes 200 of them back, and gives others in their place.
struct TakesBack {
    calls: usize,
}

impl Read for TakesBack {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.calls += 1;
        match self.calls {
            1 => {
                buffer[..300].fill(b'a');
                buffer[..2].copy_from_slice(b"[\"");
                Ok(300)
            }
            2 => Ok(0_usize.wrapping_sub(200)),
            3 => {
                buffer[..600].fill(0xFF);
                buffer[500..504].copy_from_slice(b"\",7]");
                buffer[504..600].fill(b' ');
                Ok(600)
            }
            _ => Ok(0),
        }
    }
}

#[test]
fn a_reader_that_takes_bytes_back_is_an_error() {
    common::force_kernel();
    let read = jird::from_reader::<_, (String, u8)>(TakesBack { calls: 0 });
    if let Ok((text, _)) = &read {
        assert!(std::str::from_utf8(text.as_bytes()).is_ok(), "a String that is not UTF-8");
    }
    assert!(read.expect_err("the reader lies").is_io());
}

#[test]
fn a_reader_that_claims_more_than_there_is_room_for_is_an_error() {
    common::force_kernel();
    for beyond in [1, 2, 1000, usize::MAX / 2] {
        let claims = Claims(beyond);
        assert!(jird::from_reader::<_, Vec<u8>>(claims).expect_err("the reader lies").is_io(), "{beyond}");
    }
}

struct Claims(usize);

impl Read for Claims {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        buffer.fill(b'[');
        Ok(buffer.len() + self.0)
    }
}

/// Claims to have written or read more than there was, from some call on.
struct Liar {
    beyond: usize,
    honest_calls: std::sync::atomic::AtomicUsize,
}

impl Liar {
    fn claim(&self, room: usize) -> usize {
        let honest = |calls: usize| calls.checked_sub(1);
        match self.honest_calls.fetch_update(Ordering::Relaxed, Ordering::Relaxed, honest) {
            Ok(_) => room.min(3),
            Err(_) => room + self.beyond,
        }
    }
}

impl Read for Liar {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        to.fill(b'[');
        Ok(self.claim(to.len()))
    }
}

impl Write for Liar {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        Ok(self.claim(text.len()))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl ReadAt for Liar {
    fn read_at(&self, to: &mut [u8], _: u64) -> io::Result<usize> {
        to.fill(b'[');
        Ok(self.claim(to.len()))
    }
}

/// Reads or writes with a liar, and returns whether that is an error.
type Function = (&'static str, fn(Liar) -> bool);

/// Every public function that takes a reader or a writer.
const FUNCTIONS: &[Function] = &[
    ("from_reader", |liar| jird::from_reader::<_, Vec<u8>>(liar).is_err()),
    ("Deserializer::from_reader", |liar| {
        Deserializer::from_reader(liar).into_iter::<Vec<u8>>().next().is_some_and(|value| value.is_err())
    }),
    ("records", |liar| {
        let pattern = "/*".parse().expect("a pattern");
        Deserializer::from_reader(liar).records::<Vec<u8>>(pattern).next().is_some_and(|value| value.is_err())
    }),
    ("JsonSource::from_reader", |liar| JsonSource::from_reader(liar).send(&mut Checks::default()).is_err()),
    ("from_reader_trusted", |liar| JsonSource::from_reader_trusted(liar).send(&mut Checks::default()).is_err()),
    ("read_stream", |liar| lines::read_stream::<io::Error>(liar, &mut Vec::new(), 1 << 20, |_, _| Ok(GO_ON)).is_err()),
    ("read_range", |liar| {
        read_range::<io::Error>(&liar, 0..1 << 24, &mut Vec::new(), 1 << 20, |_, _| Ok(GO_ON)).is_err()
    }),
    ("StreamPieces", |liar| StreamPieces::new(liar, 1 << 20).any(|piece| piece.is_err())),
    ("typed_on", |liar| lines::typed_on::<Vec<u8>>(liar, 2).any(|value| value.is_err())),
    ("to_writer", |liar| jird::to_writer(liar, &vec![1; 100_000]).is_err()),
    ("to_writer_pretty", |liar| jird::to_writer_pretty(liar, &vec![1; 100_000]).is_err()),
    ("Serializer", |liar| vec![1; 100_000].serialize(&mut jird::Serializer::with_indent(liar, " ")).is_err()),
    ("JsonSink", |liar| {
        let text = format!("[{}1]", "1,".repeat(100_000));
        JsonSource::from_slice(text.as_bytes()).send(&mut JsonSink::new(liar)).is_err()
    }),
];

const GO_ON: ControlFlow<()> = ControlFlow::Continue(());

#[test]
fn whoever_reads_or_writes_with_a_liar_gets_an_error() {
    common::force_kernel();
    for (name, function) in FUNCTIONS {
        for beyond in [1, 1000, usize::MAX / 2] {
            for honest_calls in [0, 1, 2, 5] {
                let liar = Liar { beyond, honest_calls: honest_calls.into() };
                let result = catch_unwind(AssertUnwindSafe(|| function(liar)));
                assert_eq!(result.ok(), Some(true), "{name}: {beyond} bytes more, after {honest_calls} calls");
            }
        }
    }
}

/// Gives a text, panics once at its end, and says that there is no more.
struct PanicsOnce<'t> {
    text: &'t [u8],
    panicked: bool,
}

/// What it panics with; the panic hook does not see it.
struct Own;

impl Read for PanicsOnce<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.text.is_empty() && !std::mem::replace(&mut self.panicked, true) {
            resume_unwind(Box::new(Own));
        }
        self.text.read(buffer)
    }
}

/// Checks that what it is told is UTF-8.
#[derive(Default)]
struct Checks {
    strings: usize,
}

impl Sink for Checks {
    type Error = Infallible;

    fn string(&mut self, text: &str) -> Result<(), Infallible> {
        let tail = &text.as_bytes()[text.len().saturating_sub(4)..];
        assert!(std::str::from_utf8(text.as_bytes()).is_ok(), "a str that is not UTF-8 and ends in {tail:x?}");
        self.strings += 1;
        Ok(())
    }

    fn key(&mut self, key: Key<'_>) -> Result<Interest, Infallible> {
        self.string(key.text()).map(|()| Interest::Take)
    }
}

#[test]
fn a_reader_that_panics_once_leaves_nothing_unchecked_to_be_seen() {
    common::force_kernel();
    let mut text = [&b"   "[..], &b"111 ".repeat(16_394), b"\""].concat();
    text.resize(131_072, b'a');
    text.resize(131_172, 0xFF);
    text[131_074] = b'"';
    let mut source = JsonSource::from_reader(PanicsOnce { text: &text, panicked: false });
    let mut sink = Checks::default();
    let mut panics = 0;
    loop {
        match catch_unwind(AssertUnwindSafe(|| source.send_record(&mut sink))) {
            Ok(Ok(true)) => {}
            Ok(Ok(false) | Err(Failure::Source(_))) => break,
            Ok(Err(Failure::Sink(never, _))) => match never {},
            Err(payload) if payload.is::<Own>() => panics += 1,
            Err(payload) => resume_unwind(payload),
        }
    }
    assert_eq!((panics, sink.strings), (1, 0));
}
