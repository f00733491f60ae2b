//! Syslog: a message becomes an event.
//!
//! In come the bytes of one message, as a datagram or a frame has them, and the time of their arrival. Out comes an event in
//! JSON: time, level and text under the names of compact events, then what the message says of itself.
//!
//! No message is refused. What is neither RFC 5424 nor one of the forms of RFC 3164 is an event whose text is all that stands
//! after the priority; its time is that of its arrival. The event keeps every byte except the punctuation of the head.

mod bsd;
mod data;
mod ietf;

use super::members::Members;
use super::time_key::TimeKey;
use crate::base::error::Error;
use data::Element;
use jird::record::Step;
use jird_store::Settings;
use syslog_loose::{SyslogFacility, SyslogSeverity, decompose_pri};

/// The greatest priority: facility 23, severity 7.
const PRIORITY_MAX: u8 = 191;
/// The longest name of a program before a colon, in a message that has no other head. RFC 3164 allows 32.
const TAG_BYTES_MAX: usize = 48;
/// Names of levels, by severity.
const LEVELS: [&str; 8] = ["Fatal", "Fatal", "Fatal", "Error", "Warning", "Information", "Information", "Debug"];

/// The names of members, but for that of the time.
const MEMBERS: [&str; 9] = ["@l", "@m", "facility", "severity", "host", "app", "procid", "msgid", "sd"];

/// # Errors
/// If a store has its times where events of messages have something else.
pub(crate) fn check(settings: &Settings) -> Result<(), Error> {
    match settings.time_field.steps().first() {
        Some(Step::Key(key)) if MEMBERS.contains(&&**key) => Err(Error::new(format!(
            "syslog: the store has the times of its events in {key:?}, which is another member of a message's event: take \
             a store with another --time-field"
        ))),
        _ => Ok(()),
    }
}

/// Makes events for a store.
pub(crate) struct Events {
    time_key: TimeKey,
}

/// What a message says, after its priority. What it does not say, or says is nil, is `None`.
#[derive(Debug, Default)]
struct SyslogMessage<'m> {
    /// Nanoseconds since 1970.
    time: Option<i64>,
    host: Option<&'m str>,
    app: Option<&'m str>,
    procid: Option<&'m str>,
    msgid: Option<&'m str>,
    data: Vec<Element<'m>>,
    text: &'m str,
}

impl Events {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self { time_key: TimeKey::new(settings) }
    }

    /// Writes the event of a message that came at a time, in nanoseconds since 1970. It replaces what `text` holds.
    pub(crate) fn write(&self, message: &[u8], arrival: i64, text: &mut Vec<u8>) {
        let message = String::from_utf8_lossy(trimmed(message));
        let (priority, rest) = priority(&message).unzip();
        let rest = rest.unwrap_or(&message);
        let said = read(rest, priority.is_some(), arrival);
        let (facility, severity) = priority.map_or((None, None), decompose_pri);
        let mut event = Members::begin(text);
        event.key_instant(said.time.unwrap_or(arrival), &self.time_key);
        if let Some(level) = severity.and_then(|severity| LEVELS.get(severity as usize)) {
            event.quoted("@l", level.as_bytes());
        }
        event.text("@m", said.text.strip_prefix('\u{feff}').unwrap_or(said.text));
        event.quoted("facility", facility.map_or("", SyslogFacility::as_str).as_bytes());
        event.quoted("severity", severity.map_or("", SyslogSeverity::as_str).as_bytes());
        for (name, value) in [("host", said.host), ("app", said.app), ("procid", said.procid), ("msgid", said.msgid)] {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                event.text(name, value);
            }
        }
        if !said.data.is_empty() {
            let mut json = Vec::new();
            data::write(&said.data, &mut json);
            event.json("sd", &json);
        }
        event.end(b"");
    }
}

/// A message without the line feeds, carriage returns and NULs that clients put at its end.
pub(crate) fn trimmed(message: &[u8]) -> &[u8] {
    let end = message.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r' | 0));
    &message[..end.map_or(0, |last| last + 1)]
}

/// `<13>`, and what comes after it.
fn priority(message: &str) -> Option<(u8, &str)> {
    let (digits, rest) = message.strip_prefix('<')?.split_once('>')?;
    let is_number = digits.len() <= 3 && digits.bytes().all(|digit| digit.is_ascii_digit());
    let priority = digits.parse().ok().filter(|priority| is_number && *priority <= PRIORITY_MAX)?;
    Some((priority, rest))
}

fn read(text: &str, has_priority: bool, arrival: i64) -> SyslogMessage<'_> {
    // The parser of the older forms would take it for a priority.
    let is_known = !text.starts_with('<');
    let known = if is_known { ietf::read(text).or_else(|| bsd::read(text, has_priority, arrival)) } else { None };
    known.unwrap_or_else(|| plain(text, has_priority))
}

/// A message without a head, as Python's `SysLogHandler` sends it: `<14>shop: ready` and `<14>shop[7]: ready` name a program.
fn plain(text: &str, has_priority: bool) -> SyslogMessage<'_> {
    let tag = || {
        let (tag, text) = text.split_once(": ").filter(|_| has_priority)?;
        let (app, procid) = match tag.strip_suffix(']').and_then(|tag| tag.split_once('[')) {
            Some((app, procid)) => (app, Some(procid)),
            None => (tag, None),
        };
        let is_name = |name: &str| {
            let is_sign = |byte: u8| byte.is_ascii_graphic() && !b"\"'=,;<>[]{}:".contains(&byte);
            (1..=TAG_BYTES_MAX).contains(&name.len()) && name.bytes().all(is_sign)
        };
        // A number is one that routers count their messages with.
        let is_app = is_name(app) && !app.starts_with(|first: char| first.is_ascii_digit());
        (is_app && procid.is_none_or(is_name)).then_some(SyslogMessage {
            app: Some(app),
            procid,
            text,
            ..SyslogMessage::default()
        })
    };
    tag().unwrap_or(SyslogMessage { text, ..SyslogMessage::default() })
}

#[cfg(test)]
mod tests;
