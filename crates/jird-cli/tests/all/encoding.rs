//! One rule for how a text begins, whatever is done with it: a byte order mark is passed over, UTF-16 and UTF-32 are named.
#![cfg(all(feature = "convert", feature = "query"))]

use crate::folder::{Folder, gzip, words};

const MARK: &str = "\u{feff}";

/// What a command printed, what it said, its exit code.
fn run(folder: &Folder, command: &[&str], input: &[u8]) -> (String, String, Option<i32>) {
    let output = folder.jird(command[0], &command[1..], input);
    (String::from_utf8_lossy(&output.stdout).into_owned(), words(&output), output.status.code())
}

/// A command for each way of reading, which print something of a document `{"a":1}` and of lines like it.
const COMMANDS: [&[&str]; 7] = [
    &["validate"],
    &["validate", "--lines"],
    &["fmt", "--minify"],
    &["get", "/a"],
    &["query", "select a"],
    &["convert", "--from", "ndjson"],
    &["describe", "--from", "json"],
];

/// What is typed behind a command to read this file; `-` is standard input.
fn of_file<'a>(command: &[&'a str], file: &'a str) -> Vec<&'a str> {
    let target = if command[0] == "convert" { &["-"][..] } else { &[] };
    [command, &[file], target].concat()
}

/// What `validate` says of a mark, and the others do not.
fn note(command: &[&str], name: &str) -> String {
    if command[0] != "validate" {
        return String::new();
    }
    format!(
        "jird: {name}: note: it begins with a byte order mark, which JSON that is sent to others must not have (RFC 8259 section 8.1)\n"
    )
}

#[test]
fn a_mark_at_the_start_is_passed_over_by_every_command() {
    let text = "{\"a\":1}\n";
    let marked = format!("{MARK}{text}");
    let folder = Folder::new("mark").with("plain.json", text).with("marked.json", &marked);
    for command in COMMANDS {
        let (out, said, code) = run(&folder, &of_file(command, "plain.json"), b"");
        assert_eq!((said.as_str(), code), ("", Some(0)), "{command:?}");
        let out = out.replace("plain.json", "marked.json");
        let of_marked = run(&folder, &of_file(command, "marked.json"), b"");
        assert_eq!(of_marked, (out.clone(), note(command, "marked.json"), Some(0)), "{command:?}");
        let of_stdin = run(&folder, &of_file(command, "-"), marked.as_bytes());
        assert_eq!(of_stdin, (out.replace("marked.json", "<stdin>"), note(command, "<stdin>"), Some(0)), "{command:?}");
    }
}

#[test]
fn each_of_several_files_may_begin_with_a_mark_packed_or_not() {
    let marked = format!("{MARK}{{\"a\":1}}\n{{\"a\":2}}\n");
    let folder = Folder::new("marks")
        .with("a.ndjson", &marked)
        .with("b.ndjson.gz", gzip(&marked))
        .with("c.ndjson.zst", zstd::encode_all(marked.as_bytes(), 1).unwrap())
        .with("d.json", format!("{MARK} [{{\"a\":1}},\n{{\"a\":2}}]"));
    let files = ["a.ndjson", "b.ndjson.gz", "c.ndjson.zst", "d.json"];
    let lines = "{\"a\":1}\n{\"a\":2}\n".repeat(4);
    let all = |command: &[&'static str], after: &[&'static str]| run(&folder, &[command, &files, after].concat(), b"");
    assert_eq!(all(&["query", "select a"], &[]), (lines.clone(), String::new(), Some(0)));
    assert_eq!(all(&["query", "select sum(a) as s"], &["--threads", "3"]).0, "{\"s\":12}\n");
    assert_eq!(all(&["convert"], &["-"]), (lines, String::new(), Some(0)));
    assert!(all(&["describe"], &[]).0.contains("8 records"));
    let (out, said, code) = run(&folder, &["validate", "--lines", "a.ndjson", "a.ndjson"], b"");
    assert_eq!((out.as_str(), said, code), ("", note(&["validate"], "a.ndjson").repeat(2), Some(0)));
    // A format that is detected by its first bytes.
    assert_eq!(folder.jird("convert", &["-", "-"], format!("{MARK}[1,2]").as_bytes()).stdout, b"1\n2\n");
    let piped = folder.query(&["select a", "--schema", "schema"], marked.as_bytes());
    assert_eq!(piped.2, 2, "there is no such file");
    std::fs::write(folder.0.join("schema"), format!("{MARK}{{\"a\":\"text\"}}")).unwrap();
    assert_eq!(
        folder.query(&["select a", "--schema", "schema"], b"{\"a\":\"x\"}\n"),
        ("{\"a\":\"x\"}\n".into(), String::new(), 0)
    );
}

