//! Records that go wrong, and recordings.

use super::{Lax, recorded};
use jird::event::{self, Failure, Interest, JsonSink, JsonSource, Key, Numeral, Objects, Place, Sink, Source};
use jird::hooks::event::Recording;
use jird::{Error, RawValue};
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use std::fmt::Debug;

#[test]
fn a_record_that_is_wrong_says_nothing_of_those_behind_it() {
    let mut found = Vec::new();
    let mut objects = Objects::new(|_, lax: Lax| {
        found.push(lax.a);
        Ok::<(), Error>(())
    });
    let mut send = |text: &str| JsonSource::from_slice(text.as_bytes()).send(&mut objects).is_ok();
    let sent = [r#"{"x":1,"a":"no"}"#, r#"{"a":1,"x":2}"#, r#"{"a":2,"x":3}"#].map(&mut send);
    assert_eq!((sent, found), ([false, true, true], vec![1, 2]));
}

#[test]
fn a_numeral_is_what_its_text_says() {
    let alphabet = ["", "0", "1", "9", "-", ".", "e", "12", "\u{fc}", ":", "/", " "];
    for index in 0..alphabet.len().pow(5) {
        let text: String = (0..5).map(|at| alphabet[index / alphabet.len().pow(at) % alphabet.len()]).collect();
        let mut written = Vec::new();
        let found = Numeral::new(&text).inspect(|numeral| numeral.write(&mut written));
        assert_eq!(found.is_some(), jird::Number::new(&text).is_some(), "{text}");
        assert!(found.is_none() || written == text.as_bytes(), "{text}");
    }
    for text in ["12345678", "01234567", "123456789", "18446744073709551616", "1234567a", "-1234567"] {
        assert_eq!(Numeral::new(text).map(Numeral::machine), jird::Number::new(text).map(jird::Number::machine_number));
    }
}

#[test]
fn a_closure_stops_with_words_of_its_own() {
    #[derive(Debug, PartialEq)]
    enum Stop {
        Enough,
        Wrong(String),
    }
    impl From<Error> for Stop {
        fn from(error: Error) -> Self {
            Self::Wrong(error.to_string())
        }
    }
    let mut source = JsonSource::from_slice(b"1\n2\n3");
    let stopped = event::for_each(&mut source, |index, _: u8| if index == 1 { Err(Stop::Enough) } else { Ok(()) });
    assert_eq!(stopped, Err(Failure::Sink(Stop::Enough, Place { record: 1, offset: 2, line: 2 })));
    let mut source = JsonSource::from_slice(b"[1]\n[1,{}]");
    let stopped = event::for_each(&mut source, |_, _: Vec<u8>| Ok(()));
    let wrong = Stop::Wrong("invalid type: map, expected u8 (at /1)".into());
    assert_eq!(stopped, Err(Failure::Sink(wrong, Place { record: 1, offset: 4, line: 2 })));
}

/// Takes nothing of one key.
struct Picky(JsonSink<Vec<u8>>);
impl Sink for Picky {
    type Error = Error;
    fn begin_object(&mut self) -> Result<(), Error> {
        self.0.begin_object()
    }
    fn key(&mut self, key: Key<'_>) -> Result<Interest, Error> {
        if key.text() == "skip" { Ok(Interest::Skip) } else { self.0.key(key) }
    }
    fn end_object(&mut self) -> Result<(), Error> {
        self.0.end_object()
    }
    fn bool(&mut self, value: bool) -> Result<(), Error> {
        self.0.bool(value)
    }
}
#[test]
fn a_recording_says_what_it_heard() {
    let text = r#"{"a":[1.50,{"b":"x\n"},[],{}],"c":null,"skip":[[1]],"d":true}"#;
    let mut recording = Recording::new();
    event::copy(&mut JsonSource::from_slice(text.as_bytes()), &mut recording).unwrap();
    let mut out = JsonSink::new(Vec::new());
    event::copy(&mut recording.source(), &mut out).unwrap();
    assert_eq!(String::from_utf8(out.into_inner()).unwrap(), format!("{text}\n"));

    let mut recording = Recording::new();
    let text = br#"{"skip":[[1,{"x":2}]],"d":true,"skip":0,"skip":{}}"#;
    event::copy(&mut JsonSource::from_slice(text), &mut recording).unwrap();
    let mut picky = Picky(JsonSink::new(Vec::new()));
    event::copy(&mut recording.source(), &mut picky).unwrap();
    assert_eq!(picky.0.so_far(), br#"{"d":true}"#);
    // What is cut off is not a record.
    let mut source = JsonSource::from_slice(b"[[1]");
    source.send(&mut recording).unwrap_err();
    assert!(!recording.is_complete() && recording.decode::<IgnoredAny>().is_err());
    let mut out = JsonSink::new(Vec::new());
    event::copy(&mut recording.source(), &mut out).unwrap();
    assert!(out.into_inner().is_empty());
}

/// What no source should send is refused, and that is all.
#[test]
fn a_recording_of_nonsense_is_refused() {
    assert!(recorded(Sink::end_array).decode::<Vec<u8>>().is_err());
    assert!(recorded(|sink| sink.key(Key::new("x")).map(drop)).decode::<u8>().is_err());
    let nonsense = recorded(|sink| {
        sink.begin_object()?;
        sink.key(Key::new("x"))?;
        sink.end_object()
    });
    assert!(nonsense.decode::<BTreeMap<String, u8>>().is_err());
    let mut out = JsonSink::new(Vec::new());
    nonsense.source().send(&mut out).unwrap();
    let mut sink = Objects::new(|_, _: u8| Ok::<(), Error>(()));
    assert!(sink.end_record().is_err());
}

#[test]
fn depth_takes_memory_and_no_stack() {
    const DEPTH: usize = 100_000;
    let text = format!("{}1{}", "[{\"a\":".repeat(DEPTH / 2), "}]".repeat(DEPTH / 2));
    let mut recording = Recording::new();
    let mut source = JsonSource::from_slice(text.as_bytes()).depth_max(DEPTH);
    event::copy(&mut source, &mut recording).unwrap();
    let mut out = JsonSink::new(Vec::new());
    event::copy(&mut recording.source(), &mut out).unwrap();
    assert_eq!(out.into_inner(), format!("{text}\n").as_bytes());
    recording.decode::<IgnoredAny>().unwrap();
    assert_eq!(recording.decode::<serde_json::Value>().unwrap_err().code(), "depth");
    assert_eq!(recording.decode::<Box<RawValue>>().unwrap().get().len(), text.len());
}
