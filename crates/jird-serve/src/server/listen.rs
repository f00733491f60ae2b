//! Connections: accepting them, limiting them, and ending them in good order.

use crate::base::error::Error;
use crate::base::place::{Listen, Peer};
use crate::base::settings::{Settings, Tls};
use crate::base::strangers::{Stranger, Strangers};
use crate::base::token::{self, Token};
use crate::events::upkeep::{self, Upkeep};
use crate::http::exchange::Exchanges;
use crate::http::guard::check_origin;
use crate::http::tls::{self, HTTP_2};
use crate::server::service::Service;
use crate::server::socket::{Accepted, Bound, Client};
use crate::server::syslog::Syslog;
use core::pin::{Pin, pin};
use core::task::{Context, Poll};
use hyper::body::Incoming;
use hyper::header::{HOST, HeaderValue};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Uri};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock, Weak};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::runtime::Runtime;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, Sleep, interval, sleep, timeout};
use tokio_rustls::TlsAcceptor;

/// The most bytes of a request's head.
const HEAD_BYTES: usize = 64 << 10;
/// The most requests at a time on a connection, and the most bytes of an answer that it keeps for its client.
const STREAMS_MAX: u32 = 100;
const STREAM_BYTES: usize = 64 << 10;
/// How often the schema of the database is looked at.
const SCHEMA_EVERY: Duration = Duration::from_secs(1);
/// How long requests may go on after the server was told to stop.
const GRACE: Duration = Duration::from_secs(10);

/// A server that listens, and answers while it [runs](Self::run).
///
/// ```
/// use jird_serve::{Server, Settings};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("tasks.db");
/// # let conn = jird_formats::sqlite::open(&path)?;
/// # conn.execute_batch("create table tasks (id integer primary key)")?;
/// let server = Server::bind(Settings::new(path))?;
/// let (address, stopper) = (server.address().tcp().unwrap(), server.stopper());
/// let thread = std::thread::spawn(move || server.run());
/// assert!(std::net::TcpStream::connect(address).is_ok());
/// stopper.stop();
/// thread.join().unwrap()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Server {
    bound: Bound,
    address: Listen,
    syslog: Syslog,
    service: Arc<Service>,
    tls: Option<Arc<RwLock<TlsAcceptor>>>,
    stopper: Stopper,
    is_stopped: watch::Receiver<bool>,
}

/// Stops a server, from any thread.
#[derive(Clone, Debug)]
pub struct Stopper(Arc<watch::Sender<bool>>);

impl Stopper {
    /// Tells the server to stop. It accepts nothing more; requests that it has begun get ten seconds.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

/// Gives a server that runs other tokens and another certificate, for the requests and connections that come from then on.
#[derive(Clone)]
pub struct Reloader {
    /// What the server has goes with it, and not with this.
    service: Weak<Service>,
    tls: Option<Arc<RwLock<TlsAcceptor>>>,
}

impl Reloader {
    /// From now on, requests need one of these tokens, and connections that begin get this certificate. A server that was
    /// started without tokens or without TLS stays so.
    ///
    /// # Errors
    /// As [`Server::bind`]; then everything stays as it was.
    pub fn reload(&self, tokens: Vec<Token>, tls: Option<&Tls>) -> Result<(), Error> {
        token::check(&tokens)?;
        let acceptor = tls.map(tls::acceptor).transpose()?;
        if let (Some(place), Some(acceptor)) = (&self.tls, acceptor) {
            *place.write().unwrap_or_else(PoisonError::into_inner) = acceptor;
        }
        if let (Some(service), false) = (self.service.upgrade(), tokens.is_empty()) {
            service.set_tokens(tokens);
        }
        Ok(())
    }
}

impl Server {
    /// Opens the database, and listens. Connections wait until the server [runs](Self::run).
    ///
    /// # Errors
    /// If the database cannot be opened, if the address is taken, if other machines could reach it and there is no
    /// token, if the token, an origin, the prefix of paths or the certificate is invalid, or if syslog has no store to
    /// go to.
    #[expect(clippy::needless_pass_by_value, reason = "who has made settings is done with them")]
    pub fn bind(settings: Settings) -> Result<Self, Error> {
        // Before the socket is there, if possible.
        check_reach(&settings, &settings.listen)?;
        token::check(&settings.tokens)?;
        settings.cors.iter().try_for_each(|origin| check_origin(origin))?;
        let tls = settings.tls.as_ref().map(tls::acceptor).transpose()?.map(|tls| Arc::new(RwLock::new(tls)));
        let (bound, address) = Bound::bind(&settings.listen)?;
        check_reach(&settings, &address)?;
        let (sender, is_stopped) = watch::channel(false);
        let syslog = Syslog::bind(&settings.syslog)?;
        let counts = (!settings.syslog.is_empty()).then(|| Arc::clone(&syslog.counts));
        let service = Arc::new(Service::new(&settings, &address, is_stopped.clone(), counts)?);
        Ok(Self { bound, address, syslog, service, tls, stopper: Stopper(Arc::new(sender)), is_stopped })
    }

