//! Loki's push: streams of lines with labels, as JSON, and as Protocol Buffers packed by Snappy.
//!
//! A line is an event with its time and its text, the labels of its stream, and what it says of itself alone, its structured
//! metadata. The label `level` is its level, too.

use super::members::Members;
use super::outcome::{BodyOutcome, Writing, build, write};
use super::time_key::TimeKey;
use super::wire::{Field, Fields, messages, utf8};
use crate::base::problem::Problem;
use crate::base::settings::Limits;
use jird::hooks::write_string;
use jird::{Kind, Parser, Value};
use jird_store::Settings;

/// The most refused lines that the answer names.
const NAMED_MAX: usize = 100;

/// What one of them is called.
const LINE: &str = "line";

/// What is wrong with a line.
type Wrong = &'static str;

/// Labels of a stream, or the metadata of a line: members of an object, each with a comma after it; and the level among them, as
/// JSON.
#[derive(Debug, Default)]
struct Labels {
    members: Vec<u8>,
    level: Vec<u8>,
}

impl Labels {
    fn add(&mut self, name: &str, value: &str) {
        write_string(name, &mut self.members);
        self.members.push(b':');
        let start = self.members.len();
        write_string(value, &mut self.members);
        if name == "level" {
            self.level = self.members[start..].to_vec();
        }
        self.members.push(b',');
    }
}

/// The events of a body in JSON.
pub(super) fn take_json<'b>(body: &'b [u8], settings: &Settings, limits: &Limits) -> Result<BodyOutcome<'b>, Problem> {
    let mut parser = Parser::new();
    let root = parser.parse(body).map_err(|error| Problem::of_body(&error, body))?;
    let Some(streams) = root.get("streams").filter(|streams| streams.kind() == Kind::Array) else {
        return Err(Problem::bad("the body has no list of streams"));
    };
    let (batch, taken) = build(settings, limits, body.len(), |builder| {
        let (time_key, mut writing) = (TimeKey::new(settings), Writing::new(builder, limits));
        for stream in streams.elements() {
            let labels = stream.get("stream").map_or(Ok(Labels::default()), labels_of);
            let values = stream.get("values").filter(|values| values.kind() == Kind::Array);
            // As in the form that Loki had before, which would be lost.
            let values = values.ok_or_else(|| Problem::bad("a stream has no list of values"))?;
            for value in values.elements() {
                let line = labels.as_ref().map_err(|wrong| *wrong).and_then(|labels| line_of(value, labels));
                let raw = &body[value.offset()..value.offset() + value.raw().len()];
                writing.add(LINE, (raw, value.offset()), |text| line?.write(&time_key, text))?;
            }
        }
        Ok::<_, Problem>(writing.taken)
    });
    Ok(BodyOutcome { batch, ..taken? })
}

/// The members of an object whose values are texts.
fn labels_of(object: Value<'_>) -> Result<Labels, Wrong> {
    if object.kind() != Kind::Object {
        return Err("its labels are not an object");
    }
    let mut labels = Labels::default();
    for (name, value) in object.entries() {
        let value = value.as_str().ok_or("a label is not a text")?;
        labels.add(&name.as_str().ok_or("a label has no name")?, &value);
    }
    Ok(labels)
}

/// `["NANOSECONDS", "LINE"]`, and maybe its metadata.
fn line_of<'l>(value: Value<'_>, labels: &'l Labels) -> Result<Line<'l>, Wrong> {
    let mut parts = value.elements();
    let (Some(time), Some(text)) = (parts.next(), parts.next()) else {
        return Err("it is not a list of a time and a text");
    };
    let time = time.as_str().and_then(|time| time.parse().ok()).ok_or("its time is not a text of nanoseconds")?;
    let text = text.as_str().ok_or("it has no text")?.into_owned();
    let metadata = parts.next().map_or(Ok(Labels::default()), labels_of)?;
    Ok(Line { time, text, labels, metadata })
}

