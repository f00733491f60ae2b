//! Events: taken in whatever form clients send them, and followed as they come.

pub(crate) mod follow;
pub(crate) mod intake;
pub(crate) mod upkeep;
