//! `jird query`: tables of formats other than JSON.
#![cfg(feature = "convert")]
#![expect(clippy::format_collect, reason = "texts to test, not to hurry")]

use crate::folder::{Folder, words};
use jird::event::{self, JsonSource};
use jird_formats::{ColumnPlan, ColumnSink, ParquetOptions, Rows, Schema};

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
        "select * order by id desc",
        "select * where amount > 2",
        "select *, upper(name) as u order by id limit 2",
        "select * from stream s join stream t on s.id = t.id order by s.id",
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
    assert_eq!(added.status.code(), Some(0), "{}", crate::folder::words(&added));
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

#[test]
fn the_records_within_documents_are_rows() {
    let document = "{\"next\":null,\"items\":[{\"id\":1,\"at\":{\"n\":1.50}},\n {\"id\":2,\"at\":{}}]}\n";
    let folder = Folder::new("records").with("a.json", document).with("b.json", "[{\"items\":[{\"id\":7}]}]");
    let rows = "{\"id\":1,\"n\":1.50}\n{\"id\":2}\n";
    let sql = "select id, at.n as n";
    for input in [&["a.json"][..], &["-"]] {
        assert_eq!(run(&folder, &[&[sql, "--records", "/items/*"], input].concat(), document.as_bytes()), rows);
    }
    let joined = "select s.id, x.id as other from stream s join 'a.json' x on s.id = x.id order by s.id desc";
    let wanted = "{\"id\":2,\"other\":2}\n{\"id\":1,\"other\":1}\n";
    assert_eq!(run(&folder, &[joined, "a.json", "--records", "/items/*"], b""), wanted);
    assert_eq!(run(&folder, &["select id", "b.json", "--records", "/*/items/*"], b""), "{\"id\":7}\n");
    let sum = "select sum(id) as s, count(*) as n";
    assert_eq!(run(&folder, &[sum, "a.json", "--records", "/items/*"], b""), "{\"s\":3,\"n\":2}\n");
    let cut = &document.as_bytes()[..document.len() - 4];
    let output = folder.jird("query", &[sql, "-", "--records", "/items/*"], cut);
    assert_eq!((output.stdout.as_slice(), output.status.code()), (&b"{\"id\":1,\"n\":1.50}\n"[..], Some(1)));
    assert!(words(&output).contains("<stdin>:2:17: an array or object is not closed (byte 64)"), "{}", words(&output));
}

#[test]
fn compressed_records_are_read() {
    // `{"a":1}` and `{"a":2}`, each in its line.
    const BZIP2: &[u8] = b"\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\x22\x9d\xe2\xe9\x00\x00\x06\x59\x80\x00\x10\x10\x00\x30\
        \x10\x20\x00\x00\x0a\x20\x00\x31\x0c\x08\x12\x80\x7a\x89\xc2\x26\x86\x8b\xe2\xee\x48\xa7\x0a\x12\x04\x53\xbc\x5d\x20";
    let folder = Folder::new("packed").with("a.ndjson.bz2", BZIP2);
    assert_eq!(run(&folder, &["select sum(a) as s", "a.ndjson.bz2"], b""), "{\"s\":3}\n");
    assert_eq!(run(&folder, &["select a order by a desc"], BZIP2), "{\"a\":2}\n{\"a\":1}\n");
    let output = folder.jird("query", &["select a", "a.ndjson.bz2", "-o", "b.ndjson.bz2"], b"");
    assert!(words(&output).contains("does not write bzip2"), "{}", words(&output));
    assert!(!folder.0.join("b.ndjson.bz2").exists());
}

