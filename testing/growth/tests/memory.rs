//! Checks the promises about memory in DESIGN.md and in the documentation, at one, two and four megabytes of input,
//! whatever the input contains.
#![expect(clippy::tests_outside_test_module, reason = "this file is one")]

use growth::shapes::{Shape, documents, lines};
use jird::event::{self, Feed, JsonSink, JsonSource, Pattern, Sink, Source};
use jird::hooks::event::Recording;
use jird::hooks::event::pipe;
use jird::lines::{Options, Scanner, read_stream, typed_on};
use jird::{
    Deserializer, Kind, Parser, Path, Value,
    de::IoRead,
    record::{Field, FieldReader, Projection, Record, RecordBuffer},
};
use jird_formats::{CsvSink, CsvSource};
use serde::de::IgnoredAny;
use std::convert::Infallible;
use std::hint::black_box;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

const MB: usize = 1 << 20;

/// The sizes of the inputs.
const SIZES: [usize; 3] = [MB, 2 * MB, 4 * MB];

/// Bytes for a chunk's buffers. They use less than 1 MB; doubling reserves some more, which is never touched.
const BUFFERS: usize = MB + MB / 4;

/// Bytes for those buffers and for what is read ahead of a stream.
const STREAM: usize = BUFFERS + MB / 4;

/// Makes the tests run one after the other, because the allocations of all threads are counted.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    let alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    // The first allocation of a thread also allocates what the thread itself needs.
    allocated(|| Vec::<u8>::with_capacity(1));
    alone
}

/// The peak number of bytes that `work` has allocated, and the number of its allocations.
fn allocated<T>(work: impl FnOnce() -> T) -> (usize, u64) {
    let _profiler = dhat::Profiler::builder().testing().trim_backtraces(Some(4)).build();
    drop(black_box(work()));
    let stats = dhat::HeapStats::get();
    (stats.max_bytes, stats.total_blocks)
}

/// Checks that work on each of these shapes stays below a bound, which may depend on the text. The message names all
/// shapes that do not.
fn assert_bounded(what: &str, shapes: &[Shape], bound: impl Fn(&[u8]) -> usize, work: impl Fn(&[u8])) {
    let mut wrong = Vec::new();
    for shape in shapes {
        for bytes in SIZES {
            let text = (shape.make)(bytes);
            let (bound, (peak, _)) = (bound(&text), allocated(|| work(&text)));
            if peak > bound {
                wrong.push(format!("{}, {} bytes: {peak} at its peak, and not {bound}", shape.name, text.len()));
            }
        }
    }
    assert!(wrong.is_empty(), "{what}:\n{}", wrong.join("\n"));
}

/// Takes every event, and does nothing with it.
struct Nothing;

impl Sink for Nothing {
    type Error = Infallible;
}

/// The lines of log events, repeated, but never all in memory.
struct Log {
    lines: Vec<u8>,
    rest: usize,
}

impl Log {
    /// A log of about this many bytes.
    fn new(bytes: usize) -> Self {
        let good = lines::ALL.iter().find(|shape| shape.name == "good lines").expect("there are good lines");
        let mut lines = (good.make)(100_000);
        lines.push(b'\n');
        let rest = bytes / lines.len() * lines.len();
        Self { lines, rest }
    }
}

impl Read for Log {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let at = (self.lines.len() - self.rest % self.lines.len()) % self.lines.len();
        let read = (&self.lines[at..]).read(&mut buffer[..])?.min(self.rest);
        self.rest -= read;
        Ok(read)
    }
}

/// Checks that work on a stream takes at most `bound` bytes of memory, however long the stream is.
fn assert_constant(what: &str, bound: usize, work: impl Fn(Log)) {
    for bytes in SIZES.map(|bytes| 2 * bytes) {
        let log = Log::new(bytes);
        let (peak, _) = allocated(|| work(log));
        assert!(peak <= bound, "{what}: {peak} bytes at its peak for a stream of {bytes}, and not {bound}");
    }
}

#[test]
fn validate_takes_buffers_for_a_chunk_and_no_more() {
    let _alone = alone();
    assert_bounded("validate", documents::ALL, |_| BUFFERS, |text| drop(jird::validate(text)));
}

#[test]
fn minify_takes_buffers_for_a_chunk_and_its_result() {
    let _alone = alone();
    let bound = |text: &[u8]| BUFFERS + text.len() + 64;
    assert_bounded("minify", documents::ALL, bound, |text| drop(jird::minify(text)));
}

#[test]
fn a_tape_has_8_bytes_for_each_key_and_scalar_and_16_for_each_container() {
    let _alone = alone();
    // The vector doubles, but the memory system touches no page before it is written.
    let bound = |text: &[u8]| BUFFERS + 2 * jird::parse(text).map_or(8 * text.len(), |document| tape(document.root()));
    assert_bounded("parse", documents::ALL, bound, |text| drop(jird::parse(text)));
}

