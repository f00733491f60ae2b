//! Readers that fail in the middle of a value.

use jird::event::{Failure, JsonSink, JsonSource, Source};
use std::io::{self, Read};

/// Gives a text and fails behind it.
struct Fails<'t>(&'t [u8]);

impl Read for Fails<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() { Err(io::Error::other("it says so")) } else { self.0.read(buffer) }
    }
}

#[test]
fn a_number_that_an_error_cuts_short_is_not_told_as_a_shorter_one() {
    crate::common::force_kernel();
    for (begins, len) in (0..140).flat_map(|begins| (0..160).step_by(7).map(move |len| (begins, len))) {
        for value in ["1234567890", "-0.5e10", "true", "[1234567890]"] {
            let whole = format!("{}{value} {}", " ".repeat(begins), "7 ".repeat(40));
            let text = &whole[..len.min(whole.len())];
            let mut source = JsonSource::from_reader(Fails(text.as_bytes())).chunk_bytes(64);
            let mut sink = JsonSink::new(Vec::new());
            while source.send_record(&mut sink).is_ok_and(|sent| sent) {}
            let told = String::from_utf8_lossy(sink.so_far());
            let first = told.lines().next().unwrap_or_default();
            // For an array, its beginning was sent.
            let is_right = ["", value, "[", "[1234567890"].contains(&first);
            assert!(is_right, "{first} instead of {value} at {begins}, in {len} bytes");
        }
    }
}

#[test]
fn values_that_came_before_an_error_are_given() {
    crate::common::force_kernel();
    let values = ["1", "[2,{\"a\":3}]", "\"4\"", "true", "{}", "-5.5", "\"\\u0036é\""];
    let text = values.map(|value| format!("{value} ")).concat().repeat(30);
    for len in (0..text.len()).filter(|&len| text.is_char_boundary(len)) {
        let text = &text[..len];
        let mut whole = text.split_inclusive(' ').filter(|part| part.ends_with(' ')).map(str::trim).collect::<Vec<_>>();
        // A value that closes itself needs nothing after it.
        whole.extend(
            text.rsplit(' ')
                .next()
                .filter(|last| jird::validate(last.as_bytes()).is_ok() && last.ends_with(['"', ']', '}'])),
        );
        let mut source = JsonSource::from_reader(Fails(text.as_bytes())).chunk_bytes(64);
        let mut sent = 0;
        let error = loop {
            match source.send_record(&mut JsonSink::new(Vec::new())) {
                Ok(true) => sent += 1,
                Ok(false) => panic!("it fails"),
                Err(Failure::Source(error)) => break error,
                Err(Failure::Sink(error, _)) => panic!("{error}"),
            }
        };
        assert!(error.is_io(), "{error} after {text:?}");
        assert_eq!(sent, whole.len(), "of {text:?}");
        let typed = jird::Deserializer::from_reader(Fails(text.as_bytes())).into_iter::<serde::de::IgnoredAny>();
        assert_eq!(typed.take_while(Result::is_ok).count(), whole.len(), "of {text:?}");
    }
}

#[test]
fn an_error_within_what_is_skipped_is_the_readers() {
    crate::common::force_kernel();
    let value = r#"{"a":[1,"b","cd",{"e":"fgh"},null,true],"i":"jklmnop","q":[[[]]]}"#;
    let all = format!("[{value},{value},{value}]");
    for (begins, len) in (0..70).flat_map(|begins| (0..4).map(move |part| (begins, part * 64 + begins))) {
        let text = [&b" ".repeat(begins)[..], &all.as_bytes()[..len.min(all.len() - 1)]].concat();
        let mut source = JsonSource::from_reader_trusted(Fails(&text)).chunk_bytes(64).check_first();
        match source.send_record(&mut JsonSink::new(Vec::new())) {
            Err(Failure::Source(error)) => assert!(error.is_io(), "{error}: {}", checks::shown(&text)),
            told => panic!("{told:?}: {}", checks::shown(&text)),
        }
    }
}

/// Gives a text, fails once, and gives the rest.
struct FailsOnce<'t>(&'t [u8], bool, &'t [u8]);

impl Read for FailsOnce<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.0.is_empty() {
            return self.0.read(buffer);
        }
        if std::mem::replace(&mut self.1, true) { self.2.read(buffer) } else { Err(io::Error::other("it says so")) }
    }
}

#[test]
fn an_error_of_reading_ahead_outlives_a_line_that_is_skipped() {
    crate::common::force_kernel();
    let begins = [&b"x"[..], &b" ".repeat(127)].concat();
    let mut source = JsonSource::from_reader(FailsOnce(&begins, false, b"\n1\n\"\xFF\"\n")).chunk_bytes(64).lines();
    let mut sink = JsonSink::new(Vec::new());
    let mut wrong = |source: &mut JsonSource<_>| match source.send_record(&mut sink) {
        Err(Failure::Source(error)) => error,
        told => panic!("{told:?}"),
    };
    let first = wrong(&mut source);
    assert_eq!((first.code(), first.offset()), ("value", 0));
    assert!(source.skip_line(&first).is_err_and(|error| error.is_io()), "the reader's error is lost");
    assert!(source.skip_line(&first).is_ok());
    assert!(matches!(source.send_record(&mut JsonSink::new(Vec::new())), Ok(true)));
    assert_eq!(wrong(&mut source).code(), "utf8");
}
