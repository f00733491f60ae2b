//! How much sorts and groups may put aside on disk when their memory is full.

use std::path::PathBuf;

/// What a query may put aside on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spill {
    /// The most bytes that it has on disk at a time.
    pub limit: u64,
    /// The folder of its files.
    pub folder: PathBuf,
}

impl Spill {
    /// The default of [`limit`](Self::limit): 64 GiB.
    pub const LIMIT: u64 = 64 << 30;
}

impl Default for Spill {
    /// At most 64 GiB, in the folder for temporary files (`$TMPDIR`, usually `/tmp`).
    fn default() -> Self {
        Self { limit: Self::LIMIT, folder: std::env::temp_dir() }
    }
}
