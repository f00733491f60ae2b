//! Blocks of remote objects in memory: fetched when they are wanted, and ahead of that where an object is read from one
//! end to the other.
//!
//! ```text
//! of lines   | 64 kB | 4 MB - 64 kB |   4 MB   |   4 MB   | …    what is read in order
//! of parts   | 256 kB | 256 kB | 256 kB | …                       tables and stores, which are read here and there
//! ```
//!
//! Blocks ahead are fetched as soon as two adjacent blocks were read: 2 blocks, then 4, then 8. A block is fetched ahead
//! only if it was fetched less often than the one that is read. So one thread that comes to where another began fetches
//! nothing twice, and the second reading of an object is fetched ahead as the first one was.

use super::file::Object;
use super::runtime;
use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use tokio::sync::Semaphore;

/// The first block of what is read in order. It tells the format, and may be all that is needed.
pub(super) const HEAD_BYTES: u64 = 64 << 10;

/// The length of a block of what is read here and there.
const PART_BYTES: u64 = 256 << 10;

/// All blocks together may have this many bytes. If each of many threads needs one, they have more.
const ROOM_BYTES: u64 = 128 << 20;

/// The most blocks that are fetched ahead for one reader.
const AHEAD_MAX: u64 = 8;

/// The most requests for blocks at a time.
const REQUESTS_MAX: usize = 32;

/// A part of a block that is wanted once more is fetched alone if it is no longer than this: the rest of a line at the
/// border between two readers.
const REST_BYTES: u64 = 64 << 10;

/// How an object is cut into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockLayout {
    /// For reading in order.
    Lines,
    /// For reading here and there.
    Parts,
}

/// An object and a block of it.
type Key = (u64, u64);

/// The blocks of all objects.
#[derive(Debug)]
pub(super) struct Blocks {
    block_bytes: u64,
    held: Mutex<BlockCache>,
    changed: Condvar,
    requests: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct BlockCache {
    blocks: HashMap<Key, Block>,
    /// What happened to blocks, also of those that are gone.
    past: HashMap<Key, Past>,
    bytes: u64,
    clock: u64,
    /// Memory that is used again.
    free: Vec<Vec<u8>>,
}

#[derive(Debug)]
struct Block {
    state: State,
    len: u64,
    /// How far it was read.
    read_to: u64,
    used: u64,
}

#[derive(Debug)]
enum State {
    Coming,
    Here(Arc<Vec<u8>>),
    /// An error, which cannot be cloned: its kind and its words.
    Failed(io::ErrorKind, String),
}

#[derive(Clone, Copy, Debug, Default)]
struct Past {
    fetched: u32,
    /// How many blocks before it were read in order.
    run: u32,
}

impl Blocks {
    pub(super) fn new(block_bytes: u64) -> Self {
        Self {
            block_bytes,
            held: Mutex::default(),
            changed: Condvar::new(),
            requests: Arc::new(Semaphore::new(REQUESTS_MAX)),
        }
    }

    /// The length of the first block of what is read in order.
    pub(super) fn head_bytes(&self) -> u64 {
        HEAD_BYTES.min(self.block_bytes)
    }

    /// Keeps the first block of an object, which was fetched to open it.
    pub(super) fn keep_head(&self, object: u64, bytes: Vec<u8>) {
        let mut held = self.lock();
        let (len, used) = (bytes.len() as u64, held.tick());
        held.past.insert((object, 0), Past { fetched: 1, run: 0 });
        held.bytes += len;
        held.blocks.insert((object, 0), Block { state: State::Here(Arc::new(bytes)), len, read_to: 0, used });
        held.make_room();
    }

    /// Forgets an object.
    pub(super) fn forget(&self, object: u64) {
        let mut held = self.lock();
        held.past.retain(|(other, _), _| *other != object);
        let gone: Vec<Key> = held.blocks.keys().filter(|(other, _)| *other == object).copied().collect();
        gone.into_iter().for_each(|key| held.remove(key));
    }

