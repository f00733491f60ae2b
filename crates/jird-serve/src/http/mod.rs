//! Bodies, headers, connections, compression, TLS, access, and what proxies say.

pub(crate) mod body;
pub(crate) mod exchange;
pub(crate) mod forwarded;
pub(crate) mod guard;
pub(crate) mod journal;
pub(crate) mod pack;
pub(crate) mod tag;
pub(crate) mod tls;