#[test]
fn bad_rows_of_a_table_are_left_out_once() {
    let folder = Folder::new("bad_rows").with("t.csv", "id,name\n1,a\n2,b,c\n3,d\n4,\"e\"x\n");
    // An infinity, which JSON does not have.
    let database = folder.run(&["t.csv", "t.db", "--typed", "--on-error", "skip"]);
    assert_eq!(database.status.code(), Some(1), "{}", words(&database));
    let connection = jird_formats::sqlite::rusqlite::Connection::open(folder.0.join("t.db")).unwrap();
    connection.execute_batch("update t set id = 9e999 where id = 3").unwrap();
    drop(connection);
    let rows = "{\"id\":1,\"name\":\"a\"}\n{\"id\":3,\"name\":\"d\"}\n{\"id\":4,\"name\":\"ex\"}\n";
    let of_db = "{\"id\":1,\"name\":\"a\"}\n{\"id\":4,\"name\":\"ex\"}\n";
    let joined = "select s.id, s.name from stream s join stream t on s.id = t.id and s.name = t.name order by s.id";
    for (table, rows, words_of_it, raw) in [
        ("t.csv", rows, "3 fields where there are 2 columns, in record 2 at line 3", "2,b,c"),
        (
            "t.db",
            of_db,
            "an infinite number, which JSON does not have, in record 2",
            "{\\\"id\\\":Infinity,\\\"name\\\":\\\"d\\\"}",
        ),
    ] {
        let (out, said, code) = folder.query(&["select *", table], b"");
        assert_eq!((out.as_str(), code), ("{\"id\":1,\"name\":\"a\"}\n", 1), "{said}");
        assert!(said.contains(words_of_it) && said.contains("--on-error skip"), "{said}");
        for sql in ["select *", "select * order by id", joined] {
            let (out, said, code) = folder.query(&[sql, table, "--on-error", "skip"], b"");
            assert_eq!((out.as_str(), code), (rows, 1), "{sql} {table} {said}");
            assert!(said.contains("1 bad record left out"), "{said}");
            let (out, said, _) = folder.query(&[sql, table, "--on-error", "quarantine=q.ndjson"], b"");
            let quarantine = std::fs::read_to_string(folder.0.join("q.ndjson")).unwrap();
            assert_eq!(out, rows, "{sql} {table} {said}");
            assert_eq!(quarantine.lines().count(), 1, "{quarantine}");
            assert!(quarantine.contains(&format!("\"raw\":\"{raw}\"")), "{quarantine}");
            std::fs::remove_file(folder.0.join("q.ndjson")).unwrap();
        }
    }
}

#[test]
fn groups_of_rows_without_a_match_are_not_read() {
    let lines: String = (0..20_000)
        .map(|i| {
            format!("{{\"i\":{i},\"t\":\"k{i:05}\",\"f\":{}.5,\"o\":{}}}\n", i / 2, if i == 7 { "{}" } else { "null" })
        })
        .collect();
    let mut schema = Rows::new(Schema::default());
    event::copy(&mut JsonSource::from_slice(lines.as_bytes()), &mut schema).unwrap();
    let options = ParquetOptions { row_group_rows: 1000, ..ParquetOptions::default() };
    let mut sink = ColumnSink::parquet(Vec::new(), &ColumnPlan::of(schema.table()), options).unwrap();
    event::copy(&mut JsonSource::from_slice(lines.as_bytes()), &mut sink).unwrap();
    let folder =
        Folder::new("groups").with("t.parquet", sink.into_table().into_inner().unwrap()).with("t.ndjson", lines);
    for (sql, records) in [
        ("select i where i = 12345", Some(1000)),
        ("select i where i in (1, 19999, 30000)", Some(2000)),
        ("select i where t < 'k00003' or i > 19998", Some(2000)),
        ("select i where f >= 9999.5", Some(1000)),
        ("select i where i = 3000 and f < 1500", Some(0)),
        ("select i where i between 1999 and 2000", Some(2000)),
        ("select i where not i < 19999", None),
        ("select i, _line where i = 12345", None),
        ("select i where o is not null", None),
        ("select i where i = '12345'", None),
        ("select t where i > 20000", Some(0)),
    ] {
        let wanted = run(&folder, &[sql, "t.ndjson"], b"");
        let (out, said, code) = folder.query(&[sql, "t.parquet", "--stats"], b"");
        assert_eq!((out, code), (wanted, 0), "{sql} {said}");
        let read = format!("{} records", records.unwrap_or(20_000));
        assert!(said.contains(&read) || said.contains(&read.replace("20000", "20,000")), "{sql}: {said}");
    }
}

