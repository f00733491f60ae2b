//! Gigabytes: streams beyond 4 GiB, documents of a gigabyte, and what they take in memory.
//!
//! In full if `JIRD_LARGE` is `1`, as `cargo xtask deep` sets it; else with a thousandth of the bytes.

mod common;

use jird::lines::{Options, Scanner, read_stream};
use jird::policy::RECORD_BYTES_MAX;
use jird::{Kind, Parser, Value, record::Projection};
use std::io::{self, Read};
use std::ops::ControlFlow;

/// Whether all bytes are wanted.
fn in_full() -> bool {
    common::force_kernel();
    std::env::var_os("JIRD_LARGE").is_some_and(|large| large == "1")
}

/// A gigabyte, or what stands for it.
fn gigabyte() -> usize {
    if in_full() { 1 << 30 } else { 1 << 20 }
}

/// The same lines over and over, then one that is bad, then the lines once more.
struct Lines {
    good: Vec<u8>,
    repeats: u64,
    bad: &'static [u8],
    at: u64,
}

impl Read for Lines {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (len, bad) = (self.good.len() as u64, self.bad.len() as u64);
        let bad_at = self.repeats * len;
        let rest = match self.at {
            at if at < bad_at => &self.good[(at % len) as usize..],
            at if at < bad_at + bad => &self.bad[(at - bad_at) as usize..],
            at => self.good.get((at - bad_at - bad) as usize..).unwrap_or_default(),
        };
        let read = rest.len().min(buffer.len());
        buffer[..read].copy_from_slice(&rest[..read]);
        self.at += read as u64;
        Ok(read)
    }
}

#[test]
fn an_error_beyond_4_gib_of_lines_has_its_offset_and_its_line() {
    let four = 4 * gigabyte() as u64;
    let line = format!("{{\"a\":[1,2.5,\"\\n\"],\"b\":{{\"c\":null}},\"text\":\"{}\"}}\n", "x".repeat(200));
    let lines = line.repeat(4000).into_bytes();
    let repeats = four / lines.len() as u64 + 1;
    let (bad_at, bad_line) = (repeats * lines.len() as u64, repeats * 4000 + 1);
    let stream = Lines { good: lines, repeats, bad: b"{\"a\":1,\"b\" 2}\n", at: 0 };
    let mut scanner = Scanner::new(Options::default());
    let (mut records, mut found) = (0, Vec::new());
    let mut buffer = Vec::new();
    let read = read_stream::<Box<dyn std::error::Error>>(stream, &mut buffer, RECORD_BYTES_MAX, |base, text| {
        let scanned = scanner.scan_all(
            text,
            &Projection::new(&[]),
            None,
            |_| ControlFlow::Continue(()),
            |bad| {
                let before = text[..bad.offset].iter().filter(|&&byte| byte == b'\n').count() as u64;
                let located = bad.locate().after_lines(records + before, base + bad.offset as u64);
                found.push((located.line(), located.column(), located.error().offset()));
                ControlFlow::Continue(())
            },
        );
        records += scanned.records + scanned.bad;
        Ok(ControlFlow::Continue(()))
    });
    assert!(read.is_ok_and(|flow| flow.is_continue()));
    assert!(bad_at > four);
    assert_eq!(found, [(bad_line, 12, bad_at + 11)]);
    assert_eq!(records, bad_line + 4000);
    assert!(buffer.len() <= 1 << 20, "{} bytes for a stream of short lines", buffer.len());
}

/// The most memory that this process has had, in bytes, since it was last asked to forget.
#[cfg(target_os = "linux")]
fn resident_max() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux tells");
    1024 * line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number")
}

/// `record` over and over, in an array, until it has `bytes` bytes.
fn array_of(record: &str, bytes: usize) -> Vec<u8> {
    let count = bytes / (record.len() + 1);
    let mut text = Vec::with_capacity(bytes + 2);
    text.push(b'[');
    for _ in 0..count {
        text.extend_from_slice(record.as_bytes());
        text.push(b',');
    }
    *text.last_mut().expect("it has a bracket") = b']';
    text
}

#[test]
#[cfg(target_os = "linux")]
fn a_document_of_a_gigabyte_is_read_in_a_stated_proportion_of_memory() {
    let gigabyte = gigabyte();
    let deepest = ["[".repeat(1023), "]".repeat(1023)].concat();
    // A word of eight bytes for every key, scalar and bracket.
    for (record, words) in [
        (r#"{"id":12345678901,"text":"some words that somebody wrote","on":true,"at":[1.5,-2.25]}"#, 13),
        ("\"0123456789012345678901234567890123456789012345678901234567890\"", 1),
        ("1", 1),
        ("[]", 2),
        (&deepest, 2046),
    ] {
        // The text and its tape fit the memory of a small machine.
        let text = array_of(record, if 8 * words > 2 * record.len() { gigabyte / 4 } else { gigabyte });
        let count = text.len() / (record.len() + 1);
        let wanted = 8 * words * count + (8 << 20);
        for threads in [1, 4] {
            let mut parser = Parser::new().with_threads(threads);
            std::fs::write("/proc/self/clear_refs", "5").expect("Linux forgets");
            let before = resident_max();
            let root = parser.parse(&text).expect("it is JSON");
            // Elsewhere other tests run next to this one, and make Linux forget too.
            let taken = resident_max().saturating_sub(before);
            assert_eq!((root.kind(), root.len()), (Kind::Array, count));
            assert_eq!(root.at(count - 1).map(Value::raw), Some(record.as_bytes()));
            let room = if threads > 1 { threads * (25 << 20) } else { 0 };
            let holds = !in_full() || taken <= wanted + room;
            assert!(holds, "{taken} bytes beside {} of text: {threads} threads", text.len());
            let short = parser.validate(&text[..text.len() - 1]).expect_err("it is not closed");
            assert_eq!((short.code(), short.offset()), ("unclosed", text.len() as u64 - 1));
        }
    }
}
