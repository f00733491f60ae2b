//! JSON as events: what comes is what a parse finds, wherever the text is cut.

use crate::common;

use jird::event::{
    self, Failure, Feed, Interest, JsonSink, JsonSource, JsonText, Key, Numeral, Pattern, Place, Sink, Source,
};
use jird::hooks::event::pipe;
use jird::{Kind, Layout, Value};
use std::fmt::Write as _;

/// Writes everything down; refuses nothing.
#[derive(Debug, Default, PartialEq)]
struct Log(String);

impl Log {
    #[expect(clippy::unnecessary_wraps, reason = "as its callers return it")]
    fn line(&mut self, words: std::fmt::Arguments<'_>) -> Result<(), std::convert::Infallible> {
        writeln!(self.0, "{words}").unwrap();
        Ok(())
    }
}

impl Sink for Log {
    type Error = std::convert::Infallible;

    fn begin_record(&mut self, place: Place) -> Result<(), Self::Error> {
        self.line(format_args!("record {}", place.record))
    }
    fn end_record(&mut self) -> Result<(), Self::Error> {
        self.line(format_args!("end"))
    }
    fn begin_object(&mut self) -> Result<(), Self::Error> {
        self.line(format_args!("{{"))
    }
    fn key(&mut self, key: Key<'_>) -> Result<Interest, Self::Error> {
        self.line(format_args!("key {:?}", key.text()))?;
        Ok(Interest::take_if(!key.text().starts_with("skip")))
    }
    fn end_object(&mut self) -> Result<(), Self::Error> {
        self.line(format_args!("}}"))
    }
    fn begin_array(&mut self) -> Result<(), Self::Error> {
        self.line(format_args!("["))
    }
    fn end_array(&mut self) -> Result<(), Self::Error> {
        self.line(format_args!("]"))
    }
    fn null(&mut self) -> Result<(), Self::Error> {
        self.line(format_args!("null"))
    }
    fn bool(&mut self, value: bool) -> Result<(), Self::Error> {
        self.line(format_args!("{value}"))
    }
    fn number(&mut self, number: Numeral<'_>) -> Result<(), Self::Error> {
        let Numeral::Text(number) = number else { panic!("JSON's numbers are text") };
        self.line(format_args!("{}", number.text()))
    }
    fn string(&mut self, text: &str) -> Result<(), Self::Error> {
        self.line(format_args!("{text:?}"))
    }
}

/// What the tape says.
fn told(value: Value<'_>, log: &mut Log) -> Result<(), std::convert::Infallible> {
    match value.kind() {
        Kind::Null => log.null(),
        Kind::Bool => log.bool(value.as_bool().unwrap()),
        Kind::Number => log.number(Numeral::Text(value.as_number().unwrap())),
        Kind::String => log.string(&value.as_str().unwrap()),
        Kind::Array => {
            log.begin_array()?;
            value.elements().try_for_each(|element| told(element, log))?;
            log.end_array()
        }
        Kind::Object => {
            log.begin_object()?;
            for (key, value) in value.entries() {
                if log.key(Key::new(&key.as_str().unwrap()))? == Interest::Take {
                    told(value, log)?;
                }
            }
            log.end_object()
        }
    }
}

fn expected(text: &[u8]) -> Result<Log, jird::Error> {
    let document = jird::parse(text)?;
    let mut log = Log("record 0\n".into());
    told(document.root(), &mut log).unwrap();
    log.end_record().unwrap();
    Ok(log)
}

fn sent<R: Source<Error = jird::Error>>(mut source: R) -> (Log, Option<jird::Error>) {
    let mut log = Log::default();
    match event::copy(&mut source, &mut log) {
        Ok(()) => (log, None),
        Err(Failure::Source(error)) => (log, Some(error)),
        Err(Failure::Sink(never, _)) => match never {},
    }
}

fn fed<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> (Log, Option<jird::Error>) {
    let mut log = Log::default();
    let mut feed = Feed::new();
    let fed = pieces.into_iter().try_for_each(|piece| feed.feed(piece, &mut log)).and_then(|()| feed.finish(&mut log));
    match fed {
        Ok(()) => (log, None),
        Err(Failure::Source(error)) => (log, Some(error)),
        Err(Failure::Sink(never, _)) => match never {},
    }
}

