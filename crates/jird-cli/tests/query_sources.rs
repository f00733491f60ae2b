//! `jird query`: tables of other formats beside JSON.
#![cfg(all(feature = "query", feature = "convert"))]

mod folder;

use folder::Folder;

const CSV: &str = "id,name,amount\r\n1,ann,2.5\r\n2,\"bob, jr\",\r\n3,007,7.25\r\n";

fn run(folder: &Folder, args: &[&str], stdin: &[u8]) -> String {
    let (out, said, code) = folder.query(args, stdin);
    assert_eq!(code, 0, "{args:?}: {said}");
    out
}

/// The same table as CSV, and what `convert` makes of it.
fn folder(name: &str) -> Folder {
    let folder =
        Folder::new(name).with("t.csv", CSV).with("s.ndjson", "{\"id\":1,\"v\":\"one\"}\n{\"id\":3,\"v\":\"three\"}\n");
    for to in ["t.parquet", "t.arrow", "t.db", "t.tsv", "t.ndjson"] {
        folder.run(&["t.csv", to, "--typed"]);
    }
    folder
}

#[test]
fn a_table_of_any_format_gives_one_answer() {
    let folder = folder("formats");
    for sql in [
        "select name, amount where amount > 2 order by id",
        "select count(*) as n, sum(amount) as s, max(name) as m",
        "select id + 1 as x order by x desc limit 2",
    ] {
        let wanted = run(&folder, &[sql, "t.ndjson"], b"");
        assert!(!wanted.is_empty());
        for input in ["t.csv", "t.tsv", "t.parquet", "t.arrow", "t.db"] {
            assert_eq!(run(&folder, &[sql, input], b""), wanted, "{sql} {input}");
        }
        assert_eq!(run(&folder, &[sql, "-", "--from", "csv"], CSV.as_bytes()), wanted, "{sql}");
    }
}

#[test]
fn tables_are_joined_with_records() {
    let folder = folder("joined");
    let wanted = "{\"v\":\"one\",\"name\":\"ann\"}\n{\"v\":\"three\",\"name\":\"007\"}\n";
    for table in ["'t.csv'", "'t.parquet'", "'t.db'", "'t.db'.t", "'t.db::t'"] {
        let sql = format!("select s.v, x.name from stream s join {table} as x on s.id = x.id order by s.id");
        assert_eq!(run(&folder, &[&sql, "s.ndjson"], b""), wanted, "{table}");
    }
}

#[test]
fn a_database_with_several_tables_wants_a_name() {
    let folder = folder("tables");
    let added = folder.run(&["s.ndjson", "t.db", "--table", "other"]);
    assert_eq!(added.status.code(), Some(0), "{}", folder::words(&added));
    let (_, said, code) = folder.query(&["select *", "t.db"], b"");
    assert!(code == 2 && said.contains("several tables; name one behind the file"), "{said}");
    assert_eq!(run(&folder, &["select count(*) as n", "t.db::other"], b""), "{\"n\":2}\n");
}

#[test]
fn damaged_tables_are_errors() {
    let folder = Folder::new("damaged")
        .with("short.parquet", "PAR1\0\0")
        .with("short.db", "SQLite format 3\0rest")
        .with("rows.csv", "a,b\n1,2\n1,2,3\n");
    for (file, reason) in [
        ("short.parquet", "short.parquet"),
        ("short.db", "short.db"),
        ("rows.csv", "line 3"),
        ("rows.csv::t", "it is no database"),
    ] {
        let (_, said, code) = folder.query(&["select *", file], b"");
        assert!(code != 0 && said.contains(reason), "{file}: {said}");
    }
}

#[test]
fn patterns_have_braces_and_do_not_follow_links_in_circles() {
    let folder = Folder::new("patterns").with("a.ndjson", "{}\n").with("b.jsonl", "{}\n{}\n").with("c.json", "{}\n");
    assert_eq!(run(&folder, &["select count(*) as n", "{a,b}.{ndjson,jsonl}"], b""), "{\"n\":3}\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink(".", folder.0.join("loop")).unwrap();
    assert_eq!(run(&folder, &["select count(*) as n", "**/*.ndjson"], b""), "{\"n\":1}\n");
}
