//! What OpenTelemetry sends: records of logs, and spans of traces. Both come in requests of the same shape.

use super::super::time_key::TimeKey;
use super::record::Record;
use super::span::Span;
use super::{json, protobuf};
use jird::Value;

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

    /// Reads a message of Protocol Buffers.
    fn read(&mut self, raw: &[u8]) -> Result<(), Wrong>;

    /// Reads an object.
    fn read_json(&mut self, object: Value<'_>) -> Result<(), Wrong>;

    fn clear(&mut self);

    /// Writes the event.
    fn write(&self, time_key: &TimeKey, context: &[u8], text: &mut Vec<u8>) -> Result<(), Wrong>;
}

impl Signal for Record {
    const REQUEST: &str = "ExportLogsServiceRequest";
    const ONE: &str = "record";
    const NAMES: [&str; 4] = ["resourceLogs", "scopeLogs", "logRecords", "rejectedLogRecords"];

    fn read(&mut self, raw: &[u8]) -> Result<(), Wrong> {
        protobuf::read_record(raw, self)
    }

    fn read_json(&mut self, object: Value<'_>) -> Result<(), Wrong> {
        json::read_record(object, self)
    }

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

    fn read(&mut self, raw: &[u8]) -> Result<(), Wrong> {
        protobuf::read_span(raw, self)
    }

    fn read_json(&mut self, object: Value<'_>) -> Result<(), Wrong> {
        json::read_span(object, self)
    }

    fn clear(&mut self) {
        self.clear();
    }

    fn write(&self, time_key: &TimeKey, context: &[u8], text: &mut Vec<u8>) -> Result<(), Wrong> {
        self.write(time_key, context, text)
    }
}
