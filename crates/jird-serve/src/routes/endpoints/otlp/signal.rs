//! What OpenTelemetry sends: records of logs, and spans of traces. Both come in requests of the same shape.

use super::super::time_key::TimeKey;
use super::record::Record;
use super::span::Span;

/// What is wrong with a record or a span.
pub(super) type Wrong = &'static str;

/// One of the things that are sent, which is read again and again into the same memory.
pub(super) trait Signal: Default {
    /// The name of the request.
    const REQUEST: &str;
    /// What one of them is called.
    const ONE: &str;
    /// The names in JSON: the list of resources, of scopes, and of what is sent; and how many were refused.
    const NAMES: [&str; 4];

    fn clear(&mut self);

    /// Writes the event.
    fn write(&self, time_key: &TimeKey, context: &[u8], text: &mut Vec<u8>) -> Result<(), Wrong>;
}

impl Signal for Record {
    const REQUEST: &str = "ExportLogsServiceRequest";
    const ONE: &str = "record";
    const NAMES: [&str; 4] = ["resourceLogs", "scopeLogs", "logRecords", "rejectedLogRecords"];

    fn clear(&mut self) {
        self.clear();
    }

    fn write(&self, time_key: &TimeKey, context: &[u8], text: &mut Vec<u8>) -> Result<(), Wrong> {
        self.write(time_key, context, text)
    }
}

impl Signal for Span {
    const REQUEST: &str = "ExportTraceServiceRequest";
    const ONE: &str = "span";
    const NAMES: [&str; 4] = ["resourceSpans", "scopeSpans", "spans", "rejectedSpans"];

    fn clear(&mut self) {
        self.clear();
    }

    fn write(&self, time_key: &TimeKey, context: &[u8], text: &mut Vec<u8>) -> Result<(), Wrong> {
        self.write(time_key, context, text)
    }
}
