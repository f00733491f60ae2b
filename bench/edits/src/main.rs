//! Reads a document, edits it and writes it: jird's document with edits, and trees.
//!
//! Half of the edits give a scalar another value; the other half remove a member, or append to an array. They are spread
//! evenly over the scalars of the document. All peers must write equal documents.

mod peers;

use peers::PEERS;
use std::hint::black_box;
use std::time::Instant;

#[cfg(feature = "memory")]
#[global_allocator]
static MEMORY: peak_alloc::PeakAlloc = peak_alloc::PeakAlloc;

const RUNS: usize = 31;

/// A step of a path.
#[derive(Clone)]
enum Step {
    Key(String),
    Index(usize),
}

enum Deed {
    Set(i64),
    Remove,
    Push(i64),
}

struct Edit {
    deed: Deed,
    /// The way to the object or array.
    above: Vec<Step>,
    /// The member or element; without a meaning for [`Deed::Push`].
    last: Step,
    /// The same as a JSON Pointer.
    pointer: String,
}

fn main() {
    for file in std::env::args().skip(1) {
        let text = std::fs::read(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
        for count in [0, 10, 1000] {
            let edits = edits(&text, count);
            check(&text, &edits);
            measure(&file, &text, &edits);
        }
    }
}

/// All peers must write the same values.
fn check(text: &[u8], edits: &[Edit]) {
    let tree = |run: peers::Run| serde_json::from_slice::<serde_json::Value>(&run(text, edits)).expect("it wrote JSON");
    let wanted = tree(PEERS[0].1);
    for (name, run) in PEERS {
        assert!(tree(*run) == wanted, "{name} wrote other values");
    }
}

fn measure(file: &str, text: &[u8], edits: &[Edit]) {
    let mut times = vec![Vec::new(); PEERS.len()];
    for _ in 0..RUNS {
        for ((_, run), times) in PEERS.iter().zip(&mut times) {
            let begin = Instant::now();
            black_box(run(black_box(text), black_box(edits)));
            times.push(begin.elapsed().as_micros());
        }
    }
    for ((name, run), mut times) in PEERS.iter().zip(times) {
        times.sort_unstable();
        let (count, least, median) = (edits.len(), times[0], times[RUNS / 2]);
        println!(
            "{file}: {count:4} edits, {name:16} fastest {least:6} µs, median {median:6} µs{}",
            memory(*run, text, edits)
        );
    }
}

#[cfg(feature = "memory")]
fn memory(run: peers::Run, text: &[u8], edits: &[Edit]) -> String {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    drop(run(text, edits));
    format!(", at most {} KB", (MEMORY.peak_usage() - before) / 1024)
}

#[cfg(not(feature = "memory"))]
fn memory(_run: peers::Run, _text: &[u8], _edits: &[Edit]) -> String {
    String::new()
}

fn edits(text: &[u8], count: usize) -> Vec<Edit> {
    let document = jird::parse(text).expect("the file is JSON");
    let mut paths = Vec::new();
    scalars(document.root(), &mut Vec::new(), &mut paths);
    let apart = (paths.len() / count.max(1)).max(1);
    (0..count).map(|at| edit(paths[at * apart % paths.len()].clone(), at)).collect()
}

fn edit(mut path: Vec<Step>, at: usize) -> Edit {
    let mut pointer = pointer_of(&path);
    let last = path.pop().expect("the document is not a scalar");
    let value = at as i64;
    let deed = match last {
        _ if at % 2 == 0 => Deed::Set(value),
        Step::Key(_) => Deed::Remove,
        Step::Index(_) => {
            pointer = pointer_of(&path) + "/-";
            Deed::Push(value)
        }
    };
    Edit { deed, above: path, last, pointer }
}

/// The paths of all scalars.
fn scalars(value: jird::Value<'_>, path: &mut Vec<Step>, paths: &mut Vec<Vec<Step>>) {
    let mut below = |step, value, paths: &mut _| {
        path.push(step);
        scalars(value, path, paths);
        path.pop();
    };
    match value.kind() {
        jird::Kind::Object => {
            for (key, value) in value.entries() {
                below(Step::Key(key.as_str().expect("keys are strings").into_owned()), value, paths);
            }
        }
        jird::Kind::Array => value.elements().enumerate().for_each(|(at, value)| below(Step::Index(at), value, paths)),
        _ => paths.push(path.clone()),
    }
}

fn pointer_of(path: &[Step]) -> String {
    let step = |step: &Step| match step {
        Step::Key(key) => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
        Step::Index(index) => format!("/{index}"),
    };
    path.iter().map(step).collect()
}
