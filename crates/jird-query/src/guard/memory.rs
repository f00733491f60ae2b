//! The memory of a query's values.

use crate::base::bytes::{SMALL_BYTES, is_there};
use crate::base::error::Error;
use arrow::array::{Array, ArrayData};
use arrow::buffer::Buffer;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most bytes of the values of one call: Arrow has no offsets beyond, and 32-bit ones for texts.
pub(crate) const VALUES_BYTES: usize = i32::MAX as usize;

/// What guarded calls take of a query's memory.
///
/// The buffers of their results count until nothing else holds them: this holds each of them too, and looks how many
/// others do whenever more memory is wanted.
#[derive(Debug)]
pub(crate) struct Memory {
    taken: Mutex<MemoryUse>,
    /// Whether there is a limit, other than that of the machine.
    is_limited: bool,
    /// Whether the query runs, and so constants come and go.
    runs: AtomicBool,
}

#[derive(Debug)]
struct MemoryUse {
    reservation: MemoryReservation,
    results: Vec<Buffer>,
    /// The bytes of calls that are being made, and of constants.
    other: usize,
}

impl MemoryUse {
    /// Counts what is still held by others, and takes so much more.
    fn take(&mut self, more: usize) -> Result<(), Error> {
        self.results.retain(|buffer| buffer.strong_count() > 1);
        let results: usize = self.results.iter().map(Buffer::capacity).sum();
        let all = results.saturating_add(self.other).saturating_add(more);
        self.reservation.try_resize(all).map_err(|_| Error::memory())?;
        self.other += more;
        Ok(())
    }
}

impl Memory {
    pub(crate) fn new(pool: &Arc<dyn MemoryPool>, is_limited: bool) -> Self {
        let reservation = MemoryConsumer::new("values of functions").register(pool);
        let taken = MemoryUse { reservation, results: Vec::new(), other: 0 };
        Self { taken: Mutex::new(taken), is_limited, runs: AtomicBool::new(false) }
    }

    /// Whether the query is untrusted, and has limits.
    pub(crate) fn is_limited(&self) -> bool {
        self.is_limited
    }

    /// From here on, constants are not part of the plan.
    pub(crate) fn run(&self) {
        self.runs.store(true, Relaxed);
    }

    /// Takes this many bytes, until the room is dropped.
    ///
    /// # Errors
    /// If there is not so much memory, or if no array holds so much.
    pub(crate) fn room(&self, bytes: usize) -> Result<Room<'_>, Error> {
        self.room_beside(bytes, 0)
    }

    /// The same, in addition to parts of the same array, which will be joined.
    ///
    /// # Errors
    /// If there is not so much memory, or if no array holds all of it.
    pub(crate) fn room_beside(&self, bytes: usize, parts: usize) -> Result<Room<'_>, Error> {
        let all = bytes.saturating_add(parts);
        if all > VALUES_BYTES {
            return Err(Error::memory());
        }
        if all < SMALL_BYTES {
            return Ok(Room { memory: self, bytes: 0 });
        }
        if self.is_limited {
            self.taken().take(bytes)?;
        }
        let room = Room { memory: self, bytes };
        // An array that grows is twice there.
        is_there(bytes.saturating_add(all))?;
        Ok(room)
    }

    fn taken(&self) -> MutexGuard<'_, MemoryUse> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Memory for a call.
pub(crate) struct Room<'m> {
    memory: &'m Memory,
    bytes: usize,
}

impl Room<'_> {
    /// Counts the result from now on, in place of the room.
    pub(crate) fn becomes(self, result: &dyn Array) {
        if self.bytes > 0 && self.memory.is_limited {
            hold(&result.to_data(), &mut self.memory.taken().results);
        }
    }

    /// Counts a constant of a plan, which is there as long as the plan.
    pub(crate) fn becomes_constant(self, bytes: usize) {
        if bytes >= SMALL_BYTES && self.memory.is_limited && !self.memory.runs.load(Relaxed) {
            self.memory.taken().other += bytes;
        }
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        if self.bytes > 0 && self.memory.is_limited {
            let mut taken = self.memory.taken();
            taken.other -= self.bytes;
            // It cannot fail, because it takes nothing more.
            let _ = taken.take(0);
        }
    }
}

fn hold(data: &ArrayData, held: &mut Vec<Buffer>) {
    for buffer in data.buffers().iter().filter(|buffer| buffer.capacity() >= SMALL_BYTES) {
        if held.iter().all(|other| other.data_ptr() != buffer.data_ptr()) {
            held.push(buffer.clone());
        }
    }
    data.child_data().iter().for_each(|child| hold(child, held));
}
