//! Infers the types of the fields that a query computes with, from all records.
//!
//! In go the fields that a rewritten query needs as values; out comes the type of each, or JSON where its values have no
//! common type. What must hold: the type is that of all records, whichever thread reads them and in whatever order.

use crate::base::error::Error;
use crate::base::nearest::nearest;
use crate::input::Input;
use crate::scan::{Chunks, Reader, ScanOptions, VirtualColumn};
use crate::sql::{FieldKnowledge, Need, NeedKind, SourceUse};
use crate::types::FieldTypes;
use jird::lines::Match;
use jird::{
    Kind, Path,
    record::{Field, Projection, Record, RecordBuffer},
};
use jird_formats::{Accumulator, ColumnType};
use jird_store::{FieldKinds, Numbers};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::ControlFlow;

/// The known types of a source's fields.
#[derive(Clone, Debug, Default)]
pub(crate) struct Types {
    /// The fields that were observed.
    pub(crate) fields: Vec<(Path, Accumulator)>,
    /// The types that the user has fixed, which need no inference.
    pub(crate) fixed: FieldTypes,
    /// What the folders of files say of each field.
    folders: Vec<Accumulator>,
    /// Whether all of it is what the indexes and columns of stores know.
    is_of_index: bool,
}

impl Types {
    /// Observes every record, if anything that the query does with a field depends on its type.
    pub(crate) fn infer(
        input: &Input,
        source: &SourceUse,
        fixed: &FieldTypes,
        options: &ScanOptions,
    ) -> Result<Self, Error> {
        let paths = needed_paths(source, fixed);
        if paths.is_empty() {
            return Ok(Self { fixed: fixed.clone(), ..Self::default() });
        }
        let mut all = vec![Accumulator::default(); paths.len()];
        Chunks::new(input, options.chunk_bytes).visit(
            options,
            &Projection::new(&paths),
            || vec![Accumulator::default(); paths.len()],
            |fields, row, at| {
                for (field, value) in fields.iter_mut().zip(row.fields()) {
                    field.observe(*value, at);
                }
            },
            |fields| {
                all.iter_mut().zip(&fields).for_each(|(all, field)| all.merge(field));
                ControlFlow::Continue(())
            },
        )?;
        Ok(Self::unseen(paths, fixed, input).seen(all))
    }

    /// What the indexes of stores know of the fields, without reading an event; `None` if that is not all.
    pub(crate) fn of_index(input: &Input, source: &SourceUse, fixed: &FieldTypes) -> Option<Self> {
        let paths = needed_paths(source, fixed);
        if paths.is_empty() || input.files.is_empty() || input.stores().count() < input.files.len() {
            return None;
        }
        let observed = |path: Path| {
            let mut all = Accumulator::default();
            for (_, store) in input.stores() {
                all.merge(&of_kinds(store.kinds(&path)?, || store.numbers(&path))?);
            }
            // For a mixed field, the first record of each kind is reported, so it is looked for.
            (all.met().len() < 2).then_some((path, all))
        };
        let fields = paths.into_iter().map(observed).collect::<Option<_>>()?;
        Some(Self { fields, fixed: fixed.clone(), is_of_index: true, ..Self::default() })
    }

    /// Observes only the first records.
    pub(crate) fn of_first(
        input: &Input,
        source: &SourceUse,
        fixed: &FieldTypes,
        options: &ScanOptions,
    ) -> Result<Self, Error> {
        let paths = needed_paths(source, fixed);
        let mut fields = vec![Accumulator::default(); paths.len()];
        first_records(input, &paths, options, |row| {
            fields.iter_mut().zip(row.fields()).for_each(|(field, value)| field.observe(*value, 0));
        })?;
        Ok(Self::unseen(paths, fixed, input).seen(fields))
    }

    /// The types of the same fields, from observations of all records.
    pub(crate) fn seen(&self, mut fields: Vec<Accumulator>) -> Self {
        fields.iter_mut().zip(&self.folders).for_each(|(field, folders)| field.merge(folders));
        let paths = self.fields.iter().map(|(path, _)| path.clone());
        Self { fields: paths.zip(fields).collect(), ..self.clone() }
    }

