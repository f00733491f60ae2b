//! `jird query`: folders as `day=2024-01-01/`, whose names give their records fields.

use crate::folder::{Folder, gzip};
use std::fs;

/// A folder with files below folders.
fn folders(name: &str, files: &[(&str, &str)]) -> Folder {
    let folder = Folder::new(name);
    for (path, text) in files {
        fs::create_dir_all(folder.0.join(path).parent().unwrap()).unwrap();
        fs::write(folder.0.join(path), text).unwrap();
    }
    folder
}

fn logs(name: &str) -> Folder {
    folders(
        name,
        &[
            ("logs/day=2024-01-01/h=00/a.ndjson", "{\"v\":1}\n{\"v\":2}\n"),
            ("logs/day=2024-01-01/h=13/a.ndjson", "{\"v\":3 }\n"),
            ("logs/day=2024-01-02/h=07/a.ndjson", "{}\n{\"v\":4,\"day\":\"own\"}\n"),
        ],
    )
}

#[track_caller]
fn gives(folder: &Folder, args: &[&str], wanted: &str) {
    for more in [&[][..], &["--threads", "1"], &["--threads", "3", "--chunk-bytes", "5"]] {
        let (out, said, code) = folder.query(&[args, more].concat(), b"");
        assert_eq!((out.as_str(), code), (wanted, 0), "{args:?} {more:?}: {said}");
    }
}

/// What `--stats` says of files that were left out, and how many bytes were read.
#[track_caller]
fn left_out(folder: &Folder, sql: &str, wanted: usize) {
    let (_, said, code) = folder.query(&[sql, "--stats"], b"");
    assert_eq!(code, 0, "{sql}: {said}");
    let found = said
        .lines()
        .find_map(|line| line.strip_prefix("left out    "))
        .map_or("0", |rest| rest.split(' ').next().unwrap());
    assert_eq!(found, wanted.to_string(), "{sql}: {said}");
}

