//! A value is the same within an array or an object as it is alone, whatever it was computed by.

use crate::model::{Folder, Form, Way};
use jird::record::Field;
use jird_query::Check;
use std::sync::atomic::{AtomicU32, Ordering};

const RECORDS: &str = r#"{"v":1,"n":"x","m":1,"l":["a","b"],"o":{"k":[1,{"z":null}]},"t":"2024-05-06T07:08:09Z","b":true}
{"v":2.5,"n":null,"m":"t\n\"","l":[],"o":{},"t":"2024-05-06","b":false}
{"v":3,"n":5,"m":[1,2],"t":"no time"}
{"v":4,"n":true,"m":null,"l":[null,"a",["b"]],"o":{"k":"[1]"},"t":null}
"#;

/// Values of one row.
const OF_ROWS: &[&str] = &[
    "n",
    "m",
    "o",
    "l",
    "t",
    "o.k",
    "l[1]",
    "o.k[2]",
    "l[1:2]",
    "coalesce(n, 'q')",
    "coalesce(m, n)",
    "coalesce(l, [])",
    "ifnull(n, m)",
    "nullif(n, 5)",
    "nullif(m, n)",
    "greatest(n, m)",
    "case when v > 2 then n else m end",
    "case when v > 2 then n end",
    "case n when 5 then m else o end",
    "(select max(n) from stream)",
    "(select min(m) from stream where v > 1)",
    "lag(m) over (order by v)",
    "first_value(n) over (order by v)",
    "max(m) over ()",
    "array_agg(n) over (order by v)",
    "to_json(n)",
    "[n, m]",
    "[1, n]",
    "[v, v]",
    "[[v], []]",
    "{'q': n}",
    "{'q': [m, {'p': v}]}",
    "{}",
    "[]",
    "['a', 'b']",
    "struct(n, v)",
    "struct(1, 'a')",
    "json_array(m)",
    "json_object('k', m)",
    "json_set(o, '$.a', n)",
    "json_merge_patch(o, {'k': m})",
    "array_append(l, n)",
    "array_append([1], 2)",
    "list_transform([n], x -> {'k': x})",
    "list_filter(l, x -> x is not null)",
    "array_distinct(l)",
    "array_contains(l, n)",
    "array_to_string(l, '-')",
    "upper(n)",
    "concat(n, m)",
    "n || 'a'",
    "v * 2",
    "v + 1.5",
    "n = m",
    "n is null",
    "v > 2 and b",
    "cast(n as varchar)",
    "cast(v as double)",
    "try_cast(m as int)",
    "timestamp(t)",
    "date '2024-01-02'",
    "timestamp '2024-01-02 03:04:05' + interval '1 day'",
    "'text'",
    "'[1]'",
    "json '[1, {\"a\": 2}]'",
    "12345678901234567890123",
    "1.50",
    "null",
    "true",
    "typeof(n)",
    "length(n)",
    "if(b, n, m)",
];

/// Values of all rows together.
const OF_ALL: &[&str] = &[
    "max(n)",
    "min(o)",
    "max([m])",
    "min({'k': n})",
    "first(m order by v)",
    "last(n order by v)",
    "arg_max(m, v)",
    "array_agg(n order by v)",
    "array_agg(v order by v)",
    "array_agg({'k': n} order by v)",
    "json_group_array(m)",
    "json_group_object(cast(v as varchar), m)",
    "mode(b)",
    "count(n)",
    "sum(v)",
    "string_agg(t, '-' order by v)",
    "any_value(b)",
    "coalesce(max(n), 1)",
    "case when count(*) > 1 then max(l) end",
];

