//! Parts of events that only OpenTelemetry has, as JSON.

use super::super::members::without_comma;
use super::super::outcome::write;
use jird::event::Numeral;
use jird::hooks::{base64, write_string};

/// Ends a container in the place of a last comma.
pub(super) fn close(bracket: u8, text: &mut Vec<u8>) {
    if text.last() == Some(&b',') {
        text.pop();
    }
    text.push(bracket);
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
