//! What goes wrong: nothing is half done, and the message names the cause.

use crate::{fill, folder, lines, made, memory, schema, try_lines};
use jird::event::{self, Failure, JsonSource};
use jird_formats::sqlite::rusqlite::Connection;
use jird_formats::sqlite::rusqlite::config::DbConfig;
use jird_formats::sqlite::{
    Inserter, SqliteQuery, SqliteSink, TableInfo, open, open_read_only, tables, tables_and_views,
};
use jird_formats::{Error, ErrorKind};
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::time::Duration;

#[test]
fn all_rows_are_written_or_none() {
    let before = "create table t (a unique, b); insert into t values (0, 0)";
    let count = |conn: &Connection| lines(conn, "select count(*) as n from t");
    let text = (1..=1000).map(|index| format!("{{\"a\":{index},\"c\":1}}")).collect::<Vec<String>>().concat();

    // A row that is refused; which one, whatever the statements' length.
    for rows in [1, 10, 64, 1001] {
        let conn = made(before);
        let error = fill(
            &format!("{text}{{\"a\":\"x\"}}{{\"a\":500}}{text}"),
            SqliteSink::append(&conn, "t").rows_per_statement(rows),
        );
        let message = error.unwrap_err().to_string();
        assert!(
            message.contains("UNIQUE constraint failed: t.a, in record 1002 at line 1 (byte "),
            "{rows}: {message}"
        );
        assert_eq!(count(&conn), "{\"n\":1}\n");
        assert_eq!(schema(&conn, "t"), "CREATE TABLE t (a unique, b)");
    }

    // The source breaks off, and the caller does not finish.
    let conn = made(before);
    let mut rows = SqliteSink::append(&conn, "t").into_rows();
    let failed = event::copy(&mut JsonSource::from_slice(format!("{text}{{").as_bytes()), &mut rows);
    assert!(matches!(failed, Err(Failure::Source(_))));
    assert!(!conn.is_autocommit());
    drop(rows);
    assert!(conn.is_autocommit());
    assert_eq!(count(&conn), "{\"n\":1}\n");
    assert_eq!(schema(&conn, "t"), "CREATE TABLE t (a unique, b)");

    // SQLite itself rolls back: what comes then is not written outside of the transaction.
    let conn = made(before);
    conn.execute_batch("create trigger no before insert on t when new.a = 500 begin select raise(rollback, 'no'); end")
        .unwrap();
    for rows in [1, 64] {
        let error = fill(&text, SqliteSink::append(&conn, "t").rows_per_statement(rows)).unwrap_err();
        assert_eq!((error.kind(), count(&conn).as_str()), (ErrorKind::Constraint, "{\"n\":1}\n"));
        let rows: Vec<_> = (1..1000).map(|a| BTreeMap::from([("a", a)])).collect();
        let mut inserter = Inserter::<BTreeMap<&str, i32>>::new(&conn, "t").unwrap();
        assert!(inserter.insert_all(&rows).is_err());
        assert_eq!(inserter.insert(&rows[0]).unwrap_err().to_string(), "the transaction was rolled back");
        assert!(inserter.finish().is_err());
        assert_eq!(count(&conn), "{\"n\":1}\n");
    }
    conn.execute_batch("drop trigger no").unwrap();

    // Within another transaction.
    conn.execute_batch("begin; insert into t values (-1, 0)").unwrap();
    assert!(fill(&format!("{text}{{\"a\":1}}"), SqliteSink::append(&conn, "t")).is_err());
    assert_eq!(count(&conn), "{\"n\":2}\n");
    fill(&text, SqliteSink::append(&conn, "t")).unwrap();
    conn.execute_batch("rollback").unwrap();
    assert_eq!(count(&conn), "{\"n\":1}\n");

    // That is what `commit_every` gives up.
    let every = SqliteSink::append(&conn, "t").commit_every(NonZeroU64::new(100).unwrap()).rows_per_statement(50);
    assert!(fill(&format!("{text}{{\"a\":1}}"), every).is_err());
    assert_eq!(count(&conn), "{\"n\":1001}\n");
}

#[test]
fn a_connection_that_defends_its_schema_leaves_the_types_out() {
    let conn = memory();
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).unwrap();
    fill("{\"a\":1}", SqliteSink::create(&conn, "t")).unwrap();
    assert_eq!(schema(&conn, "t"), "CREATE TABLE \"t\" (\"a\")");
    assert_eq!(lines(&conn, "select * from t"), "{\"a\":1}\n");
}

