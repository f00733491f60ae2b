//! Notes conditions that never hold because they compare values of different kinds: `code = '200'`, where codes are
//! numbers.

use crate::scan::{ScanOptions, VirtualColumn};
use crate::sql::Leaf;
use crate::types::infer::first_records;
use crate::types::prepared::Source;
use jird::{
    Kind,
    record::{Comparison, Literal, Predicate},
};
use jird_store::time;

/// A field, and the kind of value that a condition expects there.
struct ExpectedKind {
    slot: usize,
    kind: Kind,
    /// Whether any record has a value of that kind.
    is: bool,
    /// The first value of another kind.
    other: Option<(Kind, String)>,
    /// The constant, if it is a time, and texts are before or after it.
    time: Option<Box<str>>,
    /// The first text that is a time in another form.
    unlike: Option<String>,
}

/// Notes show this many characters of a value.
const SHOWN: usize = 30;

/// The notes on a condition over the fields of a source, based on its first records.
pub(crate) fn notes(leaf: &Leaf, index: usize, source: &Source<'_>, options: &ScanOptions) -> Vec<String> {
    let Some((_, paths)) = leaf.fields.as_ref().filter(|(of, _)| *of == index && source.input.is_rereadable()) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    take(&leaf.predicate, &mut all);
    let mut records = 0_u64;
    let read = first_records(&source.input, paths, options, |row| {
        records += 1;
        for taken in &mut all {
            let field = row.field(taken.slot);
            match field.kind() {
                None | Some(Kind::Null) => {}
                Some(kind) if kind == taken.kind => {
                    taken.is = true;
                    if let (Some(time), Some(text), None) = (&taken.time, field.as_str(), &taken.unlike)
                        && time_form(&text).is_some_and(|form| Some(form) != time_form(time))
                    {
                        taken.unlike = Some(text.chars().take(SHOWN).collect());
                    }
                }
                Some(kind) => {
                    taken.other.get_or_insert_with(|| (kind, field.raw().chars().take(SHOWN).collect()));
                }
            }
        }
    });
    if read.is_err() {
        return Vec::new();
    }
    // If a field has both kinds, the query may test for each of them.
    let is_met = |slot: usize| all.iter().any(|taken| taken.slot == slot && taken.is);
    let note = |taken: &ExpectedKind| {
        if let Some(text) = &taken.unlike {
            return Some(format!(
                "`{}` compares texts, and in the first {records} records they are written like {text}: `timestamp(…)` around both \
                 compares times",
                leaf.text
            ));
        }
        let (kind, value) = taken.other.as_ref().filter(|_| !is_met(taken.slot))?;
        let path = &paths[taken.slot];
        if VirtualColumn::of(path, &source.input).is_some() {
            return None;
        }
        let written = source.used.named.iter().find(|(named, _)| named == path).map(|(_, written)| written);
        Some(format!(
            "`{}` takes `{}` for {}, and in the first {records} records it is {}, such as {value}: these are never compared",
            leaf.text,
            written.map_or("", String::as_str),
            name(taken.kind),
            name(*kind),
        ))
    };
    let mut notes: Vec<String> = all.iter().filter_map(note).collect();
    // One condition may compare a field twice.
    notes.dedup();
    notes
}

/// Collects the kind that a predicate expects of each field.
fn take(predicate: &Predicate, all: &mut Vec<ExpectedKind>) {
    let kind = |literal: &Literal| match literal {
        Literal::Null => None,
        Literal::Bool(_) => Some(Kind::Bool),
        Literal::Number(_) => Some(Kind::Number),
        Literal::Text(_) => Some(Kind::String),
        Literal::Container(text) => Some(if text.starts_with('[') { Kind::Array } else { Kind::Object }),
    };
    let mut time = None;
    let taken = match predicate {
        Predicate::And(parts) | Predicate::Or(parts) => return parts.iter().for_each(|part| take(part, all)),
        Predicate::Not(inner) => return take(inner, all),
        Predicate::CompareSlots { .. } | Predicate::IsNull { .. } | Predicate::Json { .. } => None,
        Predicate::Compare { slot, op, literal } => {
            if let (Literal::Text(text), false) = (literal, matches!(op, Comparison::Eq | Comparison::Ne)) {
                time = time_form(text).map(|_| text.clone());
            }
            kind(literal).map(|kind| (*slot, kind))
        }
        Predicate::In { slot, list } => {
            let mut kinds = list.iter().filter_map(kind);
            let first = kinds.next();
            first.filter(|first| kinds.all(|kind| kind == *first)).map(|kind| (*slot, kind))
        }
        Predicate::Matches { matcher, .. } if matcher.takes_numbers() => None,
        Predicate::Like { slot, .. } | Predicate::Matches { slot, .. } => Some((*slot, Kind::String)),
        Predicate::Truth { slot } => Some((*slot, Kind::Bool)),
    };
    all.extend(taken.map(|(slot, kind)| ExpectedKind { slot, kind, is: false, other: None, time, unlike: None }));
}

/// How a text writes a time, if it is one: what stands between day and hour, and whether there is a zone. A day by itself is
/// before all times of that day, however they are written.
fn time_form(text: &str) -> Option<(char, bool)> {
    time::parse(text.as_bytes())?;
    let mut rest = text.chars().skip("2024-01-01".len());
    Some((rest.next()?, rest.any(|char| matches!(char, 'Z' | 'z' | '+' | '-'))))
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Null => "null",
        Kind::Bool => "a boolean",
        Kind::Number => "a number",
        Kind::String => "a text",
        Kind::Object => "an object",
        Kind::Array => "an array",
    }
}
