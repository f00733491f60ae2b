//! `jird query`: what SQL means where it is easily something else. Each kind has been answered wrongly once, or fails in
//! DataFusion itself.

use crate::folder::Folder;

const LEFT: &str = r#"{"k":1,"t":"red","v":10}
{"k":2,"t":"green","v":20}
{"k":null,"t":"blue","v":30}
"#;

const RIGHT: &str = r#"{"k":1,"t":"green","v":1}
{"k":2,"t":"red","v":2}
{"k":3,"t":"green","v":3}
"#;

const BIG: &str = r#"{"a":18446744073709551617,"b":0.30000000000000001,"l":[18446744073709551617,1],"n":1}
{"a":18446744073709551616,"b":0.3,"l":[2],"n":2}
"#;

const TIMES: &str = r#"{"i":1,"t":"2024-03-05T07:00:00Z","u":"2024-03-05 08:30:00+01:00"}
{"i":2,"t":"2024-03-05T09:00:00+02:00","u":null}
{"i":3,"t":"nope","u":"2024-03-05T07:00:30Z"}
{"i":4,"t":1709622000,"u":"2024-03-05T09:00:00Z"}
"#;

const MIXED: &str = r#"{"i":1,"t":1,"a":[1,null,"x"],"o":{"p":1},"s":"one"}
{"i":2,"t":1.0,"a":[],"o":{"p":"q"},"s":null}
{"i":3,"t":null,"a":null,"o":null,"s":"a.b"}
{"i":4,"a":[2,3],"s":7}
{"i":5,"t":"x","s":"one"}
"#;

const GROUPS: &str = r#"{"id":1,"level":"a","v":3}
{"id":2,"level":"A","v":null}
{"id":2,"level":"b","v":7}
{"id":3,"level":"B","v":null}
{"id":3,"level":"b","v":9}
"#;

/// Each query prints these lines, with one thread and with three.
#[track_caller]
fn all(cases: &[(&str, &str, &[&str])]) {
    let folder = Folder::new("meaning").with("l.ndjson", LEFT).with("r.ndjson", RIGHT).with("b.ndjson", BIG);
    let folder = folder.with("t.ndjson", TIMES).with("m.ndjson", MIXED).with("g.ndjson", GROUPS);
    for (file, sql, lines) in cases {
        for threads in ["1", "3"] {
            let (out, said, code) = folder.query(&[sql, file, "--threads", threads], b"");
            assert_eq!((out.lines().collect::<Vec<_>>(), code), (lines.to_vec(), 0), "{sql}: {said}");
        }
    }
}

/// Each query is refused in one line that has these words.
#[track_caller]
fn refused(cases: &[(&str, &str, &str)]) {
    let folder = Folder::new("refused").with("l.ndjson", LEFT).with("r.ndjson", RIGHT).with("t.ndjson", TIMES);
    let folder = folder.with("m.ndjson", MIXED).with("g.ndjson", GROUPS);
    for (file, sql, words) in cases {
        let (out, said, code) = folder.query(&[sql, file], b"");
        assert_eq!((out.as_str(), code), ("", 2), "{sql}: {said}");
        assert!(said.contains(words) && said.lines().count() == 1, "{sql}: {said}");
    }
}

