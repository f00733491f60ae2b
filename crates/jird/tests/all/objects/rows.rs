//! Types decoded from rows, whose fields come by number.

use super::{Adjacent, External, Flat, Internal, Lax, Strict, Untagged, by_events};
use jird::event::{self, Failure, Interest, Key, Numeral, Objects, Place, Row, Scalar, Sink, Source, Timestamp};
use jird::{Error, NumberBuf, RawValue};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt::Debug;

/// Rows with numbered keys; it counts how many were taken.
struct Rows {
    left: u64,
    names: &'static [&'static str],
    taken: usize,
}

impl Source for Rows {
    type Error = Error;

    fn send_record<S: Sink>(&mut self, sink: &mut S) -> Result<bool, Failure<Error, S::Error>> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        let place = Place { record: 10 - self.left, ..Place::default() };
        let mut send = || {
            sink.begin_record(place)?;
            sink.begin_object()?;
            for (number, name) in (0..).zip(self.names) {
                if sink.key(Key::numbered(name, number))? == Interest::Take {
                    self.taken += 1;
                    sink.number(Numeral::U64(number.into()))?;
                }
            }
            sink.end_object()?;
            sink.end_record()
        };
        send().map(|()| true).map_err(|error| Failure::Sink(error, place))
    }
}

#[test]
fn what_a_struct_does_not_name_is_not_asked_for_again() {
    let mut rows = Rows { left: 10, names: &["x", "a", "y"], taken: 0 };
    event::for_each(&mut rows, |_, lax: Lax| {
        assert_eq!(lax.a, 1);
        Ok::<(), Error>(())
    })
    .unwrap();
    assert_eq!(rows.taken, 3 + 9);
    // A map wants them all, and a type that refuses unknown fields has to see them.
    let mut rows = Rows { left: 10, names: &["x", "a", "y"], taken: 0 };
    event::for_each(&mut rows, |_, map: BTreeMap<String, u8>| {
        assert_eq!(map.len(), 3);
        Ok::<(), Error>(())
    })
    .unwrap();
    let mut rows = Rows { left: 10, names: &["a", "y"], taken: 0 };
    let refused = event::for_each(&mut rows, |_, _: Strict| Ok::<(), Error>(())).unwrap_err();
    assert!(matches!(refused, Failure::Sink(_, Place { record: 1, .. })), "{refused}");
    // By name: what is inside is another matter.
    let text = r#"{"z":1,"c":[{"z":1}],"a":1}"#.repeat(3);
    assert_eq!(by_events::<Lax>(&text).unwrap().len(), 3);
}

/// What a row of a [`Table`] has in a column.
#[derive(Clone, Copy)]
enum Held {
    Missing,
    Is(Scalar<'static>),
    List,
    Wrong,
}

/// Rows, with how often they were asked for a value, and for their events.
#[derive(Clone)]
struct Table<'t> {
    names: &'t [&'t str],
    rows: std::slice::Iter<'t, Vec<Held>>,
    sent: u64,
    asked: &'t Cell<usize>,
    told: &'t Cell<usize>,
}

struct TableRow<'a> {
    names: &'a [&'a str],
    values: &'a [Held],
    place: Place,
    asked: &'a Cell<usize>,
    told: &'a Cell<usize>,
}

impl Source for Table<'_> {
    type Error = &'static str;

    fn send_record<S: Sink>(&mut self, sink: &mut S) -> Result<bool, Failure<Self::Error, S::Error>> {
        let Some(values) = self.rows.next() else { return Ok(false) };
        let place = Place { record: self.sent, offset: 100 * self.sent, line: 1 + self.sent };
        self.sent += 1;
        sink.row(TableRow { names: self.names, values, place, asked: self.asked, told: self.told }).map(|()| true)
    }
}

