//! Logs and traces as Protocol Buffers: the requests of `opentelemetry-proto` 1.x, written to events without a tree.

use super::super::outcome::{BodyOutcome, Writing, build};
use super::super::time_key::TimeKey;
use super::super::wire::{Field, Fields, Malformed, messages, utf8};
use super::DEPTH_MAX;
use super::parts::{close, write_base64, write_double, write_resource, write_scope};
use super::record::Record;
use super::signal::{Signal, Wrong};
use super::span::{Item, Span};
use crate::base::problem::Problem;
use crate::base::settings::Limits;
use jird::event::Numeral;
use jird::hooks::write_string;
use jird_store::Settings;

/// The events of a body.
pub(super) fn take<'b, S: Message>(
    body: &'b [u8],
    settings: &Settings,
    limits: &Limits,
) -> Result<BodyOutcome<'b>, Problem> {
    let (batch, taken) = build(settings, limits, body.len() * 2, |builder| {
        let (writing, time_key) = (Writing::new(builder, limits), TimeKey::new(settings));
        let mut request = Request { body, writing, time_key, signal: S::default() };
        request.read()?;
        Ok::<_, Problem>(request.writing.taken)
    });
    Ok(BodyOutcome { batch, ..taken? })
}

/// What is read from a message. Fields that are not known are passed over.
pub(super) trait Message: Signal {
    fn read(&mut self, raw: &[u8]) -> Result<(), Wrong>;
}

/// The request is not a message of the format; a record that is not one is refused alone.
fn malformed<S: Signal>(_: Malformed) -> Problem {
    Problem::bad(format!("the body is not a valid {}", S::REQUEST))
}

struct Request<'b, 'r, 'p, S> {
    body: &'b [u8],
    writing: Writing<'b, 'r, 'p>,
    time_key: TimeKey,
    signal: S,
}

impl<'b, S: Message> Request<'b, '_, '_, S> {
    fn read(&mut self) -> Result<(), Problem> {
        for of_resource in messages(self.body, 1) {
            let of_resource = of_resource.map_err(malformed::<S>)?;
            let mut context = Vec::new();
            for resource in messages(of_resource, 1) {
                context.clear();
                write_resource(&attributes(resource.map_err(malformed::<S>)?, 1).map_err(in_context)?, &mut context);
            }
            let len = context.len();
            for of_scope in messages(of_resource, 2) {
                let of_scope = of_scope.map_err(malformed::<S>)?;
                for scope in messages(of_scope, 1) {
                    context.truncate(len);
                    self::scope(scope.map_err(malformed::<S>)?, &mut context).map_err(in_context)?;
                }
                for one in messages(of_scope, 2) {
                    self.add(one.map_err(malformed::<S>)?, &context)?;
                }
                context.truncate(len);
            }
        }
        Ok(())
    }

    /// Adds a record, or refuses it.
    fn add(&mut self, raw: &'b [u8], context: &[u8]) -> Result<(), Problem> {
        let Self { body, writing, time_key, signal } = self;
        // A slice of the body: where it begins tells its offset.
        let offset = (raw.as_ptr() as usize).saturating_sub(body.as_ptr() as usize);
        writing.add(S::ONE, (raw, offset), |text| {
            signal.clear();
            signal.read(raw)?;
            signal.write(time_key, context, text)
        })
    }
}

/// A resource or a scope concerns all of its records.
fn in_context(wrong: Wrong) -> Problem {
    Problem::bad(format!("a resource or scope of the body is wrong: {wrong}"))
}

/// The attributes in the fields of this number, as members of an object.
fn attributes(message: &[u8], number: u64) -> Result<Vec<u8>, Wrong> {
    let mut text = Vec::new();
    for attribute in messages(message, number) {
        key_value(attribute?, 0, &mut text)?;
    }
    Ok(text)
}

fn scope(message: &[u8], context: &mut Vec<u8>) -> Result<(), Wrong> {
    let (mut name, mut version) = (Vec::new(), Vec::new());
    for field in Fields(message) {
        match field? {
            (1, Field::Bytes(bytes)) => string(bytes, &mut name)?,
            (2, Field::Bytes(bytes)) => string(bytes, &mut version)?,
            _ => {}
        }
    }
    write_scope(&name, &version, &attributes(message, 3)?, context);
    Ok(())
}

impl Message for Record {
    fn read(&mut self, raw: &[u8]) -> Result<(), Wrong> {
        for field in Fields(raw) {
            match field? {
                (1, Field::Fixed64(time)) => self.time = time,
                (2, Field::Varint(severity)) => self.severity = severity,
                (3, Field::Bytes(text)) => string(text, &mut self.level)?,
                (5, Field::Bytes(body)) => {
                    self.body.clear();
                    any(body, 0, &mut self.body)?;
                }
                (6, Field::Bytes(attribute)) => key_value(attribute, 0, &mut self.attributes)?,
                (7, Field::Varint(dropped)) => self.dropped = dropped,
                (8, Field::Fixed32(flags)) => self.flags = flags.into(),
                (9, Field::Bytes(id)) => digits(id, 16, &mut self.trace_id)?,
                (10, Field::Bytes(id)) => digits(id, 8, &mut self.span_id)?,
                (11, Field::Fixed64(time)) => self.observed = time,
                (12, Field::Bytes(name)) => string(name, &mut self.name)?,
                (1..=3 | 5..=12, _) => return Err("a field has another type than it should"),
                _ => {}
            }
        }
        Ok(())
    }
}

