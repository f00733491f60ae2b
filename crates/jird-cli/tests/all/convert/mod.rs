//! `jird convert`, from outside.
#![cfg(feature = "convert")]
#![expect(clippy::format_collect, reason = "texts to test, not to hurry")]

mod same_csv;
mod share;
mod trouble;
mod types;

use crate::folder::{Folder, words};
use std::process::Command;

/// Every type of column, a late key, and nesting.
const RECORDS: &str = r#"{"id":9223372036854775807,"price":26.0067,"name":"Tor, \"Ann\"","ok":true,"tags":[1,{"a":null}]}
{"id":-1,"price":1e22,"name":"","ok":false,"tags":[]}
{"id":0,"price":0.1,"name":"\u0000\n😀","ok":true,"tags":{},"late":"x"}
"#;

#[test]
fn every_format_gives_back_what_it_keeps() {
    let folder = Folder::new("every").with("a.ndjson", RECORDS);
    for format in ["csv", "tsv", "db", "parquet", "arrow", "json", "ndjson.gz", "json.zst"] {
        let there = format!("there.{format}");
        folder.fine(&["a.ndjson", &there]);
        let typed: &[&str] = if matches!(format, "csv" | "tsv") { &["--typed"] } else { &[] };
        folder.fine(&[&[&*there, "back.ndjson"], typed].concat());
        let back = folder.text("back.ndjson");
        let lines: Vec<jird::Json> = back.lines().map(|line| jird::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 3, "{format}: {back}");
        assert_eq!(lines[0]["id"], 9_223_372_036_854_775_807_i64, "{format}");
        assert_eq!((&lines[0]["price"], &lines[1]["price"]), (&26.0067.into(), &1e22.into()), "{format}");
        assert_eq!(lines[2]["name"], "\0\n😀", "{format}");
        assert_eq!(lines[2]["late"], "x", "{format}");
        assert_eq!(lines[0]["ok"], if format == "db" { 1.into() } else { jird::Json::from(true) }, "{format}");
        let nested = &lines[0]["tags"];
        let nested = nested.as_str().map_or_else(|| nested.clone(), |json| jird::from_str(json).unwrap());
        assert_eq!(nested, jird::json!([1, {"a": null}]), "{format}");
    }
    // Nothing else is left.
    assert!(folder.names().iter().all(|name| !name.contains("part")), "{:?}", folder.names());
}

#[test]
fn text_keeps_every_byte_of_its_numbers() {
    let text = "{\"a\":1.50,\"b\":123456789012345678901234567890,\"c\":-0.0,\"d\":1E400}\n";
    let folder = Folder::new("numbers").with("a.ndjson", text);
    assert_eq!(folder.fine(&["a.ndjson", "-"]), text);
    assert_eq!(
        folder.fine(&["a.ndjson", "-", "--to", "csv"]),
        "a,b,c,d\n1.50,123456789012345678901234567890,-0.0,1E400\n"
    );
}

#[test]
fn columns_are_found_by_name_in_every_input() {
    let folder = Folder::new("names").with("a.csv", "x,y\n1,2\n").with("b.csv", "y,x,z\n3,4,5\n");
    let wanted = "{\"x\":1,\"y\":2}\n{\"x\":4,\"y\":3,\"z\":5}\n";
    for format in ["csv", "parquet", "arrow", "db"] {
        let there = format!("both.{format}");
        let more: &[&str] = if format == "db" { &["--append", "--table", "t"] } else { &[] };
        folder.fine(&[&["--typed", "a.csv", "b.csv", &there], more].concat());
        let back = folder.fine(&["--typed", &there, "-"]).replace(",\"z\":null", "");
        assert_eq!(back, wanted, "{format}");
    }
    assert_eq!(folder.fine(&["--typed", "a.csv", "b.csv", "-"]), wanted.replace("\"x\":4,\"y\":3", "\"y\":3,\"x\":4"));
}