impl Row for TableRow<'_> {
    type Error = &'static str;

    fn place(&self) -> Place {
        self.place
    }

    fn columns(&self) -> usize {
        self.values.len()
    }

    fn name(&self, column: usize) -> &str {
        self.names[column]
    }

    fn is_missing(&self, column: usize) -> bool {
        matches!(self.values[column], Held::Missing)
    }

    fn scalar(&self, column: usize) -> Option<Scalar<'_>> {
        self.asked.update(|asked| asked + 1);
        match self.values[column] {
            Held::Is(scalar) => Some(scalar),
            Held::List | Held::Wrong => None,
            Held::Missing => panic!("nobody asks for what is missing"),
        }
    }

    fn send<S: Sink>(self, sink: &mut S) -> Result<(), Failure<Self::Error, S::Error>> {
        self.told.update(|told| told + 1);
        let stopped = |error| Failure::Sink(error, self.place);
        sink.begin_record(self.place).map_err(stopped)?;
        sink.begin_object().map_err(stopped)?;
        for (number, (held, name)) in (0..).zip(self.values.iter().zip(self.names)) {
            if matches!(held, Held::Missing)
                || sink.key(Key::numbered(name, number)).map_err(stopped)? == Interest::Skip
            {
                continue;
            }
            match held {
                Held::Is(scalar) => scalar.send(sink).map_err(stopped)?,
                Held::List => sink.begin_array().and_then(|()| sink.end_array()).map_err(stopped)?,
                Held::Wrong | Held::Missing => return Err(Failure::Source("wrong")),
            }
        }
        sink.end_object().map_err(stopped)?;
        sink.end_record().map_err(stopped)
    }
}

/// What becomes of each row, through `sink`.
fn outcomes<S: Sink<Error = Error>>(mut table: Table<'_>, mut sink: S, log: &RefCell<Vec<String>>) -> Vec<String> {
    loop {
        let sent = table.send_record(&mut sink);
        match sent {
            Ok(true) => {}
            Ok(false) => return log.take(),
            Err(Failure::Source(wrong)) => log.borrow_mut().push(wrong.into()),
            Err(Failure::Sink(error, place)) => {
                log.borrow_mut().push(format!("{place:?} {} {error} {}", error.path(), error.offset()));
            }
        }
    }
}

/// Decodes rows from their values and from their events. Returns what becomes of each, how many values were asked for, and of how
/// many rows the events.
fn check_rows<T: DeserializeOwned + Debug>(names: &[&str], rows: &[Vec<Held>]) -> (Vec<String>, usize, usize) {
    let (asked, told) = (Cell::new(0), Cell::new(0));
    let table = Table { names, rows: rows.iter(), sent: 0, asked: &asked, told: &told };
    let log = RefCell::new(Vec::new());
    let objects = || {
        Objects::new(|index, value: T| {
            log.borrow_mut().push(format!("{index} {value:?}"));
            Ok::<_, Error>(())
        })
    };
    // A sink behind a reference has no rows.
    let wanted = outcomes(table.clone(), &mut objects(), &log);
    assert_eq!((asked.take(), told.take()), (0, rows.len()));
    let found = outcomes(table, objects(), &log);
    assert_eq!(found.len(), wanted.len(), "{}", std::any::type_name::<T>());
    for (found, wanted) in found.iter().zip(&wanted) {
        assert_eq!(found, wanted, "{}, {names:?}", std::any::type_name::<T>());
    }
    (found, asked.get(), told.get())
}

/// Wants to borrow, for a moment.
#[derive(Debug)]
struct Hex(#[expect(dead_code, reason = "shown")] u32);

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <&str>::deserialize(deserializer)?;
        u32::from_str_radix(text, 16).map(Self).map_err(serde::de::Error::custom)
    }
}

/// A visitor that takes one member and leaves the others.
#[derive(Debug)]
struct First(#[expect(dead_code, reason = "shown")] String);

impl<'de> Deserialize<'de> for First {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;
        impl<'de> serde::de::Visitor<'de> for Visit {
            type Value = First;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a member")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<First, A::Error> {
                Ok(First(map.next_entry::<String, IgnoredAny>()?.map(|(key, _)| key).unwrap_or_default()))
            }
        }
        deserializer.deserialize_map(Visit)
    }
}

