//! Messages of RFC 5424, from the version on: `1 2024-03-05T07:00:00Z host app 7 ID [a b="c"] text`.
//!
//! The text must have the version 1, a time or `-`, and the four names; otherwise it has another form. It may have several
//! spaces where the RFC has one, and no structured data, and names may be longer than the RFC allows.

use super::SyslogMessage;
use super::data;
use jird_store::time;

/// What a message says.
pub(super) fn read(text: &str) -> Option<SyslogMessage<'_>> {
    let mut rest = text.strip_prefix("1 ")?;
    let mut token = || {
        let start = rest.trim_start_matches(' ');
        let (token, after) = start.split_at(start.find(' ').unwrap_or(start.len()));
        rest = after;
        (!token.is_empty()).then_some(token)
    };
    let time = match token()? {
        NIL => None,
        // A date alone is none.
        time => Some(time::of_text(time.as_bytes()).filter(|_| time.contains(['T', 't']))?),
    };
    let mut name = || token().map(|name| Some(name).filter(|name| *name != NIL));
    let (host, app, procid, msgid) = (name()?, name()?, name()?, name()?);
    let (data, text) = data::read(rest.trim_start_matches(' '));
    // rsyslog writes a second space; more of them indent the text.
    let text = text.strip_prefix(' ').filter(|text| !text.starts_with(' ')).unwrap_or(text);
    Some(SyslogMessage { time, host, app, procid, msgid, data, text })
}

/// What stands for a name, a time or data that are not known.
pub(super) const NIL: &str = "-";
