//! `--from jsonc`, `--from json5` and `--allow` from outside.

use crate::folder::Folder;
#[cfg(feature = "convert")]
use crate::folder::{gzip, words};

fn folder() -> Folder {
    Folder::new("lenient")
        .with("a.json5", "{\n  // one\n  n: +1.50, 'it\\'s': [0x1F,],\n}\n")
        .with("b.ndjson", "{a: 1}\n\n{a: 'x'} // two\n")
}

#[test]
fn other_notations_become_strict_json() {
    let folder = folder();
    let minify = ["fmt", "--minify", "--from", "json5"];
    folder.prints(&[&minify[..], &["a.json5"]].concat(), b"", "{\"n\":1.50,\"it's\":[31]}\n", 0);
    folder.prints(&[&minify[..], &["b.ndjson"]].concat(), b"", "{\"a\":1}\n{\"a\":\"x\"}\n", 0);
    folder.prints(&["fmt", "--minify", "--from", "jsonc"], b"[1, /* */ 2,]", "[1,2]\n", 0);
    folder.prints(&["fmt", "--canonical", "--from", "json5"], b"[+1.50]", "[1.5]", 0);
    let text = ["fmt", "--minify", "--from", "json5", "--allow", "nonfinite-as-text,undefined"];
    folder.prints(&text, b"[NaN, -Infinity, undefined]", "[\"NaN\",\"-Infinity\",null]\n", 0);
    folder.prints(&["fmt", "--minify", "--allow", "invalid-utf8"], b"[\"\xff\"]", "[\"\u{FFFD}\"]\n", 0);
    folder.prints(&["fmt", "-i", "--minify", "--from", "json5", "a.json5", "b.ndjson"], b"", "", 0);
    assert_eq!(folder.text("a.json5"), "{\"n\":1.50,\"it's\":[31]}\n");
    assert_eq!(folder.text("b.ndjson"), "{\"a\":1}\n{\"a\":\"x\"}\n");
}

#[test]
fn values_are_found_in_other_notations() {
    let folder = folder();
    folder.prints(&["get", "/n", "--from", "json5", "a.json5"], b"", "1.50\n", 0);
    folder.prints(&["get", "/a", "--from", "json5", "--raw", "b.ndjson"], b"", "1\nx\n", 0);
    let said = folder.prints(&["get", "/b", "--from", "json5", "a.json5"], b"", "", 1);
    assert_eq!(said, "jird: a.json5: nothing at /b\n");
}

#[test]
fn what_is_not_asked_for_is_refused_with_its_place_and_the_option() {
    let folder = folder();
    let strict = folder.prints(&["fmt", "a.json5"], b"", "", 1);
    assert!(strict.contains("expected a key in double quotes at line 2 column 3"), "{strict}");
    let said = folder.prints(&["fmt", "--from", "jsonc", "a.json5"], b"", "", 1);
    assert_eq!(
        said,
        "jird: a.json5: expected a key in double quotes at line 3 column 3 (byte 13); the option `bare-keys` allows keys \
         without quotes\n    n: +1.50, 'it\\'s': […\n    ^\n"
    );
    let said = folder.prints(&["fmt", "--minify", "--allow", "bare-keys", "b.ndjson"], b"", "{\"a\":1}\n", 1);
    assert!(
        said.starts_with("jird: b.ndjson: expected a value at line 3 column 5 (byte 12); the option `single"),
        "{said}"
    );
    let said = folder.prints(&["fmt", "--canonical", "--from", "json5"], b"{a:1,\na:2}", "", 1);
    assert!(said.starts_with("jird: <stdin>: in the text as strict JSON: the object already has this key"), "{said}");
    folder.prints(&["fmt", "--allow", "everything"], b"[]", "", 2);
}

#[test]
fn other_notations_are_validated() {
    let folder = folder();
    folder.prints(&["validate", "--from", "json5", "a.json5"], b"", "", 0);
    let line =
        "a.json5:3:3: expected a key in double quotes; the option `bare-keys` allows keys without quotes (byte 13)\n";
    folder.prints(&["validate", "--from", "jsonc", "a.json5"], b"", line, 1);
    let line = "<stdin>:2: the object already has this key, in the text as strict JSON (byte 8, at /a)\n";
    folder.prints(&["validate", "--from", "json5", "--unique-keys"], b"{a:1,\na:2}", line, 1);
    let said = folder.prints(&["validate", "--from", "json5", "b.ndjson"], b"", "", 2);
    assert!(said.contains("lines are checked as strict JSON"), "{said}");
}

