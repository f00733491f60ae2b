//! Writes log events in the Compact Log Event Format, one JSON object a line, the same for the same seed.
//!
//! The events look like a web shop's: requests, database commands, jobs, orders, sign-ins, and now and then an exception
//! with a stack trace. What benches rely on is fixed and does not depend on luck (see [`Deck`]): in every thousand
//! events, 310 have `Elapsed > 200` and 180 hold `/api/customers` in their `Message`, once in a while spelled with `\/`.
//! A line has about 358 bytes in the mean, so that [`EVENTS_DEFAULT`] events make about 490 MB.
//!
//! [`Deck`]: deck::Deck
mod clock; // ascending time stamps
mod deck; // which kind of event comes next
mod event; // one event as a line
mod random; // the only source of chance
mod words; // what the events talk about

use std::io::{self, Write};

/// How many events are written unless told otherwise: the size of the squirrel-json benchmark.
pub const EVENTS_DEFAULT: u64 = 1_369_670;

/// The seed unless told otherwise; `examples/events.ndjson` was made with it.
pub const SEED_DEFAULT: u64 = 2020;

/// Bytes gathered before they are handed on: large enough that the cost of a write is lost in it.
const BUFFER_BYTES: usize = 256 << 10;

/// Writes `events` lines to `out` in pieces of about 256 KB; the same `seed` gives the same bytes, and fewer events are
/// a prefix of more. Costs about a nanosecond a byte. Fails when `out` does.
pub fn write_events(out: &mut impl Write, events: u64, seed: u64) -> io::Result<()> {
    write_all(out, events, event::Generator::new(seed))
}

/// [`write_events`] with times that fill about `hours` hours, however many events there are.
pub fn write_events_within(out: &mut impl Write, events: u64, seed: u64, hours: u64) -> io::Result<()> {
    write_all(out, events, event::Generator::new(seed).with_clock(clock::Clock::filling(hours, events)))
}

fn write_all(out: &mut impl Write, events: u64, mut generator: event::Generator) -> io::Result<()> {
    let mut buffer = Vec::with_capacity(BUFFER_BYTES + 16 * 1024);
    for _ in 0..events {
        generator.next(&mut buffer);
        if buffer.len() >= BUFFER_BYTES {
            out.write_all(&buffer)?;
            buffer.clear();
        }
    }
    out.write_all(&buffer)?;
    out.flush()
}
