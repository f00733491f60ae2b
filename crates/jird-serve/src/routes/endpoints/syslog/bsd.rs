//! Messages of RFC 3164 as programs and devices send them, from the time on: `Mar  5 07:00:00 host app[7]: text`.
//!
//! The crate `syslog_loose` finds time, host and program. It is not asked for the text: of `app: -5 degrees` and
//! `app: [a b="c"] text` it would take the beginning for structured data, which RFC 3164 does not have. So the text is all that
//! comes after the last of the names.
//!
//! The time may have a year, decimals, or the form of RFC 3339. A time without a zone is the local time of this machine, and one
//! without a year is in the year that brings it nearest to now.

use super::SyslogMessage;
use core::ops::Range;
use jird_formats::caught;
use jird_store::time::{date, days};
use syslog_loose::{IncompleteDate, Variant, parse_message_with_year_exact};

/// What a message says.
///
/// Without a priority, it must have a program with a colon: otherwise any line that begins with a time would have one.
pub(super) fn read(text: &str, has_priority: bool, now: i64) -> Option<SyslogMessage<'_>> {
    let mut head = Head::read(text, now)?;
    if head.is_bare()
        && let Some((nanoseconds, len)) = decimals(&text[head.end..])
    {
        let at = head.end;
        head = Head::read(&[&text[..at], &text[at + len..]].concat(), now)?;
        head.time = head.time.saturating_add(nanoseconds);
        head.shift(len);
    }
    let after = &text[head.end..];
    let has_colon = after.starts_with(':');
    let is_sure = has_priority || has_colon && head.app.is_some();
    if !is_sure {
        return None;
    }
    let text_of = |range: Option<Range<usize>>| range.map(|range| &text[range]);
    let content = if has_colon { &after[1..] } else { after };
    let content = if has_colon || head.app.is_some() {
        content.strip_prefix(' ').unwrap_or(content)
    } else {
        content.trim_start_matches(' ')
    };
    Some(SyslogMessage {
        time: Some(head.time),
        host: text_of(head.host),
        app: text_of(head.app),
        procid: text_of(head.procid),
        text: content,
        ..SyslogMessage::default()
    })
}

/// What stands before the text of a message: the time in nanoseconds since 1970, names, and where the last of them ends.
#[derive(Debug)]
struct Head {
    time: i64,
    host: Option<Range<usize>>,
    app: Option<Range<usize>>,
    procid: Option<Range<usize>>,
    end: usize,
}

impl Head {
    fn read(text: &str, now: i64) -> Option<Self> {
        // It is fed with what strangers send; its bugs are not to end a connection.
        let parse = || parse_message_with_year_exact(text, |date| year(date, now), Variant::RFC3164);
        let parsed = caught(parse).ok()?.ok()?;
        let time = parsed.timestamp?.timestamp_nanos_opt()?;
        let start_of = |part: &str| (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize);
        let range_of = |part: &str| {
            let range = start_of(part)?..start_of(part)? + part.len();
            text.get(range.clone()).map(|_| range)
        };
        let (mut host, mut app) = (parsed.hostname.and_then(range_of), parsed.appname.and_then(range_of));
        if app.is_none() && host.as_ref().is_some_and(|host| text[host.end..].starts_with(':')) {
            // As programs write it that know no host.
            app = host.take();
        }
        let mut procid = None;
        let end = if let Some(app) = &app {
            let inner = text[app.end..].strip_prefix('[').filter(|_| parsed.procid.is_some());
            procid = inner.and_then(|inner| Some(app.end + 1..app.end + 1 + inner.find(']')?));
            procid.as_ref().map_or(app.end, |procid| procid.end + 1)
        } else if let Some(host) = &host {
            host.end
        } else {
            // What the parser has passed over since the time is part of the text.
            let before = text.get(..start_of(parsed.msg)?)?;
            let is_time = |word: &&str| word.contains(':') && word.starts_with(|first: char| first.is_ascii_digit());
            before
                .split(' ')
                .find(is_time)
                .and_then(|time| Some(start_of(time)? + time.len()))
                .unwrap_or(before.trim_end().len())
        };
        text.is_char_boundary(end).then_some(Self { time, host, app, procid, end })
    }

    /// Whether it is nothing but a time.
    fn is_bare(&self) -> bool {
        self.host.is_none() && self.app.is_none()
    }

    /// Moves all ranges after the time by a number of bytes.
    fn shift(&mut self, len: usize) {
        for range in [&mut self.host, &mut self.app, &mut self.procid].into_iter().flatten() {
            *range = range.start + len..range.end + len;
        }
        self.end += len;
    }
}

/// The decimals of a second, in nanoseconds, and how long they are, as in `.25 host`.
fn decimals(text: &str) -> Option<(i64, usize)> {
    let digits = text.strip_prefix('.')?;
    let len = digits.bytes().take_while(u8::is_ascii_digit).count();
    let nanoseconds = digits.bytes().take(len).chain([b'0'; 9]).take(9);
    let nanoseconds = nanoseconds.fold(0, |value, digit| value * 10 + i64::from(digit - b'0'));
    (len > 0).then_some((nanoseconds, 1 + len))
}

/// The year that brings a date nearest to now; for a leap day, of those that have one.
fn year((month, day, hour, minute, second): IncompleteDate, now: i64) -> i32 {
    let now = now / 1_000_000_000;
    let [month, day, hour, minute, second] = [month, day, hour, minute, second].map(i64::from);
    let (this, ..) = date(now.div_euclid(86_400));
    let has_day = |year: &i64| date(days(*year, month, day)) == (*year, month, day);
    let distance = |year: &i64| (days(*year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - now).abs();
    (this - 8..=this + 8).filter(has_day).min_by_key(distance).and_then(|year| i32::try_from(year).ok()).unwrap_or(1970)
}
