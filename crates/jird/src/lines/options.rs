//! Options for reading lines.

use super::gate::When;
use crate::kernel::Kernel;
use crate::policy::Policy;
use crate::policy::RECORD_BYTES_MAX;

/// Bytes of lines that are scanned before their tokens are walked.
const PIECE_BYTES: usize = 64 << 10;

/// How much of the records is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Check {
    /// Every record is checked completely. Fields are looked up only in records that may match: those whose raw bytes
    /// contain one of [`Predicate::literals`](crate::record::Predicate::literals).
    #[default]
    All,
    /// Only the records that may match, judging by their raw bytes, are checked. The others are only known to be
    /// lines. Without a predicate, or with one that has no literals, every record is checked.
    Touched,
    /// No record is checked, and records that cannot match are not read. The fields that are returned are still valid
    /// UTF-8, and numbers are valid numbers.
    Trusted,
}

/// Options for reading lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The instruction set.
    #[doc(hidden)]
    pub kernel: Kernel,
    /// How much is checked.
    pub check: Check,
    /// Limits and refusals.
    pub policy: Policy,
    /// The maximum length of a record, in bytes without its newline. Records above 4 GiB are refused, whatever this
    /// says.
    pub record_bytes_max: usize,
    /// Bytes scanned at a time. The results of valid lines do not depend on it.
    #[doc(hidden)]
    pub piece_bytes: usize,
    /// Whether literals are searched for. The results do not depend on it.
    #[doc(hidden)]
    pub search: When,
    /// Whether the fields of unchecked lines are looked for without tokens. The results of valid lines do not depend on
    /// it.
    #[doc(hidden)]
    pub sweep: When,
    /// Whether memory is asked for the text before it is scanned. The results do not depend on it.
    #[doc(hidden)]
    pub prefetch: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            kernel: Kernel::best(),
            check: Check::default(),
            policy: Policy::default(),
            record_bytes_max: RECORD_BYTES_MAX,
            piece_bytes: PIECE_BYTES,
            search: When::default(),
            sweep: When::default(),
            prefetch: true,
        }
    }
}
