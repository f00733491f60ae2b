//! Where events came from: a checkpoint for each source, which lies in the log with the events, so that a run that was
//! ended anywhere goes on behind the last event that was taken.

use crate::files::checksum;
use crate::manifest::Section;
use crate::notation::{digits, sum};
use jird::Value;
use jird::hooks::{ObjectWriter, WriteScalar, write_object};
use std::hash::Hasher;
use twox_hash::XxHash3_64;

/// How many bytes at the beginning of a source, and before a checkpoint, are looked at on their own.
pub(crate) const EDGE_BYTES: usize = 4096;

/// How far a source was taken. Two bytes with the same place in two texts tell the texts apart, whatever their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The number of the source in its store.
    pub source: u64,
    /// Its name: an absolute path, or a URL.
    pub name: String,
    /// The numbers of the device and of the file on it.
    pub file: Option<(u64, u64)>,
    /// The events that were taken of it, by all runs.
    pub events: u64,
    /// Whether all of the source is taken, whatever earlier runs took. Then this is its only checkpoint.
    pub takes_all: bool,
    /// What was read of it up to the last event that was taken.
    pub prefix: PrefixSums,
}

/// The beginning of a text, as sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrefixSums {
    /// How many bytes it has.
    pub bytes: u64,
    /// Line feeds among them.
    pub lines: u64,
    /// The checksum of all of them.
    pub all: u64,
    /// How many bytes its first line has, at most 4096.
    pub head_bytes: u64,
    /// Their checksum.
    pub head: u64,
    /// The checksum of its last 4096 bytes, or of what follows the first line if that is less.
    pub tail: u64,
}

/// The beginning of a text that is being read.
///
/// ```
/// use jird_store::Prefix;
/// let (mut one, mut two) = (Prefix::default(), Prefix::default());
/// one.add(b"1\n2\n");
/// two.add(b"1\n");
/// assert_ne!(one.sums(), two.sums());
/// two.add(b"2\n");
/// assert_eq!(one.sums(), two.sums());
/// assert_eq!((one.sums().bytes, one.sums().lines), (4, 2));
/// ```
#[derive(Clone, Default)]
pub struct Prefix {
    bytes: u64,
    lines: u64,
    all: XxHash3_64,
    head: Head,
    tail: Vec<u8>,
}

/// The first line, or as much of it as counts.
#[derive(Clone, Debug, Default)]
struct Head {
    bytes: Vec<u8>,
    is_whole: bool,
}

impl std::fmt::Debug for Prefix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prefix").field("bytes", &self.bytes).field("lines", &self.lines).finish_non_exhaustive()
    }
}

impl Prefix {
    /// Adds the bytes that follow. Linear in them.
    pub fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.all.write(bytes);
        self.head.add(bytes);
        if bytes.len() >= EDGE_BYTES {
            self.tail.clear();
        }
        self.tail.extend_from_slice(&bytes[bytes.len().saturating_sub(EDGE_BYTES)..]);
        let surplus = self.tail.len().saturating_sub(EDGE_BYTES);
        self.tail.drain(..surplus);
    }

    /// How many bytes it has.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Line feeds among them.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// The last bytes that were added: all of them, or about 4 KB.
    pub fn last_bytes(&self) -> &[u8] {
        &self.tail
    }

    /// The sums of what was added.
    pub fn sums(&self) -> PrefixSums {
        let after_head = usize::try_from(self.bytes).unwrap_or(usize::MAX) - self.head.bytes.len();
        let tail = &self.tail[self.tail.len().saturating_sub(after_head)..];
        PrefixSums {
            bytes: self.bytes,
            lines: self.lines,
            all: self.all.finish(),
            head_bytes: self.head.bytes.len() as u64,
            head: checksum(&self.head.bytes),
            tail: checksum(tail),
        }
    }

    /// Whether it ends within a line.
    pub fn is_in_line(&self) -> bool {
        self.tail.last().is_some_and(|last| *last != b'\n')
    }
}

impl Head {
    fn add(&mut self, bytes: &[u8]) {
        if self.is_whole {
            return;
        }
        let line = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1);
        let wanted = line.min(EDGE_BYTES - self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..wanted]);
        self.is_whole = self.bytes.len() == EDGE_BYTES || self.bytes.last() == Some(&b'\n');
    }
}