#[test]
fn csv_may_begin_with_a_mark_too() {
    let folder = Folder::new("mark-csv").with("a.csv", format!("{MARK}a,b\n1,2\n"));
    assert_eq!(folder.fine(&["a.csv", "-"]), "{\"a\":\"1\",\"b\":\"2\"}\n");
    assert!(run(&folder, &["describe", "a.csv"], b"").0.contains("1 record"));
    let of_stdin = run(&folder, &["convert", "--from", "csv", "-", "-"], format!("{MARK}a\n1\n").as_bytes());
    assert_eq!(of_stdin.0, "{\"a\":\"1\"}\n");
}

#[test]
fn places_count_the_bytes_of_a_mark() {
    let folder = Folder::new("mark-places").with("a.json", format!("{MARK}{{\"a\":x}}\n"));
    for command in COMMANDS {
        for (file, input) in [("a.json", &b""[..]), ("-", b"\xef\xbb\xbf{\"a\":x}\n")] {
            let (out, said, code) = run(&folder, &of_file(command, file), input);
            assert_eq!(code, Some(1), "{command:?}");
            let told = out + &said;
            let is_told = ["column 9", ":1:9: expected a value"].iter().any(|place| told.contains(place));
            assert!(is_told && (told.contains("byte 8") || !told.contains("byte ")), "{command:?} {file}: {told}");
        }
    }
    let said = folder.query(&["select a", "a.json", "--on-error", "quarantine=bad"], b"").1;
    assert!(said.contains("at line 1 column 9"), "{said}");
    assert!(folder.text("bad").contains("\"line\":1,\"offset\":8,"), "{}", folder.text("bad"));
}

#[test]
fn a_mark_anywhere_else_is_an_error_that_names_it() {
    let lines = format!("{{\"a\":1}}\n{MARK}{{\"a\":2}}\n");
    let folder = Folder::new("mark-stray")
        .with("lines.ndjson", &lines)
        .with("two.json", format!("{MARK}{MARK}{{\"a\":1}}"))
        .with("within.json", format!("{{\"a\":{MARK}1}}"));
    let stray = "a byte order mark is skipped only at the start of a file";
    for command in [
        &["validate", "two.json"][..],
        &["validate", "within.json"],
        &["validate", "--lines", "lines.ndjson"],
        &["fmt", "two.json"],
        &["get", "/a", "within.json"],
        &["query", "select a", "lines.ndjson"],
        &["query", "select a", "within.json"],
        &["query", "select a", "lines.ndjson", "--on-error", "skip"],
        &["convert", "lines.ndjson", "-"],
        &["convert", "lines.ndjson", "-", "--on-error", "skip"],
        &["convert", "--from", "ndjson", "within.json", "-"],
        &["describe", "lines.ndjson"],
        &["describe", "lines.ndjson", "--on-error", "skip"],
    ] {
        let (out, said, code) = run(&folder, command, b"");
        assert!(code == Some(1) && (out.clone() + &said).contains(stray), "{command:?}: {out}{said}");
    }
    for command in [&["validate", "--lines"][..], &["query", "select a"], &["convert", "--from", "ndjson", "-", "-"]] {
        let (out, said, code) = run(&folder, command, lines.as_bytes());
        assert!(code == Some(1) && (out.clone() + &said).contains(stray), "{command:?}: {out}{said}");
    }
    // Within a string it is a character.
    let within = format!("{{\"a\":\"{MARK}\"}}\n");
    for command in COMMANDS {
        assert_eq!(run(&folder, &of_file(command, "-"), within.as_bytes()).2, Some(0), "{command:?}");
    }
}

