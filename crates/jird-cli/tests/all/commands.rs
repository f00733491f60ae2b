//! `jird validate`, `fmt`, `get` from outside: arguments and standard input in; standard output, standard error and exit
//! code out.

use crate::folder::Folder;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Runs `jird` with `stdin`. Returns what it printed, what it said, and its exit code.
pub(crate) fn jird(arguments: &[&str], stdin: &[u8]) -> (String, String, i32) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_jird"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read its input closes the pipe.
    let _ = child.stdin.take().unwrap().write_all(stdin);
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code().unwrap())
}

pub(crate) fn check(arguments: &[&str], stdin: &str, printed: &str, code: i32) {
    let (out, err, found) = jird(arguments, stdin.as_bytes());
    assert_eq!((out.as_str(), found), (printed, code), "{arguments:?} said {err:?}");
    // Words come only when something was wrong.
    assert!(code != 0 || err.is_empty(), "{err}");
}

/// A file that goes away with the test.
pub(crate) struct File(PathBuf);

impl File {
    pub(crate) fn new(name: &str, text: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("jird-{}-{name}", std::process::id()));
        fs::write(&path, text).unwrap();
        Self(path)
    }

    pub(crate) fn name(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn a_valid_document_is_passed_over_in_silence() {
    for text in ["{}", " [1, 2.5e3, \"\\u00e9\"]\n", "1e309", "123456789012345678901234567890", "null"] {
        check(&["validate"], text, "", 0);
    }
}

#[test]
fn a_bad_document_is_named_with_line_column_byte_and_path() {
    let text = "{\"a\": [1,\n  {\"b/c\": tru}]}";
    let line = "<stdin>:2:14: expected `true`, `false` or `null` (byte 23, at /a/1/b~1c)\n";
    check(&["validate"], text, line, 1);
    check(&["validate", "-"], text, line, 1);
    check(&["validate"], "", "<stdin>:1:1: expected a value, found nothing (byte 0)\n", 1);
    check(&["validate"], "[1] x", "<stdin>:1:5: unexpected text after the value (byte 4)\n", 1);
    check(&["validate"], "\u{feff}[1,]", "<stdin>:1:7: expected a value (byte 6, at /1)\n", 1);
}

#[test]
fn numbers_beyond_the_machine_are_refused_where_that_is_asked() {
    let range = |byte| format!("<stdin>:1:{}: the number is out of the allowed range (byte {byte})\n", byte + 1);
    for (text, any, finite, machine) in [
        ("1e308", 0, 0, 0),
        ("-1e309", 0, 1, 1),
        ("9223372036854775808", 0, 0, 0),
        ("18446744073709551615", 0, 0, 0),
        ("18446744073709551616", 0, 0, 1),
        ("-9223372036854775808", 0, 0, 0),
        ("-9223372036854775809", 0, 0, 1),
    ] {
        for (policy, code) in [("any", any), ("finite", finite), ("machine", machine)] {
            let printed = if code == 0 { String::new() } else { range(0) };
            check(&["validate", "--numbers", policy], text, &printed, code);
            check(&["validate", "--lines", "--numbers", policy], text, &printed, code);
        }
    }
}

#[test]
fn repeated_keys_and_deep_nesting_are_refused_where_that_is_asked() {
    let twice = "{\"a\":1,\"b\":2,\"\\u0061\":3}";
    check(&["validate"], twice, "", 0);
    let line = "<stdin>:1:14: the object already has this key (byte 13, at /a)\n";
    let (out, _, code) = jird(&["validate", "--unique-keys"], twice.as_bytes());
    assert_eq!((out.as_str(), code), (line, 1));
    let (out, _, code) = jird(&["validate", "--unique-keys", "--lines"], twice.as_bytes());
    assert_eq!((out.as_str(), code), (line, 1));
    check(&["validate", "--depth-max", "2"], "[[1]]", "", 0);
    let (out, _, code) = jird(&["validate", "--depth-max", "2"], b"[[[1]]]");
    assert!(out.starts_with("<stdin>:1:3: nested too deeply (byte 2") && code == 1, "{out}");
}

#[test]
fn lines_are_documents_of_their_own_and_every_bad_one_is_named() {
    let text = "{\"a\":1}\r\n\n{\"a\":\n[1] 2\n\"x\n \t \n{\"z\":[tru]}\n{\"ok\":1}";
    let wanted = "<stdin>:3:6: an array or object is not closed (byte 15, at /a)\n\
        <stdin>:4:5: unexpected text after the value (byte 20)\n\
        <stdin>:5:3: the string is not closed (byte 24)\n\
        <stdin>:7:10: expected `true`, `false` or `null` (byte 38, at /z/0)\n";
    check(&["validate", "--lines"], text, wanted, 1);
    let file = File::new("lines.ndjson", text.as_bytes());
    check(&["validate", "--lines", file.name()], "", &wanted.replace("<stdin>", file.name()), 1);
}

#[test]
fn the_lines_of_a_large_file_are_counted_across_chunks() {
    let mut text = "{\"some\": \"ordinary line\", \"of\": [1, 2, 3]}\n".repeat(400_000);
    text.push_str("{\"last\": }\n");
    let file = File::new("large.ndjson", text.as_bytes());
    let line = format!("{}:400001:10: expected a value (byte {}, at /last)\n", file.name(), text.len() - 2);
    check(&["validate", "--lines", file.name()], "", &line, 1);
}

#[test]
fn what_cannot_be_read_is_reported_and_the_others_are_done() {
    let good = File::new("good.json", b"{}");
    let bad = File::new("bad.json", b"{");
    let folder = std::env::temp_dir();
    let arguments = ["validate", "/nowhere/at/all", folder.to_str().unwrap(), good.name(), bad.name()];
    let (out, err, code) = jird(&arguments, b"");
    assert_eq!(code, 2, "could not be done beats bad data");
    assert_eq!(out, format!("{}:1:2: an array or object is not closed (byte 1)\n", bad.name()));
    assert!(err.contains("/nowhere/at/all: No such file") && err.contains("is a directory"), "{err}");
}

#[test]
fn lines_of_a_pipe_that_has_a_name_are_checked_too() {
    let script = format!("printf '{{}}\\n[1,]\\n' | {} validate --lines /dev/fd/0", env!("CARGO_BIN_EXE_jird"));
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "/dev/fd/0:2:4: expected a value (byte 6, at /1)\n");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_file_without_a_line_feed_does_not_fill_the_memory() {
    let file = File::new("endless.ndjson", b"");
    // Two gigabytes that take no room.
    fs::OpenOptions::new().write(true).open(&file.0).unwrap().set_len(2 << 30).unwrap();
    let (out, err, code) = jird(&["validate", "--lines", file.name()], b"");
    assert_eq!(code, 1, "{err}");
    assert!(out.contains("longer than the limit; the limit is 67108864 bytes"), "{out}");
}

#[test]
fn a_layout_changes_nothing_but_white_space() {
    let text = "{\"b\" : [1.50, {}, [ ]],\n \"a\":\"\\u0041\"}";
    check(&["fmt"], text, "{\n  \"b\": [\n    1.50,\n    {},\n    []\n  ],\n  \"a\": \"\\u0041\"\n}\n", 0);
    check(&["fmt", "--indent", "0"], "[1]", "[\n1\n]\n", 0);
    check(&["fmt", "--minify"], text, "{\"b\":[1.50,{},[]],\"a\":\"\\u0041\"}\n", 0);
    check(&["fmt", "--canonical"], text, "{\"a\":\"A\",\"b\":[1.5,{},[]]}", 0);
    let (out, err, code) = jird(&["fmt"], b"[1,]");
    assert_eq!((out.as_str(), code), ("", 1));
    assert!(err.contains("<stdin>: expected a value at line 1 column 4 (byte 3, at /1)\n  [1,]\n     ^"), "{err}");
}

#[test]
fn documents_that_were_cut_short_are_repaired_and_that_is_told() {
    let cut = "{\"a\": [1.50, {\"b\": \"x\\u00";
    let (out, err, code) = jird(&["fmt", "--repair", "--minify"], cut.as_bytes());
    assert_eq!((out.as_str(), code), ("{\"a\":[1.50,{\"b\":\"x\"}]}\n", 1));
    assert_eq!(err, "jird: <stdin>: cut short: removed 4 bytes from byte 21 (`\\u00`), added `\"}]}`\n");
    check(&["fmt", "--repair", "--minify"], "[1, 23]", "[1,23]\n", 0);
    assert_eq!(jird(&["fmt"], cut.as_bytes()).2, 1);
    // Only cuts are repaired.
    for wrong in ["[1,]", "[1}", "", "tru", "[1] [", "{\"a\" 1"] {
        let (out, err, code) = jird(&["fmt", "--repair"], wrong.as_bytes());
        assert!(out.is_empty() && code == 1 && err.contains("at line 1"), "{wrong}: {err}");
    }
    let lines = File::new("cut.ndjson", b"[1]\n[2, 3\n[\"x \n[4");
    let (out, err, code) = jird(&["fmt", "--repair", "--minify", lines.name()], b"");
    assert_eq!((out.as_str(), code), ("[1]\n[2]\n[\"x \"]\n[]\n", 1), "{err}");
    assert!(
        err.contains("line 2: cut short: removed 3 bytes from byte 2 (`, 3`)")
            && err.contains("line 4: cut short: removed 1 byte from byte 1"),
        "{err}"
    );
    let (_, err, code) = jird(&["fmt", "--repair", "-i", "--minify", lines.name()], b"");
    assert!(code == 1 && err.lines().count() == 3, "{err}");
    assert_eq!(fs::read_to_string(&lines.0).unwrap(), "[1]\n[2]\n[\"x \"]\n[]\n");
    check(&["fmt", "--repair", "-i", "--minify", lines.name()], "", "", 0);
}

#[test]
fn a_pointer_leads_to_a_value_as_it_stands() {
    let text = "{\"a/b\": {\"c\": [1.50, \"\\u0041\\n\"]}}";
    check(&["get", "/a~1b/c/0"], text, "1.50\n", 0);
    check(&["get", "/a~1b/c/1"], text, "\"\\u0041\\n\"\n", 0);
    check(&["get", "--raw", "/a~1b/c/1"], text, "A\n\n", 0);
    check(&["get", "--raw", "/a~1b/c"], text, "[1.50, \"\\u0041\\n\"]\n", 0);
    check(&["get", ""], text, &format!("{text}\n"), 0);
    let (out, err, code) = jird(&["get", "/a~1b/x"], text.as_bytes());
    assert_eq!((out.as_str(), err.as_str(), code), ("", "jird: <stdin>: nothing at /a~1b/x\n", 1));
    let (_, err, code) = jird(&["get", "a"], text.as_bytes());
    assert!(code == 2 && err.contains("is not a JSON Pointer"), "{err}");
}

/// `text`, compressed.
pub(crate) fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn compressed_texts_are_read_by_every_command() {
    let (good, bad) = (b"{\"a\": [1]}".as_slice(), b"{\"a\":\n [1,]}".as_slice());
    // The name says nothing.
    let zstd = |text: &[u8]| zstd::encode_all(text, 0).unwrap();
    for (index, pack) in [gzip, zstd].into_iter().enumerate() {
        let good = File::new(&format!("good-{index}"), &pack(good));
        let bad = File::new(&format!("bad-{index}"), &pack(bad));
        check(&["fmt", "--minify", good.name()], "", "{\"a\":[1]}\n", 0);
        check(&["get", "/a/0", good.name()], "", "1\n", 0);
        check(&["validate", good.name()], "", "", 0);
        let place = format!("{}:2:5: expected a value (byte 10, at /a/1)\n", bad.name());
        check(&["validate", bad.name()], "", &place, 1);
        let lines = File::new(&format!("lines-{index}.ndjson"), &pack(b"1\n[}\n"));
        check(&["validate", lines.name()], "", &format!("{}:2:2: expected a value (byte 3, at /0)\n", lines.name()), 1);
    }
    let (_, err, code) = jird(&["fmt"], &gzip(good)[..20]);
    assert!(code == 2 && err.starts_with("jird: <stdin>: "), "{err}");
}

#[test]
fn each_line_is_a_document_where_the_name_or_the_user_says_so() {
    let text = "{\"a\": 1}\n\n{\"b\": \"x\"}\r\n{\"a\": [2]}";
    let file = File::new("lines.jsonl", text.as_bytes());
    for (args, input) in [(vec![file.name()], ""), (vec!["--lines"], text)] {
        let with = |more: &[&'static str]| [more, &args[..]].concat();
        check(&with(&["fmt", "--minify"]), input, "{\"a\":1}\n{\"b\":\"x\"}\n{\"a\":[2]}\n", 0);
        check(&with(&["fmt", "--canonical"]), input, "{\"a\":1}\n{\"b\":\"x\"}\n{\"a\":[2]}\n", 0);
        check(&with(&["fmt"]), input, "{\n  \"a\": 1\n}\n{\n  \"b\": \"x\"\n}\n{\n  \"a\": [\n    2\n  ]\n}\n", 0);
        check(&with(&["get", ""]), input, "{\"a\": 1}\n{\"b\": \"x\"}\n{\"a\": [2]}\n", 0);
        let (out, err, code) = jird(&with(&["get", "/a"]), input.as_bytes());
        assert_eq!((out.as_str(), code), ("1\n[2]\n", 1));
        assert!(err.ends_with("nothing at /a in 1 of 3 lines\n"), "{err}");
        check(&with(&["validate"]), input, "", 0);
    }
    // What is good before a bad line is printed, and the place is that in the whole text.
    let (out, err, code) = jird(&["fmt", "--lines", "--minify"], b"[1]\n[2,]\n[3]\n");
    assert_eq!((out.as_str(), code), ("[1]\n", 1));
    assert!(err.contains("<stdin>: expected a value at line 2 column 4 (byte 7, at /1)"), "{err}");
    let (_, err, code) = jird(&["fmt"], b"[1]\n[2]\n");
    assert!(code == 1 && err.contains("add --lines"), "{err}");
}

#[test]
fn several_files_are_done_although_one_is_bad() {
    let [one, bad, two] = [("1.json", "[1]"), ("2.json", "[1,]"), ("3.json", "[ 2 ]")]
        .map(|(name, text)| File::new(&format!("several-{name}"), text.as_bytes()));
    let files = [one.name(), bad.name(), two.name()];
    for (command, printed) in [(&["fmt", "--minify"][..], "[1]\n[2]\n"), (&["get", "/0"], "1\n2\n")] {
        let (out, err, code) = jird(&[command, &files[..]].concat(), b"");
        assert_eq!((out.as_str(), code), (printed, 1), "{err}");
        assert!(err.contains(bad.name()) && err.lines().filter(|line| line.starts_with("jird:")).count() == 1, "{err}");
    }
    let missing = format!("{}-none", one.name());
    assert_eq!(jird(&["get", "/0", &missing, two.name()], b"").2, 2);
}

#[test]
#[cfg(unix)]
fn files_are_rewritten_whole_or_not_at_all() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let text = "{\"a\" : 1.50}";
    let plain = File::new("in-place.json", text.as_bytes());
    fs::set_permissions(&plain.0, fs::Permissions::from_mode(0o640)).unwrap();
    let link = File(plain.0.with_extension("link"));
    symlink(&plain.0, &link.0).unwrap();
    let packed = File::new("in-place.json.gz", &gzip(text.as_bytes()));
    let bad = File::new("in-place-bad.json", b"[1,]");
    let lines = File::new("in-place.ndjson", b"[ 1 ]\n[ 2 ]\n");
    let (out, err, code) = jird(&["fmt", "-i", link.name(), bad.name(), packed.name()], b"");
    assert_eq!((out.as_str(), code), ("", 1), "{err}");
    assert_eq!(fs::read_to_string(&plain.0).unwrap(), "{\n  \"a\": 1.50\n}\n");
    assert_eq!(fs::metadata(&plain.0).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(fs::symlink_metadata(&link.0).unwrap().is_symlink());
    assert_eq!(fs::read(&bad.0).unwrap(), b"[1,]");
    assert_eq!(fs::read(&packed.0).unwrap()[..2], [0x1f, 0x8b]);
    check(&["get", "/a", packed.name()], "", "1.50\n", 0);
    check(&["fmt", "-i", "--minify", lines.name()], "", "", 0);
    assert_eq!(fs::read_to_string(&lines.0).unwrap(), "[1]\n[2]\n");
    // Indented documents are not lines.
    assert_eq!(jird(&["fmt", "-i", lines.name()], b"").2, 2);
    assert_eq!(fs::read_to_string(&lines.0).unwrap(), "[1]\n[2]\n");
    assert_eq!(jird(&["fmt", "-i", "-"], b"[1]").2, 2);
    assert_eq!(jird(&["fmt", "-i"], b"[1]").2, 2);
    let folder = plain.0.parent().unwrap();
    let ours = format!(".{}.part", std::process::id());
    let is_part = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().ends_with(&ours);
    assert!(!fs::read_dir(folder).unwrap().any(|entry| is_part(&entry.unwrap())));
}

#[test]
fn colors_are_for_terminals_and_for_those_who_ask() {
    let colored = "{\u{1b}[34;1m\"a\"\u{1b}[0m:\u{1b}[36m1\u{1b}[0m}\n";
    check(&["fmt", "--minify", "--color", "always"], "{\"a\":1}", colored, 0);
    check(&["get", "", "--color=always"], "{\"a\":1}", colored, 0);
    for color in ["auto", "never"] {
        check(&["fmt", "--minify", "--color", color], "{\"a\":1}", "{\"a\":1}\n", 0);
    }
}

#[test]
fn usage_errors_and_unknown_kernels_exit_with_two() {
    for arguments in [&["validate", "--numbers", "few"][..], &["frobnicate"], &["fmt", "--minify", "--canonical"], &[]]
    {
        let (out, err, code) = jird(arguments, b"");
        assert!(code == 2 && out.is_empty() && !err.is_empty(), "{arguments:?}: {code} {out} {err}");
    }
    let output = Command::new(env!("CARGO_BIN_EXE_jird")).arg("--version").env("JIRD_KERNEL", "mmx").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let output =
        Command::new(env!("CARGO_BIN_EXE_jird")).arg("--version").env("JIRD_KERNEL", "portable").output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("(kernel portable, of "));
    let version = |set: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jird"));
        command.arg("--version").env_remove("JIRD_KERNEL").envs(set.iter().copied()).output().unwrap()
    };
    assert_eq!(version(&[("JIRD_KERNEL", "")]), version(&[]), "an empty name is none");
}

