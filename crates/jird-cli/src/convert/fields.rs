//! Columns of lines, found by the record scanner, which sends no events for other fields.
//!
//! This path handles only plain cases: selected keys whose values are scalars. Everything else goes through the
//! filters, which define the meaning.

use super::ConvertArgs;
use super::met::Met;
use jird::event::{Key, Numeral, Sink};
use jird::lines::{Options, Scanner};
use jird::{
    Kind, Path,
    record::{Field, Projection},
};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The selected fields.
pub(super) struct Fields {
    /// The selected fields, followed by the objects that contain them.
    projection: Projection,
    /// The field names, as `--flatten` writes them.
    names: Vec<String>,
    /// For each of those objects, the fields that it may contain.
    inside: Vec<Vec<usize>>,
    /// For each field, its number among the names that were typed.
    typed: Vec<usize>,
    met: Arc<Met>,
}

/// The state of one thread.
pub(super) struct Finder {
    scanner: Scanner,
    /// The fields, in the order of the previous record.
    order: Vec<usize>,
    scratch: String,
}

impl Finder {
    pub(super) fn new(fields: &Fields) -> Self {
        let order = (0..fields.names.len()).collect();
        Self { scanner: Scanner::new(Options::default()), order, scratch: String::new() }
    }
}

/// Above this length of a name, the filter writes nested values as text.
const NAME_BYTES_MAX: usize = 1024;

impl Fields {
    /// The fields that `--select` names, if each one is a key, or a path that `--flatten` turns into a key.
    pub(super) fn of(args: &ConvertArgs, met: &Arc<Met>) -> Option<Self> {
        let mut names = args.select.clone();
        names.sort_unstable();
        names.dedup();
        let is_plain = |name: &String| {
            name.len() <= NAME_BYTES_MAX
                && name.split('.').all(|key| key != "*")
                && (args.flatten || !name.contains('.'))
        };
        // If a field and a field within it are both selected, the filters send the whole outer field.
        let is_within = |name: &String| {
            names.iter().any(|other| name.strip_prefix(&**other).is_some_and(|rest| rest.starts_with('.')))
        };
        if names.is_empty() || !names.iter().all(is_plain) || names.iter().any(is_within) {
            return None;
        }
        let mut objects: Vec<&str> =
            names.iter().flat_map(|name| name.match_indices('.').map(|(dot, _)| &name[..dot])).collect();
        objects.sort_unstable();
        objects.dedup();
        let is_in = |object: &str, name: &str| name.strip_prefix(object).is_some_and(|rest| rest.starts_with('.'));
        let inside = |object: &&str| (0..names.len()).filter(|field| is_in(object, &names[*field])).collect();
        let inside = objects.iter().map(inside).collect();
        let path = |name: &str| name.split('.').fold(Path::root(), Path::key);
        let paths: Vec<Path> = names.iter().map(String::as_str).chain(objects).map(path).collect();
        let typed = names.iter().filter_map(|name| args.select.iter().position(|typed| typed == name)).collect();
        Some(Self { projection: Projection::new(&paths), names, inside, typed, met: Arc::clone(met) })
    }

    /// Sends the records of `text`, which consists of whole lines. Returns how many there were, or `None` if one is bad
    /// or not plain; then only some records were sent.
    pub(super) fn send<S: Sink>(&self, finder: &mut Finder, text: &[u8], sink: &mut S) -> Option<u64> {
        let Finder { scanner, order, scratch } = finder;
        let mut is_plain = true;
        let each = |row: jird::lines::Match<'_, '_>| {
            is_plain = row.text().first() == Some(&b'{') && self.record(row.fields(), order, scratch, sink).is_some();
            if is_plain { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let scanned = scanner.scan_all(text, &self.projection, None, each, |_| ControlFlow::Break(()));
        if scanned.records > 0 {
            self.met.record();
        }
        (is_plain && scanned.bad == 0).then_some(scanned.records)
    }

    fn record<S: Sink>(
        &self,
        found: &[Field<'_>],
        order: &mut [usize],
        scratch: &mut String,
        sink: &mut S,
    ) -> Option<()> {
        let (fields, objects) = found.split_at(self.names.len());
        for (object, inside) in objects.iter().zip(&self.inside) {
            match object.kind() {
                Some(Kind::Array) => return None,
                // The filter keeps the object although it is empty.
                Some(Kind::Object) if inside.iter().all(|field| fields[*field].kind().is_none()) => return None,
                _ => {}
            }
        }
        // The order usually equals that of the previous record.
        order.sort_by_key(|field| fields[*field].raw().as_ptr());
        sink.begin_record(jird::event::Place::default()).ok()?;
        sink.begin_object().ok()?;
        for &number in &*order {
            let field = fields[number];
            let Some(kind) = field.kind() else { continue };
            self.met.meet(self.typed[number]);
            let key = Key::numbered(&self.names[number], number as u32);
            if sink.key(key).ok()? == jird::event::Interest::Skip {
                continue;
            }
            match kind {
                Kind::Null => sink.null(),
                Kind::Bool => sink.bool(field.as_bool()?),
                Kind::Number => sink.number(Numeral::Text(field.as_number()?)),
                Kind::String => sink.string(field.text(scratch)?),
                Kind::Array | Kind::Object => return None,
            }
            .ok()?;
        }
        sink.end_object().ok()?;
        sink.end_record().ok()
    }
}
