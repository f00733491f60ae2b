//! Logs and traces as JSON: the same messages with names in camel case, numbers of 64 bits as texts, and identifiers as digits.

use super::super::outcome::{BodyOutcome, Writing, build};
use super::super::time_key::TimeKey;
use super::DEPTH_MAX;
use super::parts::{close, write_double, write_resource, write_scope};
use super::record::Record;
use super::signal::{Signal, Wrong};
use super::span::{Item, Span};
use crate::base::problem::Problem;
use crate::base::settings::Limits;
use jird::event::Numeral;
use jird::{Kind, Parser, Value};
use jird_store::Settings;

/// The events of a body.
pub(super) fn take<'b, S: Object>(
    body: &'b [u8],
    settings: &Settings,
    limits: &Limits,
) -> Result<BodyOutcome<'b>, Problem> {
    let mut parser = Parser::new();
    let root = parser.parse(body).map_err(|error| Problem::of_body(&error, body))?;
    if root.kind() != Kind::Object {
        return Err(Problem::bad(format!("the body is not a valid {}", S::REQUEST)));
    }
    let [resources, scopes, all, _] = S::NAMES;
    let time_key = TimeKey::new(settings);
    let (batch, taken) = build(settings, limits, body.len(), |builder| {
        let (mut writing, mut signal) = (Writing::new(builder, limits), S::default());
        for of_resource in list(root, resources).map_err(in_context)? {
            let mut context = Vec::new();
            if let Some(resource) = of_resource.get("resource") {
                write_resource(&attributes(resource, 0).map_err(in_context)?, &mut context);
            }
            let len = context.len();
            for of_scope in list(of_resource, scopes).map_err(in_context)? {
                context.truncate(len);
                if let Some(scope) = of_scope.get("scope") {
                    let part = |name| string(scope, name).map_err(in_context);
                    let attributes = attributes(scope, 0).map_err(in_context)?;
                    write_scope(part("name")?, part("version")?, &attributes, &mut context);
                }
                for one in list(of_scope, all).map_err(in_context)? {
                    let raw = &body[one.offset()..one.offset() + one.raw().len()];
                    writing.add(S::ONE, (raw, one.offset()), |text| {
                        signal.clear();
                        signal.read(one)?;
                        signal.write(&time_key, &context, text)
                    })?;
                }
            }
        }
        Ok::<_, Problem>(writing.taken)
    });
    Ok(BodyOutcome { batch, ..taken? })
}

/// What is read from an object. Members that are not known are passed over.
pub(super) trait Object: Signal {
    fn read(&mut self, message: Value<'_>) -> Result<(), Wrong>;
}

/// A resource or a scope concerns all of its records.
fn in_context(wrong: Wrong) -> Problem {
    Problem::bad(format!("a resource or scope of the body is wrong: {wrong}"))
}

/// The elements of a list, which may be missing.
fn list<'a>(message: Value<'a>, name: &str) -> Result<impl Iterator<Item = Value<'a>>, Wrong> {
    match part(message, name) {
        Some(list) if list.kind() != Kind::Array => Err("what should be a list is none"),
        list => Ok(list.into_iter().flat_map(Value::elements)),
    }
}

/// A member that is not null.
fn part<'a>(message: Value<'a>, name: &str) -> Option<Value<'a>> {
    message.get(name).filter(|value| !value.is_null())
}

/// A text as JSON; one that is empty, or missing, as nothing.
fn string<'a>(message: Value<'a>, name: &str) -> Result<&'a [u8], Wrong> {
    match part(message, name) {
        None => Ok(b""),
        Some(text) if text.kind() == Kind::String => Ok(if text.raw() == b"\"\"" { b"" } else { text.raw() }),
        Some(_) => Err("what should be a text is none"),
    }
}

/// A number, or a text of one.
fn number(message: Value<'_>, name: &str) -> Result<u64, Wrong> {
    let Some(value) = part(message, name) else { return Ok(0) };
    let number = match value.kind() {
        Kind::String => value.as_str().and_then(|text| text.parse().ok()),
        _ => value.as_u64(),
    };
    number.ok_or("what should be a number is none")
}

impl Object for Record {
    fn read(&mut self, message: Value<'_>) -> Result<(), Wrong> {
        if message.kind() != Kind::Object {
            return Err("it is no object");
        }
        self.time = number(message, "timeUnixNano")?;
        self.observed = number(message, "observedTimeUnixNano")?;
        self.severity = number(message, "severityNumber")?;
        self.dropped = number(message, "droppedAttributesCount")?;
        self.flags = number(message, "flags")?;
        self.level.extend_from_slice(string(message, "severityText")?);
        self.name.extend_from_slice(string(message, "eventName")?);
        digits(string(message, "traceId")?, 32, &mut self.trace_id)?;
        digits(string(message, "spanId")?, 16, &mut self.span_id)?;
        if let Some(body) = part(message, "body") {
            any(body, 0, &mut self.body)?;
        }
        self.attributes = attributes(message, 0)?;
        Ok(())
    }
}

