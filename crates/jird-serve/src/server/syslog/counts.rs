//! What came by syslog, counted for `/metrics`.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Sums since the server began. Every message that is received is refused, is dropped, or becomes an event.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    received: AtomicU64,
    refused: AtomicU64,
    dropped: AtomicU64,
    connections: AtomicU64,
    turned_away: AtomicU64,
}

/// A connection that is open, until it is dropped.
#[derive(Debug)]
pub(super) struct Open<'c>(&'c Counts);

impl Counts {
    pub(super) fn receive(&self, messages: u64) {
        self.received.fetch_add(messages, Relaxed);
    }

    pub(super) fn refuse(&self, messages: u64) {
        self.refused.fetch_add(messages, Relaxed);
    }

    pub(super) fn lose(&self, messages: u64) {
        self.dropped.fetch_add(messages, Relaxed);
    }

    pub(super) fn turn_away(&self) {
        self.turned_away.fetch_add(1, Relaxed);
    }

    pub(super) fn open(&self) -> Open<'_> {
        self.connections.fetch_add(1, Relaxed);
        Open(self)
    }

    /// Appends the sums in Prometheus's text format.
    pub(crate) fn metrics(&self, text: &mut String) {
        for (name, kind, help, sum) in [
            ("received_total", "counter", "Messages that came by syslog.", &self.received),
            ("refused_total", "counter", "Those of them that were too long, or cut off.", &self.refused),
            ("dropped_total", "counter", "Those of them that there was no room for.", &self.dropped),
            ("connections_active", "gauge", "Connections of syslog.", &self.connections),
            (
                "connections_refused_total",
                "counter",
                "Connections of syslog that were closed because there were too many.",
                &self.turned_away,
            ),
        ] {
            let (name, value) = (format_args!("jird_syslog_{name}"), sum.load(Relaxed));
            writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}")
                .expect("a `String` takes everything");
        }
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Relaxed);
    }
}
