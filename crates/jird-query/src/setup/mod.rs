//! What a query is given before it runs: options, inputs, a session, its tables and functions.

#[cfg(feature = "sql")]
pub(crate) mod disk;
pub(crate) mod inputs;
pub(crate) mod options;
#[cfg(feature = "sql")]
pub(crate) mod registered;
#[cfg(feature = "sql")]
pub(crate) mod session;
pub(crate) mod spill;
