//! `jird query`: values that would fill all memory are errors, where memory is short; SQL that is too deep is an error; and
//! so is a panic.
#![cfg(target_os = "linux")]

use crate::folder::Folder;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

/// Kilobytes of address space.
const SPACE: &str = "1500000";

/// What a query of little memory said, and its exit code. It must not be ended by a signal.
#[track_caller]
fn asked(folder: &Folder, sql: &str) -> (String, String, i32) {
    let script = format!("ulimit -v {SPACE}; exec \"$0\" query --threads 2 \"$1\" s.ndjson");
    let mut command = Command::new("bash");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_jird"), sql]).current_dir(&folder.0);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    // Some of these queries need no record.
    let is_note = |line: &&str| line.starts_with("jird: note: the query reads nothing of s.ndjson");
    let said: String = said.split_inclusive('\n').filter(|line| !is_note(line)).collect();
    assert_eq!(output.status.signal(), None, "{}: {said}", &sql[..sql.len().min(200)]);
    (String::from_utf8_lossy(&output.stdout).into_owned(), said, output.status.code().unwrap())
}

/// Expressions whose values take gigabytes, one or all of them together. `s` is a text of one character in 8,192 records.
/// One of each way to grow.
fn bombs() -> Vec<String> {
    let long = "b".repeat(500);
    let nested = |levels, call: &str| (0..levels).fold("s".to_owned(), |inner, _| call.replace('?', &inner));
    vec![
        // Constants, which are computed while the query is planned.
        format!("concat_ws(replace(replace('aaaaaaaaaa', 'a', '{long}'), 'b', '{long}'), {}s)", "s, ".repeat(100)),
        "repeat('a', 9223372036854775807)".to_owned(),
        "lpad('a', 2147483647, 'é')".to_owned(),
        "replace(repeat('a', 1000000), '', repeat('b', 1000000))".to_owned(),
        "regexp_replace(repeat('a', 1000000), 'a', repeat('b', 1000000), 'g')".to_owned(),
        "array_to_string(string_to_array(repeat('a', 1000000), NULL), repeat('b', 1000000))".to_owned(),
        "array_repeat(array_repeat('a', 100000), 100000)".to_owned(),
        "array_resize(make_array(1), 9000000000, 1)".to_owned(),
        "generate_series(1, 9000000000)".to_owned(),
        "generate_series(timestamp '1800-01-01', timestamp '2200-01-01', interval '1 second')".to_owned(),
        "arrow_cast(NULL, 'FixedSizeList(1000000000, Int64)')".to_owned(),
        // Values of rows.
        "repeat(s, 1000000)".to_owned(),
        "rpad(s, 1000000, 'xyz')".to_owned(),
        nested(12, "replace(?, 'a', 'aaaaaaaa')"),
        nested(3, "concat(?, ?, ?, ?, repeat(?, 50), repeat(?, 50), repeat(?, 50))"),
        nested(20, "encode(?, 'hex')"),
        "concat_ws(repeat(s, 100000), s, s, s, s)".to_owned(),
        "s || repeat(s, 300000)".to_owned(),
        "translate(repeat(s, 300000), 'a', '\u{1F600}')".to_owned(),
        "array_repeat(s, 1000000)".to_owned(),
        "make_array(repeat(s, 300000), repeat(s, 300000))".to_owned(),
        "string_to_array(repeat(s, 300000), 'a')".to_owned(),
    ]
}

#[test]
fn values_that_fill_all_memory_are_errors() {
    let folder = Folder::new("bombs").with("s.ndjson", "{\"s\":\"a\"}\n".repeat(8192));
    let bombs = bombs();
    // They take more than a minute of one core.
    let (one, other) = bombs.split_at(bombs.len() / 2);
    std::thread::scope(|scope| {
        for half in [one, other] {
            let folder = &folder;
            scope.spawn(move || half.iter().for_each(|bomb| assert_refused(folder, bomb)));
        }
    });
}

