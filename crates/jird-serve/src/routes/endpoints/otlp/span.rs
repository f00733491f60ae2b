//! From a span of a trace to an event, with the names that Seq's compact events have for spans.

use super::super::members::Members;
use super::super::time_key::TimeKey;

/// What a span says, each part as JSON; what is empty was not said.
#[derive(Debug, Default)]
pub(super) struct Span {
    /// In nanoseconds since 1970.
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) kind: u64,
    pub(super) status: u64,
    pub(super) status_message: Vec<u8>,
    pub(super) name: Vec<u8>,
    pub(super) trace_state: Vec<u8>,
    /// Digits.
    pub(super) trace_id: Vec<u8>,
    pub(super) id: Vec<u8>,
    pub(super) parent_id: Vec<u8>,
    /// Members of an object, each with a comma after it.
    pub(super) attributes: Vec<u8>,
    /// Elements of arrays, each with a comma after it.
    pub(super) events: Vec<u8>,
    pub(super) links: Vec<u8>,
    pub(super) flags: u64,
    pub(super) dropped_attributes: u64,
    pub(super) dropped_events: u64,
    pub(super) dropped_links: u64,
}

/// Names of the kinds from 1 on.
const KINDS: [&str; 5] = ["Internal", "Server", "Client", "Producer", "Consumer"];
/// Names of the statuses from 1 on.
const STATUSES: [&str; 2] = ["OK", "ERROR"];

impl Span {
    /// Clears the span, and keeps its memory.
    pub(super) fn clear(&mut self) {
        let Self { status_message, name, trace_state, trace_id, id, parent_id, attributes, events, links, .. } = self;
        for text in [status_message, name, trace_state, trace_id, id, parent_id, attributes, events, links] {
            text.clear();
        }
        (self.start, self.end, self.kind, self.status, self.flags) = (0, 0, 0, 0, 0);
        (self.dropped_attributes, self.dropped_events, self.dropped_links) = (0, 0, 0);
    }

    /// Writes the event: its time is that of the span's end. Its last members are those of the context, which each has a comma
    /// before it.
    ///
    /// # Errors
    /// A time is after the year 2262.
    pub(super) fn write(&self, time_key: &TimeKey, context: &[u8], text: &mut Vec<u8>) -> Result<(), &'static str> {
        let mut event = Members::begin(text);
        event.key_time(if self.end == 0 { self.start } else { self.end }, time_key)?;
        let status = name_of(self.status, &STATUSES);
        if status == "ERROR" {
            event.quoted("@l", status.as_bytes());
        }
        event.json("@m", &self.name);
        for (name, digits) in [("@tr", &self.trace_id), ("@sp", &self.id), ("@ps", &self.parent_id)] {
            event.quoted(name, digits);
        }
        event.time("@st", self.start)?;
        event.quoted("@sk", name_of(self.kind, &KINDS).as_bytes());
        if let (1.., Some(elapsed)) = (self.start, self.end.checked_sub(self.start)) {
            event.json("elapsedMs", milliseconds(elapsed).as_bytes());
        }
        event.quoted("statusCode", status.as_bytes());
        event.json("statusMessage", &self.status_message);
        event.json("traceState", &self.trace_state);
        event.number("flags", self.flags);
        event.number("droppedAttributesCount", self.dropped_attributes);
        event.number("droppedEventsCount", self.dropped_events);
        event.number("droppedLinksCount", self.dropped_links);
        event.list("attributes", *b"{}", &self.attributes);
        event.list("events", *b"[]", &self.events);
        event.list("links", *b"[]", &self.links);
        event.end(context);
        Ok(())
    }
}

/// The name of a number from 1 on; nothing for others.
fn name_of(number: u64, names: &[&'static str]) -> &'static str {
    let place = number.checked_sub(1).and_then(|place| usize::try_from(place).ok());
    place.and_then(|place| names.get(place)).copied().unwrap_or_default()
}

/// Nanoseconds as milliseconds, exactly.
fn milliseconds(nanoseconds: u64) -> String {
    let text = format!("{}.{:06}", nanoseconds / 1_000_000, nanoseconds % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// What happened within a span, and a span that belongs to it: an element of a list.
#[derive(Debug, Default)]
pub(super) struct Item<'m> {
    pub(super) time: u64,
    pub(super) name: &'m [u8],
    pub(super) trace_id: &'m [u8],
    pub(super) span_id: &'m [u8],
    pub(super) attributes: &'m [u8],
    pub(super) dropped: u64,
}

impl Item<'_> {
    /// Appends it, with a comma behind it.
    ///
    /// # Errors
    /// Its time is after the year 2262.
    pub(super) fn write(&self, list: &mut Vec<u8>) -> Result<(), &'static str> {
        let mut object = Members::within(list);
        object.time("@t", self.time)?;
        object.json("name", self.name);
        object.quoted("@tr", self.trace_id);
        object.quoted("@sp", self.span_id);
        object.number("droppedAttributesCount", self.dropped);
        object.list("attributes", *b"{}", self.attributes);
        object.end(b"");
        list.push(b',');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn milliseconds_are_exact() {
        for (nanoseconds, wanted) in [
            (0, "0"),
            (1, "0.000001"),
            (1_000_000, "1"),
            (12_340_000, "12.34"),
            (100_000_000, "100"),
            (u64::MAX, "18446744073709.551615"),
        ] {
            assert_eq!(super::milliseconds(nanoseconds), wanted);
        }
    }
}