#[cfg(feature = "convert")]
#[test]
fn records_of_other_notations_are_queried_and_converted() {
    let lines = "// head\n{a: 1, b: 'x'} // one\n\n{a: 0x10,}\n";
    let array = "/* all */\n[\n  {a: 1, b: 'x'}, // one\n\n  {a: 0x10,},\n]\n";
    let folder = Folder::new("other").with("l.json5", lines).with("l.ndjson.gz", gzip(lines));
    let folder = folder.with("d.json5", array).with("d.gz", gzip(array)).with("o.jsonc", "{\n// n\n\"n\": [1, 2,],\n}");
    for (text, first, second) in [(lines, 2, 4), (array, 3, 5)] {
        let names = if text == lines { ["l.json5", "l.ndjson.gz", "-"] } else { ["d.json5", "d.gz", "-"] };
        for name in names {
            let found = folder.query(&["select a, _line as n", "--from", "json5", name], text.as_bytes());
            let wanted = format!("{{\"a\":1,\"n\":{first}}}\n{{\"a\":16,\"n\":{second}}}\n");
            assert_eq!(found, (wanted, String::new(), 0), "{name}");
            let converted = folder.fed(&["--from", "json5", "--to", "csv", name, "-"], text.as_bytes());
            assert_eq!(String::from_utf8_lossy(&converted.stdout), "a,b\n1,x\n16,\n", "{name}");
        }
    }
    folder.prints(&["query", "select a where a > 1", "--from", "json5", "?.json5"], b"", "{\"a\":16}\n{\"a\":16}\n", 0);
    folder.prints(&["query", "select n", "--from", "jsonc", "o.jsonc"], b"", "{\"n\":[1,2]}\n", 0);
    folder.prints(
        &["query", "select value", "--from", "jsonc", "--records", "/n/*", "o.jsonc"],
        b"",
        "{\"value\":1}\n{\"value\":2}\n",
        0,
    );
    folder.prints(&["convert", "--from", "jsonc", "--records", "/n/*", "o.jsonc", "-"], b"", "1\n2\n", 0);
    folder.prints(&["query", "select a", "--from", "ndjson", "--allow", "bare-keys"], b"{a: 1}", "{\"a\":1}\n", 0);
    let found = folder.jird("describe", &["--from", "json5", "--format", "json", "l.json5"], b"");
    assert!(String::from_utf8_lossy(&found.stdout).contains("l.json5:2"), "{found:?}");
}

#[cfg(feature = "convert")]
#[test]
fn a_bad_line_of_another_notation_is_told_with_its_place() {
    let text = "{a: 1}\n// none\n{a: ^}\n{a: 3}\n";
    let folder = Folder::new("told").with("l.json5", text).with("l.gz", gzip(text)).with("d.json5", "{\n  a: ^\n}\n");
    for name in ["l.json5", "l.gz", "-"] {
        let shown = if name == "-" { "<stdin>" } else { name };
        let said = folder.prints(&["query", "select a", "--from", "json5", name], text, "{\"a\":1}\n", 1);
        assert!(
            said.starts_with(&format!("jird: {shown}:3:5: expected a value (byte 19)\n  {{a: ^}}\n      ^\n")),
            "{said}"
        );
        let said = words(&folder.fed(&["--from", "json5", name, "-"], text.as_bytes()));
        assert!(said.starts_with(&format!("jird: {shown}: expected a value at line 3 column 5 (byte 19)\n")), "{said}");
        for command in ["query", "convert"] {
            let bad = format!("{command}-{shown}.bad");
            let how = format!("quarantine={bad}");
            let args: &[&str] = if command == "query" {
                &["query", "select a", "--from", "json5", "--on-error", &how, name]
            } else {
                &["convert", "--from", "json5", "--on-error", &how, name, "-"]
            };
            folder.prints(args, text, "{\"a\":1}\n{\"a\":3}\n", 1);
            let wanted = format!(
                "{{\"file\":\"{shown}\",\"line\":3,\"offset\":19,\"kind\":\"value\",\"message\":\"expected a value at line 3 \
                 column 5 (byte 19)\",\"raw\":\"{{a: ^}}\"}}\n"
            );
            assert_eq!(folder.text(&bad), wanted, "{command} {name}");
        }
    }
    let said = folder.prints(&["query", "select a", "--from", "json5", "d.json5"], b"", "", 1);
    assert_eq!(said, "jird: d.json5:2:6: expected a value (byte 7)\n    a: ^\n       ^\n");
    let said = folder.prints(&["convert", "--from", "json5", "--record-limit", "5", "d.json5", "-"], b"", "", 1);
    assert!(said.contains("longer than the limit at line 1 column 1 (byte 0); the limit is 5 bytes"), "{said}");
    let said = folder.prints(&["query", "select a", "--from", "json5", "--record-limit", "5", "d.json5"], b"", "", 1);
    assert!(said.contains("d.json5:1:1: longer than the limit of 5 bytes (byte 0); --record-limit sets"), "{said}");
}

#[cfg(feature = "convert")]
#[test]
fn other_notations_are_for_json_only() {
    let folder = Folder::new("only").with("a.csv", "a\n1\n").with("a.ndjson", "{\"a\":1}\n");
    folder.fine(&["a.ndjson", "a.parquet"]);
    folder.fine(&["a.ndjson", "a.db"]);
    folder.prints(&["ingest", "--quiet", "a.store", "a.ndjson"], b"", "", 0);
    for (name, said) in
        [("a.csv", "read as csv"), ("a.parquet", "read as parquet"), ("a.db", "SQLite"), ("a.store", "an event store")]
    {
        let found = folder.prints(&["query", "select *", "--from", "json5", name], b"", "", 2);
        assert!(found.contains(said) && found.contains("--allow"), "{found}");
        if name != "a.store" {
            let found = folder.prints(&["convert", "--from", "json5", name, "-"], b"", "", 2);
            assert!(found.contains("--allow are for JSON"), "{found}");
        }
    }
    for command in [&["query", "select *"][..], &["convert", "-"], &["describe"]] {
        let found = folder.prints(&[command, &["--from", "csv", "--allow", "comments", "a.csv"]].concat(), b"", "", 2);
        assert_eq!(found, "jird: --allow is for JSON, and the format is csv\n");
    }
}
