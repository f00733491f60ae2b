//! Filters, compared with what a naive function makes of a tree.

use jird::event::filter::{Disorder, Flatten, Project, Validate};
use jird::event::{self, Feed, Interest, JsonSink, JsonSource, Key, Numeral, Pattern, Place, Sink, Timestamp};
use jird::hooks::event::Recording;
use jird::{Error, Kind, Value};
use proptest::prelude::*;

/// A value in order, with repeated keys; scalars are their text.
#[derive(Clone, Debug, PartialEq)]
enum Tree {
    Scalar(String),
    Array(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

impl Tree {
    fn of(value: Value<'_>) -> Self {
        match value.kind() {
            Kind::Array => Self::Array(value.elements().map(Self::of).collect()),
            Kind::Object => Self::Object(
                value.entries().map(|(key, value)| (key.as_str().unwrap().into(), Self::of(value))).collect(),
            ),
            _ => Self::Scalar(value.raw_str().unwrap().into()),
        }
    }

    fn parse(text: &str) -> Self {
        Self::of(jird::parse(text.as_bytes()).unwrap().root())
    }

    fn text(&self) -> String {
        match self {
            Self::Scalar(text) => text.clone(),
            Self::Array(elements) => format!("[{}]", elements.iter().map(Self::text).collect::<Vec<_>>().join(",")),
            Self::Object(members) => {
                let member =
                    |(key, value): &(String, Self)| format!("{}:{}", jird::to_string(key).unwrap(), value.text());
                format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
            }
        }
    }

    /// Without the members that [`Picky`] skips.
    fn picked(self) -> Self {
        match self {
            Self::Object(members) => Self::Object(
                members
                    .into_iter()
                    .filter(|(key, _)| !skipped(key))
                    .map(|(key, value)| (key, value.picked()))
                    .collect(),
            ),
            Self::Array(elements) => Self::Array(elements.into_iter().map(Self::picked).collect()),
            scalar @ Self::Scalar(_) => scalar,
        }
    }
}

fn skipped(key: &str) -> bool {
    key.contains('s')
}

/// JSON lines without what it skips.
struct Picky(JsonSink<Vec<u8>>);

macro_rules! forward {
    ($($method:ident($($name:ident: $type:ty)?))*) => {
        $(fn $method(&mut self, $($name: $type)?) -> Result<(), Error> { self.0.$method($($name)?) })*
    };
}

impl Sink for Picky {
    type Error = Error;
    fn key(&mut self, key: Key<'_>) -> Result<Interest, Error> {
        if skipped(key.text()) { Ok(Interest::Skip) } else { self.0.key(key) }
    }
    forward! {
        begin_record(place: Place) end_record() begin_object() end_object() begin_array() end_array() null()
        bool(value: bool) number(number: Numeral<'_>) string(text: &str) finish()
    }
}

type Out = Validate<Picky>;

fn out() -> Out {
    Validate::new(Picky(JsonSink::new(Vec::new())))
}

fn written(out: Out) -> String {
    String::from_utf8(out.into_inner().0.into_inner()).unwrap()
}

/// What comes out behind a filter, which is itself told everything in order.
fn told<S: Sink<Error: std::fmt::Display>>(
    text: &str,
    filter: impl FnOnce(Out) -> S,
    inner: impl FnOnce(S) -> Out,
) -> String {
    let mut sink = Validate::new(filter(out()));
    if let Err(failure) = event::copy(&mut JsonSource::from_slice(text.as_bytes()), &mut sink) {
        panic!("{text}: {failure}");
    }
    written(inner(sink.into_inner()))
}

fn patterns(texts: &[&str]) -> Vec<Pattern> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn projected(tree: &Tree, patterns: &[Vec<&str>]) -> Option<Tree> {
    if patterns.iter().any(Vec::is_empty) {
        return Some(tree.clone());
    }
    let inside = |step: &str| -> Vec<Vec<&str>> {
        let leads = |pattern: &&Vec<&str>| pattern[0] == "*" || pattern[0] == step;
        patterns.iter().filter(leads).map(|pattern| pattern[1..].to_vec()).collect()
    };
    if patterns.is_empty() {
        return None;
    }
    match tree {
        Tree::Scalar(_) => None,
        Tree::Array(elements) => {
            let element = |(index, element): (usize, &Tree)| projected(element, &inside(&index.to_string()));
            Some(Tree::Array(elements.iter().enumerate().filter_map(element).collect()))
        }
        Tree::Object(members) => {
            // Of a key that a pattern names, the first counts.
            let is_named = |key: &str| patterns.iter().any(|pattern| pattern[0] == key);
            let is_again = |at: usize| members[..at].iter().any(|(before, _)| *before == members[at].0);
            let member = |(at, (key, value)): (usize, &(String, Tree))| {
                let is_left_out = is_named(key) && is_again(at);
                if is_left_out { None } else { Some((key.clone(), projected(value, &inside(key))?)) }
            };
            Some(Tree::Object(members.iter().enumerate().filter_map(member).collect()))
        }
    }
}

fn flattened(tree: &Tree) -> Tree {
    fn add(key: String, value: &Tree, row: &mut Vec<(String, Tree)>) {
        match value {
            Tree::Object(members) if !members.is_empty() => {
                members.iter().for_each(|(inner, value)| add(format!("{key}.{inner}"), value, row));
            }
            Tree::Array(_) => {
                row.push((key, Tree::Scalar(jird::to_string(&value.text()).unwrap())));
            }
            other => row.push((key, other.clone())),
        }
    }
    let Tree::Object(members) = tree else { return tree.clone() };
    let mut row = Vec::new();
    members.iter().for_each(|(key, value)| add(key.clone(), value, &mut row));
    Tree::Object(row)
}

/// Records of few keys, so that patterns meet them.
fn documents() -> impl Strategy<Value = String> {
    let scalar = prop::sample::select(vec!["null", "true", "-1.50", "\"x\"", "\"\"", "1e400"]).prop_map(str::to_owned);
    let key = || prop::sample::select(vec!["a", "b", "s", "0", "1", "", "a.b", "b.0", "b.1.a", "a.s.b", ".", "ü"]);
    scalar.prop_recursive(4, 24, 4, move |inner| {
        let members = prop::collection::vec((key(), inner.clone()), 0..5);
        let object = members.prop_map(|members| {
            let member = |(key, value): (&str, String)| format!("\"{key}\":{value}");
            format!("{{{}}}", members.into_iter().map(member).collect::<Vec<_>>().join(","))
        });
        prop_oneof![3 => object, 1 => prop::collection::vec(inner, 0..4).prop_map(|all| format!("[{}]", all.join(",")))]
    })
}

const PATHS: &[&str] = &["", "/a", "/b/a", "/*/a", "/a/*", "/b/0", "/s", "/b/*/b", "/1/1", "/a/a/a", "/*/*/*", "/"];

fn steps(path: &str) -> Vec<&str> {
    path.split('/').skip(1).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn filters_do_what_naive_ones_do(
        first in documents(),
        text in documents(),
        paths in prop::collection::vec(prop::sample::select(PATHS.to_vec()), 0..4),
    ) {
        let tree = Tree::parse(&text);
        // Part of another record comes before; nothing of it may be left.
        let before = first;
        let filtered = |out: String| out.split_once('\n').map(|(_, line)| line.to_owned()).unwrap_or_default();
        let text = format!("{before} {text}");
        let line = |tree: Tree| format!("{}\n", tree.picked().text());

        let naive: Vec<_> = paths.iter().map(|path| steps(path)).collect();
        let found = filtered(told(&text, |out| Project::new(out, patterns(&paths)), Project::into_inner));
        let wanted = projected(&tree, &naive).unwrap_or(match &tree {
            Tree::Array(_) => Tree::Array(vec![]),
            Tree::Object(_) => Tree::Object(vec![]),
            Tree::Scalar(_) => Tree::Scalar("null".into()),
        });
        prop_assert_eq!(found, line(wanted), "{} of {}", paths.join(" "), text);

        let found = filtered(told(&text, Flatten::new, Flatten::into_inner));
        prop_assert_eq!(found, line(flattened(&tree)), "{}", text);
    }
}
/// Reads no more than is asked for.
struct Counted<'a>(&'a [u8], usize);

impl std::io::Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let len = self.0.len().min(buffer.len()).min(64);
        buffer[..len].copy_from_slice(&self.0[..len]);
        self.0 = &self.0[len..];
        self.1 += len;
        Ok(len)
    }
}