#[test]
fn some_keys_some_records_and_flat() {
    let document = r#"{"items":[{"id":1,"who":{"name":"A","age":3}},{"id":2,"who":{"name":"B"}},{"id":3}]}"#;
    let folder = Folder::new("select").with("a.json", document);
    let records = ["--records", "/items/*", "a.json", "-"];
    let with = |more: &[&str]| folder.fine(&[&records[..], more].concat());
    assert_eq!(with(&["--select", "id"]), "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n");
    assert_eq!(with(&["--select", "who.name", "--limit", "1"]), "{\"who\":{\"name\":\"A\"}}\n");
    assert_eq!(with(&["--flatten", "--to", "csv"]), "id,who.name,who.age\n1,A,3\n2,B,\n3,,\n");
}

#[test]
fn a_late_key_gets_its_column_wherever_the_text_comes_from() {
    let mut text: String = (0..5000).map(|id| format!("{{\"id\":{id}}}\n")).collect();
    text.push_str("{\"id\":\"x\",\"late\":1.5}\n");
    let folder = Folder::new("late").with("a.ndjson", &text);
    folder.fine(&["a.ndjson", "a.csv"]);
    assert!(folder.text("a.csv").starts_with("id,late\n0,\n") && folder.text("a.csv").ends_with("x,1.5\n"));
    let piped = folder.fed(&["--from", "ndjson", "--to", "csv", "-", "-"], text.as_bytes());
    assert_eq!(String::from_utf8(piped.stdout).unwrap(), folder.text("a.csv"));
    folder.fine(&["a.ndjson", "a.parquet"]);
    let back = folder.fine(&["a.parquet", "-"]);
    assert!(back.ends_with("{\"id\":\"x\",\"late\":1.5}\n"), "{back}");
    assert!(back.starts_with("{\"id\":0,\"late\":null}\n"), "{back}");
}

