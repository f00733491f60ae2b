//! Events in the order in which they come, also those whose times are long ago.
//!
//! They are read from the logs, each batch once. A log is sealed into spans after a while; a reader that comes later is
//! told which events there were, and finds them in a snapshot.

use crate::error::Error;
use crate::event::{Key, LoggedBatch};
use crate::files::Input;
use crate::log::{read_from, start_bytes};
use crate::manifest::{Folder, Manifest};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Events of a store as they come, from any process. Made by [`Store::tail`](crate::Store::tail).
///
/// ```
/// use jird_store::{Settings, Store, WriterOptions};
/// let folder = std::env::temp_dir().join(format!("jird-tail-{}", std::process::id()));
/// # let _ = std::fs::remove_dir_all(&folder);
/// let store = Store::create(&folder, &Settings::default())?;
/// let writer = store.writer(&WriterOptions::default())?;
/// writer.append_event(b"1")?;
/// let mut tail = store.tail(None)?;
/// assert!(tail.next_batch()?.is_none());
/// writer.append_event(b"2")?;
/// let arrived = tail.next_batch()?.expect("it came");
/// assert_eq!(arrived.events().map(|(key, event)| (key.arrival, event)).collect::<Vec<_>>(), [(1, &b"2"[..])]);
/// # writer.finish()?;
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), jird_store::Error>(())
/// ```
#[derive(Debug)]
pub struct Tail {
    folder: Folder,
    /// The arrival number of the next event.
    next: u64,
    /// The log that is read: its number, and where the next batch begins.
    log: Option<OpenLog>,
    ready: VecDeque<Arc<LoggedBatch>>,
    /// The events before this number were sealed when the manifest was read last.
    sealed: u64,
    /// The manifest that was read last, and how its file began then: a look at a store that rests costs little.
    known: Option<(Vec<u8>, Arc<Manifest>)>,
}

#[derive(Debug)]
struct OpenLog {
    number: u64,
    identity: Option<u64>,
    input: Arc<dyn Input>,
    at: u64,
}

/// Events that came, one after the other.
#[derive(Clone, Debug)]
pub struct Arrived {
    /// The arrival numbers of events before these that are in no log any more: a snapshot that is taken now has them, if
    /// retention left them.
    pub missed: Range<u64>,
    batch: Option<Arc<LoggedBatch>>,
    /// Events of the batch that are not wanted.
    skipped: usize,
}

impl Arrived {
    /// The events, without their line feeds, each with its time and arrival number.
    pub fn events(&self) -> impl Iterator<Item = (Key, &[u8])> {
        self.batch.iter().flat_map(|batch| {
            let text = batch.text.as_slice();
            let lines = text.strip_suffix(b"\n").unwrap_or(text).split(|byte| *byte == b'\n');
            let keys = batch.times.iter().zip(batch.arrival..).map(|(time, arrival)| Key { time: *time, arrival });
            keys.zip(lines).skip(self.skipped)
        })
    }
}

impl Tail {
    pub(crate) fn new(folder: &Folder, from: Option<u64>) -> Result<Self, Error> {
        let folder = folder.clone();
        let mut tail =
            Self { folder, next: from.unwrap_or(0), log: None, ready: VecDeque::new(), sealed: 0, known: None };
        if from.is_none() {
            tail.skip()?;
        }
        Ok(tail)
    }

    /// The arrival number of the next event.
    pub fn next_arrival(&self) -> u64 {
        self.next
    }

    /// Passes over all that is there. Returns whether there was something.
    ///
    /// # Errors
    /// As [`Tail::next_batch`].
    pub fn skip(&mut self) -> Result<bool, Error> {
        let before = self.next;
        while self.next_batch()?.is_some() {}
        Ok(self.next > before)
    }

    /// The next events that are there, of one batch; `None` if there are no more now. What a writer has appended is
    /// there, whether or not it is durable.
    ///
    /// # Errors
    /// The store is gone, or the operating system refused to read. What is damaged is left out.
    pub fn next_batch(&mut self) -> Result<Option<Arrived>, Error> {
        loop {
            while let Some(batch) = self.ready.pop_front() {
                let end = batch.arrival + batch.times.len() as u64;
                if end > self.next {
                    let missed = self.next..batch.arrival.max(self.next);
                    let skipped = (missed.end - batch.arrival) as usize;
                    self.next = end;
                    return Ok(Some(Arrived { missed, batch: Some(batch), skipped }));
                }
            }
            if !self.read()? {
                break;
            }
        }
        let missed = self.next..self.sealed;
        self.next = self.next.max(self.sealed);
        Ok((!missed.is_empty()).then_some(Arrived { missed, batch: None, skipped: 0 }))
    }

    /// Reads on. Returns whether there was something.
    fn read(&mut self) -> Result<bool, Error> {
        if self.read_on()? {
            return Ok(true);
        }
        let manifest = self.manifest()?;
        for entry in &manifest.logs {
            if self.log.as_ref().is_some_and(|log| entry.number <= log.number) {
                continue;
            }
            let path = self.folder.log(entry.number);
            let failed = |error| Error::io("read", &path, &error);
            let input = match self.folder.files.open(&path) {
                Ok(input) => input,
                // It was sealed meanwhile.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(failed(error)),
            };
            if input.len().map_err(failed)? <= start_bytes(entry.identity) as u64 {
                continue;
            }
            // When there is something in a log, nothing more comes to those before.
            if self.read_on()? {
                return Ok(true);
            }
            self.log = Some(OpenLog { number: entry.number, identity: entry.identity, input, at: 0 });
            if self.read_on()? {
                return Ok(true);
            }
        }
        // What was sealed has been in the log before, which may be open here.
        if self.read_on()? {
            return Ok(true);
        }
        self.sealed = manifest.arrivals;
        Ok(false)
    }

