//! Every public way in, over small texts, right and wrong: what Miri runs.
//!
//! `cargo xtask test miri` runs these tests under Miri, once for each kernel that Miri knows, in a build that leaves the checks of
//! unchecked accesses to Miri. Miri is a thousand times slower than the CPU, so an ordinary run takes each text one way through
//! every second check; `JIRD_MIRI=long` takes every way, and the seeds of the fuzz targets too. The tests pass outside Miri as well.

mod common;

use checks::{TARGETS, Target};
use jird::event::{JsonSink, JsonSource, Sink, Source};
use jird::hooks::event::Parts;
use jird::hooks::event::pipe;
use jird::{Deserializer, Json, Layout, Parser};
use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;

fn is_long() -> bool {
    std::env::var_os("JIRD_MIRI").is_some_and(|value| value == "long")
}

/// Right ones and wrong ones, all kinds of values, several lines.
const TEXTS: [&[u8]; 14] = [
    b"{\"a\":[1,-2.5e3,true,null],\"\\u00e9\\n\":\"\xc3\xa9\",\"b\":{\"a\":\"\"}}",
    b" [ 0.30000000000000004 , 18446744073709551616, 1e400 ] ",
    b"{\"a\":1}\n\n[2]\r\n\"x\ny\"\n{\"a\":\"\\ud83d\\ude00\"}",
    b"[\"a\",\"\\u00e9\",\"\"]",
    b"\"AQIDBA==\"",
    b"-0",
    b"[1,2,\"open",
    b"{\"a\":tru}",
    b"\"\xed\xa0\x80\"",
    b"\"\\ud800\"",
    b"]]}{,:\"",
    b"[[[[[[[",
    b"\x00",
    b"",
];

/// What stands across the border of a block and of the smallest chunk, byte 64.
const ACROSS: [&str; 7] = [
    "\"\\\\\\\"\\u00e9\"",
    "\"\u{1F600}\"",
    "-12345678.9e-10",
    "{\"k\":[[]]}",
    "nul",
    "\"\\ud83d\"",
    "\"\\ud83d\\ude00\"",
];

fn texts_across() -> impl Iterator<Item = Vec<u8>> {
    let offsets = if is_long() { 56..=64 } else { 61..=61 };
    offsets.flat_map(|at| ACROSS.iter().map(move |piece| format!("[{}{piece}]", " ".repeat(at)).into_bytes()))
}

/// Ordinary runs take one way at each choice, long ones all.
fn run(check: Target, text: &[u8]) {
    if is_long() { check(text) } else { checks::one_of_each(check, text) }
}

#[test]
fn what_the_fuzz_targets_check_holds() {
    common::force_kernel();
    for (number, text) in TEXTS.iter().enumerate() {
        // Each text by every second check, and each check of every second text.
        let is_taken = |at: &usize| is_long() || !cfg!(miri) || (number + at).is_multiple_of(2);
        let checks = TARGETS.iter().enumerate().filter(|(at, _)| is_taken(at));
        checks.for_each(|(_, (_, check))| run(*check, text));
    }
}

#[test]
fn what_the_fuzz_targets_check_holds_across_the_border_of_a_block() {
    common::force_kernel();
    let checks =
        TARGETS.iter().filter(|(name, _)| is_long() || ["kernels", "typed", "events", "record"].contains(name));
    let checks: Vec<Target> = checks.map(|(_, check)| *check).collect();
    texts_across().for_each(|text| checks.iter().for_each(|check| run(*check, &text)));
}

#[test]
fn the_seeds_of_the_fuzz_targets_hold() {
    if cfg!(miri) && !is_long() {
        return;
    }
    common::force_kernel();
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    for (name, check) in TARGETS {
        // Scripts of this target panic, and the panics are caught.
        if name == "neighbours" && cfg!(panic = "abort") {
            continue;
        }
        for entry in std::fs::read_dir(seeds.join(name)).into_iter().flatten() {
            let text = std::fs::read(entry.expect("the folder can be listed").path()).expect("the file can be read");
            if text.len() <= 400 {
                checks::one_of_each(check, &text);
            }
        }
    }
}

#[test]
fn texts_that_are_trusted_are_read_and_written_whatever_they_are() {
    common::force_kernel();
    for text in TEXTS {
        let mut parser = Parser::new().with_chunk_bytes(64);
        let value = parser.parse_trusted(text);
        checks::assert_consistent(text, value);
        // What comes of it is not said, only that it is UTF-8.
        for written in [jird::to_string(&value), jird::to_string_pretty(&value), jird::ser::to_string_canonical(&value)]
        {
            assert!(written.is_err() || written.is_ok_and(|text| std::str::from_utf8(text.as_bytes()).is_ok()));
        }
    }
}

#[test]
fn layouts_are_written_of_what_is_right() {
    common::force_kernel();
    for text in TEXTS {
        let is_right = jird::validate(text).is_ok();
        for layout in [Layout::Minify, Layout::Indent(2)] {
            let laid_out = jird::format(text, layout);
            assert_eq!(laid_out.is_ok(), is_right);
            assert!(laid_out.is_err() || laid_out.is_ok_and(|text| jird::validate(&text).is_ok()));
        }
        let canonical = jird::format(text, Layout::Canonical);
        assert!(canonical.is_err() || is_right);
        let mut small = Vec::new();
        let minified = Parser::new().with_chunk_bytes(64).minify(text, &mut small);
        assert_eq!(minified.is_ok().then_some(small), jird::minify(text).ok());
    }
}

