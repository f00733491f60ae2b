//! `jird set`, `unset`, `patch`, `merge`, `diff` from outside.

use crate::folder::Folder;

fn folder() -> Folder {
    Folder::new("edit")
        .with("a.json", "{ \"n\": 1.50,\n  \"s\": \"\\u0041\" }\n")
        .with("b.ndjson", "{\"n\":1}\n{\"n\": 2}\n")
}

#[test]
fn one_value_is_set_or_removed_and_all_else_stays() {
    let folder = folder();
    folder.prints(&["set", "/n", "-2e0", "a.json"], "", "{ \"n\": -2e0,\n  \"s\": \"\\u0041\" }\n", 0);
    folder.prints(&["set", "--string", "/s", "a\"b"], "{\"s\":1}", "{\"s\":\"a\\\"b\"}\n", 0);
    folder.prints(&["set", "", "[]"], "{\"s\":1}", "[]\n", 0);
    folder.prints(&["unset", "/n", "a.json"], "", "{ \"s\": \"\\u0041\" }\n", 0);
    folder.prints(&["unset", "/n", "b.ndjson"], "", "{}\n{}\n", 0);
    let said = folder.prints(&["set", "/n", "x", "a.json"], "", "", 2);
    assert!(said.contains("a string is written '\"x\"', or with --string"), "{said}");
    let said = folder.prints(&["unset", "n", "a.json"], "", "", 2);
    assert!(said.contains("begin with `/`, as in `/n`"), "{said}");
    let said = folder.prints(&["set", "/x/y", "1", "a.json"], "", "", 1);
    assert_eq!(said, "jird: a.json: set /x/y: nothing at /x\n");
    let said = folder.prints(&["unset", "/n", "--lines"], "{\"n\":1}\n\n{}\n", "{}\n", 1);
    assert_eq!(said, "jird: <stdin>:3: remove /n: nothing at /n\n");
}

#[test]
fn files_are_rewritten_in_place() {
    let folder = folder();
    folder.prints(&["set", "/n", "2", "-i", "a.json", "b.ndjson"], "", "", 0);
    assert_eq!(folder.text("a.json"), "{ \"n\": 2,\n  \"s\": \"\\u0041\" }\n");
    assert_eq!(folder.text("b.ndjson"), "{\"n\":2}\n{\"n\": 2}\n");
    folder.prints(&["set", "/n", "2", "-i"], "{}", "", 2);
}

#[test]
fn a_patch_that_fails_changes_nothing() {
    let folder = folder();
    let patch = r#"[{"op":"test","path":"/n","value":1},{"op":"remove","path":"/n"}]"#;
    let said = folder.prints(&["patch", patch, "-i", "b.ndjson"], "", "", 1);
    assert_eq!(said, "jird: b.ndjson:2: operation 0 (test /n): the value is 2, and the test wants 1\n");
    assert_eq!(folder.text("b.ndjson"), "{\"n\":1}\n{\"n\": 2}\n");
    assert_eq!(folder.names(), ["a.json", "b.ndjson"]);
}

#[test]
fn patches_come_from_files_standard_input_or_the_argument() {
    let folder = folder().with("p.json", "[{\"op\": \"remove\",\n\"path\": \"/s\"}]").with("m.json", "{\"n\": null}");
    folder.prints(&["patch", "p.json", "a.json"], "", "{ \"n\": 1.50 }\n", 0);
    folder.prints(&["patch", "-", "a.json"], "[]", "{ \"n\": 1.50,\n  \"s\": \"\\u0041\" }\n", 0);
    folder.prints(&["patch", "p.json"], "{\"s\":1}", "{}\n", 0);
    folder.prints(&["merge", "m.json", "a.json"], "", "{ \"s\": \"\\u0041\" }\n", 0);
    folder.prints(
        &["merge", "{\"m\":{\"x\":\n[1]}}", "b.ndjson"],
        "",
        "{\"n\":1,\"m\":{\"x\":[1]}}\n{\"n\": 2, \"m\": {\"x\":[1]}}\n",
        0,
    );
    let said = folder.prints(&["patch", "-"], "[]", "", 2);
    assert!(said.contains("standard input cannot be the patch and a document"), "{said}");
    let said = folder.prints(&["patch", "m.json", "a.json"], "", "", 1);
    assert!(said.contains("m.json: a JSON Patch is an array of operations"), "{said}");
    let said = folder.prints(&["merge", "{\"a\":1,\"a\":2}", "a.json"], "", "", 1);
    assert!(said.contains("the patch: ") && said.contains("line 1 column 8"), "{said}");
}

#[test]
fn a_difference_is_shown_or_written_as_a_patch_that_leads_there() {
    let folder = folder().with("c.json", "{\"s\":\"A\",\"n\":1.5}").with("d.json", "{\"s\": [1,\n null]}");
    folder.prints(&["diff", "a.json", "c.json"], "", "", 0);
    let lines = "- /n: 1.50\n- /s: \"\\u0041\"\n+ /s: [1,null]\n";
    folder.prints(&["diff", "a.json", "d.json"], "", lines, 1);
    folder.prints(&["diff", "1.json", "d.json"], "", "", 2);
    folder.prints(&["diff", "-", "-"], "", "", 2);
    folder.prints(&["diff", "-", "c.json"], "{}}", "", 2);
    let red = "\u{1b}[31m- (the whole document): 1\u{1b}[0m\n\u{1b}[32m+ (the whole document): {\"s\":\"A\",\"n\":1.5}\u{1b}[0m\n";
    folder.prints(&["diff", "--color", "always", "-", "c.json"], "1", red, 1);
    for (way, apply) in [("--patch", "patch"), ("--merge", "merge")] {
        let patch = folder.jird("diff", &[way, "a.json", "d.json"], b"");
        assert_eq!(patch.status.code(), Some(1));
        folder.prints(&[apply, "-", "a.json"], std::str::from_utf8(&patch.stdout).unwrap(), "{ \"s\": [1,null] }\n", 0);
    }
    let said = folder.prints(&["diff", "--merge", "c.json", "-"], "{\"s\":null}", "", 2);
    assert!(said.contains("no merge patch leads there"), "{said}");
}
