//! Types that fail, and serializers that are left in the middle of a value.

use jird::event::{Failure, JsonSink, JsonSource, Sink, Source};
use jird::{Layout, Serializer};
use serde::Serialize;

/// Fails in the middle.
struct Fails;

impl Serialize for Fails {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("it says so"))
    }
}

#[test]
fn what_follows_an_error_is_indented_as_if_there_had_been_none() {
    let mut serializer = Serializer::pretty(Vec::new());
    assert!([[Fails]].serialize(&mut serializer).is_err());
    drop(serde::Serializer::serialize_seq(&mut serializer, None));
    [[1]].serialize(&mut serializer).expect("it can be written");
    assert_eq!(String::from_utf8_lossy(&serializer.into_inner()), "[\n  [\n    1\n  ]\n]");
}

#[test]
fn a_record_that_is_abandoned_for_the_next_is_taken_back() {
    let text = b"{\"a\":1}\n{\"b\":2,x}\n[\"c\"\n{\"d\":4}\n[1,[2,";
    let written = |sink: JsonSink<Vec<u8>>| {
        let (mut sink, mut source) = (sink, JsonSource::from_slice(text).lines());
        let mut bad = 0;
        loop {
            match source.send_record(&mut sink) {
                Ok(true) => {}
                Ok(false) => break,
                Err(Failure::Source(error)) => {
                    bad += 1;
                    source.skip_line(&error).expect("a slice can be read");
                }
                Err(Failure::Sink(error, _)) => panic!("{error}"),
            }
        }
        sink.finish().expect("a vector takes everything");
        assert_eq!(bad, 3);
        String::from_utf8(sink.into_inner()).expect("it is text")
    };
    let sink = || JsonSink::new(Vec::new());
    assert_eq!(written(sink()), "{\"a\":1}\n{\"d\":4}\n");
    assert_eq!(written(sink().array()), "[\n{\"a\":1},\n{\"d\":4}\n]\n");
    assert_eq!(written(sink().layout(Layout::Indent(1))), "{\n \"a\": 1\n}\n{\n \"d\": 4\n}\n");
    assert_eq!(written(sink().layout(Layout::Canonical)), "{\"a\":1}\n{\"d\":4}\n");
}

#[test]
fn of_a_long_record_that_is_abandoned_a_broken_line_is_left() {
    let text = [b"[\"", "long ".repeat(100_000).as_bytes(), b"\",x]\n[2]\n"].concat();
    let (mut sink, mut source) = (JsonSink::new(Vec::new()), JsonSource::from_slice(&text).lines());
    let Err(Failure::Source(error)) = source.send_record(&mut sink) else { panic!("the line is wrong") };
    source.skip_line(&error).expect("a slice can be read");
    assert!(matches!(source.send_record(&mut sink), Ok(true)));
    sink.finish().expect("a vector takes everything");
    assert_eq!(sink.into_inner().split(|&byte| byte == b'\n').nth(1), Some(&b"[2]"[..]));
}

#[test]
fn an_array_does_not_go_on_after_a_part_of_a_long_record_that_was_abandoned() {
    let text = [b"[1]\n[\"", "long ".repeat(100_000).as_bytes(), b"\",x]\n[2]\n"].concat();
    let (mut sink, mut source) = (JsonSink::new(Vec::new()).array(), JsonSource::from_slice(&text).lines());
    assert!(matches!(source.send_record(&mut sink), Ok(true)));
    let Err(Failure::Source(error)) = source.send_record(&mut sink) else { panic!("the line is wrong") };
    source.skip_line(&error).expect("a slice can be read");
    let Err(Failure::Sink(error, _)) = source.send_record(&mut sink) else { panic!("the array is broken") };
    assert!(error.to_string().contains("array is broken"), "{error}");
    assert!(sink.finish().is_err());
}