/// One byte at a time.
struct Drop1<'a>(&'a [u8]);

impl std::io::Read for Drop1<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let len = self.0.len().min(1).min(buffer.len());
        buffer[..len].copy_from_slice(&self.0[..len]);
        self.0 = &self.0[len..];
        Ok(len)
    }
}

const SMALL: &[&str] = &[
    "{}",
    "[]",
    "0",
    "-0.10e+07",
    "\"\"",
    "\"\\ud83d\\ude00 \u{1F600} \\\\\"",
    " true ",
    "{\"a\":[1,{\"b\":null},[],{}],\"c\":\"d\\n\",\"skip\":{\"x\":[1,2,{\"y\":\"\\\"]}\"}]},\"e\":false}",
    "[[[[1]]], \"a long string that goes over the end of a block of sixty-four bytes, surely\", 12345678901234567890123]",
    "[  {  \"k\"  :  \"v\"  ,  \"skip it\"  :  [  ]  }  ,  -1.5E-3  ]",
    "{\"\\u0073kip\":1,\"s\\u006bip\":{},\"k\":2}",
];

const BROKEN: &[&str] = &[
    "",
    " ",
    "{",
    "[",
    "[1",
    "[1,",
    "[1,]",
    "{\"a\"",
    "{\"a\":",
    "{\"a\":1",
    "{\"a\":1,",
    "{\"a\":1,}",
    "{a:1}",
    "[1 2]",
    "{\"a\" 1}",
    "tru",
    "truex",
    "nul",
    "01",
    "1.",
    "-",
    "1e",
    "\"",
    "\"\\",
    "\"\\u12",
    "\"\\ud800\"",
    "\"\u{1}\"",
    "]",
    "}",
    ",",
    ":",
    "[}",
    "{]",
    "{\"skip\":[1,}",
    "{\"skip\":tru}",
    "{\"skip\":\"\\x\"}",
    "{\"skip\":01}",
    "[\"\u{6f5}\",\u{6f5}]",
];

#[test]
fn events_are_what_a_parse_finds() {
    for text in SMALL {
        let wanted = expected(text.as_bytes()).unwrap();
        assert_eq!(sent(JsonSource::from_slice(text.as_bytes())), (expected(text.as_bytes()).unwrap(), None));
        for bytes in [64, 128] {
            let (log, error) = sent(JsonSource::from_reader(Drop1(text.as_bytes())).chunk_bytes(bytes));
            assert_eq!((log.0, error), (wanted.0.clone(), None), "{text}");
        }
        let (log, error) = sent(JsonSource::from_slice(text.as_bytes()).check_first());
        assert_eq!((log.0, error), (wanted.0.clone(), None), "{text}");
    }
}

#[test]
fn a_text_cut_anywhere_gives_the_same_events() {
    let long = format!("[{}]", SMALL.join(" , "));
    for text in SMALL.iter().copied().chain([&*long]) {
        let text = text.as_bytes();
        let wanted = expected(text).unwrap();
        for first in 0..=text.len() {
            let (log, error) = fed([&text[..first], &text[first..]]);
            assert_eq!((&log, error), (&wanted, None), "cut at {first}: {}", String::from_utf8_lossy(text));
        }
        for bytes in [1, 2, 3, 7, 63, 64, 65] {
            let (log, error) = fed(text.chunks(bytes));
            assert_eq!((&log, error), (&wanted, None), "pieces of {bytes}");
        }
    }
}

#[test]
fn what_is_complete_is_sent_at_once() {
    let text = br#"{"a":"xy","n":12, "l":[true,null,{"b":1.5}]}"#;
    let complete = |len: usize| {
        let mut log = Log::default();
        let mut feed = Feed::new();
        text[..len].iter().for_each(|&byte| feed.feed(&[byte], &mut log).unwrap());
        log.0.lines().last().unwrap_or("").to_owned()
    };
    assert_eq!(complete(1), "{");
    assert_eq!(complete(3), "{");
    assert_eq!(complete(4), "key \"a\"");
    assert_eq!(complete(8), "key \"a\"");
    assert_eq!(complete(9), "\"xy\"");
    // A number may go on.
    assert_eq!(complete(16), "key \"n\"");
    assert_eq!(complete(17), "12");
    assert_eq!(complete(text.len()), "end");
}