    /// Where it listens: with the port that it got, or, if systemd passed the socket, what that is.
    pub fn address(&self) -> &Listen {
        &self.address
    }

    /// Where it takes messages of syslog, by UDP and TCP, with the ports that it got.
    pub fn syslog(&self) -> &[SocketAddr] {
        self.syslog.addresses()
    }

    /// What gives it other tokens and certificates.
    pub fn reloader(&self) -> Reloader {
        Reloader { service: Arc::downgrade(&self.service), tls: self.tls.clone() }
    }

    /// What stops it.
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Answers requests until it is [stopped](Stopper::stop). It has a thread for each core, and others for queries
    /// that take long.
    ///
    /// # Errors
    /// If the system gives no threads, or if messages of syslog are lost that had come.
    pub fn run(self) -> Result<(), Error> {
        let limits = self.service.limits();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .max_blocking_threads(limits.streams + limits.requests)
            .thread_name("serve")
            .build()
            .map_err(|error| Error::because("starting threads", error))?;
        let service = Arc::clone(&self.service);
        let served = runtime.block_on(self.serve(&runtime));
        // What is left takes no part in anything that counts.
        #[cfg(feature = "query")]
        service.end_queries();
        runtime.shutdown_timeout(Duration::from_secs(1));
        served.and(service.finish())
    }

    async fn serve(self, runtime: &Runtime) -> Result<(), Error> {
        let Self { bound, syslog, service, tls, stopper: _stopper, mut is_stopped, .. } = self;
        let listener = bound.listener().map_err(|error| Error::because("listening", error))?;
        let watch = runtime.spawn(look_at_schema(Arc::clone(&service)));
        let follow = runtime.spawn(follow(Arc::clone(&service)));
        let alerts = runtime.spawn(watch_alerts(Arc::clone(&service)));
        let upkeep = service.upkeep().map(|upkeep| runtime.spawn(look_after_store(upkeep)));
        let syslog = runtime.spawn(syslog.receive(Arc::clone(&service), is_stopped.clone()));
        let limits = service.limits();
        let places = Arc::new(Semaphore::new(limits.connections));
        let strangers = Strangers::default();
        loop {
            let accepted = async {
                let accepted = listener.accept().await;
                if places.available_permits() == 0 {
                    strangers.send_away();
                }
                (Arc::clone(&places).acquire_owned().await, accepted)
            };
            let (place, accepted) = tokio::select! {
                _ = is_stopped.wait_for(|stopped| *stopped) => break,
                accepted = accepted => accepted,
            };
            let (Ok(place), Ok(accepted)) = (place, accepted) else {
                // No more files, or the client is gone already.
                sleep(Duration::from_millis(20)).await;
                continue;
            };
            let guest = Guest {
                service: Arc::clone(&service),
                tls: tls.clone(),
                stranger: strangers.come(),
                is_stopped: is_stopped.clone(),
                _place: place,
            };
            match accepted {
                Accepted::Tcp(socket, peer) => runtime.spawn(guest.served(socket, peer)),
                #[cfg(unix)]
                Accepted::Unix(socket) => runtime.spawn(guest.served(socket, Peer::Unix)),
            };
        }
        drop(listener);
        watch.abort();
        follow.abort();
        alerts.abort();
        upkeep.iter().for_each(JoinHandle::abort);
        let all = u32::try_from(limits.connections).unwrap_or(u32::MAX);
        // Those that take longer are cut.
        let (_, received) = tokio::join!(timeout(GRACE, places.acquire_many(all)), timeout(GRACE, syslog));
        let late = |_| Error::new("syslog messages that had come may be lost: the store was too slow to take them");
        received.map_err(late)?.unwrap_or(Ok(()))
    }
}

/// Refuses to let other machines reach a server that asks for no token.
fn check_reach(settings: &Settings, listen: &Listen) -> Result<(), Error> {
    let is_near = listen.tcp().is_none_or(|address| address.ip().is_loopback());
    if settings.tokens.is_empty() && !is_near {
        return Err(Error::new("a server that other machines can reach needs a token"));
    }
    Ok(())
}

/// A connection, and what it takes of the server until it ends.
struct Guest {
    service: Arc<Service>,
    tls: Option<Arc<RwLock<TlsAcceptor>>>,
    stranger: Arc<Stranger>,
    is_stopped: watch::Receiver<bool>,
    _place: OwnedSemaphorePermit,
}

impl Guest {
    /// Answers requests until the client goes, or is sent away.
    async fn served<S: Client>(mut self, socket: S, peer: Peer) {
        let stranger = Arc::clone(&self.stranger);
        let served = async {
            let stall = self.service.limits().stall;
            let is_http_2 = self.tls.is_none()
                && tokio::select! {
                    begins = timeout(stall, socket.begins_http_2()) => match begins {
                        Ok(begins) => begins,
                        Err(_) => return,
                    },
                    // Nobody has asked for anything yet.
                    _ = self.is_stopped.wait_for(|stopped| *stopped) => return,
                };
            let socket = Patient { socket, stall, sleep: None };
            let tls = self.tls.as_ref().map(|tls| tls.read().unwrap_or_else(PoisonError::into_inner).clone());
            match tls {
                None if is_http_2 => self.answer_http_2(socket, peer).await,
                None => self.answer(socket, peer).await,
                Some(tls) => match timeout(stall, tls.accept(socket)).await {
                    Ok(Ok(socket)) if socket.get_ref().1.alpn_protocol() == Some(HTTP_2) => {
                        self.answer_http_2(socket, peer).await;
                    }
                    Ok(Ok(socket)) => self.answer(socket, peer).await,
                    _ => {}
                },
            }
        };
        tokio::select! {
            () = served => {}
            () = stranger.gone() => {}
        }
    }

