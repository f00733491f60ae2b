//! `jird store tail`: prints events as they come.

use crate::condition;
use crate::outcome::{Outcome, report as say};
use crate::system;
use anyhow::{Context, Result};
use jird::hooks::event::Condition;
use jird::lines::{Check, Options, Scanner};
use jird::record::Projection;
use jird_store::{Damage, Snapshot, Store, Text, Window};
use std::collections::HashSet;
use std::io::{self, BufWriter, Write};
use std::ops::{ControlFlow, Range};
use std::path::PathBuf;
use std::time::Duration;

/// How often it is asked whether something came: a look at a store that rests takes some microseconds.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Events of the past are looked for among this many arrival numbers at first, and then among more.
const STRETCH: u64 = 1024;

/// This many events that were missed are in memory at a time.
const MISSED_MAX: u64 = 1 << 16;

/// The arguments of `jird store tail`.
#[derive(Debug, clap::Args)]
pub(super) struct TailArgs {
    /// The folder of the store
    store: PathBuf,
    /// First print this many of the events that came last, whatever their times are; 100,000 at most
    #[arg(short = 'n', long = "lines", value_name = "N", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u32).range(..=100_000))]
    lines: u32,
    /// Print only events for which this holds, such as "Elapsed > 200 and Level = 'Error'"
    #[arg(long = "where", value_name = "CONDITION", hide = cfg!(not(feature = "query")))]
    condition: Option<String>,
}

pub(super) fn run(args: &TailArgs) -> Result<Outcome> {
    let condition = args.condition.as_deref().map(condition::read).transpose()?;
    let store = Store::open(&args.store)?;
    let out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut follower = Follower { sieve: condition.as_ref().map(Sieve::new), out, told: HashSet::new() };
    let snapshot = store.snapshot()?;
    let mut tail = store.tail(Some(snapshot.arrivals()))?;
    follower.print_newest(&snapshot, args.lines as usize)?;
    drop(snapshot);
    loop {
        while let Some(arrived) = tail.next_batch()? {
            if !arrived.missed.is_empty() {
                follower.print_missed(&store.snapshot()?, arrived.missed.clone())?;
            }
            arrived.events().try_for_each(|(_, event)| follower.print_if_wanted(event))?;
        }
        follower.out.flush().context(OUTPUT)?;
        if system::reader_goes_within(LOOK_EVERY) {
            return Ok(Outcome::Cut);
        }
    }
}

const OUTPUT: &str = "cannot write standard output";

/// Finds the events for which a condition holds.
struct Sieve<'c> {
    condition: &'c Condition,
    projection: Projection,
    scanner: Scanner,
}

impl<'c> Sieve<'c> {
    fn new(condition: &'c Condition) -> Self {
        // Events were checked when they came in.
        let scanner = Scanner::new(Options { check: Check::Trusted, ..Options::default() });
        Self { condition, projection: Projection::new(condition.paths()), scanner }
    }

    /// What rules out blocks of events.
    fn for_index(&self) -> jird_store::Condition {
        jird_store::Condition::new(self.condition.predicate(), self.condition.paths())
    }

    fn holds(&mut self, event: &[u8]) -> bool {
        let mut holds = false;
        let found = |_: jird::lines::Match<'_, '_>| {
            holds = true;
            ControlFlow::Continue(())
        };
        // A line that the disk corrupted does not match.
        let bad = |_: jird::lines::Bad<'_>| ControlFlow::Continue(());
        self.scanner.scan_all(event, &self.projection, Some(self.condition.predicate()), found, bad);
        holds
    }
}

/// Prints the events that are wanted, in the order in which they came.
struct Follower<'c, W: Write> {
    sieve: Option<Sieve<'c>>,
    out: W,
    /// The damage that was reported.
    told: HashSet<Damage>,
}

impl<W: Write> Follower<'_, W> {
    fn print(&mut self, event: &[u8]) -> Result<()> {
        self.out.write_all(event).and_then(|()| self.out.write_all(b"\n")).context(OUTPUT)
    }

    fn print_if_wanted(&mut self, event: &[u8]) -> Result<()> {
        if self.is_wanted(event) { self.print(event) } else { Ok(()) }
    }

    fn is_wanted(&mut self, event: &[u8]) -> bool {
        self.sieve.as_mut().is_none_or(|sieve| sieve.holds(event))
    }

    /// Prints as many of the events that came last.
    fn print_newest(&mut self, snapshot: &Snapshot, count: usize) -> Result<()> {
        let text = snapshot.text(Window::ALL)?;
        let (mut end, mut stretch) = (snapshot.arrivals(), STRETCH.max(count as u64));
        let mut newest = Vec::new();
        while newest.len() < count && end > 0 {
            let start = end.saturating_sub(stretch);
            let mut before = self.find(&text, start..end, count - newest.len())?;
            before.append(&mut newest);
            newest = before;
            (end, stretch) = (start, stretch.saturating_mul(4));
        }
        self.tell(snapshot);
        newest.iter().try_for_each(|(_, event)| self.print(event))
    }

    /// Prints events that were sealed into spans before they were read.
    fn print_missed(&mut self, snapshot: &Snapshot, arrivals: Range<u64>) -> Result<()> {
        let text = snapshot.text(Window::ALL)?;
        let mut start = arrivals.start;
        while start < arrivals.end {
            let end = arrivals.end.min(start.saturating_add(MISSED_MAX));
            let found = self.find(&text, start..end, usize::MAX)?;
            found.iter().try_for_each(|(_, event)| self.print(event))?;
            start = end;
        }
        self.tell(snapshot);
        Ok(())
    }

    /// The events that are wanted among those with these arrival numbers, at most as many as `count` of the last, in their
    /// order.
    fn find(&mut self, text: &Text, arrivals: Range<u64>, count: usize) -> Result<Vec<(u64, Vec<u8>)>> {
        let condition = self.sieve.as_ref().map(Sieve::for_index);
        let (mut found, mut keys, mut lines) = (Vec::new(), Vec::new(), Vec::new());
        for section in 0..text.sections() {
            for id in text.select(section, condition.as_ref()).blocks {
                if !text.has_arrivals(id, &arrivals) {
                    continue;
                }
                text.read_keyed(id, &mut keys, &mut lines)?;
                for (key, event) in keys.iter().zip(lines.split(|byte| *byte == b'\n')) {
                    if arrivals.contains(&key.arrival) && self.is_wanted(event) {
                        found.push((key.arrival, event.to_vec()));
                    }
                }
                // The memory is that of twice as many as are wanted, and a block.
                if found.len() / 2 > count {
                    keep_newest(&mut found, count);
                }
            }
        }
        keep_newest(&mut found, count);
        Ok(found)
    }

    /// Reports what is damaged, once.
    fn tell(&mut self, snapshot: &Snapshot) {
        for damage in snapshot.damage() {
            if self.told.insert(damage.clone()) {
                say(&format!("damaged: {damage}"));
            }
        }
    }
}

/// Sorts events by their arrival, and keeps the last ones.
fn keep_newest(events: &mut Vec<(u64, Vec<u8>)>, count: usize) {
    events.sort_unstable_by_key(|(arrival, _)| *arrival);
    events.drain(..events.len().saturating_sub(count));
}