    /// Reads at an offset within an object: at least a byte, and at most to the end of a block. `is_stream` says that
    /// everything up to the end will be read.
    pub(super) fn read_at(
        self: &Arc<Self>,
        object: &Arc<Object>,
        buffer: &mut [u8],
        offset: u64,
        is_stream: bool,
    ) -> io::Result<usize> {
        let index = self.index(object.cut, offset);
        let range = self.range(object, index);
        let key = (object.number, index);
        let mut held = self.lock();
        let bytes = loop {
            let used = held.tick();
            match held.blocks.get_mut(&key) {
                Some(Block { state: State::Here(bytes), used: last, read_to, .. }) => {
                    *last = used;
                    *read_to = (*read_to).max((offset + buffer.len() as u64).min(range.end) - range.start);
                    break Arc::clone(bytes);
                }
                Some(Block { state: State::Coming, .. }) => {
                    held = self.changed.wait(held).unwrap_or_else(PoisonError::into_inner);
                }
                Some(Block { state: State::Failed(kind, words), .. }) => {
                    let error = io::Error::new(*kind, words.clone());
                    // Another reading tries again.
                    held.remove(key);
                    return Err(error);
                }
                None => {
                    let was_fetched = held.past.get(&key).is_some_and(|past| past.fetched > 0);
                    let wanted = offset..range.end.min(offset + buffer.len() as u64);
                    let is_rest =
                        object.cut == BlockLayout::Lines && !is_stream && wanted.end - wanted.start <= REST_BYTES;
                    if is_rest && (was_fetched || wanted.end == range.end && wanted.start > range.start) {
                        drop(held);
                        let own = Arc::clone(object);
                        let bytes = runtime::wait_for(async move { own.fetch(wanted, Vec::new()).await })?;
                        buffer[..bytes.len()].copy_from_slice(&bytes);
                        return Ok(bytes.len());
                    }
                    // What is wanted here and there may be longer than a block: all of it is asked for at once.
                    let last = match object.cut {
                        BlockLayout::Lines => index,
                        BlockLayout::Parts => {
                            self.index(object.cut, (offset + buffer.len() as u64 - 1).min(object.len - 1))
                        }
                    };
                    for index in index..=last.min(index + REQUESTS_MAX as u64) {
                        if !held.blocks.contains_key(&(object.number, index)) {
                            self.start(&mut held, object, index)?;
                        }
                    }
                }
            }
        };
        if object.cut == BlockLayout::Lines {
            self.fetch_ahead(&mut held, object, index)?;
        }
        drop(held);
        let at = usize::try_from(offset - range.start).unwrap_or(usize::MAX);
        let rest = bytes.get(at..).unwrap_or_default();
        let len = rest.len().min(buffer.len());
        buffer[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }

    /// Fetches the blocks that will be read next, if blocks are read in order and there is room.
    fn fetch_ahead(self: &Arc<Self>, held: &mut BlockCache, object: &Arc<Object>, index: u64) -> io::Result<()> {
        let own = held.past.get(&(object.number, index)).copied().unwrap_or_default();
        let before = index.checked_sub(1).and_then(|before| held.past.get(&(object.number, before)));
        let run = before.filter(|before| before.fetched >= own.fetched).map_or(0, |before| before.run + 1);
        held.past.insert((object.number, index), Past { run, ..own });
        let ahead = if run == 0 { 0 } else { (1_u64 << run.min(16)).min(AHEAD_MAX) };
        for next in index + 1..=index + ahead {
            let range = self.range(object, next);
            let fetched = held.past.get(&(object.number, next)).map_or(0, |past| past.fetched);
            if range.is_empty() || fetched >= own.fetched {
                return Ok(());
            }
            if held.blocks.contains_key(&(object.number, next)) {
                continue;
            }
            let len = range.end - range.start;
            held.make_room_for_more(len);
            if held.bytes + len > ROOM_BYTES || !object.limits.allow(len) {
                return Ok(());
            }
            self.start(held, object, next)?;
        }
        Ok(())
    }

    /// Begins to fetch a block.
    fn start(self: &Arc<Self>, held: &mut BlockCache, object: &Arc<Object>, index: u64) -> io::Result<()> {
        let (key, range) = ((object.number, index), self.range(object, index));
        let len = range.end - range.start;
        held.past.entry(key).or_default().fetched += 1;
        held.bytes += len;
        held.make_room();
        let used = held.tick();
        held.blocks.insert(key, Block { state: State::Coming, len, read_to: 0, used });
        let memory = held.free.pop().unwrap_or_default();
        let (own, object, requests) = (Arc::clone(self), Arc::clone(object), Arc::clone(&self.requests));
        runtime::handle()?.spawn(async move {
            // Whatever happens to the request, no reader waits for ever.
            let mut coming = Coming { blocks: own, key, state: None };
            let _one_of_many = requests.acquire_owned().await;
            coming.state = Some(match object.fetch(range, memory).await {
                Ok(bytes) => State::Here(Arc::new(bytes)),
                Err(error) => State::Failed(error.kind(), error.to_string()),
            });
        });
        Ok(())
    }

    fn index(&self, cut: BlockLayout, offset: u64) -> u64 {
        match cut {
            BlockLayout::Lines if offset < self.head_bytes() => 0,
            BlockLayout::Lines => offset / self.block_bytes + 1,
            BlockLayout::Parts => offset / self.part_bytes(),
        }
    }

    /// The bytes of a block. Empty if the object ends before it.
    fn range(&self, object: &Object, index: u64) -> Range<u64> {
        let range = match (object.cut, index) {
            (BlockLayout::Lines, 0) => 0..self.head_bytes(),
            (BlockLayout::Lines, _) => {
                ((index - 1).saturating_mul(self.block_bytes)).max(self.head_bytes())
                    ..index.saturating_mul(self.block_bytes)
            }
            (BlockLayout::Parts, _) => {
                index.saturating_mul(self.part_bytes())..(index + 1).saturating_mul(self.part_bytes())
            }
        };
        range.start.min(object.len)..range.end.min(object.len)
    }

    fn part_bytes(&self) -> u64 {
        PART_BYTES.min(self.block_bytes)
    }

    fn lock(&self) -> MutexGuard<'_, BlockCache> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BlockCache {
    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    fn remove(&mut self, key: Key) {
        let Some(block) = self.blocks.remove(&key) else { return };
        self.bytes -= block.len;
        if let State::Here(bytes) = block.state
            && self.free.len() < AHEAD_MAX as usize
            && let Ok(memory) = Arc::try_unwrap(bytes)
        {
            self.free.push(memory);
        }
    }

    /// Removes blocks until all have room: those that were read first, then the ones that were used longest ago.
    fn make_room(&mut self) {
        while self.bytes > ROOM_BYTES {
            let here = self.blocks.iter().filter(|(_, block)| matches!(block.state, State::Here(_)));
            let oldest = here.min_by_key(|(_, block)| (block.read_to < block.len, block.used));
            let Some(key) = oldest.map(|(key, _)| *key) else { return };
            self.remove(key);
        }
    }

    /// Removes blocks that were read to their ends until there is room for more.
    fn make_room_for_more(&mut self, bytes: u64) {
        while self.bytes + bytes > ROOM_BYTES {
            let read = |block: &Block| matches!(block.state, State::Here(_)) && block.read_to == block.len;
            let oldest = self.blocks.iter().filter(|(_, block)| read(block)).min_by_key(|(_, block)| block.used);
            let Some(key) = oldest.map(|(key, _)| *key) else { return };
            self.remove(key);
        }
    }
}

/// A block that is fetched. Its readers are woken when this is dropped.
struct Coming {
    blocks: Arc<Blocks>,
    key: Key,
    state: Option<State>,
}

impl Drop for Coming {
    fn drop(&mut self) {
        let failed = || {
            let error = runtime::failed();
            State::Failed(error.kind(), error.to_string())
        };
        let mut held = self.blocks.lock();
        // It is gone if the object was forgotten.
        if let Some(block) = held.blocks.get_mut(&self.key) {
            block.state = self.state.take().unwrap_or_else(failed);
        }
        drop(held);
        self.blocks.changed.notify_all();
    }
}
