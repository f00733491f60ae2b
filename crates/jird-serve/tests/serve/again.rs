//! A row that is read and put back as it was read is the row that it was, whatever types its values have.

use crate::common::Service;
use jird_formats::sqlite::rusqlite::Connection;
use jird_formats::sqlite::rusqlite::types::Value;

const TYPES: [&str; 12] = [
    "",
    "blob",
    "text",
    "integer",
    "real",
    "numeric",
    "boolean",
    "json",
    "date",
    "varchar(10)",
    "json text",
    "blob not null",
];

/// A table with a column of each type, one that is computed, and rows of all values that the columns can hold.
fn tables() -> String {
    let columns: Vec<_> = TYPES.iter().enumerate().map(|(number, kind)| format!("c{number} {kind}")).collect();
    format!(
        "create table t (id integer primary key, {}, computed generated always as (typeof(c1)));
         create table strict_t (id integer primary key, a any, b blob, i int, r real, x text) strict;",
        columns.join(", ")
    )
}

fn values() -> Vec<Value> {
    let mut values: Vec<Value> = vec![Value::Null];
    values.extend([0, 1, 2, -1, i64::MAX, i64::MIN, (1 << 53) + 1].map(Value::Integer));
    values.extend([0.0, -0.0, 1.0, 3.0, 0.1, 1e300, 5e-324, 1e16, f64::INFINITY, f64::NEG_INFINITY].map(Value::Real));
    let texts = [
        "",
        "AAECA/8=",
        "AP9=",
        "abcd",
        "12",
        "1.50",
        "1e3",
        "true",
        "null",
        "{\"a\": 1.50, \"b\":[ ]}",
        "[1,\n2]",
        "\"x\"",
        "Infinity",
        "2024-01-01",
        "a\0b",
        "Ärger 🎉",
        " 1 ",
        "0x10",
    ];
    values.extend(texts.map(|text| Value::Text(text.to_owned())));
    values.extend([vec![], vec![0], vec![0, 255], b"text".to_vec(), vec![0xc3]].map(Value::Blob));
    values
}

/// The types and bytes of all rows, as SQLite has them.
fn state(conn: &Connection) -> Vec<String> {
    let mut all = Vec::new();
    for table in ["t", "strict_t"] {
        let mut statement = conn.prepare(&format!("select * from {table} order by id")).unwrap();
        let width = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let told = |column| match row.get::<_, Value>(column) {
                Ok(Value::Real(value)) => format!("real {:x}", value.to_bits()),
                Ok(value) => format!("{value:?}"),
                Err(error) => error.to_string(),
            };
            all.push(format!("{table}: {}", (0..width).map(told).collect::<Vec<_>>().join(", ")));
        }
    }
    all
}

#[test]
fn rows_that_are_put_back_stay_as_they_are() {
    let service = Service::with(&tables(), |settings| settings.write = true);
    let conn = service.database();
    let columns: Vec<_> = (0..TYPES.len()).map(|number| format!("c{number}")).collect();
    let marks: Vec<_> = (1..=TYPES.len()).map(|number| format!("?{number}")).collect();
    let insert = format!("insert into t ({}) values ({})", columns.join(", "), marks.join(", "));
    for value in values() {
        let same = vec![if value == Value::Null { Value::Integer(1) } else { value.clone() }; TYPES.len()];
        conn.execute(&insert, jird_formats::sqlite::rusqlite::params_from_iter(same)).unwrap();
        // What a column of a strict table refuses is not there.
        for column in ["a", "b", "i", "r", "x"] {
            let _ = conn.execute(&format!("insert into strict_t ({column}) values (?)"), [&value]);
        }
    }
    let before = state(&conn);
    assert!(before.len() > 100, "{}", before.len());
    for table in ["t", "strict_t"] {
        let ids: Vec<i64> = conn
            .prepare(&format!("select id from {table}"))
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        for id in ids {
            let target = format!("/{table}/{id}");
            let row = service.get(&target).is(200).text().to_owned();
            service.json("PUT", &target, &row).is(204);
            service.json("PATCH", &target, &row).is(204);
            service.json("PATCH", &format!("/{table}?id=eq.{id}"), &row).is(204);
        }
    }
    assert_eq!(state(&conn), before);
    // Clients that keep doubles write numbers in other ways.
    conn.execute_batch("insert into t (id, c0, c3, c4, c11) values (1000, 3.0, 7, 1e21, x'00')").unwrap();
    let before = state(&conn);
    service.json("PATCH", "/t/1000", "{\"c0\":3,\"c3\":7.0,\"c4\":1e+21,\"c11\":\"AA==\"}").is(204);
    assert_eq!(state(&conn), before);
}

#[test]
fn a_string_for_a_column_of_blobs_is_base64_or_is_refused() {
    let sql = "create table f (id integer primary key, b blob, free, n integer); insert into f values (1, x'00ff', x'00ff', 5);";
    let service = Service::with(sql, |settings| settings.write = true);
    let conn = service.database();
    let kinds = |id: i64| {
        let sql = "select typeof(b) || ' ' || hex(b) || ' ' || typeof(free) || ' ' || typeof(n) from f where id = ?";
        conn.query_row(sql, [id], |row| row.get::<_, String>(0)).unwrap()
    };
    service.json("PATCH", "/f/1", "{\"b\":\"AQID\"}").is(204);
    assert_eq!(kinds(1), "blob 010203 blob integer");
    service.json("POST", "/f", "{\"id\":2,\"b\":\"AP8=\",\"free\":\"AP8=\",\"n\":1}").is(201);
    assert_eq!(kinds(2), "blob 00FF text integer");
    service.json("POST", "/f", "[{\"id\":3,\"b\":\"\"},{\"id\":4,\"b\":\"AQID\"}]").is(201);
    service.json("PUT", "/f/5", "{\"b\":\"AQID\",\"free\":null,\"n\":null}").is(201);
    assert_eq!((kinds(3), kinds(4)), ("blob  null null".to_owned(), "blob 010203 null null".to_owned()));
    for wrong in ["a text", "AP9=", "AP8", "AP8=\\n"] {
        let body = format!("{{\"id\":9,\"b\":\"{wrong}\"}}");
        for answer in [service.json("POST", "/f", &body), service.json("PATCH", "/f/1", &body.replace("\"id\":9,", ""))]
        {
            assert!(answer.is(422).text().contains("base64"), "{wrong}");
        }
        service.json("PUT", "/f/6", &format!("{{\"b\":\"{wrong}\",\"free\":1,\"n\":1}}")).is(422);
    }
    service.json("PATCH", "/f/1", "{\"n\":\"12\"}").is(422);
    assert_eq!(kinds(1), "blob 010203 blob integer");
    // Several rows at once.
    service.json("PATCH", "/f?id=gt.1", "{\"b\":\"/w==\"}").is(204);
    assert_eq!(kinds(4), "blob FF null null");
}
