//! What a query is given before it runs: options, inputs, a session, its tables and functions.

pub(crate) mod inputs;
pub(crate) mod options;
pub(crate) mod registered;
pub(crate) mod session;
pub(crate) mod spill;
