//! Rows that columns leave out do not match, whatever the events and the predicate.

mod made;

use arrow_array::{Array, ArrayRef, Int32Array};
use checks::random::Random;
use jird::Path;
use jird::record::{Comparison, Field, FieldReader, Like, Literal, Mismatches, Predicate, Projection};
use jird_store::Fields;
use jird_store::column::{Column, ColumnFacts, ColumnPlan, ColumnType, Columns, Digits, TEXT_MAX};
use jird_store::index::Condition;
use made::{Made, blocks, predicate};
use std::sync::Arc;

fn lines(block: &[Vec<u8>]) -> Vec<u8> {
    block.iter().flat_map(|event| [event, &b"\n"[..]].concat()).collect()
}

/// For each event, whether the engine keeps it.
fn matches(block: &[Vec<u8>], predicate: &Predicate, paths: &[Path]) -> Vec<bool> {
    let projection = Projection::new(paths);
    let mut reader = FieldReader::new(&projection);
    let kept = block.iter().map(|event| {
        let mut fields = vec![Field::MISSING; paths.len()];
        reader.read(event, &mut fields).expect("it is JSON");
        predicate.eval(&fields, &mut Mismatches::default()) == Some(true)
    });
    kept.collect()
}

/// The texts of some fields of each line.
fn texts(lines: &[u8], paths: &[Path]) -> Vec<Vec<String>> {
    let projection = Projection::new(paths);
    let mut reader = FieldReader::new(&projection);
    let of_line = |line: &[u8]| {
        let mut fields = vec![Field::MISSING; paths.len()];
        reader.read(line, &mut fields).expect("it is JSON");
        fields.iter().map(|field| field.raw().to_owned()).collect()
    };
    lines.split_inclusive(|byte| *byte == b'\n').map(of_line).collect()
}

#[test]
fn lines_of_columns_have_the_texts_of_the_documents() {
    let (mut answered, mut refused) = (0, 0);
    for seed in 0..6000 {
        let mut random = Random::new(seed);
        let Made { blocks, paths } = blocks(&mut random);
        for block in blocks.iter().filter(|block| !block.is_empty()) {
            // The types of this block, so that columns often have all of it.
            let plan = ColumnPlan::choose(&paths, &lines(block)).unwrap();
            let built = plan.build(&lines(block)).unwrap();
            let whole = random.below(3) > 0;
            let named = places(&plan).zip(built).filter(|(path, _)| whole || !path.steps().is_empty());
            let columns = Columns::new(block.len(), named);
            let looked_at: Vec<Path> = paths.iter().filter(|_| random.below(3) > 0).cloned().collect();
            let Some(fields) = Fields::new(looked_at.iter().cloned()) else { continue };
            let rows: Vec<usize> = (0..block.len()).filter(|_| random.below(4) > 0).collect();
            let mut made = b"as before".to_vec();
            if !columns.write(&fields, rows.iter().copied(), &mut made) {
                assert_eq!(made, b"as before");
                refused += 1;
                continue;
            }
            answered += u32::from(!looked_at.is_empty());
            let documents: Vec<_> = rows.iter().map(|row| block[*row].clone()).collect();
            let (made, wanted) = (texts(&made, &looked_at), texts(&lines(&documents), &looked_at));
            assert_eq!(made, wanted, "seed {seed}: {looked_at:?} of {}", String::from_utf8_lossy(&lines(&documents)));
        }
    }
    assert!(answered > 1000 && refused > 500, "{answered}, {refused}");
}

/// Where the columns of a block belong.
fn places(plan: &ColumnPlan) -> impl Iterator<Item = Path> {
    plan.columns().into_iter().map(|(path, _)| path)
}

