//! JSONPath: the compliance suite, and each way to find nodes against the others.

use crate::common;

use checks::random::Random;
use common::corpus;
use jird::jsonpath::FoundNode;
use jird::policy::{Duplicates, Policy};
use jird::{JsonPath, Value};
use serde_json::Value as Tree;
use std::ops::ControlFlow;

fn tree(value: Value<'_>) -> Tree {
    serde_json::from_slice(value.raw()).expect("it is JSON")
}

/// The strings or values of a list.
fn list(value: Value<'_>) -> Vec<Value<'_>> {
    value.elements().collect()
}

/// The lists that a test of the suite accepts under one of two keys.
fn accepted<'a>(case: Value<'a>, one: &str, several: &str) -> Vec<Vec<Tree>> {
    let trees = |value: Value<'a>| list(value).into_iter().map(tree).collect();
    match case.get(one) {
        Some(wanted) => vec![trees(wanted)],
        None => case.get(several).map(list).unwrap_or_default().into_iter().map(trees).collect(),
    }
}

#[test]
fn the_compliance_suite_passes() {
    let Some(root) = corpus() else { return };
    let suite = std::fs::read(root.join("conformance/jsonpath/cts.json")).expect("the suite can be read");
    let suite = jird::parse(&suite).expect("it is JSON");
    let (mut valid, mut invalid) = (0, 0);
    for case in list(suite.root().get("tests").expect("it has tests")) {
        let name = case.get("name").and_then(Value::as_str).expect("it has a name");
        let selector = case.get("selector").and_then(Value::as_str).expect("it has a selector");
        let compiled = JsonPath::new(&selector);
        if case.get("invalid_selector").is_some() {
            invalid += 1;
            assert!(compiled.is_err(), "{name}: {selector} is refused");
            continue;
        }
        valid += 1;
        let path = compiled.unwrap_or_else(|wrong| panic!("{name}: {selector}: {wrong}"));
        let document = case.get("document").expect("it has a document");
        check(&path, document, case, &name);
        let shown = path.to_string();
        let again = JsonPath::new(&shown).unwrap_or_else(|wrong| panic!("{name}: {shown}: {wrong}"));
        assert_eq!(again.to_string(), shown, "{name}");
        check(&again, document, case, &name);
    }
    assert!(valid > 450 && invalid > 240, "{valid} {invalid}");
}

fn check(path: &JsonPath, document: Value<'_>, case: Value<'_>, name: &str) {
    let mut nodes = path.find(document);
    let (mut found, mut paths, mut offsets) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(value) = nodes.next() {
        found.push(tree(value));
        offsets.push(value.offset());
        paths.push(Tree::String(nodes.location().normalized().to_string()));
    }
    let wanted = accepted(case, "result", "results");
    assert!(wanted.contains(&found), "{name}: {path} finds {found:?}, and not {wanted:?}");
    let wanted = accepted(case, "result_paths", "results_paths");
    assert!(wanted.is_empty() || wanted.contains(&paths), "{name}: {path} is at {paths:?}, and not {wanted:?}");
    offsets.sort_unstable();
    offsets.dedup();
    let in_order: Vec<_> = path.find_in_order(document).map(Value::offset).collect();
    assert_eq!(in_order, offsets, "{name}: {path}");
}

/// A query that finds something in the documents of `checks::random` now and then.
fn query(random: &mut Random) -> String {
    const SELECTORS: [&str; 24] = [
        "'a'", "'b'", "'c'", "''", "'é'", "'value'", "'a','b'", "'b','a'", "*", "0", "1", "2,0", "0,0", "-1", "1:",
        ":2", "::2", "::-1", "-2:", "2:0:-1", "*,0", "'a',1:", "'a','a'", "7",
    ];
    const FILTERS: [&str; 20] = [
        "@.a",
        "@ == 1",
        "@.a == @.b",
        "@.* || @ > 0",
        "!@.a",
        "length(@) > 1",
        "count(@.*) == 1",
        "@.a < 2 && @.b != 'x'",
        "match(@, 'a.*|b')",
        "search(@.a, '[a-c]')",
        "value(@..a) == 1",
        "@[0] == @[1]",
        "@..b",
        "@ == $.a",
        "$..b",
        "@ == $",
        "@.a == null || @ == true",
        "match(@.a, @.b)",
        "@[?@.a]",
        "(@.a || @.b) && !(@.a == @.b)",
    ];
    let mut text = String::from("$");
    for _ in 0..random.below(5) {
        let dots = random.pick(&["", "", ".."]);
        text += dots;
        if random.below(3) == 0 {
            text += if dots.is_empty() { "." } else { "" };
            text += random.pick(&["a", "b", "c", "é", "value", "*"]);
        } else if random.below(4) == 0 {
            text = format!("{text}[?{}]", random.pick(&FILTERS));
        } else {
            text = format!("{text}[{}]", random.pick(&SELECTORS));
        }
    }
    text
}