/// The size in bytes of a value's tape.
fn tape(value: Value<'_>) -> usize {
    value.descendants().map(|value| if matches!(value.kind(), Kind::Object | Kind::Array) { 16 } else { 8 }).sum()
}

#[test]
fn a_parser_allocates_nothing_for_the_next_document() {
    let _alone = alone();
    let mut parser = Parser::new();
    assert_reused("parse", |text| drop(parser.parse(text)));
    assert_reused("validate", |text| drop(parser.validate(text)));
    assert_reused("parse_trusted", |text| _ = parser.parse_trusted(text));
    let mut out = Vec::new();
    assert_reused("minify", |text| {
        out.clear();
        drop(parser.minify(text, &mut out));
    });
    let mut buffer = RecordBuffer::new();
    assert_reused("Record::scan", |text| drop(Record::scan(text, &mut buffer)));
    assert_reused("Record::scan_trusted", |text| _ = Record::scan_trusted(text, &mut buffer));
    for path in [Path::root().key("a"), Path::root().key("a").key("b"), Path::root().key("a").index(1)] {
        let projection = Projection::new(&[path]);
        let mut reader = FieldReader::new(&projection);
        assert_reused("FieldReader::read", |text| drop(reader.read(text, &mut [Field::MISSING])));
        assert_reused("FieldReader::read_trusted", |text| drop(reader.read_trusted(text, &mut [Field::MISSING])));
    }
    let mut scanner = Scanner::new(Options::default());
    let nothing = Projection::new(&[]);
    // A scan has a stack of its own for the lines that it has to walk.
    assert_reused_but("lines", 8, |text| drop(scanner.scan(text, &nothing, None, |_| ControlFlow::Continue(()))));
}

/// Checks that work on a valid array or object allocates nothing, after texts of the same length were read. Invalid
/// texts are left out, because their error is allocated. So is a document that is a single string, number or literal: a
/// walk reads it, with a stack of its own.
fn assert_reused(what: &str, work: impl FnMut(&[u8])) {
    assert_reused_but(what, 0, work);
}

/// The same, with at most `most` allocations, whatever the length.
fn assert_reused_but(what: &str, most: u64, mut work: impl FnMut(&[u8])) {
    let texts = documents::ALL.iter().map(|shape| (shape.name, (shape.make)(200_000)));
    let texts: Vec<_> = texts.filter(|(_, text)| b"[{".contains(&text[0]) && jird::validate(text).is_ok()).collect();
    // The first rounds allocate the buffers.
    for _ in 0..2 {
        texts.iter().for_each(|(_, text)| work(text));
    }
    for (name, text) in &texts {
        let (_, blocks) = allocated(|| work(text));
        assert!(blocks <= most, "{what}, {name}: {blocks} allocations");
    }
}

#[test]
fn a_stream_takes_the_same_memory_whatever_its_length() {
    let _alone = alone();
    assert_constant("into_iter", STREAM, |log| {
        Deserializer::from_reader(log).into_iter::<IgnoredAny>().for_each(|item| _ = item.expect("it is right"));
    });
    assert_constant("records of lines", STREAM, |log| {
        let records = Deserializer::from_reader(log).records::<IgnoredAny>(Pattern::default()).lines();
        records.for_each(|item| _ = item.expect("it is right"));
    });
    assert_constant("records of an array", STREAM, |log| {
        let array = (&b"[0"[..]).chain(Commas(log)).chain(&b"]"[..]);
        let records = Deserializer::from_reader(array).records::<IgnoredAny>(Pattern::each());
        records.for_each(|item| _ = item.expect("it is right"));
    });
    assert_constant("from_reader of an array", STREAM, |log| {
        let array = (&b"[0"[..]).chain(Commas(log)).chain(&b"]"[..]);
        jird::from_reader::<_, IgnoredAny>(array).expect("it is right");
    });
    assert_constant("events", STREAM, |log| send(JsonSource::from_reader(log)));
    assert_constant("events of lines, checked first", STREAM, |log| {
        send(JsonSource::from_reader(log).lines().check_first());
    });
    assert_constant("a recording", STREAM, |log| {
        let (mut recording, mut source) = (Recording::new(), JsonSource::from_reader(log));
        while source.send_record(&mut recording).expect("it is right") {}
    });
    assert_constant("a feed", STREAM, |mut log| {
        let (mut feed, mut piece) = (Feed::new(), [0; 1000]);
        loop {
            let read = log.read(&mut piece).expect("it can be read");
            if read == 0 {
                break;
            }
            feed.feed(&piece[..read], &mut Nothing).expect("it is right");
        }
        feed.finish(&mut Nothing).expect("it is right");
    });
    assert_constant("lines", STREAM, |log| {
        let mut scanner = Scanner::new(Options::default());
        let read = read_stream::<jird::Error>(log, &mut Vec::new(), 64 * MB, |_, piece| {
            scanner.scan(piece, &Projection::new(&[]), None, |_| ControlFlow::Continue(()))?;
            Ok(ControlFlow::Continue(()))
        });
        assert!(read.is_ok_and(|flow| flow.is_continue()));
    });
    // In flight are three pieces of 256 KB, the values made of them, and what is being read.
    assert_constant("typed lines", 4 * MB, |log| {
        typed_on::<IgnoredAny>(log, 1).for_each(|item| _ = item.expect("it is right"));
    });
    // Batches of 256 KB: two wait, and each side has one.
    assert_constant("a pipe", 3 * MB, |log| {
        let sent = pipe(&mut Nothing, |pipe| JsonSource::from_reader(log).send(pipe).is_ok());
        assert!(sent.expect("it is right"));
    });
    assert_constant("lines to CSV", STREAM, |log| {
        let mut rows = CsvSink::new(io::sink()).rows();
        event::copy(&mut JsonSource::from_reader(log), &mut rows).expect("it is right");
    });
    assert_constant("CSV to lines", STREAM, |log| {
        let table = (&b"a,b\n"[..]).chain(Rows(log));
        event::copy(&mut CsvSource::new(table).flexible(), &mut JsonSink::new(io::sink())).expect("it is right");
    });
}

