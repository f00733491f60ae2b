//! What a query may take, and what ends it.

use crate::base::interrupt::Interrupt;
use crate::base::threads::KeepAlive;
use crate::setup::options::Options;

/// What a query may take, and what ends it.
#[derive(Clone, Copy)]
pub(crate) struct Bounds<'q> {
    pub(crate) options: &'q Options,
    /// Whether others have written the query: it has bounds of its own.
    pub(crate) is_of_others: bool,
    pub(crate) interrupt: &'q Interrupt,
    /// What its threads keep until they have ended.
    pub(crate) kept: Option<&'q KeepAlive>,
    /// The most rows of a batch.
    pub(crate) batch_rows_max: usize,
}
