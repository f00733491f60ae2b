//! One rule for every way in: an error is at the first byte at which the text can no longer be right, whatever follows; a text
//! that could go on rightly has ended too early, and its error is at its end.

use crate::common;

use checks::random::{self, Random};
use checks::{reference, shown};
use jird::event::{Feed, JsonSource, Pattern, Source};
use jird::hooks::Kernel;
use jird::hooks::event::Recording;
use jird::lines::{Options, Scanner};
use jird::policy::Policy;
use jird::{
    Category, Deserializer, Error, Parser,
    record::{Projection, Record, RecordBuffer},
};
use serde::de::IgnoredAny;
use std::io::{self, Read};
use std::ops::ControlFlow;

/// What is wrong with a text: the rule, the offset, and whether more bytes could make it right.
type Wrong = Option<(&'static str, u64, Category)>;

fn wrong<T>(result: Result<T, Error>) -> Wrong {
    result.err().map(|error| (error.code(), error.offset(), error.classify()))
}

/// What the reference says. A text could go on rightly exactly if it is wrong at its end.
fn wanted(text: &[u8]) -> Wrong {
    let (kind, offset) = reference::read(text, Policy::DEPTH_MAX).err()?;
    let category = if offset == text.len() { Category::Eof } else { Category::Syntax };
    Some((kind.code(), offset as u64, category))
}

/// A reader that gives this many bytes at a time.
struct Drops<'a>(&'a [u8], usize);

impl Read for Drops<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.0.len().min(buffer.len()).min(self.1);
        buffer[..len].copy_from_slice(&self.0[..len]);
        self.0 = &self.0[len..];
        Ok(len)
    }
}

/// Reads everything a source has.
fn drained(mut source: impl Source<Error = Error>) -> Result<(), Error> {
    let mut sink = Recording::default();
    loop {
        match source.send_record(&mut sink) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(jird::event::Failure::Source(error)) => return Err(error),
            Err(jird::event::Failure::Sink(..)) => unreachable!("a recording takes everything"),
        }
    }
}

/// Feeds a text in pieces of `bytes` bytes. Returns what is wrong, and how much had been fed by then.
fn fed(text: &[u8], bytes: usize) -> (Wrong, usize) {
    let mut sink = Recording::default();
    let mut feed = Feed::new();
    let source = |failure| match failure {
        jird::event::Failure::Source(error) => error,
        jird::event::Failure::Sink(..) => unreachable!("a recording takes everything"),
    };
    let mut fed = 0;
    for piece in text.chunks(bytes) {
        fed += piece.len();
        if let Err(failure) = feed.feed(piece, &mut sink) {
            return (wrong::<()>(Err(source(failure))), fed);
        }
    }
    (wrong(feed.finish(&mut sink).map_err(source)), usize::MAX)
}

/// All ways to read one value.
fn check_value(text: &[u8]) -> Wrong {
    let wanted = wanted(text);
    assert_eq!(wrong(jird::parse(text)), wanted, "parse: {}", shown(text));
    assert_eq!(wrong(jird::validate(text)), wanted, "validate: {}", shown(text));
    assert_eq!(wrong(jird::minify(text)), wanted, "minify: {}", shown(text));
    assert_eq!(wrong(jird::format(text, jird::Layout::Indent(2))), wanted, "format: {}", shown(text));
    for kernel in Kernel::available() {
        let mut parser = Parser::with_kernel(Policy::default(), kernel).with_chunk_bytes(64);
        assert_eq!(wrong(parser.parse(text)), wanted, "{kernel:?}: {}", shown(text));
        assert_eq!(wrong(parser.validate(text)), wanted, "{kernel:?}: {}", shown(text));
        let mut buffer = RecordBuffer::with_kernel(Policy::default(), kernel);
        assert_eq!(wrong(Record::scan(text, &mut buffer)), wanted, "{kernel:?}, record: {}", shown(text));
    }
    // What a type ignores is never called empty.
    let ignored = wanted.map(|(code, at, category)| (if code == "empty" { "unclosed" } else { code }, at, category));
    assert_eq!(wrong(jird::from_slice::<IgnoredAny>(text)), ignored, "from_slice: {}", shown(text));
    if let Ok(text) = core::str::from_utf8(text) {
        assert_eq!(wrong(jird::from_str::<IgnoredAny>(text)), ignored, "from_str: {text:?}");
    }
    for bytes in [1, 21, 64, 1000] {
        let reader = Deserializer::from_reader(Drops(text, bytes)).with_chunk_bytes(bytes);
        assert_eq!(wrong(reader.whole::<IgnoredAny>()), ignored, "from_reader: {}", shown(text));
    }
    wanted
}