impl PrefixSums {
    /// Whether another beginning of as many bytes goes on in the same way after its first line, at least at its end.
    pub fn has_tail_of(&self, other: &Self) -> bool {
        self.bytes > self.head_bytes && (self.bytes, self.tail) == (other.bytes, other.tail)
    }

    /// Whether a text begins with the same line. `start` is its first 4096 bytes, or all of it.
    pub fn has_head_of(&self, start: &[u8]) -> bool {
        let head = usize::try_from(self.head_bytes).ok().and_then(|len| start.get(..len));
        head.is_some_and(|head| checksum(head) == self.head)
    }
}

/// What the log has besides the events of a batch: a line of JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The time that the events without one got.
    pub(crate) clock: Option<i64>,
    /// How far the source of the events was taken with them.
    pub(crate) checkpoint: Option<Checkpoint>,
}

impl Mark {
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if *self != Self::default() {
            write_object(&mut out, |object| {
                if let Some(clock) = self.clock {
                    object.member("clock", clock);
                }
                if let Some(checkpoint) = &self.checkpoint {
                    object.object("source", |object| checkpoint.write(object));
                }
            });
        }
        out
    }

    /// What cannot be read is not a mark.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let Ok(document) = jird::parse(bytes) else { return Self::default() };
        let root = document.root();
        Self {
            clock: root.get("clock").and_then(Value::as_i64),
            checkpoint: root.get("source").and_then(Checkpoint::read),
        }
    }
}

impl Checkpoint {
    fn write(&self, out: &mut ObjectWriter<'_>) {
        out.member("number", self.source);
        out.member("name", &self.name);
        if let Some((device, file)) = self.file {
            out.array("file", |array| [device, file].into_iter().for_each(|part| array.element(part)));
        }
        if self.takes_all {
            out.member("all", true);
        }
        let PrefixSums { bytes, lines, all, head_bytes, head, tail } = self.prefix;
        for (key, count) in [("events", self.events), ("bytes", bytes), ("lines", lines)] {
            out.member(key, count);
        }
        out.member("sum", &digits(all));
        out.array("head", |array| {
            array.element(head_bytes);
            array.element(&digits(head));
        });
        out.member("tail", &digits(tail));
    }

    fn read(value: Value<'_>) -> Option<Self> {
        let number = |key: &str| value.get(key)?.as_u64();
        let head = value.get("head")?;
        Some(Self {
            source: number("number")?,
            name: value.get("name")?.as_str()?.into(),
            file: match value.get("file") {
                Some(file) => Some((file.at(0)?.as_u64()?, file.at(1)?.as_u64()?)),
                None => None,
            },
            events: number("events")?,
            takes_all: value.get("all").is_some(),
            prefix: PrefixSums {
                bytes: number("bytes")?,
                lines: number("lines")?,
                all: sum(value.get("sum")?)?,
                head_bytes: head.at(0)?.as_u64()?,
                head: sum(head.at(1)?)?,
                tail: sum(value.get("tail")?)?,
            },
        })
    }
}

/// The checkpoints of more sources are not kept: they are read with the manifest.
const SOURCES_MAX: usize = if cfg!(test) { 4 } else { 10_000 };

/// The checkpoints of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// The last ones of each source, in the order in which the sources were read last.
    pub(crate) list: Vec<Checkpoint>,
    /// How many were forgotten, the oldest first.
    pub(crate) forgotten: u64,
    /// Whether checkpoints were lost with a manifest.
    pub(crate) are_lost: bool,
}

impl Sources {
    /// The last checkpoint of each source.
    pub fn checkpoints(&self) -> &[Checkpoint] {
        &self.list
    }

    /// How many checkpoints are no longer kept: there are 10,000 at most.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Whether checkpoints were lost, because the manifest was damaged and rebuilt from the other files.
    pub fn are_lost(&self) -> bool {
        self.are_lost
    }

    /// The number of a new source.
    pub fn next(&self) -> u64 {
        self.list.iter().map(|known| known.source + 1).max().unwrap_or_default()
    }

    /// Takes what a batch says.
    pub(crate) fn note(&mut self, mark: &Mark) {
        let Some(checkpoint) = &mark.checkpoint else { return };
        let is_replaced = |known: &Checkpoint| {
            known.source == checkpoint.source
                || checkpoint.takes_all && known.name == checkpoint.name && known.file == checkpoint.file
        };
        self.list.retain(|known| !is_replaced(known));
        self.list.push(checkpoint.clone());
        let surplus = self.list.len().saturating_sub(SOURCES_MAX);
        self.list.drain(..surplus);
        self.forgotten += surplus as u64;
    }
}

