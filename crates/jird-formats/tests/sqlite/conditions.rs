//! Rows that a condition leaves out.

use crate::{lines, made, try_lines};
use jird::Path;
use jird::record::{Comparison, Field, Like, Literal, Mismatches, Predicate};
use jird_formats::ErrorKind;
use jird_formats::sqlite::rusqlite::{Connection, params_from_iter, types::Value as Stored};
use jird_formats::sqlite::{SqliteQuery, TablePieces, quote};
use std::time::Instant;

/// The columns of the random tables: their names and definitions.
const COLUMNS: [(&str, &str); 13] = [
    ("id", "integer"),
    ("none", ""),
    ("text", "text"),
    ("int", "integer"),
    ("real", "real"),
    ("time", "datetime"),
    ("blob", "blob"),
    ("nocase", "text collate nocase"),
    ("rtrim", "varchar collate rtrim"),
    ("any nocase", "blob collate nocase"),
    ("made", "generated always as (int) virtual"),
    ("made text", "text generated always as (none) stored"),
    ("doc", "json"),
];

const NUMBERS: [&str; 32] = [
    "0",
    "1",
    "-1",
    "1.0",
    "1e0",
    "-0",
    "0.1",
    "1.5",
    "2",
    "3",
    "0.30000000000000004",
    "9007199254740991",
    "9007199254740992",
    "9007199254740993",
    "9007199254740993.0",
    "9007199254740992.5",
    "9007199254740994",
    "-9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "9223372036854776000",
    "9223372036854775000",
    "1152921504606846977",
    "1152921504606846976",
    "1152921504606847000",
    "1e400",
    "-1e400",
    "1.7976931348623157e308",
    "5e-324",
    "1e-400",
    "0.1000000000000000055511151231257827",
];

