//! Readers and writers that claim more than they did, whatever function they are given to: an error, and no panic.
#![allow(missing_docs, reason = "tests")]

use jird_serde_json::blocks::ValueReader;
use jird_serde_json::{Deserializer, Value};
use serde::Deserialize;
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a reader or a writer claims beyond the room it was given, from which call on.
const LIES: [(usize, usize); 7] =
    [(1, 0), (1, 1), (1000, 0), (1000, 2), (usize::MAX / 2, 0), (usize::MAX / 2, 1), (1, 5)];

struct Liar {
    beyond: usize,
    honest_calls: usize,
    /// After that many, there is no more.
    calls_left: usize,
}

impl Liar {
    /// What it claims after a call for `room` bytes, when it has done `done` of them.
    fn claim(&mut self, room: usize, done: usize) -> usize {
        match self.honest_calls.checked_sub(1) {
            Some(left) => {
                self.honest_calls = left;
                done
            }
            None => room + self.beyond,
        }
    }
}

impl Read for Liar {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let Some(left) = self.calls_left.checked_sub(1) else { return Ok(0) };
        self.calls_left = left;
        to.fill(b'[');
        let done = to.len().min(3);
        Ok(self.claim(to.len(), done))
    }
}

impl Write for Liar {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        Ok(self.claim(text.len(), text.len().min(3)))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A function, and whether it reads or writes with this liar: it must return, with an error.
type Function = (&'static str, fn(Liar) -> bool);

const FUNCTIONS: &[Function] = &[
    ("from_reader", |liar| jird_serde_json::from_reader::<_, Value>(liar).is_err()),
    ("from_reader of a type", |liar| jird_serde_json::from_reader::<_, Vec<u8>>(liar).is_err()),
    ("Deserializer::from_reader", |liar| Value::deserialize(&mut Deserializer::from_reader(liar)).is_err()),
    ("StreamDeserializer", |liar| {
        Deserializer::from_reader(liar).into_iter::<Value>().next().is_some_and(|value| value.is_err())
    }),
    ("ValueReader", |liar| ValueReader::new(liar).with_value_bytes_max(1 << 20).read::<Value>().is_err()),
    ("to_writer", |liar| jird_serde_json::to_writer(liar, &vec![1; 100_000]).is_err()),
    ("to_writer_pretty", |liar| jird_serde_json::to_writer_pretty(liar, &vec![1; 100_000]).is_err()),
];

#[test]
fn a_reader_or_a_writer_that_claims_too_much_is_an_error() {
    for (name, function) in FUNCTIONS {
        for (beyond, honest_calls) in LIES {
            let result = catch_unwind(AssertUnwindSafe(|| function(Liar { beyond, honest_calls, calls_left: 1000 })));
            assert_eq!(result.ok(), Some(true), "{name}: {beyond} bytes more, after {honest_calls} calls");
        }
    }
}