impl Object for Span {
    fn read(&mut self, message: Value<'_>) -> Result<(), Wrong> {
        if message.kind() != Kind::Object {
            return Err("it is no object");
        }
        self.start = number(message, "startTimeUnixNano")?;
        self.end = number(message, "endTimeUnixNano")?;
        self.kind = number(message, "kind")?;
        self.flags = number(message, "flags")?;
        self.dropped_attributes = number(message, "droppedAttributesCount")?;
        self.dropped_events = number(message, "droppedEventsCount")?;
        self.dropped_links = number(message, "droppedLinksCount")?;
        self.name.extend_from_slice(string(message, "name")?);
        self.trace_state.extend_from_slice(string(message, "traceState")?);
        digits(string(message, "traceId")?, 32, &mut self.trace_id)?;
        digits(string(message, "spanId")?, 16, &mut self.id)?;
        digits(string(message, "parentSpanId")?, 16, &mut self.parent_id)?;
        if let Some(status) = part(message, "status") {
            self.status = number(status, "code")?;
            self.status_message.extend_from_slice(string(status, "message")?);
        }
        self.attributes = attributes(message, 0)?;
        for event in list(message, "events")? {
            let item = Item {
                time: number(event, "timeUnixNano")?,
                name: string(event, "name")?,
                attributes: &attributes(event, 0)?,
                dropped: number(event, "droppedAttributesCount")?,
                ..Item::default()
            };
            item.write(&mut self.events)?;
        }
        for link in list(message, "links")? {
            let (mut trace_id, mut span_id) = (Vec::new(), Vec::new());
            digits(string(link, "traceId")?, 32, &mut trace_id)?;
            digits(string(link, "spanId")?, 16, &mut span_id)?;
            let (attributes, dropped) = (attributes(link, 0)?, number(link, "droppedAttributesCount")?);
            let item =
                Item { trace_id: &trace_id, span_id: &span_id, attributes: &attributes, dropped, ..Item::default() };
            item.write(&mut self.links)?;
        }
        Ok(())
    }
}

fn digits(id: &[u8], len: usize, text: &mut Vec<u8>) -> Result<(), Wrong> {
    let id = id.strip_prefix(b"\"").and_then(|id| id.strip_suffix(b"\"")).unwrap_or_default();
    if !id.is_empty() && id.len() != len || !id.iter().all(u8::is_ascii_hexdigit) {
        return Err("an identifier is not digits of the length that it should have");
    }
    text.extend(id.iter().map(u8::to_ascii_lowercase));
    Ok(())
}

/// The attributes of a message, as members of an object.
fn attributes(message: Value<'_>, depth: usize) -> Result<Vec<u8>, Wrong> {
    let mut text = Vec::new();
    key_values(list(message, "attributes")?, depth, &mut text)?;
    Ok(text)
}

/// Appends `"key":value,` for each.
fn key_values<'a>(list: impl Iterator<Item = Value<'a>>, depth: usize, text: &mut Vec<u8>) -> Result<(), Wrong> {
    for item in list {
        let key = string(item, "key")?;
        text.extend_from_slice(if key.is_empty() { b"\"\"" } else { key });
        text.push(b':');
        match part(item, "value") {
            Some(value) => any(value, depth, text)?,
            None => text.extend_from_slice(b"null"),
        }
        text.push(b',');
    }
    Ok(())
}

/// Appends an `AnyValue`. Without any value it is null.
fn any(message: Value<'_>, depth: usize, text: &mut Vec<u8>) -> Result<(), Wrong> {
    if depth == DEPTH_MAX {
        return Err("its values are too deep within each other");
    }
    let Some((key, value)) = message.entries().find(|(_, value)| !value.is_null()) else {
        text.extend_from_slice(b"null");
        return if message.kind() == Kind::Object { Ok(()) } else { Err("a value is not in the form of one") };
    };
    let is = |name: &str, kind: Kind| key.is_str(name) && value.kind() == kind;
    if is("stringValue", Kind::String) || is("bytesValue", Kind::String) || is("boolValue", Kind::Bool) {
        text.extend_from_slice(value.raw());
    } else if key.is_str("intValue") {
        let number = match value.kind() {
            Kind::String => value.as_str().and_then(|text| text.parse().ok()),
            _ => value.as_i64(),
        };
        Numeral::I64(number.ok_or("an integer is none")?).write(text);
    } else if is("doubleValue", Kind::Number) {
        text.extend_from_slice(value.raw());
    } else if is("doubleValue", Kind::String) {
        let number = value.as_str().and_then(|text| text.parse().ok());
        write_double(number.ok_or("a double is none")?, text);
    } else if is("arrayValue", Kind::Object) {
        text.push(b'[');
        for value in list(value, "values")? {
            any(value, depth + 1, text)?;
            text.push(b',');
        }
        close(b']', text);
    } else if is("kvlistValue", Kind::Object) {
        text.push(b'{');
        key_values(list(value, "values")?, depth + 1, text)?;
        close(b'}', text);
    } else {
        return Err("a value is not in the form of one");
    }
    Ok(())
}
