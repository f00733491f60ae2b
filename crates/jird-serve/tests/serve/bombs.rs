//! SQL that would take all memory or all time. It ends its own process, and nothing else.

use crate::common::{Service, children_of, is_alone_or, quiet, resident};
use crate::query::serve_many;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

/// The time of a query.
const TIME: Duration = Duration::from_secs(1);

/// Expressions over `text`, which has a hundred digits, and `i`.
fn values() -> Vec<String> {
    let nested = |levels: u32, call: &str| (0..levels).fold("text".to_owned(), |inner, _| call.replace('?', &inner));
    let (b, long) = ("b".repeat(200), "x".repeat(30_000));
    [
        // Texts of texts.
        nested(40, "replace(?, '0', '00')"),
        nested(12, "? || ?"),
        nested(7, "concat(?, ?, ?)"),
        nested(30, "hex(?)"),
        nested(7, "concat_ws(?, ?, ?)"),
        nested(30, "regexp_replace(?, '(.)', '\\1\\1', 'g')"),
        nested(6, "overlay(? placing concat(?, ?) from 1)"),
        format!("replace(text, '', '{long}') || replace(text, '', '{long}')"),
        format!("translate(repeat(text, 100000), '0', '{b}')"),
        "upper(repeat(text, 3000000))".to_owned(),
        "reverse(repeat(text, i * 100000))".to_owned(),
        "lpad(text, 2000000000, text)".to_owned(),
        "repeat(repeat(repeat('x', 100000), 100000), 100000)".to_owned(),
        "md5(repeat(text, 20000000))".to_owned(),
        "printf('%2000000000d', i)".to_owned(),
        "url_encode(repeat(text, 10000000))".to_owned(),
        format!("to_char(to_timestamp(i), '{}')", "%A".repeat(10_000)),
        format!("string_to_array(repeat(text, 100000), '0')::varchar || '{b}'"),
        // Patterns.
        "regexp_like(text, concat('(?i)[\\p{L}\\p{N}]{200}', text))".to_owned(),
        "regexp_count(repeat(text, 10000), '(0*)*$')".to_owned(),
        format!("text like '{}'", "%_".repeat(4000)),
        format!("repeat(text, 1000) ilike '{}x'", "%0".repeat(2000)),
        "regexp_match(repeat(text, 100000), '(.*)(.*)(.*)(.*)')".to_owned(),
        "text ~ concat('((a{1,100}){1,100}){1,', i, '}')".to_owned(),
        "levenshtein(repeat(text, 10000), repeat(text, 9999))".to_owned(),
        // Lists.
        "array_repeat(array_repeat(text, 100000), 100000)".to_owned(),
        "generate_series(1, 900000000000)".to_owned(),
        "range(0, 4000000000)".to_owned(),
        "array_resize([1], 9000000000, 1)".to_owned(),
        "flatten(array_repeat(array_repeat(i, 30000), 30000))".to_owned(),
        "array_to_string(array_repeat(text, 10000000), text)".to_owned(),
        "array_sort(array_concat(range(0, 300000000), range(0, 300000000)))".to_owned(),
        "arrays_zip(range(0, 200000000), range(0, 200000000))".to_owned(),
        "list_transform(range(0, 100000000), x -> repeat('abc', x))".to_owned(),
        nested(12, "[?, ?]"),
        "{'a': repeat(text, 10000000), 'b': repeat(text, 10000000)}".to_owned(),
        "json_merge_patch({'a': repeat(text, 5000000)}, {'b': repeat(text, 5000000)})".to_owned(),
        // Casts and numbers.
        "arrow_cast(null, 'FixedSizeBinary(2000000000)')".to_owned(),
        "arrow_cast(null, 'FixedSizeList(1000000000, Int64)')".to_owned(),
        "cast(repeat('9', 30000000) as decimal(38, 0))".to_owned(),
        "cast(repeat('[', 50000000) as json)".to_owned(),
        "factorial(9000000000)".to_owned(),
        "power(10, 300000000) * i".to_owned(),
    ]
    .into()
}

