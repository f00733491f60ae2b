//! `jird get` with a JSONPath. `commands.rs` has it with a JSON Pointer.

use crate::commands::{File, check, gzip, jird};
use std::io::Write;
use std::process::{Command, Stdio};

const TEXT: &str = r#"{"items": [{"id": 1.50, "name": "a\n"}, {"id": 2, "name": "b", "sub": {"id": [3, 4]}}]}"#;

#[test]
fn every_value_that_a_path_finds_is_printed_as_it_stands() {
    check(&["get", "$.items[*].id"], TEXT, "1.50\n2\n", 0);
    check(&["get", "$.items[*].name"], TEXT, "\"a\\n\"\n\"b\"\n", 0);
    check(&["get", "--raw", "$.items[*].name"], TEXT, "a\n\nb\n", 0);
    check(&["get", "$.items[?@.id > 1.5].name"], TEXT, "\"b\"\n", 0);
    check(&["get", "$..id"], TEXT, "1.50\n2\n[3, 4]\n", 0);
    check(&["get", "$"], TEXT, &format!("{TEXT}\n"), 0);
    check(
        &["get", "--paths", "$..id"],
        TEXT,
        "$['items'][0]['id']\t1.50\n$['items'][1]['id']\t2\n$['items'][1]['sub']['id']\t[3, 4]\n",
        0,
    );
    check(&["get", "--paths", "--raw", "$.items[-1].name"], TEXT, "$['items'][1]['name']\tb\n", 0);
    check(&["get", "--color=always", "$.items[1].id"], TEXT, "\u{1b}[36m2\u{1b}[0m\n", 0);
}

#[test]
fn values_come_in_the_order_of_the_standard_or_of_the_document() {
    check(&["get", "$[2, 0, 0]"], "[1, 2, 3]", "3\n1\n1\n", 0);
    check(&["get", "$[::-1]"], "[1, 2, 3]", "3\n2\n1\n", 0);
    let text = r#"{"x": {"a": 1}, "a": {"a": 2}}"#;
    check(&["get", "$..a"], text, "1\n{\"a\": 2}\n2\n", 0);
    check(&["get", "$..['a', 'x']..a"], text, "1\n2\n", 0);
    // The same by a walk over the parsed document, which the last selector needs.
    check(&["get", "$..['a', 'x']..['a', -1]"], text, "1\n2\n", 0);
}

#[test]
fn lines_and_compressed_files_are_searched_too() {
    let lines = "{\"a\": 1}\n{\"b\": {\"a\": [2]}}\n\n{\"c\": 3}\n";
    let (out, err, code) = jird(&["get", "--lines", "$..a"], lines.as_bytes());
    assert_eq!((out.as_str(), code), ("1\n[2]\n", 1));
    assert!(err.ends_with("nothing at $..a in 1 of 3 lines\n"), "{err}");
    let packed = File::new("path.ndjson.gz", &gzip(lines.as_bytes()));
    check(&["get", "$.*", packed.name()], "", "1\n{\"a\": [2]}\n3\n", 0);
    let packed = File::new("path.json.gz", &gzip(TEXT.as_bytes()));
    check(&["get", "$.items[0].id", packed.name()], "", "1.50\n", 0);
    check(&["get", "$.a"], "\u{feff}{\"a\": 1}", "1\n", 0);
}

#[test]
fn nothing_found_or_a_bad_document_exits_with_one() {
    assert_eq!(jird(&["get", "$.none"], b"[1]"), (String::new(), "jird: <stdin>: nothing at $.none\n".into(), 1));
    let (out, err, code) = jird(&["get", "$..a"], b"{\"a\": 1,\n \"b\": {\"a\": }}");
    assert_eq!((out.as_str(), code), ("1\n", 1));
    assert_eq!(err, "jird: <stdin>: expected a value at line 2 column 13 (byte 21, at /b/a)\n");
    let (out, err, code) = jird(&["get", "$[-1]"], b"[1, }");
    assert_eq!((out.as_str(), code), ("", 1));
    assert!(err.contains("expected a value"), "{err}");
    let (_, err, code) = jird(&["get", "$[*]"], b"[1]\n[2]\n");
    assert!(code == 1 && err.contains("add --lines"), "{err}");
    let (_, err, code) = jird(&["get", "$.a"], b"\xff\xfe[\0");
    assert!(code == 1 && err.contains("UTF-16LE"), "{err}");
    let (_, err, code) = jird(&["get", "$.a", "missing.json"], b"");
    assert!(code == 2 && err.contains("missing.json"), "{err}");
}

