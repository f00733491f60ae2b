//! `jird query` from outside: arguments and standard input in; standard output, standard error and exit code out.
#![cfg(feature = "query")]

mod bombs;
mod copy;
mod corners;
mod folders;
mod inputs;
mod meaning;
mod memory;
mod mixed;
mod names;
mod order;
mod paths;
mod reshape;
mod rows;
mod rules;
mod sources;
mod sql;
mod times;
mod types;

use crate::folder::Folder;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const EVENTS: &str = r#"{"@t":"2024-01-01T10:20:30Z","Message":"GET \/api/customers","Elapsed":250,"Level":"Info","P":{"id":"a","tags":["x","y"]},"a.b":1}
{"@t":"2024-01-01T11:20:30Z","Message":"POST /api/orders","Elapsed":20.5,"Level":"Warn","P":{"id":"b","tags":[]}}

{"@t":"2024-01-01T11:50:30Z","Message":null,"Elapsed":"n/a","Level":"Info","P":null}
{"Elapsed":201,"Level":"Info","late":true}
"#;

/// A folder with one file.
fn with_file(name: &str, text: impl AsRef<[u8]>) -> Folder {
    Folder::new("query").with(name, text)
}

/// `jird query` in a folder.
trait Ask {
    fn ask_with(&self, arguments: &[&str], stdin: &str) -> Ran;

    fn ask(&self, arguments: &[&str]) -> Ran {
        self.ask_with(arguments, "")
    }
}

impl Ask for Folder {
    fn ask_with(&self, arguments: &[&str], stdin: &str) -> Ran {
        Ran::from(self.jird("query", arguments, stdin.as_bytes()))
    }
}

#[derive(Debug)]
struct Ran {
    out: String,
    err: String,
    code: i32,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { out: text(output.stdout), err: text(output.stderr), code: output.status.code().unwrap_or(-1) }
    }
}

/// The query over `text` prints exactly this, and nothing on standard error.
#[track_caller]
fn gives(text: &str, sql: &str, expected: &str) {
    gives_as(text, &[sql], expected);
}

#[track_caller]
fn gives_as(text: &str, arguments: &[&str], expected: &str) {
    let mut arguments = arguments.to_vec();
    arguments.push("e.ndjson");
    let ran = with_file("e.ndjson", text).ask(&arguments);
    assert_eq!((ran.out.as_str(), ran.err.as_str(), ran.code), (expected, "", 0), "{arguments:?}");
}

/// The query fails with this exit code, and says all of this.
#[track_caller]
fn fails(text: &str, sql: &str, code: i32, words: &[&str]) {
    let ran = with_file("e.ndjson", text).ask(&[sql, "e.ndjson"]);
    assert_eq!(ran.code, code, "{sql}: {ran:?}");
    for word in words {
        assert!(ran.err.contains(word), "{sql}: no {word:?} in {}", ran.err);
    }
}

#[test]
fn plain_columns_print_as_they_stand() {
    gives(EVENTS, "select Message where Elapsed > 200", "{\"Message\":\"GET \\/api/customers\"}\n{}\n");
    gives("{\"a\":1.0,\"b\": [1, 2]}", "select a, b", "{\"a\":1.0,\"b\":[1, 2]}\n");
}

#[test]
fn null_is_printed_and_missing_is_left_out() {
    gives("{\"a\":null}\n{}\n{\"a\":1}\n", "select a", "{\"a\":null}\n{}\n{\"a\":1}\n");
    let types = "{\"t\":\"null\"}\n{\"t\":null}\n{\"t\":\"number\"}\n";
    gives("{\"a\":null}\n{}\n{\"a\":1}\n", "select json_type(a) as t", types);
    gives("{\"a\":null}\n{}\n{\"a\":1}\n", "select count(*) n, count(a) c where a is null", "{\"n\":2,\"c\":0}\n");
}

#[test]
fn json_type_names_every_kind() {
    let text = r#"{"a":[true,1,"x",{},[]]}"#;
    let sql = "select json_type(a[0]) t0, json_type(a[1]) t1, json_type(a[2]) t2, json_type(a[3]) t3, json_type(a[4]) t4, json_type(a) t5";
    gives(
        text,
        sql,
        "{\"t0\":\"boolean\",\"t1\":\"number\",\"t2\":\"string\",\"t3\":\"object\",\"t4\":\"array\",\"t5\":\"array\"}\n",
    );
}

#[test]
fn paths_subscripts_and_dotted_keys_are_columns() {
    gives(EVENTS, "select P.id where P.id = 'b'", "{\"id\":\"b\"}\n");
    gives(EVENTS, "select P['id'], P.tags[1] where stream.P.tags[0] = 'x'", "{\"id\":\"a\",\"P.tags[1]\":\"y\"}\n");
    gives(EVENTS, "select \"a.b\" where \"a.b\" = 1", "{\"a.b\":1}\n");
    gives("{\"a\":{\"x\":1},\"b\":{\"x\":2}}", "select a.x, b.x", "{\"x\":1,\"b.x\":2}\n");
}