#[track_caller]
fn assert_refused(folder: &Folder, bomb: &str) {
    let (_, said, code) = asked(folder, &format!("select length({bomb}::text) as n"));
    let shown = &bomb[..bomb.len().min(200)];
    assert!(code == 2 && said.starts_with("jird: ") && said.lines().count() == 1, "{shown}: {code} {said}");
}

#[test]
fn values_that_are_large_and_have_room_are_computed() {
    let folder = Folder::new("room").with("s.ndjson", "{\"s\":\"a\"}\n");
    for (sql, wanted) in [
        ("select length(repeat(s, 100000000)) as n", 100_000_000),
        ("select length(replace(repeat('ab', 1000000), 'a', 'xx')) as n", 3_000_000),
        ("select length(regexp_replace(repeat('ab', 100000), '(a)b', '\\1c\\1', 'g')) as n", 300_000),
        ("select length(lpad(s, 1000000, 'é')) as n", 1_000_000),
        ("select array_length(range(0, 1000000)) as n", 1_000_000),
        ("select length(upper(repeat('ß', 1000000))) as n", 2_000_000),
    ] {
        assert_eq!(asked(&folder, sql), (format!("{{\"n\":{wanted}}}\n"), String::new(), 0), "{sql}");
    }
    // A constant of a megabyte in many rows: fewer of them at a time.
    let folder = Folder::new("constant").with("s.ndjson", "{\"s\":\"a\"}\n".repeat(8192));
    let sql = "select sum(length(case when s = 'a' then repeat('x', 100000) else s end)) as n";
    assert_eq!(asked(&folder, sql), ("{\"n\":819200000}\n".to_owned(), String::new(), 0));
}

#[test]
fn sql_that_is_deep_is_an_error() {
    let folder = Folder::new("deep").with("s.ndjson", "{\"s\":\"a\",\"a\":[1]}\n");
    let chain = |part: &str, count: usize| vec![part; count].join("");
    for sql in [
        format!("select s{} as n", chain(" || s", 10_000)),
        format!("select 1{} as n", chain(" + 1", 10_000)),
        format!("select s where s = 'b'{}", chain(" or s = 'b'", 5_001)),
        format!("select s{}", chain(" union all select s", 5_001)),
        format!("select {}1{}", chain("(", 10_000), chain(")", 10_000)),
        format!("select {}1", chain("- ", 10_000)),
        format!("select a{}", chain("[0]", 10_000)),
        format!("select s{}", chain("::text", 10_000)),
        format!("select s where {}true", chain("not ", 10_000)),
        format!("select a[-1] in ({}1) as x", chain("1, ", 20_000)),
        format!("select {}s{}", chain("lower(", 10_000), chain(")", 10_000)),
    ] {
        let (_, said, code) = asked(&folder, &sql);
        assert!(code == 2 && said.starts_with("jird: "), "{}: {code} {said}", &sql[..60]);
    }
    let sql = format!("select count(*) as n where s in ({}'a')", chain("'b', ", 20_000));
    assert_eq!(asked(&folder, &sql).0, "{\"n\":1}\n");
}

#[test]
fn what_made_datafusion_panic_is_answered_or_refused() {
    let folder = Folder::new("panic").with("s.ndjson", "{\"i\":1,\"s\":\"a\"}\n");
    let (out, said, code) = asked(&folder, "select i, sum(i order by s) as t from stream group by i");
    assert_eq!((out.as_str(), said.as_str(), code), ("{\"i\":1,\"t\":1}\n", "", 0));
    for sql in ["select array_contains(s) from stream", "select array_to_string(s), array_slice(s, 1) from stream"] {
        let (out, said, code) = asked(&folder, sql);
        assert!(
            (out.as_str(), code) == ("", 2) && said.starts_with("jird: ") && said.contains("takes"),
            "{sql}: {said}"
        );
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}