/// What arrives byte by byte, in a pipe that another program holds open, is found at once; and an output that cannot be
/// written is told.
#[cfg(target_os = "linux")]
#[test]
fn slow_inputs_and_full_outputs_are_no_surprise() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jird"));
    let child = command.args(["get", "$..id"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    TEXT.bytes().for_each(|byte| input.write_all(&[byte]).unwrap());
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.stdout.as_slice(), output.status.code()), (&b"1.50\n2\n[3, 4]\n"[..], Some(0)));
    let (_, err, code) = jird(&["get", "$..id", "/proc/self/mem"], b"");
    assert!(code == 2 && err.contains("/proc/self/mem"), "{err}");
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_jird"));
    let child = command.args(["get", "$..id"]).stdin(Stdio::piped()).stdout(full).stderr(Stdio::piped());
    let mut child = child.spawn().unwrap();
    child.stdin.take().unwrap().write_all(TEXT.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("No space left"), "{output:?}");
}

#[test]
fn a_wrong_path_is_shown_with_its_place() {
    let wrong = |path: &str| {
        let (out, err, code) = jird(&["get", path], b"{}");
        assert_eq!((out.as_str(), code), ("", 2), "{err}");
        err
    };
    assert_eq!(
        wrong("$.é[0"),
        "jird: the path ends where `,` or `]` is expected, at byte 6 of the path\n  $.é[0\n       ^\n"
    );
    assert_eq!(
        wrong(".items[0].name"),
        "jird: \".items[0].name\" is in the notation of jq: write it as a JSONPath `$.items[0].name`, or as a JSON \
         Pointer `/items/0/name`\n"
    );
    assert!(wrong(".items[].name").contains("JSONPath `$.items.*.name`\n"));
    assert!(wrong(".[0]").contains("`$[0]`, or as a JSON Pointer `/0`"));
    let err = wrong("items");
    assert!(err.contains("is not a JSON Pointer") && err.contains("begins with `$`"), "{err}");
    let (_, err, code) = jird(&["get", "--paths", "/a"], b"{}");
    assert!(code == 2 && err.contains("--paths is for a JSONPath"), "{err}");
}

#[test]
fn a_pattern_that_matches_nothing_is_told() {
    let (out, err, code) = jird(&["get", r"$[?match(@, '\\d') || @ == 1]"], b"[1]");
    assert_eq!((out.as_str(), code), ("1\n", 0));
    assert!(err.contains(r"warning: the pattern '\\d' matches nothing: `\d` is not an escape of I-Regexp"), "{err}");
}

/// More than 500 MB go through a process that may have 400 MB of address space, its program included.
#[test]
#[cfg(target_os = "linux")]
fn a_text_larger_than_the_memory_is_searched() {
    let script =
        format!("ulimit -v 400000; exec {} get --raw '$.items[?@.id == 2999999].name'", env!("CARGO_BIN_EXE_jird"));
    let mut child = Command::new("sh")
        .args(["-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = std::io::BufWriter::with_capacity(1 << 16, child.stdin.take().unwrap());
    let padding = "-".repeat(150);
    write!(stdin, "{{\"items\": [0").unwrap();
    for id in 0..3_000_000 {
        write!(stdin, ",{{\"id\":{id},\"name\":\"name {id}\",\"padding\":\"{padding}\"}}").unwrap();
    }
    stdin.write_all(b"]}").unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(
        (String::from_utf8_lossy(&output.stdout).as_ref(), output.status.code()),
        ("name 2999999\n", Some(0)),
        "{err}"
    );
}