#[test]
fn a_pipe_that_nobody_reads_ends_the_command_in_silence() {
    let document = File::new("pipe.json", format!("[{}1]", "1,".repeat(500_000)).as_bytes());
    for args in [&["fmt", document.name()][..], &["get", "", document.name()], CONVERT_TO_STDOUT] {
        ends_in_silence(args, document.name());
    }
}

#[cfg(feature = "convert")]
const CONVERT_TO_STDOUT: &[&str] = &["convert", "FILE", "-"];
#[cfg(not(feature = "convert"))]
const CONVERT_TO_STDOUT: &[&str] = &["fmt", "FILE"];

fn ends_in_silence(args: &[&str], file: &str) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_jird"))
        .args(args.iter().map(|arg| if *arg == "FILE" { file } else { arg }))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{args:?}");
}

#[test]
fn a_message_that_nobody_reads_changes_no_exit_code() {
    let file = File::new("unread.json", b"[1,\n");
    for args in [&["validate", file.name()][..], &["validate", "missing.json"], &["get", "/a", file.name()]] {
        let run = |stderr: Stdio| {
            Command::new(env!("CARGO_BIN_EXE_jird")).args(args).stdout(Stdio::null()).stderr(stderr).status().unwrap()
        };
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        assert_eq!(run(writer.into()).code(), run(Stdio::null()).code(), "{args:?}");
    }
}