/// What a way to find nodes has found: offset, text and normalized path of each.
type Nodes = Vec<(u64, String, String)>;

fn found_in_order(path: &JsonPath, root: Value<'_>) -> Nodes {
    let mut nodes = path.find_in_order(root);
    let mut all = Nodes::new();
    while let Some(value) = nodes.next() {
        let raw = value.raw_str().expect("it is UTF-8").to_owned();
        all.push((value.offset() as u64, raw, nodes.location().normalized().to_string()));
    }
    all
}

/// A reader that gives a few bytes at a time.
struct Drops<'t>(&'t [u8], usize);

impl std::io::Read for Drops<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let len = self.0.len().min(out.len()).min(self.1);
        out[..len].copy_from_slice(&self.0[..len]);
        self.0 = &self.0[len..];
        Ok(len)
    }
}

fn searched(path: &JsonPath, text: &[u8], chunk: usize) -> Option<[Result<Nodes, jird::Error>; 2]> {
    let ways = [true, false].map(|from_memory| {
        let mut all = Nodes::new();
        let mut each = |node: FoundNode<'_>| {
            all.push((node.offset(), node.raw().to_owned(), node.location().normalized().to_string()));
            ControlFlow::Continue(())
        };
        let mut search = path.search().ok()?.chunk_bytes(chunk);
        let done = if from_memory {
            search.in_slice(text, &mut each)
        } else {
            search.in_reader(Drops(text, 1 + chunk / 7), &mut each)
        };
        Some(done.map(|()| all))
    });
    let [one, two] = ways;
    Some([one?, two?])
}

fn searched_trusted<'t>(path: &JsonPath, text: &'t [u8]) -> Vec<(u64, &'t [u8])> {
    let mut all = Vec::new();
    path.search_trusted(text, |node| {
        all.push((node.offset() as u64, node.raw()));
        ControlFlow::Continue(())
    });
    all
}

fn no_duplicates() -> Policy {
    Policy { duplicates: Duplicates::Refuse, ..Policy::default() }
}

#[test]
fn every_way_finds_the_same_nodes() {
    let mut random = Random::new(9535);
    let (mut nodes, mut streamed) = (0, 0);
    for round in 0..if checks::is_slow() { 500 } else { 20_000 } {
        let mut text = " ".repeat(random.below(3));
        checks::random::value(&mut random, 5, &mut text);
        let document = jird::parse(text.as_bytes()).expect("it is JSON");
        let path = query(&mut random);
        let path = JsonPath::new(&path).unwrap_or_else(|wrong| panic!("{path}: {wrong}"));
        let mut walk = path.find(document.root());
        let mut by_standard = Nodes::new();
        while let Some(value) = walk.next() {
            let raw = value.raw_str().expect("it is UTF-8").to_owned();
            by_standard.push((value.offset() as u64, raw, walk.location().normalized().to_string()));
        }
        by_standard.sort();
        by_standard.dedup();
        let in_order = found_in_order(&path, document.root());
        assert_eq!(in_order, by_standard, "{path} in {text}");
        nodes += in_order.len();
        let trusted = searched_trusted(&path, text.as_bytes());
        let has_repeated = jird::Parser::with_policy(no_duplicates()).parse(text.as_bytes()).is_err();
        if !has_repeated {
            let wanted: Vec<_> = in_order.iter().map(|(offset, raw, _)| (*offset, raw.as_bytes())).collect();
            assert_eq!(trusted, wanted, "{path} in {text}");
        }
        let chunk = [64, 128, 1 << 16][round % 3];
        if let Some(ways) = searched(&path, text.as_bytes(), chunk) {
            streamed += in_order.len();
            for way in ways {
                assert_eq!(way.as_ref(), Ok(&in_order), "{path} in {text}");
            }
            let cut = &text.as_bytes()[..text.len() - 1];
            if let (Err(wanted), Some(ways)) = (jird::validate(cut), searched(&path, cut, chunk)) {
                for way in ways {
                    let wrong = way.expect_err("it is cut off");
                    assert_eq!((wrong.code(), wrong.offset()), (wanted.code(), wanted.offset()), "{path} in {text}");
                }
            }
        }
    }
    assert!(checks::is_slow() || nodes > 5_000 && streamed > 2_000, "{nodes} {streamed}");
}

