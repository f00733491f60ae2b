//! Compares reading many lines at a time with reading one line at a time.

use crate::documents::fault;
use crate::reference::{self, Node, Tree};
use crate::{CHUNK_BYTES, shown, ways};
use jird::hooks::Kernel;
use jird::hooks::lines::When;
use jird::lines::{Check, Options, Scanned, Scanner};
use jird::policy::Policy;
use jird::{
    Kind, Path,
    record::{Field, Projection, Step},
};
use std::ops::ControlFlow;

/// The sizes of the pieces that are scanned at a time, apart from the whole text.
const PIECE_BYTES: [usize; 3] = [64, 200, CHUNK_BYTES[2]];

/// The most paths that are taken from the text itself.
const PATHS_MAX: usize = 24;

/// A scanner finds in each line, at each path, what the reference finds. It stops at the same fault, after visiting the
/// records before it. This holds on every kernel and for every piece size. Without checks it does the same on valid
/// text, and stays consistent on the rest.
///
/// # Panics
/// If this does not hold.
pub fn lines(text: &[u8]) {
    let (records, wanted_fault) = reference::read_lines(text, Policy::DEPTH_MAX);
    let paths = paths(text, &records);
    for kernel in ways(Kernel::available()) {
        for piece_bytes in ways(PIECE_BYTES) {
            let options = Options { kernel, piece_bytes, ..Options::default() };
            let name = format!("{} {piece_bytes}", kernel.name());
            let (visited, result) = scan(text, options, &paths);
            assert_eq!(result.map(drop).map_err(|error| fault(&error)).err(), wanted_fault, "{name}: {}", shown(text));
            assert_rows(text, &records, &paths, &visited, &name);
            let sets = path_sets(&paths).into_iter().map(|paths| (paths, When::Always));
            for (paths, sweep) in ways(sets.chain([(paths.clone(), When::Never), (paths.clone(), When::Measured)])) {
                let (visited, result) = scan(text, Options { check: Check::Trusted, sweep, ..options }, &paths);
                if wanted_fault.is_none() {
                    let count = result.map(|scanned| scanned.records);
                    assert_eq!(count, Ok(records.len() as u64), "{name}: {}", shown(text));
                    assert_rows(text, &records, &paths, &visited, &name);
                }
            }
        }
    }
}

/// What was seen of a row, without its lifetime.
struct Seen<'t> {
    offset: usize,
    text: &'t [u8],
    fields: Vec<Field<'t>>,
}

fn scan<'t>(text: &'t [u8], options: Options, paths: &[Path]) -> (Vec<Seen<'t>>, Result<Scanned, jird::Error>) {
    let mut visited = Vec::new();
    let projection = Projection::new(paths);
    let result = Scanner::new(options).scan(text, &projection, None, |row| {
        assert_eq!(row.fields().len(), paths.len());
        for field in row.fields() {
            let raw = field.raw();
            assert!(core::str::from_utf8(raw.as_bytes()).is_ok(), "a str that is not UTF-8");
            assert_eq!(field.kind().is_none(), raw.is_empty(), "a missing field has no text, any other has some");
            assert_eq!(field.as_number().is_some(), field.kind() == Some(Kind::Number));
            assert!(field.as_number().is_none_or(|number| jird::Number::new(number.text()).is_some()), "{raw}");
            let mut scratch = String::new();
            assert_eq!(field.as_str().as_deref(), field.text(&mut scratch), "{raw}");
        }
        visited.push(Seen { offset: row.offset(), text: row.text(), fields: row.fields().to_vec() });
        ControlFlow::Continue(())
    });
    if let Ok(scanned) = result {
        assert_eq!((scanned.matched, scanned.records), (visited.len() as u64, visited.len() as u64));
    }
    (visited, result)
}