const TEXTS: [&str; 24] = [
    "",
    "a",
    "A",
    "a ",
    "ab",
    "aB",
    "b",
    "B",
    "1",
    "1.0",
    " 1",
    "1e0",
    "0x1",
    "-1",
    "9007199254740993",
    "é",
    "É",
    "z",
    "\u{ffff}",
    "😀",
    "a\0b",
    "2024-01-01",
    "YQ==",
    "null",
];

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn stored(&mut self) -> Stored {
        let number = self.of(&NUMBERS);
        match self.below(9) {
            0 => Stored::Null,
            1 | 2 => number.parse().map_or(Stored::Integer(self.below(5) as i64), Stored::Integer),
            3 | 4 => Stored::Real(number.parse().ok().filter(|n: &f64| n.is_finite()).unwrap_or(0.5)),
            5..=7 => Stored::Text(self.of(&TEXTS).to_owned()),
            _ => Stored::Blob(self.of(&TEXTS).as_bytes().to_owned()),
        }
    }

    fn literal(&mut self) -> Literal {
        match self.below(16) {
            0 => Literal::Null,
            1 => Literal::Bool(true),
            2..=8 => Literal::Number(self.of(&NUMBERS).into()),
            _ => Literal::Text(self.of(&TEXTS).into()),
        }
    }

    /// A predicate, whose slots are the columns.
    fn predicate(&mut self, depth: usize) -> Predicate {
        let slot = self.below(COLUMNS.len());
        let ops = [Comparison::Eq, Comparison::Ne, Comparison::Lt, Comparison::Le, Comparison::Gt, Comparison::Ge];
        let parts = |random: &mut Self| (0..2 + random.below(2)).map(|_| random.predicate(depth - 1)).collect();
        match self.below(if depth == 0 { 8 } else { 11 }) {
            0..=2 => Predicate::Compare { slot, op: self.of(&ops), literal: self.literal() },
            3 => {
                let (op, other) = (self.of(&ops), self.of(&ops));
                let part = |op, literal| Predicate::Compare { slot, op, literal };
                Predicate::And(vec![part(op, self.literal()), part(other, self.literal())])
            }
            4 | 5 => Predicate::In { slot, list: (0..=self.below(3)).map(|_| self.literal()).collect() },
            6 => Predicate::IsNull { slot },
            7 => match self.below(3) {
                0 => Predicate::Like { slot, pattern: Like::new("a%") },
                1 => Predicate::CompareSlots { left: slot, op: self.of(&ops), right: self.below(COLUMNS.len()) },
                _ => Predicate::Not(Predicate::IsNull { slot }.into()),
            },
            8 => Predicate::Not(self.predicate(depth - 1).into()),
            9 => Predicate::Or(parts(self)),
            _ => Predicate::And(parts(self)),
        }
    }

    /// A table with some rows and some indexes.
    fn table(&mut self) -> Connection {
        let conn = made("pragma encoding = 'UTF-8'");
        if self.below(8) == 0 {
            conn.execute_batch("pragma encoding = 'UTF-16le'").unwrap();
        }
        let kind = self.below(4);
        let columns: Vec<_> =
            COLUMNS.iter().map(|(name, definition)| format!("{} {definition}", quote(name))).collect();
        let key = ["", ", primary key (id)", ", primary key (id desc, nocase, int)", ", primary key (int, text)"][kind];
        let end = if kind == 2 { " without rowid" } else { "" };
        let names = if kind == 3 { ", rowid, _rowid_" } else { "" };
        conn.execute_batch(&format!("create table \"t t\" ({}{names}{key}){end}", columns.join(", "))).unwrap();
        for _ in 0..self.below(40) {
            let mut values: Vec<_> = (1..COLUMNS.len() - 3).map(|_| self.stored()).collect();
            values.insert(0, Stored::Integer([1, 1 << 53, -(1 << 60)][self.below(3)] + self.below(20) as i64));
            let json = ["null", "1", "\"a\"", "[1]"][self.below(4)];
            // The key may be taken.
            let places = vec!["?"; values.len()].join(", ");
            let stored = COLUMNS.iter().filter(|(name, _)| !name.starts_with("made"));
            let names: Vec<_> = stored.map(|(name, _)| quote(name)).collect();
            let sql = format!("insert or ignore into \"t t\" ({}) values ({places}, '{json}')", names.join(", "));
            conn.execute(&sql, params_from_iter(values)).unwrap();
        }
        for index in 0..self.below(6) {
            let parts: Vec<_> = (0..=self.below(2))
                .map(|_| {
                    let name = quote(self.of(&COLUMNS).0);
                    let part = [name.clone(), format!("lower({name})"), format!("+{name}")];
                    let part = &part[[0, 0, 0, 0, 0, 1, 2][self.below(7)]];
                    format!("{part}{}", self.of(&["", " desc", " collate nocase", " collate binary"]))
                })
                .collect();
            let rows = self.of(&["is not null", "> 1", "< ''", ">= ''", "= 'a'", "in (0, 1)", "between 0 and 'b'"]);
            let rows = format!(" where {} {rows}", quote(self.of(&COLUMNS).0));
            let rows = if self.below(3) == 0 { &rows } else { "" };
            conn.execute_batch(&format!("create index i{index} on \"t t\" ({}){rows}", parts.join(", "))).unwrap();
        }
        if self.below(2) == 0 {
            conn.execute_batch("analyze").unwrap();
        }
        conn
    }
}

fn paths() -> Vec<Path> {
    COLUMNS.iter().map(|(name, _)| Path::root().key(*name)).collect()
}

/// The lines for which the predicate is true, and the number of comparisons of different kinds.
fn chosen<'l>(lines: &'l str, predicate: &Predicate) -> (Vec<&'l str>, u64) {
    let mut mismatches = Mismatches::default();
    let holds = |line: &&str| {
        let document = jird::parse(line.as_bytes()).unwrap();
        let raw: Vec<_> = COLUMNS
            .iter()
            .map(|(name, _)| document.root().get(name).unwrap().raw())
            .map(|raw| String::from_utf8_lossy(raw).into_owned())
            .collect();
        let fields: Vec<_> = raw.iter().map(|raw| Field::from_raw(raw)).collect();
        predicate.eval(&fields, &mut mismatches) == Some(true)
    };
    (lines.lines().filter(holds).collect(), mismatches.kinds)
}