#[test]
fn completions_are_written_for_a_shell() {
    let (out, _, code) = jird(&["completions", "bash"], b"");
    assert!(code == 0 && out.contains("_jird"));
}

const SEQUENCE: &str = "\u{1e}{\"a\": 1}\n\u{1e}\u{1e}{\n\"a\": [2]}\n\u{1e}3\n";

#[test]
fn a_sequence_of_rfc_7464_is_recognised() {
    let folder = Folder::new("sequence").with("s.json-seq", SEQUENCE).with("s.gz", gzip(SEQUENCE.as_bytes()));
    for name in ["s.json-seq", "s.gz", "-"] {
        folder.prints(&["fmt", "--minify", name], SEQUENCE, "{\"a\":1}\n{\"a\":[2]}\n3\n", 0);
        folder.prints(&["validate", name], SEQUENCE, "", 0);
        let said = folder.prints(&["get", "/a", name], SEQUENCE, "1\n[2]\n", 1);
        assert!(said.contains(": nothing at /a in 1 of 3 documents"), "{said}");
        folder.prints(&["get", "$.a", "--from", "jsonc", name], SEQUENCE, "1\n[2]\n", 1);
    }
    // What follows a bad text is still read, and places are those of the whole.
    let bad = "\u{1e}{\"a\": x}\n\u{1e}[1]\n\u{1e}[1,\n \u{1e}{\n  \"b\": y}\n";
    let lines = "<stdin>:1:8: expected a value (byte 7, at /a)\n<stdin>:4:2: an array or object is not closed (byte 21, at /1)\n<stdin>:5:8: \
                 expected a value (byte 31, at /b)\n";
    folder.prints(&["validate"], bad, lines, 1);
    folder.prints(
        &["validate", "--from", "json5"],
        "\u{1e}{a: 1}\n\u{1e}{a: ^}\n",
        "<stdin>:2:6: expected a value (byte 13)\n",
        1,
    );
    let said = folder.prints(&["fmt", "--minify"], "\u{1e}1\n\u{1e}{\"a\": x}\n", "1\n", 1);
    assert!(said.starts_with("jird: <stdin>: expected a value at line 2 column 8 (byte 10, at /a)\n"), "{said}");
    // A sequence stays one in its file.
    folder.prints(&["fmt", "-i", "--minify", "s.json-seq", "s.gz"], b"", "", 0);
    assert_eq!(folder.text("s.json-seq"), "\u{1e}{\"a\":1}\n\u{1e}{\"a\":[2]}\n\u{1e}3\n");
    folder.prints(&["fmt", "--minify", "s.gz"], b"", "{\"a\":1}\n{\"a\":[2]}\n3\n", 0);
    // As lines, it is none.
    folder.prints(&["fmt", "--lines", "s.json-seq"], b"", "", 1);
}