#[test]
fn rows_are_decoded_as_their_events_are() {
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "shown")]
    struct Named {
        #[serde(rename = "b", alias = "bee")]
        a: Untagged,
        #[serde(default)]
        c: Option<String>,
        hex: Option<Hex>,
        raw: Option<Box<RawValue>>,
        n: Option<NumberBuf>,
        #[serde(default, with = "serde_bytes")]
        bytes: Vec<u8>,
    }
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "shown")]
    struct Around(Option<Strict>);
    #[derive(Debug, Deserialize)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "shown")]
    enum Either {
        Strict(Strict),
        Map(BTreeMap<String, Cow<'static, str>>),
        Any(serde_json::Value),
    }
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "shown")]
    struct Ends {
        a: i128,
        z: External,
    }
    let time = Timestamp { seconds: 0, nanoseconds: 0, is_utc: true };
    let of = |text| Held::Is(Scalar::Number(Numeral::new(text).unwrap()));
    let text = |text| Held::Is(Scalar::String(text));
    let one = [
        Held::Missing,
        Held::List,
        Held::Wrong,
        Held::Is(Scalar::Null),
        Held::Is(Scalar::Bool(true)),
        Held::Is(Scalar::Bytes(b"\x00\xff")),
        Held::Is(Scalar::Timestamp(time)),
        of("0"),
        of("200"),
        of("-0"),
        of("-7"),
        of("1.50"),
        of("1e400"),
        of("123456789012345678901234567890"),
        Held::Is(Scalar::Number(Numeral::F64(0.5))),
        Held::Is(Scalar::Number(Numeral::I64(-1))),
        text("Unit"),
        text("7f"),
        text(""),
    ];
    let all = [
        ["a", "b", "z"],
        ["a", "bee", "c"],
        ["b", "hex", "raw"],
        ["b", "bee", "a"],
        ["b", "n", "bytes"],
        ["kind", "value", "a"],
        ["t", "c", "id"],
        ["a", "a", "b"],
    ];
    let mut rows: Vec<Vec<Held>> = Vec::new();
    for index in 0..one.len().pow(2) {
        let (first, second) = (one[index % one.len()], one[index / one.len()]);
        rows.push(vec![first, second, of("1")]);
        rows.push(vec![text("Number"), first, second]);
        rows.push(vec![first, text("x"), second]);
    }
    rows.push(Vec::new());
    for names in &all {
        check_rows::<Strict>(names, &rows);
        check_rows::<Lax>(names, &rows);
        check_rows::<Named>(names, &rows);
        check_rows::<Around>(names, &rows);
        check_rows::<Either>(names, &rows);
        check_rows::<Ends>(names, &rows);
        check_rows::<Flat>(names, &rows);
        check_rows::<Internal>(names, &rows);
        check_rows::<Adjacent>(names, &rows);
        check_rows::<External>(names, &rows);
        check_rows::<First>(names, &rows);
        check_rows::<BTreeMap<String, f32>>(names, &rows);
        check_rows::<BTreeMap<String, u128>>(names, &rows);
        check_rows::<BTreeMap<char, Option<IgnoredAny>>>(names, &rows);
        check_rows::<Vec<(String, u8)>>(names, &rows);
        check_rows::<Box<RawValue>>(names, &rows);
        check_rows::<serde_json::Value>(names, &rows);
        check_rows::<IgnoredAny>(names, &rows);
        check_rows::<String>(names, &rows);
        check_rows::<()>(names, &rows);
    }
}

#[test]
fn rows_are_asked_for_what_is_wanted() {
    let (number, list) = (Held::Is(Scalar::Number(Numeral::U64(1))), Held::List);
    // What the struct does not name comes once; what is wrong with it later does not matter.
    let rows = [vec![number; 3], vec![number; 3], vec![Held::Wrong, number, Held::Missing]];
    let (found, asked, told) = check_rows::<Lax>(&["x", "a", "y"], &rows);
    assert_eq!((found.len(), asked, told), (3, 5, 0));
    // Of a row that is wrong the events are asked, and of the next one the values again.
    let rows = [vec![number], vec![Held::Wrong], vec![number], vec![Held::Is(Scalar::Null)], vec![number]];
    let (found, asked, told) = check_rows::<BTreeMap<String, u8>>(&["a"], &rows);
    assert_eq!((found.len(), asked, told), (5, 5, 2));
    assert_eq!(found[1], "wrong");
    // A row whose events are more than its values is the last that is asked.
    let rows = [vec![number], vec![list], vec![number]];
    let (found, asked, told) = check_rows::<BTreeMap<String, serde_json::Value>>(&["a"], &rows);
    assert_eq!((found.len(), asked, told), (3, 2, 2));
    // A closure's error is its own.
    let (asked, told) = (Cell::new(0), Cell::new(0));
    let rows = [vec![number], vec![number]];
    let mut table = Table { names: &["a"], rows: rows.iter(), sent: 0, asked: &asked, told: &told };
    let stopped = event::for_each(&mut table, |index, _: Lax| {
        if index == 1 { Err(<Error as serde::de::Error>::custom("enough")) } else { Ok(()) }
    });
    let Err(Failure::Sink(error, place)) = stopped else { panic!("{stopped:?}") };
    assert_eq!((error.to_string().as_str(), place.record, told.get()), ("enough", 1, 0));
}