/// What holds a value, and where in it the value is; `E` is the value.
const HOLDERS: &[(&str, &str)] = &[
    ("{'k': E}", "/k"),
    ("[E]", "/0"),
    ("[[E]]", "/0/0"),
    ("[1, E]", "/1"),
    ("{'a': [E]}", "/a/0"),
    ("[{'a': E}]", "/0/a"),
    ("{'a': {'b': [{'c': E}]}}", "/a/b/0/c"),
    ("struct('a', E)", "/c1"),
    ("struct(E as x)", "/x"),
    ("json_array(E)", "/0"),
    ("json_array(1, [E])", "/1/0"),
    ("json_object('k', E)", "/k"),
    ("json_object('k', [E], 'l', 1)", "/k/0"),
    ("json_set({}, '$.k', E)", "/k"),
    ("json_insert({}, '$.k', E)", "/k"),
    ("json_merge_patch({'k': 1, 'l': 2}, {'m': [E]})", "/m/0"),
    ("array_append([], [E])", "/0/0"),
    ("array_prepend({'a': E}, [])", "/0/a"),
    ("coalesce([E], [1])", "/0"),
    ("case when true then {'k': E} else 1 end", "/k"),
    ("to_json([E])", "/0"),
    ("nullif({'k': E}, 5)", "/k"),
    ("{'k': coalesce([E], 1)}", "/k/0"),
    ("[case when true then {'k': E} end]", "/0/k"),
    ("list_transform([1], x -> {'k': [E]})", "/0/k/0"),
];

/// The records that answer a query, as JSON.
fn answers(folder: &Folder, sql: &str) -> Result<Vec<String>, String> {
    let way = Way { form: Form::Lines, check: Check::All, threads: 2, chunk_bytes: None };
    let (found, _) = folder.run(sql, way).map_err(|error| error.to_string())?;
    Ok(found.lines().map(str::to_owned).collect())
}

/// What is equal for equal values at a path of a record.
fn at(json: &str, path: &str) -> Option<Vec<u8>> {
    let document = jird::parse(json.as_bytes()).unwrap_or_else(|error| panic!("{json}: {error}"));
    let value = document.root().pointer(path)?;
    let mut key = Vec::new();
    Field::from_raw(&String::from_utf8_lossy(value.raw())).order_key(&mut key);
    Some(key)
}

/// Where a value in a holder differs from the value alone, and what is refused.
fn differences(folder: &Folder, value: &str) -> Vec<String> {
    let alone = answers(folder, &format!("select {value} as e from stream"));
    let alone = alone.unwrap_or_else(|error| panic!("select {value}: {error}"));
    let null = at("null", "");
    let wanted: Vec<_> = alone.iter().map(|record| at(record, "/e").or_else(|| null.clone())).collect();
    let held = |value: &str| {
        let held = HOLDERS.iter().enumerate();
        let held = held.map(|(index, (holder, _))| format!("{} as e{index}", holder.replace('E', value)));
        held.collect::<Vec<_>>().join(", ")
    };
    let mut found = Vec::new();
    for query in [
        format!("select {} from stream", held(value)),
        format!("select * from (select {} from stream) s", held(value)),
        format!("select {} from (select {value} as a from stream) s", held("a")),
    ] {
        let records = answers(folder, &query);
        let records = records.unwrap_or_else(|error| panic!("{query}: {error}"));
        for (index, (holder, path)) in HOLDERS.iter().enumerate() {
            let inner = records.iter().map(|record| at(record, &format!("/e{index}{path}")));
            if !inner.eq(wanted.iter().cloned()) {
                found.push(format!("{holder}, E = {value}: {query}\n  gives {records:?}\n  alone {alone:?}"));
            }
        }
    }
    found
}

#[test]
fn a_value_within_another_is_as_it_is_alone() {
    let mut folder = Folder::new("within");
    folder.hold(&[RECORDS]);
    let found: Vec<_> = OF_ROWS.iter().chain(OF_ALL).flat_map(|value| differences(&folder, value)).collect();
    assert!(found.is_empty(), "{} differ:\n{}", found.len(), found.join("\n"));
}