/// The events of a body in the format of Protocol Buffers: `logproto.PushRequest`.
pub(super) fn take_protobuf<'b>(
    body: &'b [u8],
    settings: &Settings,
    limits: &Limits,
) -> Result<BodyOutcome<'b>, Problem> {
    let malformed = |_| Problem::bad("the body is not a valid PushRequest");
    let (batch, taken) = build(settings, limits, body.len() * 2, |builder| {
        let (time_key, mut writing) = (TimeKey::new(settings), Writing::new(builder, limits));
        for stream in messages(body, 1) {
            let stream = stream.map_err(malformed)?;
            let mut labels = Ok(Labels::default());
            for text in messages(stream, 1) {
                labels = utf8(text.map_err(malformed)?).and_then(read_labels);
            }
            for entry in messages(stream, 2) {
                let entry = entry.map_err(malformed)?;
                let line = labels.as_ref().map_err(|wrong| *wrong).and_then(|labels| read_line(entry, labels));
                // A slice of the body: where it begins tells its offset.
                let offset = (entry.as_ptr() as usize).saturating_sub(body.as_ptr() as usize);
                writing.add(LINE, (entry, offset), |text| line?.write(&time_key, text))?;
            }
        }
        Ok::<_, Problem>(writing.taken)
    });
    Ok(BodyOutcome { batch, ..taken? })
}

/// Labels as Prometheus writes them: `{job="shop", path="a\\b"}`.
fn read_labels(text: &str) -> Result<Labels, Wrong> {
    const WRONG: Wrong = "its labels are not in the form {name=\"value\"}";
    let mut labels = Labels::default();
    let inner = text.trim().strip_prefix('{').and_then(|text| text.strip_suffix('}')).ok_or(WRONG)?;
    let mut rest = inner.trim();
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=').ok_or(WRONG)?;
        let (value, after) = read_quoted(after.trim_start()).ok_or(WRONG)?;
        labels.add(name.trim(), &value);
        let after = after.trim_start();
        rest = match after.strip_prefix(',') {
            Some(after) => after.trim_start(),
            None if after.is_empty() => after,
            None => return Err(WRONG),
        };
    }
    Ok(labels)
}

/// A text in quotation marks as Go writes it, and what comes after it.
fn read_quoted(text: &str) -> Option<(String, &str)> {
    let mut rest = text.strip_prefix('"')?;
    let mut bytes = Vec::new();
    loop {
        let end = rest.find(['"', '\\'])?;
        bytes.extend_from_slice(&rest.as_bytes()[..end]);
        let is_end = rest[end..].starts_with('"');
        rest = &rest[end + 1..];
        if is_end {
            return Some((String::from_utf8(bytes).ok()?, rest));
        }
        let kind = rest.chars().next()?;
        let digits = |from: usize, count: usize, radix| {
            let digits = rest.get(from..from + count)?;
            // The standard library takes a sign, too.
            u32::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with('+'))
        };
        let (code, len) = match kind {
            'a' => (7, 1),
            'b' => (8, 1),
            't' => (9, 1),
            'n' => (10, 1),
            'v' => (11, 1),
            'f' => (12, 1),
            'r' => (13, 1),
            '\\' | '"' | '\'' => (u32::from(kind), 1),
            'x' => (digits(1, 2, 16)?, 3),
            'u' => (digits(1, 4, 16)?, 5),
            'U' => (digits(1, 8, 16)?, 9),
            '0'..='3' => (digits(0, 3, 8)?, 3),
            _ => return None,
        };
        if matches!(kind, 'x' | '0'..='3') {
            bytes.push(u8::try_from(code).ok()?);
        } else {
            bytes.extend_from_slice(char::from_u32(code)?.encode_utf8(&mut [0; 4]).as_bytes());
        }
        rest = rest.get(len..)?;
    }
}

