//! Addresses of schedulers and executors.

use anyhow::{Context, Result, bail};
use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::str::FromStr;

/// `df://HOST:PORT`, or the same without `df://`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl Address {
    /// The address as gRPC and HTTP have it.
    pub(crate) fn url(&self) -> String {
        format!("http://{self}")
    }

    /// The address to listen on.
    pub(crate) fn resolve(&self) -> Result<SocketAddr> {
        let mut found = (self.bare_host(), self.port).to_socket_addrs().with_context(|| self.to_string())?;
        found.next().with_context(|| format!("{self}: no such host"))
    }

    /// The host without the brackets of an IPv6 address.
    pub(crate) fn bare_host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }
}

impl FromStr for Address {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let address = text.strip_prefix("df://").unwrap_or(text);
        let address = address.strip_suffix('/').unwrap_or(address);
        let Some((host, port)) = address.rsplit_once(':') else {
            bail!("it is df://HOST:PORT, such as df://10.0.0.1:50050")
        };
        let port = port.parse().with_context(|| format!("`{port}` is no port"))?;
        let is_host = !host.is_empty() && !host.contains(['/', '@', '?', '#', ' ']);
        let is_whole = host.starts_with('[') == host.ends_with(']') && (host.starts_with('[') || !host.contains(':'));
        if !is_host || !is_whole {
            bail!("`{host}` is no host; an IPv6 address stands in brackets");
        }
        Ok(Self { host: host.to_owned(), port })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        for text in ["df://10.0.0.1:50050", "10.0.0.1:50050", "df://10.0.0.1:50050/"] {
            assert_eq!(text.parse::<Address>().unwrap(), Address { host: "10.0.0.1".into(), port: 50050 }, "{text}");
        }
        assert_eq!("[::1]:1".parse::<Address>().unwrap().bare_host(), "::1");
        for text in ["", "host", "host:", ":1", "host:70000", "http://host:1", "::1:5", "[::1:5", "user@host:1"] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }
}