#[test]
fn documents_that_follow_one_another_are_read_if_that_is_said() {
    let folder = Folder::new("concatenated");
    let text = "{\"a\":1}{\"a\":\n\"}{\"} 3.50[4,\n5]\"x\"";
    folder.prints(&["fmt", "--minify", "--concatenated"], text, "{\"a\":1}\n{\"a\":\"}{\"}\n3.50\n[4,5]\n\"x\"\n", 0);
    folder.prints(&["fmt", "--canonical", "--concatenated"], text, "{\"a\":1}\n{\"a\":\"}{\"}\n3.5\n[4,5]\n\"x\"\n", 0);
    folder.prints(&["validate", "--concatenated"], text, "", 0);
    folder.prints(&["get", "$.*", "--concatenated"], text, "1\n\"}{\"\n4\n5\n", 1);
    folder.prints(
        &["validate", "--concatenated"],
        "{}{\"a\":\n x} [",
        "<stdin>:2:2: expected a value (byte 9, at /a)\n",
        1,
    );
    folder.prints(
        &["validate", "--concatenated"],
        "{} [1",
        "<stdin>:1:6: an array or object is not closed (byte 5, at /0)\n",
        1,
    );
    folder.prints(&["validate", "--concatenated"], "{},{}", "<stdin>:1:3: expected a value (byte 2)\n", 1);
    // One document is one document.
    folder.prints(&["validate"], text, "<stdin>:1:8: unexpected text after the value (byte 7)\n", 1);
    let said = folder.prints(&["fmt"], "{}{}", "", 1);
    assert!(said.contains("--concatenated --minify` makes lines"), "{said}");
    folder.prints(&["fmt", "--concatenated", "--from", "json5"], "{}", "", 2);
    folder.prints(&["fmt", "--concatenated", "--lines"], "{}", "", 2);
    let many = "[1]".repeat(100_000);
    folder.prints(&["fmt", "--minify", "--concatenated"], &many, &"[1]\n".repeat(100_000), 0);
}

#[cfg(feature = "convert")]
#[test]
fn a_sequence_is_converted() {
    let folder = Folder::new("converted").with("s", SEQUENCE).with("s.json.gz", gzip(SEQUENCE.as_bytes()));
    for name in ["s", "s.json.gz", "-"] {
        folder.prints(&["convert", name, "-"], SEQUENCE, "{\"a\":1}\n{\"a\":[2]}\n3\n", 0);
    }
}