#[test]
fn names_are_case_sensitive_and_a_name_that_never_occurs_is_noted() {
    let ran = with_file("e.ndjson", EVENTS).ask(&["select level where Elapsd > 5", "e.ndjson"]);
    assert_eq!((ran.out.as_str(), ran.code), ("", 0));
    assert!(ran.err.contains("no record has `level`") && ran.err.contains("no record has `Elapsd`"), "{}", ran.err);
    let quiet = with_file("e.ndjson", EVENTS).ask(&["select level", "e.ndjson", "--quiet"]);
    assert_eq!(quiet.err, "");
}

#[test]
fn names_of_functions_are_not_case_sensitive_and_user_is_a_key() {
    gives(
        "{\"user\":\"a\"}\n{\"user\":\"b\"}\n",
        "select MAX(user) as m, Count(*) as n, \"min\"(user) as i",
        "{\"m\":\"b\",\"n\":2,\"i\":\"a\"}\n",
    );
}

#[test]
fn a_star_alone_prints_records_as_they_stand() {
    gives("{ \"a\" : 1 }\r\n\r\n5\n{\"a\":1,\"a\":2}", "select *", "{ \"a\" : 1 }\n{\"value\":5}\n{\"a\":1,\"a\":2}\n");
    gives(EVENTS, "select * where late", "{\"Elapsed\":201,\"Level\":\"Info\",\"late\":true}\n");
    gives(
        EVENTS,
        "select * order by Level desc limit 1",
        "{\"@t\":\"2024-01-01T11:20:30Z\",\"Message\":\"POST /api/orders\",\"Elapsed\":20.5,\"Level\":\"Warn\",\"P\":{\"id\":\"b\",\"tags\":[]}}\n",
    );
}

#[test]
fn a_star_among_others_has_every_key_also_the_late_ones() {
    gives(
        "{\"b\":1}\n{\"a\":2,\"late\":3}\n",
        "select *, 1 as one",
        "{\"b\":1,\"one\":1}\n{\"a\":2,\"late\":3,\"one\":1}\n",
    );
    gives_as(
        "{\"b\":1}\n{\"a\":null,\"late\":\"x,y\"}\n7\n",
        &["select *", "--format", "csv"],
        "b,a,late,value\n1,,,\n,,\"x,y\",\n,,,7\n",
    );
}

#[test]
fn numbers_compare_by_value_whatever_their_size_and_spelling() {
    let text = "{\"i\":1,\"n\":9223372036854775807}\n{\"i\":2,\"n\":9223372036854775808}\n{\"i\":3,\"n\":1000000000000000000000000000000}\n{\"i\":4,\"n\":1e309}\n{\"i\":5,\"n\":-0.0}\n";
    gives(text, "select i where n > 9223372036854775807", "{\"i\":2}\n{\"i\":3}\n{\"i\":4}\n");
    gives(text, "select i where n = 9223372036854775808.0", "{\"i\":2}\n");
    gives(text, "select i where n = 1e30 or n = 0", "{\"i\":3}\n{\"i\":5}\n");
    gives(text, "select n where i in (3, 4)", "{\"n\":1000000000000000000000000000000}\n{\"n\":1e309}\n");
    gives(text, "select i where n between 1e308 and 1e310", "{\"i\":4}\n");
}

#[test]
fn a_number_against_a_text_is_null_and_counted() {
    let text = "{\"a\":1}\n{\"a\":\"1\"}\n{\"a\":true}\n";
    gives(text, "select a where a = 1", "{\"a\":1}\n");
    gives(text, "select a where a = '1'", "{\"a\":\"1\"}\n");
    gives(text, "select a where not a = 1", "");
    gives(text, "select a = 1 as x", "{\"x\":true}\n{\"x\":null}\n{\"x\":null}\n");
    let ran = with_file("e.ndjson", text).ask(&["select a where a = 1", "e.ndjson", "--stats"]);
    assert!(ran.err.contains("mismatches  2"), "{}", ran.err);
}

#[test]
fn conditions_are_three_valued() {
    let text = "{\"i\":1,\"a\":true,\"b\":null}\n{\"i\":2,\"a\":false}\n{\"i\":3}\n";
    gives(text, "select i where a", "{\"i\":1}\n");
    gives(text, "select i where not a", "{\"i\":2}\n");
    gives(text, "select i where a or b is null", "{\"i\":1}\n{\"i\":2}\n{\"i\":3}\n");
    gives(text, "select i where i not in (1, null)", "");
    gives(text, "select i where i in (1, null)", "{\"i\":1}\n");
    gives(
        text,
        "select i, case when a then 'yes' when not a then 'no' else 'none' end as c",
        "{\"i\":1,\"c\":\"yes\"}\n{\"i\":2,\"c\":\"no\"}\n{\"i\":3,\"c\":\"none\"}\n",
    );
}

#[test]
fn texts_match_patterns_and_regular_expressions() {
    let text = "{\"a\":\"100%\"}\n{\"a\":\"100x\"}\n{\"a\":\"caf\\u00e9\"}\n{\"a\":7}\n";
    gives(text, r"select a where a like '100\%'", "{\"a\":\"100%\"}\n");
    gives(text, "select a where a like '100!%' escape '!'", "{\"a\":\"100%\"}\n");
    gives(text, "select a where a like 'CAF_'", "");
    gives(text, "select a where a like 'caf_'", "{\"a\":\"caf\\u00e9\"}\n");
    gives(text, "select a where a not like '100%'", "{\"a\":\"caf\\u00e9\"}\n");
    gives(text, "select a where match(a, '^1.*x$|é')", "{\"a\":\"100x\"}\n{\"a\":\"caf\\u00e9\"}\n");
    fails(text, "select a where match(a, '(')", 2, &["regular expression '('", "unclosed group"]);
}