#[test]
fn a_lock_of_another_connection_is_an_error_and_changes_nothing() {
    let path = folder("lock").join("a.db");
    let other = open(&path).unwrap();
    other
        .execute_batch("create table t (a); insert into t values (1); begin immediate; insert into t values (2)")
        .unwrap();
    let conn = open(&path).unwrap();
    conn.busy_timeout(Duration::from_millis(50)).unwrap();
    let error = fill("{\"a\":3}", SqliteSink::append(&conn, "t")).unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (ErrorKind::Locked, "beginning to write: database is locked")
    );
    other.execute_batch("commit; begin exclusive").unwrap();
    let conn = Connection::open(&path).unwrap();
    conn.busy_timeout(Duration::from_millis(50)).unwrap();
    assert_eq!(tables(&conn).unwrap_err().kind(), ErrorKind::Locked);
    other.execute_batch("commit").unwrap();
    assert_eq!(lines(&conn, "select * from t"), "{\"a\":1}\n{\"a\":2}\n");
    fill("{\"a\":3}", SqliteSink::append(&conn, "t")).unwrap();
    assert_eq!(lines(&open_read_only(&path).unwrap(), "select * from t"), "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n");
}

#[test]
fn a_database_for_reading_is_not_written() {
    let path = folder("read").join("a.db");
    assert_eq!(open_read_only(&path).unwrap_err().kind(), ErrorKind::Io);
    assert!(!path.exists());
    fill("{\"a\":1}", SqliteSink::create(&open(&path).unwrap(), "t")).unwrap();
    let conn = open_read_only(&path).unwrap();
    let error = fill("{\"a\":1}", SqliteSink::append(&conn, "t")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ReadOnly);
    let error = fill("{\"a\":1}", SqliteSink::create(&conn, "u")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ReadOnly);
    assert_eq!(lines(&conn, "select * from t"), "{\"a\":1}\n");
}

#[test]
fn files_that_are_not_databases_are_errors() {
    let folder = folder("hostile");
    let path = folder.join("whole.db");
    let conn = open(&path).unwrap();
    let record = (0..5000)
        .map(|index| format!("{{\"id\":{index},\"text\":\"number {index}\"}}"))
        .collect::<Vec<String>>()
        .concat();
    fill(&record, SqliteSink::create(&conn, "t")).unwrap();
    conn.execute_batch("create index i on t (id)").unwrap();
    drop(conn);
    let whole = std::fs::read(&path).unwrap();

    let hostile = folder.join("hostile.db");
    // Whatever happens is an error or a result, and no panic.
    let read = |bytes: &[u8]| -> Result<(), Error> {
        std::fs::write(&hostile, bytes).unwrap();
        let conn = open_read_only(&hostile)?;
        for table in tables_and_views(&conn)? {
            TableInfo::of(&conn, &table)?;
            try_lines(&mut SqliteQuery::table(&conn, &table)?.as_declared())?;
        }
        Ok(())
    };
    read(&whole).unwrap();
    let mut random = 1_u64;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    for len in [1, 2, 99, 100, 512, 4095, 4096, 5000, whole.len() / 2, whole.len() - 1] {
        let error = read(&whole[..len]).expect_err(&format!("of {len} bytes"));
        assert_eq!(error.kind(), ErrorKind::Malformed, "{len}: {error}");
    }
    let noise: Vec<u8> = (0..20_000).map(|_| next() as u8).collect();
    assert_eq!(read(&noise).unwrap_err().kind(), ErrorKind::Malformed);
    for _ in 0..300 {
        let mut broken = whole.clone();
        for _ in 0..=next() % 20 {
            // The schema is at the beginning.
            let at = if next() % 2 == 0 { next() % 4096 } else { next() % whole.len() as u64 };
            broken[at as usize] = next() as u8;
        }
        let _ = read(&broken);
    }
    // Names that are not UTF-8.
    let at = whole.windows(6).position(|six| six == b"\"text\"").unwrap();
    let mut broken = whole.clone();
    broken[at + 2] = 0xff;
    assert_eq!(read(&broken).unwrap_err().to_string(), "a name in the schema is not UTF-8");
    let error = SqliteQuery::select(&open_read_only(&hostile).unwrap(), "select * from t").unwrap_err();
    assert_eq!(error.to_string(), "a name in the schema is not UTF-8");

    assert_eq!(open_read_only(&folder).unwrap_err().kind(), ErrorKind::Io);
    assert_eq!(open(&folder).unwrap_err().kind(), ErrorKind::Io);

    // A journal that is missing: what was committed before is there.
    let wal = folder.join("wal.db");
    let conn = open(&wal).unwrap();
    conn.execute_batch(
        "pragma journal_mode = wal; create table t (a); insert into t values (1); pragma wal_checkpoint",
    )
    .unwrap();
    conn.execute_batch("insert into t values (2)").unwrap();
    let copy = folder.join("copy.db");
    std::fs::copy(&wal, &copy).unwrap();
    let copied = open_read_only(&copy).unwrap();
    assert_eq!(lines(&copied, "select * from t"), "{\"a\":1}\n");
}
