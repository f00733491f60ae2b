//! Filters, compared with what a naive function makes of a tree.

use jird::event::filter::{Arrays, Disorder, Flatten, Limit, Project, Rename, Tee, Unflatten, Validate};
use jird::event::{
    self, Feed, Interest, JsonSink, JsonSource, Key, Numeral, Pattern, Place, Recording, Sink, Source, Timestamp,
};
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

fn renamed(tree: &Tree, names: &[(Vec<&str>, &str)]) -> Tree {
    let inside = |step: &str| -> Vec<(Vec<&str>, &str)> {
        let leads =
            |(pattern, _): &&(Vec<&str>, &str)| !pattern.is_empty() && (pattern[0] == "*" || pattern[0] == step);
        names.iter().filter(leads).map(|(pattern, name)| (pattern[1..].to_vec(), *name)).collect()
    };
    match tree {
        Tree::Scalar(_) => tree.clone(),
        Tree::Array(elements) => {
            let element = |(index, element): (usize, &Tree)| renamed(element, &inside(&index.to_string()));
            Tree::Array(elements.iter().enumerate().map(element).collect())
        }
        Tree::Object(members) => {
            let member = |(key, value): &(String, Tree)| {
                let names = inside(key);
                let name = names.iter().find(|(pattern, _)| pattern.is_empty()).map_or(&**key, |(_, name)| name);
                (name.to_owned(), renamed(value, &names))
            };
            Tree::Object(members.iter().map(member).collect())
        }
    }
}

fn flattened(tree: &Tree, arrays: Arrays) -> Tree {
    fn add(key: String, value: &Tree, arrays: Arrays, row: &mut Vec<(String, Tree)>) {
        match value {
            Tree::Object(members) if !members.is_empty() => {
                members.iter().for_each(|(inner, value)| add(format!("{key}.{inner}"), value, arrays, row));
            }
            Tree::Array(elements) if arrays == Arrays::Indexed && !elements.is_empty() => {
                elements
                    .iter()
                    .enumerate()
                    .for_each(|(index, value)| add(format!("{key}.{index}"), value, arrays, row));
            }
            Tree::Array(_) if arrays == Arrays::Text => {
                row.push((key, Tree::Scalar(jird::to_string(&value.text()).unwrap())));
            }
            other => row.push((key, other.clone())),
        }
    }
    let Tree::Object(members) = tree else { return tree.clone() };
    let mut row = Vec::new();
    members.iter().for_each(|(key, value)| add(key.clone(), value, arrays, &mut row));
    Tree::Object(row)
}

fn unflattened(tree: &Tree, arrays: bool) -> Tree {
    /// Members without an object for the first part are put where they stand.
    fn nest(members: Vec<(String, Tree)>, arrays: bool) -> Tree {
        type Group = (String, Vec<(String, Tree)>, Option<Tree>);
        let mut groups: Vec<Group> = Vec::new();
        for (key, value) in members {
            match key.split_once('.') {
                None => groups.push((key, Vec::new(), Some(value))),
                Some((first, rest)) => {
                    let member = (rest.to_owned(), value);
                    match groups.iter_mut().find(|(name, _, leaf)| name == first && leaf.is_none()) {
                        Some((_, inside, _)) => inside.push(member),
                        None => groups.push((first.to_owned(), vec![member], None)),
                    }
                }
            }
        }
        let members: Vec<_> =
            groups.into_iter().map(|(key, inside, leaf)| (key, leaf.unwrap_or_else(|| nest(inside, arrays)))).collect();
        let is_array = arrays && members.iter().enumerate().all(|(index, (key, _))| *key == index.to_string());
        if is_array {
            Tree::Array(members.into_iter().map(|(_, value)| value).collect())
        } else {
            Tree::Object(members)
        }
    }
    let Tree::Object(members) = tree else { return tree.clone() };
    match nest(members.clone(), arrays) {
        // A record stays an object.
        Tree::Array(elements) => {
            Tree::Object(elements.into_iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect())
        }
        nested => nested,
    }
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
        // Something of another record comes before, of which nothing may be left.
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

        let names = ["x", "", "s", "a"];
        let renames: Vec<_> = naive.iter().cloned().zip(names).collect();
        let found = filtered(told(&text, |out| Rename::new(out, patterns(&paths).into_iter().zip(names)), Rename::into_inner));
        prop_assert_eq!(found, line(renamed(&tree, &renames)), "{} of {}", paths.join(" "), text);

        for arrays in [Arrays::Text, Arrays::Indexed] {
            let found = filtered(told(&text, |out| Flatten::new(out).arrays(arrays), Flatten::into_inner));
            prop_assert_eq!(found, line(flattened(&tree, arrays)), "{:?} of {}", arrays, text);
        }
        let found = filtered(told(&text, Nested::plain, Nested::into_inner));
        prop_assert_eq!(found, line(unflattened(&tree, false)), "{}", text);
        let found = filtered(told(&text, Nested::arrays, Nested::into_inner));
        prop_assert_eq!(found, line(unflattened(&tree, true)), "{}", text);
    }

    /// Each hears what it would hear alone.
    #[test]
    fn two_sinks_hear_what_each_would(text in documents(), paths in prop::collection::vec(prop::sample::select(PATHS.to_vec()), 1..3)) {
        let text = format!("{text} {text}");
        let first = || Project::new(out(), patterns(&paths));
        let second = || Limit::new(Flatten::new(out()), 1);
        let mut both = Validate::new(Tee::new(Validate::new(first()), Validate::new(second())));
        let sent = event::copy(&mut JsonSource::from_slice(text.as_bytes()), &mut both);
        prop_assert!(sent.is_ok());
        let (one, other) = both.into_inner().into_inner();
        let mut alone = first();
        event::copy(&mut JsonSource::from_slice(text.as_bytes()), &mut alone).unwrap();
        prop_assert_eq!(written(one.into_inner().into_inner()), written(alone.into_inner()));
        let mut alone = second();
        event::copy(&mut JsonSource::from_slice(text.as_bytes()), &mut alone).unwrap();
        prop_assert_eq!(written(other.into_inner().into_inner().into_inner()), written(alone.into_inner().into_inner()));
    }
}

