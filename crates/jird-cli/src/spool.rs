//! The options for copies of pipes.

use bytesize::ByteSize;
use jird_formats::files::SpoolOptions;

/// What may be done with a pipe that has to be read twice.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct SpoolArgs {
    /// A pipe that must be read twice is copied to $TMPDIR: at most this many bytes, such as 500M or 20G
    #[arg(long, value_name = "BYTES", default_value = DEFAULT)]
    spool_limit: ByteSize,
}

/// [`SpoolOptions::LIMIT`], as it is typed.
const DEFAULT: &str = "16GiB";

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_that_of_the_library() {
        let limit: ByteSize = DEFAULT.parse().unwrap();
        assert_eq!(limit.as_u64(), SpoolOptions::LIMIT);
    }
}
