//! `jird query`: what makes other shapes of records: arrays and objects that are built and changed, tables that are turned,
//! joins by time; and the functions that are typed weekly.

use crate::folder::Folder;

const ORDERS: &str = r#"{"id":1,"who":"ann","l":[1,2,3],"o":{"p":1.50},"t":"2024-01-31T10:00:00Z","n":1}
{"id":2,"who":"bob","l":[4],"t":"2024-02-10T10:00:00Z","n":2.5}
{"id":3,"who":"ann","t":"2024-02-11T10:00:00Z","n":7}
"#;

const RATES: &str = r#"{"who":"ann","t":"2024-01-01T00:00:00Z","rate":1}
{"who":"ann","t":"2024-02-01T00:00:00Z","rate":2}
{"who":"bob","t":"2024-03-01T00:00:00Z","rate":3}
"#;

fn folder() -> Folder {
    let folder = Folder::new("reshape").with("orders.ndjson", ORDERS).with("rates.ndjson", RATES);
    folder.with("nothing.ndjson", "")
}

/// Each query over the orders prints these lines, with one thread and with three.
#[track_caller]
fn all(cases: &[(&str, &[&str])]) {
    let folder = folder();
    for (sql, lines) in cases {
        for threads in ["1", "3"] {
            let given = [sql, "orders.ndjson", "--define", "rates=rates.ndjson", "--threads", threads];
            let (out, said, code) = folder.query(&given, b"");
            assert_eq!((out.lines().collect::<Vec<_>>(), code), (lines.to_vec(), 0), "{sql}: {said}");
        }
    }
}

/// Each query is refused in one line that has these words.
#[track_caller]
fn refused(cases: &[(&str, &str)]) {
    let folder = folder();
    for (sql, words) in cases {
        let (out, said, code) = folder.query(&[sql, "orders.ndjson", "--define", "rates=rates.ndjson"], b"");
        assert_eq!((out.as_str(), code), ("", 2), "{sql}: {said}");
        assert!(said.contains(words) && said.lines().count() == 1, "{sql}: {said}");
    }
}