    async fn answer(&mut self, socket: impl AsyncRead + AsyncWrite + Unpin, peer: Peer) {
        let Self { service, stranger, is_stopped, .. } = self;
        let stall = service.limits().stall;
        let answer = service_fn(|request| {
            let (service, stranger) = (Arc::clone(service), Arc::clone(stranger));
            async move { Ok::<_, std::convert::Infallible>(service.respond(peer, request, &stranger).await) }
        });
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(stall).max_buf_size(HEAD_BYTES);
        let mut connection = pin!(builder.serve_connection(TokioIo::new(socket), answer));
        // An error is the client's: it sent no HTTP, or it is gone.
        tokio::select! {
            biased;
            _ = connection.as_mut() => return,
            _ = is_stopped.wait_for(|stopped| *stopped) => connection.as_mut().graceful_shutdown(),
        }
        let _ = connection.await;
    }

    /// As [`answer`](Self::answer), with many requests at a time.
    async fn answer_http_2(&mut self, socket: impl AsyncRead + AsyncWrite + Unpin, peer: Peer) {
        let Self { service, stranger, is_stopped, .. } = self;
        let stall = service.limits().stall;
        let exchanges = Exchanges::new();
        let answer = service_fn(|mut request| {
            let (service, stranger, exchange) = (Arc::clone(service), Arc::clone(stranger), exchanges.begin());
            async move {
                name_host(&mut request);
                let response = service.respond(peer, request, &stranger).await;
                Ok::<_, std::convert::Infallible>(response.map(|body| body.exchanged(exchange)))
            }
        });
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.timer(TokioTimer::new()).keep_alive_interval(stall).keep_alive_timeout(stall);
        builder.max_concurrent_streams(STREAMS_MAX).max_send_buf_size(STREAM_BYTES);
        builder.max_header_list_size(HEAD_BYTES as u32);
        let mut connection = pin!(builder.serve_connection(TokioIo::new(socket), answer));
        let mut ticks = interval(stall / 4);
        let (mut is_stopping, mut is_ending) = (false, false);
        loop {
            tokio::select! {
                biased;
                _ = connection.as_mut() => return,
                _ = is_stopped.wait_for(|stopped| *stopped), if !is_stopping => {
                    connection.as_mut().graceful_shutdown();
                    is_stopping = true;
                }
                _ = ticks.tick() => {
                    let is_idle = exchanges.is_idle(stall);
                    if exchanges.is_stuck(stall) || is_idle && is_ending {
                        return;
                    }
                    if is_idle {
                        connection.as_mut().graceful_shutdown();
                        is_ending = true;
                    }
                }
            }
        }
    }
}

/// Puts the host that a request names on HTTP/2 where it is on HTTP/1, and all else looks for it.
fn name_host(request: &mut Request<Incoming>) {
    if let Some(host) = request.uri().authority().and_then(|host| HeaderValue::from_str(host.as_str()).ok()) {
        request.headers_mut().insert(HOST, host);
        let target = request.uri().path_and_query().cloned();
        *request.uri_mut() = target.map_or_else(Uri::default, Uri::from);
    }
}

async fn look_at_schema(service: Arc<Service>) {
    let mut ticks = interval(SCHEMA_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let service = Arc::clone(&service);
        // The next look may find what this one could not.
        let _ = tokio::task::spawn_blocking(move || service.refresh()).await;
    }
}

/// Keeps the store in good order.
async fn look_after_store(upkeep: Arc<Upkeep>) {
    let mut ticks = interval(upkeep::EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let upkeep = Arc::clone(&upkeep);
        // Failures are counted, and the next look tries again.
        let _ = tokio::task::spawn_blocking(move || upkeep.look()).await;
    }
}

async fn watch_alerts(service: Arc<Service>) {
    service.watch_alerts().await;
}

async fn follow(service: Arc<Service>) {
    service.follow().await;
}

/// A socket that ends when its client takes nothing for too long.
struct Patient<S> {
    socket: S,
    stall: Duration,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl<S> Patient<S> {
    fn patience<T>(&mut self, polled: Poll<io::Result<T>>, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.sleep = None;
            return polled;
        }
        let stall = self.stall;
        let waiting = self.sleep.get_or_insert_with(|| Box::pin(sleep(stall)));
        match waiting.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.patience(polled, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.socket).poll_write_vectored(cx, parts);
        self.patience(polled, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.socket).poll_flush(cx);
        self.patience(polled, cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