/// All ways to read values one after the other.
fn check_values(text: &[u8]) {
    let (nodes, fault) = reference::read_values(text, Policy::DEPTH_MAX);
    let category = |offset: usize| if offset == text.len() { Category::Eof } else { Category::Syntax };
    let wanted: Wrong = fault.map(|(kind, offset)| (kind.code(), offset as u64, category(offset)));
    let count = nodes.len();
    for bytes in [1, 50, 1000] {
        let items: Vec<_> = Deserializer::from_reader(Drops(text, bytes)).into_iter::<IgnoredAny>().collect();
        assert_eq!(items.iter().filter(|item| item.is_ok()).count(), count, "into_iter: {}", shown(text));
        assert_eq!(items.into_iter().find_map(wrong), wanted, "into_iter: {}", shown(text));
        let records = Deserializer::from_slice(text).with_chunk_bytes(bytes).records::<IgnoredAny>(Pattern::default());
        let items: Vec<_> = records.collect();
        assert_eq!(items.iter().filter(|item| item.is_ok()).count(), count, "records: {}", shown(text));
        assert_eq!(items.into_iter().find_map(wrong), wanted, "records: {}", shown(text));
        let source = || JsonSource::from_reader(Drops(text, bytes)).chunk_bytes(bytes);
        assert_eq!(wrong(drained(source())), wanted, "a source: {}", shown(text));
        assert_eq!(wrong(drained(source().check_first())), wanted, "checked first: {}", shown(text));
        let mut counted = source();
        let mut sink = Recording::default();
        let sent = std::iter::from_fn(|| counted.send_record(&mut sink).ok().filter(|&sent| sent)).count();
        assert_eq!(sent, count, "a source: {}", shown(text));
        // The piece that brings the wrong byte brings the error.
        let (found, by) = fed(text, bytes);
        assert_eq!(found, wanted, "fed {bytes} at a time: {}", shown(text));
        if let Some((_, offset, Category::Syntax)) = wanted {
            let due = (offset as usize / bytes + 1) * bytes;
            assert_eq!(by, due.min(text.len()), "fed {bytes} at a time: {}", shown(text));
        }
    }
}

/// All ways to read lines; `text` is one, and another follows it.
fn check_line(text: &[u8]) {
    if text.contains(&b'\n') {
        return;
    }
    let wanted = wanted(text).filter(|&(code, ..)| code != "empty");
    let lines = [text, b"\n[0]\n"].concat();
    for kernel in Kernel::available() {
        let mut scanner = Scanner::new(Options { kernel, ..Options::default() });
        let scanned = scanner.scan(&lines, &Projection::new(&[]), None, |_| ControlFlow::Continue(()));
        assert_eq!(wrong(scanned), wanted, "{kernel:?}, lines: {}", shown(text));
    }
    let events = drained(JsonSource::from_slice(&lines).lines());
    assert_eq!(wrong(events), wanted, "a source of lines: {}", shown(text));
    let items = Deserializer::from_slice(&lines).records::<IgnoredAny>(Pattern::default()).lines();
    assert_eq!(items.map(wrong).next().flatten(), wanted, "records of lines: {}", shown(text));
}

