//! Inputs that are URLs, and the options for them. A program that was built without the feature `remote` refuses them.

#[cfg(feature = "remote")]
mod reads;
#[cfg(not(feature = "remote"))]
mod refuses;

#[cfg(feature = "remote")]
pub(crate) use reads::*;
#[cfg(not(feature = "remote"))]
pub(crate) use refuses::*;
