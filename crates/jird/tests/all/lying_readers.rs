//! Readers that say more than they read, or panic: no `str` that is not UTF-8 comes of them.

use crate::common;

use jird::event::{Failure, Interest, JsonSource, Key, Sink, Source};
use std::convert::Infallible;
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

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

/// Gives a text, panics once at its end, and says that there is no more.
struct PanicsOnce<'t> {
    text: &'t [u8],
    panicked: bool,
}

/// What it panics with, of which the panic hook does not hear.
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