#[test]
fn a_condition_on_one_side_of_an_outer_join_is_for_that_side() {
    let join = |rest: &str| format!("select y.k from 'l.ndjson' x right join 'r.ndjson' y on x.k = y.k where {rest}");
    let (equal, both) = (join("x.t = 'green'"), join("x.v > 1 and y.t = 'green'"));
    let (anti, or) = (join("x.k is null"), join("x.t <> 'green' or x.t is null order by y.k"));
    all(&[
        ("l.ndjson", &anti, &[r#"{"k":3}"#]),
        ("l.ndjson", &equal, &[r#"{"k":2}"#]),
        ("l.ndjson", &both, &[r#"{"k":1}"#]),
        ("l.ndjson", &or, &[r#"{"k":1}"#, r#"{"k":3}"#]),
        (
            "l.ndjson",
            "select x.v as a, y.v as b from 'l.ndjson' x full join 'r.ndjson' y on x.k = y.k \
             where x.t is null or y.t is null order by x.v, y.v",
            &[r#"{"a":30}"#, r#"{"b":3}"#],
        ),
        (
            "l.ndjson",
            "with e as (select k, t from 'l.ndjson') select y.k from e x \
             right join (select k, t from 'r.ndjson') y on x.k = y.k where x.t like 'gr%'",
            &[r#"{"k":2}"#],
        ),
        ("l.ndjson", "select a.v from stream a left join stream b on a.k = b.k where b.v is null", &[r#"{"v":30}"#]),
        (
            "l.ndjson",
            "select * from stream x left anti join 'r.ndjson' y on x.k = y.k where x.v > 1",
            &[r#"{"k":null,"t":"blue","v":30}"#],
        ),
        (
            "l.ndjson",
            "select * from stream x right semi join 'r.ndjson' y on x.k = y.k where y.v > 1",
            &[r#"{"k":2,"t":"red","v":2}"#],
        ),
        ("l.ndjson", "select count(*) as n from stream x cross join 'r.ndjson' y", &[r#"{"n":9}"#]),
    ]);
    refused(&[
        ("l.ndjson", "select * from stream x join 'r.ndjson' y", "needs `on` or `using`"),
        ("l.ndjson", "select * from stream x left join 'r.ndjson' y", "needs `on` or `using`"),
    ]);
}

#[test]
fn constants_keep_their_digits_wherever_they_stand() {
    let long = "18446744073709551617";
    let query = |template: &str| template.replace('$', long);
    let cases = [
        (
            "select a = $ as x, a in ($, 5) as y, a between $ and $ as z",
            vec![r#"{"x":true,"y":true,"z":true}"#, r#"{"x":false,"y":false,"z":false}"#],
        ),
        ("select n from stream group by n having max(a) in ($)", vec![r#"{"n":1}"#]),
        (
            "select max(a) = $ as m, min(b) = 0.3 as k, sum(a) = 36893488147419103233 as s",
            vec![r#"{"m":true,"k":true,"s":true}"#],
        ),
        (
            "select $ as x, -$ as y, 0.30000000000000001 as z, [$] as w limit 1",
            vec![
                r#"{"x":18446744073709551617,"y":-18446744073709551617,"z":0.30000000000000001,"w":[18446744073709551617]}"#,
            ],
        ),
        ("select n where coalesce(b, 0) = 0.30000000000000001", vec![r#"{"n":1}"#]),
        (
            "select array_contains(l, $) as c, $ = any(l) as d order by n",
            vec![r#"{"c":true,"d":true}"#, r#"{"c":false,"d":false}"#],
        ),
        (
            "select case a when $ then 'x' end as c, a - $ as d, nullif(a, $) as e order by n",
            vec![r#"{"c":"x","d":0,"e":null}"#, r#"{"c":null,"d":-1,"e":18446744073709551616}"#],
        ),
        (
            "with c as (select max(a) as m from stream) select m > 18446744073709551616 as x, m < $ as y from c",
            vec![r#"{"x":true,"y":false}"#],
        ),
        ("select e from stream, unnest(l) as u(e) where e = $", vec![r#"{"e":18446744073709551617}"#]),
        ("select x from (values ($), (1)) as t(x) where x = $", vec![r#"{"x":18446744073709551617}"#]),
    ];
    for (sql, lines) in cases {
        all(&[("b.ndjson", &query(sql), &lines)]);
    }
}

#[test]
fn equal_rows_are_one_in_nested_set_operations() {
    all(&[
        (
            "m.ndjson",
            "select t from stream union select t from stream union all select t from stream where i = 5 order by t",
            &[r#"{"t":1}"#, r#"{"t":"x"}"#, r#"{"t":"x"}"#, r#"{"t":null}"#],
        ),
        (
            "m.ndjson",
            "select t from stream intersect select t from stream union all select 7 as t order by t",
            &[r#"{"t":1}"#, r#"{"t":7}"#, r#"{"t":"x"}"#, r#"{"t":null}"#],
        ),
        (
            "m.ndjson",
            "(select t from stream union select t from stream) except select 1.0 as t order by t",
            &[r#"{"t":"x"}"#, r#"{"t":null}"#],
        ),
        (
            "m.ndjson",
            "select count(*) as n from (select t from stream union select t from stream union all select 0)",
            &[r#"{"n":4}"#],
        ),
        (
            "m.ndjson",
            "select (select t from stream where i = 1 union select t from stream where i = 2) as x limit 1",
            &[r#"{"x":1}"#],
        ),
        (
            "m.ndjson",
            "select i where t in (select t from stream where i < 3 union select 'x') order by i",
            &[r#"{"i":1}"#, r#"{"i":2}"#, r#"{"i":5}"#],
        ),
    ]);
}

#[test]
fn copies_of_rows_are_counted() {
    all(&[
        (
            "m.ndjson",
            "select t from stream except all select 1 as t order by t",
            &[r#"{"t":1}"#, r#"{"t":"x"}"#, r#"{"t":null}"#, r#"{"t":null}"#],
        ),
        (
            "m.ndjson",
            "select t from stream intersect all select t from stream where i <> 2 order by t",
            &[r#"{"t":1}"#, r#"{"t":"x"}"#, r#"{"t":null}"#, r#"{"t":null}"#],
        ),
        (
            "m.ndjson",
            "select i, t from stream except all select i, t from stream where i > 2 order by i",
            &[r#"{"i":1,"t":1}"#, r#"{"i":2,"t":1}"#],
        ),
    ]);
    refused(&[("m.ndjson", "select i from stream union by name select i from stream", "by name")]);
}

#[test]
fn distinct_from_binds_tighter_than_and() {
    all(&[
        ("g.ndjson", "select id where v is not distinct from null and id < 3", &[r#"{"id":2}"#]),
        (
            "g.ndjson",
            "select id where id > 1 and v is distinct from 7 or level = 'a' order by id",
            &[r#"{"id":1}"#, r#"{"id":2}"#, r#"{"id":3}"#, r#"{"id":3}"#],
        ),
        (
            "g.ndjson",
            "select id where v is not distinct from 7 or not v is distinct from 9 and id = 3 order by id",
            &[r#"{"id":2}"#, r#"{"id":3}"#],
        ),
        (
            "g.ndjson",
            "select a.id from stream a join stream b on a.v is not distinct from b.v and a.level < b.level",
            &[r#"{"id":2}"#],
        ),
    ]);
}

#[test]
fn what_datafusion_has_wrong_is_right() {
    all(&[
        // apache/datafusion#24960
        (
            "g.ndjson",
            "select count(*) as n from stream a where exists (select count(*) from stream b where b.id > a.id + 9)",
            &[r#"{"n":5}"#],
        ),
        (
            "g.ndjson",
            "select count(*) as n from stream a where not exists (select max(v) from stream b where b.id = 77)",
            &[r#"{"n":0}"#],
        ),
        (
            "g.ndjson",
            "select exists (select count(*) from stream b where b.id > 9) as e, exists (select 1 from stream b where b.id > 9) as f limit 1",
            &[r#"{"e":true,"f":false}"#],
        ),
        (
            "g.ndjson",
            "select exists (select lower(level) from stream b where b.id > 1) as e, not exists (select v + 1 from stream b \
             where b.id > 9) as f, exists (select 1 from stream b where b.id = 7) limit 1",
            &[r#"{"e":true,"f":true,"EXISTS (SELECT 1 FROM stream b WHERE b.id = 7)":false}"#],
        ),
        // apache/datafusion#25471
        (
            "g.ndjson",
            "select v, lead(v) ignore nulls over w as a, lead(v, 2, -1) ignore nulls over w as b, lag(v) ignore nulls over w as c, \
             lag(v, 2, 0) ignore nulls over w as d from stream window w as (order by id, level)",
            &[
                r#"{"v":3,"a":7,"b":9,"c":null,"d":0}"#,
                r#"{"v":null,"a":7,"b":9,"c":3,"d":0}"#,
                r#"{"v":7,"a":9,"b":-1,"c":3,"d":0}"#,
                r#"{"v":null,"a":9,"b":-1,"c":7,"d":3}"#,
                r#"{"v":9,"a":null,"b":-1,"c":7,"d":3}"#,
            ],
        ),
        // apache/datafusion#24379
        (
            "m.ndjson",
            "select s ~ '.*' as a, s !~ '.*' as b, null ~ 'x' as c, s ~* 'ONE' as d, s rlike 'n' as e order by i limit 2",
            &[
                r#"{"a":true,"b":false,"c":null,"d":true,"e":true}"#,
                r#"{"a":null,"b":null,"c":null,"d":null,"e":null}"#,
            ],
        ),
        // A panic.
        (
            "g.ndjson",
            "select id, sum(v order by id desc) as s, count(v order by v) as c, min(v order by id) as m group by id order by id",
            &[r#"{"id":1,"s":3,"c":1,"m":3}"#, r#"{"id":2,"s":7,"c":1,"m":7}"#, r#"{"id":3,"s":9,"c":1,"m":9}"#],
        ),
        (
            "g.ndjson",
            "select sum(id) filter (where v is false or level = 'a') as a, sum(id) filter (where v is false) as b",
            &[r#"{"a":1,"b":null}"#],
        ),
    ]);
    refused(&[(
        "g.ndjson",
        "select 1 from stream a where exists (select sum(v) from stream b where b.id = a.id having sum(v) > 3)",
        "takes neither `having`",
    )]);
}

#[test]
fn a_window_may_go_on_from_a_named_one() {
    all(&[
        (
            "g.ndjson",
            "select sum(v) over w2 as s, count(*) over (w3 rows 1 preceding) as c from stream \
             window w1 as (partition by id), w2 as (w1 order by level), w3 as (order by id, level) order by id, level",
            &[r#"{"s":3,"c":1}"#, r#"{"s":null,"c":2}"#, r#"{"s":7,"c":2}"#, r#"{"s":null,"c":2}"#, r#"{"s":9,"c":2}"#],
        ),
        (
            "g.ndjson",
            "select count(*) over w as n from stream window base as (order by id), w as (base) order by n limit 2",
            &[r#"{"n":1}"#, r#"{"n":3}"#],
        ),
    ]);
    refused(&[
        ("g.ndjson", "select sum(v) over w as s from stream window w as (nowhere)", "nowhere"),
        (
            "g.ndjson",
            "select sum(v) over w as s from stream window w as (x), x as (order by id)",
            "no window before `w`",
        ),
    ]);
}

#[test]
fn any_and_all_know_nulls_and_all_comparisons() {
    all(&[
        (
            "m.ndjson",
            "select 1 = any(a) as x, not (5 = any(a)) as y, 0 < all(a) as z, t <> all(a) as w order by i",
            &[
                r#"{"x":true,"y":null,"z":null,"w":false}"#,
                r#"{"x":false,"y":true,"z":true,"w":true}"#,
                r#"{"x":null,"y":null,"z":null,"w":null}"#,
                r#"{"x":false,"y":true,"z":true,"w":null}"#,
                r#"{"x":null,"y":null,"z":null,"w":null}"#,
            ],
        ),
        ("m.ndjson", "select i where 2 <= any(a)", &[r#"{"i":4}"#]),
        ("m.ndjson", "select 2 = any([1, null]) as x, t = any([1, 2]) as y where i = 2", &[r#"{"x":null,"y":true}"#]),
    ]);
}

#[test]
fn arrays_and_objects_are_made_of_values() {
    all(&[
        (
            "m.ndjson",
            "select make_array(a, o) as m, [o, t] as n, array_repeat(o, 2) as r, array_append(a, i) as p, array_prepend(t, a) as q, \
             array_concat(a, [i]) as c order by i limit 2",
            &[
                r#"{"m":[[1,null,"x"],{"p":1}],"n":[{"p":1},1],"r":[{"p":1},{"p":1}],"p":[1,null,"x",1],"q":[1,1,null,"x"],"c":[1,null,"x",1]}"#,
                r#"{"m":[[],{"p":"q"}],"n":[{"p":"q"},1.0],"r":[{"p":"q"},{"p":"q"}],"p":[2],"q":[1.0],"c":[2]}"#,
            ],
        ),
        (
            "m.ndjson",
            "select {'k': o, 'n': s} as a, json_object('b', t) as b, named_struct('x', i) as c, row(i, s) as d, struct(t as u) as e, \
             to_json(s) as f where i in (2, 4) order by i",
            &[
                r#"{"a":{"k":{"p":"q"},"n":null},"b":{"b":1.0},"c":{"x":2},"d":{"c0":2,"c1":null},"e":{"u":1.0},"f":null}"#,
                r#"{"a":{"k":null,"n":7},"b":{"b":null},"c":{"x":4},"d":{"c0":4,"c1":7},"e":{"u":null},"f":7}"#,
            ],
        ),
        (
            "m.ndjson",
            "select m.k.p as x, m['n'] as y from (select i, {'k': o, 'n': i} as m from stream) order by i limit 2",
            &[r#"{"x":1,"y":1}"#, r#"{"x":"q","y":2}"#],
        ),
        (
            "m.ndjson",
            "select array_agg({'i': i, 's': s}) as l where i < 3",
            &[r#"{"l":[{"i":1,"s":"one"},{"i":2,"s":null}]}"#],
        ),
        ("m.ndjson", "select arrays_zip([1], ['a']) as z limit 1", &[r#"{"z":[{"1":1,"2":"a"}]}"#]),
    ]);
    refused(&[
        ("m.ndjson", "select json_object('a') as x", "takes a key and a value"),
        ("m.ndjson", "select array_contains(a) as x", "takes 2 arguments"),
        ("m.ndjson", "select array_to_string(a) as x", "takes 2 arguments"),
        ("m.ndjson", "select array_resize(a, 1) as x", "several kinds"),
    ]);
}

#[test]
fn times_are_times_also_when_they_are_computed() {
    all(&[
        (
            "t.ndjson",
            "select i where t > timestamp '2024-03-05T06:00:00Z' + interval '59 minutes' order by i",
            &[r#"{"i":1}"#, r#"{"i":2}"#, r#"{"i":4}"#],
        ),
        (
            "t.ndjson",
            "select i where t in (timestamp '2024-03-05T06:00:00Z' + interval '1 hour') order by i limit 1",
            &[r#"{"i":1}"#],
        ),
        (
            "t.ndjson",
            "select i where t between timestamp '2024-03-05T06:00:00Z' and timestamp '2024-03-05T06:00:00Z' + interval '1 hour' \
             order by i desc limit 1",
            &[r#"{"i":4}"#],
        ),
        ("t.ndjson", "select i where t > now() - interval '1 day'", &[]),
        (
            "t.ndjson",
            "select case t when timestamp '2024-03-05T07:00:00Z' then 'x' else 'y' end as c order by i",
            &[r#"{"c":"x"}"#, r#"{"c":"x"}"#, r#"{"c":"y"}"#, r#"{"c":"x"}"#],
        ),
        (
            "t.ndjson",
            "select u + interval '1 day' as d, now() - u > interval '1 day' as old order by i limit 2",
            &[r#"{"d":"2024-03-06T07:30:00Z","old":true}"#, r#"{"d":null,"old":null}"#],
        ),
        (
            "t.ndjson",
            "select extract(epoch from timestamp(u) - timestamp(t)) as s order by i limit 1",
            &[r#"{"s":1800.0}"#],
        ),
        (
            "t.ndjson",
            "select coalesce(u, timestamp '2024-01-01T00:00:00Z') as c order by i limit 2",
            &[r#"{"c":"2024-03-05T07:30:00Z"}"#, r#"{"c":"2024-01-01T00:00:00Z"}"#],
        ),
        (
            "t.ndjson",
            "with c as (select i, timestamp(u) as ts from stream) select c.i, s.i as j from c join stream s on s.t < c.ts where s.i > 1 \
             order by 1, 2 limit 2",
            &[r#"{"i":1,"j":2}"#, r#"{"i":1,"j":4}"#],
        ),
        (
            "t.ndjson",
            "select count(*) over (order by u range between interval '1 hour' preceding and current row) as n where u is not null order by timestamp(u)",
            &[r#"{"n":1}"#, r#"{"n":2}"#, r#"{"n":1}"#],
        ),
        (
            "t.ndjson",
            "select interval '24 hours' = interval '1 day' as a, interval '1 month' > interval '29 days' as b limit 1",
            &[r#"{"a":true,"b":true}"#],
        ),
    ]);
    refused(&[
        ("t.ndjson", "select i where u < timestamp 'x'", "'x' is not a time"),
        (
            "t.ndjson",
            "select count(*) over (order by u range between 5 preceding and current row)",
            "needs numbers or times",
        ),
    ]);
}

#[test]
fn texts_in_another_form_than_the_times_they_are_compared_with_are_told() {
    let folder = Folder::new("forms").with("t.ndjson", "{\"t\":\"2024-03-05T06:59:58Z\"}\n");
    for (sql, is_told) in [
        ("select t where t > '2024-03-05 07:00:00'", true),
        ("select t where t > '2024-03-05T07:00:00'", true),
        ("select t where t > '2024-03-05T07:00:00Z'", false),
        ("select t where t > '2024-03-05'", false),
        ("select t where t = '2024-03-05 07:00:00'", false),
    ] {
        let (_, said, code) = folder.query(&[sql, "t.ndjson"], b"");
        assert_eq!((said.contains("compares texts"), code), (is_told, 0), "{sql}: {said}");
    }
}

#[test]
fn texts_are_made_of_texts() {
    let folder = Folder::new("texts").with("m.ndjson", MIXED);
    let (out, said, code) =
        folder.query(&["select upper(s) as u, length(s) as l, s || '!' as c where i in (1, 4)", "m.ndjson"], b"");
    assert_eq!(
        (out.as_str(), code),
        ("{\"u\":\"ONE\",\"l\":3,\"c\":\"one!\"}\n{\"u\":null,\"l\":null,\"c\":\"7!\"}\n", 0)
    );
    assert!(said.contains("not a text"), "{said}");
}

#[test]
fn casts_to_integers_round() {
    all(&[
        (
            "m.ndjson",
            "select cast(2.5 as int) as a, cast(-2.5 as bigint) as b, 6.4::int as c, cast(cast(0.5 as decimal(5, 2)) as int) as d limit 1",
            &[r#"{"a":3,"b":-3,"c":6,"d":1}"#],
        ),
        (
            "b.ndjson",
            "select cast(b * 10 as int) as a, cast(a as decimal(38, 0)) as c order by n limit 1",
            &[r#"{"a":3,"c":18446744073709551617}"#],
        ),
    ]);
}

#[test]
fn groups_are_what_they_are_called() {
    all(&[
        ("g.ndjson", "select 2024 as year, count(*) as n group by year", &[r#"{"year":2024,"n":5}"#]),
        (
            "g.ndjson",
            "select 'x' as k, 1.5 as m, null as z, count(*) as n group by k, m, z",
            &[r#"{"k":"x","m":1.5,"z":null,"n":5}"#],
        ),
        (
            "g.ndjson",
            "select 7 as k, id, count(*) as n group by 1, 2 order by id limit 1",
            &[r#"{"k":7,"id":1,"n":1}"#],
        ),
        (
            "g.ndjson",
            "select upper(level) as level, count(*) as n group by level order by 1, 2",
            &[r#"{"level":"A","n":1}"#, r#"{"level":"A","n":1}"#, r#"{"level":"B","n":1}"#, r#"{"level":"B","n":2}"#],
        ),
        (
            "g.ndjson",
            "select upper(level) as l, count(*) as n group by l order by 1",
            &[r#"{"l":"A","n":2}"#, r#"{"l":"B","n":3}"#],
        ),
        (
            "g.ndjson",
            "select distinct id, count(*) over (partition by id) as n order by id desc limit 2",
            &[r#"{"id":3,"n":2}"#, r#"{"id":2,"n":2}"#],
        ),
        ("g.ndjson", "select distinct id group by id, level order by id limit 2", &[r#"{"id":1}"#, r#"{"id":2}"#]),
        ("g.ndjson", "select distinct count(*) as n group by id order by n", &[r#"{"n":1}"#, r#"{"n":2}"#]),
        ("g.ndjson", "select distinct 5 as k, id order by id limit 1", &[r#"{"k":5,"id":1}"#]),
        (
            "g.ndjson",
            "select distinct id, row_number() over (order by v) as r qualify r < 3 order by r",
            &[r#"{"id":1,"r":1}"#, r#"{"id":2,"r":2}"#],
        ),
    ]);
}
