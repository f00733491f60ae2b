//! From a log record to an event.

use super::super::taken::write;
use super::super::time_key::TimeKey;
use jird::event::Numeral;
use jird::hooks::{base64, write_string};
use jird_store::time;

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
        text.clear();
        text.push(b'{');
        let time = if self.time == 0 { self.observed } else { self.time };
        if time != 0 {
            let time = i64::try_from(time).map_err(|_| "its time is after the year 2262")?;
            time_key.write(format!("\"{}\"", time::to_wide_text(time)).as_bytes(), text);
        }
        let mut member = |name: &str, parts: [&[u8]; 3]| {
            text.extend_from_slice(if text.len() == 1 { b"\"" } else { b",\"" });
            text.extend_from_slice(name.as_bytes());
            text.extend_from_slice(b"\":");
            parts.iter().for_each(|part| text.extend_from_slice(part));
        };
        if !self.level.is_empty() {
            member("@l", [b"", &self.level, b""]);
        } else if let Some(level) = self.severity_name() {
            member("@l", [b"\"", level.as_bytes(), b"\""]);
        }
        // A body that is not text is not a message.
        if !self.body.is_empty() {
            member(if self.body.starts_with(b"\"") { "@m" } else { "body" }, [b"", &self.body, b""]);
        }
        for (name, digits) in [("@tr", &self.trace_id), ("@sp", &self.span_id)] {
            if !digits.is_empty() {
                member(name, [b"\"", digits, b"\""]);
            }
        }
        if !self.name.is_empty() {
            member("eventName", [b"", &self.name, b""]);
        }
        for (name, number) in
            [("severityNumber", self.severity), ("flags", self.flags), ("droppedAttributesCount", self.dropped)]
        {
            if number != 0 {
                member(name, [b"", number.to_string().as_bytes(), b""]);
            }
        }
        if !self.attributes.is_empty() {
            member("attributes", [b"{", without_comma(&self.attributes), b"}"]);
        }
        let context = if text.len() == 1 { context.get(1..).unwrap_or_default() } else { context };
        text.extend_from_slice(context);
        text.push(b'}');
        Ok(())
    }

    fn severity_name(&self) -> Option<String> {
        let place = usize::try_from(self.severity.checked_sub(1)?).ok()?;
        let name = LEVELS.get(place / 4)?;
        Some(if place % 4 == 0 { (*name).to_owned() } else { format!("{name}{}", place % 4 + 1) })
    }
}

/// Ends a container in the place of a last comma.
pub(super) fn close(bracket: u8, text: &mut Vec<u8>) {
    if text.last() == Some(&b',') {
        text.pop();
    }
    text.push(bracket);
}

/// Members without the comma after the last one.
fn without_comma(members: &[u8]) -> &[u8] {
    members.strip_suffix(b",").unwrap_or(members)
}

/// Appends what concerns many records: `,"resource":{…}`, with the schema if it has one.
pub(super) fn write_resource(attributes: &[u8], context: &mut Vec<u8>) {
    if !attributes.is_empty() {
        context.extend_from_slice(b",\"resource\":{");
        context.extend_from_slice(without_comma(attributes));
        context.push(b'}');
    }
}

/// Appends `,"scope":{"name":…,"version":…,"attributes":{…}}`. Name and version are JSON, and may be empty.
pub(super) fn write_scope(name: &[u8], version: &[u8], attributes: &[u8], context: &mut Vec<u8>) {
    let start = context.len();
    context.extend_from_slice(b",\"scope\":{");
    for (key, value) in [("name", name), ("version", version)] {
        if !value.is_empty() {
            write(context, format_args!("\"{key}\":"));
            context.extend_from_slice(value);
            context.push(b',');
        }
    }
    if !attributes.is_empty() {
        context.extend_from_slice(b"\"attributes\":{");
        context.extend_from_slice(without_comma(attributes));
        context.extend_from_slice(b"},");
    }
    if context.last() == Some(&b',') {
        context.pop();
        context.push(b'}');
    } else {
        context.truncate(start);
    }
}

/// Appends a double. What JSON has no number for is a text.
pub(super) fn write_double(value: f64, text: &mut Vec<u8>) {
    if value.is_finite() {
        Numeral::F64(value).write(text);
    } else if value.is_nan() {
        text.extend_from_slice(b"\"NaN\"");
    } else {
        text.extend_from_slice(if value > 0.0 { b"\"Infinity\"" } else { b"\"-Infinity\"" });
    }
}

/// Appends bytes as base64.
pub(super) fn write_base64(bytes: &[u8], text: &mut Vec<u8>) {
    write_string(&base64(bytes), text);
}