/// `logproto.EntryAdapter`
fn read_line<'l>(entry: &[u8], labels: &'l Labels) -> Result<Line<'l>, Wrong> {
    let (mut seconds, mut nanoseconds, mut text, mut metadata) = (0_i64, 0_i64, "", Labels::default());
    for field in Fields(entry) {
        match field? {
            (1, Field::Bytes(time)) => {
                for part in Fields(time) {
                    match part? {
                        (1, Field::Varint(value)) => seconds = value.cast_signed(),
                        (2, Field::Varint(value)) => nanoseconds = value.cast_signed(),
                        _ => {}
                    }
                }
            }
            (2, Field::Bytes(line)) => text = utf8(line)?,
            (3, Field::Bytes(pair)) => {
                let (mut name, mut value) = ("", "");
                for part in Fields(pair) {
                    match part? {
                        (1, Field::Bytes(bytes)) => name = utf8(bytes)?,
                        (2, Field::Bytes(bytes)) => value = utf8(bytes)?,
                        _ => {}
                    }
                }
                metadata.add(name, value);
            }
            (1..=3, _) => return Err("a field has another type than it should"),
            _ => {}
        }
    }
    let time = seconds.checked_mul(1_000_000_000).and_then(|time| time.checked_add(nanoseconds));
    let time = time.and_then(|time| u64::try_from(time).ok()).ok_or("its time is not between 1970 and 2262")?;
    Ok(Line { time, text: text.to_owned(), labels, metadata })
}

/// A line of a stream.
struct Line<'l> {
    /// Nanoseconds since 1970.
    time: u64,
    text: String,
    labels: &'l Labels,
    metadata: Labels,
}

impl Line<'_> {
    fn write(&self, time_key: &TimeKey, text: &mut Vec<u8>) -> Result<(), Wrong> {
        let mut event = Members::begin(text);
        event.key_time(self.time, time_key)?;
        let level = if self.labels.level.is_empty() { &self.metadata.level } else { &self.labels.level };
        event.json("@l", level);
        event.text("@m", &self.text);
        event.list("labels", *b"{}", &self.labels.members);
        event.list("metadata", *b"{}", &self.metadata.members);
        event.end(b"");
        Ok(())
    }
}

/// What is wrong with the lines that were refused. Loki's clients log it, and go on.
pub(super) fn answer(taken: &BodyOutcome<'_>) -> Vec<u8> {
    let mut text = Vec::new();
    for refused in taken.refused.iter().take(NAMED_MAX) {
        write(&mut text, format_args!("{LINE} {}: {}\n", refused.index + 1, refused.message));
    }
    let more = taken.refused_count().saturating_sub(NAMED_MAX as u64);
    if more > 0 {
        write(&mut text, format_args!("and {more} more\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_as_go_writes_them_or_refused() {
        let read = |text: &str| read_labels(text).map(|labels| String::from_utf8(labels.members).unwrap());
        assert_eq!(read(r#"{job="shop", level="warn"}"#).unwrap(), r#""job":"shop","level":"warn","#);
        assert_eq!(read("{}").unwrap(), "");
        assert_eq!(read(r#" { a = "1" , b="2", } "#).unwrap(), r#""a":"1","b":"2","#);
        assert_eq!(
            read(r#"{a="\"}=,\\\n\x41\u00e4\U0001f600\103\xc3\xa4"}"#).unwrap(),
            "\"a\":\"\\\"}=,\\\\\\nA\u{e4}\u{1f600}C\u{e4}\","
        );
        for wrong in [
            "",
            "{",
            "}",
            "{a}",
            "{a=}",
            "{a=1}",
            "{a=\"1}",
            "{a=\"1\" b=\"2\"}",
            "{a=\"\\z\"}",
            "{a=\"\\x4\"}",
            "{a=\"\\x+4\"}",
            "{a=\"\\ud800\"}",
            "{a=\"\\xff\"}",
            "{a=\"\\x\u{e4}\"}",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert_eq!(read_labels(r#"{a="1",level="x"}"#).unwrap().level, b"\"x\"");
    }
}
