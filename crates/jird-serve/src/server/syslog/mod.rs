//! Syslog over UDP and TCP, each at the addresses that the settings name: messages in, events of the store out.
//!
//! Nobody is asked for a token, because the protocol has none. So everything is bounded: the length of a message, connections in
//! all and for each address, what they keep in memory, and what waits. Over TCP, a client waits while the store does not keep up,
//! and every message that is not refused becomes an event. Over UDP, nobody can be told to wait: what does not fit is dropped, and
//! counted.
//!
//! When the server is told to stop, nobody new is let in, what has come by then is read, and all of it is appended.

mod connections;
mod counts;
mod frames;
mod reception;
mod tcp;
mod udp;

use crate::base::error::Error;
use crate::server::service::Service;
use connections::Connections;
pub(crate) use counts::Counts;
use reception::Reception;
use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::time::Duration;
use tokio::net;
use tokio::sync::watch;

/// How often another free port is tried, if any will do: one that is free for TCP may be taken for UDP.
const PORTS_TRIED: usize = 20;
/// After the server was told to stop, a socket that brings nothing for this time has brought all, ...
const LAST_PAUSE: Duration = Duration::from_millis(50);
/// ... and one that goes on is closed after this.
const LAST_TIME: Duration = Duration::from_secs(3);

/// Sockets that listen. What comes waits until they are [read](Self::receive).
pub(crate) struct Syslog {
    sockets: Vec<(TcpListener, UdpSocket)>,
    addresses: Vec<SocketAddr>,
    pub(crate) counts: Arc<Counts>,
}

impl Syslog {
    /// Listens at these addresses, with UDP and TCP at each.
    ///
    /// # Errors
    /// If another program listens there, or the system does not allow it.
    pub(crate) fn bind(wanted: &[SocketAddr]) -> Result<Self, Error> {
        let (mut sockets, mut addresses) = (Vec::new(), Vec::new());
        for address in wanted {
            let failed = |error| Error::because(format_args!("listening for syslog at {address}"), error);
            let (tcp, udp) = bind_both(*address).map_err(failed)?;
            addresses.push(tcp.local_addr().map_err(failed)?);
            sockets.push((tcp, udp));
        }
        Ok(Self { sockets, addresses, counts: Arc::default() })
    }

    /// Where they listen, with the ports that they got.
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Takes messages until the server is told to stop, and ends when all that came is appended.
    ///
    /// # Errors
    /// If the runtime cannot wait for the sockets, or if messages are lost that had come.
    pub(crate) async fn receive(self, service: Arc<Service>, is_stopped: watch::Receiver<bool>) -> Result<(), Error> {
        let failed = |error| Error::because("listening for syslog", error);
        let limits = service.limits();
        let connections = Connections::new(limits.syslog_connections);
        let Some(reception) = Reception::new(service, self.counts, is_stopped).map(Arc::new) else { return Ok(()) };
        let mut tasks = Vec::new();
        for (tcp, udp) in self.sockets {
            let tcp = net::TcpListener::from_std(tcp).map_err(failed)?;
            let udp = net::UdpSocket::from_std(udp).map_err(failed)?;
            tasks.push(tokio::spawn(tcp::listen(Arc::clone(&reception), tcp, Arc::clone(&connections))));
            tasks.push(tokio::spawn(udp::receive(Arc::clone(&reception), udp)));
        }
        for task in tasks {
            // One that has failed by a bug leaves the others alone.
            let _ = task.await;
        }
        connections.all_gone().await;
        reception.finish()
    }
}

/// Sockets of both kinds at the same port.
fn bind_both(address: SocketAddr) -> io::Result<(TcpListener, UdpSocket)> {
    let bind = || {
        let tcp = TcpListener::bind(address)?;
        let udp = UdpSocket::bind(tcp.local_addr()?)?;
        tcp.set_nonblocking(true)?;
        udp.set_nonblocking(true)?;
        Ok((tcp, udp))
    };
    for _ in 1..PORTS_TRIED {
        match bind() {
            Err(error) if address.port() == 0 && error_is_taken(&error) => {}
            bound => return bound,
        }
    }
    bind()
}

fn error_is_taken(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AddrInUse
}