#[test]
fn bad_records_stop_or_are_kept_apart() {
    let text = "{\"a\":1}\n{\"a\":\n{\"a\":\"\u{1}\"}\n{\"a\":2}\n";
    let folder = Folder::new("bad").with("a.ndjson", text);
    let stopped = folder.run(&["a.ndjson", "b.ndjson"]);
    assert_eq!(stopped.status.code(), Some(1), "{}", words(&stopped));
    assert!(words(&stopped).contains("line 2"), "{}", words(&stopped));
    assert_eq!(folder.names(), ["a.ndjson"]);
    let kept = folder.run(&["--on-error", "quarantine=bad.ndjson", "a.ndjson", "b.csv"]);
    assert_eq!(kept.status.code(), Some(1));
    assert_eq!(folder.text("b.csv"), "a\n1\n2\n");
    let bad = folder.text("bad.ndjson");
    let lines: Vec<jird::Json> = bad.lines().map(|line| jird::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{bad}");
    assert_eq!(
        (&lines[0]["line"], &lines[0]["kind"], &lines[0]["raw"]),
        (&2.into(), &"unclosed".into(), &"{\"a\":".into())
    );
    assert_eq!((&lines[1]["line"], &lines[1]["kind"]), (&3.into(), &"control".into()));
    let skipped = folder.run(&["--on-error", "skip", "a.ndjson", "-"]);
    assert_eq!(String::from_utf8(skipped.stdout).unwrap(), "{\"a\":1}\n{\"a\":2}\n");
}

#[test]
fn databases_are_changed_whole_or_not_at_all() {
    let folder = Folder::new("db").with("users.ndjson", "{\"id\":1,\"n\":\"A\"}\n{\"id\":2,\"n\":\"B\"}\n");
    folder.fine(&["users.ndjson", "data.db", "--key", "id"]);
    let folder = folder.with("new.ndjson", "{\"id\":2,\"n\":\"C\"}\n{\"id\":3,\"n\":\"D\"}\n");
    folder.fine(&["new.ndjson", "data.db", "--table", "users", "--key", "id"]);
    let rows = "{\"id\":1,\"n\":\"A\"}\n{\"id\":2,\"n\":\"C\"}\n{\"id\":3,\"n\":\"D\"}\n";
    assert_eq!(folder.fine(&["data.db", "-"]), rows);
    let folder = folder.with("broken.ndjson", "{\"id\":9,\"n\":\"X\"}\n{\"id\":\n");
    let broken = folder.run(&["broken.ndjson", "data.db", "--table", "users", "--append"]);
    assert_eq!(broken.status.code(), Some(1), "{}", words(&broken));
    let exists = folder.run(&["new.ndjson", "data.db", "--table", "users"]);
    assert_eq!(exists.status.code(), Some(2), "{}", words(&exists));
    assert_eq!(folder.fine(&["data.db", "-"]), rows);
    folder.fine(&["new.ndjson", "data.db", "--table", "users", "--replace"]);
    assert_eq!(folder.fine(&["data.db", "-"]), "{\"id\":2,\"n\":\"C\"}\n{\"id\":3,\"n\":\"D\"}\n");
}

#[test]
fn several_files_are_several_tables_and_back() {
    let folder = Folder::new("tables").with("a.csv", "x,y\n1,2\n").with("b.csv", "z\nq\n");
    folder.fine(&["a.csv", "b.csv", "data.db"]);
    folder.fine(&["data.db", "out/", "--to", "csv"]);
    assert_eq!((folder.text("out/a.csv"), folder.text("out/b.csv")), ("x,y\n1,2\n".into(), "z\nq\n".into()));
    let several = folder.run(&["data.db", "-"]);
    assert_eq!(several.status.code(), Some(2));
    assert!(words(&several).contains("a, b"), "{}", words(&several));
}

#[test]
fn what_cannot_be_done_is_said() {
    let folder = Folder::new("errors").with("a.ndjson", "{}\n").with("odd", "a,b\n").with("x.parquet", "PAR1");
    for (args, part) in [
        (&["none.ndjson", "-"][..], "none.ndjson"),
        (&["a.ndjson"], "name the inputs"),
        (&["odd", "-"], "--from"),
        (
            &["a.ndjson", "b.unknown"],
            "use .ndjson, .json, .csv, .tsv, .db, .parquet, .arrow, or name the format with --to",
        ),
        (&["x.parquet", "-"], "x.parquet"),
        (&[".", "-"], "directory"),
        (&["-", "-", "-"], "once"),
        (&["a.ndjson", "no/such/folder.csv"], "folder.csv"),
    ] {
        let output = folder.run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", words(&output));
        assert!(words(&output).contains(part), "{args:?}: {}", words(&output));
    }
    assert_eq!(folder.names(), ["a.ndjson", "odd", "x.parquet"]);
    // A full disk.
    let text: String = (0..20_000).map(|id| format!("{{\"id\":{id}}}\n")).collect();
    let folder = folder.with("much.ndjson", text);
    let args = ["-c", "exec \"$0\" convert much.ndjson - > /dev/full", env!("CARGO_BIN_EXE_jird")];
    let full = Command::new("sh").args(args).current_dir(&folder.0).output().unwrap();
    assert_eq!(full.status.code(), Some(2), "{}", words(&full));
}

#[test]
#[cfg(feature = "query")]
fn a_condition_chooses_records_of_every_format() {
    let folder = Folder::new("where").with("a.ndjson", RECORDS);
    let chosen = "{\"id\":9223372036854775807,\"price\":26.0067}\n";
    for format in ["ndjson", "json", "csv", "db", "parquet", "arrow"] {
        let there = format!("there.{format}");
        folder.fine(&["a.ndjson", &there]);
        let condition = "name like 'Tor%' and id > 9223372036854775806";
        let mut args = vec!["--where", condition, "--select", "id,price", &there, "-"];
        if format == "csv" {
            args.push("--typed");
        }
        assert_eq!(folder.fine(&args), chosen, "{format}");
    }
    assert_eq!(
        folder.fine(&["--where", "tags[1].a is null and tags[0] = 1", "--select", "id", "a.ndjson", "-"]).len(),
        27
    );
    let folder = folder.with("a.csv", "x,y\n1,2\n").with("b.csv", "y,x\n3,4\n");
    assert_eq!(folder.fine(&["--typed", "--where", "x = 4", "a.csv", "b.csv", "-"]), "{\"y\":3,\"x\":4}\n");
    // Without types, a text of CSV is not a number, and the message says so.
    let output = folder.run(&["--where", "id > 0", "there.csv", "-"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    assert!(words(&output).contains("3 values have another type") && words(&output).contains("--typed"), "{output:?}");
    // What is read twice is counted once.
    assert!(words(&folder.run(&["--where", "id > 0", "there.csv", "out.csv"])).contains("note: 3 values"));
    let output = folder.run(&["--where", "lower(name) = 'a'", "a.ndjson", "-"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(words(&output).contains("jird query"), "{output:?}");
}

#[test]
#[cfg(feature = "query")]
fn values_that_could_not_be_compared_count_once_however_often_the_input_is_read() {
    let line = |i: u32| match i {
        i if i % 10 == 0 => "{\"a\":\"x\"}\n".to_owned(),
        i if i < 2500 => format!("{{\"a\":{i}}}\n"),
        i => format!("{{\"a\":{i},\"late\":1}}\n"),
    };
    let folder = Folder::new("mismatches").with("a.ndjson", (0..3000).map(line).collect::<String>());
    for target in ["a.csv", "b.ndjson", "c.parquet"] {
        let said = words(&folder.run(&["--where", "a > 1", "a.ndjson", target]));
        assert!(said.contains("note: 300 values have another type"), "{target}: {said}");
    }
}

#[test]
fn what_the_command_itself_changes_is_what_the_page_says() {
    let text = "{\"a\":{\"b\":1},\"a.b\":2,\"l\":[{\"x\":1}],\"e\":\"\\u00e9\\/\"}\n";
    let folder = Folder::new("changes").with("a.ndjson", text);
    let kept = "{\"a\":{\"b\":1},\"a.b\":2,\"l\":[{\"x\":1}],\"e\":\"é/\"}\n";
    assert_eq!(folder.fine(&["a.ndjson", "-"]), kept);
    assert_eq!(folder.fine(&["--select", "l.x", "a.ndjson", "-", "-q"]), "{\"l\":[]}\n");
    let flat = "{\"a.b\":1,\"a.b\":2,\"l\":\"[{\\\"x\\\":1}]\",\"e\":\"é/\"}\n";
    assert_eq!(folder.fine(&["--flatten", "a.ndjson", "-"]), flat);
    assert_eq!(folder.fine(&["--flatten", "--to", "csv", "a.ndjson", "-"]), "a.b,l,e\n1,\"[{\"\"x\"\":1}]\",é/\n");
}

#[test]
fn records_that_are_not_there_are_told() {
    let folder = Folder::new("records").with("a.json", "{\"items\":[1],\"none\":[]}");
    assert_eq!(folder.fine(&["--records", "/items/*", "a.json", "-"]), "1\n");
    for target in ["-", "out.csv", "out.db"] {
        let output = folder.run(&["--records", "/itmes/*", "a.json", target]);
        let wanted = "jird: note: a.json: no value is at /itmes/*, which --records names\n";
        assert_eq!((words(&output).as_str(), output.status.code()), (wanted, Some(0)), "{target}");
    }
    // Nothing was asked for.
    assert_eq!(folder.fine(&["--records", "/items/*", "--limit", "0", "a.json", "-"]), "");
}

#[test]
fn a_column_that_is_not_there_is_told_with_the_nearest_names() {
    let folder = Folder::new("near").with("a.csv", "id,name\n1,x\n");
    for there in ["a.parquet", "a.arrow", "a.db"] {
        folder.fine(&["a.csv", there]);
    }
    let said = |file| {
        let output = folder.run(&["--select", "id,nmae", file, "out.csv"]);
        (words(&output), output.status.code())
    };
    let message = |file| format!("{file}: there is no column \"nmae\"; the nearest is \"name\"\n");
    for file in ["a.parquet", "a.arrow"] {
        assert_eq!(said(file), (format!("jird: {}", message(file)), Some(2)));
    }
    // Another input may have the column.
    for file in ["a.csv", "a.db"] {
        assert_eq!(said(file), (format!("jird: note: {}", message(file)), Some(0)));
    }
}

#[test]
fn stats_count_each_byte_once_although_columns_are_planned_first() {
    // The last record has a column that the first thousand have not, so that all is read three times.
    let text = "{\"id\":1234567,\"n\":\"abcdefghijklmnopqrstuvwxyz\"}\n".repeat(40_000) + "{\"late\":1}\n";
    assert_eq!(text.len(), 1_920_011);
    let wanted = "40001 records, 1.9 MB read in ";
    let folder = Folder::new("stats").with("a.ndjson", &text);
    for args in [&["--stats", "a.ndjson", "a.csv"][..], &["--stats", "-", "b.csv", "--from", "ndjson"]] {
        let output = folder.fed(args, text.as_bytes());
        assert!(words(&output).contains(wanted), "{args:?}: {}", words(&output));
    }
    // The bytes of a database are not counted.
    folder.fine(&["a.ndjson", "a.db"]);
    let output = folder.run(&["--stats", "a.db", "c.ndjson"]);
    assert!(words(&output).contains("40001 records in ") && !words(&output).contains("MB"), "{}", words(&output));
}

#[test]
fn names_that_no_record_has_are_told() {
    let text = "{\"Message\":\"x\",\"o\":{\"k\":1}}\n{\"Message\":\"y\",\"n\":[1]}\n";
    let folder =
        Folder::new("unmet").with("a.ndjson", text).with("b.json", format!("[{}]", "{\"Message\":1}")).with("e", "");
    let said = |args: &[&str], input: &str| {
        let output = folder.fed(&[args, &["-q"]].concat(), input.as_bytes());
        assert!(output.stderr.is_empty(), "{args:?}");
        words(&folder.fed(args, input.as_bytes()))
    };
    for target in ["-", "out.csv", "out.parquet"] {
        for more in [&[][..], &["--flatten"], &["--threads", "1"], &["--on-error", "skip"]] {
            let said = said(&[&["--select", "Mesage", "a.ndjson", target], more].concat(), "");
            assert!(said.contains("no record has \"Mesage\"; the nearest is \"Message\""), "{target} {more:?}: {said}");
        }
    }
    assert!(said(&["--select", "mesage", "--from", "ndjson", "-", "-"], text).contains("no record has \"mesage\""));
    assert!(said(&["--select", "o.x", "b.json", "a.ndjson", "-"], "").contains("no record has \"o.x\""));
    for fine in ["Message", "o.k", "n", "Message,n", "*", "Message,Message"] {
        assert_eq!(said(&["--select", fine, "b.json", "a.ndjson", "-"], ""), "", "{fine}");
    }
    // What was not read to its end, or holds nothing, proves nothing.
    assert_eq!(said(&["--select", "x", "--limit", "1", "a.ndjson", "-"], ""), "");
    assert_eq!(said(&["--select", "x", "--from", "ndjson", "e", "-"], ""), "");
    if cfg!(feature = "query") {
        assert!(said(&["--where", "Mesage = 'x'", "a.ndjson", "-"], "").contains("no record has \"Mesage\""));
        assert_eq!(said(&["--where", "o.k = 7", "a.ndjson", "-"], ""), "");
    }
}

#[test]
fn a_condition_searches_words_in_records_of_any_format() {
    let lines = concat!(
        "{\"a\":\"say \\\"Timeout\\\"\",\"n\":1}\n",
        "{\"a\":[\"y\",{\"k\":\"TIMEOUT\"}],\"n\":2}\n",
        "{\"n\":3,\"timeout\":1}\n",
        "{\"a\":null,\"n\":4}\n",
        "{\"@mt\":\"time{a}\",\"a\":\"out\",\"n\":5}\n",
    );
    let folder = Folder::new("convert-search").with("e.ndjson", lines);
    for format in ["db", "parquet", "arrow"] {
        folder.fine(&["e.ndjson", &format!("e.{format}")]);
        let searched = folder.fine(&["--where", "search('timeout')", "--to", "csv", &format!("e.{format}"), "-"]);
        assert_eq!(searched.lines().count(), 4, "{format}: {searched}");
    }
    let found = |condition: &str| {
        let output = folder.run(&["--where", condition, "--select", "n", "--to", "csv", "e.ndjson", "-"]);
        assert_eq!(output.status.code(), Some(0), "{condition}: {}", words(&output));
        String::from_utf8(output.stdout).unwrap().lines().skip(1).map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(found("search('timeout')"), "1 2 5");
    assert_eq!(found("not search('timeout')"), "3 4");
    assert_eq!(found("search(a, 'timeout')"), "1 2");
    assert_eq!(found("not search(a, 'timeout')"), "5");
    assert_eq!(found("search('y timeout') and n < 3 and a <> 'x'"), "1");
}
