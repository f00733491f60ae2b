//! Cells of columns are what the documents have, of the events that match.

use crate::common::{Scratch, append, options};
use jird::Path;
use jird::lines::{Check, Options, Scanner};
use jird::record::{Comparison, Like, Literal, Predicate, Projection};
use jird_store::{
    Cell, ColumnChoice, Compression, Condition, Extent, Numbers, Settings, Snapshot, Store, Text, Window,
};
use std::ops::ControlFlow;

const KEYS: [&str; 7] = ["@t", "n", "level", "ok", "id", "some", "ms"];

fn paths() -> Vec<Path> {
    KEYS.iter().map(|key| Path::root().key(*key)).collect()
}

/// The event of a number. Some spell a value in a way of their own, or have one of another kind, or a text that is new.
fn event(number: u32, has_others: bool) -> String {
    let second =
        format!("2024-03-05T{:02}:{:02}:{:02}.{:03}Z", number / 3600 % 24, number / 60 % 60, number % 60, number % 997);
    let n = match number % 50 {
        7 => "1.50".to_owned(),
        8 => "-0.0".to_owned(),
        9 => "null".to_owned(),
        10 if has_others => "\"text\"".to_owned(),
        at if at % 3 == 0 => format!("{number}"),
        _ => format!("{}", f64::from(number) / 8.0),
    };
    let level = match number % 40 {
        1 => r#""Erro\u0072""#.to_owned(),
        2 if number > 2500 => r#""new \"text\"""#.to_owned(),
        3 => "\"\"".to_owned(),
        at => format!("{:?}", ["Debug", "Information", "Zoë"][at as usize % 3]),
    };
    let some = if number.is_multiple_of(7) { ",\"some\":1e2" } else { "" };
    // Decimals of few digits, as far as the events show by which columns are chosen.
    let ms = match number % 60 {
        1 if number > 2500 => "-0.0".to_owned(),
        2 if number > 2500 => "1e12".to_owned(),
        3 if number > 2500 => "0.00001".to_owned(),
        4 => "null".to_owned(),
        5 => "12.50".to_owned(),
        _ => format!("{}", f64::from(number) / 100.0),
    };
    format!(
        "{{\"@t\":\"{second}\",\"ms\":{ms},\"n\":{n},\"level\":{level},\"ok\":{},\"id\":\"{number:x}\"{some}}}\n",
        number.is_multiple_of(9)
    )
}

fn filled(scratch: &Scratch, settings: &Settings, has_others: bool) -> Store {
    let store = Store::create(scratch.path(), settings).unwrap().with_block_bytes(20_000);
    let writer = store.writer(&options(500_000)).unwrap();
    for part in 0..20 {
        let lines: String = (0..200).map(|at| event(part * 200 + at, has_others)).collect();
        append(&writer, &lines);
    }
    writer.seal().unwrap();
    writer.finish().unwrap();
    store
}

/// The values at the paths of the events that match, as JSON, and how many blocks gave cells.
fn cells(text: &Text, paths: &[Path], predicate: Option<&Predicate>) -> (Vec<Vec<String>>, usize) {
    let all = self::paths();
    let condition = predicate.map(|predicate| Condition::new(predicate, &all));
    let (mut found, mut by_cells) = (Vec::new(), 0);
    for block in text.blocks() {
        let Some(parts) = text.read_cells(block, paths, paths.len(), condition.as_ref()) else {
            documents(text, block, paths, predicate, &mut found);
            continue;
        };
        by_cells += 1;
        for cells in parts {
            let first = found.len();
            found.resize(first + cells.rows(), Vec::new());
            for column in 0..paths.len() {
                let mut rows = found[first..].iter_mut();
                cells.each(column, |cell: Cell<'_>| {
                    let mut json = Vec::new();
                    cell.write(&mut json);
                    rows.next().unwrap().push(String::from_utf8(json).unwrap());
                });
                assert!(rows.next().is_none());
            }
        }
    }
    (found, by_cells)
}