    /// The manifest as it is now.
    fn manifest(&mut self) -> Result<Arc<Manifest>, Error> {
        // Before the manifest: if that changes in between, it is read once more the next time.
        let head = self.folder.manifest_head();
        if let (Some(head), Some((known, manifest))) = (&head, &self.known)
            && head == known
        {
            return Ok(Arc::clone(manifest));
        }
        let manifest = Arc::new(self.folder.manifest()?);
        self.known = head.map(|head| (head, Arc::clone(&manifest)));
        Ok(manifest)
    }

    /// Reads on in the log that is open.
    fn read_on(&mut self) -> Result<bool, Error> {
        let Some(OpenLog { number, identity, input, at }) = &mut self.log else { return Ok(false) };
        let read = read_from(&**input, *identity, *at);
        let (batches, end) = read.map_err(|error| Error::io("read", &self.folder.log(*number), &error))?;
        *at = end;
        self.ready.extend(batches);
        Ok(!self.ready.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use crate::settings::{Settings, WriterOptions};
    use crate::store::Store;
    use crate::{Sync, Tail};
    use std::path::PathBuf;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> (Self, Store) {
            let path = std::env::temp_dir().join(format!("jird-tail-{name}-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&path);
            let store = Store::create(&path, &Settings::default()).unwrap();
            (Self(path), store)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    /// The arrival numbers of all that is there, and what was missed.
    fn all(tail: &mut Tail) -> (Vec<u64>, Vec<(u64, u64)>) {
        let (mut arrivals, mut missed) = (Vec::new(), Vec::new());
        while let Some(arrived) = tail.next_batch().unwrap() {
            arrivals.extend(arrived.events().map(|(key, event)| {
                assert_eq!(std::str::from_utf8(event).unwrap(), key.arrival.to_string());
                key.arrival
            }));
            if !arrived.missed.is_empty() {
                missed.push((arrived.missed.start, arrived.missed.end));
            }
        }
        (arrivals, missed)
    }

    #[test]
    fn a_tail_has_every_event_once_however_logs_are_sealed() {
        let (_folder, store) = Folder::new("sealed");
        let options = WriterOptions { sync: Sync::None, seal_bytes: 300 };
        let mut seen = Vec::new();
        let mut tail = store.tail(None).unwrap();
        let mut number = 0;
        for _ in 0..4 {
            let writer = store.writer(&options).unwrap();
            for round in 0..50 {
                for _ in 0..round {
                    writer.append_event(number.to_string().as_bytes()).unwrap();
                    number += 1;
                }
                if round % 7 == 0 {
                    let (arrivals, missed) = all(&mut tail);
                    // A slow reader misses some, and is told which.
                    seen.extend(missed.into_iter().flat_map(|(start, end)| start..end));
                    seen.extend(arrivals);
                }
            }
            writer.seal().unwrap();
            writer.finish().unwrap();
        }
        let (arrivals, missed) = all(&mut tail);
        seen.extend(missed.into_iter().flat_map(|(start, end)| start..end));
        seen.extend(arrivals);
        seen.sort_unstable();
        assert_eq!(seen, (0..number).collect::<Vec<u64>>());
        assert_eq!(all(&mut store.tail(Some(0)).unwrap()), (vec![], vec![(0, number)]));
    }

    #[test]
    fn a_tail_that_keeps_up_misses_nothing_and_begins_where_it_is_told() {
        let (_folder, store) = Folder::new("near");
        let writer = store.writer(&WriterOptions { sync: Sync::None, seal_bytes: 1 << 20 }).unwrap();
        let mut tail = store.tail(None).unwrap();
        for number in 0..100 {
            writer.append_event(number.to_string().as_bytes()).unwrap();
            assert_eq!(all(&mut tail), (vec![number], vec![]));
        }
        assert_eq!(all(&mut store.tail(Some(97)).unwrap()), (vec![97, 98, 99], vec![]));
        assert_eq!(store.tail(None).unwrap().next_arrival(), 100);
        // The log that it has open goes, and another comes.
        writer.seal().unwrap();
        writer.append_event(b"100").unwrap();
        assert_eq!(all(&mut tail), (vec![100], vec![]));
        assert_eq!(all(&mut store.tail(Some(97)).unwrap()), (vec![100], vec![(97, 100)]));
        let text = store.snapshot().unwrap().text(crate::Window::ALL).unwrap();
        let (mut keys, mut lines) = (Vec::new(), Vec::new());
        let mut found = Vec::new();
        for id in text.blocks().filter(|id| text.has_arrivals(*id, &(97..100))) {
            text.read_keyed(id, &mut keys, &mut lines).unwrap();
            assert_eq!(keys.len(), lines.split(|byte| *byte == b'\n').count() - 1);
            found.extend(keys.iter().map(|key| key.arrival).filter(|arrival| (97..100).contains(arrival)));
        }
        assert_eq!(found, [97, 98, 99]);
    }

    #[test]
    fn what_is_damaged_in_a_log_is_passed_over() {
        let (folder, store) = Folder::new("damaged");
        let writer = store.writer(&WriterOptions { sync: Sync::None, seal_bytes: 1 << 20 }).unwrap();
        for number in 0..3 {
            writer.append_event(number.to_string().as_bytes()).unwrap();
        }
        let log = std::fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().path());
        let log = log.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("log-"));
        let log = log.max_by_key(|path| path.metadata().unwrap().len()).unwrap();
        let mut bytes = std::fs::read(&log).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&log, bytes).unwrap();
        assert_eq!(all(&mut store.tail(Some(0)).unwrap()), (vec![0, 2], vec![(1, 2)]));
    }
}