fn assert_rows(text: &[u8], records: &[Node], paths: &[Path], visited: &[Seen<'_>], name: &str) {
    assert_eq!(visited.len(), records.len(), "{name}: records of {}", shown(text));
    for (row, record) in visited.iter().zip(records) {
        assert_eq!((row.offset, row.text), (record.start, &text[record.start..record.end]), "{name}: {}", shown(text));
        for (path, field) in paths.iter().zip(&row.fields) {
            assert_field(text, *field, find(record, path), || format!("{name}: {path} of {}", shown(row.text)));
        }
    }
}

pub(crate) fn assert_field(text: &[u8], field: Field<'_>, node: Option<&Node>, message: impl Fn() -> String) {
    let Some(node) = node else {
        assert_eq!(field, Field::MISSING, "{}", message());
        return;
    };
    assert_eq!(field.raw().as_bytes(), &text[node.start..node.end], "{}", message());
    let kind = match &node.tree {
        Tree::Null => Kind::Null,
        Tree::Bool(wanted) => {
            assert_eq!(field.as_bool(), Some(*wanted), "{}", message());
            Kind::Bool
        }
        Tree::Number => {
            assert_eq!(field.as_number().map(jird::Number::text), Some(field.raw()), "{}", message());
            Kind::Number
        }
        Tree::String(wanted) => {
            assert_eq!(field.as_str().as_deref(), Some(&**wanted), "{}", message());
            Kind::String
        }
        Tree::Array(_) => Kind::Array,
        Tree::Object(_) => Kind::Object,
    };
    assert_eq!(field.kind(), Some(kind), "{}", message());
    assert_eq!(Field::from_raw(field.raw()), field, "{}", message());
}

/// The value at `path` in a record. A record that is not an object is treated as an object with that value as its
/// member `value`.
pub(crate) fn find<'n>(record: &'n Node, path: &Path) -> Option<&'n Node> {
    let mut steps = path.steps();
    if !steps.is_empty() && !matches!(record.tree, Tree::Object(_)) {
        let [Step::Key(first), rest @ ..] = steps else { return None };
        if &**first != "value" {
            return None;
        }
        steps = rest;
    }
    steps.iter().try_fold(record, |node, step| match step {
        Step::Key(key) => node.get(key),
        Step::Index(index) => node.at(*index),
    })
}

/// Some paths that are always searched for, and some that the records have.
pub(crate) fn paths(text: &[u8], records: &[Node]) -> Vec<Path> {
    let root = Path::root;
    let mut paths = vec![
        root(),
        root().key("value"),
        root().key("value").index(1),
        root().key("a"),
        root().key("a").key("a"),
        root().key("a").index(0),
        root().key("a").key("b").key("a"),
        root().key(""),
        root().key("a"),
        root().index(0),
    ];
    let always = paths.len();
    // Records from all over the text: the first one, and others picked by the text's length.
    for pick in [0, text.len() / 7, text.len() / 3, text.len()] {
        if let Some(record) = records.get(pick % records.len().max(1)) {
            let start = if matches!(record.tree, Tree::Object(_)) { root() } else { root().key("value") };
            collect(record, &start, &mut paths, always + PATHS_MAX);
        }
    }
    paths
}

/// These paths, and some of them that a reader may find in other ways: no elements of arrays, and no members of members.
pub(crate) fn path_sets(paths: &[Path]) -> Vec<Vec<Path>> {
    let is_key = |step: &Step| matches!(step, Step::Key(_));
    let only = |keep: &dyn Fn(&[Step]) -> bool| paths.iter().filter(|path| keep(path.steps())).cloned().collect();
    let keys: Vec<Path> = only(&|steps| steps.iter().all(is_key));
    let members: Vec<Path> = only(&|steps| matches!(steps, [Step::Key(_)]));
    let two = members[members.len() - 2..].to_vec();
    vec![paths.to_vec(), keys, members, two]
}

fn collect(node: &Node, path: &Path, paths: &mut Vec<Path>, max: usize) {
    let mut add = |path: Path, child: &Node| {
        if paths.len() < max {
            paths.push(path.clone());
            collect(child, &path, paths, max);
        }
    };
    match &node.tree {
        Tree::Object(members) => {
            for (key, member) in members.iter().take(5) {
                if let Tree::String(key) = &key.tree {
                    add(path.clone().key(key.as_str()), member);
                }
            }
        }
        Tree::Array(elements) => {
            elements.iter().enumerate().take(3).for_each(|(index, element)| add(path.clone().index(index), element));
        }
        _ => {}
    }
}