#[test]
fn no_row_that_meets_a_condition_is_left_out() {
    let paths = paths();
    let (mut left_out, mut all, mut kept) = (0, 0, 0);
    for seed in 0..150 {
        let mut random = Random(seed);
        let conn = random.table();
        let rows = |condition: Option<(&Predicate, &[Path])>| {
            let columns = COLUMNS.iter().map(|(name, _)| *name);
            let query = SqliteQuery::table_where(&conn, "t t", columns, condition).unwrap();
            try_lines(&mut query.as_declared()).unwrap()
        };
        let whole = rows(None);
        let columns: Vec<_> = COLUMNS.iter().map(|(name, _)| quote(name)).collect();
        let plain = SqliteQuery::select(&conn, &format!("select {} from \"t t\"", columns.join(", "))).unwrap();
        assert_eq!(whole, try_lines(&mut plain.as_declared()).unwrap(), "seed {seed}");
        for number in 0..60 {
            let predicate = random.predicate(number % 3);
            let read = rows(Some((&predicate, &paths)));
            let (wanted, of_whole) = chosen(&whole, &predicate);
            let (found, of_read) = chosen(&read, &predicate);
            assert_eq!(found, wanted, "seed {seed}: {predicate:?}");
            if matches!(predicate, Predicate::Compare { .. } | Predicate::In { .. } | Predicate::IsNull { .. }) {
                assert_eq!(of_read, of_whole, "seed {seed}: {predicate:?}");
            }
            let (read, whole) = (read.lines().count(), whole.lines().count());
            left_out += whole - read;
            all += whole;
            kept += found.len();
        }
    }
    // Else little is tested.
    assert!(left_out * 4 > all && kept * 20 > all, "{left_out} of {all} left out, {kept} meet their condition");
}

#[test]
fn no_row_that_meets_a_condition_on_booleans_is_left_out() {
    let conn = made(
        "create table t (flag boolean); create index i on t (flag);
         insert into t values (0), (1), (2), (-1), (0.5), (1.0), ('x'), ('1'), (''), (x'31'), (null), (1), (0);",
    );
    let paths = [Path::root().key("flag")];
    let lines = |condition: Option<(&Predicate, &[Path])>| {
        let query = SqliteQuery::table_where(&conn, "t", ["flag"], condition).unwrap();
        try_lines(&mut query.as_declared()).unwrap()
    };
    let chosen = |lines: &str, predicate: &Predicate| {
        let mut mismatches = Mismatches::default();
        let holds = |line: &&str| {
            let document = jird::parse(line.as_bytes()).unwrap();
            let raw = String::from_utf8_lossy(document.root().get("flag").unwrap().raw()).into_owned();
            predicate.eval(&[Field::from_raw(&raw)], &mut mismatches) == Some(true)
        };
        let found: Vec<String> = lines.lines().filter(holds).map(str::to_owned).collect();
        (found, mismatches.kinds)
    };
    let whole = lines(None);
    let number = |text: &str| Literal::Number(text.into());
    let literals = || {
        let numbers = ["0", "1", "2", "-1", "0.5", "1.0", "3"].map(number);
        let others = [Literal::Bool(true), Literal::Bool(false), Literal::Null, Literal::Text("x".into())];
        numbers.into_iter().chain(others)
    };
    let signs = [Comparison::Eq, Comparison::Ne, Comparison::Lt, Comparison::Le, Comparison::Gt, Comparison::Ge];
    let compare = |op, literal| Predicate::Compare { slot: 0, op, literal };
    let comparisons = || literals().flat_map(move |literal| signs.map(|op| compare(op, literal.clone())));
    let lists = || literals().map(|literal| Predicate::In { slot: 0, list: vec![literal, number("1")] });
    let single = || comparisons().chain(lists()).chain([Predicate::IsNull { slot: 0 }]);
    let mut left_out = 0;
    for predicate in single() {
        let read = lines(Some((&predicate, &paths)));
        assert_eq!(chosen(&read, &predicate), chosen(&whole, &predicate), "{predicate:?}");
        left_out += whole.lines().count() - read.lines().count();
    }
    for (one, other) in comparisons().flat_map(|one| comparisons().map(move |other| (one.clone(), other))) {
        for predicate in [Predicate::And(vec![one.clone(), other.clone()]), Predicate::Or(vec![one, other])] {
            let read = lines(Some((&predicate, &paths)));
            assert_eq!(chosen(&read, &predicate).0, chosen(&whole, &predicate).0, "{predicate:?}");
        }
    }
    assert!(left_out > 100, "{left_out}");
}

