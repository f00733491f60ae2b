//! `jird query`: JSONPath in SQL.
#![cfg(feature = "sql")]

use crate::folder::Folder;

const ORDERS: &str = concat!(
    r#"{"id":1,"items":[{"name":"tea","price":3.50},{"name":"cup","price":12,"tags":["new","blue"]}],"$ref":"a","$":7}"#,
    "\n",
    r#"{"id":2,"items":[]}"#,
    "\n",
    r#"{"id":3,"items":{"price":1e2}}"#,
    "\n",
    r#"{"id":4}"#,
    "\n",
);

#[track_caller]
fn check(sql: &str, wanted: &[&str]) {
    let folder = Folder::new("paths").with("o.ndjson", ORDERS);
    let (out, said, code) = folder.query(&[sql, "o.ndjson"], b"");
    assert_eq!((out.lines().collect::<Vec<_>>(), code), (wanted.to_vec(), 0), "{sql}: {said}");
}

#[test]
fn a_path_finds_an_array_of_values_and_a_singular_path_its_value() {
    let prices = [r#"{"p":[3.50,12]}"#, r#"{"p":[]}"#, r#"{"p":[1e2]}"#, r#"{"p":null}"#];
    check("select json_path(items, '$..price') as p", &prices);
    check("select items -> '$..price' as p", &prices);
    check("select json_extract(items, '$..price') as p", &prices);
    let names = [r#"{"n":"cup"}"#, r#"{"n":null}"#, r#"{"n":null}"#, r#"{"n":null}"#];
    check("select items -> '$[-1].name' as n", &names);
    check("select items ->> '$[-1].name' as n", &names);
    // A path of a field, as `items[1].name`.
    check("select json_path(items, '$[1].name') as n", &[names[0], "{}", "{}", "{}"]);
    check("select json_path(items, '$[?@.price > 10].name') as n where id = 1", &[r#"{"n":["cup"]}"#]);
    check("select json_path(items[1], '$.tags[::-1]') as n where id = 1", &[r#"{"n":["blue","new"]}"#]);
    // From the record's root: the field is found by its path.
    check("select id where items -> '$[0].price' = 3.5", &[r#"{"id":1}"#]);
    check("select id where array_length(items -> '$[*].price') = 2", &[r#"{"id":1}"#]);
    check("select sum(array_sum(items -> '$[*].price')) as s", &[r#"{"s":15.5}"#]);
}

#[test]
fn keys_that_begin_with_a_dollar_are_keys() {
    let folder = Folder::new("paths-keys").with("o.ndjson", "{\"a\":{\"$ref\":\"x\",\"$\":1}}\n");
    for (sql, wanted) in [
        ("select a -> '$ref' as r", r#"{"r":"x"}"#),
        ("select a -> '$.$ref' as r", ""),
        ("select a -> '$[''$ref'']' as r", r#"{"r":"x"}"#),
        ("select a -> '$' -> '$ref' as r", r#"{"r":"x"}"#),
    ] {
        let (out, said, code) = folder.query(&[sql, "o.ndjson"], b"");
        if wanted.is_empty() {
            assert!(code == 2 && said.contains("JSONPath"), "{sql}: {out}{said}");
        } else {
            assert_eq!((out.trim_end(), code), (wanted, 0), "{sql}: {said}");
        }
    }
}

#[test]
fn wrong_paths_are_told_before_anything_is_read() {
    let folder = Folder::new("paths-wrong").with("o.ndjson", ORDERS);
    for (sql, why) in [
        ("select json_path(items, '$.a[?@.b = 1]')", "a comparison is written `==`, at byte 9 of the path"),
        ("select json_path(items, 'a')", "is no JSONPath"),
        ("select items -> '$..'", "is no JSONPath"),
        ("select json_path(items, id)", "the path of `json_path` must be a constant text"),
        ("select json_path(items)", "takes 2 arguments: a value, and a JSONPath"),
    ] {
        let (out, said, code) = folder.query(&[sql, "o.ndjson"], b"");
        assert!((out.as_str(), code) == ("", 2) && said.contains(why), "{sql}: {out}{said}");
    }
}

#[test]
fn paths_that_find_far_more_than_there_is_are_an_error() {
    let deep = format!("{{\"a\":{}1{}}}\n", "{\"a\":".repeat(500), "}".repeat(500));
    let folder = Folder::new("paths-deep").with("d.ndjson", deep);
    for (path, why) in [("$..a..a..a..a", "fewer `..`"), ("$..*", "times the text")] {
        let (out, said, code) = folder.query(&[&format!("select json_path(a, '{path}') as x"), "d.ndjson"], b"");
        assert!(out.is_empty() && code != 0 && said.contains(why), "{path}: {code} {said}");
    }
}
