//! Logs as JSON: the same messages with names in camel case, numbers of 64 bits as texts, and identifiers as digits.

use super::super::taken::{Taken, check_room};
use super::super::time_key::TimeKey;
use super::DEPTH_MAX;
use super::record::{Record, close, write_double, write_resource, write_scope};
use crate::base::problem::Problem;
use crate::base::settings::Limits;
use crate::events::intake::Refused;
use jird::event::Numeral;
use jird::{Kind, Parser, Value};
use jird_store::{Batch, Settings};

/// What is wrong with a record.
type Wrong = &'static str;

/// The events of a body.
pub(in crate::routes::doors) fn take_json<'b>(
    body: &'b [u8],
    settings: &Settings,
    limits: &Limits,
) -> Result<Taken<'b>, Problem> {
    let mut parser = Parser::new();
    let root = parser.parse(body).map_err(|error| Problem::of_body(&error, body))?;
    if root.kind() != Kind::Object {
        return Err(Problem::bad("the body is not a valid ExportLogsServiceRequest"));
    }
    let time_key = TimeKey::new(settings);
    let mut taken = Taken::default();
    let (batch, result) = Batch::build(settings, body.len(), |builder| {
        let (mut record, mut text, mut index) = (Record::default(), Vec::new(), 0);
        for resource_logs in list(root, "resourceLogs") {
            let mut context = Vec::new();
            if let Some(resource) = resource_logs.get("resource") {
                write_resource(&attributes(resource, 0).map_err(in_context)?, &mut context);
            }
            let len = context.len();
            for scope_logs in list(resource_logs, "scopeLogs") {
                context.truncate(len);
                if let Some(scope) = scope_logs.get("scope") {
                    let part = |name| string(scope, name).map_err(in_context);
                    let attributes = attributes(scope, 0).map_err(in_context)?;
                    write_scope(part("name")?, part("version")?, &attributes, &mut context);
                }
                for log_record in list(scope_logs, "logRecords") {
                    check_room(builder, limits)?;
                    record.clear();
                    let written = read(log_record, &mut record)
                        .and_then(|()| record.write(&time_key, &context, &mut text))
                        .map_err(str::to_owned)
                        .and_then(|()| builder.add(&text).map_err(|error| error.kind().to_string()));
                    if let Err(message) = written {
                        let offset = log_record.offset();
                        let raw = &body[offset..offset + log_record.raw().len()];
                        let offset = offset as u64;
                        taken.refuse(|| Refused { index, line: 0, offset, raw, kind: "record", message, column: 0 });
                    }
                    index += 1;
                }
            }
        }
        Ok(())
    });
    result?;
    taken.batch = batch;
    Ok(taken)
}

/// A resource or a scope concerns all of its records.
fn in_context(wrong: Wrong) -> Problem {
    Problem::bad(format!("a resource or scope of the body is wrong: {wrong}"))
}

/// The elements of a list, which may be missing.
fn list<'a>(message: Value<'a>, name: &str) -> impl Iterator<Item = Value<'a>> {
    message.get(name).into_iter().flat_map(Value::elements)
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

fn read(message: Value<'_>, record: &mut Record) -> Result<(), Wrong> {
    if message.kind() != Kind::Object {
        return Err("it is no object");
    }
    record.time = number(message, "timeUnixNano")?;
    record.observed = number(message, "observedTimeUnixNano")?;
    record.severity = number(message, "severityNumber")?;
    record.dropped = number(message, "droppedAttributesCount")?;
    record.flags = number(message, "flags")?;
    record.level.extend_from_slice(string(message, "severityText")?);
    record.name.extend_from_slice(string(message, "eventName")?);
    digits(string(message, "traceId")?, 32, &mut record.trace_id)?;
    digits(string(message, "spanId")?, 16, &mut record.span_id)?;
    if let Some(body) = part(message, "body") {
        any(body, 0, &mut record.body)?;
    }
    record.attributes = attributes(message, 0)?;
    Ok(())
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
    key_values(list(message, "attributes"), depth, &mut text)?;
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
        for value in list(value, "values") {
            any(value, depth + 1, text)?;
            text.push(b',');
        }
        close(b']', text);
    } else if is("kvlistValue", Kind::Object) {
        text.push(b'{');
        key_values(list(value, "values"), depth + 1, text)?;
        close(b'}', text);
    } else {
        return Err("a value is not in the form of one");
    }
    Ok(())
}