#[test]
fn rows_keep_the_order_of_their_table() {
    let conn = made(
        "create table t (a, b); create index i on t (b); create index j on t (b, a);
         create table u (a integer primary key desc, b, rowid, oid, _rowid_);
         create table w (a text collate nocase, b, primary key (a desc)) without rowid; create index k on w (b);
         create table n (rowid, oid, _rowid_); create index m on n (oid);
         create view v as select b from t order by b desc",
    );
    for table in ["t", "w"] {
        conn.execute_batch(&format!("insert into {table} (a, b) values ('x', 3), ('Z', 1), ('y', 2), ('V', 1)"))
            .unwrap();
    }
    conn.execute_batch("insert into u (a, b) values (1, 3), (2, 1), (3, 2); insert into n values (1, 3, 1), (2, 1, 1)")
        .unwrap();
    let column = |table, column, condition: Option<(&Predicate, &[Path])>| {
        let rows = try_lines(&mut SqliteQuery::table_where(&conn, table, [column], condition).unwrap()).unwrap();
        rows.lines()
            .map(|line| line.split_once(':').unwrap().1.trim_end_matches('}').to_owned())
            .collect::<Vec<_>>()
            .join(" ")
    };
    // Without the order, SQLite reads the index.
    assert_eq!(lines(&conn, "select b from t"), "{\"b\":1}\n{\"b\":1}\n{\"b\":2}\n{\"b\":3}\n");
    let paths = [Path::root().key("b")];
    let number = |number: &str| Literal::Number(number.into());
    let is_small = Predicate::In { slot: 0, list: vec![number("3"), number("1")] };
    let is_less = Predicate::Compare { slot: 0, op: Comparison::Lt, literal: number("3") };
    for (table, all, small, less) in [
        ("t", "3 1 2 1", "3 1 1", "1 2 1"),
        // No name is left for the number of a row.
        ("u", "3 1 2", "3 1 2", "3 1 2"),
        ("w", "1 2 3 1", "1 3 1", "1 2 1"),
        ("v", "3 2 1 1", "3 2 1 1", "3 2 1 1"),
    ] {
        assert_eq!(column(table, "b", None), all, "{table}");
        assert_eq!(column(table, "b", Some((&is_small, &paths))), small, "{table}");
        // The bound is inclusive.
        let found = column(table, "b", Some((&is_less, &paths)));
        assert!(found == less || found == all, "{table} {found}");
    }
    let whole = try_lines(&mut SqliteQuery::table(&conn, "w").unwrap()).unwrap();
    let keys: Vec<_> = whole.lines().map(|line| &line[6..7]).collect();
    assert_eq!(keys, ["Z", "y", "x", "V"]);
    assert_eq!(column("n", "oid", None), "3 1");
    assert_eq!(column("n", "oid", Some((&is_small, &[Path::root().key("oid")]))), "3 1");
}

#[test]
fn pieces_keep_the_order_of_their_table() {
    let table = "create table t (id integer primary key, a); create index i on t (id desc, a);
                 insert into t values (1, 'x'), (2, 'y'), (3, 'z'); analyze";
    let conn = made(table);
    let pieces = TablePieces::new(made(table), "t", 2).unwrap().unwrap();
    let rows = pieces.map(|piece| try_lines(&mut SqliteQuery::piece(&conn, &piece.unwrap()).unwrap()).unwrap());
    let rows: String = rows.collect();
    assert_eq!(rows, "{\"id\":1,\"a\":\"x\"}\n{\"id\":2,\"a\":\"y\"}\n{\"id\":3,\"a\":\"z\"}\n");
}

#[test]
fn what_sqlite_cannot_compare_is_read_whole() {
    let conn = made("create table t (a, j json); insert into t values (1, '1'), (2, 'null')");
    let paths = [Path::root().key("a"), Path::root().key("j"), Path::root().key("A"), Path::root().key("a").key("b")];
    let rows = |predicate: &Predicate| {
        let query = SqliteQuery::table_where(&conn, "t", ["a", "j"], Some((predicate, &paths))).unwrap();
        try_lines(&mut query.as_declared()).unwrap().lines().count()
    };
    let one = |slot| Predicate::Compare { slot, op: Comparison::Eq, literal: Literal::Number("1".into()) };
    assert_eq!([0, 1, 2, 3].map(|slot| rows(&one(slot))), [1, 2, 2, 2]);
    assert_eq!(rows(&Predicate::IsNull { slot: 1 }), 2);
    // More than SQLite takes in a condition.
    let many: Vec<_> = (0..40_000).map(|number: u32| Literal::Number(number.to_string().into())).collect();
    assert_eq!(rows(&Predicate::In { slot: 0, list: many }), 2);
    let error = SqliteQuery::table_where(&conn, "t", ["a", "b"], None).unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Missing, "there is no column \"b\""));
}

