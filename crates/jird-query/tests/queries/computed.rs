//! A value is used alike whether it is a field or was computed: `upper(a)` is `upper(coalesce(a, a))`.

use crate::model::{Folder, Form, Way};
use jird_query::Check;
use std::collections::HashMap;

const RECORDS: &str = r#"{"v":1,"n":"abc","m":1,"l":["a","b"],"o":{"k":[1,{"z":null}]},"t":"2024-05-06T07:08:09Z","b":true,"i":3,"s":"x"}
{"v":2.5,"n":null,"m":"t","l":[],"o":{},"t":"2024-05-06","b":false,"i":-5,"s":"a%"}
{"v":3,"n":5,"m":[1,2],"t":"no time","i":9007199254740993,"s":"abc"}
{"v":4,"n":true,"m":null,"l":[null,"a",["b"]],"o":{"k":"[1]"},"t":null,"b":true,"i":3,"s":"\n"}
{"v":5,"n":5.0,"m":2,"l":[2,1],"o":{"k":1.50},"t":"2023-01-01T00:00:00+02:00","i":0,"s":"5"}
"#;

/// Fields with values of several kinds, and one of arrays.
const FIELDS: &[&str] = &["n", "m", "l", "o.k"];

/// What is the same as `E`.
const SAME: &[&str] =
    &["coalesce(E, E)", "{'k': [E]}.k[0]", "first_value(E) over (order by v rows between current row and current row)"];

/// Queries of one value for each record.
const OF_ROWS: &[&str] = &[
    "upper(E)",
    "length(E)",
    "E || 'x'",
    "concat(E, 'x')",
    "concat_ws('-', E, 'x')",
    "E + 1",
    "E * 2",
    "E - E",
    "E / 2",
    "E = 5",
    "E <> 5",
    "E > 1",
    "E <= 5",
    "E = 'abc'",
    "E < 'b'",
    "E in (1, 'abc', 5)",
    "E not in (3, 'x')",
    "E between 1 and 5",
    "E is null",
    "E like 'a%'",
    "E is distinct from 5",
    "E is not distinct from null",
    "coalesce(E, 0)",
    "nullif(E, 5)",
    "greatest(E, 2)",
    "least(E, 'b')",
    "case when E = 5 then 1 else 0 end",
    "case E when 5 then 'five' when 'abc' then 'abc' end",
    "cast(E as varchar)",
    "try_cast(E as int)",
    "try_cast(E as double)",
    "try_cast(E as boolean)",
    "to_json(E)",
    "timestamp(E)",
    "date_trunc('day', E)",
    "extract(year from E)",
    "date_diff('day', E, timestamp '2024-06-01')",
    "E > timestamp '2024-01-01'",
    "E < '2024-01-01'",
    "abs(E)",
    "round(E)",
    "sqrt(abs(E))",
    "substr(E, 1, 1)",
    "left(E, 1)",
    "replace(E, 'a', 'b')",
    "starts_with(E, 'a')",
    "regexp_like(E, 'a')",
    "E ~ 'b'",
    "E ilike 'A%'",
    "split_part(E, 'b', 1)",
    "array_length(E)",
    "len(E)",
    "array_contains(E, 'a')",
    "array_contains(['abc', 'x'], E)",
    "array_contains([5, 3], E)",
    "'a' = any(E)",
    "E = any([5, 3])",
    "E = any(['abc', 'x'])",
    "array_to_string(E, '-')",
    "array_distinct(E)",
    "array_sort(E)",
    "array_append(E, 1)",
    "array_append([1], E)",
    "array_concat(E, [1])",
    "array_position(E, 'b')",
    "array_reverse(E)",
    "array_max(E)",
    "array_sum(E)",
    "list_transform(E, y -> y)",
    "list_transform([1], y -> E)",
    "list_filter(E, y -> y is not null)",
    "json_keys(E)",
    "json_extract(E, '$.k')",
    "json_set(E, '$.k', 1)",
    "json_set({}, '$.k', E)",
    "json_merge_patch(E, {'z': 1})",
    "json_array_length(E)",
    "number(E)",
    "text(E)",
    "E = E",
    "E in (select n from stream)",
    "E in (select i from stream)",
    "[E, 1]",
    "{'k': E}",
    "[[E], []]",
    "E and true",
    "not E",
    "E is true",
    "md5(E)",
    "printf('%s', E)",
    "printf('%d', E)",
    "E[0]",
    "E[0:1]",
];

/// Queries of several records.
const OF_ALL: &[&str] = &[
    "count(E)",
    "count(distinct E)",
    "sum(E)",
    "avg(E)",
    "min(E)",
    "max(E)",
    "median(E)",
    "stddev(E)",
    "array_agg(E order by v)",
    "string_agg(E, ',' order by v)",
    "first(E order by v)",
    "arg_max(v, E)",
    "arg_min(E, v)",
    "mode(E)",
    "histogram(E)",
    "json_group_array(E)",
    "json_group_object(cast(v as varchar), E)",
    "count(*) filter (where E = 5)",
    "bool_or(E = 5)",
    "sum(distinct E)",
    "quantile_cont(E, 0.5)",
    "max(E) filter (where v > 2)",
];