#[test]
fn several_threads_parse_a_text() {
    common::force_kernel();
    TEXTS.iter().filter(|text| text.len() > 10).for_each(|text| checks::threads(text));
    // Long enough for pieces with borders inside a string and between brackets.
    let long = format!("[{}\"{}\"]", "{\"a\":[1]},".repeat(12), "é\\n".repeat(40));
    checks::threads(long.as_bytes());
    checks::threads(&long.as_bytes()[..long.len() - 1]);
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Event<'a> {
    #[serde(borrow)]
    name: &'a str,
    #[serde(with = "jird::base64")]
    bytes: Vec<u8>,
    #[serde(borrow)]
    raw: &'a jird::RawValue,
    tail: (i8, u128, f32, Option<char>),
}

#[test]
fn types_borrow_from_a_text_and_are_written_again() {
    common::force_kernel();
    let text = "{\"name\":\"é\",\"bytes\":\"AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRob\",\"raw\":[1, {}],\"tail\":[-7,340282366920938463463374607431768211455,0.1,\"\u{1F600}\"]}";
    let event: Event<'_> = jird::from_str(text).expect("it is right");
    assert_eq!((event.bytes.len(), event.raw.get()), (27, "[1, {}]"));
    assert_eq!(jird::to_string(&event).expect("it can be written"), text);
    let mut again = Vec::new();
    jird::to_writer(&mut again, &event).expect("memory takes it");
    assert_eq!(again, text.as_bytes());
    let document = jird::parse(text.as_bytes()).expect("it is right").into_owned();
    assert_eq!(document.decode::<Event<'_>>().expect("the same"), event);
}

/// A reader that gives seven bytes at a time.
struct Drops<R>(R);

impl<R: Read> Read for Drops<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = buffer.len().min(7);
        self.0.read(&mut buffer[..len])
    }
}

#[test]
fn streams_give_values_and_records_one_by_one() {
    common::force_kernel();
    for text in TEXTS {
        let slice = Deserializer::from_slice(text).with_chunk_bytes(64).into_iter::<Json>();
        let reader = Deserializer::from_reader(Drops(text)).with_chunk_bytes(64).into_iter::<Json>();
        let seen = |result: Result<Json, jird::Error>| result.map_err(|error| error.to_string());
        assert_eq!(slice.map(seen).collect::<Vec<_>>(), reader.map(seen).collect::<Vec<_>>());
        let pattern = || "/a/*".parse().expect("a pattern");
        let slice = Deserializer::from_slice(text).records::<Json>(pattern());
        let reader = Deserializer::from_reader(Drops(text)).with_chunk_bytes(64).records::<Json>(pattern());
        assert_eq!(slice.map(seen).collect::<Vec<_>>(), reader.map(seen).collect::<Vec<_>>());
    }
}

#[test]
fn lines_are_decoded_on_several_threads() {
    // Miri takes 20 seconds to fill the buffers.
    if cfg!(miri) && !is_long() {
        return;
    }
    common::force_kernel();
    let lines: &'static [u8] = b"[1]\n\n[2,3]\n[\"\\u0041\"]\n{\n";
    let mut found = jird::lines::typed_on::<Vec<u8>>(Drops(lines), 2);
    if cfg!(target_family = "wasm") {
        let error = found.next().expect("an item").expect_err("there are no threads");
        assert!(error.is_io() && error.to_string().contains("no thread can be started"), "{error}");
        return assert!(found.next().is_none());
    }
    let found: Vec<_> = found.map(Result::ok).collect();
    assert_eq!(found, [Some(vec![1]), Some(vec![2, 3]), None, None]);
}

#[test]
fn events_pass_between_threads_and_are_written_in_parts() {
    common::force_kernel();
    if !cfg!(target_family = "wasm") {
        let mut out = JsonSink::new(Vec::new());
        let mut numbers = JsonSource::from_reader(Drops(&b"1 {\"a\":[\"\\n\",\"plain\"]} 3"[..])).chunk_bytes(64);
        assert!(matches!(pipe(&mut out, |pipe| numbers.send(pipe)), Ok(Ok(()))));
        out.finish().expect("memory takes it");
        assert_eq!(out.into_inner(), b"1\n{\"a\":[\"\\n\",\"plain\"]}\n3\n");
    }

    let mut out = JsonSink::new(Vec::new());
    let first = out.part(usize::MAX);
    let convert = |(): &mut (), piece: &[u8]| {
        let mut part = first.part(1 << 10);
        JsonSource::from_slice(piece).lines().send(&mut part).map(|()| part)
    };
    jird::hooks::lines::in_order(
        [&b"1\n2\n"[..], b"\"a\"\n"],
        2,
        || (),
        convert,
        |part| {
            out.join(part.expect("the lines are right")).expect("memory takes it");
            ControlFlow::Continue(())
        },
    );
    out.finish().expect("memory takes it");
    assert_eq!(out.into_inner(), b"1\n2\n\"a\"\n");
}