    /// These fields of an input, before any record is observed.
    fn unseen(paths: Vec<Path>, fixed: &FieldTypes, input: &Input) -> Self {
        let of_folders = |path: &Path| {
            let mut all = Accumulator::default();
            input.files.iter().filter_map(|file| file.of_folder(path)).for_each(|field| all.observe(field, 0));
            all
        };
        let folders = paths.iter().map(of_folders).collect();
        let fields = paths.into_iter().map(|path| (path, Accumulator::default())).collect();
        Self { fields, fixed: fixed.clone(), folders, is_of_index: false }
    }

    /// Whether the types of all fields are known whose types are needed.
    pub(crate) fn cover(&self, source: &SourceUse, fixed: &FieldTypes) -> bool {
        needed(source, fixed).all(|need| self.of(&need.path).is_some())
    }

    /// The observations of a field, if it was observed.
    pub(crate) fn of(&self, path: &Path) -> Option<&Accumulator> {
        self.fields.iter().find(|(other, _)| other == path).map(|(_, seen)| seen)
    }

    /// The type of a field's column. If no record has a value for the field, its use decides.
    pub(crate) fn column_type(&self, path: &Path, source: &SourceUse) -> ColumnType {
        if let Some(fixed) = self.fixed.of(path) {
            return fixed;
        }
        let Some(seen) = self.of(path) else { return ColumnType::Json };
        if let Some(told) = VirtualColumn::of_any(path).filter(|_| !seen.is_present()) {
            return told.kind();
        }
        let needs = || source.needs.iter().filter(|need| need.path == *path);
        let text = needs().any(|need| need.kind == NeedKind::Value { text: true })
            || needs().all(|need| need.kind == NeedKind::Column);
        seen.column_type().unwrap_or(if text { ColumnType::Text } else { ColumnType::Int64 })
    }

    /// Adds what these types tell of the fields of a table.
    pub(crate) fn tell(&self, table: &str, known: &mut FieldKnowledge) {
        for (path, seen) in &self.fields {
            let kind = seen.column_type();
            known.types.extend(kind.map(|kind| (table.to_owned(), path.clone(), kind)));
            // The columns of a store have told that all numbers are these.
            if self.is_of_index && kind == Some(ColumnType::Float64) {
                known.decimals.push((table.to_owned(), path.clone()));
            }
        }
    }

    /// The kinds of value that a field has, each with its first record, for people.
    pub(crate) fn met(&self, input: &Input, path: &Path) -> Option<String> {
        let met = self.of(path)?.met().into_iter().map(|(name, at)| match place(input, at) {
            Some(place) => format!("{name} (first at {place})"),
            None => name.to_owned(),
        });
        Some(met.collect::<Vec<_>>().join(", "))
    }

    /// Messages that say which fields were widened.
    pub(crate) fn widened(&self, input: &Input, source: &SourceUse) -> Vec<String> {
        let mut words = Vec::new();
        for (path, seen) in &self.fields {
            let written = source.needs.iter().find(|need| need.path == *path).map_or("", |need| need.written.as_str());
            for widening in seen.widenings() {
                let place = place(input, widening.at).unwrap_or_default();
                words.push(format!("{written}: {} to {} by {place}", widening.from, widening.to));
            }
        }
        words
    }
}

/// What is observed of values of these kinds; `None` if there are numbers, and it is not known which.
fn of_kinds(kinds: FieldKinds, numbers: impl Fn() -> Option<Numbers>) -> Option<Accumulator> {
    const EXAMPLES: [(FieldKinds, &str); 5] = [
        (FieldKinds::NULL, "null"),
        (FieldKinds::BOOLS, "true"),
        (FieldKinds::STRING, "\"\""),
        (FieldKinds::ARRAY, "[]"),
        (FieldKinds::OBJECT, "{}"),
    ];
    let mut seen = Accumulator::default();
    if kinds.has(FieldKinds::NUMBER) {
        let example = match numbers()? {
            Numbers::Integers => "1",
            Numbers::Floats => "0.5",
        };
        seen.observe(Field::from_raw(example), 0);
    }
    EXAMPLES.iter().filter(|(kind, _)| kinds.has(*kind)).for_each(|(_, text)| seen.observe(Field::from_raw(text), 0));
    Some(seen)
}