#[test]
fn an_index_is_used_where_few_rows_match() {
    let conn = made(
        "create table t (id integer primary key, k, name text);
         with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000)
         insert into t select i, i / 2, 'n' || (i % 1000) from n;
         create index k on t (k); create index name on t (name)",
    );
    let paths = ["id", "k", "name"].map(|name| Path::root().key(name));
    let number = |number: &str| Literal::Number(number.into());
    let compare = |slot, op, literal| Predicate::Compare { slot, op, literal };
    for (predicate, count) in [
        (compare(1, Comparison::Eq, number("7000")), 2),
        (compare(0, Comparison::Eq, number("7000")), 1),
        (compare(2, Comparison::Eq, Literal::Text("n7".into())), 200),
        (Predicate::In { slot: 1, list: vec![number("1"), number("2.0")] }, 4),
        (Predicate::And(vec![compare(1, Comparison::Ge, number("10")), compare(1, Comparison::Le, number("12"))]), 6),
        // Most rows meet the other part, so its index helps little.
        (
            Predicate::And(vec![
                compare(1, Comparison::Ge, number("0")),
                compare(2, Comparison::Eq, Literal::Text("n7".into())),
            ]),
            200,
        ),
        (Predicate::Or(vec![compare(1, Comparison::Eq, number("1")), compare(0, Comparison::Eq, number("1"))]), 3),
    ] {
        let read = |condition: Option<(&Predicate, &[Path])>| {
            let start = Instant::now();
            let mut query = SqliteQuery::table_where(&conn, "t", ["id"], condition).unwrap();
            (try_lines(&mut query).unwrap().lines().count(), start.elapsed())
        };
        let fastest = |condition: Option<(&Predicate, &[Path])>| {
            (0..5).map(|_| read(condition)).min_by_key(|(_, time)| *time).unwrap()
        };
        let (found, time) = fastest(Some((&predicate, &paths)));
        let (all, whole) = fastest(None);
        assert_eq!((found, all), (count, 200_000), "{predicate:?}");
        // The indexes make it a hundred times faster, and more.
        assert!(time * 10 < whole, "{predicate:?}: {time:?} beside {whole:?}");
    }
}

#[test]
fn thousands_of_values_are_one_search() {
    let conn = made(
        "create table t (id integer primary key, k, name text, other text);
         with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000)
         insert into t select i, i / 2, 'n' || (i % 1000), hex(randomblob(30)) from n;
         create index k on t (k)",
    );
    let paths = [Path::root().key("k")];
    let list = (0..3000).map(|k| Literal::Number(format!("{}", k * 1000).into())).collect();
    let predicate = Predicate::In { slot: 0, list };
    let read = |condition: Option<(&Predicate, &[Path])>| {
        let start = Instant::now();
        let mut query = SqliteQuery::table_where(&conn, "t", ["id", "other"], condition).unwrap();
        (try_lines(&mut query).unwrap().lines().count(), start.elapsed())
    };
    let found: Vec<_> = (0..5).map(|_| read(Some((&predicate, &paths)))).collect();
    let whole = (0..5).map(|_| read(None).1).min().unwrap();
    assert!(found.iter().all(|(count, _)| *count == 200));
    let fastest = found.iter().map(|(_, time)| *time).min().unwrap();
    assert!(2 * fastest < whole, "{fastest:?} beside {whole:?}");
}

#[test]
fn an_index_by_which_most_rows_are_found_is_not_used() {
    let conn = made(
        "create table t (id integer primary key, k, name text, other text);
         with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000)
         insert into t select i, (i * 7919) % 200003, 'n' || (i % 1000), hex(randomblob(60)) from n;
         create index k on t (k)",
    );
    let paths = ["k", "name"].map(|name| Path::root().key(name));
    let compare = |slot, op, literal| Predicate::Compare { slot, op, literal };
    let k = |op, number: &str| compare(0, op, Literal::Number(number.into()));
    let few = Predicate::And(vec![
        Predicate::And(vec![k(Comparison::Ge, "10"), k(Comparison::Lt, "190000")]),
        compare(1, Comparison::Eq, Literal::Text("n7".into())),
    ]);
    let time = |condition: Option<(&Predicate, &[Path])>| {
        let read = || {
            let start = Instant::now();
            try_lines(&mut SqliteQuery::table_where(&conn, "t", ["id"], condition).unwrap()).unwrap();
            start.elapsed()
        };
        (0..5).map(|_| read()).min().unwrap()
    };
    let (found, whole) = (time(Some((&few, &paths))), time(None));
    assert!(found < whole * 2, "{found:?} beside {whole:?}");
}