/// Queries with `E` as a column of a subquery.
const OF_COLUMNS: &[&str] = &[
    "select E as e, count(*) as n from F group by E",
    "select distinct E as e from F",
    "select v from F order by E, v",
    "select v from F order by E desc nulls last, v",
    "select v, rank() over (order by E) as e from F order by v",
    "select v, count(*) over (partition by E) as e from F order by v",
    "select v, lag(E) over (order by v) as e from F order by v",
    "select v from F where E = 5",
    "select v from F where E > 1",
    "select v from F where E in ('abc', 5)",
    "select v from F where E like 'a%'",
    "select v from F where E is null",
    "select v from F where not E is null",
    "select v from F where E >= '2024-01-01'",
    "select E as e from F union select E from F",
    "select E as e from F intersect select n from stream",
    "select E as e from F except select 5",
    "select a.v, b.v as w from F a join F b on a.E = b.E and a.v < b.v order by a.v, b.v",
    "select a.v from F a semi join stream b on a.E = b.i order by a.v",
];

/// The answer to a query, without what is null: a field that is missing is null once it was computed.
fn answer(folder: &Folder, sql: &str) -> Result<String, String> {
    let way = Way { form: Form::Lines, check: Check::All, threads: 2, chunk_bytes: None };
    let found = folder.run(sql, way).map_err(|error| error.to_string())?.0;
    Ok(NAMES.iter().fold(found, |text, name| {
        let null = format!("\"{name}\":null");
        text.replace(&format!("{null},"), "").replace(&format!(",{null}"), "").replace(&null, "")
    }))
}

/// The names of columns.
const NAMES: [&str; 11] = ["e", "e0", "e1", "e2", "e3", "e4", "e5", "e6", "e7", "e8", "e9"];

/// What is asked, several columns at a time.
fn of_several(columns: &[&str], value: &str, from: &str) -> String {
    let columns =
        columns.iter().zip(&NAMES[1..]).map(|(column, name)| format!("{} as {name}", column.replace('E', value)));
    format!("select {} from {from}", columns.collect::<Vec<_>>().join(", "))
}

/// Queries, and what they answer for fields.
struct Known {
    folder: Folder,
    answers: HashMap<String, Result<String, String>>,
    /// How many were compared.
    count: usize,
}

impl Known {
    /// Whether both queries have one answer. A value of one type is refused where one of several kinds has no value.
    fn agree(&mut self, plain: &str, computed: &str) -> Result<bool, String> {
        let Self { folder, answers, count } = self;
        let one = answers.entry(plain.to_owned()).or_insert_with(|| answer(folder, plain));
        let other = answer(folder, computed);
        for error in [&*one, &other].into_iter().filter_map(|answer| answer.as_ref().err()) {
            let is_plain = !["physical", "Field {", "Lambda", "UDF", "schema"].iter().any(|word| error.contains(word));
            assert!(is_plain, "{computed}: {error}");
        }
        match (one, &other) {
            (Ok(one), Ok(other)) if one == other => {
                *count += 1;
                Ok(true)
            }
            (Ok(one), Ok(other)) => Err(format!("{computed}\n{other}{plain}\n{one}")),
            _ => Ok(false),
        }
    }
}

#[test]
fn what_is_computed_is_used_as_what_is_read() {
    let mut folder = Folder::new("computed");
    folder.hold(&[RECORDS]);
    let mut known = Known { folder, answers: HashMap::new(), count: 0 };
    for field in FIELDS {
        for same in SAME {
            let same = same.replace('E', field);
            let inner = [field, &same.as_str()].map(|value| format!("(select v, {value} as x from stream)"));
            let mut ways = vec![([inner[0].as_str(), inner[1].as_str()], ["x", "x"])];
            if !same.contains("over (") {
                ways.push((["stream"; 2], [field, &same]));
            }
            for columns in OF_ROWS.chunks(10).chain(OF_ALL.chunks(10)) {
                for (from, value) in &ways {
                    let [plain, computed] = [0, 1].map(|at| of_several(columns, value[at], from[at]));
                    if known.agree(&plain, &computed) == Ok(true) {
                        continue;
                    }
                    for column in columns {
                        let [plain, computed] = [0, 1].map(|at| of_several(&[*column], value[at], from[at]));
                        known.agree(&plain, &computed).unwrap_or_else(|differs| panic!("{differs}"));
                    }
                }
            }
            for query in OF_COLUMNS {
                let [plain, computed] = [0, 1].map(|at| query.replace('E', "x").replace('F', &inner[at]));
                known.agree(&plain, &computed).unwrap_or_else(|differs| panic!("{differs}"));
            }
        }
    }
    assert!(known.count > 500, "{} agree", known.count);
}
