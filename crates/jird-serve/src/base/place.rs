//! Where a server listens, where requests come from, and which proxies are trusted.

use core::fmt;
use core::str::FromStr;
use ipnet::IpNet;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// The word for Unix sockets.
const UNIX: &str = "unix";

/// Where a server listens.
///
/// ```
/// use jird_serve::Listen;
/// assert_eq!("127.0.0.1:8082".parse(), Ok(Listen::Tcp(([127, 0, 0, 1], 8082).into())));
/// assert_eq!("unix:/run/jird.sock".parse(), Ok(Listen::Unix("/run/jird.sock".into())));
/// assert!("nowhere".parse::<Listen>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// An address and port; port 0 is any that is free. An address that other machines can reach needs
    /// [tokens](crate::Settings::tokens).
    Tcp(SocketAddr),
    /// A Unix socket at this path. Users who may write to it can reach the server. It is removed when the server ends, and
    /// replaced if an earlier server has left it there.
    Unix(PathBuf),
    /// The socket that systemd, or what starts programs as it does, has opened for this process (`sd_listen_fds(3)`).
    Systemd,
}

impl Listen {
    /// The address and port, if it is one.
    pub fn tcp(&self) -> Option<SocketAddr> {
        if let Self::Tcp(address) = self { Some(*address) } else { None }
    }
}

impl From<SocketAddr> for Listen {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

impl FromStr for Listen {
    type Err = String;

    /// `ADDRESS:PORT`, `unix:PATH` or `systemd`.
    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some((UNIX, path)) if !path.is_empty() => Ok(Self::Unix(path.into())),
            None if text == "systemd" => Ok(Self::Systemd),
            _ => {
                let wrong = || "wanted ADDRESS:PORT such as 127.0.0.1:8082, unix:PATH or systemd".to_owned();
                text.parse().map(Self::Tcp).map_err(|_| wrong())
            }
        }
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "{UNIX}:{}", path.display()),
            Self::Systemd => f.write_str("a socket of systemd"),
        }
    }
}

/// Where a request comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    Address(IpAddr),
    /// A program on this machine, by a Unix socket.
    Unix,
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Unix => f.write_str(UNIX),
        }
    }
}

/// A proxy that is trusted to say which client it asks for.
///
/// ```
/// use jird_serve::Proxy;
/// assert!(["10.0.0.7", "172.17.0.0/16", "::1", "unix"].iter().all(|text| text.parse::<Proxy>().is_ok()));
/// assert!("nginx".parse::<Proxy>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proxy {
    /// All of these addresses.
    Net(IpNet),
    /// Every client of the Unix socket that the server listens at.
    Unix,
}

impl Proxy {
    pub(crate) fn is(&self, peer: Peer) -> bool {
        match (self, peer) {
            // An IPv4 client of a socket that takes both has an IPv6 address.
            (Self::Net(net), Peer::Address(address)) => net.contains(&address) || net.contains(&address.to_canonical()),
            (Self::Unix, Peer::Unix) => true,
            _ => false,
        }
    }
}

impl FromStr for Proxy {
    type Err = String;

    /// `ADDRESS`, `ADDRESS/BITS` or `unix`.
    fn from_str(text: &str) -> Result<Self, String> {
        if text == UNIX {
            return Ok(Self::Unix);
        }
        let net = text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        net.map(Self::Net)
            .map_err(|_| "wanted an address such as 10.0.0.7, a net such as 172.17.0.0/16, or unix".into())
    }
}
