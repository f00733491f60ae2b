//! `jird query`: names and views.
#![expect(clippy::format_collect, reason = "texts to test, not to hurry")]

use crate::folder::Folder;
use std::fmt::Write;

const LOGS: [(&str, &str); 2] = [
    ("a.ndjson", "{\"level\":\"error\",\"ms\":5,\"user\":{\"id\":1}}\n{\"level\":\"info\",\"ms\":1}\n"),
    ("b.ndjson", "{\"level\":\"error\",\"ms\":9.50,\"user\":{\"id\":2}}\n{\"level\":\"error\"}\n"),
];

const VIEWS: &str = "\
-- What the team asks for every day.
create view logs as from '*.ndjson';
create view errors as select level, ms, user.id as id from logs where level = 'error';
create or replace view slow (duration) as select ms from errors where ms > 6;
create temp view \"by id\" as (select id, count(*) as n from errors group by id);
";

fn folder(name: &str) -> Folder {
    LOGS.iter().fold(Folder::new(name), |folder, (name, text)| folder.with(name, text)).with("v.sql", VIEWS)
}

/// The query prints this.
#[track_caller]
fn gives(folder: &Folder, args: &[&str], wanted: &str) {
    let (out, said, code) = folder.query(args, b"");
    assert_eq!((out.as_str(), code), (wanted, 0), "{args:?}: {said}");
}

/// The query fails, and says this.
#[track_caller]
fn fails(folder: &Folder, args: &[&str], words: &str) {
    let (out, said, code) = folder.query(args, b"");
    assert_eq!((out.as_str(), code), ("", 2), "{args:?}: {said}");
    assert!(said.contains(words) && said.lines().count() == 1, "{args:?}: {said}");
    assert!(!said.contains("view:"), "{args:?}: {said}");
}

#[test]
fn a_query_reads_views_of_a_file() {
    let folder = folder("views");
    let asks = |sql: &str, wanted: &str| gives(&folder, &[sql, "--definitions", "v.sql"], wanted);
    asks("select count(*) as n from logs", "{\"n\":4}\n");
    asks(
        "from errors",
        concat!(
            "{\"level\":\"error\",\"ms\":5,\"id\":1}\n",
            "{\"level\":\"error\",\"ms\":9.50,\"id\":2}\n",
            "{\"level\":\"error\"}\n"
        ),
    );
    asks("select duration from slow", "{\"duration\":9.50}\n");
    asks("select n from \"by id\" where id = 2", "{\"n\":1}\n");
    // A name of files has all that files have: any field, and the places of records.
    asks("select _file, gone from logs limit 1", "{\"_file\":\"a.ndjson\"}\n");
    asks("select logs.ms from logs where user.id = 1", "{\"ms\":5}\n");
    asks("select e.id, s.duration from errors e join slow s on e.ms = s.duration", "{\"id\":2,\"duration\":9.50}\n");
    asks("select max(ms) as m from errors where id in (select id from \"by id\")", "{\"m\":9.5}\n");
    asks("select (select count(*) from slow) as n", "{\"n\":1}\n");
    asks(
        "select id from errors union select duration from slow order by id",
        "{\"id\":1}\n{\"id\":2}\n{\"id\":9.5}\n{\"id\":null}\n",
    );
    asks("explain select count(*) from errors", &folder.query(
        &["explain with e as (select level, ms, user.id as id from '*.ndjson' as logs where level = 'error') select count(*) from e"], b"").0);
}