/// The lines of a log, which has each text as a line of its own. One run for many, since each run starts threads.
fn check_typed_lines(texts: &[Vec<u8>]) {
    let mut log = Vec::new();
    let mut expected = Vec::new();
    for text in texts.iter().filter(|text| !text.contains(&b'\n')) {
        let begin = log.len() as u64;
        let wanted = wanted(text).map(|(code, at, category)| (code, begin + at, category));
        if wanted.is_none_or(|(code, ..)| code != "empty") {
            expected.push((wanted, text));
        }
        log.extend_from_slice(text);
        log.push(b'\n');
    }
    let found: Vec<Wrong> = jird::lines::typed::<IgnoredAny>(io::Cursor::new(log)).map(wrong).collect();
    assert_eq!(found.len(), expected.len());
    for (found, (wanted, text)) in found.into_iter().zip(expected) {
        assert_eq!(found, wanted, "typed lines: {}", shown(text));
    }
}

fn check(text: &[u8]) -> Wrong {
    check_values(text);
    check_line(text);
    check_value(text)
}

/// Beginnings of texts, each up to a place where something may go wrong.
const BEGINNINGS: &[&[u8]] = &[
    b"",
    b"[",
    b"[1",
    b"[1 ",
    b"[1,",
    b"{",
    b"{\"a\"",
    b"{\"a\":",
    b"{\"a\":\"b\"",
    b"{\"a\":0,",
    b"\"",
    b"{\"",
    b"[\"\\",
    b"\"\\u",
    b"\"\\ud8",
    b"\"\\ud83d",
    b"\"\\ud83d\\ud",
    b"tru",
    b"[tru",
    b"-",
    b"1.",
    b"[0",
    b"1e",
    b"[\"\"",
    b"[]",
    b"[1]\n[2]\n",
    b"1 ",
];

/// What comes there.
const ENDINGS: &[&[u8]] = &[
    b"",
    b"\xFF",
    b"\x80",
    b"\xC0\x80",
    b"\xC3",
    b"\xC3\xA9",
    b"\xE0\x80",
    b"\xE2\x82",
    b"\xE2\x82\xAC",
    b"\xE2\x28",
    b"\xED\xA0\x80",
    b"\xED\x9F",
    b"\xF0\x9F\x98",
    b"\xF0\x80",
    b"\xF4\x90",
    b"\xF5",
    b"dc00",
    b"\\udc",
    b"\\udc00",
    b"\\ud83d",
    b"\\udx",
    b"1",
    b"x",
    b"\"",
    b"\x01",
    b"\0",
    b"]",
    b"}",
    b":",
    b",",
    b"00",
    b"e",
    b" x",
    b"\\",
];

#[test]
fn every_way_in_says_the_same_wherever_blocks_end() {
    common::force_kernel();
    let (mut syntax, mut eof) = (0, 0);
    for leading in 0..=130 {
        let mut texts = Vec::new();
        for (index, beginning) in BEGINNINGS.iter().enumerate() {
            for (place, ending) in ENDINGS.iter().enumerate() {
                // Each amount of white space before some of them, and before all where a block ends.
                if leading % 13 != (index + place) % 13 && !(59..=65).contains(&leading) {
                    continue;
                }
                for after in [&b""[..], b"\"]"] {
                    let text = [&b" ".repeat(leading)[..], beginning, ending, after].concat();
                    match check(&text) {
                        Some((.., Category::Eof)) => eof += 1,
                        Some(_) => syntax += 1,
                        None => {}
                    }
                    texts.push(text);
                }
            }
        }
        check_typed_lines(&texts);
    }
    assert!(syntax > 5000 && eof > 1000, "{syntax} {eof}");
}

