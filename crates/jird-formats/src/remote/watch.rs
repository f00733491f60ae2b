//! Watches the requests of all stores: what they may cost, how long a server may be silent, and whether an answer is what
//! was asked for.
//!
//! The crate `object_store` checks the first answer to a request for a range. When an answer breaks off, it asks for the
//! rest, and takes what then comes for that rest: a server that ignores ranges would send the start once more. So every
//! answer is checked here.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_RANGE, HeaderMap, HeaderValue, RANGE};
use http::{Method, StatusCode};
use http_body::{Body, Frame, SizeHint};
use object_store::client::{
    ClientOptions, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService, ReqwestConnector,
};
use std::fmt;
use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Sleep, sleep, timeout};

/// A server that sends fewer bytes than this within the patience is given up. Without it, one that sends a byte now and
/// then would be waited for without end.
const BYTES_MIN: u64 = 16 << 10;

/// The most bytes of an answer that is not an object: a page of a listing, an error, a credential.
const ANSWER_BYTES_MAX: u64 = 16 << 20;

/// What requests may cost.
#[derive(Debug)]
pub(super) struct Limits {
    budget: Option<u64>,
    pub(super) patience: Duration,
    /// What was fetched, and what is asked for and still to come.
    fetched: AtomicU64,
}

impl Limits {
    pub(super) fn new(budget: Option<u64>, patience: Duration) -> Self {
        Self { budget, patience, fetched: AtomicU64::new(0) }
    }

    pub(super) fn fetched(&self) -> u64 {
        self.fetched.load(Relaxed)
    }

    /// Whether this many more bytes are within the budget.
    pub(super) fn allow(&self, bytes: u64) -> bool {
        self.budget.is_none_or(|budget| self.fetched().saturating_add(bytes) <= budget)
    }

    /// Takes this many bytes of the budget, before they are fetched.
    fn take(&self, bytes: u64) -> Result<(), HttpError> {
        let before = self.fetched.fetch_add(bytes, Relaxed);
        match self.budget {
            Some(budget) if before.saturating_add(bytes) > budget => {
                self.fetched.fetch_sub(bytes, Relaxed);
                Err(HttpError::new(HttpErrorKind::Unknown, Refusal::Budget(budget)))
            }
            _ => Ok(()),
        }
    }

    /// Gives back what did not come.
    fn give_back(&self, bytes: u64) {
        self.fetched.fetch_sub(bytes, Relaxed);
    }
}

/// Why a request, or an answer, is refused here.
#[derive(Clone, Debug)]
pub(super) enum Refusal {
    Budget(u64),
    /// The server is silent, or almost.
    Stalled(Duration),
    /// The answer is the whole object, and not the range.
    NoRanges,
    /// The answer is another range than the one that was asked for.
    OtherRange {
        asked: Range<u64>,
        got: String,
    },
    /// The answer is longer than it says.
    TooLong,
    CutOff {
        expected: u64,
        got: u64,
    },
    /// Nothing in the environment has credentials, and no service of the machine gives any.
    NoCredentials,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Budget(budget) => write!(
                f,
                "more would be fetched than the budget of {budget} bytes allows; a larger --remote-budget reads on"
            ),
            Self::Stalled(patience) => write!(
                f,
                "the server sends nothing, or almost nothing, for {} s; a longer --remote-patience waits for it",
                patience.as_secs_f32()
            ),
            Self::NoRanges => f.write_str("the server sends the whole file where a part of it was asked for"),
            Self::OtherRange { asked, got } => write!(
                f,
                "the server was asked for the bytes {}-{} and sends {got}: what it sends cannot be trusted",
                asked.start,
                asked.end.saturating_sub(1)
            ),
            Self::TooLong => {
                f.write_str("the server sends more than it was asked for: what it sends cannot be trusted")
            }
            Self::CutOff { expected, got } => {
                write!(f, "the answer of the server breaks off after {got} of {expected} bytes; try again")
            }
            Self::NoCredentials => f.write_str("there are no credentials"),
        }
    }
}

impl std::error::Error for Refusal {}

/// Makes clients whose requests are watched.
#[derive(Clone, Debug)]
pub(super) struct Connector(Arc<Limits>);

impl Connector {
    pub(super) fn new(limits: &Arc<Limits>) -> Self {
        Self(Arc::clone(limits))
    }
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        // A slow line is not a reason to give up, as long as something comes.
        let client = ReqwestConnector::default().connect(&options.clone().with_timeout_disabled())?;
        Ok(HttpClient::new(Watched { client, limits: Arc::clone(&self.0) }))
    }
}

#[derive(Debug)]
struct Watched {
    client: HttpClient,
    limits: Arc<Limits>,
}