#[test]
fn a_text_defines_views_before_its_query() {
    let folder = folder("text");
    let sql =
        "create view e as select ms from stream where level = 'error'; create view m as select max(ms) as m from e;\n;";
    gives(&folder, &[&format!("{sql} from m;"), "a.ndjson", "b.ndjson"], "{\"m\":9.5}\n");
    // Definitions of the text may replace those of files, and stand in any order.
    let replaced = "create view twice as select duration from slow union all select duration from slow; \
         create or replace view slow as select 3 as duration; from twice";
    gives(&folder, &[replaced, "--definitions", "v.sql"], "{\"duration\":3}\n{\"duration\":3}\n");
    let kept = "create view if not exists slow as select 3 as duration; from slow";
    gives(&folder, &[kept, "--definitions", "v.sql"], "{\"duration\":9.50}\n");
    let more = "create view worst as select max(duration) as d from slow";
    let folder = folder.with("w.sql", format!("\u{feff}{more}"));
    gives(&folder, &["from worst", "--definitions", "w.sql", "--definitions", "v.sql"], "{\"d\":9.5}\n");
    gives(
        &folder,
        &["select m.ms from mine m limit 1", "--define", "mine=b.ndjson", "--definitions", "v.sql"],
        "{\"ms\":9.50}\n",
    );
    let of_name = "create view v as select ms from mine where ms > 0; from v";
    gives(&folder, &[of_name, "--define", "mine=b.ndjson"], "{\"ms\":9.50}\n");
}

#[test]
fn names_of_a_query_go_before_views_and_change_none() {
    let folder = folder("own");
    let asks = |sql: &str, wanted: &str| gives(&folder, &[sql, "--definitions", "v.sql"], wanted);
    asks("with errors as (select 7 as v) select v from errors", "{\"v\":7}\n");
    // The view reads the errors that it means, whatever the query calls by this name.
    asks("with errors as (select 99 as ms) select duration from slow, errors", "{\"duration\":9.50}\n");
    asks("with logs as (select 99 as ms) select count(*) as n from errors", "{\"n\":3}\n");
    asks("select v from (with slow as (select 1 as v) select v from slow) as x", "{\"v\":1}\n");
    asks(
        "with x as (with slow as (select 1 as v) select v from slow) select duration from slow",
        "{\"duration\":9.50}\n",
    );
    asks("with slow as (select duration + 1 as d from slow) from slow", "{\"d\":10.5}\n");
    let recursive = "with recursive n as (select 1 as i union all select i + 1 as i from n where i < 3) \
                     select sum(i) as s, (select max(duration) from slow) as d from n";
    asks(recursive, "{\"s\":6,\"d\":9.5}\n");
}

#[test]
fn views_that_are_not_used_cost_nothing() {
    let folder = Folder::new("unused").with("a.ndjson", "{\"a\":1}\n").with(
        "v.sql",
        "create view gone as select * from 'gone.ndjson'; create view far as select x from gone; create view here as select a from 'a.ndjson'",
    );
    gives(&folder, &["from here", "--definitions", "v.sql"], "{\"a\":1}\n");
    fails(&folder, &["from far", "--definitions", "v.sql"], "gone.ndjson");
    // Nothing is read for names unless the user says so.
    let folder = folder.with("jird.sql", "create view here as select 2 as a");
    fails(&folder, &["from here"], "there is no table here");
}