#[test]
fn a_condition_on_fields_is_decided_by_the_scan_and_needs_no_types() {
    let sql =
        "select Message where Elapsed > 200 and match(Message, 'api') or Level in ('a', 'b') and P.id is not null";
    let ran = with_file("e.ndjson", EVENTS).ask(&[sql, "e.ndjson", "--stats"]);
    assert!(ran.err.contains("pushed      Elapsed > 200 AND match(Message, 'api') OR"), "{}", ran.err);
    assert!(ran.err.contains("types       not needed"), "{}", ran.err);
}

#[test]
fn types_come_from_all_records() {
    gives("{\"a\":1}\n{\"a\":2.5}\n", "select a + 1 as x", "{\"x\":2.0}\n{\"x\":3.5}\n");
    gives(
        "{\"a\":9223372036854775807}\n{\"a\":9223372036854775807}\n",
        "select sum(a) as s",
        "{\"s\":18446744073709551614}\n",
    );
    gives("{\"a\":18446744073709551615}\n", "select max(a) as m", "{\"m\":18446744073709551615}\n");
    gives(
        "{\"a\":-1}\n{\"a\":18446744073709551615}\n",
        "select max(a) m, min(a) i",
        "{\"m\":18446744073709551615,\"i\":-1}\n",
    );
    gives("{\"a\":0.1}\n{\"a\":1e300}\n", "select max(a) as m, min(a) as i", "{\"m\":1e300,\"i\":0.1}\n");
    gives("{\"a\":\"x\\ny\"}\n", "select upper(a) as u", "{\"u\":\"X\\nY\"}\n");
    gives("{\"a\":null}\n{\"b\":1}\n", "select sum(a) as s, max(b) as b", "{\"s\":null,\"b\":1}\n");
    fails("{\"a\":9223372036854775807}", "select a + 1", 2, &["more than i64 holds"]);
}

#[test]
fn what_was_widened_is_reported() {
    let ran = with_file("e.ndjson", "{\"a\":1}\n\n{\"a\":2.5}\n").ask(&["select sum(a) as s", "e.ndjson", "--stats"]);
    assert!(ran.err.contains("widened     a: i64 to f64 by e.ndjson:3"), "{}", ran.err);
}

#[test]
fn a_record_is_named_by_its_own_file() {
    let folder = with_file("1.ndjson", "{\"a\":1}\n{\"a\":2}\n").with("2.ndjson", "{\"a\":3}\n\n{\"a\":\"x\"}\n");
    let ran = folder.ask(&["select sum(a)", "1.ndjson", "2.ndjson", "--chunk-bytes", "4"]);
    let note = "`a` has integers (first at 1.ndjson:1), texts (first at 2.ndjson:3): 1 value that is not a number was";
    assert!(ran.err.contains(note), "{}", ran.err);
}

#[test]
fn mixed_columns_print_compare_group_count_and_compute_with_their_numbers() {
    let text = "{\"a\":1}\n{\"a\":1.0}\n{\"a\":\"x\"}\n{\"a\":\"\\u0078\"}\n{\"a\":null}\n{}\n";
    gives(text, "select a where a is not null", "{\"a\":1}\n{\"a\":1.0}\n{\"a\":\"x\"}\n{\"a\":\"\\u0078\"}\n");
    gives(text, "select count(distinct a) as n, count(a) as c", "{\"n\":2,\"c\":4}\n");
    gives(
        text,
        "select n, count(*) as groups from (select a, count(*) n from stream group by a) g group by n",
        "{\"n\":2,\"groups\":3}\n",
    );
    gives(text, "select sum(number(a)) as s, max(text(a)) as t", "{\"s\":2.0,\"t\":\"x\"}\n");
    let ran = with_file("e.ndjson", text).ask(&["select sum(a) as s", "e.ndjson"]);
    assert_eq!(ran.out, "{\"s\":2}\n");
    assert!(
        ran.err.contains("texts (first at e.ndjson:3): 2 values that are not numbers were left out"),
        "{}",
        ran.err
    );
}

#[test]
fn the_first_of_duplicate_keys_counts() {
    gives("{\"a\":1,\"a\":2}", "select a where a = 1", "{\"a\":1}\n");
}

#[test]
fn groups_order_and_distinct() {
    gives(
        EVENTS,
        "select Level, count(*) as n group by Level order by Level",
        "{\"Level\":\"Info\",\"n\":3}\n{\"Level\":\"Warn\",\"n\":1}\n",
    );
    gives(EVENTS, "select distinct Level order by Level desc", "{\"Level\":\"Warn\"}\n{\"Level\":\"Info\"}\n");
    gives(
        EVENTS,
        "select Level as l, count(*) from stream group by l having count(*) > 1",
        "{\"l\":\"Info\",\"count(*)\":3}\n",
    );
    gives(EVENTS, "select count(*) as n group by Level having Level = 'Warn'", "{\"n\":1}\n");
    gives(
        EVENTS,
        "select Elapsed > 100 as slow, count(*) as n group by Elapsed > 100 order by n, slow",
        "{\"slow\":false,\"n\":1}\n{\"slow\":null,\"n\":1}\n{\"slow\":true,\"n\":2}\n",
    );
    fails(
        EVENTS,
        "select Level, Message group by Level",
        2,
        &["`Message` is neither in `group by` nor in an aggregate"],
    );
    fails(EVENTS, "select Level order by count(*)", 2, &["`Level` is neither in `group by` nor in an aggregate"]);
}