/// Whether an input is read to infer the types of its fields.
pub(crate) fn reads(source: &SourceUse, fixed: &FieldTypes) -> bool {
    needed(source, fixed).next().is_some()
}

/// The fields at which the scans of an input look: those of the query, and those that a schema fixes.
pub(crate) fn looked_at(source: &SourceUse, fixed: &FieldTypes) -> Vec<Path> {
    source.columns.iter().map(|(path, _)| path).chain(fixed.all().map(|(path, _)| path)).cloned().collect()
}

/// The first records are those in this many bytes.
const FIRST_BYTES: u64 = 256 << 10;

/// Visits the first records of an input that can be read again.
pub(crate) fn first_records(
    input: &Input,
    paths: &[Path],
    options: &ScanOptions,
    mut visit: impl FnMut(&Match<'_, '_>),
) -> Result<(), Error> {
    let Some(file) = input.files.iter().find(|file| file.size != Some(0)) else { return Ok(()) };
    let read = Reader::new(options).read(
        file,
        file.size.map(|size| 0..size.min(FIRST_BYTES)),
        (&Projection::new(paths), None),
        None,
        |row, _| {
            visit(row);
            Ok(ControlFlow::Continue(()))
        },
        |_| ControlFlow::Break(()),
    );
    read.map(drop)
}

/// The paths of the fields whose types are to be inferred, each once.
fn needed_paths(source: &SourceUse, fixed: &FieldTypes) -> Vec<Path> {
    let mut paths: Vec<Path> = Vec::new();
    for need in needed(source, fixed) {
        if !paths.contains(&need.path) {
            paths.push(need.path.clone());
        }
    }
    paths
}

/// The fields whose types are to be inferred.
fn needed<'s>(source: &'s SourceUse, fixed: &FieldTypes) -> impl Iterator<Item = &'s Need> {
    source.needs.iter().filter(move |need| fixed.of(&need.path).is_none())
}

/// Keys in the order of their first appearance.
#[derive(Default)]
struct KeyOrder {
    order: Vec<String>,
    known: HashSet<String>,
    buffer: RecordBuffer,
}

/// The top-level keys of all records, in the order of their first appearance. A record that is not an object has the
/// key `value`.
pub(crate) fn keys(input: &Input, options: &ScanOptions) -> Result<Vec<String>, Error> {
    let mut all = KeyOrder::default();
    Chunks::new(input, options.chunk_bytes).visit(
        options,
        &Projection::new(&[]),
        KeyOrder::default,
        |found, row, _| {
            let KeyOrder { order, known, buffer } = found;
            let mut add = |key: &str| {
                if !known.contains(key) {
                    known.insert(key.to_owned());
                    order.push(key.to_owned());
                }
            };
            if !row.text().starts_with(b"{") {
                return add("value");
            }
            for (key, _) in Record::scan_trusted(row.text(), buffer).entries() {
                if let Some(key) = key.as_str() {
                    add(&key);
                }
            }
        },
        |found| {
            for key in found.order {
                if all.known.insert(key.clone()) {
                    all.order.push(key);
                }
            }
            ControlFlow::Continue(())
        },
    )?;
    for key in input.folder_keys() {
        if all.known.insert(key.to_owned()) {
            all.order.push(key.to_owned());
        }
    }
    Ok(all.order)
}

/// The top-level keys of the first records.
pub(crate) fn first_keys(input: &Input, options: &ScanOptions) -> Result<HashSet<String>, Error> {
    let (mut keys, mut buffer) = (HashSet::new(), RecordBuffer::default());
    first_records(input, &[], options, |row| {
        if !row.text().starts_with(b"{") {
            keys.insert("value".to_owned());
            return;
        }
        for (key, _) in Record::scan_trusted(row.text(), &mut buffer).entries() {
            if let Some(key) = key.as_str().filter(|key| !keys.contains(&**key)) {
                keys.insert(key.into_owned());
            }
        }
    })?;
    Ok(keys)
}

/// The most values that become columns.
const VALUES_MAX: usize = 1000;