/// The sink's errors are ours, which [`Disorder`] is not.
struct Ours(Out);

impl Sink for Ours {
    type Error = Error;
    fn key(&mut self, key: Key<'_>) -> Result<Interest, Error> {
        ours(self.0.key(key))
    }
    fn begin_record(&mut self, place: Place) -> Result<(), Error> {
        ours(self.0.begin_record(place))
    }
    fn end_record(&mut self) -> Result<(), Error> {
        ours(self.0.end_record())
    }
    fn begin_object(&mut self) -> Result<(), Error> {
        ours(self.0.begin_object())
    }
    fn end_object(&mut self) -> Result<(), Error> {
        ours(self.0.end_object())
    }
    fn begin_array(&mut self) -> Result<(), Error> {
        ours(self.0.begin_array())
    }
    fn end_array(&mut self) -> Result<(), Error> {
        ours(self.0.end_array())
    }
    fn null(&mut self) -> Result<(), Error> {
        ours(self.0.null())
    }
    fn bool(&mut self, value: bool) -> Result<(), Error> {
        ours(self.0.bool(value))
    }
    fn number(&mut self, number: Numeral<'_>) -> Result<(), Error> {
        ours(self.0.number(number))
    }
    fn string(&mut self, text: &str) -> Result<(), Error> {
        ours(self.0.string(text))
    }
    fn finish(&mut self) -> Result<(), Error> {
        ours(self.0.finish())
    }
}

fn ours<T>(told: Result<T, Disorder<Error>>) -> Result<T, Error> {
    told.map_err(|error| match error {
        Disorder::Sink(error) => error,
        Disorder::Source(words) => panic!("{words}"),
    })
}

struct Nested;

impl Nested {
    fn plain(out: Out) -> Unflatten<Ours> {
        Unflatten::new(Ours(out))
    }
    fn arrays(out: Out) -> Unflatten<Ours> {
        Unflatten::new(Ours(out)).arrays()
    }
    fn into_inner(unflatten: Unflatten<Ours>) -> Out {
        unflatten.into_inner().0
    }
}

