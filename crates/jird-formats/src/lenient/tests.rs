//! Records of texts that are almost JSON: what they are, what is refused and where, and how much is in memory.

use super::*;
use crate::recover::{BadRow, Recover};
use jird::ErrorKind;
use jird::event::{Failure, JsonSink, Pattern, Sink, Source};
use jird::lenient::{Allow, Leniency};
use std::io::{self, Read};

/// A reader that returns this many bytes at a time.
struct Few<'t>(&'t [u8], usize);

impl Read for Few<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.1.min(self.0.len()).min(buffer.len());
        buffer[..len].copy_from_slice(&self.0[..len]);
        self.0 = &self.0[len..];
        Ok(len)
    }
}

/// What was sent, what was left out, and why it ended early.
type Read3 = (String, Vec<BadRow>, Option<LenientFault>);

fn read<R: Read>(mut source: LenientSource<R>) -> Read3 {
    let (mut out, mut bad) = (JsonSink::new(Vec::new()).keeping_lines(), Vec::new());
    let fault = loop {
        match source.send_record(&mut out) {
            Ok(true) => {}
            Ok(false) => break None,
            Err(Failure::Sink(error, _)) => panic!("{error}"),
            Err(Failure::Source(fault)) => match source.bad_row(&fault).unwrap() {
                Some(row) => bad.push(row),
                None => break Some(fault),
            },
        }
    };
    out.finish().unwrap();
    (String::from_utf8(out.into_inner()).unwrap(), bad, fault)
}

const JSON5: LenientOptions = LenientOptions { leniency: Leniency::JSON5, bytes_max: 100 };

/// Reads a text in pieces of several sizes, which makes no difference.
fn in_pieces(text: &str, layout: LenientLayout, records: Option<&str>) -> Read3 {
    let of = |len| {
        let source = LenientSource::new(Few(text.as_bytes(), len), JSON5, layout);
        read(match records {
            Some(pattern) => source.records(pattern.parse().unwrap()),
            None => source,
        })
    };
    let found = of(1000);
    for len in [1, 2, 3, 7] {
        assert_eq!(format!("{:?}", of(len)), format!("{found:?}"), "{len}");
    }
    found
}

#[test]
fn lines_are_records_and_keep_their_places() {
    let text = "// head\n{a: 1} // one\r\n\n [0x10,]\n/* none */\n'x'";
    let (sent, bad, fault) = in_pieces(text, LenientLayout::Lines, None);
    assert_eq!(sent, "\r{\"a\":1}\n\r\r[16]\n\r\r\"x\"\n");
    assert!(bad.is_empty() && fault.is_none());
    let (sent, ..) = in_pieces("{a: [1, 2,]}\n// none\n\n{a: [3]}\n{}\n", LenientLayout::Lines, Some("/a/*"));
    assert_eq!(sent, "1\n2\n\r\r\r3\n");
    // Arrays in lines are records themselves, as in strict lines, but their elements are if the pattern says so.
    assert_eq!(in_pieces("[1,]\n[2]\n", LenientLayout::Lines, Some("/*")).0, "1\n\r2\n");
}

#[test]
fn a_document_is_one_record_or_an_array_of_them() {
    let text = "// all\n[\n  {a: 1}, // one\n  {a: 2},\n]\n";
    assert_eq!(in_pieces(text, LenientLayout::Document, None).0, "\r\r{\"a\":1}\n\r{\"a\":2}\n");
    assert_eq!(in_pieces("{\n a: [1,]\n}\n", LenientLayout::Document, None).0, "{\"a\":[1]}\n");
    assert_eq!(in_pieces("{\n a: [1,\n2]\n}\n", LenientLayout::Document, Some("/a/*")).0, "\r1\n\r2\n");
    for nothing in ["", " \n", "// none\n/* at all */"] {
        let (sent, bad, fault) = in_pieces(nothing, LenientLayout::Document, None);
        assert!(sent.is_empty() && bad.is_empty() && fault.is_none(), "{nothing:?}");
    }
}

