//! What each path answers.

pub(crate) mod change;
pub(crate) mod doors;
pub(crate) mod events;
pub(crate) mod openapi;
pub(crate) mod page;
pub(crate) mod paths;
#[cfg(feature = "query")]
pub(crate) mod queries;
#[cfg(feature = "query")]
pub(crate) mod query;
pub(crate) mod read;
pub(crate) mod served;
pub(crate) mod state;