#[async_trait::async_trait]
impl HttpService for Watched {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let asked = range_of(request.headers());
        let is_object = request.method() == Method::GET && asked.is_some();
        let is_credential = request.uri().host().is_some_and(gives_credentials);
        let reserved = asked.as_ref().map_or(0, |asked| asked.end - asked.start);
        self.limits.take(reserved)?;
        let mut account = Account { limits: Arc::clone(&self.limits), reserved, got: 0 };
        let answer = match timeout(self.limits.patience, self.client.execute(request)).await {
            Ok(Ok(answer)) if !(is_credential && answer.status().is_client_error()) => answer,
            _ if is_credential => return Err(HttpError::new(HttpErrorKind::Unknown, Refusal::NoCredentials)),
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => return Err(error),
            Err(_) => {
                return Err(HttpError::new(HttpErrorKind::Timeout, Refusal::Stalled(self.limits.patience)));
            }
        };
        let (parts, body) = answer.into_parts();
        let mut expected = length_of(&parts.headers);
        if is_object && parts.status.is_success() {
            let asked = asked.unwrap_or_default();
            let got = checked_range(&asked, parts.status, &parts.headers)
                .map_err(|refused| HttpError::new(HttpErrorKind::Unknown, refused))?;
            expected = Some(got.end - got.start);
        } else {
            // What comes is counted when it comes.
            account.settle();
        }
        let most = expected.unwrap_or(ANSWER_BYTES_MAX);
        let patience = Box::pin(sleep(self.limits.patience));
        let body = WatchedBody { body, account, expected, most, window: 0, patience };
        Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(body)))
    }
}

/// Whether a host is one that gives credentials to the programs of its machine.
fn gives_credentials(host: &str) -> bool {
    matches!(host, "169.254.169.254" | "169.254.170.2" | "metadata.google.internal" | "metadata")
}

/// The range that a request asks for, if it says both of its ends.
fn range_of(headers: &HeaderMap) -> Option<Range<u64>> {
    let range = headers.get(RANGE)?.to_str().ok()?.strip_prefix("bytes=")?;
    let (start, last) = range.split_once('-')?;
    let (start, last) = (start.parse::<u64>().ok()?, last.parse::<u64>().ok()?);
    (start <= last).then_some(start..last.saturating_add(1))
}

fn length_of(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// The range that an answer has, if it is the one that was asked for, or what the object has of it.
fn checked_range(asked: &Range<u64>, status: StatusCode, headers: &HeaderMap) -> Result<Range<u64>, Refusal> {
    if status != StatusCode::PARTIAL_CONTENT {
        return Err(Refusal::NoRanges);
    }
    let text = headers.get(CONTENT_RANGE).map(HeaderValue::to_str).and_then(Result::ok).unwrap_or("no range");
    let got = text.strip_prefix("bytes ").and_then(|text| {
        let (range, size) = text.split_once('/')?;
        let (start, last) = range.split_once('-')?;
        Some((start.parse().ok()?..last.parse::<u64>().ok()?.checked_add(1)?, size.parse::<u64>().ok()?))
    });
    match got {
        Some((got, size)) if got.start == asked.start && got.end == asked.end.min(size) && got.start < got.end => {
            Ok(got)
        }
        _ => Err(Refusal::OtherRange { asked: asked.clone(), got: text.to_owned() }),
    }
}

/// What a request has taken of the budget. What does not come is given back in the end.
#[derive(Debug)]
struct Account {
    limits: Arc<Limits>,
    reserved: u64,
    got: u64,
}

impl Account {
    /// Gives back what was reserved: what comes is paid for one by one.
    fn settle(&mut self) {
        self.limits.give_back(std::mem::take(&mut self.reserved));
    }

    /// This many bytes came.
    fn pay(&mut self, bytes: u64) -> Result<(), HttpError> {
        if self.reserved == 0 {
            return self.limits.take(bytes);
        }
        self.got += bytes;
        Ok(())
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.limits.give_back(self.reserved.saturating_sub(self.got));
    }
}

/// The body of an answer. It ends with an error if it is longer or shorter than it should be, or comes too slowly.
#[derive(Debug)]
struct WatchedBody {
    body: HttpResponseBody,
    account: Account,
    /// How many bytes are still to come, if that is known.
    expected: Option<u64>,
    /// How many more may come.
    most: u64,
    /// How many came since the patience began.
    window: u64,
    patience: Pin<Box<Sleep>>,
}

impl WatchedBody {
    fn seen(&mut self, bytes: u64) -> Result<(), HttpError> {
        self.window += bytes;
        self.account.pay(bytes)?;
        self.most =
            self.most.checked_sub(bytes).ok_or_else(|| HttpError::new(HttpErrorKind::Unknown, Refusal::TooLong))?;
        self.expected = self.expected.map(|expected| expected.saturating_sub(bytes));
        Ok(())
    }

    /// The end of the body.
    fn end(&self) -> Result<(), HttpError> {
        match self.expected {
            Some(missing) if missing > 0 => {
                let expected = self.account.got + missing;
                let cut = Refusal::CutOff { expected, got: self.account.got };
                Err(HttpError::new(HttpErrorKind::Interrupted, cut))
            }
            _ => Ok(()),
        }
    }
}

impl Body for WatchedBody {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let this = self.get_mut();
        match Pin::new(&mut this.body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => {
                let bytes = frame.data_ref().map_or(0, |data| data.len() as u64);
                Poll::Ready(Some(this.seen(bytes).map(|()| frame)))
            }
            Poll::Ready(None) => Poll::Ready(this.end().err().map(Err)),
            Poll::Ready(Some(Err(error))) => Poll::Ready(Some(Err(error))),
            Poll::Pending => {
                while this.patience.as_mut().poll(context).is_ready() {
                    let patience = this.account.limits.patience;
                    if this.window < BYTES_MIN {
                        let stalled = HttpError::new(HttpErrorKind::Timeout, Refusal::Stalled(patience));
                        return Poll::Ready(Some(Err(stalled)));
                    }
                    this.window = 0;
                    this.patience = Box::pin(sleep(patience));
                }
                Poll::Pending
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream() && self.expected.is_none_or(|missing| missing == 0)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
