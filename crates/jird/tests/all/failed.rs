//! What goes on after something has failed: a source whose sink said no, a feed after an error, a `Display` that returns one.

use crate::common;

use jird::event::{Failure, Feed, Interest, JsonSource, Key, Sink, Source};
use serde::ser::{Serialize, Serializer};
use std::fmt;

/// Counts its calls, and fails after this many.
struct Fails {
    calls_left: usize,
    panics: bool,
    depth: usize,
}

impl Fails {
    fn after(calls: usize, panics: bool) -> Self {
        Self { calls_left: calls, panics, depth: 0 }
    }

    fn call(&mut self) -> Result<(), &'static str> {
        match self.calls_left.checked_sub(1) {
            Some(left) => self.calls_left = left,
            None if self.panics => std::panic::resume_unwind(Box::new("the sink's")),
            None => return Err("the sink's"),
        }
        Ok(())
    }
}

impl Sink for Fails {
    type Error = &'static str;

    fn begin_object(&mut self) -> Result<(), Self::Error> {
        self.depth += 1;
        self.call()
    }

    fn key(&mut self, _key: Key<'_>) -> Result<Interest, Self::Error> {
        self.call().map(|()| Interest::Take)
    }

    fn end_object(&mut self) -> Result<(), Self::Error> {
        self.depth = self.depth.checked_sub(1).expect("what ends was begun");
        self.call()
    }

    fn begin_array(&mut self) -> Result<(), Self::Error> {
        self.depth += 1;
        self.call()
    }

    fn end_array(&mut self) -> Result<(), Self::Error> {
        self.depth = self.depth.checked_sub(1).expect("what ends was begun");
        self.call()
    }

    fn string(&mut self, _text: &str) -> Result<(), Self::Error> {
        self.call()
    }
}

const TEXT: &[u8] = br#"{"a":[["b",[]],{"c":{}}],"d":"e"} [[]] "f" "#;

fn says_that_it_was_used_again<E: fmt::Debug>(failure: Failure<jird::Error, E>) {
    match failure {
        Failure::Source(error) => assert!(error.to_string().contains("used again after an error"), "{error}"),
        Failure::Sink(error, _) => panic!("{error:?}"),
    }
}

#[test]
fn a_source_is_not_used_again_after_its_sink_has_failed() {
    common::force_kernel();
    for (calls, panics) in (0..20).flat_map(|calls| [(calls, false), (calls, true)]) {
        let mut source = JsonSource::from_slice(TEXT);
        let mut sink = Fails::after(calls, panics);
        let sent = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            while source.send_record(&mut sink)? {}
            Ok(())
        }));
        match sent {
            Ok(Ok(())) => continue,
            Ok(Err(Failure::Sink(error, _))) => assert_eq!(error, "the sink's"),
            Ok(Err(Failure::Source(error))) => panic!("{error}"),
            Err(_) => assert!(panics),
        }
        for _ in 0..3 {
            let mut sink = Fails::after(usize::MAX, false);
            says_that_it_was_used_again(source.send_record(&mut sink).unwrap_err());
        }
    }
}

#[test]
fn a_source_that_checks_first_is_not_used_again_after_an_error() {
    common::force_kernel();
    for (text, pattern) in [("1 [2,x,3] 4", ""), ("{\"b\":- 6 ,\"a\":1}", "/a"), ("[1,2 3,4]", "/*")] {
        let mut source = JsonSource::from_slice(text.as_bytes()).records(pattern.parse().unwrap()).check_first();
        let mut sink = Fails::after(usize::MAX, false);
        let mut sent = source.send_record(&mut sink);
        while let Ok(true) = sent {
            sent = source.send_record(&mut sink);
        }
        sent.unwrap_err();
        for _ in 0..3 {
            says_that_it_was_used_again(source.send_record(&mut sink).unwrap_err());
        }
    }
}

