//! Bodies: those of answers, and those of requests, which come in whole and within limits.

use crate::base::problem::Problem;
use crate::base::settings::Limits;
use crate::http::exchange::Exchange;
use crate::http::journal::Entry;
use bytes::Bytes;
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use http_body::{Body as _, Frame, SizeHint};
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::header::HeaderMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::timeout;

/// The body of an answer.
pub(crate) struct Body {
    content: Content,
    /// The request, and its place among those that are being answered.
    entry: Option<(Entry, Option<OwnedSemaphorePermit>)>,
    /// On an HTTP/2 connection.
    exchange: Option<Arc<Exchange>>,
}

/// What became of a request, if the status of the answer does not say it: that of gRPC is always 200.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome(pub(crate) StatusCode);

enum Content {
    Whole(Bytes),
    /// With trailers behind it.
    Trailed(Bytes, Option<HeaderMap>),
    Stream {
        chunks: mpsc::Receiver<Chunk>,
        /// Of the last chunk.
        rest: Bytes,
        _give_up: GiveUp,
    },
}

/// A part of a body, or that there will not be more of it.
pub(crate) type Chunk = Result<Bytes, Truncated>;

/// The answer cannot reach its end.
#[derive(Debug)]
pub(crate) struct Truncated;

impl fmt::Display for Truncated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the answer cannot reach its end")
    }
}

impl std::error::Error for Truncated {}

/// When dropped, tells the producer of the answer that it is no longer wanted.
pub(crate) struct GiveUp(Box<dyn Fn() + Send + Sync>);

impl GiveUp {
    pub(crate) fn new(tell: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Box::new(tell))
    }
}

impl Drop for GiveUp {
    fn drop(&mut self) {
        (self.0)();
    }
}

impl Body {
    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self::of(Content::Whole(bytes.into()))
    }

    pub(crate) fn trailed(bytes: impl Into<Bytes>, trailers: HeaderMap) -> Self {
        Self::of(Content::Trailed(bytes.into(), Some(trailers)))
    }

    pub(crate) fn stream(chunks: mpsc::Receiver<Chunk>, give_up: GiveUp) -> Self {
        Self::of(Content::Stream { chunks, rest: Bytes::new(), _give_up: give_up })
    }

    fn of(content: Content) -> Self {
        Self { content, entry: None, exchange: None }
    }

    /// The body as the answer of an exchange.
    pub(crate) fn exchanged(mut self, exchange: Arc<Exchange>) -> Self {
        exchange.give();
        self.exchange = Some(exchange);
        self
    }

    /// The body with the log entry to write at its end, and with the place that is free again then. `is_unsent`: the
    /// answer has no body but would have one, as for `HEAD`.
    pub(crate) fn entered(mut self, mut entry: Entry, place: Option<OwnedSemaphorePermit>, is_unsent: bool) -> Self {
        entry.is_whole = is_unsent || matches!(&self.content, Content::Whole(bytes) if bytes.is_empty());
        self.entry = Some((entry, place));
        self
    }
}

/// The most bytes that an HTTP/2 connection gets at once; it is the size of its frames, too.
const PIECE_BYTES: usize = 16 << 10;