fn documents(
    text: &Text,
    block: jird_store::BlockId,
    paths: &[Path],
    predicate: Option<&Predicate>,
    found: &mut Vec<Vec<String>>,
) {
    let all = self::paths();
    let slots: Vec<usize> = paths.iter().map(|path| all.iter().position(|other| other == path).unwrap()).collect();
    let mut scanner = Scanner::new(Options { check: Check::Trusted, ..Options::default() });
    let mut lines = Vec::new();
    text.read(block, None, &mut lines).unwrap();
    let scanned = scanner.scan(&lines, &Projection::new(&all), predicate, |row| {
        found.push(slots.iter().map(|slot| row.field(*slot).raw().to_owned()).collect());
        ControlFlow::Continue(())
    });
    scanned.unwrap();
}

fn predicates() -> Vec<Predicate> {
    let compare = |slot, op, literal| Predicate::Compare { slot, op, literal };
    let number = |text: &str| Literal::Number(text.into());
    let text = |text: &str| Literal::Text(text.into());
    let not = |inner| Predicate::Not(Box::new(inner));
    vec![
        compare(0, Comparison::Ge, text("2024-03-05T00:20")),
        compare(1, Comparison::Gt, number("100.25")),
        not(compare(1, Comparison::Le, number("400"))),
        compare(1, Comparison::Eq, number("1.5")),
        compare(1, Comparison::Eq, number("0")),
        compare(2, Comparison::Eq, text("Error")),
        compare(2, Comparison::Ne, text("Zoë")),
        Predicate::In { slot: 2, list: vec![text("Zoë"), text("new \"text\"")] },
        Predicate::Like { slot: 2, pattern: Like::new("%e%") },
        Predicate::IsNull { slot: 1 },
        not(Predicate::IsNull { slot: 5 }),
        Predicate::Truth { slot: 3 },
        Predicate::And(vec![compare(2, Comparison::Eq, text("Debug")), compare(1, Comparison::Lt, number("90"))]),
        Predicate::Or(vec![Predicate::Truth { slot: 3 }, compare(5, Comparison::Eq, number("100"))]),
        compare(6, Comparison::Gt, number("39.7")),
        compare(6, Comparison::Le, number("0")),
        Predicate::In { slot: 6, list: vec![number("12.5"), number("1000000000000"), number("0.07")] },
        // These need documents, or lines.
        compare(4, Comparison::Eq, text("1f")),
        Predicate::CompareSlots { left: 1, op: Comparison::Lt, right: 5 },
    ]
}

fn check(snapshot: &Snapshot, has_others: bool) {
    let all = paths();
    // What no event has is known without a column.
    let text = snapshot.text(Window::ALL).unwrap();
    for nowhere in [Path::root().key("nowhere"), Path::root().key("n").key("within")] {
        for predicate in [None, Some(&predicates()[0])] {
            let (found, by_cells) = cells(&text, &[nowhere.clone(), all[3].clone()], predicate);
            let (wanted, _) = cells(&text, &all[3..4], predicate);
            assert!(by_cells > 0 && found.iter().all(|row| row[0].is_empty()));
            assert!(found.iter().map(|row| &row[1]).eq(wanted.iter().map(|row| &row[0])));
        }
    }
    let second = |second: i64| Some((1_709_596_800 + second) * 1_000_000_000);
    for window in [Window::ALL, Window { since: second(333), until: second(2777) }] {
        let text = snapshot.text(window).unwrap();
        for predicate in predicates().iter().map(Some).chain([None]) {
            for wanted in [&all[..4], &all[1..3], &all[5..6], &all[6..], &[]] {
                let mut expected = Vec::new();
                text.blocks().for_each(|block| documents(&text, block, wanted, predicate, &mut expected));
                let (found, by_cells) = cells(&text, wanted, predicate);
                assert_eq!(found, expected, "{predicate:?}");
                let takes_others = predicate.is_some_and(|predicate| {
                    let text = format!("{predicate:?}");
                    text.contains("slot: 4") || text.contains("CompareSlots") || has_others && text.contains("slot: 1")
                });
                assert_eq!(by_cells > 0, !takes_others, "{predicate:?}");
            }
        }
    }
    assert_eq!(snapshot.damage(), []);
}

