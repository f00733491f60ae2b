//! Bodies, headers, connections, compression, TLS, access, and what proxies say.

pub(crate) mod body;
pub(crate) mod compress;
pub(crate) mod etag;
pub(crate) mod exchange;
pub(crate) mod forwarded;
pub(crate) mod guard;
pub(crate) mod journal;
pub(crate) mod tls;
