//! `jird query`: rules that `PostgreSQL` and `DuckDB` share. Each has been broken once.

use crate::folder::Folder;

/// Each query prints these lines, with one thread and with three.
#[track_caller]
fn all(cases: &[(&str, &[&str])]) {
    let folder = Folder::new("rules")
        .with("empty.ndjson", "")
        .with("n.ndjson", "{\"i\":1}\n{\"i\":2}\n{\"i\":3}\n")
        .with("l.ndjson", "{\"k\":1,\"a\":\"x\"}\n{\"k\":2,\"a\":\"y\"}\n")
        .with("r.ndjson", "{\"k\":2,\"b\":\"p\"}\n{\"k\":3,\"b\":\"q\"}\n")
        .with("m.ndjson", "{\"i\":1,\"v\":1}\n{\"i\":2,\"v\":true}\n{\"i\":3,\"v\":\"x\"}\n{\"i\":4,\"v\":null}\n")
        .with("o.ndjson", "{\"i\":1,\"o\":{\"k\":\"v\",\"n\":1}}\n{\"i\":2,\"o\":{\"k\":\"w\",\"n\":2}}\n")
        .with(
            "g.ndjson",
            "{\"g\":\"a\",\"v\":2}\n{\"g\":\"b\",\"v\":9}\n{\"g\":\"a\",\"v\":1}\n{\"g\":\"b\",\"v\":\"z\"}\n",
        )
        .with(
            "t.ndjson",
            "{\"i\":1,\"t\":\"2024-03-05T08:00:00+01:00\"}\n{\"i\":2,\"t\":\"2024-03-05T07:00:00Z\"}\n\
             {\"i\":3,\"t\":\"2024-03-05 07:00:00\"}\n{\"i\":4,\"t\":\"2024-03-05T09:30:00Z\"}\n",
        )
        .with("x.ndjson", "{\"i\":1,\"x\":1e17}\n{\"i\":2,\"x\":0.5}\n{\"i\":3,\"x\":0.5}\n{\"i\":4,\"x\":4.5}\n");
    for (sql, lines) in cases {
        for threads in ["1", "3"] {
            let (out, said, code) = folder.query(&[sql, "--threads", threads], b"");
            assert_eq!((out.lines().collect::<Vec<_>>(), code), (lines.to_vec(), 0), "{sql}: {said}");
        }
    }
}

