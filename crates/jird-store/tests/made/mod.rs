//! Random events, blocks of them, and predicates over them.
#![allow(dead_code, reason = "each test uses some of it")]

use checks::random::{self, Random};
use jird::record::{Comparison, Like, Literal, Matcher, Predicate};
use jird::{Kind, Path};
use jird_store::index::{FieldKinds, IndexBuilder, SpanIndex};

pub(crate) struct Made {
    pub(crate) blocks: Vec<Vec<Vec<u8>>>,
    pub(crate) paths: Vec<Path>,
}

const TEXTS: [&str; 14] = [
    "a",
    "b",
    "ab",
    "x/y",
    "Error",
    "Debug",
    "a longer text that is no pair, because it has more than sixty-four bytes",
    "",
    "\u{FFFD}",
    "é😀",
    "line\nfeed",
    "say \"yes\"",
    "GET /api/42",
    "GET /api/43",
];
const NUMBERS: [&str; 14] = [
    "0",
    "-0",
    "1",
    "1.0",
    "10e-1",
    "200",
    "2e2",
    "-7.5",
    "9007199254740993",
    "9007199254740992",
    "1e400",
    "0.1",
    "123456789012345678901234567890",
    "12345678901234567890.5",
];
const KEYS: [&str; 8] = ["a", "b", "Level", "a.b", "value", "é", "k\"", "Elapsed"];

/// Blocks of events of one kind of shape each, so that blocks differ.
pub(crate) fn blocks(random: &mut Random) -> Made {
    let blocks = (0..=random.below(4)).map(|_| block(random)).collect();
    Made { blocks, paths: paths(random) }
}

fn block(random: &mut Random) -> Vec<Vec<u8>> {
    let keys: Vec<&str> = (0..=random.below(3)).map(|_| random.pick(&KEYS)).collect();
    let wild = random.below(3) == 0;
    let events = (0..random.below(8)).map(|_| {
        let mut out = String::new();
        match random.below(12) {
            0 if wild => random::value(random, 3, &mut out),
            1 if wild => random::object(random, 4, &mut out),
            _ => object(random, &keys, 3, &mut out),
        }

        jird::minify(out.as_bytes()).expect("it is JSON")
    });
    events.collect()
}

fn object(random: &mut Random, keys: &[&str], depth: usize, out: &mut String) {
    out.push('{');
    for (index, key) in keys.iter().enumerate() {
        if random.below(8) == 0 {
            continue;
        }
        if !out.ends_with('{') {
            out.push(',');
        }
        let _ = index;
        random::spelled(random, key, out);
        out.push(':');
        value(random, keys, depth, out);
    }
    out.push('}');
}

fn value(random: &mut Random, keys: &[&str], depth: usize, out: &mut String) {
    match random.below(if depth == 0 { 8 } else { 11 }) {
        0 => out.push_str(random.pick(&["null", "true", "false", "{}", "[]"])),
        1..=3 => out.push_str(random.pick(&NUMBERS)),
        4..=7 => random::spelled(random, random.clone().pick(&TEXTS), out),
        8 => {
            out.push('[');
            value(random, keys, depth - 1, out);
            out.push(',');
            value(random, keys, depth - 1, out);
            out.push(']');
        }
        _ => object(random, keys, depth - 1, out),
    }
}

fn paths(random: &mut Random) -> Vec<Path> {
    (0..=random.below(4))
        .map(|_| {
            let mut path = Path::root();
            for _ in 0..=random.below(2) * random.below(3) {
                path = if random.below(9) == 0 { path.index(random.below(2)) } else { path.key(random.pick(&KEYS)) };
            }
            if random.below(40) == 0 { Path::root() } else { path }
        })
        .collect()
}