#[test]
fn cells_are_what_documents_have() {
    for (compression, has_others) in [(Compression::None, false), (Compression::Lz4, true), (Compression::Zstd, false)]
    {
        let scratch = Scratch::new();
        let store = filled(&scratch, &Settings { compression, ..Settings::default() }, has_others);
        let columns = store.info().unwrap().columns();
        // The column of times stands for the time field, and no id comes twice.
        assert_eq!(columns.iter().map(Path::to_string).collect::<Vec<_>>(), ["/ms", "/n", "/level", "/ok", "/some"]);
        check(&store.snapshot().unwrap(), has_others);
        store.compact(Extent::Full).unwrap();
        check(&store.snapshot().unwrap(), has_others);
        assert_eq!(store.verify(false).unwrap().damage, []);
    }
}

#[test]
fn columns_tell_what_numbers_there_are() {
    let numbers_of = |values: &[&str]| {
        let scratch = Scratch::new();
        let store = Store::create(scratch.path(), &Settings::default()).unwrap();
        let writer = store.writer(&options(500_000)).unwrap();
        values.iter().enumerate().for_each(|(at, value)| append(&writer, &format!("{{\"@t\":{at},\"n\":{value}}}\n")));
        writer.seal().unwrap();
        writer.finish().unwrap();
        let text = store.snapshot().unwrap().text(Window::ALL).unwrap();
        text.numbers(&Path::root().key("n"))
    };
    let cases: [(&[&str], _); 9] = [
        (&["1", "-5", "null", "9007199254740992"], Some(Numbers::Integers)),
        (&["1", "2.5"], Some(Numbers::Floats)),
        (&["1.50", "1e2", "-0.0"], Some(Numbers::Floats)),
        (&["-0"], Some(Numbers::Integers)),
        (&["9007199254740993"], None),
        (&["1", "0.1000000000000000055"], None),
        (&["1e400"], None),
        (&["18446744073709551615"], None),
        (&["\"text\""], None),
    ];
    for (values, expected) in cases {
        assert_eq!(numbers_of(values), expected, "{values:?}");
    }
}

#[test]
fn numbers_of_a_window_are_those_of_its_events() {
    let scratch = Scratch::new();
    let store = Store::create(scratch.path(), &Settings::default()).unwrap().with_block_bytes(500);
    let writer = store.writer(&options(500_000)).unwrap();
    let event = |at: u32| format!("{{\"@t\":{at},\"n\":{}}}\n", if at == 150 { "1.5".into() } else { at.to_string() });
    append(&writer, &(0..200).map(event).collect::<String>());
    writer.seal().unwrap();
    writer.finish().unwrap();
    let numbers = |since: i64, until: i64| {
        let window = Window { since: Some(since * 1_000_000_000), until: Some(until * 1_000_000_000) };
        store.snapshot().unwrap().text(window).unwrap().numbers(&Path::root().key("n"))
    };
    let check = || {
        for since in 0..200 {
            for until in [since + 1, since + 3, since + 60, 200] {
                let has_float = (since..until).contains(&150);
                let expected = if has_float { Numbers::Floats } else { Numbers::Integers };
                let found = numbers(since, until);
                // Of a block that is cut it may not be known which of its events have a point.
                assert!(found == Some(expected) || found.is_none(), "{since} {until} {found:?}");
            }
        }
        assert_eq!((numbers(0, 200), numbers(0, 60)), (Some(Numbers::Floats), Some(Numbers::Integers)));
    };
    check();
    store.retain(3_000_000_000).unwrap();
    check();
}