#[test]
fn a_bad_line_is_told_with_its_place_and_passed_by() {
    let text = "{a: 1}\n{a: ^}\n{a: 3}\n{\"b\": /* open\n'x\n{a: 5}";
    let (sent, bad, fault) = in_pieces(text, LenientLayout::Lines, None);
    assert_eq!(sent, "{\"a\":1}\n\r\r{\"a\":3}\n\r\r\r{\"a\":5}\n");
    assert!(fault.is_none());
    let found: Vec<_> = bad.iter().map(|bad| (bad.kind, bad.place.line, bad.place.record, &bad.raw[..])).collect();
    let wanted = [("value", 2, 1, &b"{a: ^}"[..]), ("value", 4, 3, b"{\"b\": /* open"), ("string", 5, 4, b"'x")];
    assert_eq!(found, wanted);
    assert_eq!(bad[0].message, "expected a value at line 2 column 5 (byte 11)");
    assert_eq!(bad[0].place.offset, 11);
}

#[test]
fn a_bad_document_is_an_error_with_its_place() {
    let text = "{\n  a: 1,\n  b: ^,\n}";
    let (sent, bad, fault) = in_pieces(text, LenientLayout::Document, None);
    assert!(sent.is_empty() && bad.is_empty());
    assert_eq!(fault.unwrap().located("x.json5"), "x.json5:3:6: expected a value (byte 15)\n    b: ^,\n       ^");
    let options = LenientOptions::new(Leniency::JSONC.with(Allow::SingleQuotes));
    let (.., fault) = read(LenientSource::new(&b"['a', b]"[..], options, LenientLayout::Document));
    assert_eq!(fault.unwrap().place().offset, 6);
    // Two documents are no document.
    let (.., fault) = read(LenientSource::new(&b"{a:1} {a:2}"[..], JSON5, LenientLayout::Document));
    assert_eq!(fault.unwrap().kind(), ErrorKind::Trailing);
}

#[test]
fn what_is_too_long_is_not_kept() {
    let long = "x".repeat(1 << 20);
    let text = format!("{{a: 1}}\n{{a: '{long}'}}\n{{a: 3}}\n{}\n", " ".repeat(500));
    let mut source = LenientSource::new(text.as_bytes(), JSON5, LenientLayout::Lines);
    let mut out = JsonSink::new(Vec::new());
    assert!(source.send_record(&mut out).unwrap());
    let Err(Failure::Source(fault)) = source.send_record(&mut out) else { panic!("it is too long") };
    assert_eq!(fault.kind(), ErrorKind::Size);
    let bad = source.bad_row(&fault).unwrap().unwrap();
    assert_eq!((bad.place.line, bad.place.offset, bad.raw.len()), (2, 7, 101));
    assert_eq!(bad.message, "longer than the limit at line 2 column 1 (byte 7)");
    assert!(source.send_record(&mut out).unwrap());
    let Err(Failure::Source(fault)) = source.send_record(&mut out) else { panic!("it is too long") };
    assert_eq!(fault.place().line, 4);
    assert!(!source.send_record(&mut out).unwrap());
    let mut document = LenientSource::new(text.as_bytes(), JSON5, LenientLayout::Document);
    let Err(Failure::Source(fault)) = document.send_record(&mut out) else { panic!("it is too long") };
    assert_eq!(
        (fault.kind(), fault.located("a")),
        (ErrorKind::Size, "a:1:1: longer than the limit of 100 bytes (byte 0)".into())
    );
    assert!(document.bad_row(&fault).unwrap().is_none());
}

#[test]
fn a_reader_that_fails_is_told_after_the_lines_before() {
    struct Fails(&'static [u8]);
    impl Read for Fails {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Err(io::Error::other("the cable is out"));
            }
            self.0.read(buffer)
        }
    }
    for layout in [LenientLayout::Lines, LenientLayout::Document] {
        let (sent, bad, fault) = read(LenientSource::new(Fails(b"{a: 1}\n{a: 2"), JSON5, layout));
        assert_eq!(sent, if layout == LenientLayout::Lines { "{\"a\":1}\n" } else { "" });
        let fault = fault.unwrap();
        assert!(bad.is_empty() && fault.as_io().is_some() && fault.kind() == ErrorKind::Io);
        assert_eq!(fault.to_string(), "the cable is out");
    }
}

#[test]
fn a_pattern_is_applied_to_each_line() {
    let source = LenientSource::new(&b"[{n: 1}, {n: 2}]\n[]\n"[..], JSON5, LenientLayout::Lines);
    assert_eq!(read(source.records(Pattern::each())).0, "{\"n\":1}\n{\"n\":2}\n");
}