#[test]
fn nodes_come_whole_out_of_a_window_that_moves() {
    let elements: Vec<_> = (0..20_000).map(|id| format!(r#"{{"id":{id},"a":["{}"]}}"#, "x".repeat(id % 131))).collect();
    let text = format!("[{}]", elements.join(" ,"));
    for (path, wanted) in [("$[*]", 20_000), ("$[?@.id >= 19000]", 1000), ("$..a", 20_000), ("$[*].a[0]", 20_000)] {
        let path = JsonPath::new(path).expect("it is a path");
        for chunk in [64, 4096, 1 << 16] {
            let mut search = path.search().expect("it can be searched for").chunk_bytes(chunk);
            let mut count = 0;
            let searched = search.in_reader(Drops(text.as_bytes(), 50_000), |node| {
                let at = usize::try_from(node.offset()).expect("it is in memory");
                assert!(text[at..].starts_with(node.raw()), "{path}");
                assert!(jird::validate(node.raw().as_bytes()).is_ok(), "{path}: {}", node.raw());
                count += 1;
                ControlFlow::Continue(())
            });
            assert_eq!((searched, count), (Ok(()), wanted), "{path}");
        }
    }
}

#[test]
fn a_location_leads_back_to_its_node() {
    let text = br#"{"a":[{"b'\n":1,"":[2]},{"b":{"a":[3]}}],"c":"x"}"#;
    let document = jird::parse(text).expect("it is JSON");
    let everything = JsonPath::new("$..*").expect("it is a path");
    let mut nodes = everything.find(document.root());
    let mut count = 0;
    while let Some(value) = nodes.next() {
        let location = nodes.location();
        let back = JsonPath::new(&location.normalized().to_string()).expect("a normalized path is a path");
        assert_eq!(back.find(document.root()).map(Value::offset).collect::<Vec<_>>(), [value.offset()]);
        assert_eq!(back.as_path(), Some(location.clone()));
        assert_eq!(document.root().pointer(&location.to_string()).map(Value::offset), Some(value.offset()));
        count += 1;
    }
    assert_eq!(count, 10);
}

#[test]
fn of_members_with_one_key_a_name_selects_the_first() {
    let text = br#"{"a":1,"\u0061":2,"b":{"a":3,"a":4}}"#;
    let document = jird::parse(text).expect("it is JSON");
    for (path, wanted) in [("$.a", vec!["1"]), ("$..a", vec!["1", "3"]), ("$.b.*", vec!["3", "4"])] {
        let path = JsonPath::new(path).expect("it is a path");
        let found: Vec<_> = path.find(document.root()).filter_map(Value::raw_str).collect();
        assert_eq!(found, wanted, "{path}");
        let [one, two] = searched(&path, text, 64).expect("it can be searched for");
        for way in [one, two] {
            assert_eq!(way.expect("it is JSON").into_iter().map(|node| node.1).collect::<Vec<_>>(), wanted, "{path}");
        }
    }
}

#[test]
fn numbers_compare_exactly() {
    let text = br"[9007199254740993,9007199254740992,1e400,1e401,0.1,0.10000000000000001,-0,0.0,1.50]";
    let document = jird::parse(text).expect("it is JSON");
    let found = |filter: &str| -> Vec<&str> {
        let path = JsonPath::new(&format!("$[?{filter}]")).expect("it is a path");
        path.find(document.root()).filter_map(Value::raw_str).collect()
    };
    assert_eq!(found("@ == 9007199254740993"), ["9007199254740993"]);
    assert_eq!(found("@ > 9007199254740992"), ["9007199254740993", "1e400", "1e401"]);
    assert_eq!(found("@ >= 10e400"), ["1e401"]);
    assert_eq!(found("@ == 0.1"), ["0.1"]);
    assert_eq!(found("@ == 0"), ["-0", "0.0"]);
    assert_eq!(found("@ == 15e-1"), ["1.50"]);
}

#[test]
fn depth_takes_no_stack_and_is_limited() {
    let deep = |depth: usize| ["[".repeat(depth), "]".repeat(depth)].concat();
    let paths = ["$..*", "$..[0]", "$..[?@ == @]", "$..[?@..[0]]", "$[0]", "$.a", "$.*", "$..a", "$[?@]"];
    for path in paths.map(|path| JsonPath::new(path).expect("it is a path")) {
        let text = deep(1024);
        let document = jird::parse(text.as_bytes()).expect("it is deep enough");
        let wanted = found_in_order(&path, document.root());
        let [one, two] = searched(&path, text.as_bytes(), 64).expect("it can be searched for");
        assert_eq!((one.expect("it is JSON"), two.expect("it is JSON")), (wanted.clone(), wanted), "{path}");
        let text = deep(1025);
        let [one, two] = searched(&path, text.as_bytes(), 64).expect("it can be searched for");
        for way in [one, two] {
            assert_eq!(way.map_err(|wrong| (wrong.code(), wrong.offset())), Err(("depth", 1024)), "{path}");
        }
    }
}

#[test]
fn a_path_is_parsed_on_little_stack_or_refused() {
    let on_little_stack = |path: String| {
        let parse = move || JsonPath::new(&path).map(|path| path.to_string()).map_err(|wrong| wrong.to_string());
        let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(parse).expect("a thread starts");
        thread.join().expect("nothing panics")
    };
    for (open, inside, close) in
        [("(", "@.a", ")"), ("!(", "@.a", ")"), ("@[?", "@.a", "]"), ("length(", "@.a", ")==1")]
    {
        let nested = |depth: usize| format!("$[?{}{inside}{}]", open.repeat(depth), close.repeat(depth));
        if close.len() == 1 {
            assert!(on_little_stack(nested(23)).is_ok(), "{open}");
        }
        let refused = on_little_stack(nested(100_000)).expect_err("it is too deep");
        assert!(refused.contains("nested deeper than 24 levels"), "{refused}");
    }
    assert!(on_little_stack(format!("${}", ".a".repeat(100_000))).is_ok());
}

#[test]
fn any_text_is_a_path_or_is_refused() {
    const PARTS: [&str; 40] = [
        "$",
        "@",
        ".",
        "..",
        "[",
        "]",
        "'a'",
        "\"b\"",
        "*",
        "?",
        "(",
        ")",
        "!",
        "&&",
        "||",
        "==",
        "<",
        ">=",
        "1",
        "-",
        "0",
        ":",
        ",",
        " ",
        "\n",
        "a",
        "length(",
        "count(",
        "match(",
        "value(",
        "true",
        "null",
        "1.5e3",
        "é",
        "\\",
        "'",
        "\u{7}",
        "9007199254740992",
        "\\ud83d",
        "'\\ud83d\\ude00'",
    ];
    let mut random = Random::new(7);
    let mut good = 0;
    for _ in 0..if checks::is_slow() { 2000 } else { 200_000 } {
        let mut text = String::from(random.pick(&["$", "$", "$[", "$[?", "$[?@", ""]));
        (0..random.below(9)).for_each(|_| text += random.pick(&PARTS));
        match JsonPath::new(&text) {
            Ok(path) => {
                good += 1;
                let shown = path.to_string();
                let again = JsonPath::new(&shown).unwrap_or_else(|wrong| panic!("{text}: {shown}: {wrong}"));
                assert_eq!(again.to_string(), shown, "{text}");
            }
            Err(wrong) => assert!(text.is_char_boundary(wrong.offset()), "{text}: {wrong}"),
        }
    }
    assert!(checks::is_slow() || good > 1000, "{good}");
}

#[test]
fn a_refused_path_says_what_is_expected_and_where() {
    for (path, wanted) in [
        ("", "a JSONPath begins with `$`: `$` alone is the whole document, at byte 0 of the path"),
        ("a.b", "a JSONPath begins with `$`, at byte 0 of the path"),
        ("$ ", "white space stands after the path, at byte 2 of the path"),
        ("$.", "the path ends where a name or `*` after `.` is expected, at byte 2 of the path"),
        ("$a", "'a' stands where `.`, `..`, `[` or the end is expected, at byte 1 of the path"),
        ("$[a]", "a name in brackets stands in quotes, as in `['a']`, at byte 2 of the path"),
        ("$.[0]", "`[` stands directly after a name: write `['a']` or `[0]`, without `.`, at byte 2 of the path"),
        ("$.a[01]", "\"01\" is not an integer: it is `0`, or its first digit is another one, at byte 4 of the path"),
        ("$[9007199254740992]", "an index is at most 9007199254740991, with either sign, at byte 2 of the path"),
        ("$['a]", "the string is not closed by `'`, at byte 2 of the path"),
        ("$['\\x']", "`\\x` is not an escape, at byte 3 of the path"),
        ("$[?@.a=1]", "a comparison is written `==`, at byte 6 of the path"),
        (
            "$[?@.a =~ 'b']",
            "regular expressions are matched by `match(@.a, 'x.*')` and `search`, at byte 7 of the path",
        ),
        (
            "$[?@.a == b]",
            "\"b\" is not a value: a string stands in quotes, and a member of the node is `@.b`, at byte 10 of the path",
        ),
        (
            "$[?@.* == 1]",
            "a comparison takes one value, and this query may find several: name its node by names and indexes alone, as in `@.a[0]`, at byte 3 of the path",
        ),
        (
            "$[?lenght(@) > 1]",
            "\"lenght\" is not a function; the functions are length, count, match, search and value, at byte 3 of the path",
        ),
        (
            "$[?length(@)]",
            "a value alone is neither true nor false: compare it, as in `@.a == 1`, at byte 3 of the path",
        ),
        ("$[?!@.a == 1]", "`!` before a comparison needs brackets, as in `!(@.a == 1)`, at byte 4 of the path"),
    ] {
        assert_eq!(JsonPath::new(path).map_err(|wrong| wrong.to_string()), Err(wanted.to_owned()), "{path}");
    }
}

#[test]
fn a_trusted_search_finds_keys_however_they_are_written() {
    let text = r#"{"a":"a","x\\":{"\u0061" : [1,{"a"
        :2}]},"\\\"a":3,"\"a\":":{"a":"\"a\":4"},"\u0062a":5,"é":{"\u00e9":6},"z":{"a\u0061":7},"":{"":8},"aa":{"a\u0061":{"a":9}}}"#;
    let document = jird::parse(text.as_bytes()).expect("it is JSON");
    for path in [
        "$..a",
        "$..aa",
        "$..é",
        "$..['']",
        "$..ba",
        "$..aa..aa",
        "$..aa..a",
        "$..aa.a",
        "$..a[1]..a",
        "$..a[?@.a]",
        "$..b",
        "$..['\"a']",
        "$..*",
        "$..aa..aa..a",
        "$..x..a",
    ] {
        let path = JsonPath::new(path).expect("it is a path");
        let wanted: Vec<_> =
            path.find_in_order(document.root()).map(|value| (value.offset() as u64, value.raw())).collect();
        assert_eq!(searched_trusted(&path, text.as_bytes()), wanted, "{path}");
    }
    let long = JsonPath::new(&format!("$..{}", "a".repeat(1000))).expect("it is a path");
    assert_eq!(searched_trusted(&long, text.as_bytes()), []);
}

#[test]
fn any_text_can_be_searched_as_trusted() {
    const ALPHABET: &[u8] = b"\"\"\"aabu0061\\\\{}[]:,: \xC3\xA9\x00";
    let mut random = Random::new(1);
    let paths = ["$..a", "$..é", "$..a..b", "$..a.b", "$..['']", "$.a[0]"]
        .map(|path| JsonPath::new(path).expect("it is a path"));
    for _ in 0..if checks::is_slow() { 500 } else { 20_000 } {
        let text: Vec<u8> = (0..random.below(60)).map(|_| random.pick(ALPHABET)).collect();
        for path in &paths {
            let found = searched_trusted(path, &text);
            assert!(found.is_sorted_by_key(|node| node.0), "{path}");
        }
    }
}
