//! Seq's older form of events:
//! `{"Events": [{"Timestamp": …, "Level": …, "MessageTemplate": …, "Properties": {…}}]}`. They become what its newer
//! clients send, compact events in which the names of properties stand next to `@t`, `@l` and `@mt`.

use super::outcome::{BodyOutcome, build, not_taken};
use super::time_key::TimeKey;
use crate::base::problem::Problem;
use crate::base::settings::Limits;
use crate::events::intake::RefusedEvent;
use jird::hooks::{write_object, write_string};
use jird::{Kind, Parser, Value};
use jird_store::Settings;

/// Members of an event, and what they are called in a compact one.
const NAMES: [(&str, &str); 8] = [
    ("Level", "@l"),
    ("MessageTemplate", "@mt"),
    ("RenderedMessage", "@m"),
    ("Exception", "@x"),
    ("EventType", "@i"),
    ("Renderings", "@r"),
    ("TraceId", "@tr"),
    ("SpanId", "@sp"),
];

/// The events of a body.
pub(super) fn take<'b>(body: &'b [u8], settings: &Settings, limits: &Limits) -> Result<BodyOutcome<'b>, Problem> {
    let mut parser = Parser::new();
    let root = parser.parse(body).map_err(|error| Problem::of_body(&error, body))?;
    let Some(events) = root.get("Events").filter(|events| events.kind() == Kind::Array) else {
        return Err(Problem::bad(
            "the body is not {\"Events\": […]}; compact events need ?clef, or their content type",
        ));
    };
    let time_key = TimeKey::new(settings);
    let mut taken = BodyOutcome::default();
    let (batch, result) = build(settings, limits, body.len(), |builder| {
        let mut text = Vec::new();
        for (index, event) in (0..).zip(events.elements()) {
            taken.check_room(builder, 0, limits)?;
            let offset = event.offset();
            let raw = &body[offset..offset + event.raw().len()];
            if event.kind() != Kind::Object {
                taken.refuse(|| RefusedEvent { line: 0, ..super::lines::no_object(raw, index, 0, offset) });
                continue;
            }
            text.clear();
            compact(event, &time_key, &mut text);
            if let Err(error) = builder.add(&text) {
                taken.refuse(|| not_taken(&error, raw, index, 0, offset));
            }
        }
        Ok(())
    });
    result?;
    taken.batch = batch;
    Ok(taken)
}

/// Writes an event in its compact form. What is null is left out.
fn compact(event: Value<'_>, time_key: &TimeKey, text: &mut Vec<u8>) {
    text.push(b'{');
    if let Some(time) = event.get("Timestamp").filter(|time| !time.is_null()) {
        time_key.write(time.raw(), text);
        text.push(b',');
    }
    for (key, value) in event.entries().filter(|(_, value)| !value.is_null()) {
        let name = NAMES.iter().find(|(name, _)| key.is_str(name));
        if let Some((_, name)) = name {
            write_string(name, text);
            push_value(value, text);
        } else if key.is_str("Properties") && value.kind() == Kind::Object {
            for (key, value) in value.entries() {
                push_key(key, text);
                push_value(value, text);
            }
        } else if !key.is_str("Timestamp") {
            push_key(key, text);
            push_value(value, text);
        }
    }
    if text.last() == Some(&b',') {
        text.pop();
    }
    text.push(b'}');
}

/// A key that is not a property of the format: one that begins with `@` gets another one.
fn push_key(key: Value<'_>, text: &mut Vec<u8>) {
    let raw = key.raw();
    if raw.starts_with(b"\"@") {
        text.extend_from_slice(b"\"@");
        text.extend_from_slice(&raw[1..]);
    } else {
        text.extend_from_slice(raw);
    }
}

fn push_value(value: Value<'_>, text: &mut Vec<u8>) {
    text.push(b':');
    text.extend_from_slice(value.raw());
    text.push(b',');
}

/// What Seq answers: no level below which it wants no events; and what was refused.
pub(super) fn answer(taken: &BodyOutcome<'_>, is_lost: bool) -> Vec<u8> {
    let mut text = Vec::new();
    write_object(&mut text, |object| {
        object.member("MinimumLevelAccepted", None::<&str>);
        if is_lost && let Some(first) = taken.refused.first() {
            object.member("Error", &first.message);
        }
        taken.write_errors(object);
    });
    text.push(b'\n');
    text
}