/// JSON lines, until it has as many records as it wants.
struct Few(JsonSink<Vec<u8>>, u64);

impl Few {
    fn new(records: u64) -> Self {
        Self(JsonSink::new(Vec::new()), records)
    }

    fn text(self) -> String {
        String::from_utf8(self.0.into_inner()).unwrap()
    }
}

impl Sink for Few {
    type Error = Error;
    fn end_record(&mut self) -> Result<(), Error> {
        self.1 -= 1;
        self.0.end_record()
    }
    fn wants_more(&self) -> bool {
        self.1 > 0
    }
    fn key(&mut self, key: Key<'_>) -> Result<Interest, Error> {
        self.0.key(key)
    }
    forward! {
        begin_record(place: Place) begin_object() end_object() begin_array() end_array() null() bool(value: bool)
        number(number: Numeral<'_>) string(text: &str) finish()
    }
}

#[test]
fn a_sink_that_has_enough_stops_the_source() {
    let text = "{\"a\":1}\n".repeat(100_000);
    let mut reader = Counted(text.as_bytes(), 0);
    let mut out = Few::new(3);
    event::copy(&mut JsonSource::from_reader(&mut reader), &mut out).unwrap();
    assert_eq!(out.text(), "{\"a\":1}\n{\"a\":1}\n{\"a\":1}\n");
    assert!(reader.1 <= 256, "{}", reader.1);
    // Text in pieces goes on to come, and is neither kept nor looked at.
    let mut out = Few::new(1);
    let mut feed = Feed::new();
    for piece in ["[1", "] {", "]]", "\"", "\u{1}"] {
        feed.feed(piece.as_bytes(), &mut out).unwrap();
    }
    feed.finish(&mut out).unwrap();
    assert_eq!(out.text(), "[1]\n");
    let mut out = Few::new(0);
    event::copy(&mut JsonSource::from_slice(b"what?"), &mut out).unwrap();
    assert_eq!(out.text(), "");
}

#[test]
fn bytes_and_times_go_through() {
    #[derive(Default)]
    struct Seen(Vec<Vec<u8>>, Vec<Timestamp>);
    impl Sink for Seen {
        type Error = Error;
        fn bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
            self.0.push(bytes.into());
            Ok(())
        }
        fn timestamp(&mut self, time: Timestamp) -> Result<(), Error> {
            self.1.push(time);
            Ok(())
        }
    }
    let time = Timestamp { seconds: 1, nanoseconds: 2, is_utc: false };
    let mut recording = Recording::new();
    recording.begin_record(Place::default()).unwrap();
    recording.begin_object().unwrap();
    recording.key(Key::numbered("a", 0)).unwrap();
    recording.bytes(&[1, 2]).unwrap();
    recording.key(Key::numbered("t", 1)).unwrap();
    recording.timestamp(time).unwrap();
    recording.end_object().unwrap();
    let mut sink = Validate::new(Project::new(Flatten::new(Seen::default()), patterns(&["/*"])));
    event::copy(&mut recording.source(), &mut sink).map_err(|_| ()).unwrap();
    let Seen(bytes, times) = sink.into_inner().into_inner().into_inner();
    assert_eq!((bytes, times), (vec![vec![1, 2]], vec![time]));
}