#[test]
fn columns_answer_only_if_they_know_each_text() {
    use ColumnType::{Bool, Number, Text};
    let path = Path::root().key("a");
    let fields = Fields::new([path.clone()]).unwrap();
    let line = |kind, values: &[&str]| {
        let lines = values.iter().flat_map(|value| ["{", value, "}\n"]).collect::<String>();
        let plan = ColumnPlan::new(std::slice::from_ref(&path), &[kind]);
        let columns = Columns::new(values.len(), places(&plan).zip(plan.build(lines.as_bytes()).unwrap()));
        let mut out = Vec::new();
        let is_made = columns.write(&fields, 0..values.len(), &mut out);
        is_made.then(|| String::from_utf8(out).unwrap())
    };
    let long = format!(r#""a":"{}""#, "x".repeat(300));
    for (kind, values, wanted) in [
        (Number, &[r#""b":1,"a":1.5"#, "", r#""a":-36"#][..], Some("{\"a\":1.5}\n{}\n{\"a\":-36}\n")),
        (Number, &[r#""a":1.50"#], Some("{\"a\":1.50}\n")),
        (Number, &[r#""a":1e2"#], Some("{\"a\":1e2}\n")),
        (Number, &[r#""a":-0"#], Some("{\"a\":-0}\n")),
        (Number, &[r#""a":9007199254740993"#], Some("{\"a\":9007199254740993}\n")),
        (Number, &[r#""a":9007199254740991"#], Some("{\"a\":9007199254740991}\n")),
        (Number, &[r#""a":1e400"#], Some("{\"a\":1e400}\n")),
        (Number, &[r#""a":1"#, r#""a":null"#], Some("{\"a\":1}\n{\"a\":null}\n")),
        (Number, &[r#""a":1"#, r#""a":null"#, ""], Some("{\"a\":1}\n{\"a\":null}\n{}\n")),
        (Number, &[r#""a":1"#, r#""a":"x""#], Some("{\"a\":1}\n{\"a\":\"x\"}\n")),
        (Number, &["", r#""a":[1.0,{"b":null}]"#, r#""a":2"#], Some("{}\n{\"a\":[1.0,{\"b\":null}]}\n{\"a\":2}\n")),
        (Text, &[r#""a":"x\n\"é""#], Some("{\"a\":\"x\\n\\\"é\"}\n")),
        (Text, &[r#""a":"\u0078""#], Some("{\"a\":\"\\u0078\"}\n")),
        (Text, &[r#""a":"\/""#], Some("{\"a\":\"\\/\"}\n")),
        (Bool, &[r#""a":true"#, r#""a":false"#, ""], Some("{\"a\":true}\n{\"a\":false}\n{}\n")),
        (Bool, &[r#""a":true"#, r#""a":[]"#], Some("{\"a\":true}\n{\"a\":[]}\n")),
        (Number, &[long.as_str()], None),
        (Text, &[long.as_str(), r#""a":"x""#], None),
        (Text, &["", ""], Some("{}\n{}\n")),
        (Text, &[r#""a":null"#], Some("{\"a\":null}\n")),
    ] {
        assert_eq!(line(kind, values).as_deref(), wanted, "{values:?}");
    }
    // Many texts that a column does not show are as many reasons to read the documents.
    assert!(line(Number, &[r#""a":1.0"#; 500]).is_some_and(|made| made == "{\"a\":1.0}\n".repeat(500)));
    assert_eq!(line(Number, &[r#""a":1.0"#; 600]), None);
    // What an older version wrote says nothing of texts.
    let built = ColumnPlan::new(std::slice::from_ref(&path), &[Bool]).build(b"{\"a\":true}\n").unwrap();
    let old = Column { facts: ColumnFacts::of_byte(0), ..built[0].clone() };
    assert!(!Columns::new(1, [(path.clone(), old)]).write(&fields, 0..1, &mut Vec::new()));
}

#[test]
fn a_row_that_is_left_out_does_not_match() {
    let (mut left_out, mut kept_without_match) = (0, 0);
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let Made { blocks, paths } = blocks(&mut random);
        // Some of the paths have columns, of types that the first block suggests or that are chosen badly.
        let some: Vec<Path> = paths.iter().filter(|_| random.below(4) > 0).cloned().collect();
        let decimal = ColumnType::Decimal(Digits::new(random.below(4) as u8).unwrap());
        let types = [ColumnType::Number, decimal, ColumnType::Text, ColumnType::Bool];
        let types: Vec<ColumnType> = some.iter().map(|_| random.pick(&types)).collect();
        let plan = if random.below(3) == 0 {
            ColumnPlan::new(&some, &types)
        } else {
            ColumnPlan::choose(&some, &lines(&blocks[0])).unwrap()
        };
        for block in &blocks {
            let mut built = plan.build(&lines(block)).unwrap();
            if random.below(4) == 0 {
                built.iter_mut().for_each(|column| column.facts = ColumnFacts::UNKNOWN);
            }
            let columns = Columns::new(block.len(), places(&plan).zip(built));
            for _ in 0..8 {
                let predicate = predicate(&mut random, paths.len(), 2);
                let condition = Condition::new(&predicate, &paths);
                let Some(kept) = columns.decide(&condition) else { continue };
                let wanted = matches(block, &predicate, &paths);
                for (row, matches) in wanted.into_iter().enumerate() {
                    left_out += u32::from(!kept.value(row));
                    kept_without_match += u32::from(kept.value(row) && !matches);
                    assert!(
                        kept.value(row) || !matches,
                        "seed {seed}: {predicate:?} over {paths:?} of {}",
                        String::from_utf8_lossy(&block[row])
                    );
                }
            }
        }
    }
    assert!(left_out > 10_000 && left_out > 3 * kept_without_match, "{left_out}, {kept_without_match}");
}

/// The type of a column, members of events, a predicate, and which rows may match it.
type Decision<'a> = (ColumnType, &'a [&'a str], Predicate, Option<&'a [bool]>);

/// Which rows may match.
fn decided(kind: ColumnType, values: &[&str], predicate: &Predicate) -> Option<Vec<bool>> {
    let paths = [Path::root().key("a"), Path::root().key("b")];
    let lines = values.iter().flat_map(|value| ["{", value, "}\n"]).collect::<String>();
    let plan = ColumnPlan::new(&paths, &[kind; 2]);
    let built = plan.build(lines.as_bytes()).unwrap();
    let columns = Columns::new(values.len(), places(&plan).zip(built));
    columns.decide(&Condition::new(predicate, &paths)).map(|kept| kept.iter().collect())
}

#[test]
fn what_a_column_knows_decides_and_what_it_does_not_know_is_kept() {
    use ColumnType::{Bool, Decimal, Number, Text};
    use Comparison::{Eq, Ge, Gt, Lt, Ne};
    let compare = |op, literal| Predicate::Compare { slot: 0, op, literal };
    let number = |op, text: &str| compare(op, Literal::Number(text.into()));
    let text = |op, text: &str| compare(op, Literal::Text(text.into()));
    let two = |op| Predicate::CompareSlots { left: 0, op, right: 1 };
    let list = |list: &[&str]| Predicate::In {
        slot: 0,
        list: list.iter().map(|one| Literal::Number((*one).into())).collect(),
    };
    let null = Predicate::IsNull { slot: 0 };
    let not = |inner| Predicate::Not(Box::new(inner));
    let (no, yes) = (false, true);
    let tenths = Decimal(Digits::new(1).unwrap());
    let rows: [Decision<'_>; 33] = [
        (Number, &[r#""a":1"#, r#""a":2"#, r#""a":3"#], number(Gt, "2"), Some(&[no, no, yes])),
        (Number, &[r#""a":1"#, r#""a":2.0"#, r#""a":3"#], number(Ne, "2"), Some(&[yes, no, yes])),
        // 0.1 is not a double. If all numbers are the shortest decimals of their doubles, it is known that they have it...
        (Number, &[r#""a":0.1"#, r#""a":0.20"#, r#""a":0"#], number(Gt, "0.1"), Some(&[no, yes, no])),
        (Number, &[r#""a":10e-2"#, r#""a":0.2"#, r#""a":0"#], number(Eq, "0.1"), Some(&[yes, no, no])),
        (Number, &[r#""a":0.1"#, r#""a":0.2"#], number(Lt, "0.1000000000000000000001"), Some(&[yes, no])),
        (Number, &[r#""a":0.1"#, r#""a":0.2"#], number(Ge, "0.1000000000000000000001"), Some(&[no, yes])),
        (Number, &[r#""a":0.1"#, r#""a":0.2"#], list(&["0.10", "7"]), Some(&[yes, no])),
        // ...and if not, what has this double may be another number.
        (
            Number,
            &[r#""a":0.1000000000000000000001"#, r#""a":0.1"#, r#""a":0"#],
            number(Gt, "0.1"),
            Some(&[yes, yes, no]),
        ),
        (Number, &[r#""a":0.5"#, r#""a":0.25"#], number(Gt, "0.50000000000000000001"), Some(&[no, no])),
        (Number, &[r#""a":0.5"#, r#""a":0.25"#], number(Lt, "0.50000000000000000001"), None),
        (Number, &[r#""a":9007199254740993"#, r#""a":1"#], number(Eq, "9007199254740992"), Some(&[yes, no])),
        (Number, &[r#""a":9007199254740993"#, r#""a":1"#], number(Gt, "9007199254740992"), Some(&[yes, no])),
        (Number, &[r#""a":1e400"#, r#""a":1"#], number(Gt, "1e399"), Some(&[yes, no])),
        (Number, &[r#""a":-1e400"#, r#""a":1"#], number(Lt, "5"), None),
        (Number, &[r#""a":1"#, r#""a":null"#, ""], number(Gt, "0"), Some(&[yes, no, no])),
        (Number, &[r#""a":1"#, r#""a":null"#, ""], null.clone(), Some(&[no, yes, yes])),
        (Number, &[r#""a":1"#, r#""a":null"#, ""], not(null.clone()), Some(&[yes, no, no])),
        (Number, &[r#""a":1"#, r#""a":"x""#], number(Gt, "1"), Some(&[no, yes])),
        (Number, &[r#""a":1"#, r#""a":2"#], text(Eq, "x"), Some(&[no, no])),
        (Number, &[r#""a":1"#, r#""a":2"#, r#""a":3"#], list(&["1", "3.0"]), Some(&[yes, no, yes])),
        (Number, &[r#""a":1"#, r#""a":2"#, ""], not(list(&["1", "3.0"])), Some(&[no, yes, no])),
        (Number, &[r#""a":1,"b":2"#, r#""a":2,"b":2"#, r#""a":3"#], two(Lt), Some(&[yes, no, no])),
        (Number, &[r#""a":1,"b":2"#, r#""a":0.1,"b":0.1"#], two(Ge), Some(&[no, yes])),
        // What is no tenth has no room.
        (
            tenths,
            &[r#""a":1"#, r#""a":2.50"#, r#""a":2.55"#, r#""a":1e9"#],
            number(Gt, "2"),
            Some(&[no, yes, yes, yes]),
        ),
        (tenths, &[r#""a":1"#, r#""a":2.5"#, r#""a":-0.0"#], number(Lt, "2"), Some(&[yes, no, yes])),
        (tenths, &[r#""a":0.1"#, r#""a":0.10000000000000000001"#], number(Gt, "0.1"), None),
        (tenths, &[r#""a":0.1"#, r#""a":0.2"#, r#""a":null"#, ""], number(Gt, "0.1"), Some(&[no, yes, no, no])),
        (Text, &[r#""a":"x""#, r#""a":"y""#, r#""a":"y""#], text(Eq, "x"), Some(&[yes, no, no])),
        (Text, &[r#""a":"\u0078""#, r#""a":"y""#], text(Eq, "x"), Some(&[yes, no])),
        (
            Text,
            &[r#""a":"abc""#, r#""a":"b""#],
            Predicate::Like { slot: 0, pattern: Like::new("a%") },
            Some(&[yes, no]),
        ),
        (Text, &[r#""a":"x","b":"y""#, r#""a":"y","b":"x""#], two(Lt), Some(&[yes, no])),
        (Bool, &[r#""a":true"#, r#""a":false"#, r#""a":null"#], Predicate::Truth { slot: 0 }, Some(&[yes, no, no])),
        (Bool, &[r#""a":true"#, r#""a":false"#, "\"a\":1"], not(Predicate::Truth { slot: 0 }), Some(&[no, yes, yes])),
    ];
    for (kind, values, predicate, wanted) in rows {
        assert_eq!(decided(kind, values, &predicate).as_deref(), wanted, "{predicate:?} of {values:?}");
    }
}

#[test]
fn a_long_text_has_no_room_and_is_kept() {
    for (len, kept) in [(TEXT_MAX, None), (TEXT_MAX + 1, Some(vec![true, false]))] {
        let long = "x".repeat(len);
        let values = [format!(r#""a":"{long}""#), r#""a":"y""#.to_owned()];
        let equal = Predicate::Compare { slot: 0, op: Comparison::Eq, literal: Literal::Text("z".into()) };
        let found = decided(ColumnType::Text, &[&values[0], &values[1]], &equal);
        assert_eq!(found, kept.or(Some(vec![false, false])));
    }
}

#[test]
fn arrays_that_are_no_columns_decide_nothing() {
    let column = |array: ArrayRef| Column { array, facts: ColumnFacts::of_byte(0xfc) };
    let paths = [Path::root().key("a")];
    let condition = Condition::new(&Predicate::IsNull { slot: 0 }, &paths);
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    let columns = Columns::new(2, [(paths[0].clone(), column(numbers))]);
    assert!(columns.decide(&condition).is_none() && !columns.serve(&condition));
    let built = ColumnPlan::choose(&paths, b"{\"a\":1}\n").unwrap().build(b"{\"a\":1}\n{}\n").unwrap();
    assert_eq!(built[0].array.len(), 2);
    let columns = Columns::new(3, [(paths[0].clone(), built[0].clone())]);
    assert!(columns.decide(&condition).is_none());
}

#[test]
fn names_of_columns_are_pointers() {
    let paths = [Path::root().key("a/b~").key("c.d"), Path::root().key("")];
    let plan = ColumnPlan::choose(&paths, b"{\"\":true,\"a/b~\":{\"c.d\":5}}\n").unwrap();
    assert_eq!(plan.types(), [ColumnType::Decimal(Digits::new(0).unwrap()), ColumnType::Bool]);
    let names: Vec<String> = plan.fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["/a~1b~0/c.d", "/", "spellings"]);
    let back: Vec<Path> = names.iter().filter_map(|name| ColumnPlan::path_of(name)).collect();
    assert_eq!(back, paths);
    assert_eq!(ColumnPlan::path_of("time"), None);
}
