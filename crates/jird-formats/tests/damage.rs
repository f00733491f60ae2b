//! CSV and databases that were valid and then damaged: rows or an error, and never a panic, much memory or much time.
//! Arrow and Parquet have this next to their other tests.
#![cfg(all(feature = "csv", feature = "sqlite", feature = "arrow"))]

mod same;

use jird::event::{JsonSink, Source};
use jird_formats::sqlite::rusqlite::Connection;
use jird_formats::sqlite::{SqliteQuery, TableInfo, open_read_only, tables_and_views};
use jird_formats::{CsvSource, Dialect};
use std::panic::catch_unwind;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A generator of small numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

/// Changes a text: bytes that mean something are put in, others left out, flipped, or said again.
fn mutate(text: &[u8], random: &mut Random) -> Vec<u8> {
    const MARKS: &[&[u8]] =
        &[b"\"", b",", b"\n", b"\r", b"\r\n", b"\"\"", b"\0", b"\xff", b"\xef\xbb\xbf", b"\xe2\x82", b"1e999", b" "];
    let mut text = text.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(text.len());
        let end = (at + random.below(20)).min(text.len());
        match random.below(5) {
            0 => drop(text.splice(at..at, MARKS[random.below(MARKS.len())].iter().copied())),
            1 => drop(text.drain(at..end)),
            2 => text[at] ^= 1 << random.below(8),
            3 => drop(text.splice(at..at, text[at..end].to_vec())),
            _ => text.truncate(end),
        }
        if text.is_empty() {
            break;
        }
    }
    text
}

/// How many records come before the end or an error that nothing comes after; errors of records are passed by.
fn rows(mut source: impl Source, rows_max: usize) -> usize {
    let mut lines = JsonSink::new(std::io::sink());
    let (mut rows, mut bad) = (0, 0);
    loop {
        match source.send_record(&mut lines) {
            Ok(true) => rows += 1,
            Ok(false) => return rows,
            Err(_) if bad > rows_max => return rows,
            Err(_) => bad += 1,
        }
        assert!(rows <= rows_max, "more rows than there can be");
    }
}

#[test]
fn damaged_csv_gives_rows_or_errors() {
    let valid = [
        "id,name,note\n1,\"Tor, Ann\",\n2,\"say \"\"hi\"\"\",1.50\n-3e5,žluť,\"two\nlines\"\n".repeat(5),
        "a\r\n\"\"\r\nx\r\n\r\n\"\r\n\"\r\n".repeat(7),
        format!("{}\n{}\n", (0..300).map(|n| format!("c{n}")).collect::<Vec<_>>().join(","), ",".repeat(299)),
    ];
    let mut random = Random(5);
    let begun = Instant::now();
    let mut all = 0;
    for round in 0..3000 {
        let text = mutate(valid[round % valid.len()].as_bytes(), &mut random);
        let dialects = [Dialect::default(), Dialect { escape: Some(b'\\'), comment: Some(b'#'), ..Dialect::tsv() }];
        let chunk_bytes = [1, 3, 64, 1 << 16][random.below(4)];
        for dialect in dialects {
            let counts = catch_unwind(|| {
                let source = || CsvSource::with_dialect(&text[..], dialect).chunk_bytes(chunk_bytes);
                let lines_max = text.len() + 1;
                [source(), source().typed(), source().flexible(), source().record_bytes_max(30)]
                    .map(|source| rows(source, lines_max))
            });
            let counts = counts.unwrap_or_else(|_| panic!("round {round}: {}", text.escape_ascii()));
            assert_eq!(counts[0], counts[1], "types make no records: {}", text.escape_ascii());
            all += counts[0];
        }
    }
    assert!(all > 10_000, "{all} rows are too few to mean something");
    assert!(begun.elapsed() < Duration::from_mins(1) && same::peak_megabytes() < 500);
}

/// Everything a small database can have: several pages in several levels, an index, long texts, and what is declared.
fn database() -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("damage.db");
    let _ = std::fs::remove_file(&path);
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch(
        "pragma page_size = 512;
         create table plain (id integer primary key, text text not null, real real, any, json json text);
         create index by_text on plain (text);
         create table keyed (a text, b int, c as (a || b), primary key (a, b)) without rowid;
         create view both as select plain.id, keyed.c from plain join keyed on plain.id = keyed.b;
         with recursive n (n) as (select 1 union all select n + 1 from n where n < 300)
         insert into plain select n, 'text ' || n, n / 8.0, case n % 3 when 0 then x'00ff' when 1 then 'any' end, json_array(n, 'x') from n;
         insert into keyed select text, id from plain;
         insert into plain (text, any) values (printf('%.5000c', 'x'), zeroblob(3000));",
    )
    .unwrap();
    drop(conn);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    bytes
}

/// Reads all that a database has; how many rows came.
fn read_all(path: &PathBuf) -> usize {
    let Ok(conn) = open_read_only(path) else { return 0 };
    let Ok(names) = tables_and_views(&conn) else { return 0 };
    let read = |name: &String| {
        let _ = TableInfo::of(&conn, name);
        let query = SqliteQuery::table(&conn, name).map(SqliteQuery::as_declared);
        // Pages that are listed twice are read twice.
        query.map_or(0, |mut query| rows(query.source(), 100_000))
    };
    names.iter().map(read).sum()
}

#[test]
fn damaged_databases_give_rows_or_errors() {
    let good = database();
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("damaged.db");
    std::fs::write(&path, &good).unwrap();
    let all = read_all(&path);
    assert!(all > 800, "{all}");
    let begun = Instant::now();
    let mut random = Random(7);
    let (mut fewer, mut some) = (0, 0);
    for round in 0..2000 {
        let mut damaged = good.clone();
        for _ in 0..=random.below(3) {
            // The header, the beginnings of pages, and anywhere.
            let page = random.below(good.len() / 512) * 512;
            let at = [random.below(100), page + random.below(12), random.below(good.len())][random.below(3)];
            match random.below(4) {
                0 => damaged[at] ^= 1 << random.below(8),
                1 => damaged[at] = [0, 1, 0x7f, 0x80, 0xff, 0x0d, 0x05][random.below(7)],
                2 => damaged[at..].iter_mut().take(4).for_each(|byte| *byte = 0xff),
                _ => damaged.copy_within(page..page + 512, random.below(good.len() / 512) * 512),
            }
        }
        if random.below(20) == 0 {
            damaged.truncate(random.below(damaged.len()));
        }
        std::fs::write(&path, &damaged).unwrap();
        let read = catch_unwind(|| read_all(&path)).unwrap_or_else(|_| panic!("round {round}"));
        fewer += usize::from(read < all);
        some += usize::from(read > 0);
    }
    std::fs::remove_file(path).unwrap();
    assert!(fewer > 300 && some > 300, "{fewer} of the databases gave less, {some} gave something");
    assert!(begun.elapsed() < Duration::from_mins(1) && same::peak_megabytes() < 500);
}