pub(crate) fn predicate(random: &mut Random, slots: usize, depth: usize) -> Predicate {
    let slot = random.below(slots);
    let several =
        |random: &mut Random| -> Vec<_> { (0..random.below(4)).map(|_| predicate(random, slots, depth - 1)).collect() };
    match random.below(if depth == 0 { 12 } else { 16 }) {
        0..=4 => Predicate::Compare { slot, op: comparison(random), literal: literal(random) },
        5 => Predicate::CompareSlots { left: slot, op: comparison(random), right: random.below(slots) },
        6 => Predicate::In { slot, list: (0..random.below(4)).map(|_| literal(random)).collect() },
        7 => Predicate::IsNull { slot },
        8 | 9 => {
            let text: String = random.pick(&TEXTS).chars().take(12).collect();
            let pattern = random.pick(&["%{}%", "{}%", "%{}", "{}", "%{}_%"]).replace("{}", &text);
            Predicate::Like { slot, pattern: Like::new(&pattern) }
        }
        10 => {
            let text = random.pick(&["a", "long", "api/4", "Error", "0", "é", "yes"]);
            let matcher = Matcher::new(move |content| content.contains(text)).requiring([text]);
            let numbers = random.below(2) == 0;
            let test = move |content: &str| Some(content.contains(text));
            Predicate::Matches { slot, matcher: if numbers { matcher.with_numbers(test) } else { matcher } }
        }
        11 => Predicate::Truth { slot },
        12 => Predicate::And(several(random)),
        13 => Predicate::Or(several(random)),
        _ => Predicate::Not(Box::new(predicate(random, slots, depth - 1))),
    }
}

fn comparison(random: &mut Random) -> Comparison {
    use Comparison::{Eq, Ge, Gt, Le, Lt, Ne};
    random.pick(&[Eq, Eq, Ne, Lt, Le, Gt, Ge])
}

fn literal(random: &mut Random) -> Literal {
    match random.below(12) {
        0 => Literal::Null,
        1 => Literal::Bool(random.below(2) == 0),
        2 => Literal::Container(random.pick(&["[]", "{}", "[1,2]", r#"{"a":1}"#]).into()),
        3..=7 => Literal::Number(random.pick(&NUMBERS).into()),
        _ => Literal::Text(random.pick(&TEXTS).into()),
    }
}

pub(crate) fn index_of(blocks: &[Vec<Vec<u8>>]) -> SpanIndex {
    SpanIndex::of_bytes(&blob_of(blocks), blocks.len()).expect("an index that was just made is sound")
}

pub(crate) fn blob_of(blocks: &[Vec<Vec<u8>>]) -> Vec<u8> {
    let mut builder = IndexBuilder::new();
    for block in blocks {
        builder.begin_block();
        block.iter().for_each(|event| builder.add(event));
        builder.end_block();
    }
    builder.finish()
}

/// The kind that an event has at a path of keys, read from a tree.
pub(crate) fn kind_at(event: &[u8], path: &Path) -> FieldKinds {
    let document = jird::parse(event).expect("it is JSON");
    let root = document.root();
    let mut steps = path.steps().iter();
    let mut value = Some(root);
    if root.kind() != Kind::Object {
        let first = steps.next();
        value = value.filter(|_| matches!(first, Some(jird::record::Step::Key(key)) if &**key == "value"));
    }
    for step in steps {
        value = value.and_then(|value| match step {
            jird::record::Step::Key(key) => value.get(key),
            jird::record::Step::Index(index) => value.elements().nth(*index),
        });
    }
    match value.map(|value| (value.kind(), value.as_bool())) {
        None => FieldKinds::MISSING,
        Some((Kind::Null, _)) => FieldKinds::NULL,
        Some((Kind::Bool, Some(true))) => FieldKinds::TRUE,
        Some((Kind::Bool, _)) => FieldKinds::FALSE,
        Some((Kind::Number, _)) => FieldKinds::NUMBER,
        Some((Kind::String, _)) => FieldKinds::STRING,
        Some((Kind::Array, _)) => FieldKinds::ARRAY,
        Some((Kind::Object, _)) => FieldKinds::OBJECT,
    }
}