#[test]
fn rows_of_a_database_without_a_match_are_not_read() {
    let folder = Folder::new("searched");
    let connection = jird_formats::sqlite::rusqlite::Connection::open(folder.0.join("t.db")).unwrap();
    connection
        .execute_batch(
            "create table t (id integer primary key, k integer, name text, v);
             with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
             insert into t select i, (i * 7919) % 10000, 'n' || (i % 500), iif(i % 2, i / 4.0, i || '') from n;
             create index k on t (k); create index name on t (name)",
        )
        .unwrap();
    folder.run(&["t.db", "t.ndjson"]);
    for (sql, records) in [
        ("select id, name where k = 5", 2),
        ("select * where k = 5", 2),
        ("select count(*) as n where name = 'n7'", 40),
        ("select id where id = 77 or k in (3, 4.0)", 5),
        ("select id where k between 100 and 101 and name <> 'n3'", 4),
        ("select id where id > 19990 and id <= 19995", 6),
        ("select s.id, x.id as other from stream s join stream x on s.k = x.k where s.id = 9 order by 2", 20_001),
        // Texts among numbers are read, for the note about them.
        ("select id, v where v < 1.5", 10_003),
        ("select id where k = '5'", 20_000),
        ("select id where not k < 9999", 20_000),
        ("select id, _line where k = 5", 20_000),
        ("select name where id > 0 limit 3", 20_000),
    ] {
        let wanted = folder.query(&[sql, "t.ndjson"], b"");
        let (out, said, code) = folder.query(&[sql, "t.db", "--stats"], b"");
        assert_eq!((&out, code), (&wanted.0, 0), "{sql} {said}");
        let read = said.lines().find_map(|line| line.strip_prefix("records")).unwrap().trim().to_owned();
        assert!(read == records.to_string() || sql.contains("limit"), "{sql}: {read} records");
    }
    // A row that is left out is not checked; one that is read is named by its place among all.
    connection.execute_batch("update t set v = 9e999 where id = 9").unwrap();
    assert_eq!(run(&folder, &["select id, v where id = 8", "t.db"], b""), "{\"id\":8,\"v\":\"8\"}\n");
    let (out, said, code) = folder.query(&["select v where id = 9", "t.db"], b"");
    assert_eq!((out.as_str(), code), ("", 1), "{said}");
    assert!(said.contains("an infinite number, which JSON does not have, in record 9"), "{said}");
    let (out, said, code) = folder.query(&["select id, v where id in (8, 10)", "t.db", "--on-error", "skip"], b"");
    assert_eq!((out.lines().count(), code), (2, 1), "{said}");
    assert!(said.contains("1 bad record left out"), "{said}");
}

#[test]
fn every_command_reads_a_table_in_its_own_order() {
    let folder = Folder::new("table_order");
    let connection = jird_formats::sqlite::rusqlite::Connection::open(folder.0.join("t.db")).unwrap();
    connection
        .execute_batch(
            "create table t (id text primary key, n) without rowid; create index n on t (n desc);
             insert into t values ('a', 1), ('b', 3), ('c', 2)",
        )
        .unwrap();
    let rows = "{\"id\":\"a\",\"n\":1}\n{\"id\":\"b\",\"n\":3}\n{\"id\":\"c\",\"n\":2}\n";
    assert_eq!(folder.fine(&["t.db", "-"]), rows);
    assert_eq!(run(&folder, &["select *", "t.db"], b""), rows);
    assert_eq!(run(&folder, &["select * where n > 0", "t.db"], b""), rows);
}
