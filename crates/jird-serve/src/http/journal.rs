//! The access log, a line of JSON for each request on standard error, and the sums for `/metrics`.

use crate::base::place::Peer;
use crate::request::uri;
use hyper::{Method, StatusCode};
use jird::event::Timestamp;
use jird::hooks::{ObjectWriter, write_object};
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The most lines that wait to be written. If standard error takes no more, lines are lost, and counted, and no request
/// waits.
const WAITING: usize = 4096;

/// Bounds of the histogram of times, in microseconds.
const BOUNDS: [u64; 8] = [100, 500, 1_000, 5_000, 25_000, 100_000, 1_000_000, 10_000_000];

/// Counts requests, and writes their lines.
pub(crate) struct Journal {
    lines: Option<SyncSender<Vec<u8>>>,
    lost: AtomicU64,
    /// Requests by the first digit of their status.
    statuses: [AtomicU64; 6],
    within: [AtomicU64; BOUNDS.len()],
    microseconds: AtomicU64,
    bytes: AtomicU64,
    active: AtomicU64,
    cut: AtomicU64,
}

impl Journal {
    pub(crate) fn new(log: bool) -> Self {
        let lines = log.then(|| {
            let (sender, lines) = sync_channel::<Vec<u8>>(WAITING);
            std::thread::spawn(move || {
                for line in lines {
                    // If standard error is closed, there is no place to report it.
                    let _ = std::io::stderr().write_all(&line);
                }
            });
            sender
        });
        Self {
            lines,
            lost: AtomicU64::new(0),
            statuses: Default::default(),
            within: Default::default(),
            microseconds: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            active: AtomicU64::new(0),
            cut: AtomicU64::new(0),
        }
    }

    /// A request begins.
    pub(crate) fn begin(self: &Arc<Self>, peer: Peer, method: &Method, target: &str) -> Entry {
        self.active.fetch_add(1, Ordering::Relaxed);
        let told = self.lines.is_some().then(|| (method.clone(), uri::without_secrets(target)));
        Entry {
            journal: Arc::clone(self),
            begun: Instant::now(),
            peer,
            told,
            status: gone(),
            bytes: 0,
            is_whole: false,
        }
    }

    /// Writes a line that no request has made, if there is a log: the time, and what `write` adds.
    pub(crate) fn note(&self, write: impl FnOnce(&mut ObjectWriter<'_>)) {
        let Some(lines) = &self.lines else { return };
        let mut line = Vec::new();
        write_object(&mut line, |object| {
            object.member("@t", &now());
            write(object);
        });
        line.push(b'\n');
        if lines.try_send(line).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The sums in Prometheus's text format.
    pub(crate) fn metrics(&self) -> String {
        let mut text = String::new();
        let load = |sum: &AtomicU64| sum.load(Ordering::Relaxed);
        let mut write = |line: std::fmt::Arguments<'_>| text.write_fmt(line).expect("a `String` takes everything");
        write(format_args!("# HELP jird_requests_total Requests that were answered, by class of status.\n"));
        write(format_args!("# TYPE jird_requests_total counter\n"));
        let mut all = 0;
        for (class, sum) in self.statuses.iter().enumerate().skip(1) {
            all += load(sum);
            write(format_args!("jird_requests_total{{status=\"{class}xx\"}} {}\n", load(sum)));
        }
        write(format_args!("# HELP jird_request_seconds Time from a request's head to the end of its answer.\n"));
        write(format_args!("# TYPE jird_request_seconds histogram\n"));
        let mut within = 0;
        for (bound, sum) in BOUNDS.iter().zip(&self.within) {
            within += load(sum);
            let (seconds, micros) = (bound / 1_000_000, bound % 1_000_000);
            write(format_args!("jird_request_seconds_bucket{{le=\"{seconds}.{micros:06}\"}} {within}\n"));
        }
        write(format_args!("jird_request_seconds_bucket{{le=\"+Inf\"}} {all}\n"));
        let micros = load(&self.microseconds);
        write(format_args!("jird_request_seconds_sum {}.{:06}\n", micros / 1_000_000, micros % 1_000_000));
        write(format_args!("jird_request_seconds_count {all}\n"));
        for (name, kind, help, value) in [
            ("jird_response_bytes_total", "counter", "Bytes of bodies of answers.", load(&self.bytes)),
            ("jird_requests_active", "gauge", "Requests that are being answered.", load(&self.active)),
            ("jird_answers_cut_total", "counter", "Answers that did not reach their end.", load(&self.cut)),
            ("jird_log_lines_lost_total", "counter", "Lines of the log that could not be written.", load(&self.lost)),
        ] {
            write(format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n"));
        }
        text
    }
}

/// The status of a request whose client went away before there was an answer. It is nginx's, and no failure of the
/// server.
fn gone() -> StatusCode {
    StatusCode::from_u16(499).unwrap_or(StatusCode::BAD_REQUEST)
}

/// The time, to the millisecond.
fn now() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let at = Timestamp { seconds: now.as_secs() as i64, nanoseconds: now.subsec_millis() * 1_000_000, is_utc: true };
    at.to_string()
}

/// A request, which is logged when this is dropped.
pub(crate) struct Entry {
    journal: Arc<Journal>,
    begun: Instant,
    peer: Peer,
    /// Method and target, if they are to be told.
    told: Option<(Method, String)>,
    pub(crate) status: StatusCode,
    /// Bytes of the answer's body.
    pub(crate) bytes: u64,
    /// The answer reached its end.
    pub(crate) is_whole: bool,
}

impl Entry {
    fn line(&self, method: &Method, target: &str, microseconds: u64) -> Vec<u8> {
        let mut line = Vec::with_capacity(200);
        write_object(&mut line, |object| {
            object.member("@t", &now());
            object.member("method", method.as_str());
            object.member("target", target);
            object.member("status", self.status.as_u16());
            object.member("bytes", self.bytes);
            object.member("microseconds", microseconds);
            object.member("peer", &self.peer.to_string());
            if !self.is_whole {
                object.member("cut", true);
            }
        });
        line.push(b'\n');
        line
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let journal = &self.journal;
        let microseconds = u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        let add = |sum: &AtomicU64, value| sum.fetch_add(value, Ordering::Relaxed);
        journal.active.fetch_sub(1, Ordering::Relaxed);
        add(&journal.statuses[usize::from(self.status.as_u16() / 100).min(5)], 1);
        if let Some(place) = BOUNDS.iter().position(|bound| microseconds <= *bound) {
            add(&journal.within[place], 1);
        }
        add(&journal.microseconds, microseconds);
        add(&journal.bytes, self.bytes);
        add(&journal.cut, u64::from(!self.is_whole));
        if let (Some(lines), Some((method, target))) = (&journal.lines, &self.told)
            && lines.try_send(self.line(method, target, microseconds)).is_err()
        {
            add(&journal.lost, 1);
        }
    }
}
