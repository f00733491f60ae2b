//! Bodies, headers, compression, TLS, and who may ask.

pub(crate) mod body;
pub(crate) mod guard;
pub(crate) mod journal;
pub(crate) mod pack;
pub(crate) mod tag;
pub(crate) mod tls;