#[test]
fn a_table_is_turned_so_that_values_become_columns() {
    all(&[
        (
            "pivot stream on who using sum(n) group by t order by t limit 2",
            &[
                r#"{"t":"2024-01-31T10:00:00Z","ann":1.0,"bob":null}"#,
                r#"{"t":"2024-02-10T10:00:00Z","ann":null,"bob":2.5}"#,
            ],
        ),
        (
            "select * from (pivot stream on who in ('bob', 'ann' as a) using sum(n) as s, count(*) as c group by o.p)",
            &[
                r#"{"p":1.5,"bob_s":null,"bob_c":0,"a_s":1.0,"a_c":1}"#,
                r#"{"p":null,"bob_s":2.5,"bob_c":1,"a_s":7.0,"a_c":1}"#,
            ],
        ),
        (
            "select max(pivot) as a, count(unpivot) as b from (select n as pivot, id as unpivot from stream) where pivot in (1, 7)",
            &[r#"{"a":7.0,"b":2}"#],
        ),
        (
            "with few as (select who, n from stream) select * from few pivot (max(n) for who in ('ann', 'eve'))",
            &[r#"{"ann":7.0,"eve":null}"#],
        ),
    ]);
    refused(&[
        ("select * from stream pivot (sum(n) for who in (select 'ann'))", "name the values"),
        ("pivot stream on nope using sum(n)", "no record has a value of `nope`"),
        (
            "with few as (select who, n from stream) select * from few pivot (sum(n) for who in (any))",
            "name the values",
        ),
    ]);
}

#[test]
fn a_table_is_turned_so_that_columns_become_rows() {
    all(&[
        (
            "select id, k, v from (unpivot stream on who, n into name k value v) where id < 3",
            &[
                r#"{"id":1,"k":"who","v":"ann"}"#,
                r#"{"id":1,"k":"n","v":1}"#,
                r#"{"id":2,"k":"who","v":"bob"}"#,
                r#"{"id":2,"k":"n","v":2.5}"#,
            ],
        ),
        ("select id, name, value from (unpivot stream on l, o) where id = 2", &[r#"{"id":2,"name":"l","value":[4]}"#]),
        (
            "select id, k, v from stream unpivot include nulls (v for k in (l, o as other)) where id > 1 order by id, k",
            &[
                r#"{"id":2,"k":"l","v":[4]}"#,
                r#"{"id":2,"k":"other","v":null}"#,
                r#"{"id":3,"k":"l","v":null}"#,
                r#"{"id":3,"k":"other","v":null}"#,
            ],
        ),
    ]);
}

#[test]
fn a_join_by_time_pairs_with_the_last_row_before() {
    let join = |how: &str, on: &str| format!("select o.id, r.rate from stream o {how} rates r {on} order by o.id");
    let by_time = join("asof join", "on o.who = r.who and o.t >= r.t");
    let left = join("asof left join", "on r.t <= o.t and r.who = o.who");
    let using = join("asof join", "using (who, t)");
    let next = join("asof join", "on o.who = r.who and o.t < r.t");
    let other_first = join("asof join", "on r.t < o.t");
    let (first, third) = (r#"{"id":1,"rate":1}"#, r#"{"id":3,"rate":2}"#);
    all(&[
        (&by_time, &[first, third]),
        (&left, &[first, r#"{"id":2}"#, third]),
        (&using, &[first, third]),
        (&next, &[r#"{"id":1,"rate":2}"#, r#"{"id":2,"rate":3}"#]),
        (&other_first, &[first, r#"{"id":2,"rate":2}"#, third]),
        (
            "select * from (select id, t from stream) o asof join rates r on o.t >= r.t where id = 2",
            &[r#"{"id":2,"t":"2024-02-10T10:00:00Z","who":"ann","r.t":"2024-02-01T00:00:00Z","rate":2}"#],
        ),
    ]);
    refused(&[
        ("select 1 as x from stream o asof join rates r on o.who = r.who", "one of <, <=, >, >="),
        ("select 1 as x from stream o asof join rates r on t >= t", "the table's name before each field"),
        ("select 1 as x from stream o asof join rates r on o.t >= r.t and o.id > r.rate", "one of <"),
        ("select 1 as x from stream o asof join rates r on o.t >= r.t or o.id = 1", "one of <"),
    ]);
}

#[test]
fn values_are_built_and_changed() {
    all(&[
        (
            "select json_set(o, '$.q', n, '$.p', 2) as x, json_insert(o, '$.p', 0) as y, json_remove(l, '$[0]', '$[0]') as z \
             from stream where id = 1",
            &[r#"{"x":{"p":2,"q":1},"y":{"p":1.50},"z":[3]}"#],
        ),
        (
            "select json_merge_patch(o, {'p': null, 'who': who}) as x, json_merge_patch(o, l) as y from stream where id = 1",
            &[r#"{"x":{"who":"ann"},"y":[1,2,3]}"#],
        ),
        (
            "select json_agg(l order by id desc) as a, json_group_object(id, who order by id) as o from stream",
            &[r#"{"a":[null,[4],[1,2,3]],"o":{"1":"ann","2":"bob","3":"ann"}}"#],
        ),
        (
            "select who, json_object_agg(id, n order by id) filter (where id < 3) as o from stream group by who",
            &[r#"{"who":"ann","o":{"1":1}}"#, r#"{"who":"bob","o":{"2":2.5}}"#],
        ),
        ("select map(['a', 'b'], [1, null]) as m from stream limit 1", &[r#"{"m":{"a":1,"b":null}}"#]),
        ("select json_array() as a, json_object() as o from stream limit 1", &[r#"{"a":[],"o":{}}"#]),
    ]);
    refused(&[
        ("select json_set(o, '$.q') as x from stream", "a path such as"),
        ("select json_set(o, 'q', 1) as x from stream", "'q' is no path"),
        ("select unnest({'p': n}) as x from stream", "takes an array"),
    ]);
}

#[test]
fn elements_are_computed_with() {
    all(&[
        (
            "select list_transform(l, x -> x * 2 + id) as a, list_filter(l, x -> x > 1 and x < 3) as b, \
             array_any_match(l, x -> x = 4) as c from stream",
            &[r#"{"a":[3,5,7],"b":[2],"c":false}"#, r#"{"a":[10],"b":[],"c":true}"#, r#"{"a":null,"b":null,"c":null}"#],
        ),
        (
            "select list_transform([1, 2], v -> {'v': v}) as a, list_filter(o.p, x -> true) as b from stream where id = 1",
            &[r#"{"a":[{"v":1},{"v":2}],"b":null}"#],
        ),
        (
            "select who[1:2] as a, who[-2:] as b, array_slice(who, 2, 9) as c from stream where id = 2",
            &[r#"{"a":"bo","b":"ob","c":"ob"}"#],
        ),
        (
            "select l[1:2] as a, l[2:] as b, l[:-2] as c, l[0] as d, [5, 6, 7][2:3] as e, make_array(5, 6)[1] as f from stream \
             where id = 1",
            &[r#"{"a":[1,2],"b":[2,3],"c":[1,2],"d":1,"e":[6,7],"f":5}"#],
        ),
        (
            "select array_union(l, [9, 1]) as a, array_remove(l, 2.0) as b, list_has_any(l, [2, 9]) as c, array_sum(l) as d, \
             array_avg(l) as e, flatten([l, l]) as f, array_positions(l, 3) as g from stream where id = 1",
            &[r#"{"a":[1,2,3,9],"b":[1,3],"c":true,"d":6,"e":2.0,"f":[1,2,3,1,2,3],"g":[3]}"#],
        ),
        (
            "select array_contains([1, 2], n) as a, array_has_all(l, [1.0]) as b from stream where id = 1",
            &[r#"{"a":true,"b":true}"#],
        ),
        (
            "select id, u, i from stream, unnest(l) with ordinality as w (u, i) where u > 1",
            &[r#"{"id":1,"u":2,"i":2}"#, r#"{"id":1,"u":3,"i":3}"#, r#"{"id":2,"u":4,"i":1}"#],
        ),
        (
            "select len(array_agg(n)) as a, len([1, 2]) as b, len(min(who)) as c, len(json_agg(l)) as d from stream",
            &[r#"{"a":3,"b":2,"c":3,"d":3}"#],
        ),
        ("select i * 2 as x from generate_series(1, 3) t (i)", &[r#"{"x":2}"#, r#"{"x":4}"#, r#"{"x":6}"#]),
        ("select id, range from stream, range(2) where id = 3", &[r#"{"id":3,"range":0}"#, r#"{"id":3,"range":1}"#]),
    ]);
}

#[test]
fn what_is_no_array_has_no_rows_and_is_told() {
    for sql in ["select id, unnest(o) as x from stream", "select id, x from stream, unnest(o) as x"] {
        let (out, said, code) = folder().query(&[sql, "orders.ndjson"], b"");
        assert_eq!((out.as_str(), code), ("", 0), "{said}");
        assert!(said.contains("`o`: 1 value that is not an array has no rows"), "{said}");
    }
    let (_, said, _) = folder().query(&["select unnest(l) as x from stream", "orders.ndjson"], b"");
    assert_eq!(said, "");
}

#[test]
fn a_value_is_compared_with_all_rows_of_a_query() {
    all(&[
        ("select id from stream where n >= all(select n from stream)", &[r#"{"id":3}"#]),
        ("select id from stream where n > any(select n from stream)", &[r#"{"id":2}"#, r#"{"id":3}"#]),
        ("select n > all(select n from stream where false) as x from stream where id = 1", &[r#"{"x":true}"#]),
        (
            "select n > any(select o.p from stream) as x from stream",
            &[r#"{"x":null}"#, r#"{"x":true}"#, r#"{"x":true}"#],
        ),
        ("select id from stream s where n < any(select b.n from stream b where b.who = s.who)", &[r#"{"id":1}"#]),
        ("select id from stream where n > all(select max(rate) from rates)", &[r#"{"id":3}"#]),
    ]);
}

#[test]
fn rows_that_are_compared_have_one_column() {
    refused(&[
        ("select n > any(select n, id from stream) as x from stream", "a query of one column"),
        ("select n < all(select * exclude (o) from stream) as x from stream", "columns, but 1 name"),
    ]);
}

#[test]
fn a_name_is_that_of_the_table_whose_records_have_it() {
    all(&[
        (
            "select id, rate from stream s join rates r on s.who = r.who where rate < 2 order by id",
            &[r#"{"id":1,"rate":1}"#, r#"{"id":3,"rate":1}"#],
        ),
        (
            "select who, rate from rates r where exists (select 1 from stream s where s.who = r.who and id = rate)",
            &[r#"{"who":"ann","rate":1}"#],
        ),
        ("select who from rates where exists (select 1 from stream where id = rate and n > 5)", &[r#"{"who":"bob"}"#]),
        (
            "select id from stream where id in (select rate from rates where nope is null)",
            &[r#"{"id":1}"#, r#"{"id":2}"#, r#"{"id":3}"#],
        ),
        (
            "select r.rate, m from rates r, lateral (select max(n) as m from stream s where s.who = r.who) where rate > 1",
            &[r#"{"rate":2,"m":7.0}"#, r#"{"rate":3,"m":2.5}"#],
        ),
        ("select (select count(*) from rates) as c", &[r#"{"c":3}"#]),
        ("select ['x', 'y'][2] as x, struct(1, 'h')['c1'] as y", &[r#"{"x":"y","y":"h"}"#]),
        ("select count(*) as c from rates left join 'nothing.ndjson' on rate = other", &[r#"{"c":3}"#]),
        ("select exists (select 1 from rates where rate = 9) as e", &[r#"{"e":false}"#]),
    ]);
    refused(&[("select who from stream s join rates r on s.id = r.rate", "`who` may be s's or r's")]);
}

#[test]
fn functions_of_every_week_are_there() {
    all(&[
        (
            "select mode(who) as a, mode(n) as b, histogram(who) as c, first(id) as d, last(id) as e, \
             quantile_cont(n, [0, 0.5]) as f from stream",
            &[r#"{"a":"ann","b":1,"c":{"ann":2,"bob":1},"d":1,"e":3,"f":[1.0,2.5]}"#],
        ),
        (
            "select date_diff('day', t, '2024-03-01') as a, date_diff('month', timestamp '2023-12-31', t) as b, \
             date_diff('hours', t, timestamp '2024-01-31T09:59:59Z') as c, last_day(t) as d, dayname(t) as e from stream where id = 1",
            &[r#"{"a":30,"b":1,"c":-1,"d":"2024-01-31","e":"Wednesday"}"#],
        ),
        (
            "select regexp_extract_all(who, '[a-n]') as a, regexp_extract_all(who, '(.)n', 1) as b, \
             regexp_split_to_array(who, 'n') as c from stream where id = 1",
            &[r#"{"a":["a","n","n"],"b":["a"],"c":["a","",""]}"#],
        ),
        (
            "select printf('%03d|%-5s|%5.2f|%x|%%', id, who, n, 255) as a from stream where id = 2",
            &[r#"{"a":"002|bob  | 2.50|ff|%"}"#],
        ),
        (
            "select to_base64('hi') as a, from_base64('aGk=') as b, url_encode('a b/ü') as c, url_decode('a%20b%C3%BC') as d, \
             typeof(n) as e, typeof(n + 1) as f, typeof(l) as g from stream where id = 1",
            &[r#"{"a":"aGk","b":"hi","c":"a%20b%2F%C3%BC","d":"a bü","e":"number","f":"number","g":"array"}"#],
        ),
        (
            "select date '2001-10-01' - 7 as a, to_date('01-10-2001', '%d-%m-%Y') as b from stream limit 1",
            &[r#"{"a":"2001-09-24","b":"2001-10-01"}"#],
        ),
        ("select count(*) as n from (select id from stream using sample 100%)", &[r#"{"n":3}"#]),
        (
            "select who, grouping(who) as g from stream group by who",
            &[r#"{"who":"ann","g":0}"#, r#"{"who":"bob","g":0}"#],
        ),
        (
            "select cast(id as varchar) as a, count(*) as c from stream group by cube(cast(id as varchar)) order by 1 limit 1",
            &[r#"{"a":"1","c":1}"#],
        ),
        (
            "select n is null as a, count(*) as c from stream group by rollup((n is null)) order by 1",
            &[r#"{"a":false,"c":3}"#, r#"{"a":null,"c":3}"#],
        ),
    ]);
    refused(&[
        ("select printf('%d', who) as a from stream", "is not what is wanted there"),
        ("select printf('%99999d', id) as a from stream", "widths are numbers up to"),
        ("select date_diff('fortnight', t, t) as a from stream", "a constant unit"),
        ("select id from stream limit 1.5", "a whole number"),
        ("select sum(sum(n)) from stream", "inside of another"),
    ]);
}

#[test]
fn a_query_whose_types_are_learned_twice_ends() {
    all(&[
        ("select distinct id from stream where id between n and id", &[r#"{"id":1}"#]),
        (
            "select (n between id and n) as x, count(*) as c from stream group by cube((n between id and n))",
            &[r#"{"x":true,"c":3}"#, r#"{"x":null,"c":3}"#],
        ),
        (
            "select id, lag(who) over (partition by id order by case when coalesce(id, n) >= n then n else id end nulls first, id) \
             as x from stream where id < 2",
            &[r#"{"id":1,"x":null}"#],
        ),
    ]);
}

#[test]
fn rows_that_ask_subqueries_keep_the_order_of_the_input() {
    let rows: Vec<_> = (0..30_000).map(|id| format!("{{\"id\":{id},\"k\":{}}}\n", id * 7919 % 101)).collect();
    let folder = Folder::new("asking").with("big.ndjson", rows.concat());
    for sql in [
        "select id, (select count(*) from 'big.ndjson' b where b.k = a.k) as n from 'big.ndjson' a",
        "select id from 'big.ndjson' a where exists (select 1 from 'big.ndjson' b where b.id = a.k)",
        "select id from 'big.ndjson' where k in (select k from 'big.ndjson' where id < 50)",
        "select id from 'big.ndjson' where k not in (select k from 'big.ndjson' where id < 50) limit 1000",
    ] {
        let (out, said, code) = folder.query(&[sql, "--threads", "3"], b"");
        assert_eq!(code, 0, "{sql}: {said}");
        let id = |line: &str| line[6..].split([',', '}']).next().and_then(|id| id.parse::<u64>().ok()).unwrap();
        let ids: Vec<_> = out.lines().map(id).collect();
        assert!(ids.len() > 500 && ids.is_sorted(), "{sql}: {:?}", &ids[..10]);
    }
    let join = "select a.id, b.id as other from 'big.ndjson' a left join 'big.ndjson' b on a.id = b.k and b.id < 90";
    let alone = folder.query(&[join, "--threads", "1"], b"").0;
    for threads in ["2", "3", "8"] {
        assert!(folder.query(&[join, "--threads", threads], b"").0 == alone, "{threads} threads");
    }
}

#[test]
fn messages_name_nothing_of_plans() {
    let folder = folder();
    for sql in [
        "select not to_timestamp_seconds('2020') as x",
        "select n from stream where t",
        "select interval interval '1' as x",
        "select id from stream order by (select max(r.rate) from rates r where r.rate > n)",
        "select count(*) from stream group by (select max(r.rate) from rates r where r.who = stream.who)",
        "select sum(n) over (order by id range between 'x' preceding and current row) as x from stream",
        "select percentile_cont(0.5) within group (order by n) over (order by id rows 1 preceding) as x from stream",
        "select n from stream s join rates r on exists (select 1 from rates q where q.rate > s.id) right join rates z on true",
        "select max(n) as m from stream where max(n) > 1",
        "select array_append(1, 2) as x",
        "select substr(n, timestamp '2024-01-01') as x from stream",
        "select (select who, n from stream) as x",
        "select who || interval '1 day' as x from stream",
    ] {
        let (out, said, code) = folder.query(&[sql, "orders.ndjson", "--define", "rates=rates.ndjson"], b"");
        let leaks = [
            "__",
            "typed:",
            "json:",
            "key:",
            "raw:",
            "Exec",
            "Expr",
            "sort_key",
            "Utf8",
            "Int64",
            "Schema",
            "Plan",
            "DataFusion",
        ];
        let leak = leaks.into_iter().find(|leak| said.contains(leak));
        assert!(
            leak.is_none() && (code == 0 || said.lines().last().is_some_and(|line| line.len() > 20)),
            "{sql}: {said}{out}"
        );
    }
}