#[test]
fn records_have_the_keys_of_their_folders() {
    let folder = logs("keys");
    let all = "\
{\"v\":1,\"day\":\"2024-01-01\",\"h\":0}
{\"v\":2,\"day\":\"2024-01-01\",\"h\":0}
{\"v\":3,\"day\":\"2024-01-01\",\"h\":13}
{\"day\":\"2024-01-02\",\"h\":7}
{\"v\":4,\"day\":\"2024-01-02\",\"h\":7}
";
    for from in ["'logs'", "'logs/**/*.ndjson'", "'logs/*/*/a.ndjson'", "'logs/day=*/h=*/a.ndjson'"] {
        gives(&folder, &[&format!("select * from {from}")], all);
    }
    gives(
        &folder,
        &["select *", "logs/day=2024-01-02"],
        "{\"day\":\"2024-01-02\",\"h\":7}\n{\"v\":4,\"day\":\"2024-01-02\",\"h\":7}\n",
    );
    gives(
        &folder,
        &["select day, h, _file, v where v = 3", "logs"],
        "{\"day\":\"2024-01-01\",\"h\":13,\"_file\":\"logs/day=2024-01-01/h=13/a.ndjson\",\"v\":3}\n",
    );
    let groups =
        "{\"day\":\"2024-01-01\",\"n\":3,\"s\":6,\"m\":13}\n{\"day\":\"2024-01-02\",\"n\":2,\"s\":4,\"m\":7}\n";
    gives(&folder, &["select day, count(*) as n, sum(v) as s, max(h) as m from 'logs' group by day"], groups);
    let join =
        "select a.v, b.h from 'logs' a join 'logs' b on a.h = b.h and a.day = b.day where b.v is null order by a.v";
    gives(&folder, &[join], "{\"v\":4,\"h\":7}\n{\"h\":7}\n");
    gives(
        &folder,
        &["with c as (select * from 'logs') select day, h + 1 as i from c where v = 1"],
        "{\"day\":\"2024-01-01\",\"i\":1}\n",
    );
    gives(
        &folder,
        &["select distinct h % 2 as o, upper(day) as d from 'logs' order by d, o"],
        "{\"o\":0,\"d\":\"2024-01-01\"}\n{\"o\":1,\"d\":\"2024-01-01\"}\n{\"o\":1,\"d\":\"2024-01-02\"}\n",
    );
    gives(&folder, &["select count(*) as n from 'logs' where day.x is not null or day[0] is not null"], "{\"n\":0}\n");
    let (csv, _, _) = folder.query(&["select * from 'logs' order by h, v limit 1", "--format", "csv"], b"");
    assert_eq!(csv, "v,day,h\n1,2024-01-01,0\n");
    let (said, _, _) = folder.query(&["describe 'logs'"], b"");
    assert!(said.contains("\"column_name\":\"h\",\"column_type\":\"i64\",\"present\":5,"), "{said}");
    let plain = "{\"v\":3 }\n{}\n{\"v\":4,\"day\":\"own\"}\n";
    gives(&folder, &["select * from 'logs' where v is null or v > 2", "--folder-keys", "ignore"], plain);
}

#[test]
fn files_whose_folders_cannot_match_are_not_read() {
    let folder = logs("left-out");
    // What is not read is not even opened.
    fs::write(folder.0.join("logs/day=2024-01-01/h=00/a.ndjson"), b"\xff\xfe\0not JSON\n").unwrap();
    gives(&folder, &["select v from 'logs' where day = '2024-01-02' and v > 0"], "{\"v\":4}\n");
    for (sql, files) in [
        ("select v from 'logs' where day = '2024-01-02'", 2),
        ("select v from 'logs' where day >= '2024-01-02' and h < 9", 2),
        ("select v from 'logs' where h in (13, 14) or h = 7", 1),
        ("select v from 'logs' where not h = 0 and v > 1", 1),
        ("select avg(v) as a, day from 'logs' where h > 6 group by day", 1),
        ("select a.v from 'logs' a join 'logs' b on a.h = b.h where a.h = 7 and b.day = '2024-01-02'", 2),
        ("with c as (select h, v from 'logs' where h between 7 and 13) select count(*) as n, max(v) from c", 1),
        ("select h from 'logs' where day like '%02' union all select h from 'logs' where h = 13", 1),
        (
            "create view v as select v, h from 'logs' where day = '2024-01-02'; select v, sum(h) as s from v group by v",
            2,
        ),
        ("create view logs as from 'logs'; select v from logs l where l.h = 7 order by v", 2),
        ("select v from 'logs' where h = 'x' and h <> 0", 3),
        ("select (select max(v) from 'logs' where h = 13) as m", 2),
    ] {
        left_out(&folder, sql, files);
    }
    // The condition may stand outside of the query that reads the files.
    for (sql, files) in [
        ("select max(v) as m from (select v, h, day from 'logs') where h = 7", 2),
        ("create view v as select v, h as hour from 'logs' where v > 0; select v from v where hour > 0", 1),
        ("with c as (select day, v from 'logs') select count(*) as n, sum(v) as s from c where day < '2024-01-02'", 1),
        ("select v from (select v, h from 'logs' limit 2) where h = 7", 0),
        ("select v, n from (select v, h, row_number() over (order by v) as n from 'logs') where h = 7", 0),
    ] {
        fs::write(folder.0.join("logs/day=2024-01-01/h=00/a.ndjson"), "{\"v\":1}\n{\"v\":2}\n").unwrap();
        left_out(&folder, sql, files);
    }
    // An answer without a file has a note, because a key may be of another kind than its user thinks.
    let (out, said, _) = folder.query(&["select v from 'logs' where h = '07'"], b"");
    assert!(
        out.is_empty() && said.contains("note: no file is read: folders rule them out, as those of logs/day="),
        "{said}"
    );
    let (plan, _, _) = folder.query(&["explain select v from 'logs' where h = 7"], b"");
    assert!(plan.contains("day=2024-01-02/h=07/a.ndjson; 2 more are ruled out by their folders\n"), "{plan}");
}

#[test]
fn files_that_may_match_are_read() {
    let folder = logs("kept");
    for sql in [
        "select v from 'logs' where h = 7 or v = 1",
        "select v from 'logs' where h + 0 = 7",
        "select v from 'logs'",
        "select v from 'logs' where h = 7 union all select v from 'logs'",
        "select a.v from 'logs' a left join 'logs' b on a.h = b.h and b.h = 7",
        "select a.v from 'logs' a left join 'logs' b on a.v = b.v where b.h is null",
        "select v from 'logs' a where exists (select 1 from 'logs' b where a.h = 7 and b.v = a.v)",
        "select v from 'logs' where v = 1",
    ] {
        left_out(&folder, sql, 0);
    }
    gives(
        &folder,
        &["select count(*) as n from 'logs' a left join 'logs' b on a.v = b.v and b.h = 7 where b.h is null"],
        "{\"n\":4}\n",
    );
    gives(
        &folder,
        &["select count(*) as n from 'logs' a right join 'logs' b on a.h = b.h where a.h = 7"],
        "{\"n\":4}\n",
    );
    left_out(&folder, "select count(*) as n from 'logs' where day = '2024-01-02' limit 1", 2);
    let (_, said, _) = folder.query(&["select v from 'logs' where h = 7", "--stats", "--folder-keys", "ignore"], b"");
    assert!(!said.contains("left out"), "{said}");
}

#[test]
fn folders_may_have_any_names() {
    let folder = folders(
        "odd",
        &[
            ("d/city=S%C3%A3o%20Paulo%2F/a.ndjson", "{\"v\":1}\n"),
            ("d/city=__HIVE_DEFAULT_PARTITION__/a.ndjson", "{\"v\":2,\"city\":\"own\"}\n"),
            ("d/city=/a.ndjson", "{\"v\":3}\n"),
            ("d/a.ndjson", "{\"v\":4,\"city\":\"own\"}\n"),
            ("d/city=x/code=007/b=1/b=2/a.ndjson", "{\"v\":5,\"city\":{\"x\":1},\"b\":[]}\n[1]\n"),
            ("d/city=x/code=08/=1/c.ndjson", "{\"v\":6}\n"),
            ("m/k=1/a.ndjson", "{\"v\":1}\n"),
            ("m/k=one/a.ndjson", "{\"v\":2}\n"),
            ("m/k=01/a.ndjson", "{\"v\":3}\n"),
        ],
    );
    let city = "\
{\"v\":4,\"city\":\"own\"}
{\"v\":3,\"city\":\"\"}
{\"v\":1,\"city\":\"São Paulo/\"}
{\"v\":2}
{\"v\":6,\"city\":\"x\",\"code\":8}
{\"v\":5,\"city\":\"x\",\"code\":7,\"b\":2}
{\"value\":[1]}
";
    let (out, said, code) = folder.query(&["select * from 'd'"], b"");
    let sorted = |text: &str| {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!((sorted(&out), code), (sorted(city), 0), "{said}");
    gives(&folder, &["select v, city from 'd' where city = 'own'"], "{\"v\":4,\"city\":\"own\"}\n");
    gives(&folder, &["select count(*) as n, count(city) as c, min(code) as m from 'd'"], "{\"n\":7,\"c\":6,\"m\":7}\n");
    gives(&folder, &["select v from 'd' where city is null"], "{\"v\":2}\n");
    gives(
        &folder,
        &["select v, k from 'm' order by v"],
        "{\"v\":1,\"k\":\"1\"}\n{\"v\":2,\"k\":\"one\"}\n{\"v\":3,\"k\":\"01\"}\n",
    );
    gives(&folder, &["select sum(k) as s from 'm/k=[0-9]*/a.ndjson'"], "{\"s\":2}\n");
}

#[test]
fn files_of_every_format_have_folders() {
    let folder = folders("formats", &[("d/k=1/a.csv", "v\n1\n"), ("d/k=2/a.json", "[{\"v\":2,\n\"k\":9},{}]")]);
    fs::create_dir_all(folder.0.join("d/k=3")).unwrap();
    fs::write(folder.0.join("d/k=3/a.ndjson.gz"), gzip("{\"v\":3}\n")).unwrap();
    folder.query(&["select 5 as v", "-o", "p.parquet"], b"");
    fs::create_dir_all(folder.0.join("d/k=5")).unwrap();
    fs::rename(folder.0.join("p.parquet"), folder.0.join("d/k=5/p.parquet")).unwrap();
    let all = "{\"v\":1,\"k\":1}\n{\"v\":2,\"k\":2}\n{\"k\":2}\n{\"v\":3,\"k\":3}\n{\"v\":5,\"k\":5}\n";
    let (out, said, code) = folder.query(&["select * from 'd/*/*'"], b"");
    assert_eq!((out.as_str(), code), (all, 0), "{said}");
    gives(&folder, &["select sum(k) as s, sum(v) as t from 'd/*/*' where k <> 3"], "{\"s\":10,\"t\":8}\n");
    // The types that a user gives are for records, and folders keep theirs.
    fs::write(folder.0.join("types.json"), "{\"v\":\"i64\"}").unwrap();
    gives(&folder, &["select max(v + k) as m from 'd/*/*'", "--schema", "types.json"], "{\"m\":10}\n");
}