/// Records, each of them after a comma.
struct Commas<R>(R);

impl<R: Read> Read for Commas<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // An array of numbers will do: every byte of the log becomes a comma or a digit, in turns.
        let read = self.0.read(buffer)? / 2 * 2;
        buffer[..read].iter_mut().enumerate().for_each(|(at, byte)| *byte = if at % 2 == 0 { b',' } else { b'1' });
        Ok(read)
    }
}

/// The log's bytes, replaced with rows of a table.
struct Rows<R>(R);

impl<R: Read> Read for Rows<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)? / 8 * 8;
        buffer[..read].iter_mut().zip(b"12,text\n".iter().cycle()).for_each(|(byte, row)| *byte = *row);
        Ok(read)
    }
}

fn send<R: Read>(mut source: JsonSource<IoRead<R>>) {
    event::copy(&mut source, &mut JsonSink::new(io::sink())).expect("it is right");
}

/// The limit of a record, in bytes.
const LIMIT: usize = 512 << 10;

#[test]
fn a_record_beyond_the_limit_is_not_kept() {
    let _alone = alone();
    for shape in documents::named(&["a long string without end", "an array that is not closed", "nothing but spaces"]) {
        for bytes in SIZES {
            let text = (shape.make)(bytes);
            // A token takes five bytes, every byte may be a token, and buffers double.
            let bound = 24 * LIMIT;
            let (peak, _) = allocated(|| {
                let source = JsonSource::from_reader(&text[..]).record_bytes_max(LIMIT).lines().check_first();
                drop(event::copy(&mut { source }, &mut Nothing));
            });
            assert!(peak <= bound, "events, {}: {peak} bytes at its peak for {bytes}, and not {bound}", shape.name);
            let (peak, _) = allocated(|| {
                let read = read_stream::<jird::Error>(&text[..], &mut Vec::new(), LIMIT, |_, piece| {
                    black_box(piece.len());
                    Ok(ControlFlow::Continue(()))
                });
                drop(read);
            });
            assert!(peak <= bound, "lines, {}: {peak} bytes at its peak for {bytes}, and not {bound}", shape.name);
        }
    }
}

#[test]
fn a_token_takes_as_much_as_it_is_long_and_some() {
    let _alone = alone();
    // A doubling buffer takes three times its length while it is moved.
    let bound = |text: &[u8]| BUFFERS + 4 * text.len();
    let shapes = documents::named(&["a long string", "a string of \\u escapes", "a number of many digits"]);
    assert_bounded("events", &shapes, bound, |text| send(JsonSource::from_reader(text)));
    assert_bounded("a feed", &shapes, bound, |text| {
        let mut feed = Feed::new();
        text.chunks(1000).for_each(|piece| feed.feed(piece, &mut Nothing).expect("it is right"));
        feed.finish(&mut Nothing).expect("it is right");
    });
}

#[test]
fn threads_take_5_megabytes_each_and_25_where_all_is_brackets() {
    let _alone = alone();
    for (name, megabytes) in [("records in an array", 5), ("many empty arrays", 25), ("wrong at byte 2", 5)] {
        let shape = documents::named(&[name])[0];
        for bytes in [8 * MB, 16 * MB] {
            let text = (shape.make)(bytes);
            let bound = 2 * megabytes * MB + BUFFERS;
            let (peak, _) = allocated(|| drop(Parser::new().with_threads(2).validate(&text)));
            assert!(peak <= bound, "{name}: {peak} bytes at its peak for {bytes}, and not {bound}");
        }
    }
}
