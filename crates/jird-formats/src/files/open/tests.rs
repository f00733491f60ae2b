#![cfg(all(unix, feature = "sqlite"))]

use super::*;
use rusqlite::Connection;
use std::io::Read;

/// States in which connections have locks: a journal mode, and what is done.
const STATES: [(&str, &str); 6] = [
    ("delete", "begin; select * from t"),
    ("delete", "begin immediate; insert into t values (2)"),
    ("delete", "begin exclusive; insert into t values (2)"),
    ("wal", "select * from t"),
    ("wal", "begin; select * from t"),
    ("wal", "begin immediate; insert into t values (2)"),
];

fn database(path: &Path, (mode, held): (&str, &str)) -> Connection {
    let conn = Connection::open(path).unwrap();
    conn.query_row(&format!("pragma journal_mode = {mode}"), [], |_| Ok(())).unwrap();
    conn.execute_batch("create table t (a); insert into t values (1)").unwrap();
    conn.execute_batch(held).unwrap();
    conn
}

#[test]
fn a_database_keeps_its_locks_whatever_its_name_and_state() {
    let folder = tempfile::tempdir().unwrap();
    for (index, state) in STATES.into_iter().enumerate() {
        let names = ["t.db", "t", "t.json", "t.ndjson", "t.csv.gz", "a b%?#&.x", "memory:", "file:t", "é"];
        for (number, name) in names.into_iter().enumerate() {
            let folder = folder.path().join(format!("{index}.{number}"));
            fs::create_dir_all(&folder).unwrap();
            let (path, link, other) = (folder.join(name), folder.join("link"), folder.join("other name"));
            let _conn = database(&path, state);
            std::os::unix::fs::symlink(&path, &link).unwrap();
            fs::hard_link(&path, &other).unwrap();
            let before = process_locks::of(&path);
            assert!(!before.is_empty() || !cfg!(target_os = "linux"), "{state:?}");
            for path in [&path, &link, &other] {
                assert!(matches!(open(path), Ok(Local::Database)), "{state:?} {path:?}");
            }
            // Also if it was opened before it was known to be a database.
            assert!(matches!(Local::of(File::open(&path).unwrap()), Ok(Local::Database)));
            assert!(matches!(Local::of(File::open(&path).unwrap()), Ok(Local::Database)));
            assert!(matches!(open(&other), Ok(Local::Database)));
            assert_eq!(process_locks::of(&path), before, "{state:?} {path:?}");
        }
    }
}

#[test]
fn an_empty_database_keeps_its_locks_and_is_read_as_an_empty_file() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["t.db", "t", "t.x"] {
        let path = folder.path().join(name);
        let conn = Connection::open(&path).unwrap();
        conn.execute_batch("begin immediate; create table t (a)").unwrap();
        let before = process_locks::of(&path);
        for _ in 0..3 {
            let mut text = Vec::new();
            open(&path).unwrap().file().unwrap().read_to_end(&mut text).unwrap();
            assert_eq!((text.len(), process_locks::of(&path)), (0, before.clone()), "{name}");
        }
        conn.execute_batch("commit; begin; select * from t").unwrap();
        let before = process_locks::of(&path);
        assert!(matches!(open(&path), Ok(Local::Database)));
        assert_eq!(process_locks::of(&path), before);
    }
    // The same file can come to hold anything else.
    let path = folder.path().join("log");
    for text in ["", "{}\n", "{}\n{}\n"] {
        fs::write(&path, text).unwrap();
        let mut read = String::new();
        open(&path).unwrap().file().unwrap().read_to_string(&mut read).unwrap();
        assert_eq!(read, text);
    }
}

#[test]
fn files_beside_a_database_are_sqlites_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let _conn = database(&path, STATES[4]);
    let beside = |suffix| folder.path().join(format!("t.db{suffix}"));
    let before = process_locks::of(beside("-shm"));
    assert!(!before.is_empty() || !cfg!(target_os = "linux"));
    std::os::unix::fs::symlink(beside("-shm"), folder.path().join("link")).unwrap();
    for path in [beside("-shm"), beside("-wal"), folder.path().join("link")] {
        assert!(open(&path).unwrap_err().to_string().contains("belongs to the database"), "{path:?}");
    }
    assert_eq!(process_locks::of(beside("-shm")), before);
    // Without a database, it is a name as any other.
    for name in ["a-wal", "a-shm", "b-journal", "b"] {
        fs::write(folder.path().join(name), "{}").unwrap();
        assert!(matches!(open(&folder.path().join(name)), Ok(Local::File(_))), "{name}");
    }
}

#[test]
fn other_files_are_opened_and_pipes_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        [b"{\"a\":1}\n".to_vec(), b"SQLite".to_vec(), b"SQLite format 3 ".to_vec(), vec![b' '; 5000], vec![0xff; 4096]];
    for (index, text) in text.iter().enumerate() {
        let path = folder.path().join(index.to_string());
        fs::write(&path, text).unwrap();
        let mut read = Vec::new();
        open(&path).unwrap().file().unwrap().read_to_end(&mut read).unwrap();
        assert_eq!(&read, text);
    }
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    std::io::Write::write_all(&mut writer, b"SQLite format 3\0").unwrap();
    drop(writer);
    let pipe = File::from(std::os::fd::OwnedFd::from(reader.try_clone().unwrap()));
    assert!(matches!(Local::of(pipe), Ok(Local::File(_))));
    let mut read = Vec::new();
    reader.read_to_end(&mut read).unwrap();
    assert_eq!(read, b"SQLite format 3\0");
    assert_eq!(open(&folder.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
}