#[test]
fn a_column_of_the_time_field_may_be_there_as_well() {
    let scratch = Scratch::new();
    let columns = ["@t", "n"].map(|key| Path::root().key(key)).to_vec();
    let settings = Settings { columns: ColumnChoice::Fields(columns), ..Settings::default() };
    let store = filled(&scratch, &settings, false);
    let text = store.snapshot().unwrap().text(Window::ALL).unwrap();
    for wanted in [&paths()[..1], &paths()[..2]] {
        let (found, by_cells) = cells(&text, wanted, None);
        assert!(by_cells > 0 && found.len() == 4000);
        assert!(found.iter().all(|row| row[0].starts_with("\"2024-03-05T")));
    }
    assert_eq!(store.snapshot().unwrap().damage(), []);
    // Of two members with one key, the first has the time.
    let scratch = Scratch::new();
    let store = Store::create(scratch.path(), &Settings::default()).unwrap();
    let writer = store.writer(&options(500_000)).unwrap();
    append(&writer, "{\"@t\":\"2024-03-05T07:00:00Z\",\"@t\":\"x\"}\n{\"@t\":\"2024-03-05T07:00:02Z\"}\n");
    writer.seal().unwrap();
    writer.finish().unwrap();
    let snapshot = store.snapshot().unwrap();
    let found = cells(&snapshot.text(Window::ALL).unwrap(), &paths()[..1], None);
    assert_eq!(found, (vec![vec!["\"2024-03-05T07:00:00Z\"".into()], vec!["\"2024-03-05T07:00:02Z\"".into()]], 1));
    assert_eq!((store.info().unwrap().columns(), snapshot.damage()), (vec![], vec![]));
}

#[test]
fn a_store_without_columns_gives_no_cells() {
    let scratch = Scratch::new();
    let settings = Settings { columns: ColumnChoice::NONE, ..Settings::default() };
    let store = filled(&scratch, &settings, false);
    assert_eq!(store.info().unwrap().columns(), []);
    let text = store.snapshot().unwrap().text(Window::ALL).unwrap();
    assert_eq!(cells(&text, &paths()[1..2], None).1, 0);
    // But for the times.
    assert!(cells(&text, &paths()[..1], None).1 > 0);
}

/// A column that is damaged does not keep a reader of others from them.
#[test]
fn columns_are_read_one_by_one() {
    let scratch = Scratch::new();
    let store = filled(&scratch, &Settings::default(), false);
    let span = scratch.path().join(format!("span-{}.arrow", store.info().unwrap().spans[0].number));
    let whole = std::fs::read(&span).unwrap();
    let value = (11.0_f64 / 8.0).to_le_bytes();
    let places: Vec<_> = (0..whole.len() - 8).filter(|at| whole[*at..*at + 8] == value).collect();
    let [place] = places[..] else { panic!("{places:?}") };
    let mut damaged = whole.clone();
    damaged[place] ^= 1;
    std::fs::write(&span, damaged).unwrap();
    let snapshot = store.snapshot().unwrap();
    let text = snapshot.text(Window::ALL).unwrap();
    let blocks = text.blocks().count();
    assert_eq!((cells(&text, &paths()[2..4], None).1, snapshot.damage()), (blocks, vec![]));
    let (found, by_cells) = cells(&text, &paths()[1..2], None);
    assert_eq!((found.len(), by_cells), (4000, blocks - 1));
    assert_eq!(found[11], ["1.375"]);
    let damage = snapshot.damage();
    assert!(damage.len() == 1 && damage[0].reason.contains("columns cannot be read"), "{damage:?}");
    // The block is told, and no event is lost.
    let verified = store.verify(false).unwrap();
    assert_eq!((verified.damage, verified.events), (damage, 4000));
}