#[test]
fn operators_bind_as_elsewhere() {
    all(&[
        (
            "select 2 * i ^ 2 as a, 2 + 3 * 4 ^ 2 as b, 10 - 2 ^ 2 as c, 5 % 3 ^ 2 as d, -2 ^ 2 as e, 2 ^ 3 ^ 2 as f \
             from 'n.ndjson' where i = 2",
            &[r#"{"a":8.0,"b":50.0,"c":6.0,"d":5.0,"e":4.0,"f":64.0}"#],
        ),
        ("select 'n' || i + 1 || 'x' as a from 'n.ndjson' where 'n' || i + 1 = 'n3'", &[r#"{"a":"n3x"}"#]),
        ("select i from 'o.ndjson' where o ->> 'k' = 'v' and o ->> 'k' like 'v%'", &[r#"{"i":1}"#]),
        ("select o ->> 'k' || 'z' as a from 'o.ndjson' where o -> 'n' in (2, 3)", &[r#"{"a":"wz"}"#]),
        ("select list_transform([1, 2], x -> 2 * x ^ 2) as l", &[r#"{"l":[2.0,8.0]}"#]),
        ("select list_filter([1, 2, 3], x -> x is distinct from 2) as l", &[r#"{"l":[1,3]}"#]),
    ]);
}

#[test]
fn a_merged_column_has_the_value_of_the_side_that_has_one() {
    all(&[
        (
            "select k, b from 'l.ndjson' x right join 'r.ndjson' y using (k) order by k",
            &[r#"{"k":2,"b":"p"}"#, r#"{"k":3,"b":"q"}"#],
        ),
        ("select k, b from 'l.ndjson' x right join 'r.ndjson' y using (k) where k = 3", &[r#"{"k":3,"b":"q"}"#]),
        (
            "select * from 'l.ndjson' x full join 'r.ndjson' y using (k) order by k desc",
            &[r#"{"k":3,"b":"q"}"#, r#"{"k":2,"a":"y","b":"p"}"#, r#"{"k":1,"a":"x"}"#],
        ),
        (
            "select k, count(*) as n from 'l.ndjson' x natural full join 'r.ndjson' y group by k having k > 1 order by k",
            &[r#"{"k":2,"n":1}"#, r#"{"k":3,"n":1}"#],
        ),
        (
            "select max(k) as m, count(x.k) as l from 'l.ndjson' x full join 'r.ndjson' y using (k)",
            &[r#"{"m":3,"l":2}"#],
        ),
        (
            "select k, a, c.b from 'l.ndjson' x full join 'r.ndjson' y using (k) join 'r.ndjson' c using (k) order by k",
            &[r#"{"k":2,"a":"y","b":"p"}"#, r#"{"k":3,"b":"q"}"#],
        ),
        (
            "select k, a from 'r.ndjson' z left join (select k, a from 'l.ndjson' x right join 'r.ndjson' y using (k)) w \
             using (k) order by k",
            &[r#"{"k":2,"a":"y"}"#, r#"{"k":3}"#],
        ),
        ("select x.k from 'l.ndjson' x anti join 'r.ndjson' y on x.k = y.k", &[r#"{"k":1}"#]),
        ("select x.k from 'l.ndjson' x semi join 'r.ndjson' y using (k)", &[r#"{"k":2}"#]),
    ]);
}

#[test]
fn each_aggregate_has_an_order_of_its_own() {
    all(&[
        (
            "select first(i) as f, array_agg(i) as a, array_agg(i order by i desc) as d, last(i) as l, \
             string_agg(i, '-' order by -i) as s from 'n.ndjson'",
            &[r#"{"f":1,"a":[1,2,3],"d":[3,2,1],"l":3,"s":"3-2-1"}"#],
        ),
        (
            "select g, array_agg(v) as a, array_agg(v order by v) as b, array_agg(v order by v desc) as c, \
             first(v order by v) as d from 'g.ndjson' group by g order by g",
            &[
                r#"{"g":"a","a":[2,1],"b":[1,2],"c":[2,1],"d":1}"#,
                r#"{"g":"b","a":[9,"z"],"b":[9,"z"],"c":["z",9],"d":9}"#,
            ],
        ),
        (
            "select array_agg(i order by i desc) filter (where i < 3) as a, array_agg(distinct i % 2 order by i % 2) as b, \
             json_group_array(i) as c, array_agg(i order by i % 2, i desc) as d from 'n.ndjson'",
            &[r#"{"a":[2,1],"b":[0,1],"c":[1,2,3],"d":[2,3,1]}"#],
        ),
        // Rows that an order leaves equal stay as they are.
        (
            "select array_agg(v order by g desc) as a, array_agg(v order by g) as b, array_agg(v) as c from 'g.ndjson'",
            &[r#"{"a":[9,"z",2,1],"b":[2,1,9,"z"],"c":[2,9,1,"z"]}"#],
        ),
    ]);
}

#[test]
fn times_of_a_subquery_are_times() {
    all(&[
        (
            "select i from 't.ndjson' where t in (select timestamp '2024-03-05T07:00:00Z')",
            &[r#"{"i":1}"#, r#"{"i":2}"#, r#"{"i":3}"#],
        ),
        ("select i from 't.ndjson' where t not in (select timestamp(t) from 't.ndjson' where i = 1)", &[r#"{"i":4}"#]),
        (
            "select i from 't.ndjson' where (t, i) in (select timestamp(t), i + 1 from 't.ndjson')",
            &[r#"{"i":2}"#, r#"{"i":3}"#],
        ),
        (
            "select i, t = any (select timestamp '2024-03-05T07:00:00Z' union all select t from 't.ndjson' where i = 9) as x \
             from 't.ndjson' where i > 2",
            &[r#"{"i":3,"x":true}"#, r#"{"i":4,"x":false}"#],
        ),
        ("select i from 't.ndjson' where t > all (select timestamp(t) from 't.ndjson' where i < 4)", &[r#"{"i":4}"#]),
        ("select i from 't.ndjson' where timestamp(t) in (select t from 't.ndjson' where i = 4)", &[r#"{"i":4}"#]),
    ]);
}

#[test]
fn a_date_that_an_interval_moves_is_a_time() {
    all(&[
        (
            "select date '2024-01-31' + interval '1 hour' as a, cast('2024-01-31' as date) + interval '36 hours' as b, \
             date '2024-01-31' - interval '1 minute' as c, interval '1 month' + date '2024-01-31' as d, \
             date '2024-01-08' - 7 as e",
            &[
                r#"{"a":"2024-01-31T01:00:00","b":"2024-02-01T12:00:00","c":"2024-01-30T23:59:00","d":"2024-02-29T00:00:00","e":"2024-01-01"}"#,
            ],
        ),
        (
            "select i from 't.ndjson' where t > date '2024-03-05' + interval '7 hours' and \
             current_date + interval '23 hours' > current_date",
            &[r#"{"i":4}"#],
        ),
    ]);
}

#[test]
fn a_moving_frame_is_computed_from_its_own_values() {
    all(&[
        (
            "select var_pop(x) over (order by i rows 1 preceding) as v, stddev_pop(x) over (order by i rows 1 preceding) \
             as s, covar_pop(x, x) over (order by i rows 1 preceding) as c from 'x.ndjson' where i > 0 order by i desc limit 2",
            &[r#"{"v":4.0,"s":2.0,"c":4.0}"#, r#"{"v":0.0,"s":0.0,"c":0.0}"#],
        ),
        (
            "select var_samp(i) over (order by i rows between 1 preceding and 1 following) as v from 'n.ndjson'",
            &[r#"{"v":0.5}"#, r#"{"v":1.0}"#, r#"{"v":0.5}"#],
        ),
    ]);
}

#[test]
fn an_alias_stands_for_its_column_in_a_key() {
    all(&[
        ("select i as x from 'n.ndjson' order by -x", &[r#"{"x":3}"#, r#"{"x":2}"#, r#"{"x":1}"#]),
        (
            "select g, count(*) as n, max(i) as m from 'g.ndjson' left join 'n.ndjson' on v = i group by g order by m * -1",
            &[r#"{"g":"a","n":2,"m":2}"#, r#"{"g":"b","n":2,"m":null}"#],
        ),
        // A field of that name goes first.
        (
            "select 10 - i as k, k as j from 'n.ndjson', 'l.ndjson' where i = 1 order by -k",
            &[r#"{"k":9,"j":2}"#, r#"{"k":9,"j":1}"#],
        ),
    ]);
}

#[test]
fn the_parameter_of_a_lambda_is_no_field() {
    let folder = Folder::new("lambda").with("n.ndjson", "{\"x\":1}\n{\"x\":2}\n");
    let (out, said, code) = folder.query(&["select list_filter([1, 2, 3], x -> x > 1) as l", "n.ndjson"], b"");
    assert_eq!((out.as_str(), code), ("{\"l\":[2,3]}\n", 0), "{said}");
    let (out, said, code) = folder.query(&["select list_transform([1, 2], x -> x * x) as l", "-"], b"");
    assert_eq!((out.lines().count(), code), (1, 0), "{said}");
}

#[test]
fn what_is_counted_once_has_a_name() {
    let folder = Folder::new("once").with("n.ndjson", "{\"x\":1}\n{\"x\":2}\n");
    let (_, said, code) = folder.query(&["select count(distinct *) as n from 'n.ndjson'"], b"");
    assert_eq!(code, 2);
    assert!(said.contains("name what is counted once"), "{said}");
}

#[test]
fn an_inner_name_of_with_hides_an_outer_one() {
    all(&[
        (
            "with t as (select i from 'n.ndjson') select i from (with t as (select i from t where i < 3) \
             select t.i from t where t.i > 1) s",
            &[r#"{"i":2}"#],
        ),
        (
            "with t as (select 1 as a) select (with t as (select a + 1 as b from t) select max(b) from t) as x, \
             (select max(a) from t) as y from t",
            &[r#"{"x":2,"y":1}"#],
        ),
        (
            "with recursive t as (select 1 as a), u as (with recursive t as (select 5 as a union all select a + 1 from t \
             where a < 7) select a from t) select u.a from u join t on u.a > t.a order by 1",
            &[r#"{"a":5}"#, r#"{"a":6}"#, r#"{"a":7}"#],
        ),
    ]);
}

#[test]
fn messages_are_of_the_query_and_not_of_its_plan() {
    let folder = Folder::new("messages").with("n.ndjson", "{\"g\":\"a\",\"i\":1}\n");
    for sql in [
        "select substr(g) from 'n.ndjson'",
        "select sum(row_number() over ()) from 'n.ndjson'",
        "select abs(-9223372036854775808)",
        "select cast(12345 as decimal(4,1))",
        "select b'101'",
        "select ~5",
        "select interval '1 day' * true",
        "select lag(i, i) over (order by i) from 'n.ndjson'",
        "select i from 'n.ndjson' where i in (select i + n.i from 'n.ndjson' m group by m.i)",
    ] {
        let (_, said, code) = folder.query(&[sql], b"");
        let inner =
            [" { ", "Span(", "Some(", "Utf8", "Int64", "Decimal128", "Invalid argument", "sum_argument", "BitwiseNot"];
        let leaks: Vec<_> = inner.iter().filter(|word| said.contains(**word)).collect();
        assert!(code == 2 && leaks.is_empty() && said.lines().count() == 1, "{sql}: {code} {said} {leaks:?}");
    }
}

#[test]
fn an_array_of_the_query_around_is_named_in_the_message() {
    let folder = Folder::new("around").with("a.ndjson", "{\"i\":1,\"a\":[1,2]}\n");
    for sql in [
        "select i, (select sum(u) from unnest(a) as t(u)) as s from 'a.ndjson'",
        "select i from 'a.ndjson' where exists (select 1 from unnest(a) as t(u) where u = 1)",
    ] {
        let (_, said, code) = folder.query(&[sql], b"");
        assert!(code == 2 && said.contains("of the query around it"), "{sql}: {said}");
    }
}

#[test]
fn intervals_are_multiplied_and_divided() {
    all(&[
        (
            "select interval '1 day' * 3 as a, 2 * interval '1 month 3 days' as b, interval '1 day' / 2 as c, \
             interval '1 month' * 1.5 as d, interval '1 day' / 0 as e",
            &[r#"{"a":"3 days","b":"2 mons 6 days","c":"12 hours","d":"1 mons 15 days","e":null}"#],
        ),
        (
            "select timestamp '2024-03-05' + interval '1 hour' * v as t from 'm.ndjson' where i < 3",
            &[r#"{"t":"2024-03-05T01:00:00Z"}"#, r#"{"t":null}"#],
        ),
        (
            "select date '2024-03-05' + (timestamp '2024-03-07' - timestamp '2024-03-05') / 4 as t",
            &[r#"{"t":"2024-03-05T12:00:00"}"#],
        ),
        (
            "select timestamp '2024-03-05' + interval '1 year 2 months 3 days 04:05:06' as a, \
             timestamp '2024-03-05' + interval '-00:30' as b",
            &[r#"{"a":"2025-05-08T04:05:06Z","b":"2024-03-04T23:30:00Z"}"#],
        ),
        (
            "select extract(century from timestamp '2000-12-31') as a, extract(decade from timestamp '2001-01-01') as b, \
             date_part('millennium', timestamp '2001-01-01') as c",
            &[r#"{"a":20,"b":200,"c":3}"#],
        ),
    ]);
}

#[test]
fn values_of_several_kinds_are_cast() {
    all(&[
        ("select cast(v as boolean) as b from 'm.ndjson' where i < 3", &[r#"{"b":true}"#, r#"{"b":true}"#]),
        ("select try_cast(v as boolean) as b from 'm.ndjson' where i > 2", &[r#"{"b":null}"#, r#"{"b":null}"#]),
        (
            "select cast(t as timestamp) = timestamp '2024-03-05T07:00:00Z' as s, t::date as d from \
             (select i, t from 't.ndjson' union all select 9, 1709622000) u where i in (1, 9)",
            &[r#"{"s":true,"d":"2024-03-05"}"#, r#"{"s":true,"d":"2024-03-05"}"#],
        ),
    ]);
    let folder = Folder::new("rules-times");
    for sql in ["select timestamp '2024-02-30' as t", "select timestamp '2024-02-30' + interval '1 day' as t"] {
        let (out, said, code) = folder.query(&[sql], b"");
        assert!(out.is_empty() && said.contains("'2024-02-30' is not a time") && code == 2, "{sql}: {said}");
    }
}

#[test]
fn constants_of_a_union_keep_their_kinds() {
    all(&[
        (
            "select 1 as a union all select 'y' union all select true union all select null",
            &[r#"{"a":1}"#, r#"{"a":"y"}"#, r#"{"a":true}"#, r#"{"a":null}"#],
        ),
        ("select 1 as a union select '1' union select 1.0 order by a", &[r#"{"a":1}"#, r#"{"a":"1"}"#]),
        ("select [1] as a union select ['1'] union select [1.0]", &[r#"{"a":[1]}"#, r#"{"a":["1"]}"#]),
        ("select 'x' as a intersect select 1", &[]),
        ("select a from (values (1), ('x'), (true)) t(a)", &[r#"{"a":1}"#, r#"{"a":"x"}"#, r#"{"a":true}"#]),
        ("select a from (values (1), (2.5)) t(a) where a > 1", &[r#"{"a":2.5}"#]),
        // A column of a subquery has the kind of its expression, and the parts follow one another.
        (
            "select n as a from (select count(*) as n from 'n.ndjson') t union all select 'x' union all select 5",
            &[r#"{"a":3}"#, r#"{"a":"x"}"#, r#"{"a":5}"#],
        ),
        ("select count(*) as a from 'n.ndjson' union all select 5", &[r#"{"a":3}"#, r#"{"a":5}"#]),
        (
            "select coalesce(x, 'none') as y from (select max(i) as x from 'n.ndjson' where i > 9) t",
            &[r#"{"y":"none"}"#],
        ),
    ]);
}

#[test]
fn arrays_are_joined_and_collected_as_values() {
    all(&[
        (
            "select a || [9] as b, [9] || a as c, a || [i] || [i] as d from (select i, json('[3, 1]') as a from 'n.ndjson') t \
             where i = 2",
            &[r#"{"b":[3,1,9],"c":[9,3,1],"d":[3,1,2,2]}"#],
        ),
        (
            "select array_agg(distinct v) as l, string_agg(distinct v::text, ',') as s from 'g.ndjson'",
            &[r#"{"l":[1,2,9,"z"],"s":"1,2,9,z"}"#],
        ),
        // Of a field that no record has, there are no elements.
        (
            "select none || [1] as a, array_append(none, 1) as b, array_concat([1], none) as c, array_prepend(1, none) as d \
             from 'n.ndjson' where i = 1",
            &[r#"{"a":[1],"b":[1],"c":[1],"d":[1]}"#],
        ),
        ("select count(none || [1]) as n from 'empty.ndjson'", &[r#"{"n":0}"#]),
        ("select histogram(x) as h from (values (1), ('1'), (true)) t(x)", &[r#"{"h":{"true":1,"1":2}}"#]),
        ("select i, * from 'n.ndjson' where i = 1", &[r#"{"i":1,"i_2":1}"#]),
    ]);
}