#[test]
fn what_is_wrong_is_refused_as_by_a_parse() {
    for text in BROKEN {
        let bytes = text.as_bytes();
        let kind = |error: &jird::Error| (error.code(), error.offset());
        let wanted = jird::validate(bytes).err();
        let (_, error) = sent(JsonSource::from_slice(bytes));
        if text.trim().is_empty() {
            // An absent value is not a record.
            assert_eq!(error, None);
            continue;
        }
        assert_eq!(error.as_ref().map(kind), wanted.as_ref().map(kind), "{text}");
        for bytes in [1, 3, 64] {
            let (_, error) = fed(text.as_bytes().chunks(bytes));
            assert_eq!(error.as_ref().map(kind), wanted.as_ref().map(kind), "{text} in pieces of {bytes}");
        }
    }
}

#[test]
fn values_follow_each_other() {
    let (log, error) = sent(JsonSource::from_slice(b"1 [2]\n\"x\"{}"));
    assert_eq!((log.0.matches("record").count(), error), (4, None));
    let (log, error) = fed([&b"1 [2"[..], b"]\n\"x", b"\"{}"]);
    assert_eq!((log.0.matches("record").count(), error), (4, None));
}

#[test]
fn patterns_lead_to_records() {
    let text =
        br#"{"next":[1,{"items":[9]}],"items":[{"id":1},2,[3],"x"],"more":{"items":[7]}} {"items":[{"id":4}]} [1]"#;
    let records = |pattern: &str| {
        let mut whole = JsonSink::new(Vec::new());
        event::copy(&mut JsonSource::from_slice(text).records(pattern.parse().unwrap()), &mut whole).unwrap();
        let mut pieces = JsonSink::new(Vec::new());
        let mut feed = Feed::records(pattern.parse().unwrap());
        text.iter().for_each(|&byte| feed.feed(&[byte], &mut pieces).unwrap());
        feed.finish(&mut pieces).unwrap();
        let whole = String::from_utf8(whole.into_inner()).unwrap();
        assert_eq!(String::from_utf8(pieces.into_inner()).unwrap(), whole);
        whole
    };
    assert_eq!(records("/items/*"), "{\"id\":1}\n2\n[3]\n\"x\"\n{\"id\":4}\n");
    assert_eq!(records("/items/2/0"), "3\n");
    assert_eq!(records("/*/items"), "[7]\n");
    assert_eq!(records("/*"), "[1,{\"items\":[9]}]\n[{\"id\":1},2,[3],\"x\"]\n{\"items\":[7]}\n[{\"id\":4}]\n1\n");
    assert_eq!(records("/nothing"), "");
    assert_eq!(records("/items/*/id"), "1\n4\n");
}

/// The places of records.
#[derive(Default)]
struct Places(Vec<Place>);

impl Sink for Places {
    type Error = std::convert::Infallible;

    fn begin_record(&mut self, place: Place) -> Result<(), Self::Error> {
        self.0.push(place);
        Ok(())
    }
}

