//! What all rooms share: small parts of syntax, names of functions, constants, and JSON text as an expression.

pub(crate) mod chain;
pub(crate) mod forms;
pub(crate) mod functions;
pub(crate) mod literal;
pub(crate) mod names;
pub(crate) mod syntax;
pub(crate) mod times;
pub(crate) mod visit;