/// Each query has this value, as `e`, in all of its records.
#[track_caller]
fn gives(cases: &[(&str, &str)]) {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let mut folder = Folder::new(&format!("within-{}", NEXT.fetch_add(1, Ordering::Relaxed)));
    folder.hold(&[RECORDS]);
    for (sql, wanted) in cases {
        let records = answers(&folder, sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let is_wanted = |record: &String| at(record, "/e") == at(wanted, "");
        assert!(!records.is_empty() && records.iter().all(is_wanted), "{sql}: {records:?}");
    }
}

#[test]
fn a_parameter_of_a_lambda_goes_before_a_column() {
    gives(&[
        ("select list_transform([1, 2], x -> {'k': [x]}) as e from (select n as x)", r#"[{"k":[1]},{"k":[2]}]"#),
        ("select list_transform([1, 2], x -> [x, 0]) as e from (select v + 1 as x)", "[[1,0],[2,0]]"),
        ("select list_transform([1, 2], v -> v + 1) as e from stream", "[2,3]"),
        ("select list_transform([[1], [2, 3]], v -> list_transform(v, v -> v * 2)) as e from stream", "[[2],[4,6]]"),
        ("select list_transform([[1], [2]], v -> list_transform(v, w -> [w, len(v)])) as e", "[[[1,1]],[[2,1]]]"),
        (
            "select list_filter(x, y -> y is not null) as e from (select v, case when v = 4 then l end as x from stream) where v = 4",
            r#"["a",["b"]]"#,
        ),
        (
            "select list_transform(x, y -> [y]) as e from (select v, b, case when b then l end as x from stream where v = 1)",
            r#"[["a"],["b"]]"#,
        ),
        (
            "select list_filter(x, y -> y <> 'a') as e from (select coalesce(l, m, n) as x from stream where v = 1)",
            r#"["b"]"#,
        ),
    ]);
}

#[test]
fn objects_are_values_of_a_list_of_rows() {
    gives(&[
        ("select max(a) as e from (values ({'k': 1}), ({'k': 2})) t(a)", r#"{"k":2}"#),
        ("select min(a) as e from (values (struct(2 as k)), (struct(1 as k))) t(a)", r#"{"k":1}"#),
        ("select a as e from (values ({'k': [{}]})) t(a)", r#"{"k":[{}]}"#),
        ("select {'x': a, 'y': b} as e from (values ([1], json '[\"a\"]')) t(a, b)", r#"{"x":[1],"y":["a"]}"#),
        ("select a.k as e from (values ({'k': 3})) t(a)", "3"),
        ("select a as e from (values ({'k': 1}), (2)) t(a) where a = {'k': 1.0}", r#"{"k":1}"#),
    ]);
}

#[test]
fn arrays_side_by_side_keep_their_elements() {
    gives(&[
        ("select coalesce(['a'], [1]) as e", r#"["a"]"#),
        ("select case when v > 0 then [t is null] else ['x'] end as e from stream where v = 1", "[false]"),
        ("select [['a'], [1]] as e", r#"[["a"],[1]]"#),
        ("select [[1], 2, [[]]] as e", "[[1],2,[[]]]"),
        ("select [1, date '2024-01-02'] as e", r#"[1,"2024-01-02"]"#),
        ("select {'d': [date '2024-01-02', 'x']} as e", r#"{"d":["2024-01-02","x"]}"#),
        ("select greatest([1], ['a']) as e", r#"["a"]"#),
    ]);
}

#[test]
fn functions_of_arrays_take_what_was_computed() {
    gives(&[
        ("select list_position(['a', 'x'], coalesce(n, 'q')) as e from stream where v = 1", "2"),
        ("select array_contains(l, coalesce(null, 'b')) as e from stream where v = 1", "true"),
        ("select array_to_string(l, coalesce(n, '-')) as e from stream where v = 1", r#""axb""#),
        ("select array_append(l, coalesce(n, 'q')) as e from stream where v = 1", r#"["a","b","x"]"#),
        ("select array_remove(l, coalesce(n, 'a')) as e from stream where v = 2.5", "[]"),
        ("select l[coalesce(1, 2):2] as e from stream where v = 1", r#"["a","b"]"#),
        ("select json_set(o, '$.k', nullif(m, 0)) as e from stream where v = 1", r#"{"k":1}"#),
        ("select array_concat(l, coalesce(l, [])) as e from stream where v = 1", r#"["a","b","a","b"]"#),
    ]);
}
