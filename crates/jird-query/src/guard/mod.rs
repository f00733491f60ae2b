//! Calls of functions that stay within the memory and the time of their query.
//!
//! An allocation that fails ends the process, and no thread can be ended from outside. DataFusion checks neither before
//! it calls a function: 700 bytes of SQL make values of many gigabytes, and patterns that take minutes. So every call
//! in a plan whose result can be larger than its arguments, or that can take long, is a [`Guarded`] one:
//! `growth` says how large its result can be, `memory` reserves that much before the call is made, and it is made for
//! fewer rows at a time if there is not enough memory or if it takes long. Panics become errors.
//!
//! [`GuardCalls`] puts them into a plan after its types are known and before its constants are computed.

mod call;
mod growth;
mod memory;
mod operators;
mod rule;

pub(crate) use growth::constant_bytes;
pub(crate) use memory::Memory;
pub(crate) use rule::GuardCalls;

use crate::base::interrupt::Interrupt;
use std::sync::Arc;

/// What all guarded calls of a query share.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    pub(crate) memory: Arc<Memory>,
    pub(crate) interrupt: Interrupt,
}
