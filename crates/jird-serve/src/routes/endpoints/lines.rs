//! Events as lines, or as one JSON value.

use super::outcome::{BodyOutcome, build, not_taken};
use crate::base::problem::Problem;
use crate::base::settings::Limits;
use crate::events::intake::RefusedEvent;
use jird::{Kind, Parser};
use jird_store::Settings;

/// What some programs write before a text.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// The events of a body that has one on each line. `are_objects`: others are refused.
pub(super) fn take<'b>(
    body: &'b [u8],
    are_objects: bool,
    settings: &Settings,
    limits: &Limits,
) -> Result<BodyOutcome<'b>, Problem> {
    let mut taken = BodyOutcome::default();
    let (batch, result) = build(settings, limits, body.len(), |builder| {
        for (index, (line, number, offset)) in (0..).zip(Lines::new(body)) {
            taken.check_room(builder, 0, limits)?;
            let refused = if are_objects && !is_object(line) { Some(None) } else { builder.add(line).err().map(Some) };
            if let Some(error) = refused {
                taken.refuse(|| match &error {
                    Some(error) => not_taken(error, line, index, number, offset),
                    None => no_object(line, index, number, offset),
                });
            }
        }
        Ok(())
    });
    result?;
    taken.batch = batch;
    Ok(taken)
}

/// The events of a body that is one, or an array of them.
pub(super) fn take_json<'b>(body: &'b [u8], settings: &Settings, limits: &Limits) -> Result<BodyOutcome<'b>, Problem> {
    let mut parser = Parser::new();
    let mut taken = BodyOutcome::default();
    let root = parser.parse(body).map_err(|error| Problem::of_body(&error, body))?;
    let (batch, result) = build(settings, limits, body.len(), |builder| {
        let one = (root.kind() != Kind::Array).then_some(root);
        for (index, event) in (0..).zip(one.into_iter().chain(root.elements())) {
            taken.check_room(builder, 0, limits)?;
            let range = event.offset()..event.offset() + event.raw().len();
            if let Err(error) = builder.add(event.raw()) {
                taken.refuse(|| not_taken(&error, &body[range.clone()], index, 0, range.start));
            }
        }
        Ok(())
    });
    result?;
    taken.batch = batch;
    Ok(taken)
}

/// The lines of a body, with their numbers and offsets, without those that are blank.
pub(super) struct Lines<'b> {
    body: &'b [u8],
    at: usize,
    number: u64,
}

impl<'b> Lines<'b> {
    pub(super) fn new(body: &'b [u8]) -> Self {
        Self { body, at: if body.starts_with(MARK) { MARK.len() } else { 0 }, number: 0 }
    }
}

impl<'b> Iterator for Lines<'b> {
    type Item = (&'b [u8], u64, usize);

    fn next(&mut self) -> Option<Self::Item> {
        while self.at < self.body.len() {
            let start = self.at;
            let rest = &self.body[start..];
            let len = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            self.at = start + len + 1;
            self.number += 1;
            let line = &rest[..len];
            if !line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
                return Some((line, self.number, start));
            }
        }
        None
    }
}

/// Whether a line is an object, if it is JSON.
pub(super) fn is_object(line: &[u8]) -> bool {
    line.trim_ascii_start().first() == Some(&b'{')
}

/// A line that is not an object.
#[cold]
pub(super) fn no_object(raw: &[u8], index: u64, line: u64, offset: usize) -> RefusedEvent<'_> {
    let column = raw.len() - raw.trim_ascii_start().len() + 1;
    let message = "an event is an object here".to_owned();
    RefusedEvent { index, line, offset: offset as u64, raw, kind: "object", message, column: column as u64 }
}