#[test]
fn disorder_is_found() {
    struct Null;
    impl Sink for Null {
        type Error = std::convert::Infallible;
        fn key(&mut self, key: Key<'_>) -> Result<Interest, Self::Error> {
            Ok(Interest::take_if(key.text() != "skip"))
        }
    }
    type Checked = Validate<Null>;
    type Told = Result<(), Disorder<std::convert::Infallible>>;
    let check = |send: fn(&mut Checked) -> Told| {
        let mut sink = Validate::new(Null);
        let told = sink.begin_record(Place::default()).and_then(|()| send(&mut sink));
        let told = told.and_then(|()| sink.end_record()).and_then(|()| sink.finish());
        match told {
            Ok(()) => String::new(),
            Err(Disorder::Source(words)) => words,
            Err(Disorder::Sink(never)) => match never {},
        }
    };
    assert_eq!(check(Sink::null), "");
    assert_eq!(check(|_| Ok(())), "the record's end where a value must come");
    assert_eq!(check(|sink| sink.null().and_then(|()| sink.null())), "a value where the record's end must come");
    assert_eq!(
        check(|sink| sink.begin_array().and_then(|()| sink.end_object())),
        "`}` where an element or `]` must come"
    );
    assert_eq!(check(|sink| sink.begin_object().and_then(|()| sink.null())), "a value where a key or `}` must come");
    assert_eq!(check(Sink::end_array), "`]` where a value must come");
    assert_eq!(check(Sink::begin_array), "the record's end where an element or `]` must come");
    assert_eq!(check(|sink| sink.number(Numeral::F64(f64::NAN))), "NaN as a number");
    let keys = |keys: &'static [(&'static str, Option<u32>)], values: bool| {
        let mut sink = Validate::new(Null);
        let mut send = || {
            sink.begin_record(Place::default())?;
            sink.begin_object()?;
            for &(text, number) in keys {
                let key = number.map_or(Key::new(text), |number| Key::numbered(text, number));
                if sink.key(key)? == Interest::Take && values {
                    sink.null()?;
                }
            }
            sink.end_object()?;
            sink.end_record()
        };
        send().map_err(|error| error.to_string())
    };
    assert_eq!(keys(&[("a", Some(1)), ("skip", Some(0)), ("a", Some(1)), ("x", None)], true), Ok(()));
    assert_eq!(
        keys(&[("a", Some(0)), ("b", Some(0))], true),
        Err("the key \"b\" has the number 0, which belongs to the key \"a\"".into())
    );
    assert_eq!(
        keys(&[("a", Some(0)), ("a", Some(1))], true),
        Err("the key \"a\" has the number 1, but it had another one before".into())
    );
    assert_eq!(keys(&[("a", None), ("b", None)], false), Err("a key where a value must come".into()));
    assert_eq!(keys(&[("a", None)], false), Err("`}` where a value must come".into()));
    assert_eq!(keys(&[("skip", None)], false), Ok(()));
}

