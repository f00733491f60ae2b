//! The options for limits: of records in memory, and of copies of pipes on disk.

use bytesize::ByteSize;
#[cfg(any(feature = "convert", feature = "query"))]
use jird_formats::files::SpoolOptions;

/// How long a record may be.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct RecordArgs {
    /// A longer record is bad, and is not kept in memory; such as 16M or 1G
    #[arg(long, value_name = "BYTES", default_value = RECORD_LIMIT)]
    record_limit: ByteSize,
}

/// [`jird::lines::RECORD_BYTES_MAX`], as it is typed.
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
    /// Compress such a copy with Zstandard: less room, more time
    #[arg(long)]
    spool_compressed: bool,
}

#[cfg(feature = "query")]
impl CompressibleSpoolArgs {
    pub(crate) fn options(self) -> SpoolOptions {
        SpoolOptions { compress: self.spool_compressed, ..self.spool.options() }
    }
}

/// Lets the process open as many files as the system allows: a store has two for each span. If that is refused, a store
/// with too many spans says what to do.
#[cfg(feature = "convert")]
pub(crate) fn raise_open_files() {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
    {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_library() {
        let limit: ByteSize = RECORD_LIMIT.parse().unwrap();
        assert_eq!(limit.as_u64(), jird::lines::RECORD_BYTES_MAX as u64);
        #[cfg(any(feature = "convert", feature = "query"))]
        {
            let limit: ByteSize = SPOOL_LIMIT.parse().unwrap();
            assert_eq!(limit.as_u64(), SpoolOptions::LIMIT);
        }
    }
}
