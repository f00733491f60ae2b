//! However an input is cut, and whatever hands it on.

use crate::common;
use crate::lines::a;
use checks::random::Random;
use jird::hooks::lines::ReadAt;
use jird::hooks::lines::{in_order, read_range};
use jird::lines::{Options, Scanner, read_stream};
use jird::record::Projection;
use std::io::{self, Read};
use std::ops::ControlFlow;

/// What reading can end with.
#[derive(Debug)]
enum Failure {
    Data,
    Io,
    Asked,
}

impl From<jird::Error> for Failure {
    fn from(_: jird::Error) -> Self {
        Self::Data
    }
}

impl From<io::Error> for Failure {
    fn from(_: io::Error) -> Self {
        Self::Io
    }
}

/// A text of many lines, some of them long, with the offset of each.
fn text_of_lines(bytes: usize) -> (Vec<u8>, Vec<u64>) {
    let mut random = Random::new(4);
    let (mut text, mut offsets) = (Vec::new(), Vec::new());
    while text.len() < bytes {
        offsets.push(text.len() as u64);
        let fill = if random.below(50) == 0 { random.below(20_000) } else { random.below(200) };
        text.extend(format!("{{\"a\":{},\"b\":\"{}\"}}\n", offsets.len(), "x".repeat(fill)).bytes());
    }
    text.pop();
    (text, offsets)
}

/// The offset and `a` of each record in what a reader hands out.
fn collect(at: u64, piece: &[u8], found: &mut Vec<(u64, u64)>) -> Result<ControlFlow<()>, Failure> {
    Scanner::new(Options::default()).scan(piece, &a(), None, |row| {
        let number = row.field(0).as_number().and_then(jird::Number::as_u64).expect("a number");
        found.push((at + row.offset() as u64, number));
        ControlFlow::Continue(())
    })?;
    Ok(ControlFlow::Continue(()))
}

#[test]
fn however_an_input_is_cut_the_same_records_come_in_the_same_order() {
    common::force_kernel();
    let (text, offsets) = text_of_lines(3 << 20);
    let wanted: Vec<(u64, u64)> = offsets.iter().copied().zip(1..).collect();
    let source = &text[..];
    let mut random = Random::new(5);
    for parts in [1, 2, 3, 10, 100] {
        let mut cuts: Vec<u64> = (1..parts).map(|_| random.below(text.len()) as u64).collect();
        // One cut at a line's start and one right behind a line feed's.
        cuts.extend([offsets[offsets.len() / 2], offsets[offsets.len() / 3] - 1, 0, text.len() as u64]);
        cuts.sort_unstable();
        let ranges: Vec<_> = cuts.windows(2).map(|cut| cut[0]..cut[1]).collect();
        for threads in [1, 2, 5] {
            let mut found = Vec::new();
            in_order(
                0..ranges.len(),
                threads,
                Vec::new,
                |buffer, job| {
                    let mut part = Vec::new();
                    let flow = read_range(
                        &source,
                        ranges[job].clone(),
                        buffer,
                        jird::policy::RECORD_BYTES_MAX,
                        |at, piece| collect(at, piece, &mut part),
                    );
                    assert!(matches!(flow, Ok(ControlFlow::Continue(()))));
                    part
                },
                |part| {
                    found.extend(part);
                    ControlFlow::Continue(())
                },
            );
            assert_eq!(found, wanted, "{parts} parts, {threads} threads");
        }
    }
}

/// Gives as much as it likes, and is interrupted now and then.
struct Trickle<'a>(&'a [u8], Random);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.1.below(10) == 0 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let most = if self.1.below(3) == 0 { 50 } else { 100_000 };
        let len = (1 + self.1.below(most)).min(buffer.len()).min(self.0.len());
        let (now, later) = self.0.split_at(len);
        buffer[..len].copy_from_slice(now);
        self.0 = later;
        Ok(len)
    }
}

#[test]
fn a_stream_gives_the_same_records_however_it_trickles() {
    common::force_kernel();
    let (text, offsets) = text_of_lines(3 << 20);
    for seed in 0..5 {
        let mut found = Vec::new();
        let stream = Trickle(&text, Random::new(seed));
        let flow = read_stream(stream, &mut Vec::new(), jird::policy::RECORD_BYTES_MAX, |at, piece| {
            collect(at, piece, &mut found)
        });
        assert!(matches!(flow, Ok(ControlFlow::Continue(()))));
        assert!(found.iter().copied().eq(offsets.iter().copied().zip(1..)));
    }
}

#[test]
fn readers_stop_when_asked_and_pass_on_what_fails() {
    let (text, _) = text_of_lines(1 << 20);
    let source = &text[..];
    let mut calls = 0;
    let flow = read_range::<Failure>(&source, 0..text.len() as u64, &mut Vec::new(), 1 << 20, |_, _| {
        calls += 1;
        Ok(ControlFlow::Break(()))
    });
    assert!(matches!(flow, Ok(ControlFlow::Break(()))) && calls == 1);
    let flow = read_stream::<Failure>(&text[..], &mut Vec::new(), 1 << 20, |_, _| Ok(ControlFlow::Break(())));
    assert!(matches!(flow, Ok(ControlFlow::Break(()))));
    let flow = read_stream::<Failure>(&text[..], &mut Vec::new(), 1 << 20, |_, _| Err(Failure::Asked));
    assert!(matches!(flow, Err(Failure::Asked)));
    let flow = read_range::<Failure>(&Broken, 0..10, &mut Vec::new(), 1 << 20, |_, _| Ok(ControlFlow::Continue(())));
    assert!(matches!(flow, Err(Failure::Io)));
}

/// What cannot be read.
struct Broken;

impl ReadAt for Broken {
    fn read_at(&self, _: &mut [u8], _: u64) -> io::Result<usize> {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

#[test]
fn a_stream_without_line_feeds_is_a_bad_record_before_it_fills_the_memory() {
    let mut buffer = Vec::new();
    let options = Options { record_bytes_max: 1 << 20, ..Options::default() };
    let flow = read_stream::<Failure>(io::repeat(b'x'), &mut buffer, 1 << 20, |offset, head| {
        let error = Scanner::new(options).scan(head, &Projection::new(&[]), None, |_| ControlFlow::Continue(()));
        assert_eq!((offset, error.map_err(|error| (error.code(), error.offset())).err()), (0, Some(("size", 1 << 20))));
        Ok(ControlFlow::Break(()))
    });
    assert!(flow.is_ok_and(|flow| flow.is_break()));
    assert!(buffer.len() <= 2 << 20, "{} bytes of buffer", buffer.len());
}