#[test]
fn what_was_flattened_comes_back() {
    let text = r#"{"a":{"b":[1,{"c":[]},[2,[3]]],"d":{}},"e":{"f":{"g":"h"}},"i":null}"#;
    let mut rows = Flatten::new(Unflatten::new(JsonSink::new(Vec::new())).arrays()).arrays(Arrays::Indexed);
    event::copy(&mut JsonSource::from_slice(text.as_bytes()), &mut rows).unwrap();
    assert_eq!(rows.into_inner().into_inner().into_inner(), format!("{text}\n").as_bytes());
    let mut rows = Flatten::new(JsonSink::new(Vec::new())).separator("__");
    event::copy(&mut JsonSource::from_slice(br#"{"a":{"b":1}}"#), &mut rows).unwrap();
    assert_eq!(rows.into_inner().into_inner(), b"{\"a__b\":1}\n");
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

#[test]
fn a_limit_stops_the_source() {
    let text = "{\"a\":1}\n".repeat(100_000);
    let mut reader = Counted(text.as_bytes(), 0);
    let mut out = Limit::new(JsonSink::new(Vec::new()), 3);
    event::copy(&mut JsonSource::from_reader(&mut reader), &mut out).unwrap();
    assert_eq!(out.into_inner().into_inner(), b"{\"a\":1}\n{\"a\":1}\n{\"a\":1}\n");
    assert!(reader.1 <= 256, "{}", reader.1);
    // Text in pieces goes on to come, and is neither kept nor looked at.
    let mut out = Limit::new(JsonSink::new(Vec::new()), 1);
    let mut feed = Feed::new();
    for piece in ["[1", "] {", "]]", "\"", "\u{1}"] {
        feed.feed(piece.as_bytes(), &mut out).unwrap();
    }
    feed.finish(&mut out).unwrap();
    assert_eq!(out.into_inner().into_inner(), b"[1]\n");
    let mut out = Limit::new(JsonSink::new(Vec::new()), 0);
    event::copy(&mut JsonSource::from_slice(b"what?"), &mut out).unwrap();
    assert_eq!(out.into_inner().into_inner(), b"");
    // Whoever sends all the same is not heard.
    let mut out = Limit::new(JsonSink::new(Vec::new()), 1);
    let mut source = JsonSource::from_slice(b"1 {\"a\":[null]} 3");
    while source.send_record(&mut out).unwrap() {}
    out.finish().unwrap();
    assert_eq!(out.into_inner().into_inner(), b"1\n");
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
    let sink = Tee::new(Seen::default(), Unflatten::new(Seen::default()));
    let mut sink =
        Limit::new(Project::new(Flatten::new(Rename::new(sink, [(Pattern::dotted("a"), "b")])), patterns(&["/*"])), 1);
    event::copy(&mut recording.source(), &mut sink).map_err(|_| ()).unwrap();
    let (one, other) = sink.into_inner().into_inner().into_inner().into_inner().into_inner();
    for Seen(bytes, times) in [one, other.into_inner()] {
        assert_eq!((bytes, times), (vec![vec![1, 2]], vec![time]));
    }
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
        for arrays in [Arrays::Text, Arrays::Indexed] {
            let mut rows = Flatten::new(JsonSink::new(Vec::new())).arrays(arrays);
            event::copy(&mut source(), &mut rows).unwrap();
            let rows = rows.into_inner().into_inner();
            assert!(rows.len() < 3 * text.len(), "{} of {}", rows.len(), text.len());
        }
        let same = format!("{text}\n");
        let mut out = Unflatten::new(JsonSink::new(Vec::new()));
        event::copy(&mut source(), &mut out).unwrap();
        assert!(out.into_inner().into_inner() == same.as_bytes());
        let mut out =
            Project::new(Rename::new(JsonSink::new(Vec::new()), [(Pattern::dotted("x.a.a"), "b")]), patterns(&["/x"]));
        event::copy(&mut source(), &mut out).unwrap();
        assert_eq!(out.into_inner().into_inner().into_inner().len(), same.len());
        let mut out = Validate::new(Tee::new(JsonSink::new(Vec::new()), JsonSink::new(Vec::new())));
        event::copy(&mut source(), &mut out).map_err(|_| ()).unwrap();
    }
    // Many members behind one long key, and a key of nothing but dots.
    let long = format!("{{\"{}\":{{{}\"\":0}}}}", "k".repeat(1 << 20), "\"\":0,".repeat(100_000));
    let mut rows = Flatten::new(JsonSink::new(Vec::new()));
    event::copy(&mut JsonSource::from_slice(long.as_bytes()), &mut rows).unwrap();
    assert!(rows.into_inner().into_inner().len() < 2 * long.len());
    let dots = format!("{{\"{}\":0}}", ".".repeat(1 << 20));
    let mut out = Unflatten::new(JsonSink::new(Vec::new()));
    event::copy(&mut JsonSource::from_slice(dots.as_bytes()), &mut out).unwrap();
    assert!(out.into_inner().into_inner().len() < 2 * dots.len());
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