#[test]
fn what_is_wrong_in_a_view_has_a_place() {
    for (text, words) in [
        ("create view a as select x from a;", "the view a reads itself: a reads a (w.sql, line 1, column 13)"),
        (
            "create view a as from b;\ncreate view b as from c; create view c as select 1 from a",
            "the view a reads itself: a reads b reads c reads a (w.sql, line 1, column 13)",
        ),
        (
            "create view a as\nselect 1 from errrs; create view errs as select 1",
            "there is no table errrs; did you mean errs? (w.sql, line 2, column 15)",
        ),
        ("create view a as select 1 from (select * from nowhere)", "(w.sql, line 1, column 47)"),
        (
            "create view a as select 1; create view a as select 2",
            "there are two views a: `create or replace view` replaces one (w.sql, line 1, column 40)",
        ),
        ("create view a as select 1; select 2", "w.sql: definitions are `create view … as …;` and nothing else"),
        ("create table a as select 1", "w.sql: definitions are"),
        ("create view a as select 1; drop table b", "w.sql: definitions are"),
        ("create view stream as select 1", "stream cannot name a view"),
        ("create view 'x.ndjson' as select 1", "cannot name a view"),
        ("create view a.b as select 1", "w.sql: a.b cannot name a view, because it has a dot"),
        ("create materialized view a as select 1", "more than a name, names of columns and a query"),
        ("create view a as selec 1", "at line 1, column 18"),
        ("create view a as select 1 create view b as select 2", "at line 1, column "),
        ("create view a as select 'x", "at line 1, column 25"),
        (".mode csv", "w.sql: "),
    ] {
        let folder = Folder::new("wrong").with("w.sql", text);
        fails(&folder, &["select 1 as x", "--definitions", "w.sql"], words);
    }
    let folder = folder("place")
        .with("w.sql", "create view bad as select z from errors;create view of_bad as select z from bad");
    for (sql, words) in [
        ("from bad", "in the view bad: no column `z` here"),
        ("from of_bad", "in the view bad: no column `z`"),
        ("select errors.z from errors", "no column `errors.z`: errors has level, ms, id"),
        ("from erors", "there is no table erors; did you mean errors?"),
        ("from whatever", "defined are "),
        ("create view v as select 1", "a query must follow the views"),
        ("select 1; select 2", "one query at a time"),
        ("create view errors as select 1; from errors", "there are two views errors"),
        ("", "there is no query"),
        (" ; -- nothing\n;", "there is no query"),
    ] {
        fails(&folder, &[sql, "--definitions", "v.sql", "--definitions", "w.sql"], words);
    }
    fails(
        &folder,
        &["from logs", "--definitions", "v.sql", "--define", "logs=a.ndjson"],
        "logs is a view and a name of files",
    );
    fails(&folder, &["from logs", "--definitions", "gone.sql"], "gone.sql");
}

#[test]
fn many_views_are_no_trouble() {
    // Each reads the one before it, and most are not used.
    let mut text = "create view v0 as select 1 as n;\n".to_owned();
    for view in 1..3000 {
        let _ = writeln!(text, "create view v{view} as select n + 1 as n from v{};", view - 1);
    }
    let folder = Folder::new("many").with("v.sql", text);
    gives(&folder, &["from v30", "--definitions", "v.sql"], "{\"n\":31}\n");
    let texts = "create view w as select 'a;b' as t; -- not; here\n select t, ';' as u from w";
    gives(&folder, &[texts], "{\"t\":\"a;b\",\"u\":\";\"}\n");
}