#[test]
fn random_texts_are_judged_by_the_same_rule_in_every_way() {
    common::force_kernel();
    let seeds: [&[u8]; 5] = [
        b"{\"a\": [1, 2.5e3, true, null], \"b\\u00e9\": \"x\\ud83d\\ude00y\", \"c\": {\"d\": \"\xC3\xA9\"}}",
        b"[\"\\ud83d\\ude00\", \"\xE2\x82\xAC\", \"a\\nb\"] -0.5 {} \"\xF0\x9F\x98\x80\" 12",
        b"[1]\n[2]\n12\ntrue \"x\" {\"k\":\"v\"}[]",
        b"                                                           \"\\ud83d\\ude00\" [\"\xE2\x82\xAC\xC3\xA9\"]",
        b"{\"key\":[[[[{\"x\":[\"01234567890123456789012345678901234567890123456789\\u12ab\"]}]]]]}",
    ];
    let mut random = Random::new(16);
    let mut texts = Vec::new();
    for round in 0..3000 {
        let mut text = seeds[round % seeds.len()].to_vec();
        if round % 4 > 0 {
            random::mutate(&mut random, &mut text);
        }
        if round % 2 == 0 {
            text.truncate(random.below(text.len() + 1));
        }
        check(&text);
        texts.push(text);
    }
    check_typed_lines(&texts);
}

/// A text that goes on from `text` and is right, if there is one: tries what closes things before what goes on with them.
fn completed(text: &[u8]) -> Option<Vec<u8>> {
    const NEXT: &[u8] = b"\"]}:0ruealsn\\dc\x80\xA0\x90";
    let mut text = text.to_vec();
    for _ in 0..60 {
        if reference::read(&text, Policy::DEPTH_MAX).is_ok() {
            return Some(text);
        }
        let goes_on = |byte: &&u8| match reference::read(&[&text[..], &[**byte]].concat(), Policy::DEPTH_MAX) {
            Ok(_) => true,
            Err((_, offset)) => offset > text.len(),
        };
        let next = NEXT.iter().find(goes_on)?;
        text.push(*next);
    }
    None
}

/// The models rest on this: that their offset is what [`Error::offset`] promises.
#[test]
fn what_comes_before_an_error_could_have_become_right() {
    for beginning in BEGINNINGS {
        for ending in ENDINGS {
            let text = [*beginning, ending].concat();
            let Err((_, offset)) = reference::read(&text, Policy::DEPTH_MAX) else { continue };
            if reference::read(&text[..offset], Policy::DEPTH_MAX).is_err() {
                assert!(completed(&text[..offset]).is_some(), "{}", shown(&text));
            }
            if offset < text.len() {
                let at_once = reference::read(&text[..=offset], Policy::DEPTH_MAX);
                assert_eq!(at_once.map_err(|(_, offset)| offset), Err(offset), "{}", shown(&text));
            }
        }
    }
}

#[test]
fn a_value_that_is_closed_before_the_wrong_byte_is_given() {
    common::force_kernel();
    let values = |text: &[u8]| Deserializer::from_slice(text).into_iter::<serde_json::Value>().flatten().count();
    for (text, count) in [
        (&b"[1]\n[2]\n\xFF"[..], 2),
        (b"[1]\n[2]\xFF", 2),
        (b"[1]\n\"a\"\xFF", 2),
        (b"{}[1]\x01", 2),
        (b"1 2 \xFF", 2),
        // It is unknown where this number would have ended.
        (b"1 2\xFF", 1),
        (b"1 true\xFF", 1),
        (b"1 [2\xFF", 1),
    ] {
        assert_eq!(values(text), count, "{}", shown(text));
        check_values(text);
        for leading in 0..140 {
            check_values(&[&b" ".repeat(leading)[..], text].concat());
        }
        // The elements of an array.
        let comma = |&byte: &u8| if b"\n ".contains(&byte) { b',' } else { byte };
        let items: Vec<u8> = b"[".iter().chain(text).map(comma).collect();
        let records = Deserializer::from_slice(&items).records::<serde_json::Value>("/*".parse().unwrap());
        let wanted = if text == b"{}[1]\x01" { 1 } else { count };
        assert_eq!(records.flatten().count(), wanted, "{}", shown(&items));
    }
}
