//! Texts that are read bit by bit, and values one after the other.

use crate::common;
use crate::typed::judge::{Drops, place};
use jird::Deserializer;
use serde::Deserialize;
use std::fmt::Write;
use std::io::{self, Read};

#[test]
fn a_stream_gives_what_serde_json_gives() {
    common::force_kernel();
    for text in [
        "",
        " ",
        "1",
        "1 2 3",
        "1 \"a\"[2]{}\n null true",
        "[1][2]",
        "1 x",
        "1,2",
        "[1",
        "12 \"a",
        "{} tru",
        "\"a\u{1}b\"",
    ] {
        let mut wanted = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>();
        for chunk_bytes in [64, 1 << 16] {
            let mut found = Deserializer::from_str(text).with_chunk_bytes(chunk_bytes).into_iter::<serde_json::Value>();
            let mut read = Deserializer::from_reader(Drops(text.as_bytes(), 1)).into_iter::<serde_json::Value>();
            for wanted in wanted.by_ref() {
                let (found, read) = (found.next().unwrap(), read.next().unwrap());
                assert_eq!(found.as_ref().ok(), wanted.as_ref().ok(), "{text}");
                assert_eq!(read.as_ref().ok(), wanted.as_ref().ok(), "{text}");
                if wanted.is_err() {
                    break;
                }
            }
            assert!(found.next().is_none() && read.next().is_none());
            assert_eq!(found.byte_offset(), read.byte_offset());
            wanted = serde_json::Deserializer::from_str(text).into_iter();
        }
    }
    let mut stream = Deserializer::from_str(" [1] 22  true x").into_iter::<serde_json::Value>();
    let mut offsets = vec![stream.byte_offset()];
    while stream.next().is_some() {
        offsets.push(stream.byte_offset());
    }
    assert_eq!(offsets, [0, 4, 7, 13, 13]);
}

#[test]
fn a_long_text_from_a_reader_takes_little_memory() {
    struct Endless(u64);
    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            const PIECE: &[u8; 41] = b"{\"id\": 123456789, \"name\": \"somebody\\n\"},\n";
            assert!(buffer.len() < 1 << 20, "so much is read at a time");
            let len = buffer.len().min(usize::try_from(self.0).unwrap());
            for (index, byte) in buffer[..len].iter_mut().enumerate() {
                *byte = PIECE[(usize::try_from(self.0).unwrap() * (PIECE.len() - 1) + index) % PIECE.len()];
            }
            self.0 -= len as u64;
            Ok(len)
        }
    }
    let items = 400_000 * 41;
    let text = io::Cursor::new("[").chain(Endless(items)).chain(io::Cursor::new("{}]"));
    let error = jird::from_reader::<_, Vec<serde::de::IgnoredAny>>(text.take(9_000_000)).unwrap_err();
    assert!(error.is_eof() && error.offset() == 9_000_000, "{error}");
    let text = io::Cursor::new("[").chain(Endless(items)).chain(io::Cursor::new("{}]"));
    let all: Vec<serde::de::IgnoredAny> = jird::from_reader(text).unwrap();
    assert_eq!(all.len() as u64, items / 41 + 1);
}

#[test]
fn lines_are_decoded_in_order_on_any_number_of_threads() {
    #[derive(Deserialize, PartialEq, Debug)]
    struct Event {
        id: u64,
    }
    let mut text = String::new();
    for id in 0..60_000 {
        if id % 7919 == 0 {
            text.push_str("\r\n  \n{\"id\": true}\n");
        }
        let _ = writeln!(text, "{{\"id\": {id}, \"text\": \"some more\"}}");
    }
    text.truncate(text.len() - 1);
    let wanted: Vec<_> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| serde_json::from_str::<Event>(line).map_err(|_| (index + 1, 8)))
        .collect();
    for threads in [1, 2, 5] {
        let reader = io::Cursor::new(text.clone().into_bytes());
        let found: Vec<_> = jird::lines::typed_on::<Event>(reader, threads)
            .map(|event| {
                event.map_err(|error| {
                    place(text.as_bytes(), &error);
                    (error.line(), error.column())
                })
            })
            .collect();
        assert_eq!(found.len(), wanted.len());
        for (found, wanted) in found.iter().zip(&wanted) {
            assert_eq!(found.as_ref().ok(), wanted.as_ref().ok());
            assert_eq!(found.as_ref().err(), wanted.as_ref().err());
        }
        // Dropping the iterator stops the threads.
        let reader = io::Cursor::new(text.clone().into_bytes());
        assert_eq!(jird::lines::typed_on::<Event>(reader, threads).nth(2).unwrap().unwrap(), Event { id: 1 });
    }
}