/// The different values of a field, in their order, as JSON texts without nulls.
pub(crate) fn values(input: &Input, path: &Path, options: &ScanOptions) -> Result<Vec<String>, Error> {
    let mut all = BTreeMap::new();
    Chunks::new(input, options.chunk_bytes).visit(
        options,
        &Projection::new(std::slice::from_ref(path)),
        BTreeMap::new,
        |found, row, _| {
            let field = row.field(0);
            if field.kind().is_some_and(|kind| kind != Kind::Null) && found.len() <= VALUES_MAX {
                let mut key = Vec::new();
                field.order_key(&mut key);
                found.entry(key).or_insert_with(|| field.raw().to_owned());
            }
        },
        |found| {
            all.extend(found);
            if all.len() > VALUES_MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    )?;
    if all.len() > VALUES_MAX {
        return Err(Error::data(format!("{path:#} has more than {VALUES_MAX} values: name those that become columns")));
    }
    Ok(all.into_values().collect())
}

/// Whether any record has a field at `path`.
pub(crate) fn occurs(input: &Input, path: &Path, options: &ScanOptions) -> Result<bool, Error> {
    let stores: Vec<_> = input.stores().map(|(_, store)| store.kinds(path)).collect();
    if stores.len() == input.files.len()
        && let Some(kinds) = stores.into_iter().collect::<Option<Vec<_>>>()
    {
        return Ok(kinds.into_iter().any(|kinds| kinds != FieldKinds::MISSING && kinds != FieldKinds::NONE));
    }
    let mut occurs = false;
    Chunks::new(input, options.chunk_bytes).visit(
        options,
        &Projection::new(std::slice::from_ref(path)),
        || false,
        |found, row, _| *found |= row.field(0).kind().is_some(),
        |found| {
            occurs |= found;
            if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    )?;
    Ok(occurs)
}

/// The field of the first records whose name is most similar to that of `path`, as SQL writes it.
pub(crate) fn near(input: &Input, path: &Path, options: &ScanOptions) -> Option<String> {
    let mut all = BTreeSet::new();
    first_records(input, &[], options, |row| {
        if let Ok(document) = jird::parse(row.text())
            && all.len() < NAMES_MAX
        {
            add_names(document.root(), &mut Vec::new(), &mut all);
        }
    })
    .ok()?;
    let pointer = path.to_string();
    let wanted: Vec<_> = pointer.split('/').skip(1).map(|key| key.replace("~1", "/").replace("~0", "~")).collect();
    let (last, parents) = wanted.split_last()?;
    // A key with dots in it: `id.resp_p` of Zeek is not a member of `id`.
    let dotted = vec![wanted.join(".")];
    if wanted.len() > 1 && all.contains(&dotted) {
        return Some(written(&dotted));
    }
    let siblings = all.iter().filter(|names| names.len() == wanted.len() && names[..parents.len()] == *parents);
    let near = nearest(last, siblings.filter_map(|names| names.last()).map(String::as_str));
    let near = near.map(|near| [parents, &[near.to_owned()]].concat());
    near.or_else(|| all.iter().find(|names| names.last().is_some_and(|name| name == last)).cloned())
        .map(|names: Vec<String>| written(&names))
}

/// Names are collected up to about this number.
const NAMES_MAX: usize = 10_000;

/// Adds the paths of all members.
fn add_names(value: jird::Value<'_>, parents: &mut Vec<String>, all: &mut BTreeSet<Vec<String>>) {
    if value.kind() != jird::Kind::Object || parents.len() > 8 {
        return;
    }
    for (key, value) in value.entries() {
        parents.push(key.as_str().unwrap_or_default().into());
        if !all.contains(parents) {
            all.insert(parents.clone());
        }
        add_names(value, parents, all);
        parents.pop();
    }
}

/// A field as SQL writes it.
fn written(names: &[String]) -> String {
    let is_plain = |name: &str| {
        name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
            && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
    };
    let quoted = |name: &String| {
        if is_plain(name) { name.clone() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
    };
    names.iter().map(quoted).collect::<Vec<_>>().join(".")
}

/// The file and line of a byte of the input.
fn place(input: &Input, at: u64) -> Option<String> {
    let (file, offset) = input.at(at)?;
    let line = file.line_at(offset).ok()?;
    Some(format!("{}:{line}", file.shown()))
}
