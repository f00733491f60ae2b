//! From a log record to an event.

use super::super::members::Members;
use super::super::time_key::TimeKey;

/// What a record says, each part as JSON; what is empty was not said.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// When it happened, and when it was seen, in nanoseconds since 1970.
    pub(super) time: u64,
    pub(super) observed: u64,
    pub(super) severity: u64,
    pub(super) level: Vec<u8>,
    pub(super) body: Vec<u8>,
    /// Members of an object, each with a comma after it.
    pub(super) attributes: Vec<u8>,
    pub(super) dropped: u64,
    pub(super) flags: u64,
    /// Digits.
    pub(super) trace_id: Vec<u8>,
    pub(super) span_id: Vec<u8>,
    pub(super) name: Vec<u8>,
}

/// Names of the numbers 1 to 24, each for four of them.
const LEVELS: [&str; 6] = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"];

impl Record {
    /// Clears the record, and keeps its memory.
    pub(super) fn clear(&mut self) {
        let Self { level, body, attributes, trace_id, span_id, name, .. } = self;
        for text in [level, body, attributes, trace_id, span_id, name] {
            text.clear();
        }
        (self.time, self.observed, self.severity, self.dropped, self.flags) = (0, 0, 0, 0, 0);
    }

    /// Writes the event; its last members are those of the context, which each has a comma before it.
    ///
    /// # Errors
    /// The time is after the year 2262.
    pub(super) fn write(&self, time_key: &TimeKey, context: &[u8], text: &mut Vec<u8>) -> Result<(), &'static str> {
        let mut event = Members::begin(text);
        event.key_time(if self.time == 0 { self.observed } else { self.time }, time_key)?;
        match self.severity_name() {
            Some(level) if self.level.is_empty() => event.quoted("@l", level.as_bytes()),
            _ => event.json("@l", &self.level),
        }
        // A body that is not text is not a message.
        event.json(if self.body.starts_with(b"\"") { "@m" } else { "body" }, &self.body);
        event.quoted("@tr", &self.trace_id);
        event.quoted("@sp", &self.span_id);
        event.json("eventName", &self.name);
        event.number("severityNumber", self.severity);
        event.number("flags", self.flags);
        event.number("droppedAttributesCount", self.dropped);
        event.list("attributes", *b"{}", &self.attributes);
        event.end(context);
        Ok(())
    }

    fn severity_name(&self) -> Option<String> {
        let place = usize::try_from(self.severity.checked_sub(1)?).ok()?;
        let name = LEVELS.get(place / 4)?;
        Some(if place % 4 == 0 { (*name).to_owned() } else { format!("{name}{}", place % 4 + 1) })
    }
}
