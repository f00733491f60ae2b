//! `million_stream`: reads the objects of `million` one by one, from a reader that returns the bytes that have arrived.

use std::cell::Cell;
use std::fmt;
use std::hint::black_box;
use std::io::{self, Read, Write};
use std::rc::Rc;
use std::time::Instant;

use jird::event::{self, JsonSource, Pattern};
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};

use super::{Contestant, here, median, resident_bytes_max, told};
use crate::million::{self, LEN};
use crate::whole::Report;

/// The length of the text.
pub(crate) const BYTES: u64 = 48_777_781;

/// The size of a piece that arrives at once, as from a pipe.
const PIECE_BYTES: usize = 1 << 16;

/// The median of this many runs counts.
const RUNS: usize = 9;

pub(super) const CONTESTANTS: &[Contestant] = &[
    here("jird", "Deserializer::records", |_| streamed(records)),
    here("jird-objects", "event::for_each over a JsonSource, as from any source", |_| streamed(objects)),
    here("jird-slice", "the whole text into a Vec: not one by one", |_| {
        whole(|text| jird::from_slice(text).map_err(|error| error.to_string()))
    }),
    here("serde_json", "a visitor over the array, from a reader behind a buffer", |_| streamed(visited)),
    here("serde_json-slice", "the whole text into a Vec: not one by one", |_| {
        whole(|text| serde_json::from_slice(text).map_err(|error| error.to_string()))
    }),
    here("sonic-rs-slice", "the whole text into a Vec: not one by one; checks less", |_| {
        whole(|text| sonic_rs::from_slice(text).map_err(|error| error.to_string()))
    }),
];

/// One of the objects, owned.
#[derive(Deserialize)]
struct Hello {
    hi: u64,
    there: u64,
    comment: String,
}

impl Hello {
    fn sum(&self) -> u64 {
        self.hi + self.there + self.comment.len() as u64
    }
}

/// The objects that a stream has delivered.
struct Delivered {
    started: Rc<Cell<Option<Instant>>>,
    /// The time of the first object, counted from the first bytes.
    first_seconds: f64,
    count: u64,
    sum: u64,
}

impl Delivered {
    #[inline]
    fn take(&mut self, hello: &Hello) {
        if self.count == 0 {
            self.first_seconds = self.started.get().map_or(f64::NAN, |started| started.elapsed().as_secs_f64());
        }
        self.count += 1;
        self.sum = self.sum.wrapping_add(black_box(hello).sum());
    }
}

/// A function that passes on the objects of a reader.
type Stream = fn(Box<dyn Read>, &mut Delivered) -> Result<(), String>;

fn records(reader: Box<dyn Read>, delivered: &mut Delivered) -> Result<(), String> {
    for hello in jird::Deserializer::from_reader(reader).records::<Hello>(Pattern::each()) {
        delivered.take(&hello.map_err(|error| error.to_string())?);
    }
    Ok(())
}

fn objects(reader: Box<dyn Read>, delivered: &mut Delivered) -> Result<(), String> {
    let mut source = JsonSource::from_reader(reader).records(Pattern::each());
    let each = |_, hello: Hello| {
        delivered.take(&hello);
        Ok::<(), jird::Error>(())
    };
    event::for_each(&mut source, each).map_err(|failure| format!("{failure:?}"))
}

fn visited(reader: Box<dyn Read>, delivered: &mut Delivered) -> Result<(), String> {
    struct Each<'d>(&'d mut Delivered);
    impl<'de> Visitor<'de> for Each<'_> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
            while let Some(hello) = elements.next_element::<Hello>()? {
                self.0.take(&hello);
            }
            Ok(())
        }
    }
    let mut deserializer = serde_json::Deserializer::from_reader(io::BufReader::with_capacity(PIECE_BYTES, reader));
    deserializer.deserialize_seq(Each(delivered)).map_err(|error| error.to_string())
}

/// Measures memory first, over texts that are never whole in memory, and then the time.
fn streamed(stream: Stream) -> Result<Report, String> {
    let run = |reader: Box<dyn Read>, started| {
        let mut delivered = Delivered { started, first_seconds: f64::NAN, count: 0, sum: 0 };
        stream(reader, &mut delivered).map(|()| delivered)
    };
    let made = |count| run(Box::new(GeneratedText { next: 0, count, waiting: Vec::new(), at: 0 }), Rc::default());
    made(LEN / 10)?;
    let small = resident_bytes_max();
    made(LEN)?;
    let growth = resident_bytes_max() - small;
    let text = million::text();
    let text: &'static [u8] = Box::leak(text.into_boxed_slice());
    let (mut seconds, mut firsts, mut last) = (Vec::new(), Vec::new(), None);
    for _ in 0..RUNS {
        let arrived = Rc::<Cell<Option<Instant>>>::default();
        let reader = Pieces { rest: text, arrived: arrived.clone() };
        let started = Instant::now();
        let delivered = run(Box::new(reader), arrived)?;
        seconds.push(started.elapsed().as_secs_f64());
        firsts.push(delivered.first_seconds);
        last = Some(delivered);
    }
    let last = last.ok_or("no runs")?;
    let mut report = Report { checksum: last.sum, ..told(median(seconds), last.count) };
    report.figures.insert("first µs".into(), median(firsts) * 1e6);
    report.figures.insert("growth KB".into(), growth / 1e3);
    Ok(report)
}

/// Reads the whole text at once.
fn whole(read: fn(&[u8]) -> Result<Vec<Hello>, String>) -> Result<Report, String> {
    let text = million::text();
    let (mut seconds, mut answer) = (Vec::new(), (0, 0));
    for _ in 0..RUNS {
        let started = Instant::now();
        let all = black_box(read(&text)?);
        seconds.push(started.elapsed().as_secs_f64());
        answer = (all.len() as u64, all.iter().map(Hello::sum).sum());
    }
    Ok(Report { checksum: answer.1, ..told(median(seconds), answer.0) })
}

/// A text that arrives in pieces.
struct Pieces {
    rest: &'static [u8],
    arrived: Rc<Cell<Option<Instant>>>,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.arrived.get().is_none() {
            self.arrived.set(Some(Instant::now()));
        }
        let len = self.rest.len().min(PIECE_BYTES).min(buffer.len());
        let (now, rest) = self.rest.split_at(len);
        buffer[..len].copy_from_slice(now);
        self.rest = rest;
        Ok(len)
    }
}

/// The same text, generated while it is read.
struct GeneratedText {
    next: usize,
    count: usize,
    waiting: Vec<u8>,
    at: usize,
}

impl Read for GeneratedText {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.waiting.len() && self.next <= self.count {
            self.waiting.clear();
            self.at = 0;
            let index = self.next;
            self.next += 1;
            match index {
                _ if index == self.count => self.waiting.push(b']'),
                _ => {
                    let start = if index == 0 { '[' } else { ',' };
                    write!(self.waiting, "{start}{{\"hi\":{index},\"there\":{index},\"comment\":\"comment\"}}")?;
                }
            }
        }
        let len = (self.waiting.len() - self.at).min(buffer.len());
        buffer[..len].copy_from_slice(&self.waiting[self.at..self.at + len]);
        self.at += len;
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_as_it_is_read_is_the_text() {
        let mut text = Vec::new();
        GeneratedText { next: 0, count: LEN, waiting: Vec::new(), at: 0 }
            .read_to_end(&mut text)
            .expect("it is in memory");
        assert!(text == million::text());
        assert_eq!(text.len() as u64, BYTES);
    }
}
