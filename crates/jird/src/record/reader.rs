//! Reads one record by hand: the offsets of its values in a flat list, decoded only on demand.

use crate::error::Error;
use crate::kernel::Kernel;
use crate::policy::Policy;
use crate::tape::{Entries, Parser, Value};

/// The buffers of a [`Record`]: reuse them for one record after the other, and nothing more is allocated.
#[derive(Debug, Default)]
pub struct RecordBuffer {
    parser: Parser,
}

impl RecordBuffer {
    /// Fresh buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Buffers for records that are read under a policy.
    pub fn with_policy(policy: Policy) -> Self {
        Self { parser: Parser::with_policy(policy) }
    }

    /// Buffers for records that are read with a given instruction set.
    #[doc(hidden)]
    pub fn with_kernel(policy: Policy, kernel: Kernel) -> Self {
        Self { parser: Parser::with_kernel(policy, kernel) }
    }
}

/// One value and the offsets of everything in it, as squirrel-json keeps them: in a flat list, with links to the next
/// sibling. Numbers and strings stay as they stand in the text until they are asked for.
///
/// The record borrows the text and the buffers; both are free again for the next record when it is dropped.
///
/// ```
/// use jird::record::{Record, RecordBuffer};
/// let mut buffer = RecordBuffer::new();
/// let mut sum = 0.0;
/// for line in [r#"{"Elapsed": 1.5}"#, r#"{"Elapsed": 2}"#] {
///     let record = Record::scan(line.as_bytes(), &mut buffer)?;
///     sum += record.get("Elapsed").and_then(|elapsed| elapsed.as_f64()).unwrap_or_default();
/// }
/// assert_eq!(sum, 3.5);
/// # Ok::<(), jird::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    root: Value<'a>,
}

impl<'a> Record<'a> {
    /// Reads one value and checks all of it.
    ///
    /// # Errors
    /// As [`parse`](crate::parse).
    pub fn scan(text: &'a [u8], buffer: &'a mut RecordBuffer) -> Result<Self, Error> {
        buffer.parser.parse(text).map(|root| Self { root })
    }

    /// Reads one value that was checked before, without checking it again. From a text that is not JSON it makes
    /// *some* record, in time linear in the text. That record never panics and never returns a `str` that is not
    /// UTF-8: a string's UTF-8 and a number's grammar are checked when the caller asks for them.
    pub fn scan_trusted(text: &'a [u8], buffer: &'a mut RecordBuffer) -> Self {
        Self { root: buffer.parser.parse_trusted(text) }
    }

    /// The record's value.
    pub fn root(self) -> Value<'a> {
        self.root
    }

    /// The members in document order; none if the record is not an object.
    pub fn entries(self) -> Entries<'a> {
        self.root.entries()
    }

    /// The value of the first member with this key.
    pub fn get(self, key: &str) -> Option<Value<'a>> {
        self.root.get(key)
    }
}