#[test]
fn an_alias_is_not_taken_for_a_field_of_that_name() {
    gives("{\"a\":2,\"b\":1}\n{\"a\":1,\"b\":2}\n", "select b as a order by a", "{\"a\":1}\n{\"a\":2}\n");
    gives("{\"a\":10}\n{\"a\":9}\n", "select a order by a", "{\"a\":9}\n{\"a\":10}\n");
    gives("{\"a\":10}\n{\"a\":9}\n", "select a as x order by 1 desc", "{\"x\":10}\n{\"x\":9}\n");
}

#[test]
fn percentiles_are_of_each_group_and_pass_by_what_is_null_or_missing() {
    let text = "{\"a\":4,\"g\":1}\n{\"a\":1,\"g\":1}\n{\"a\":2.5,\"g\":1}\n{\"g\":1}\n{\"a\":7,\"g\":2}\n{\"a\":null,\"g\":3}\n";
    for percentile in ["percentile_cont(0.5) within group (order by a)", "approx_percentile_cont(a, 0.5)", "median(a)"]
    {
        gives(
            text,
            &format!("select g, {percentile} as p group by g order by g"),
            "{\"g\":1,\"p\":2.5}\n{\"g\":2,\"p\":7.0}\n{\"g\":3,\"p\":null}\n",
        );
    }
    gives(text, "select percentile_cont(0.75) within group (order by a) as p", "{\"p\":4.75}\n");
    gives(text, "select quantile_cont(a, 0) as a, percentile_cont(a, 1) as b", "{\"a\":1.0,\"b\":7.0}\n");
    let repeated = "{\"a\":1}\n{\"a\":1}\n{\"a\":2}\n{\"a\":3.0}\n";
    gives(repeated, "select percentile_cont(distinct a, 0.5) as p", "{\"p\":2.0}\n");
    gives(repeated, "select percentile_cont(0.75) within group (order by a desc) as p", "{\"p\":1.0}\n");
    // The place between two values is not rounded.
    gives(
        "{\"a\":0}\n{\"a\":1e9}\n",
        "select percentile_cont(0.12345678901) within group (order by a) as p",
        "{\"p\":123456789.01}\n",
    );
    gives("{\"a\":1}\n{\"a\":2}\n", "select median(a) as m", "{\"m\":1.5}\n");
    let mixed = with_file("e.ndjson", "{\"a\":1}\n{\"a\":\"x\"}\n").ask(&["select median(a) as m", "e.ndjson"]);
    assert_eq!(mixed.out, "{\"m\":1.0}\n");
    fails(text, "select percentile_cont(1.5) within group (order by a)", 2, &["must be between 0.0 and 1.0"]);
}

#[test]
fn time_buckets_are_timestamps() {
    gives(
        EVENTS,
        "select time_bucket('1h', \"@t\") as h, count(*) as n where \"@t\" is not null group by h order by h",
        "{\"h\":\"2024-01-01T10:00:00Z\",\"n\":1}\n{\"h\":\"2024-01-01T11:00:00Z\",\"n\":2}\n",
    );
    gives_as("{\"t\":\"soon\"}", &["select time_bucket('1h', t) as h", "--quiet"], "{\"h\":null}\n");
    fails("{\"t\":\"soon\"}", "select time_bucket('1 fortnight', t)", 2, &["a width such as '15 minutes'"]);
}

#[test]
fn joins_subqueries_and_common_table_expressions() {
    let folder =
        with_file("a.ndjson", "{\"id\":1,\"x\":\"a\"}\n{\"id\":2.0,\"x\":\"b\"}\n{\"id\":\"1\",\"x\":\"c\"}\n")
            .with("b.ndjson", "{\"id\":1.0,\"y\":\"p\"}\n{\"id\":2,\"y\":\"q\"}\n{\"id\":null}\n");
    let check = |sql: &str, expected: &str| {
        let ran = folder.ask(&[sql, "a.ndjson"]);
        assert_eq!((ran.out.as_str(), ran.err.as_str(), ran.code), (expected, "", 0), "{sql}");
    };
    check(
        "select s.x, b.y from stream s join 'b.ndjson' b on s.id = b.id order by s.x",
        "{\"x\":\"a\",\"y\":\"p\"}\n{\"x\":\"b\",\"y\":\"q\"}\n",
    );
    let both = "{\"id\":1,\"x\":\"a\",\"y\":\"p\"}\n{\"id\":2.0,\"x\":\"b\",\"y\":\"q\"}\n";
    check("select id, s.x, b.y from stream s join (select id, y from 'b.ndjson') b using (id) order by s.x", both);
    let left = "{\"x\":\"a\",\"y\":\"p\"}\n{\"x\":\"b\"}\n{\"x\":\"c\"}\n";
    check("select s.x, b.y from stream s left join 'b.ndjson' b on s.id = b.id and b.y < 'q' order by s.x", left);
    check("select count(*) as n from stream s join 'b.ndjson' b on s.id <> b.id or b.id is null", "{\"n\":5}\n");
    check(
        "select count(*) as n from stream s, 'b.ndjson' b where s.id >= b.id or b.y is null and s.x > 'a'",
        "{\"n\":5}\n",
    );
}