#[test]
fn depth_and_long_keys_cost_no_more_than_they_are() {
    const DEPTH: usize = 100_000;
    for open in ["{\"a\":", "[", "{\"a\":[{\"\":"] {
        let close: String = open
            .bytes()
            .rev()
            .filter_map(|byte| match byte {
                b'{' => Some('}'),
                b'[' => Some(']'),
                _ => None,
            })
            .collect();
        let text = format!("{{\"x\":{}1{}}}", open.repeat(DEPTH), close.repeat(DEPTH));
        let source = || JsonSource::from_slice(text.as_bytes()).depth_max(4 * DEPTH);
        let mut rows = Flatten::new(JsonSink::new(Vec::new()));
        event::copy(&mut source(), &mut rows).unwrap();
        let rows = rows.into_inner().into_inner();
        assert!(rows.len() < 3 * text.len(), "{} of {}", rows.len(), text.len());
        let mut out = Validate::new(Project::new(JsonSink::new(Vec::new()), patterns(&["/x"])));
        event::copy(&mut source(), &mut out).map_err(|_| ()).unwrap();
        assert_eq!(out.into_inner().into_inner().into_inner().len(), text.len() + 1);
    }
    // Many members behind one long key.
    let long = format!("{{\"{}\":{{{}\"\":0}}}}", "k".repeat(1 << 20), "\"\":0,".repeat(100_000));
    let mut rows = Flatten::new(JsonSink::new(Vec::new()));
    event::copy(&mut JsonSource::from_slice(long.as_bytes()), &mut rows).unwrap();
    assert!(rows.into_inner().into_inner().len() < 2 * long.len());
}

/// Names of a source are kept, but those that a filter made.
#[test]
fn keys_that_go_through_keep_their_numbers() {
    #[derive(Default)]
    struct Numbers(Vec<(String, Option<u32>)>);
    impl Sink for Numbers {
        type Error = Error;
        fn key(&mut self, key: Key<'_>) -> Result<Interest, Error> {
            self.0.push((key.text().into(), key.number()));
            Ok(Interest::Take)
        }
    }
    #[derive(serde::Serialize)]
    struct Row {
        a: u8,
        b: Inner,
    }
    #[derive(serde::Serialize)]
    struct Inner {
        c: u8,
    }
    let rows = || event::Values::new([Row { a: 1, b: Inner { c: 2 } }]);
    let mut sink = Flatten::new(Validate::new(Numbers::default()));
    event::copy(&mut rows(), &mut sink).unwrap();
    assert_eq!(sink.into_inner().into_inner().0, [("a".into(), Some(0)), ("b.c".into(), None)]);
    let mut sink = Project::new(Numbers::default(), patterns(&["/b/c", "/a"]));
    event::copy(&mut rows(), &mut sink).unwrap();
    assert_eq!(sink.into_inner().0, [("a".into(), Some(0)), ("b".into(), Some(1)), ("c".into(), Some(2))]);
}
