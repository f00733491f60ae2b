//! The options for limits: of records in memory, and of copies of pipes on disk.

#[cfg(feature = "query")]
use crate::memory;
use bytesize::ByteSize;
#[cfg(any(feature = "convert", feature = "query"))]
use jird_formats::files::SpoolOptions;
#[cfg(feature = "query")]
use jird_query::Spill;

/// How long a record may be.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct RecordArgs {
    /// Maximum size of a record, such as 16M or 1G; longer records are bad, and not kept in memory
    #[arg(long, value_name = "BYTES", default_value = RECORD_LIMIT)]
    record_limit: ByteSize,
}

/// [`jird::policy::RECORD_BYTES_MAX`], as it is typed.
const RECORD_LIMIT: &str = "64MiB";

impl RecordArgs {
    /// In bytes.
    pub(crate) fn limit(self) -> usize {
        usize::try_from(self.record_limit.as_u64()).unwrap_or(usize::MAX)
    }
}

/// What may be done with a pipe that has to be read twice.
#[cfg(any(feature = "convert", feature = "query"))]
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct SpoolArgs {
    /// A pipe that must be read twice is copied to $TMPDIR: at most this many bytes, such as 500M or 20G
    #[arg(long, value_name = "BYTES", default_value = SPOOL_LIMIT)]
    spool_limit: ByteSize,
}

/// [`SpoolOptions::LIMIT`], as it is typed.
#[cfg(any(feature = "convert", feature = "query"))]
const SPOOL_LIMIT: &str = "16GiB";

#[cfg(any(feature = "convert", feature = "query"))]
impl SpoolArgs {
    pub(crate) fn options(self) -> SpoolOptions {
        SpoolOptions { limit: self.spool_limit.as_u64(), ..SpoolOptions::default() }
    }
}

/// The same, where the copy is read from its start to its end, and so may be compressed.
#[cfg(feature = "query")]
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct CompressibleSpoolArgs {
    #[command(flatten)]
    spool: SpoolArgs,
    /// Compress this copy with Zstandard: less space, more time
    #[arg(long)]
    spool_compressed: bool,
}

#[cfg(feature = "query")]
impl CompressibleSpoolArgs {
    pub(crate) fn options(self) -> SpoolOptions {
        SpoolOptions { compress: self.spool_compressed, ..self.spool.options() }
    }
}

/// How much memory a query takes, and what it does beyond it.
#[cfg(feature = "query")]
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct MemoryArgs {
    /// Memory limit for grouping, sorting and joins together, such as 300M or 4G; the rest is spilled to $TMPDIR
    /// [default: half of what the machine, its control group and `ulimit -v` leave]
    #[arg(long, value_name = "BYTES", hide = cfg!(not(feature = "sql")))]
    memory_limit: Option<ByteSize>,
    /// Maximum number of bytes spilled to $TMPDIR at a time
    #[arg(long, value_name = "BYTES", default_value = SPILL_LIMIT, hide = cfg!(not(feature = "sql")))]
    spill_limit: ByteSize,
}

/// [`Spill::LIMIT`], as it is typed.
#[cfg(feature = "query")]
const SPILL_LIMIT: &str = "64GiB";

#[cfg(feature = "query")]
impl MemoryArgs {
    /// The memory in bytes, for a query with this number of threads.
    pub(crate) fn limit(self, threads: usize) -> usize {
        let half = || {
            let mapped = memory::address_space().unwrap_or(u64::MAX);
            memory::at_hand().min(mapped.saturating_sub(THREAD_BYTES.saturating_mul(threads as u64))) / 2
        };
        let bytes = self.memory_limit.map_or_else(half, |limit| limit.as_u64());
        usize::try_from(bytes).unwrap_or(usize::MAX).clamp(MEMORY_MIN, usize::MAX / 2)
    }

    /// How many threads a query has by default: `most`, or fewer if `ulimit -v` leaves little room for their stacks.
    pub(crate) fn threads(most: usize) -> usize {
        let room = memory::address_space().map_or(u64::MAX, |bytes| bytes / 2 / THREAD_BYTES);
        usize::try_from(room).unwrap_or(usize::MAX).clamp(1, most.max(1))
    }

    pub(crate) fn spill(self) -> Spill {
        Spill { limit: self.spill_limit.as_u64(), ..Spill::default() }
    }
}

/// What a thread of a query takes of the address space, used or not: its stack, that of the thread that scans for it, and
/// what the allocator sets aside for both.
#[cfg(feature = "query")]
const THREAD_BYTES: u64 = 256 << 20;

/// The least that can be set: a few batches of rows take this much.
#[cfg(feature = "query")]
const MEMORY_MIN: usize = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_library() {
        let limit: ByteSize = RECORD_LIMIT.parse().unwrap();
        assert_eq!(limit.as_u64(), jird::policy::RECORD_BYTES_MAX as u64);
        #[cfg(any(feature = "convert", feature = "query"))]
        {
            let limit: ByteSize = SPOOL_LIMIT.parse().unwrap();
            assert_eq!(limit.as_u64(), SpoolOptions::LIMIT);
        }
        #[cfg(feature = "query")]
        {
            let limit: ByteSize = SPILL_LIMIT.parse().unwrap();
            assert_eq!(limit.as_u64(), Spill::LIMIT);
        }
    }
}