#[test]
fn queries_nest() {
    gives(
        EVENTS,
        "with t as (select Message, Elapsed e from stream where Level = 'Info') select Message from t where e > 200",
        "{\"Message\":\"GET \\/api/customers\"}\n{}\n",
    );
    gives(
        EVENTS,
        "select n from (select Level l, count(*) n from stream group by Level) x where x.l = 'Warn'",
        "{\"n\":1}\n",
    );
    gives(EVENTS, "select count(*) as n where Level in (select Level from stream where late)", "{\"n\":3}\n");
    gives(
        EVENTS,
        "select Level from stream s where exists (select 1 from stream o where o.P.id = 'b' and o.Level = s.Level)",
        "{\"Level\":\"Warn\"}\n",
    );
    let union = "select P.id where P.id = 'a' union all select Level where late";
    let mut ids: Vec<_> =
        with_file("e.ndjson", EVENTS).ask(&[union, "e.ndjson"]).out.lines().map(str::to_owned).collect();
    ids.sort();
    assert_eq!(ids, ["{\"id\":\"Info\"}", "{\"id\":\"a\"}"], "a union has no order");
    gives(
        EVENTS,
        "select P.id where P.id = 'b' union select 'z' as id order by id",
        "{\"id\":\"b\"}\n{\"id\":\"z\"}\n",
    );
    gives(
        EVENTS,
        "select text(P.id) as id where P.id = 'b' union select 'z' order by id",
        "{\"id\":\"b\"}\n{\"id\":\"z\"}\n",
    );
}

#[test]
fn formats() {
    let text = "{\"a\":\"x\\\"y\",\"n\":1.50,\"m\":1}\n{\"a\":null,\"m\":\"s\"}\n";
    gives_as(
        text,
        &["select a, n, m", "--format", "json"],
        "[\n{\"a\":\"x\\\"y\",\"n\":1.50,\"m\":1},\n{\"a\":null,\"m\":\"s\"}\n]\n",
    );
    gives_as(text, &["select a, n, m", "--format", "csv"], "a,n,m\n\"x\"\"y\",1.50,1\n,,s\n");
    gives_as(text, &["select a, n", "--format", "table"], "a        n\n────  ────\nx\"y   1.50\nnull\n");
    gives_as("", &["select a", "--format", "json"], "[]\n");
    gives_as("", &["select a", "--format", "csv"], "a\n");
    gives_as(text, &["select null as n from stream limit 1"], "{\"n\":null}\n");
}

#[test]
fn order_is_the_inputs_with_any_number_of_threads_and_chunks() {
    let lines: Vec<_> = (0..5000).map(|i| format!("{{\"i\":{i},\"pad\":\"{}\"}}", "x".repeat(i % 37))).collect();
    let folder = with_file("1.ndjson", lines[..3000].join("\n")).with("2.ndjson", lines[3000..].join("\r\n"));
    let expected = (0..5000).filter(|i| i % 37 != 0).fold(String::new(), |all, i| all + &format!("{{\"i\":{i}}}\n"));
    for threads in ["1", "2", "7"] {
        for chunk in ["64", "1000", "1000000"] {
            let how = ["--threads", threads, "--chunk-bytes", chunk];
            let run = |sql: &str| folder.ask(&[&[sql, "1.ndjson", "2.ndjson"], &how[..]].concat());
            assert_eq!(run("select i where pad <> ''").out, expected, "{how:?}");
            assert_eq!(run("select i where pad <> '' limit 3").out, "{\"i\":1}\n{\"i\":2}\n{\"i\":3}\n", "{how:?}");
            assert_eq!(run("select i limit 2 offset 2999").out, "{\"i\":2999}\n{\"i\":3000}\n", "{how:?}");
            assert_eq!(run("select count(*) as n, sum(i) as s").out, "{\"n\":5000,\"s\":12497500}\n", "{how:?}");
        }
    }
}

