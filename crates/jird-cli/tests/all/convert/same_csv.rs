//! `jird query` and `jird convert` write the same records as the same CSV, byte for byte.
#![cfg(all(feature = "convert", feature = "query"))]

use crate::folder::Folder;
use std::fmt::Write as _;

/// Writes the records of `files` by both commands, and returns what both wrote.
#[track_caller]
fn same(folder: &Folder, files: &[&str]) -> String {
    folder.fine(&[files, &["converted.csv"]].concat());
    let query = [&["select * from stream"], files, &["-o", "queried.csv"]].concat();
    let (_, said, code) = folder.query(&query, b"");
    assert_eq!((&*said, code), ("", 0), "{files:?}");
    let (converted, queried) = (folder.text("converted.csv"), folder.text("queried.csv"));
    assert_eq!(queried, converted, "{files:?}");
    let (printed, ..) = folder.query(&[&["select * from stream", "--format", "csv"], files].concat(), b"");
    assert_eq!(printed, converted, "{files:?}");
    converted
}

#[test]
fn texts_that_need_quotes_empty_ones_nulls_and_numbers() {
    let text = r#"{"id":1,"t":"say \"no\"","n":1.50,"at":"2024-03-05T07:00:00.123456789+01:00"}
{"id":2,"t":"a,b","n":-0.0}
{"id":3,"t":"two\nlines","n":1E400,"at":null}
{"id":4,"t":"\r","n":123456789012345678901234567890}
{"id":5,"t":"","n":null,"late, \"key\"":true}
{"id":6,"t":null,"n":18446744073709551615,"late, \"key\"":false}
{"n":7,"t":"\u00e9\u0000😀 \\"}
{}
"#;
    let expected = concat!(
        "id,t,n,at,\"late, \"\"key\"\"\"\n",
        "1,\"say \"\"no\"\"\",1.50,2024-03-05T07:00:00.123456789+01:00,\n",
        "2,\"a,b\",-0.0,,\n",
        "3,\"two\nlines\",1E400,,\n",
        "4,\"\r\",123456789012345678901234567890,,\n",
        "5,\"\",,,true\n",
        "6,,18446744073709551615,,false\n",
        ",é\0😀 \\,7,,\n",
        ",,,,\n",
    );
    let folder = Folder::new("same-texts").with("e.ndjson", text).with("e.json", array(text));
    assert_eq!(same(&folder, &["e.ndjson"]), expected);
    assert_eq!(same(&folder, &["e.json"]), expected);
    assert_eq!(same(&folder, &["e.ndjson", "e.json"]).lines().count(), 2 * expected.lines().count() - 1);
}

#[test]
fn nested_values_columns_of_several_kinds_and_odd_records() {
    let text = r#"{"a":{"x": [1, 2.0 , {"y":null}], "\u007a":"q\u00e9\n\"\/"},"m":"s","m":2}
{"a":[],"m":1,"":"no name"}
 { "a" : { } , "m" : "1" , "" : 0 }
{"a":"[1, 2]","m":{"b c":"d, e"}}
{"a":["x : y",	true],"m":true}
{"a":null,"m":[null]}
7
"text"
[1, "\t"]
"#;
    let expected = concat!(
        "a,m,\"\",value\n",
        "\"{\"\"x\"\":[1,2.0,{\"\"y\"\":null}],\"\"z\"\":\"\"qé\\n\\\"\"/\"\"}\",s,,\n",
        "[],1,no name,\n",
        "{},1,0,\n",
        "\"[1, 2]\",\"{\"\"b c\"\":\"\"d, e\"\"}\",,\n",
        "\"[\"\"x : y\"\",true]\",true,,\n",
        ",[null],,\n",
        ",,,7\n",
        ",,,text\n",
        ",,,\"[1,\"\"\\t\"\"]\"\n",
    );
    let folder = Folder::new("same-nested").with("e.ndjson", text);
    assert_eq!(same(&folder, &["e.ndjson"]), expected);
}

#[test]
fn one_column_and_none() {
    let folder = Folder::new("same-few")
        .with("one.ndjson", "{\"a\":null}\n{\"a\":\"\"}\n{}\n{\"a\":\"#\"}\n{\"a\":\"\u{feff}b\"}\n")
        .with("none.ndjson", "");
    assert_eq!(same(&folder, &["one.ndjson"]), "a\n\"\"\n\"\"\n\"\"\n#\n\"\u{feff}b\"\n");
    assert_eq!(same(&folder, &["none.ndjson"]), "");
}

#[test]
fn many_records_and_a_late_key() {
    let mut text = String::new();
    for id in 0..30_000 {
        let level = ["\"Information\"", "\"a \\\"b\\\"\"", "3", "null", "{\"of\": [1]}"][id % 5];
        writeln!(text, "{{\"id\":{id},\"level\":{level},\"ms\":{}.5e-3}}", id * 7).unwrap();
    }
    text.push_str("{\"late\":\"x\"}\n");
    let folder = Folder::new("same-many").with("e.ndjson", &text).with("e.ndjson.gz", crate::folder::gzip(&text));
    assert!(
        same(&folder, &["e.ndjson"])
            .starts_with("id,level,ms,late\n0,Information,0.5e-3,\n1,\"a \"\"b\"\"\",7.5e-3,\n")
    );
    assert_eq!(same(&folder, &["e.ndjson.gz"]).lines().count(), 30_002);
}

/// The lines as elements of one array.
fn array(lines: &str) -> String {
    format!("[\n{}\n]\n", lines.trim_end().replace('\n', ",\n"))
}
