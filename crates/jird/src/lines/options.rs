//! How lines are read.

use super::RECORD_BYTES_MAX;
use super::gate::Search;
use crate::kernel::Kernel;
use crate::policy::Policy;

/// Bytes of lines that are scanned before their tokens are walked.
const PIECE_BYTES: usize = 64 << 10;

/// How much of the records is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Check {
    /// Every record, whole. Nothing is looked for in those that cannot match, as far as that shows in their raw bytes: that
    /// have none of [`Predicate::literals`](crate::record::Predicate::literals).
    #[default]
    All,
    /// The records that can match, as far as that shows. Of the others nothing is known but that they are lines. Without a
    /// predicate, or with one that has no literals, every record.
    Touched,
    /// None, and of those that cannot match nothing is read. What is handed out is UTF-8 all the same, and numbers are numbers.
    Trusted,
}

/// How lines are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The instruction set.
    pub kernel: Kernel,
    /// How much is checked.
    pub check: Check,
    /// Limits and refusals.
    pub policy: Policy,
    /// The longest record, in bytes without its line feed. Beyond 4 GiB there is none, whatever this says.
    pub record_bytes_max: usize,
    /// Bytes scanned at a time. Results do not depend on it.
    #[doc(hidden)]
    pub piece_bytes: usize,
    /// Whether literals are searched for. Results do not depend on it.
    #[doc(hidden)]
    pub search: Search,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            kernel: Kernel::best(),
            check: Check::default(),
            policy: Policy::default(),
            record_bytes_max: RECORD_BYTES_MAX,
            piece_bytes: PIECE_BYTES,
            search: Search::default(),
        }
    }
}