#[test]
fn patterns_are_sorted_and_quoted_paths_are_tables() {
    let folder = with_file("b.ndjson", "{\"a\":2}\n").with("B.ndjson", "{\"a\":1}\n").with("c.txt", "no");
    assert_eq!(folder.ask(&["select a", "*.ndjson"]).out, "{\"a\":1}\n{\"a\":2}\n");
    assert_eq!(folder.ask(&["select a from '[b].ndjson'"]).out, "{\"a\":2}\n");
    let ran = folder.ask(&["select a from b.ndjson"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("'b.ndjson'"), "{}", ran.err);
}

#[test]
fn lines_may_be_blank_end_with_crlf_or_lack_the_last_feed() {
    gives("\n{\"a\":1}\r\n \t\r\n\n{\"a\":2}", "select a", "{\"a\":1}\n{\"a\":2}\n");
    gives("", "select a, count(*) as n group by a", "");
    gives("", "select count(*) as n", "{\"n\":0}\n");
    gives("\n\n", "select a", "");
}

#[test]
fn a_record_that_is_no_object_has_one_column() {
    gives(
        "5\n\"x\"\n[1]\n",
        "select value, value[0] as first",
        "{\"value\":5}\n{\"value\":\"x\"}\n{\"value\":[1],\"first\":1}\n",
    );
}

#[test]
fn a_bad_record_stops_the_query_and_is_named() {
    let text = "{\"a\":1}\n\n{\"a\":2,\"b\":{\"c\":tru}}\n{\"a\":3}\n";
    let ran = with_file("e.ndjson", text).ask(&["select a", "e.ndjson"]);
    assert_eq!((ran.out.as_str(), ran.code), ("{\"a\":1}\n", 1));
    assert!(ran.err.starts_with("jird: e.ndjson:3:"), "{}", ran.err);
    assert!(ran.err.contains(", at /b/c)"), "{}", ran.err);
    fails(text, "select sum(a)", 1, &["e.ndjson:3:"]);
    fails("{\"a\":1} {\"a\":2}\n", "select a", 1, &["e.ndjson:1:"]);
    gives(text, "select a limit 1", "{\"a\":1}\n");
}

#[test]
fn there_is_no_answer_without_a_file_that_cannot_be_read_unless_it_is_asked_for() {
    let folder = with_file("a.ndjson", "{\"a\":1}\n").with("old", "kept");
    fs::create_dir(folder.0.join("d")).unwrap();
    let args = ["select count(*) as n", "d", "missing", "a.ndjson"];
    let is_named =
        |ran: &Ran| ran.err.contains("d: no file below it has a name") && ran.err.contains("missing: No such file");
    for more in [&[][..], &["-o", "old"]] {
        let ran = folder.ask(&[&args[..], more].concat());
        assert_eq!((ran.out.as_str(), ran.code), ("", 2));
        assert!(is_named(&ran) && ran.err.contains("cannot read 2 files; pass --unreadable skip"), "{}", ran.err);
        assert_eq!(folder.text("old"), "kept");
    }
    let ran = folder.ask(&[&args[..], &["--unreadable", "skip"]].concat());
    assert_eq!((ran.out.as_str(), ran.code), ("{\"n\":1}\n", 2));
    assert!(is_named(&ran), "{}", ran.err);
    let joined = folder.ask(&["select count(*) as n from stream a join 'missing' b on a.a = b.a", "a.ndjson"]);
    assert_eq!((joined.out.as_str(), joined.code), ("", 2), "{}", joined.err);
}

const TYPED: &str = "{\"Level\":\"Info\",\"Elapsed\":200.5}\n{\"Level\":\"Error\",\"Elapsed\":7}\n\n\
                     {\"Level\":\"Info\",\"Elapsed\":1e3,\"more\":[1]}\n{\"Level\":null}";

#[test]
fn standard_input_answers_as_a_file_does() {
    let folder = Folder::new("query");
    let run = |sql: &str| folder.ask_with(&[sql], EVENTS);
    assert_eq!(run("select Level where Elapsed > 200").out, "{\"Level\":\"Info\"}\n{\"Level\":\"Info\"}\n");
    assert_eq!(
        run("select Level, count(*) as n group by Level having count(*) = 3").out,
        "{\"Level\":\"Info\",\"n\":3}\n"
    );
    assert_eq!(run("select sum(number(Elapsed)) as s").out, "{\"s\":471.5}\n");
    // These read it twice: for its types, its keys, a join, a table that is named twice.
    let folder = Folder::new("piped").with("e.ndjson", TYPED);
    for sql in [
        "select sum(Elapsed) as s, avg(Elapsed) as m",
        "select Level, Elapsed order by Elapsed desc limit 2",
        "select upper(Level) as l, Elapsed * 2 as e",
        "select count(*) as n from stream a join stream b on a.Level = b.Level",
        "with t as (select Level, Elapsed from stream) select count(*) as n from t join t u on t.Level = u.Level",
        "select Level where Elapsed > (select avg(Elapsed) from stream)",
        "select * where Elapsed > 1",
    ] {
        for format in ["ndjson", "csv", "table"] {
            let of_file = folder.ask(&[sql, "e.ndjson", "--format", format]);
            assert_eq!(of_file.code, 0, "{sql}: {}", of_file.err);
            for more in [&[][..], &["--spool-compressed"], &["--threads", "1", "--chunk-bytes", "7"]] {
                let of_pipe = folder.ask_with(&[&[sql, "--format", format], more].concat(), TYPED);
                assert_eq!((&of_pipe.out, of_pipe.code), (&of_file.out, 0), "{sql}: {}", of_pipe.err);
            }
        }
    }
    assert!(folder.ask_with(&["select a"], "{\"a\":").err.contains("<stdin>:1:"));
    assert!(folder.ask_with(&["select a + 1 as b"], "{\"a\":1}\n{\"a\":").err.contains("<stdin>:2:"));
}

#[test]
fn a_copy_of_standard_input_has_a_limit() {
    let folder = Folder::new("spool");
    let limit = TYPED.len().to_string();
    assert_eq!(folder.ask_with(&["select sum(Elapsed) as s", "--spool-limit", &limit], TYPED).code, 0);
    let ran = folder.ask_with(&["select sum(Elapsed) as s", "--spool-limit", "50"], TYPED);
    assert!(ran.code == 2 && ran.err.contains("<stdin>") && ran.err.contains("--spool-limit"), "{}", ran.err);
    // What needs no second reading needs no copy.
    assert_eq!(folder.ask_with(&["select Level where Elapsed > 200", "--spool-limit", "1"], TYPED).code, 0);
}

#[test]
fn a_select_that_names_nothing_reads_nothing() {
    let folder = Folder::new("query");
    assert_eq!(folder.ask(&["select 1 as one"]).out, "{\"one\":1}\n");
}

#[test]
fn wrong_sql_is_exit_code_two() {
    for (sql, word) in [
        ("selec 1", "selec"),
        ("drop table stream", "only `select`"),
        ("select 1; select 2", "one query"),
        ("select nosuch(Level)", "nosuch"),
        ("select x.a from stream s join stream t on s.a = t.a where b = 1", "s.b or t.b"),
        ("select match(Level, Level)", "constant text"),
        ("select a, a as a", "two columns"),
        ("select a from stream tablesample (10 rows)", "order by random()"),
        ("select * ilike 'a%'", "behind `*`"),
        ("select top 3 a", "write `limit`"),
        ("select upper(Level) > 5", "a computed text is compared with a number"),
        ("select a from nosuch", "quotes, 'nosuch'"),
        ("select x.b from (select Level as a from stream) x", "x has a"),
    ] {
        fails(EVENTS, sql, 2, &[word]);
    }
}

#[test]
fn an_output_file_appears_only_when_it_is_whole() {
    let folder = with_file("a.ndjson", "{\"a\":1}\n{\"a\":\n");
    let names = || {
        let mut names: Vec<_> = fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(folder.ask(&["select a", "a.ndjson", "-o", "out"]).code, 1);
    assert_eq!(names(), ["a.ndjson"]);
    assert_eq!(folder.ask(&["select a limit 1", "a.ndjson", "-o", "out"]).code, 0);
    assert_eq!(names(), ["a.ndjson", "out"]);
    assert_eq!(read(&folder.0.join("out")), "{\"a\":1}\n");
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let line = "{\"a\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}\n";
    let folder = with_file("a.ndjson", line.repeat(100_000));
    let mut child = Command::new(env!("CARGO_BIN_EXE_jird"))
        .args(["query", "select a", "a.ndjson"])
        .current_dir(&folder.0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!((ran.err.as_str(), ran.code), ("", 0));
}

#[test]
fn every_way_of_checking_gives_the_same_of_good_records() {
    for how in [&["--check", "all"][..], &["--check", "touched"], &["--check", "trusted"], &["--trusted"]] {
        let arguments = [&["select Level, P.id where Elapsed > 20"], how].concat();
        gives_as(
            EVENTS,
            &arguments,
            "{\"Level\":\"Info\",\"id\":\"a\"}\n{\"Level\":\"Warn\",\"id\":\"b\"}\n{\"Level\":\"Info\"}\n",
        );
    }
}

/// What `--check` and threads give for a condition, over lines that mostly cannot match; and what `--stats` says about
/// the search.
#[track_caller]
fn searches(text: &str, condition: &str, found: &[usize], literals: &str) {
    let sql = format!("select i where {condition}");
    let expected = found.iter().fold(String::new(), |all, i| all + &format!("{{\"i\":{i}}}\n"));
    let folder = with_file("e.ndjson", text);
    let run = |more: &[&str]| folder.ask(&[&[sql.as_str(), "e.ndjson"], more].concat());
    for check in ["all", "touched", "trusted"] {
        for more in [&["--threads", "1"][..], &["--threads", "3", "--chunk-bytes", "300"]] {
            let ran = run(&[&["--check", check], more].concat());
            assert_eq!((ran.out.as_str(), ran.err.as_str()), (expected.as_str(), ""), "{condition} {check} {more:?}");
        }
    }
    let searched = format!("searched    {} bytes for {literals}\n", text.len());
    let sql_explained = format!("explain {sql}");
    for (check, is_tokenised) in [("touched", false), ("all", true)] {
        let said = run(&["--check", check, "--stats"]).err;
        assert!(said.contains(&searched), "no {searched:?} in {said}");
        let records = text.lines().count();
        assert_eq!(said.contains(&format!("tokenised   {records} of {records} records")), is_tokenised, "{said}");
        let explained = folder.ask(&[&sql_explained, "e.ndjson", "--check", check]).out;
        assert!(explained.contains(&format!("  searches {}\n", literals.replace(", ", "; "))), "{explained}");
    }
}

#[test]
fn no_match_is_lost_to_an_escape_where_raw_bytes_are_searched() {
    let hits = [
        r#"{"i":1,"m":"GET /api/customers/1"}"#,
        r#"{"i":2,"m":"GET \/api\/customers"}"#,
        r#"{"i":3,"m":"\u0047ET \u002Fapi\u002f\u0063ustomers\n"}"#,
        r#"{"i":4,"m":"\u002f\u0061\u0070\u0069\u002F\u0063\u0075\u0073\u0074\u006f\u006D\u0065\u0072\u0073"}"#,
        r#"{"i":5,"\u006d":"/api\/custo\u006ders"}"#,
    ]
    .map(String::from);
    // These have it, but not as a value of `m`; or they nearly have it.
    let misses = [
        r#"{"i":6,"other":"/api/customers"}"#,
        r#"{"i":7,"m":"\\u002fapi/customers \/api\\/customers /api/custo\u006emers"}"#,
        r#"{"i":8,"m":"no","m":"/api/customers"}"#,
        r#"{"i":9,"m":{"m":"/api/customers"}}"#,
        r#"{"i":10,"m":5}"#,
    ]
    .map(String::from);
    let plain =
        (11..200).map(|i| format!("{{\"i\":{i},\"m\":\"GET /index.html, and nothing that anybody asks for\"}}"));
    let lines: Vec<_> = plain.clone().chain(hits).chain(misses).chain(plain).collect();
    let text = lines.join("\n");
    let all = [1, 2, 3, 4, 5];
    searches(&text, "match(m, '/api/customers')", &all, "`/api/customers`");
    searches(&text, r"match(m, '\/api\/customers')", &all, "`/api/customers`");
    searches(&text, "match(m, '^.*/api/(?:customers|orders)')", &all, "`/api/customers`, `/api/orders`");
    searches(&text, "match(m, 'GET?.*/api/customers(?:/\\d+)?$') and i < 3", &[1, 2], "`/api/customers`");
    searches(&text, "m like '%/api/customers%'", &all, "`/api/customers`");
    searches(&text, "m like 'GET /api%'", &[1, 2, 3], "`\"GET /api`");
    searches(&text, "m = '/api/customers'", &[4, 5], "`\"/api/customers\"`");
    searches(&text, "m in ('/api/customers', 'Zürich')", &[4, 5], "`\"/api/customers\"`, `\"Zürich\"`");
    searches(
        &text,
        "match(m, '(?i)[/]API[/]C') and m not like '%1'",
        &[2, 3, 4, 5, 7],
        "`/API/`, `/APi/`, `/ApI/`, `/Api/`, `/aPI/`, `/aPi/`, `/apI/`, `/api/`",
    );
}

#[test]
fn a_condition_that_compares_different_kinds_is_noted() {
    let text = "{\"code\":200,\"path\":\"/a\",\"ok\":\"yes\",\"mixed\":1}\n{\"code\":404,\"path\":\"/b\",\"mixed\":\"1\"}\n{\"code\":null}\n";
    let folder = with_file("e.ndjson", text);
    let notes = |condition: &str| {
        let ran = folder.ask(&[&format!("select count(*) as n where {condition}"), "e.ndjson"]);
        assert_eq!(ran.out, "{\"n\":0}\n", "{condition}");
        assert_eq!(folder.ask(&[&format!("select code where {condition}"), "e.ndjson", "--quiet"]).err, "");
        ran.err
    };
    assert_eq!(
        notes("code = '200'"),
        "jird: note: `code = '200'` takes `code` for a text, and in the first 3 records it is a number, such as 200: these are never compared\n"
    );
    assert!(notes("code like '2%'").contains("takes `code` for a text"));
    assert!(
        notes("not (path > 3) and code > 1000")
            .contains("takes `path` for a number, and in the first 3 records it is a text, such as \"/a\"")
    );
    assert!(notes("ok").contains("takes `ok` for a boolean"));
    // Which has both, or none, may well be asked for one.
    for condition in ["mixed = '2'", "code = '200' and code = 5", "code = 3", "nothing is not null", "code > path"] {
        assert!(!notes(condition).contains("takes"), "{condition}");
    }
}

#[test]
fn a_search_that_does_not_pay_is_switched_off_and_stats_say_so() {
    let text = "{\"a\":\"yes\"}\n".repeat(100_000);
    let folder = with_file("e.ndjson", text);
    let run = |more: &[&str]| {
        folder.ask(&[&["select count(*) as n where a = 'yes'", "e.ndjson", "--stats", "--threads", "1"], more].concat())
    };
    for check in ["all", "touched"] {
        let ran = run(&["--check", check]);
        assert_eq!(ran.out, "{\"n\":100000}\n");
        assert!(
            ran.err.contains("; switched off for ") && ran.err.contains("tokenised   100000 of 100000 records"),
            "{}",
            ran.err
        );
    }
    // What nothing is known of is not searched for.
    let ran = folder.ask(&["select count(*) as n where match(a, 'y*|.')", "e.ndjson", "--trusted", "--stats"]);
    assert!(ran.err.contains("bytes for `\"a\"`"), "{}", ran.err);
}

#[test]
fn a_table_that_is_no_page_is_aligned_and_whole() {
    let long = "x".repeat(100);
    let text = format!("{{\"a\":\"{long}\",\"b\":\"one\"}}\n{{\"a\":\"y\",\"b\":\"two\"}}\n");
    let folder = Folder::new("wide").with("a.ndjson", text);
    let (out, ..) = folder.query(&["select a, b", "a.ndjson", "--format", "table"], b"");
    let lines: Vec<_> = out.lines().collect();
    assert_eq!([lines[2].find("one"), lines[3].find("two")], [Some(102); 2], "{out}");
}
