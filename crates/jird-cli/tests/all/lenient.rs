//! `--from jsonc`, `--from json5` and `--allow` from outside.

use crate::folder::Folder;

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