impl Section for Sources {
    const NAME: &'static str = "sources";

    fn write(&self, out: &mut Vec<u8>) {
        write_object(out, |object| {
            object.member("forgotten", self.forgotten);
            object.array("list", |list| {
                self.list.iter().for_each(|checkpoint| list.object(|object| checkpoint.write(object)));
            });
        });
    }

    fn read(value: Value<'_>) -> Option<Self> {
        let list = value.get("list")?.elements().map(Checkpoint::read).collect::<Option<_>>()?;
        Some(Self { list, forgotten: value.get("forgotten")?.as_u64()?, are_lost: false })
    }
}

/// The last time that an event without one got.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastArrival(pub(crate) i64);

impl Section for LastArrival {
    const NAME: &'static str = "clock";

    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
    }

    fn read(value: Value<'_>) -> Option<Self> {
        value.as_i64().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint(source: u64, name: &str, text: &[u8]) -> Checkpoint {
        let mut prefix = Prefix::default();
        prefix.add(text);
        Checkpoint {
            source,
            name: name.into(),
            file: Some((1, source)),
            events: 3,
            takes_all: false,
            prefix: prefix.sums(),
        }
    }

    #[test]
    fn a_mark_is_read_as_it_was_written() {
        let marks = [
            Mark::default(),
            Mark { clock: Some(-5), ..Mark::default() },
            Mark { clock: None, checkpoint: Some(checkpoint(7, "/a \"b\"\n.log", b"1\n2")) },
        ];
        for mark in marks {
            let bytes = mark.write();
            assert_eq!(Mark::read(&bytes), mark);
            assert_eq!(bytes.is_empty(), mark == Mark::default());
            assert!(!bytes.contains(&b'\n'));
        }
        assert_eq!(Mark::read(b"\xff"), Mark::default());
    }

    #[test]
    fn the_oldest_checkpoints_are_forgotten_and_counted() {
        let mut sources = Sources::default();
        for source in [0, 1, 2, 3, 0, 4, 5] {
            let checkpoint = Some(checkpoint(source, "a", b"1\n"));
            sources.note(&Mark { checkpoint, ..Mark::default() });
        }
        let numbers: Vec<u64> = sources.list.iter().map(|known| known.source).collect();
        assert_eq!((&numbers[..], sources.forgotten(), sources.next()), (&[3, 0, 4, 5][..], 2, 6));
        let mut text = Vec::new();
        sources.write(&mut text);
        assert_eq!(Sources::read(jird::parse(&text).unwrap().root()), Some(sources));
    }

    #[test]
    fn a_file_that_is_taken_again_has_one_checkpoint() {
        let mut sources = Sources::default();
        let mut note = |source, file, takes_all| {
            let checkpoint = Checkpoint { file: Some((1, file)), takes_all, ..checkpoint(source, "a", b"1\n") };
            sources.note(&Mark { checkpoint: Some(checkpoint), ..Mark::default() });
            sources.list.len()
        };
        // Another file of the same name was rotated, and may be read on under its new one.
        assert_eq!((note(0, 8, true), note(1, 9, true), note(2, 8, true), note(3, 8, false)), (1, 2, 2, 3));
    }

    #[test]
    fn sums_are_those_of_the_whole_text_however_it_is_cut() {
        let text: Vec<u8> = (0..9000_u32).flat_map(|number| format!("{number}\n").into_bytes()).collect();
        let mut whole = Prefix::default();
        whole.add(&text);
        for piece in [1, 7, EDGE_BYTES - 1, EDGE_BYTES, 10_000] {
            let mut cut = Prefix::default();
            text.chunks(piece).for_each(|piece| cut.add(piece));
            assert_eq!(cut.sums(), whole.sums(), "{piece}");
        }
        assert!(whole.sums().has_head_of(&text[..EDGE_BYTES]) && !whole.sums().has_head_of(b"1\n"));
        assert!(!whole.sums().has_head_of(b"0"));
        // Each byte counts.
        for at in [0, 1, 5000, text.len() - 1] {
            let mut changed = text.clone();
            changed[at] ^= 1;
            let mut other = Prefix::default();
            other.add(&changed);
            assert_ne!(other.sums().all, whole.sums().all);
        }
    }
}
