//! A predicate over records that arrive as events.

use super::json::JsonSink;
use super::protocol::{Scalar, Sink};
use super::recording::{Item, Recording};
use super::{Numeral, base64};
use crate::path::{Path, Step};
use crate::record::{Field, Mismatches, Predicate};
use crate::tape::Kind;
use core::fmt::Write;

/// Selects records by a [`Predicate`] over paths, evaluated on a [`Recording`] before the record is sent on.
///
/// It works for sources of any format. For JSON lines, [`lines`](crate::lines) is faster: it filters records by their
/// text.
///
/// ```
/// use jird::event::{JsonSink, JsonSource, Sink, Source};
/// use jird::hooks::event::{Condition, Recording};
/// use jird::{Path, record::{Comparison, Literal, Predicate}};
/// let over = Predicate::Compare { slot: 0, op: Comparison::Gt, literal: Literal::Number("200".into()) };
/// let mut condition = Condition::new(over, vec![Path::root().key("Elapsed")]);
///
/// let mut source = JsonSource::from_slice(br#"{"Elapsed":212.5} {"Elapsed":13} {}"#);
/// let (mut record, mut out) = (Recording::new(), JsonSink::new(Vec::new()));
/// while source.send_record(&mut record)? {
///     if condition.holds(&record) {
///         record.source().send_record(&mut out)?;
///     }
/// }
/// out.finish()?;
/// assert_eq!(out.into_inner(), b"{\"Elapsed\":212.5}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Condition {
    predicate: Predicate,
    paths: Vec<Path>,
    mismatches: Mismatches,
    /// The values at the paths, concatenated.
    texts: String,
    spans: Vec<(Option<Kind>, usize, usize)>,
    /// By path: whether a record had a value there.
    met: Vec<bool>,
    /// By path: whether the predicate tests the JSON text of its value.
    is_json: Vec<bool>,
}

impl Condition {
    /// A condition whose predicate's slots are indices into `paths`.
    pub fn new(predicate: Predicate, paths: Vec<Path>) -> Self {
        let met = vec![false; paths.len()];
        let is_json = (0..paths.len()).map(|slot| tests_json(&predicate, slot)).collect();
        let (mismatches, texts, spans) = (Mismatches::default(), String::new(), Vec::new());
        Self { predicate, paths, mismatches, texts, spans, met, is_json }
    }

    /// The paths of the values that the predicate compares.
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// The predicate, whose slots are indices into the [paths](Self::paths).
    pub fn predicate(&self) -> &Predicate {
        &self.predicate
    }

    /// By path: whether a record so far had a value there.
    pub fn met(&self) -> &[bool] {
        &self.met
    }

    /// How often values of different kinds were compared, in all records so far.
    pub fn mismatches(&self) -> Mismatches {
        self.mismatches
    }

    /// Whether the predicate is true of a record; an unknown result counts as false. If a key is repeated, the first
    /// one counts. The time is linear in the number of keys next to the paths, whatever their values hold. The result
    /// is false for a record that is not [complete](Recording::is_complete).
    ///
    /// # Panics
    /// If the predicate has a slot without a path.
    pub fn holds(&mut self, record: &Recording) -> bool {
        // The end of a container that is still open is not known.
        if !record.is_complete() {
            return false;
        }
        self.texts.clear();
        self.spans.clear();
        for ((path, met), is_json) in self.paths.iter().zip(&mut self.met).zip(&self.is_json) {
            let start = self.texts.len();
            let kind = find(record, path).and_then(|at| match is_json {
                true => write_json(record, at, &mut self.texts),
                false => write_value(record.item(at), &mut self.texts),
            });
            *met |= kind.is_some();
            self.spans.push((kind, start, self.texts.len()));
        }
        let texts = &self.texts;
        let field = |(&(kind, start, end), is_json): (&(Option<Kind>, usize, usize), &bool)| match kind {
            None => Field::MISSING,
            Some(_) if *is_json => Field::from_raw(&texts[start..end]),
            kind => Field::new(kind, false, &texts[start..end]),
        };
        let fields: Vec<Field<'_>> = self.spans.iter().zip(&self.is_json).map(field).collect();
        self.predicate.eval(&fields, &mut self.mismatches) == Some(true)
    }
}

/// The event of the value at a path.
fn find(record: &Recording, path: &Path) -> Option<usize> {
    path.steps().iter().try_fold(0, |at, step| match (record.item(at), step) {
        (Item::Object(end), Step::Key(wanted)) => {
            let mut at = at + 1;
            while at < end {
                let Item::Key(key) = record.item(at) else { return None };
                if *key.text() == **wanted {
                    return Some(at + 1);
                }
                at = record.behind(at + 1);
            }
            None
        }
        (Item::Array(end), Step::Index(wanted)) => {
            let mut at = at + 1;
            for _ in 0..*wanted {
                if at >= end {
                    return None;
                }
                at = record.behind(at);
            }
            (at < end).then_some(at)
        }
        _ => None,
    })
}

/// Whether a predicate tests the JSON text of a slot.
fn tests_json(predicate: &Predicate, wanted: usize) -> bool {
    match predicate {
        Predicate::And(parts) | Predicate::Or(parts) => parts.iter().any(|part| tests_json(part, wanted)),
        Predicate::Not(inner) => tests_json(inner, wanted),
        Predicate::Json { slot, .. } => *slot == wanted,
        _ => false,
    }
}

/// Appends the JSON text of a value. One that JSON cannot express is taken as missing.
fn write_json(record: &Recording, at: usize, texts: &mut String) -> Option<Kind> {
    let kind = record.kind(at)?;
    let mut sink = JsonSink::new(Vec::new());
    let mut send = || {
        sink.begin_record(record.place())?;
        record.send_at(at, &mut sink)?;
        sink.end_record()?;
        sink.finish()
    };
    send().ok()?;
    texts.push_str(core::str::from_utf8(&sink.into_inner()).ok()?.trim_end());
    Some(kind)
}

/// Appends a value as a field's text, with a string's content unescaped. Appends nothing for an array or object, since
/// nothing compares with them.
fn write_value(item: Item<'_>, texts: &mut String) -> Option<Kind> {
    let mut quoted = |content: &str| {
        texts.extend(["\"", content, "\""]);
        Some(Kind::String)
    };
    match item {
        Item::Object(_) => Some(Kind::Object),
        Item::Array(_) => Some(Kind::Array),
        Item::Key(_) | Item::End => None,
        Item::Scalar(Scalar::String(content)) => quoted(content),
        Item::Scalar(Scalar::Bytes(bytes)) => quoted(&base64(bytes)),
        Item::Scalar(Scalar::Timestamp(time)) => quoted(&time.to_string()),
        Item::Scalar(Scalar::Null) => {
            texts.push_str("null");
            Some(Kind::Null)
        }
        Item::Scalar(Scalar::Bool(value)) => {
            texts.push_str(if value { "true" } else { "false" });
            Some(Kind::Bool)
        }
        Item::Scalar(Scalar::Number(number)) => {
            // Writing to a string cannot fail.
            let _ = match number {
                Numeral::I64(value) => write!(texts, "{value}"),
                Numeral::U64(value) => write!(texts, "{value}"),
                Numeral::F64(value) => write!(texts, "{value:e}"),
                Numeral::Text(number) => texts.write_str(number.text()),
            };
            Some(Kind::Number)
        }
    }
}