#[test]
fn a_bad_line_is_not_left_halfway() {
    common::force_kernel();
    let mut source = JsonSource::from_slice(b"1 2\n3\n").lines().check_first();
    let mut sink = Fails::after(usize::MAX, false);
    let Err(Failure::Source(error)) = source.send_record(&mut sink) else { panic!("two values in a line") };
    says_that_it_was_used_again(source.send_record(&mut sink).unwrap_err());
    assert_eq!(source.skip_line(&error).unwrap(), b"1 2");
    assert!(source.send_record(&mut sink).unwrap());
    assert!(!source.send_record(&mut sink).unwrap());
}

#[test]
fn a_feed_is_not_used_again_after_its_sink_has_failed() {
    common::force_kernel();
    for (calls, len) in (0..20).flat_map(|calls| (1..4).map(move |len| (calls, len))) {
        let mut feed = Feed::new();
        let mut sink = Fails::after(calls, false);
        let mut failed = false;
        for piece in TEXT.chunks(len) {
            match feed.feed(piece, &mut sink) {
                Ok(()) => assert!(!failed),
                Err(failure) if failed => says_that_it_was_used_again(failure),
                Err(Failure::Sink(..)) => {
                    failed = true;
                    sink = Fails::after(usize::MAX, false);
                }
                Err(Failure::Source(error)) => panic!("{error}"),
            }
        }
        if failed {
            says_that_it_was_used_again(feed.finish(&mut sink).unwrap_err());
        } else {
            feed.finish(&mut sink).unwrap();
        }
    }
}

/// A line can be skipped after any error, and the next is sent as if nothing had been.
#[test]
fn a_line_is_skipped_after_the_sink_has_failed() {
    common::force_kernel();
    let mut source = JsonSource::from_slice(b"[[\"a\"]]\n[\"b\"]\n").lines();
    let Err(Failure::Sink(_, place)) = source.send_record(&mut Fails::after(2, false)) else { panic!("it fails") };
    assert_eq!(place.record, 0);
    let unplaced = jird::Error::new(jird::ErrorKind::Data, place.offset);
    assert_eq!(source.skip_line(&unplaced).unwrap(), b"[[\"a\"]]");
    assert!(source.send_record(&mut Fails::after(3, false)).unwrap());
    assert!(!source.send_record(&mut Fails::after(0, false)).unwrap());
}

/// Displays a part of itself, and fails.
struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a part")?;
        Err(fmt::Error)
    }
}

/// As text, as a key, as raw JSON, and as what an error says.
enum Shown {
    Text,
    Key,
    Raw,
    Error,
}

impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Text;
        impl Serialize for Text {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&Broken)
            }
        }
        match self {
            Self::Text => Text.serialize(serializer),
            Self::Key => serializer.collect_map([(Text, 1)]),
            // The name by which the engine's own types hand over raw JSON.
            Self::Raw => serializer.serialize_newtype_struct(jird::hooks::RAW_TEXT, &Text),
            Self::Error => Err(serde::ser::Error::custom(Broken)),
        }
    }
}

#[test]
fn what_cannot_be_displayed_is_an_error() {
    for shown in [Shown::Text, Shown::Key, Shown::Raw, Shown::Error] {
        assert!(jird::to_string(&shown).is_err());
        assert!(jird::to_string_pretty(&shown).is_err());
        assert!(jird::ser::to_string_canonical(&shown).is_err());
        assert!(jird::to_writer(Vec::new(), &shown).is_err());
        let mut sink = jird::event::JsonSink::new(Vec::new());
        assert!(jird::event::send_value(&shown, &mut sink).is_err());
    }
}

#[derive(Debug)]
struct Unread;

impl<'de> serde::Deserialize<'de> for Unread {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(serde::de::Error::custom(Broken))
    }
}

#[test]
fn a_message_that_cannot_be_displayed_is_an_error_all_the_same() {
    let error = jird::from_str::<Unread>("1").unwrap_err();
    assert_eq!(error.to_string(), "a part(a message that could not be displayed) at line 1 column 1");
}
