//! `jird convert` from SQLite to SQLite: tables keep their definitions, as SQLite itself sees them.
#![cfg(feature = "convert")]

use crate::folder::{Folder, words};
use jird_formats::sqlite::rusqlite::types::Value;
use jird_formats::sqlite::rusqlite::{Connection, OpenFlags, Row};

/// Children come before the parents that they refer to.
const SHOP: &str = "
    create table item (
        id integer primary key autoincrement,
        code varchar(10) not null unique collate nocase,
        price decimal(10, 2) default 1.5 check (price >= 0),
        shop text references shop (name) on delete cascade,
        label text generated always as (code || '!') stored,
        doc json text,
        free
    );
    create table shop (name text primary key, since date) without rowid;
    create table exact (n int, t any) strict;
    create index by_price on item (price desc) where price > 0;
    create unique index by_shop on item (shop, code);
    create view cheap as select * from item where price < 2;
    create trigger counted after insert on item begin update shop set since = '2000-01-01'; end;
    insert into shop values ('A', '2020-02-29');
    insert into item (id, code, price, shop, doc, free) values
        (1, 'x', '2.50', 'A', '{ \"a\" : \"\\u00e9\" }', '12'),
        (7, 'y', 9e999, null, 'not JSON', x'00ff'),
        (9, 'z', 3, 'A', null, cast(x'61ff' as text));
    insert into item (id, code) values (100, 'gone');
    delete from item where id = 100;
    insert into exact values (1, '01'), (2, x'01');
";

fn shop(name: &str) -> Folder {
    let folder = Folder::new(name);
    let connection = Connection::open(folder.0.join("shop.db")).unwrap();
    connection.pragma_update(None, "foreign_keys", false).unwrap();
    connection.execute_batch(&format!("{SHOP} update shop set since = '2020-02-29'")).unwrap();
    folder
}

fn open(folder: &Folder, name: &str) -> Connection {
    Connection::open_with_flags(folder.0.join(name), OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap()
}

/// All rows of a query.
fn rows(connection: &Connection, sql: &str) -> Vec<Vec<Value>> {
    let mut statement = connection.prepare(sql).unwrap();
    let columns = statement.column_count();
    let row = |row: &Row<'_>| (0..columns).map(|column| row.get(column)).collect();
    statement.query_map([], row).unwrap().map(Result::unwrap).collect()
}

/// Rows of the schema, except those that are left out.
const SCHEMA: &str =
    "select type, name, tbl_name, sql from sqlite_schema where type in ('table', 'index') order by type, name";

/// Texts that are not UTF-8 are compared as blobs.
const ITEMS: &str = "select id, code, typeof(price), cast(price as text), shop, label, doc, typeof(free), \
                     cast(free as blob) from item order by id";

#[test]
fn tables_keep_their_definitions_values_and_indexes() {
    let folder = shop("databases");
    let output = folder.run(&["shop.db", "copy.db"]);
    assert_eq!(output.status.code(), Some(0));
    let wanted = "jird: note: shop.db: views are not copied: \"cheap\"\n\
                  jird: note: shop.db: \"counted\" of the table \"item\" is not copied\n";
    assert_eq!(words(&output), wanted);
    let [from, to] = ["shop.db", "copy.db"].map(|name| open(&folder, name));
    for sql in
        [SCHEMA, ITEMS, "select * from shop", "select n, typeof(t), t from exact", "select * from sqlite_sequence"]
    {
        assert_eq!(rows(&from, sql), rows(&to, sql), "{sql}");
    }
    assert_eq!(rows(&to, "pragma integrity_check"), [[Value::Text("ok".to_owned())]]);
    assert_eq!(rows(&to, "pragma foreign_key_check"), Vec::<Vec<Value>>::new());
    for (sql, rule) in [
        ("insert into item (code) values ('X')", "UNIQUE"),
        ("insert into item (code) values (null)", "NOT NULL"),
        ("insert into item (code, price) values ('w', -1)", "CHECK"),
        ("insert into item (code, shop) values ('w', 'none')", "FOREIGN KEY"),
        ("insert into exact values ('x', 1)", "INT column"),
    ] {
        let error = to.execute(sql, []).unwrap_err().to_string();
        assert!(error.contains(rule), "{sql}: {error}");
    }
    to.execute("insert into item (code) values ('next')", []).unwrap();
    assert_eq!(to.last_insert_rowid(), 101);
}

#[test]
fn some_rows_of_one_table_keep_its_definition() {
    let folder = shop("databases-one");
    let said = words(&folder.run(&["--table", "ITEM", "--limit", "2", "shop.db", "one.db"]));
    assert_eq!(said, "jird: note: shop.db: \"counted\" of the table \"ITEM\" is not copied\n");
    let to = open(&folder, "one.db");
    assert_eq!(rows(&to, "select group_concat(id) from item"), [[Value::Text("1,7".to_owned())]]);
    assert_eq!(rows(&to, "select count(*) from pragma_index_list('item')"), [[Value::Integer(3)]]);
    drop(to);
    // There is a table already; it is replaced on request, with its indexes.
    let exists = folder.run(&["--table", "item", "shop.db", "one.db"]);
    assert_eq!(exists.status.code(), Some(2));
    assert!(words(&exists).contains("--replace"), "{}", words(&exists));
    folder.run(&["--table", "item", "--replace", "--commit-every", "2", "shop.db", "one.db"]);
    assert_eq!(rows(&open(&folder, "one.db"), "select count(*) from item where price > 0"), [[Value::Integer(3)]]);
}

#[test]
fn selected_columns_are_a_table_of_their_own() {
    let folder = shop("databases-select");
    folder.run(&["--table", "item", "--select", "id,code", "shop.db", "some.db"]);
    let sql = rows(&open(&folder, "some.db"), "select sql from sqlite_schema");
    assert_eq!(sql, [[Value::Text("CREATE TABLE \"item\" (\"id\" INTEGER, \"code\" TEXT)".to_owned())]]);
}

#[test]
fn a_definition_that_needs_more_than_sqlite_is_told_and_its_rows_are_copied() {
    let folder = Folder::new("databases-collation");
    let connection = Connection::open(folder.0.join("t.db")).unwrap();
    connection
        .execute_batch(
            "create table t (a text primary key collate nocase); insert into t values ('x');
             pragma writable_schema = on;
             update sqlite_schema set sql = replace(sql, 'nocase', 'slovak')",
        )
        .unwrap();
    drop(connection);
    let said = words(&folder.run(&["t.db", "copy.db"]));
    assert!(said.contains("no such collation sequence: slovak; only its rows are copied"), "{said}");
    assert_eq!(rows(&open(&folder, "copy.db"), "select a from t"), [[Value::Text("x".to_owned())]]);
}

#[test]
fn what_a_damaged_schema_has_after_its_statement_is_not_run() {
    let folder = Folder::new("databases-damaged");
    let connection = Connection::open(folder.0.join("t.db")).unwrap();
    connection
        .execute_batch(
            "create table t (a); insert into t values (1);
             pragma writable_schema = on;
             update sqlite_schema set sql = sql || '; create table intruder (a)'",
        )
        .unwrap();
    drop(connection);
    let output = folder.run(&["t.db", "copy.db"]);
    if output.status.success() {
        let tables = rows(&open(&folder, "copy.db"), "select name from sqlite_schema");
        assert_eq!(tables, [[Value::Text("t".to_owned())]], "{}", words(&output));
    }
}
