//! Tables in each other, with conditions, orders and pages for each, against a plain model.

use crate::common::{Random, Service};
use serde_json::{Value, json};
use std::fmt::Write as _;

const PEOPLE: i64 = 12;
const POSTS: i64 = 40;

/// A row of `posts`: its number, who wrote it, and a value.
#[derive(Clone, Copy)]
struct Post {
    id: i64,
    author: Option<i64>,
    n: Option<i64>,
}

/// Conditions, order and a page, as a request has them and as they are meant.
#[derive(Default)]
struct Part {
    parameters: String,
    conditions: Vec<(&'static str, i64)>,
    is_descending: bool,
    offset: usize,
    limit: Option<usize>,
}

impl Part {
    /// `before` is what stands before the names of parameters.
    fn new(random: &mut Random, before: &str) -> Self {
        let mut part = Self::default();
        for _ in 0..random.below(3) {
            let operator = random.of(&["eq", "neq", "gt", "lte", "in", "isdistinct"]);
            let value = random.below(6) as i64;
            let shown = if operator == "in" { format!("({value},77)") } else { value.to_string() };
            part.conditions.push((operator, value));
            match random.below(3) {
                0 => write!(part.parameters, "&{before}or=(n.{operator}.{shown},and(n.eq.1,n.eq.2))"),
                _ => write!(part.parameters, "&{before}n={operator}.{shown}"),
            }
            .unwrap();
        }
        part.is_descending = random.below(2) == 0;
        let direction = if part.is_descending { "desc" } else { "asc" };
        write!(part.parameters, "&{before}order=id.{direction}").unwrap();
        if random.below(2) == 0 {
            part.limit = Some(random.below(4));
            write!(part.parameters, "&{before}limit={}", part.limit.unwrap()).unwrap();
        }
        if random.below(3) == 0 {
            part.offset = random.below(3);
            write!(part.parameters, "&{before}offset={}", part.offset).unwrap();
        }
        part
    }

    fn holds(&self, n: Option<i64>) -> bool {
        self.conditions.iter().all(|(operator, value)| match (*operator, n) {
            ("isdistinct", n) => n != Some(*value),
            (_, None) => false,
            ("eq" | "in", Some(n)) => n == *value,
            ("neq", Some(n)) => n != *value,
            ("gt", Some(n)) => n > *value,
            (_, Some(n)) => n <= *value,
        })
    }