/// The text in an encoding that is not read, and its name.
fn encoded(text: &str) -> [(&'static str, Vec<u8>); 4] {
    let (narrow, wide) = (text.encode_utf16(), text.chars().map(u32::from));
    [
        ("UTF-16LE", narrow.clone().flat_map(u16::to_le_bytes).collect()),
        ("UTF-16BE", narrow.flat_map(u16::to_be_bytes).collect()),
        ("UTF-32LE", wide.clone().flat_map(u32::to_le_bytes).collect()),
        ("UTF-32BE", wide.flat_map(u32::to_be_bytes).collect()),
    ]
}

#[test]
fn other_encodings_are_named_by_every_command_with_what_to_do() {
    for text in ["{\"a\":1}\n", "\u{feff}{\"a\":1}\n", "[1,\n2]", "7\n"] {
        for (encoding, bytes) in encoded(text) {
            let folder = Folder::new("encodings").with("a.json", &bytes).with("good.json", "{\"a\":1}\n");
            let message = format!(
                "the text is {encoding}, and jird reads only UTF-8; convert it with `iconv -f {encoding} -t UTF-8`"
            );
            for command in COMMANDS {
                for (file, name) in [("a.json", "a.json"), ("-", "<stdin>")] {
                    let (out, said, code) =
                        run(&folder, &of_file(command, file), if file == "-" { &bytes } else { b"" });
                    assert_eq!(code, Some(1), "{command:?} {text:?} {encoding}: {out}{said}");
                    let wanted = match command[0] {
                        "validate" => (format!("{name}:1:1: {message} (byte 0)\n"), String::new()),
                        _ => (String::new(), format!("jird: {name}: {message}\n")),
                    };
                    assert_eq!((out, said), wanted, "{command:?} {text:?}");
                }
            }
        }
    }
}

#[test]
fn other_encodings_are_named_in_packed_files_and_csv_and_other_files_are_read_all_the_same() {
    let utf16: Vec<u8> = "a,b\n1,2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let compressed = zstd::encode_all(&utf16[..], 1).unwrap();
    let folder = Folder::new("encodings-more")
        .with("a.csv", &utf16)
        .with("a.ndjson.zst", compressed)
        .with("a.txt", &utf16)
        .with("good.ndjson", "{\"a\":1}\n");
    for file in ["a.csv", "a.ndjson.zst", "a.txt"] {
        let (_, said, code) = run(&folder, &["convert", file, "-"], b"");
        assert!(code == Some(1) && said.starts_with(&format!("jird: {file}: the text is UTF-16LE")), "{said}");
    }
    let (out, said, code) = folder.query(&["select a", "a.ndjson.zst", "good.ndjson", "--unreadable", "skip"], b"");
    assert_eq!((out.as_str(), code), ("{\"a\":1}\n", 1));
    assert!(said.contains("a.ndjson.zst: the text is UTF-16LE"), "{said}");
    let (out, _, code) = run(&folder, &["validate", "--lines", "a.csv", "good.ndjson"], b"");
    assert!(code == Some(1) && out.lines().count() == 1, "{out}");
}

#[test]
fn what_is_neither_marked_nor_encoded_otherwise_is_read_as_before() {
    let folder = Folder::new("encodings-none");
    for text in ["", "\n", "\u{feff}", "\u{feff}\n"] {
        assert_eq!(run(&folder, &["validate", "--lines"], text.as_bytes()).2, Some(0), "{text:?}");
        assert_eq!(run(&folder, &["query", "select count(*) as n"], text.as_bytes()).0, "{\"n\":0}\n", "{text:?}");
        assert_eq!(run(&folder, &["validate"], text.as_bytes()).2, Some(1), "{text:?}");
    }
    assert_eq!(run(&folder, &["get", ""], b"5").0, "5\n");
    assert_eq!(run(&folder, &["get", ""], b"\xef\xbb\xbf5").0, "5\n");
    // A zero byte is not a sign of UTF-16 where nothing else is.
    let (_, said, code) = run(&folder, &["get", ""], b"{\"a\":\0}");
    assert!(code == Some(1) && !said.contains("UTF-16"), "{said}");
}
