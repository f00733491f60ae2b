//! `--once KEY`: an event whose key the store has already is left out. For what cannot be read again from a place on, such as
//! pipes, and for senders that repeat.

use crate::outcome::report as say;
use anyhow::{Result, bail};
use jird::record::{Field, FieldReader, Projection};
use jird::{Kind, Path};
use jird_store::{Batch, Store, Window};
use std::collections::HashSet;

/// The most bytes of keys that are kept in memory.
const KEYS_BYTES_MAX: usize = 1 << 30;

/// The keys of the store, and of what was taken since.
pub(super) struct Once {
    name: String,
    projection: Projection,
    seen: HashSet<Box<[u8]>>,
    bytes: usize,
    /// Events that were left out.
    repeats: u64,
    /// Events without a key, which were taken.
    keyless: u64,
}

impl Once {
    /// Reads the keys of all events of a window. Memory: the keys.
    ///
    /// # Errors
    /// Those of reading; also if something is damaged, or there are too many keys.
    pub(super) fn of(store: &Store, name: &str, key: Path, window: Window) -> Result<Self> {
        let projection = Projection::new(&[key]);
        let (seen, name) = (HashSet::new(), name.to_owned());
        let mut once = Self { name, projection, seen, bytes: 0, repeats: 0, keyless: 0 };
        let snapshot = store.snapshot()?;
        let text = snapshot.text(window)?;
        let mut lines = Vec::new();
        for block in text.blocks() {
            text.read(block, None, &mut lines)?;
            let mut reader = FieldReader::new(&once.projection);
            let keys: Vec<_> =
                lines.split(|byte| *byte == b'\n').filter_map(|event| key_of(&mut reader, event)).collect();
            for key in keys {
                once.add(key)?;
            }
        }
        match snapshot.damage().first() {
            Some(damage) => bail!("--once needs the key of every event, and the store is damaged: {damage}"),
            None => Ok(once),
        }
    }

    /// Leaves out the events of a batch whose keys are known; the keys of the others are known from now on. They must be
    /// taken, or nothing more may be.
    pub(super) fn filter(&mut self, batch: &mut Batch) -> Result<()> {
        let mut reader = FieldReader::new(&self.projection);
        let lines = batch.text().split(|byte| *byte == b'\n').take(batch.events() as usize);
        let keys: Vec<_> = lines.map(|event| key_of(&mut reader, event)).collect();
        let mut kept = Vec::with_capacity(keys.len());
        for key in keys {
            self.keyless += u64::from(key.is_none());
            kept.push(key.map_or(Ok(true), |key| self.add(key))?);
        }
        let events = batch.events();
        let mut kept = kept.into_iter();
        batch.keep(|_| kept.next().unwrap_or(true));
        self.repeats += events - batch.events();
        Ok(())
    }

    /// Says what was left out.
    pub(super) fn tell(&self, quiet: bool) {
        let count = |events: u64| if events == 1 { "1 event".to_owned() } else { format!("{events} events") };
        if self.repeats > 0 && !quiet {
            say(&format!("{} left out: the store has their `{}` already", count(self.repeats), self.name));
        }
        if self.keyless > 0 {
            say(&format!("note: {} without `{}`, taken unseen", count(self.keyless), self.name));
        }
    }

    /// Whether a key is new.
    fn add(&mut self, key: Vec<u8>) -> Result<bool> {
        let len = key.len();
        let is_new = self.seen.insert(key.into());
        self.bytes += if is_new { len + size_of::<Box<[u8]>>() } else { 0 };
        if self.bytes > KEYS_BYTES_MAX {
            bail!(
                "the keys `{}` take more than 1 GB of memory: --once-since with a later time leaves older events out",
                self.name
            );
        }
        Ok(is_new)
    }
}

/// The key of an event: a text by what it means, anything else as it is written. `None` if it is missing or null.
fn key_of(reader: &mut FieldReader<'_>, event: &[u8]) -> Option<Vec<u8>> {
    let mut field = [Field::MISSING];
    reader.read_trusted(event, &mut field).ok()?;
    let [field] = field;
    match field.kind()? {
        Kind::Null => None,
        // The quote keeps it apart from a number.
        Kind::String => Some([b"\"", field.as_str()?.as_bytes()].concat()),
        _ => Some(field.raw().as_bytes().to_vec()),
    }
}