    fn page<T>(&self, mut rows: Vec<T>) -> Vec<T> {
        if self.is_descending {
            rows.reverse();
        }
        rows.into_iter().skip(self.offset).take(self.limit.unwrap_or(usize::MAX)).collect()
    }
}

#[test]
fn tables_in_tables_with_conditions_are_as_a_plain_model_has_them() {
    let mut random = Random(42);
    let mut number = |most: usize| (random.below(5) > 0).then(|| random.below(most) as i64);
    let people: Vec<(i64, Option<i64>)> = (1..=PEOPLE).map(|id| (id, number(6))).collect();
    let posts: Vec<Post> =
        (1..=POSTS).map(|id| Post { id, author: number(PEOPLE as usize - 2).map(|at| at + 1), n: number(6) }).collect();
    let mut sql = "create table people (id integer primary key, n integer);
        create table posts (id integer primary key, author integer references people (id), n integer);"
        .to_owned();
    let shown = |value: Option<i64>| value.map_or("null".to_owned(), |value| value.to_string());
    for (id, n) in &people {
        write!(sql, "insert into people values ({id}, {});", shown(*n)).unwrap();
    }
    for post in &posts {
        write!(sql, "insert into posts values ({}, {}, {});", post.id, shown(post.author), shown(post.n)).unwrap();
    }
    let service = Service::with(&sql, |_| ());
    let mut random = Random(43);
    for _ in 0..600 {
        let (own, within) = (Part::new(&mut random, ""), Part::new(&mut random, "posts."));
        // Whether there must be a post: no condition, one, none.
        let must = random.of(&[None, None, Some(true), Some(false)]);
        let counts = random.below(4) == 0;
        let inner = if must == Some(true) && random.below(2) == 0 { "!inner" } else { "" };
        let there = match must {
            Some(true) if inner.is_empty() => "&posts=not.is.null",
            Some(false) => "&posts=is.null",
            _ => "",
        };
        let what = if counts { "count" } else { "id,n" };
        let target = format!("/people?select=id,posts{inner}({what}){}{}{there}", own.parameters, within.parameters);
        let mut wanted = Vec::new();
        for (id, n) in &people {
            let of_it = posts.iter().filter(|post| post.author == Some(*id) && within.holds(post.n)).copied();
            let of_it: Vec<Post> = of_it.collect();
            // Rows that are not on the page are not there; a count is of all of them.
            let is_none = if counts { of_it.is_empty() } else { within.page(of_it.clone()).is_empty() };
            if own.holds(*n) && must.is_none_or(|must| must != is_none) {
                let rows = if counts {
                    // The page is one of the row with the count.
                    within.page(vec![json!({"count": of_it.len()})])
                } else {
                    within.page(of_it).iter().map(|post| json!({"id": post.id, "n": post.n})).collect()
                };
                wanted.push(json!({"id": id, "posts": rows}));
            }
        }
        let total = wanted.len();
        let wanted = own.page(wanted);
        let answer = service.send("GET", &target, &[("Prefer", "count=exact")], b"");
        if total < own.offset {
            answer.is(416);
            continue;
        }
        let answer = if answer.status == 206 { answer } else { answer.is(200) };
        let rows: Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(rows, Value::from(wanted), "{target}");
        let counted = answer.header("content-range").unwrap().rsplit('/').next().unwrap().to_owned();
        assert_eq!(counted, total.to_string(), "{target}");
        // The other way round: a condition on the one row that a key leads to.
        let target =
            format!("/posts?select=id,author!inner(id,n){}&order=id", within.parameters.replace("posts.", "author."));
        let target = target.split('&').filter(|part| !part.contains("limit=") && !part.contains("offset="));
        let target = target.collect::<Vec<_>>().join("&");
        let with_author = posts.iter().filter_map(|post| {
            let (id, n) = people.iter().find(|(id, _)| Some(*id) == post.author)?;
            within.holds(*n).then(|| json!({"id": post.id, "author": {"id": id, "n": n}}))
        });
        let wanted: Vec<Value> = with_author.collect();
        let rows: Value = serde_json::from_slice(&service.get(&target).is(200).body).unwrap();
        assert_eq!(rows, Value::from(wanted), "{target}");
    }
}

/// Tables and aliases may have the names of parameters.
#[test]
fn names_of_tables_in_brackets_take_no_parameters_of_the_request() {
    let sql = "create table c (id integer primary key);
        create table \"order\" (id integer primary key, c integer references c (id));
        create table \"limit\" (id integer primary key, c integer references c (id));
        create table post (id integer primary key, c integer references c (id));
        create table posts (id integer primary key, c integer references c (id));
        insert into c values (1), (2), (3);
        insert into \"order\" values (1, 1), (2, 1), (3, 2);
        insert into post values (1, 1), (2, 2);
        insert into posts values (10, 1), (20, 1);";
    let service = Service::with(sql, |settings| settings.write = true);
    for (target, wanted) in [
        ("/c?select=id,order(id)&order=id.desc&limit=1", json!([{"id": 3, "order": []}])),
        ("/c?select=id,order(id)&order.id=gt.1&order.order=id.desc&id=eq.1", json!([{"id": 1, "order": [{"id": 2}]}])),
        ("/c?select=id,limit(id)&limit=1", json!([{"id": 1, "limit": []}])),
        ("/c?select=id,or:post(id)&or=(id.eq.2)", json!([{"id": 2, "or": [{"id": 2}]}])),
        (
            "/c?select=post(id),posts(id)&posts.id=gt.10&post.id=eq.1&id=eq.1",
            json!([{"post": [{"id": 1}], "posts": [{"id": 20}]}]),
        ),
        (
            "/c?select=a:posts(id),b:posts(id)&a.id=eq.10&b.id=eq.20&id=eq.1",
            json!([{"a": [{"id": 10}], "b": [{"id": 20}]}]),
        ),
        ("/c?select=id,posts!inner(id)&posts.offset=1", json!([{"id": 1, "posts": [{"id": 20}]}])),
        ("/c?select=id,posts(id)&posts=is.null&posts.limit=0&order=id.asc&limit=1", json!([{"id": 1, "posts": []}])),
    ] {
        let rows: Value = serde_json::from_slice(&service.get(target).is(200).body).unwrap();
        assert_eq!(rows, wanted, "{target}");
    }
    for (target, words) in [
        ("/c?select=id,posts(id)&posts=is.null&posts=not.is.null", "posts twice"),
        ("/c?select=id,posts(id)&posts=eq.1", "posts is a table in brackets"),
        ("/c?select=id,posts(id,id)", "\"id\" twice"),
        ("/c?select=id,posts(id,c(id),c(id))", "\"c\" twice"),
    ] {
        assert!(service.get(target).is(400).text().replace("\\\"", "\"").contains(words), "{target}");
    }
    // What SQLite finds at the end of a statement is an error of that statement, also where rows come back.
    for prefer in [&[][..], &[("Prefer", "return=representation")]] {
        let answer = service.send("DELETE", "/c?id=eq.1", prefer, b"").is(409);
        assert!(answer.text().contains("23503"), "{}", answer.text());
    }
}