/// Whole queries.
fn queries() -> Vec<String> {
    let columns = (0..12).map(|column| format!("i % {}", column + 2)).collect::<Vec<_>>().join(", ");
    let twice = (1..25).fold("with t0 as (select i from many)".to_owned(), |sql, number| {
        format!("{sql}, t{number} as (select i from t{0} union all select i from t{0})", number - 1)
    });
    [
        "select count(*) n from many a, many b, many c, many d".to_owned(),
        "select * from many a, many b, many c order by a.text, b.text, c.text".to_owned(),
        "select a.text || b.text t, count(*) from many a, many b group by t".to_owned(),
        "select distinct a.text || b.text || c.i from many a, many b, many c".to_owned(),
        format!("select count(*) from many a, many b group by cube({})", columns.replace("i %", "a.i * b.i %")),
        "select array_agg(a.text || b.text) l from many a, many b".to_owned(),
        "select string_agg(a.text || b.text, ',') l from many a, many b".to_owned(),
        "select array_agg(text) over (order by i) a, array_agg(text) over (order by -i) b from many".to_owned(),
        "select median(a.i * b.i), count(distinct a.i * b.i) from many a, many b".to_owned(),
        "with recursive t as (select 1 n union all select n + 1 from t) select count(*) from t".to_owned(),
        "with recursive t as (select text s from many union all select s || s from t) select max(s) from t".to_owned(),
        "with recursive t as (select i from many union all select t.i from t, many) select count(*) from t".to_owned(),
        "with recursive t as (select 1 n union select n * 2 % 1000000007 from t) select * from t order by n".to_owned(),
        "select count(*) from generate_series(1, 1000000000000) a".to_owned(),
        "select a.value from generate_series(1, 10000000) a, generate_series(1, 10000000) b order by 1 desc".to_owned(),
        "select unnest(range(0, 1000000000)) n from many order by n desc".to_owned(),
        "select (select max(b.text || a.text) from many b) m from many a, many c".to_owned(),
        format!("{twice} select count(*) from t24"),
        format!("select i in ({}) from many", "i + 1, ".repeat(3000) + "1"),
        format!("select case {} end from many a, many b, many c", "when a.i + b.i = c.i then 1 ".repeat(200)),
        format!("select {} from many a, many b", (0..900).map(|n| format!("repeat(a.text, 1000) c{n}")).collect::<Vec<_>>().join(", ")),
        "select x.i from many x join many y on x.i % 2 = y.i % 2 join many z on z.i % 2 = y.i % 2 order by x.text || z.text".to_owned(),
        "select i, lag(text, 1) over (partition by a.t order by i) from many, (select repeat('x', 100000000) t) a".to_owned(),
    ]
    .into()
}

#[test]
fn bombs_of_sql_hurt_nobody_else() {
    const NAME: &str = "bombs::bombs_of_sql_hurt_nobody_else";
    // Other tests look at the clock.
    if !is_alone_or(NAME, quiet) {
        return;
    }
    let service = serve_many(8192, |settings| {
        settings.limits.query_bytes = 64 << 20;
        settings.limits.time = TIME;
        settings.limits.rows = 100_000;
        settings.limits.queries = 2;
    });
    let values = values().into_iter().map(|value| format!("select {value} v from many"));
    let all: Vec<String> = values.chain(queries()).collect();
    assert!(all.len() >= 60, "{}", all.len());
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let health = scope.spawn(|| watch(&service, &is_over));
        let (service, all) = (&service, &all);
        let half = |first| {
            move || all.iter().skip(first).step_by(2).filter_map(|sql| explode(service, sql)).collect::<Vec<_>>()
        };
        let halves = [scope.spawn(half(0)), scope.spawn(half(1))].map(ScopedJoinHandle::join);
        is_over.store(true, Ordering::Relaxed);
        let (mut took, largest) = health.join().unwrap();
        took.sort_unstable();
        let (most, slowest) = (took[took.len() * 99 / 100], took[took.len() - 1]);
        assert_eq!(halves.map(Result::unwrap).concat(), [""; 0]);
        println!("/health took {most:?} and at most {slowest:?}, the server {} MB", largest >> 20);
        assert!(largest < 200 << 20, "{largest}");
        assert!(slowest < Duration::from_millis(100), "{slowest:?}");
    });
    assert_eq!(service.sql("select count(*) as n from many").is(200).tree()[0]["n"], 8192);
    // Those that wait for the next query.
    let children = children_of(std::process::id());
    assert!(children.len() <= 2, "{children:?}");
}

/// Asks, and takes what comes. What is wrong with it.
fn explode(service: &Service, sql: &str) -> Option<String> {
    let begun = Instant::now();
    let status = service.status(sql);
    let took = begun.elapsed();
    let is_known = ["200", "400", "422", "503"].iter().any(|known| status.ends_with(known));
    let is_good = is_known && took < TIME + Duration::from_secs(1);
    (!is_good).then(|| format!("{status} after {took:?}: {}", &sql[..sql.len().min(100)]))
}

/// How long `/health` takes.
fn health(service: &Service) -> Duration {
    let begun = Instant::now();
    service.get("/health").is(200);
    begun.elapsed()
}

/// How long `/health` took each time, and the most memory of the server, until something is over.
fn watch(service: &Service, is_over: &AtomicBool) -> (Vec<Duration>, u64) {
    let (mut took, mut largest) = (Vec::new(), 0);
    while !is_over.load(Ordering::Relaxed) {
        took.push(health(service));
        largest = largest.max(resident());
        std::thread::sleep(Duration::from_millis(10));
    }
    (took, largest)
}