impl Message for Span {
    fn read(&mut self, raw: &[u8]) -> Result<(), Wrong> {
        for field in Fields(raw) {
            match field? {
                (1, Field::Bytes(id)) => digits(id, 16, &mut self.trace_id)?,
                (2, Field::Bytes(id)) => digits(id, 8, &mut self.id)?,
                (3, Field::Bytes(state)) => string(state, &mut self.trace_state)?,
                (4, Field::Bytes(id)) => digits(id, 8, &mut self.parent_id)?,
                (5, Field::Bytes(name)) => string(name, &mut self.name)?,
                (6, Field::Varint(kind)) => self.kind = kind,
                (7, Field::Fixed64(time)) => self.start = time,
                (8, Field::Fixed64(time)) => self.end = time,
                (9, Field::Bytes(attribute)) => key_value(attribute, 0, &mut self.attributes)?,
                (10, Field::Varint(dropped)) => self.dropped_attributes = dropped,
                (11, Field::Bytes(event)) => read_event(event, &mut self.events)?,
                (12, Field::Varint(dropped)) => self.dropped_events = dropped,
                (13, Field::Bytes(link)) => read_link(link, &mut self.links)?,
                (14, Field::Varint(dropped)) => self.dropped_links = dropped,
                (15, Field::Bytes(status)) => read_status(status, self)?,
                (16, Field::Fixed32(flags)) => self.flags = flags.into(),
                (1..=16, _) => return Err("a field has another type than it should"),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Appends an event of a span.
fn read_event(raw: &[u8], list: &mut Vec<u8>) -> Result<(), Wrong> {
    let (mut name, mut time, mut dropped) = (Vec::new(), 0, 0);
    for field in Fields(raw) {
        match field? {
            (1, Field::Fixed64(at)) => time = at,
            (2, Field::Bytes(bytes)) => string(bytes, &mut name)?,
            (4, Field::Varint(count)) => dropped = count,
            _ => {}
        }
    }
    Item { time, name: &name, attributes: &attributes(raw, 3)?, dropped, ..Item::default() }.write(list)
}

/// Appends a link to another span.
fn read_link(raw: &[u8], list: &mut Vec<u8>) -> Result<(), Wrong> {
    let (mut trace_id, mut span_id, mut dropped) = (Vec::new(), Vec::new(), 0);
    for field in Fields(raw) {
        match field? {
            (1, Field::Bytes(id)) => digits(id, 16, &mut trace_id)?,
            (2, Field::Bytes(id)) => digits(id, 8, &mut span_id)?,
            (5, Field::Varint(count)) => dropped = count,
            _ => {}
        }
    }
    let attributes = attributes(raw, 4)?;
    Item { trace_id: &trace_id, span_id: &span_id, attributes: &attributes, dropped, ..Item::default() }.write(list)
}

fn read_status(raw: &[u8], span: &mut Span) -> Result<(), Wrong> {
    for field in Fields(raw) {
        match field? {
            (2, Field::Bytes(message)) => string(message, &mut span.status_message)?,
            (3, Field::Varint(code)) => span.status = code,
            _ => {}
        }
    }
    Ok(())
}

/// A text as JSON; one that is empty as nothing.
fn string(bytes: &[u8], text: &mut Vec<u8>) -> Result<(), Wrong> {
    text.clear();
    if !bytes.is_empty() {
        write_string(utf8(bytes)?, text);
    }
    Ok(())
}

fn digits(id: &[u8], len: usize, text: &mut Vec<u8>) -> Result<(), Wrong> {
    text.clear();
    if !id.is_empty() && id.len() != len {
        return Err("an identifier has another length than it should");
    }
    for byte in id {
        for digit in [byte >> 4, byte & 15] {
            text.push(b"0123456789abcdef"[usize::from(digit)]);
        }
    }
    Ok(())
}

/// Appends `"key":value,`.
fn key_value(message: &[u8], depth: usize, text: &mut Vec<u8>) -> Result<(), Wrong> {
    let (mut key, mut value) = (&[][..], None);
    for field in Fields(message) {
        match field? {
            (1, Field::Bytes(bytes)) => key = bytes,
            (2, Field::Bytes(bytes)) => value = Some(bytes),
            _ => {}
        }
    }
    write_string(utf8(key)?, text);
    text.push(b':');
    any(value.unwrap_or_default(), depth, text)?;
    text.push(b',');
    Ok(())
}

/// Appends an `AnyValue`. Without any value it is null.
fn any(message: &[u8], depth: usize, text: &mut Vec<u8>) -> Result<(), Wrong> {
    if depth == DEPTH_MAX {
        return Err("its values are too deep within each other");
    }
    let start = text.len();
    for field in Fields(message) {
        let field = field?;
        // Of several the last one counts.
        if (1..=7).contains(&field.0) {
            text.truncate(start);
        }
        match field {
            (1, Field::Bytes(bytes)) => write_string(utf8(bytes)?, text),
            (2, Field::Varint(value)) => text.extend_from_slice(if value == 0 { b"false" } else { b"true" }),
            (3, Field::Varint(value)) => Numeral::I64(value as i64).write(text),
            (4, Field::Fixed64(bits)) => write_double(f64::from_bits(bits), text),
            (5, Field::Bytes(values)) => {
                text.push(b'[');
                for value in messages(values, 1) {
                    any(value?, depth + 1, text)?;
                    text.push(b',');
                }
                close(b']', text);
            }
            (6, Field::Bytes(values)) => {
                text.push(b'{');
                for value in messages(values, 1) {
                    key_value(value?, depth + 1, text)?;
                }
                close(b'}', text);
            }
            (7, Field::Bytes(bytes)) => write_base64(bytes, text),
            _ => {}
        }
    }
    if text.len() == start {
        text.extend_from_slice(b"null");
    }
    Ok(())
}
