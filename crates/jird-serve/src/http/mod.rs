//! Bodies, headers, compression, TLS, and access.

pub(crate) mod body;
pub(crate) mod guard;
pub(crate) mod journal;
pub(crate) mod pack;
pub(crate) mod tag;
pub(crate) mod tls;
