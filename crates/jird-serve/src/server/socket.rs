//! Sockets that a server listens at: TCP, Unix, and those that systemd has opened.

use crate::base::error::Error;
use crate::base::file::FileId;
use crate::base::place::{Listen, Peer};
use listenfd::ListenFd;
use std::io;
use std::net::{SocketAddr, TcpListener};
#[cfg(unix)]
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{self, TcpStream};
use tokio::time::sleep;

/// A socket that listens. Connections wait until they are accepted.
pub(crate) enum Bound {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix {
        listener: UnixListener,
        entry: Option<Entry>,
    },
}

/// A connection, and who asks.
pub(crate) enum Accepted {
    Tcp(TcpStream, Peer),
    #[cfg(unix)]
    Unix(net::UnixStream),
}

/// A listener of tokio.
pub(crate) enum Listener {
    Tcp(net::TcpListener),
    #[cfg(unix)]
    Unix {
        listener: net::UnixListener,
        _entry: Option<Entry>,
    },
}

impl Bound {
    /// Listens, and says where.
    ///
    /// # Errors
    /// If another program listens there, if the system does not allow it, or if it passed no socket.
    pub(crate) fn bind(listen: &Listen) -> Result<(Self, Listen), Error> {
        let failed = |error| Error::because(format_args!("listening at {listen}"), error);
        let bound = match listen {
            Listen::Tcp(address) => Self::Tcp(TcpListener::bind(address).map_err(failed)?),
            #[cfg(unix)]
            Listen::Unix(path) => {
                let listener = bind_unix(path).map_err(failed)?;
                let entry = Entry { path: path.clone(), id: FileId::of_any(path) };
                Self::Unix { listener, entry: Some(entry) }
            }
            #[cfg(not(unix))]
            Listen::Unix(_) => return Err(Error::new("this system has no Unix sockets here")),
            Listen::Systemd => passed()?,
        };
        let place = match &bound {
            Self::Tcp(listener) => {
                listener.set_nonblocking(true).map_err(failed)?;
                Listen::Tcp(listener.local_addr().map_err(failed)?)
            }
            #[cfg(unix)]
            Self::Unix { listener, .. } => {
                listener.set_nonblocking(true).map_err(failed)?;
                let address = listener.local_addr().map_err(failed)?;
                Listen::Unix(address.as_pathname().map(Path::to_owned).unwrap_or_default())
            }
        };
        Ok((bound, place))
    }

    /// For the runtime that calls it.
    pub(crate) fn listener(self) -> io::Result<Listener> {
        Ok(match self {
            Self::Tcp(listener) => Listener::Tcp(net::TcpListener::from_std(listener)?),
            #[cfg(unix)]
            Self::Unix { listener, entry } => {
                Listener::Unix { listener: net::UnixListener::from_std(listener)?, _entry: entry }
            }
        })
    }
}

impl Listener {
    /// The next connection.
    pub(crate) async fn accept(&self) -> io::Result<Accepted> {
        match self {
            Self::Tcp(listener) => {
                let (socket, peer): (_, SocketAddr) = listener.accept().await?;
                // Without it an answer may wait for the client's receipt of the one before.
                let _ = socket.set_nodelay(true);
                Ok(Accepted::Tcp(socket, Peer::Address(peer.ip())))
            }
            #[cfg(unix)]
            Self::Unix { listener, .. } => Ok(Accepted::Unix(listener.accept().await?.0)),
        }
    }
}

/// The socket of a client.
pub(crate) trait Client: AsyncRead + AsyncWrite + Unpin + Send + 'static {
    /// Waits for the first bytes, and says whether they are those of HTTP/2. They are not taken from the socket.
    fn begins_http_2(&self) -> impl Future<Output = bool> + Send;
}

impl Client for TcpStream {
    async fn begins_http_2(&self) -> bool {
        // No method of HTTP/1 begins so.
        const PREFACE: &[u8; 4] = b"PRI ";
        let mut first = [0; PREFACE.len()];
        // A client sends them all at once. If the rest is late, or will never come, that is for HTTP/1 to find out.
        for _ in 0..50 {
            match self.peek(&mut first).await {
                Ok(len) if len == first.len() => return first == *PREFACE,
                Ok(len) if len > 0 && first[..len] == PREFACE[..len] => sleep(Duration::from_millis(5)).await,
                _ => return false,
            }
        }
        false
    }
}

#[cfg(unix)]
impl Client for net::UnixStream {
    /// Tokio does not look ahead there.
    async fn begins_http_2(&self) -> bool {
        false
    }
}

/// The one socket that was opened for this process.
fn passed() -> Result<Bound, Error> {
    let mut passed = ListenFd::from_env();
    match passed.len() {
        1 => {}
        0 => return Err(Error::new("systemd passed no socket: start the server by a .socket unit")),
        many => return Err(Error::new(format!("systemd passed {many} sockets, and one is wanted"))),
    }
    if let Ok(Some(listener)) = passed.take_tcp_listener(0) {
        return Ok(Bound::Tcp(listener));
    }
    #[cfg(unix)]
    if let Ok(Some(listener)) = passed.take_unix_listener(0) {
        return Ok(Bound::Unix { listener, entry: None });
    }
    Err(Error::new("systemd passed something else than a stream socket that listens"))
}

/// Listens at a path, also if a server that is gone has left its socket there.
#[cfg(unix)]
fn bind_unix(path: &Path) -> io::Result<UnixListener> {
    match UnixListener::bind(path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse && is_left(path) => {
            std::fs::remove_file(path)?;
            UnixListener::bind(path)
        }
        bound => bound,
    }
}

/// Whether there is a socket at which nobody listens.
#[cfg(unix)]
fn is_left(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    path.symlink_metadata().is_ok_and(|data| data.file_type().is_socket())
        && UnixStream::connect(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

/// The entry of a Unix socket in its folder, which goes with the server, unless another one has taken its place.
pub(crate) struct Entry {
    path: PathBuf,
    id: Option<FileId>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        if self.id.is_some() && FileId::of_any(&self.path) == self.id {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