/// The places of the records of `text`, and the kind and the offset of its error. They are the same from a slice, from a
/// reader and from pieces of any length.
fn places(text: &[u8], pattern: &str) -> (Vec<Place>, Option<(&'static str, u64)>) {
    let pattern: Pattern = pattern.parse().unwrap();
    let wrong = |failure| match failure {
        Failure::Source(error) => {
            let error: jird::Error = error;
            (error.code(), error.offset())
        }
        Failure::Sink(never, _) => match never {},
    };
    let mut whole = Places::default();
    let mut source = JsonSource::from_slice(text).records(pattern.clone());
    let error = event::copy(&mut source, &mut whole).map_err(wrong).err();
    let mut read = Places::default();
    let mut source = JsonSource::from_reader(text).records(pattern.clone()).chunk_bytes(64);
    assert_eq!(event::copy(&mut source, &mut read).map_err(wrong).err(), error);
    assert_eq!(read.0, whole.0, "{}", text.escape_ascii());
    for bytes in [1, 2, 3, 7, text.len()] {
        let mut pieces = Places::default();
        let mut feed = Feed::records(pattern.clone());
        let fed = text.chunks(bytes).try_for_each(|piece| feed.feed(piece, &mut pieces));
        let fed = fed.and_then(|()| feed.finish(&mut pieces));
        let name = format!("{pattern} in pieces of {bytes}: {}", text.escape_ascii());
        assert_eq!((pieces.0, fed.map_err(wrong).err()), (whole.0.clone(), error), "{name}");
    }
    (whole.0, error)
}

#[test]
fn a_record_begins_at_the_same_place_however_the_text_is_cut() {
    let text = b"{\"x\" : [{}, [] ] , \"a\" :\n 5} {\"a\":  \n[1], \"b\": [0, 1],\"a\" :{}} \n7 [ 1 , \n2 ]";
    for pattern in ["", "/a", "/*", "/a/*", "/1", "/*/*"] {
        assert_eq!(places(text, pattern).1, None, "{pattern}");
    }
}

#[test]
fn a_record_begins_before_its_error_is_reported_however_the_text_is_cut() {
    for (text, pattern, offset, records) in [
        (&b"{\"a\":trX}"[..], "/a", 7, 1),
        (b"[nul7]", "/*", 4, 1),
        (b"[ \xFF1]", "/*", 2, 1),
        (b"[ \xFF1]", "/1", 2, 0),
        (b"[1, -x]", "/*", 5, 2),
        (b"[1, -x]", "/0", 5, 1),
        (b"[[ 'a'] ]", "/*/*", 3, 1),
        (b"[[ 'a'] ]", "/1/*", 3, 0),
        (b"{\"a\":[ ", "/a/*", 7, 1),
        (b"{\"b\":[ ", "/a/*", 7, 0),
        (b"{ \xFF1}", "/*", 2, 0),
    ] {
        let (begun, error) = places(text, pattern);
        let name = format!("{pattern}: {}", text.escape_ascii());
        assert_eq!((begun.len(), error.map(|(_, offset)| offset)), (records, Some(offset)), "{name}");
    }
}

#[test]
fn what_is_beside_a_record_is_checked() {
    for text in
        ["{\"a\":[1,],\"b\":1}", "{\"a\":tru,\"b\":1}", "{\"b\":1,\"a\"}", "{\"b\":1", "{\"b\":1]", "{\"b\":1}}"]
    {
        let mut source = JsonSource::from_slice(text.as_bytes()).records("/b".parse().unwrap());
        let error = event::copy(&mut source, &mut Log::default()).unwrap_err().either::<Box<dyn std::error::Error>>();
        let error = error.downcast::<jird::Error>().unwrap();
        let wanted = jird::validate(text.as_bytes()).unwrap_err();
        if text != "{\"b\":1}}" {
            assert_eq!((error.code(), error.offset()), (wanted.code(), wanted.offset()), "{text}");
        }
    }
}

#[test]
fn a_bad_line_is_left_out() {
    let text = "{\"a\":1}\n\n{\"a\":\n2}\n{\"a\":\"x\ny\"}\n[3] 4\n5\n\"\\ud800\"\n{\"a\":6}";
    let mut lines = Vec::new();
    let mut sink = JsonSink::new(Vec::new());
    for bytes in [64, 1 << 16] {
        let mut source = JsonSource::from_reader(Drop1(text.as_bytes())).lines().check_first().chunk_bytes(bytes);
        lines.clear();
        sink = JsonSink::new(Vec::new());
        loop {
            match source.send_record(&mut sink) {
                Ok(true) => {}
                Ok(false) => break,
                Err(Failure::Source(error)) => {
                    let text = source.skip_line(&error).unwrap();
                    lines.push((error.line(), error.code(), String::from_utf8(text).unwrap()));
                }
                Err(Failure::Sink(error, _)) => panic!("{error}"),
            }
        }
        assert_eq!(source.place(), Place { record: 2, offset: 47, line: 10 });
    }
    sink.finish().unwrap();
    assert_eq!(String::from_utf8(sink.into_inner()).unwrap(), "{\"a\":1}\n5\n{\"a\":6}\n");
    let wanted = [
        (3, "unclosed", r#"{"a":"#),
        (4, "trailing", "2}"),
        (5, "string", r#"{"a":"x"#),
        (6, "value", r#"y"}"#),
        (7, "trailing", "[3] 4"),
        (9, "escape", r#""\ud800""#),
    ];
    assert_eq!(lines, wanted.map(|(line, code, text)| (line, code, text.to_owned())));
}

#[test]
fn a_sink_that_stops_is_named_with_the_record() {
    struct Stops(u32);
    impl Sink for Stops {
        type Error = &'static str;
        fn number(&mut self, _: Numeral<'_>) -> Result<(), &'static str> {
            self.0 -= 1;
            if self.0 == 0 { Err("enough") } else { Ok(()) }
        }
    }
    let mut source = JsonSource::from_slice(b"1\n2\n  3 4");
    let stopped = source.send(&mut Stops(3));
    assert_eq!(stopped, Err(Failure::Sink("enough", Place { record: 2, offset: 6, line: 3 })));
    assert_eq!(stopped.unwrap_err().to_string(), "enough, at record 3 at line 3 (byte 6)");
}

#[test]
fn layouts_are_those_of_format() {
    for text in SMALL {
        for layout in [Layout::Minify, Layout::Indent(0), Layout::Indent(3), Layout::Canonical] {
            // What is canonical has no number that no double holds.
            let Ok(laid) = jird::format(text.as_bytes(), layout) else { continue };
            let mut sink = JsonSink::new(Vec::new()).layout(layout);
            event::copy(&mut JsonSource::from_slice(text.as_bytes()), &mut sink).unwrap();
            let written = sink.into_inner();
            if layout == Layout::Canonical || !text.contains('\\') {
                let laid = format!("{}\n", String::from_utf8(laid).unwrap());
                assert_eq!(String::from_utf8(written).unwrap(), laid);
            } else {
                assert_eq!(jird::minify(&written).map(|text| jird::parse(&text).is_ok()), Ok(true));
            }
        }
    }
}

/// Also those that are not right: as many events come as a parse could have said, and the same error.
#[test]
fn documents_of_the_corpus_come_as_they_are() {
    let Some(root) = common::corpus() else { return };
    for common::Document { name, text } in common::documents(&root) {
        match expected(&text) {
            Ok(wanted) => {
                let small = sent(JsonSource::from_reader(&text[..]).chunk_bytes(64));
                assert!(sent(JsonSource::from_slice(&text)) == (Log(wanted.0.clone()), None), "{name}");
                assert!(small == (Log(wanted.0.clone()), None), "{name} in small chunks");
                assert!(fed(text.chunks(97)) == (wanted, None), "{name} in pieces");
            }
            Err(wanted) => {
                let (log, error) = sent(JsonSource::from_slice(&text));
                let (in_pieces, other) = fed(text.chunks(97));
                assert_eq!(other.as_ref().map(place), error.as_ref().map(place), "{name} in pieces");
                assert!(log == in_pieces, "{name} in pieces");
                // Empty, or a value and more: a stream has other rules.
                if !matches!(wanted.code(), "empty" | "trailing") {
                    assert_eq!(error.as_ref().map(place), Some(place(&wanted)), "{name}");
                }
            }
        }
    }
}

fn place(error: &jird::Error) -> (&'static str, u64) {
    (error.code(), error.offset())
}

#[test]
fn what_has_no_end_is_refused_in_time() {
    let endless = || std::io::Read::chain(&b"1\n\""[..], std::io::repeat(b'x'));
    let mut source = JsonSource::from_reader(endless()).record_bytes_max(1 << 20);
    let Err(Failure::Source(error)) = source.send(&mut Log::default()) else { panic!("it has no end") };
    assert_eq!(error.code(), "size");
    // A line is skipped whole: this one ends.
    let text = format!("1\n\"{}\"\n2\n", "x".repeat(5 << 20));
    let mut source = JsonSource::from_reader(text.as_bytes()).lines().check_first().record_bytes_max(1 << 20);
    let mut log = Log::default();
    let Err(Failure::Source(error)) = source.send(&mut log) else { panic!("it is too long") };
    assert_eq!((error.code(), error.line()), ("size", 2));
    assert!(source.skip_line(&error).unwrap().len() < 3 << 20);
    source.send(&mut log).unwrap();
    assert_eq!(log.0, "record 0\n1\nend\nrecord 1\n2\nend\n");
}

/// Counts records, and fails at one.
struct FailsAt(u64, u64);

/// Counts records, and wants three.
struct Three(u64);

impl Sink for Three {
    type Error = &'static str;

    fn end_record(&mut self) -> Result<(), Self::Error> {
        self.0 += 1;
        Ok(())
    }

    fn wants_more(&self) -> bool {
        self.0 < 3
    }
}

impl Sink for FailsAt {
    type Error = &'static str;

    fn end_record(&mut self) -> Result<(), Self::Error> {
        self.0 += 1;
        if self.0 == self.1 { Err("enough") } else { Ok(()) }
    }
}

#[test]
#[expect(clippy::format_collect, reason = "a text to test, not to hurry")]
fn a_pipe_hands_on_what_comes() {
    let log: String =
        (0..20_000).map(|id| format!("{{\"id\":{id},\"s\":\"a\\u0062\\n\",\"n\":[1.50,null,{{}}]}}\n")).collect();
    let through = |chunk: usize| {
        let mut source = JsonSource::from_slice(log.as_bytes()).chunk_bytes(chunk);
        let mut out = JsonSink::new(Vec::new());
        pipe(&mut out, |pipe| source.send(pipe)).unwrap().unwrap();
        out.finish().unwrap();
        String::from_utf8(out.into_inner()).unwrap()
    };
    let mut direct = JsonSink::new(Vec::new());
    event::copy(&mut JsonSource::from_slice(log.as_bytes()), &mut direct).unwrap();
    let direct = String::from_utf8(direct.into_inner()).unwrap();
    assert!(through(64) == direct && through(1 << 16) == direct);
}

#[test]
#[expect(clippy::format_collect, reason = "a text to test, not to hurry")]
fn a_pipe_ends_at_the_first_error_of_either_side() {
    let log: String = (0..50_000).map(|id| format!("{{\"id\":{id},\"message\":\"{id:100}\"}}\n")).collect();
    // The sink's, at its record, however far the source came.
    let mut sink = FailsAt(0, 7000);
    let failed = pipe(&mut sink, |pipe| JsonSource::from_slice(log.as_bytes()).send(pipe).is_err());
    assert!(matches!(failed, Err(Failure::Sink("enough", Place { record: 6999, .. }))), "{failed:?}");
    // The source's: the records before have arrived, and nothing of the one that is broken.
    let broken = [&log[..], "{\"id\":1,\"text\":\"", "x"].concat();
    let mut sink = FailsAt(0, u64::MAX);
    let sent = pipe(&mut sink, |pipe| JsonSource::from_slice(broken.as_bytes()).send(pipe)).unwrap();
    assert!(matches!(sent, Err(Failure::Source(ref error)) if error.code() == "string"), "{sent:?}");
    assert_eq!(sink.0, 50_000);
    // A source that is told to stop does.
    let mut sink = Three(0);
    pipe(&mut sink, |pipe| JsonSource::from_slice(log.as_bytes()).send(pipe)).unwrap().unwrap();
    assert!(sink.0 >= 3 && sink.0 < 50_000, "{}", sink.0);
}

#[test]
fn text_that_was_checked_is_copied_through_a_pipe() {
    let sent = |layout: Layout| {
        let mut out = JsonSink::new(Vec::new()).layout(layout);
        let told = pipe(&mut out, |pipe| {
            let mut buffer = Vec::new();
            pipe.begin_record(Place::default())?;
            pipe.begin_array()?;
            for text in [r#" {"b" : [1.50, "\u0041"]}"#, "7", "[]"] {
                pipe.json(JsonText::check(text.as_bytes(), &mut buffer).unwrap())?;
            }
            pipe.null()?;
            pipe.end_array()?;
            pipe.end_record()
        });
        told.unwrap().unwrap();
        out.finish().unwrap();
        String::from_utf8(out.into_inner()).unwrap()
    };
    assert_eq!(sent(Layout::Minify), "[{\"b\":[1.50,\"\\u0041\"]},7,[],null]\n");
    assert_eq!(sent(Layout::Canonical), "[{\"b\":[1.5,\"A\"]},7,[],null]\n");
    let indented = "[\n  {\n    \"b\": [\n      1.50,\n      \"A\"\n    ]\n  },\n  7,\n  [],\n  null\n]\n";
    assert_eq!(sent(Layout::Indent(2)), indented);
}