const KINDS: &str = "\
{\"a\":1,\"t\":\"x\",\"m\":1,\"o\":{\"x\":1},\"l\":[1,2]}
{\"a\":2.5,\"m\":\"one\",\"o\":{\"x\":null}}
{\"a\":null,\"t\":\"y\",\"m\":1.0,\"o\":{\"x\":3}}
{\"a\":4,\"t\":\"x\",\"o\":7}
";

/// A row of `describe`.
fn column(name: &str, kind: &str, [present, null, missing]: [u64; 3], kinds: &str) -> String {
    format!(
        "{{\"column_name\":\"{name}\",\"column_type\":\"{kind}\",\"present\":{present},\"null\":{null},\
         \"missing\":{missing},\"kinds\":{{{kinds}}}}}\n"
    )
}

#[test]
fn a_description_has_each_field_and_its_kinds() {
    let folder = Folder::new("describe").with("k.ndjson", KINDS).with("v.sql", "create view v as select a, o from k");
    let all = [
        column("a", "f64", [4, 1, 0], "\"integer\":2,\"float\":1"),
        column("t", "text", [3, 0, 1], "\"text\":3"),
        column("m", "json", [3, 0, 1], "\"integer\":1,\"float\":1,\"text\":1"),
        column("o", "json", [4, 0, 0], "\"integer\":1,\"object\":3"),
        column("o.x", "i64", [3, 1, 0], "\"integer\":2"),
        column("l", "array", [1, 0, 3], "\"array\":1"),
        column("l[]", "i64", [2, 0, 0], "\"integer\":2"),
    ]
    .concat();
    let define = ["--define", "k=k.ndjson", "--definitions", "v.sql"];
    for sql in ["describe 'k.ndjson'", "desc k", "DESCRIBE select * from k", "describe from k;", "describe (from k)"] {
        gives(&folder, &[&[sql], &define[..]].concat(), &all);
    }
    // Standard input is read once, and the place of its records is not of interest.
    assert_eq!(folder.query(&["describe stream"], KINDS.as_bytes()).0, all);
    let some =
        [column("a", "f64", [2, 0, 0], "\"integer\":1,\"float\":1"), column("n", "i64", [2, 0, 0], "\"integer\":2")];
    gives(&folder, &[&["describe select a, 1 as n from v where a < 4"], &define[..]].concat(), &some.concat());
    let of_view = folder.query(&[&["describe v"], &define[..]].concat(), b"").0;
    assert_eq!(of_view.lines().count(), 3, "{of_view}");
    let csv = "column_name,column_type,present,null,missing,kinds\nn,i64,1,0,0,\"{\"\"integer\"\":1}\"\n";
    gives(&folder, &["describe select 1 as n", "--format", "csv"], csv);
    gives(&folder, &["describe select a from 'k.ndjson' where a > 9"], "");
    fails(&folder, &["describe nowhere"], "there is no table nowhere");
    fails(&folder, &["describe drop table x"], "syntax error: ");
    fails(&folder, &["summarize"], "syntax error: ");
    fails(&folder, &["describe 'gone.ndjson'"], "No such file");
    fails(&folder, &["explain describe 'k.ndjson'"], "");
}

#[test]
fn a_summary_has_figures_of_each_column() {
    let folder = Folder::new("summarize").with("k.ndjson", KINDS);
    let all = "\
{\"column_name\":\"a\",\"column_type\":\"f64\",\"min\":1.0,\"max\":4.0,\"approx_unique\":3,\"avg\":2.5,\"std\":1.5,\"q25\":1.75,\"q50\":2.5,\"q75\":3.25,\"count\":4,\"null_percentage\":25}
{\"column_name\":\"t\",\"column_type\":\"text\",\"min\":\"x\",\"max\":\"y\",\"approx_unique\":2,\"avg\":null,\"std\":null,\"q25\":null,\"q50\":null,\"q75\":null,\"count\":4,\"null_percentage\":25}
{\"column_name\":\"m\",\"column_type\":\"json\",\"min\":1,\"max\":\"one\",\"approx_unique\":2,\"avg\":1.0,\"std\":0.0,\"q25\":1.0,\"q50\":1.0,\"q75\":1.0,\"count\":4,\"null_percentage\":25}
{\"column_name\":\"o\",\"column_type\":\"json\",\"min\":7,\"max\":{\"x\":3},\"approx_unique\":4,\"avg\":7.0,\"std\":null,\"q25\":7.0,\"q50\":7.0,\"q75\":7.0,\"count\":4,\"null_percentage\":0}
{\"column_name\":\"o.x\",\"column_type\":\"i64\",\"min\":1,\"max\":3,\"approx_unique\":2,\"avg\":2.0,\"std\":1.4142135623730951,\"q25\":1.5,\"q50\":2.0,\"q75\":2.5,\"count\":4,\"null_percentage\":50}
{\"column_name\":\"l\",\"column_type\":\"array\",\"min\":[1,2],\"max\":[1,2],\"approx_unique\":1,\"avg\":null,\"std\":null,\"q25\":null,\"q50\":null,\"q75\":null,\"count\":4,\"null_percentage\":75}
";
    let (out, said, code) = folder.query(&["summarize 'k.ndjson'"], b"");
    assert_eq!((out.as_str(), said.as_str(), code), (all, "", 0));
    for args in [&["summarize stream"][..], &["summarize stream", "--threads", "1", "--chunk-bytes", "13"]] {
        let (out, said, code) = folder.query(args, KINDS.as_bytes());
        assert_eq!((out.as_str(), said.as_str(), code), (all, "", 0), "{args:?}");
    }
    // Of a query, the columns are what it selects.
    let (out, said, code) =
        folder.query(&["summarize select o, a + 1 as b from 'k.ndjson' where a > 1", "--format", "csv"], b"");
    let csv = "column_name,column_type,min,max,approx_unique,avg,std,q25,q50,q75,count,null_percentage\n\
        o,json,7,\"{\"\"x\"\":null}\",2,7.0,,7.0,7.0,7.0,2,0\n\
        b,f64,3.5,5.0,2,4.25,1.0606601717798212,3.875,4.25,4.625,2,0\n";
    assert_eq!((out.as_str(), said.as_str(), code), (csv, "", 0));
    let odd = Folder::new("odd").with("a.ndjson", "{\"a\\\"b\":1,\"\":{\"x.y\":2},\"select\":null}\n");
    let names = "create view s as from 'a.ndjson'; summarize s";
    let found = odd.query(&[names, "--format", "ndjson"], b"");
    assert_eq!(found.0.lines().count(), 3, "{found:?}");
    for part in ["\"min\":1,", "\"min\":2,", "\"column_name\":\"select\",\"column_type\":\"null\",\"min\":null"] {
        assert!(found.0.contains(part), "{found:?}");
    }
    // Many columns take several queries.
    let wide: Vec<_> = (0..130).map(|at| format!("\"c{at}\":{at}")).collect();
    let wide = Folder::new("wide").with("a.ndjson", format!("{{{}}}\n", wide.join(",")));
    let found = wide.query(&["summarize 'a.ndjson'"], b"");
    assert_eq!((found.0.lines().count(), found.2), (130, 0), "{found:?}");
    assert!(found.0.contains("\"column_name\":\"c129\",\"column_type\":\"i64\",\"min\":129,\"max\":129,"), "{found:?}");
    // A bad record is reported once, and what is kept of it is kept once.
    let bad = Folder::new("bad").with("a.ndjson", "{\"a\":1}\n{\"a\":\n{\"a\":2}\n");
    let (out, said, code) = bad.query(&["summarize 'a.ndjson'", "--on-error", "quarantine=q.ndjson"], b"");
    assert!(
        code == 1 && out.contains("\"count\":2") && said.matches("1 bad record left out").count() == 1,
        "{out} {said}"
    );
    assert_eq!(bad.text("q.ndjson").lines().count(), 1);
}

#[test]
fn names_are_shown() {
    let folder = folder("show");
    let args = ["--definitions", "v.sql", "--define", "mine=a.ndjson", "--define", "mine=gone.ndjson", "gone.ndjson"];
    let shown = "\
{\"name\":\"stream\",\"type\":\"files\",\"definition\":\"gone.ndjson\"}
{\"name\":\"mine\",\"type\":\"files\",\"definition\":\"a.ndjson gone.ndjson\"}
{\"name\":\"by id\",\"type\":\"view\",\"definition\":\"(SELECT id, count(*) AS n FROM errors GROUP BY id)\"}
{\"name\":\"errors\",\"type\":\"view\",\"definition\":\"SELECT level, ms, user.id AS id FROM logs WHERE level = 'error'\"}
{\"name\":\"logs\",\"type\":\"view\",\"definition\":\"SELECT * FROM '*.ndjson'\"}
{\"name\":\"slow\",\"type\":\"view\",\"definition\":\"SELECT ms FROM errors WHERE ms > 6\"}
";
    for sql in ["show tables", "SHOW ALL TABLES;", "describe"] {
        let (out, said, code) = folder.query(&[&[sql], &args[..]].concat(), b"");
        assert_eq!((out.as_str(), said.as_str(), code), (shown, "", 0), "{sql}");
    }
    let (out, _, _) = folder.query(&["create view v as select 1; show tables", "--format", "csv"], b"");
    assert_eq!(out, "name,type,definition\nstream,files,-\nv,view,SELECT 1\n");
    fails(&folder, &["show logs"], "`show tables` shows names");
}

#[test]
fn a_subquery_without_records_has_any_column() {
    let folder = Folder::new("empty").with("e.ndjson", "").with("b.ndjson", "{}\n{}\n").with("a.ndjson", "{\"a\":1}\n");
    for (sql, wanted) in [
        ("with c as (select * from 'e.ndjson') select a, b.x from c where a > 1 order by a", ""),
        (
            "with c as (select * from 'e.ndjson') select count(*) as n, sum(a) as s, max(b.c) as m from c",
            "{\"n\":0,\"s\":null,\"m\":null}\n",
        ),
        ("with c as (select *, 2 as two from 'e.ndjson') select two, one from c group by two, one", ""),
        ("select x.a from (select * from 'e.ndjson') x join 'a.ndjson' y on x.a = y.a", ""),
        ("select * from (select * from 'e.ndjson') x right join 'a.ndjson' y on x.a = y.a", "{\"a\":1}\n"),
        ("with c as (select * exclude (a) from 'e.ndjson'), d as (from c) select b from d", ""),
        ("with c(p, q) as (select * from 'e.ndjson') select p + q as r from c", ""),
        ("select p, q from 'e.ndjson' as t(p, q)", ""),
        ("select count(*) as n from 'a.ndjson' where a in (select a from (select * from 'e.ndjson') x)", "{\"n\":0}\n"),
        ("create view v as select * from 'e.ndjson' where a > 0; select count(b) as n from v", "{\"n\":0}\n"),
        // Records without any field are not different.
        ("with c as (select * from 'b.ndjson') select a from c", "{}\n{}\n"),
        // What is known goes before what is not.
        ("select a from (select * from 'e.ndjson') x right join 'a.ndjson' y on true", "{\"a\":1}\n"),
        ("with c as (select * from 'e.ndjson') select * from c", ""),
    ] {
        gives(&folder, &[sql, "--quiet"], wanted);
    }
    let (out, _, _) = folder.query(&["with c as (select * from 'b.ndjson') select * from c", "--format", "csv"], b"");
    assert!(!out.contains("nothing"), "{out}");
    fails(&folder, &["with c as (select a from 'e.ndjson') select b from c"], "no column `b`");
}

#[test]
fn what_a_subquery_names_is_not_named_outside() {
    let folder = Folder::new("inner").with("a.ndjson", "{\"a\":1}\n{\"a\":2}\n");
    gives(&folder, &["select (select count(*) from 'a.ndjson') as n"], "{\"n\":2}\n");
    gives(&folder, &["select exists(select 1 from 'a.ndjson' where a > 1) as e, 1 as x"], "{\"e\":true,\"x\":1}\n");
    let outer = "select (select max(b.a) from 'a.ndjson' b where b.a = stream.a) as m";
    gives(&folder, &[outer, "a.ndjson"], "{\"m\":1}\n{\"m\":2}\n");
    gives(&folder, &["with c as (select a where a > 1) from c", "a.ndjson"], "{\"a\":2}\n");
    gives(&folder, &["create view c as select a where a > 1; from c", "a.ndjson"], "{\"a\":2}\n");
    gives(&folder, &["select p from (select a, a + 1 as b from 'a.ndjson') as t(p, q) where q = 3"], "{\"p\":2}\n");
    gives(
        &folder,
        &["with c as (select a, 7 as b from 'a.ndjson') select x.q from c as x(p, q) where p = 1"],
        "{\"q\":7}\n",
    );
}

#[test]
fn windows_may_be_of_constant_columns() {
    let folder = Folder::new("constant")
        .with("a.ndjson", "{\"a\":1,\"d\":\"x\"}\n{\"a\":1,\"d\":\"y\"}\n{\"a\":2,\"d\":\"x\"}\n");
    let numbers = |part: &str, from: &str, wanted: &str| {
        let sql = format!("select a, row_number() over (partition by {part}) as n from ({from}) order by a, n");
        for threads in ["1", "3"] {
            gives(&folder, &[&sql, "a.ndjson", "--threads", threads], wanted);
        }
    };
    let of_a = "{\"a\":1,\"n\":1}\n{\"a\":1,\"n\":2}\n{\"a\":2,\"n\":1}\n";
    let of_all = "{\"a\":1,\"n\":1}\n{\"a\":1,\"n\":2}\n{\"a\":2,\"n\":3}\n";
    numbers("a, x order by a, x", "select a, 1 as x from stream", of_a);
    numbers("x, a", "select a, now() as x from stream", of_a);
    numbers("x order by a", "select a, 1 + 1 as x from stream", of_all);
    numbers(
        "x order by a",
        "select a, 'k' as x from stream where a = 1 union all select a, 'k' from stream where a > 1",
        of_all,
    );
    numbers(
        "a, x order by a",
        "select a, upper(d) as x from stream where upper(d) = 'X'",
        "{\"a\":1,\"n\":1}\n{\"a\":2,\"n\":1}\n",
    );
    for (sql, wanted) in [
        (
            "select a, 1 as x from stream intersect all select a, 1 from stream where d = 'x'",
            "{\"a\":1,\"x\":1}\n{\"a\":2,\"x\":1}\n",
        ),
        ("select a, 1 as x from stream except all select a, 1 from stream where d = 'x'", "{\"a\":1,\"x\":1}\n"),
        (
            "select 1 as x, 'b' as y from stream intersect all select 1, 'b' from stream where d = 'x'",
            "{\"x\":1,\"y\":\"b\"}\n{\"x\":1,\"y\":\"b\"}\n",
        ),
        ("select 1 as x intersect all (values (1), (1))", "{\"x\":1}\n"),
    ] {
        gives(&folder, &[sql, "a.ndjson", "--quiet"], wanted);
    }
}

#[test]
fn a_query_without_from_reads_the_stream_wherever_it_is_whole() {
    let folder = folder("whole");
    for sql in [
        "select max(ms) as m where level = 'error'",
        "select max(ms) as m from (select ms where level = 'error')",
        "with c as (select ms where level = 'error') select max(ms) as m from c",
        "create view v as select ms where level = 'error'; select max(ms) as m from v",
    ] {
        gives(&folder, &[sql, "a.ndjson", "b.ndjson"], "{\"m\":9.5}\n");
    }
    let (out, said, _) = folder.query(&["summarize select ms where level = 'error'", "a.ndjson"], b"");
    assert!(out.starts_with("{\"column_name\":\"ms\",\"column_type\":\"i64\",\"min\":5,\"max\":5,"), "{out} {said}");
}

#[test]
fn fields_that_are_too_many_are_noted() {
    let many: String = (0..120)
        .map(|line| {
            let fields: Vec<_> = (0..100).map(|at| format!("\"k{}\":1", line * 100 + at)).collect();
            format!("{{{}}}\n", fields.join(","))
        })
        .collect();
    let folder = Folder::new("keys").with("a.ndjson", many);
    let (out, said, code) = folder.query(&["describe 'a.ndjson'"], b"");
    assert_eq!((out.lines().count(), code), (10_000, 0), "{said}");
    assert!(said.contains("note: 2000 values of other fields are not described"), "{said}");
}