/// Takes the first bytes, at most this many.
fn piece(bytes: &mut Bytes, most: usize) -> Bytes {
    bytes.split_to(bytes.len().min(most))
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Truncated;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Truncated>>> {
        self.exchange.iter().for_each(|exchange| exchange.ask());
        // An HTTP/2 connection keeps what it gets until the client has room for it.
        let most = if self.exchange.is_some() { PIECE_BYTES } else { usize::MAX };
        let (frame, is_last) = match &mut self.content {
            Content::Whole(bytes) if bytes.is_empty() => (None, true),
            Content::Whole(bytes) => {
                let piece = piece(bytes, most);
                (Some(Ok(Frame::data(piece))), bytes.is_empty())
            }
            Content::Trailed(bytes, trailers) if bytes.is_empty() => {
                (trailers.take().map(|trailers| Ok(Frame::trailers(trailers))), true)
            }
            Content::Trailed(bytes, _) => (Some(Ok(Frame::data(piece(bytes, most)))), false),
            Content::Stream { rest, .. } if !rest.is_empty() => (Some(Ok(Frame::data(piece(rest, most)))), false),
            Content::Stream { chunks, rest, .. } => {
                let chunk = ready!(chunks.poll_recv(cx));
                let is_last = chunk.is_none();
                let first = |chunk| {
                    *rest = chunk;
                    Frame::data(piece(rest, most))
                };
                (chunk.map(|chunk| chunk.map(first)), is_last)
            }
        };
        self.exchange.iter().for_each(|exchange| exchange.give());
        if let Some((entry, _)) = &mut self.entry {
            entry.is_whole = is_last;
            if let Some(bytes) = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref()) {
                entry.bytes += bytes.len() as u64;
            }
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.content, Content::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::Trailed(..) | Content::Stream { .. } => SizeHint::default(),
        }
    }
}

/// A request's body, and the room that it takes.
pub(crate) struct Received {
    pub(crate) bytes: Vec<u8>,
    room: Vec<OwnedSemaphorePermit>,
}

impl Received {
    /// Takes room for more, in units.
    ///
    /// # Errors
    /// 503 if the bodies of other requests take all the room.
    pub(crate) fn take_room(&mut self, rooms: &Arc<Semaphore>, units: usize) -> Result<(), Problem> {
        let permit = Arc::clone(rooms).try_acquire_many_owned(units as u32);
        self.room.push(permit.map_err(|_| Problem::busy("there is no room for the body now"))?);
        Ok(())
    }
}

/// The longest time for the rest of a body that is not wanted.
const PASS_OVER: Duration = Duration::from_secs(5);

/// The unit in which room for bodies is given.
pub(crate) const ROOM: usize = 16 << 10;

/// Receives a body.
///
/// # Errors
/// 413 if it is too long, 408 if it takes too long, 503 if the bodies of other requests take all the room, 400 if it
/// ends early.
pub(crate) async fn receive(mut body: Incoming, limits: &Limits, rooms: &Arc<Semaphore>) -> Result<Received, Problem> {
    receive_from(&mut body, limits, rooms).await
}

/// As [`receive`], and what is not received can be [passed over](pass_over).
pub(crate) async fn receive_from(
    body: &mut Incoming,
    limits: &Limits,
    rooms: &Arc<Semaphore>,
) -> Result<Received, Problem> {
    let too_long = || {
        let detail = format!("a body has at most {} bytes here", limits.body_bytes);
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail)
    };
    if body.size_hint().lower() > limits.body_bytes as u64 {
        return Err(too_long());
    }
    let mut received = Received { bytes: Vec::new(), room: Vec::new() };
    let mut room = 0;
    let all = async {
        while let Some(frame) = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await {
            let frame = frame.map_err(|error| Problem::bad(format!("the body did not come whole: {error}")))?;
            let Ok(bytes) = frame.into_data() else { continue };
            let len = received.bytes.len() + bytes.len();
            if len > limits.body_bytes {
                return Err(too_long());
            }
            if len > room {
                let units = (len - room).div_ceil(ROOM);
                received.take_room(rooms, units)?;
                room += units * ROOM;
            }
            received.bytes.extend_from_slice(&bytes);
        }
        Ok(())
    };
    timeout(limits.time, all)
        .await
        .map_err(|_| Problem::new(StatusCode::REQUEST_TIMEOUT, "the body took too long to arrive"))??;
    Ok(received)
}

/// Takes the rest of a body that is not wanted, up to the limit of a body. A client that is still sending when its
/// connection is closed may not see the answer.
pub(crate) async fn pass_over(body: &mut Incoming, limits: &Limits) {
    let mut rest = limits.body_bytes;
    let all = async {
        while let Some(Ok(frame)) = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await {
            let Some(less) = rest.checked_sub(frame.data_ref().map_or(0, Bytes::len)) else { return };
            rest = less;
        }
    };
    // A client that sends too slowly is cut off.
    let _ = timeout(PASS_OVER, all).await;
}
