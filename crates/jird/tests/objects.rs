//! Rust types as sinks and as sources: what comes out is what the way through text gives.

mod common;

use jird::event::{
    self, Failure, Interest, JsonSink, JsonSource, Key, Numeral, Objects, Place, Recording, Row, Scalar, Sink, Source,
    Timestamp,
};
use jird::{Error, NumberBuf, RawValue};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;

/// What the records of a text are, by way of events.
fn by_events<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, Error> {
    let mut records = Vec::new();
    let mut source = JsonSource::from_slice(text.as_bytes());
    let sent = event::for_each(&mut source, |index, record: T| {
        assert_eq!(index, records.len() as u64);
        records.push(record);
        Ok::<(), Error>(())
    });
    sent.map(|()| records).map_err(Failure::either)
}

/// Decodes the text in both ways.
fn check<T: DeserializeOwned + Debug>(text: &str) {
    common::force_kernel();
    let wanted = jird::from_str::<T>(text);
    let found = by_events::<T>(text);
    match (&wanted, &found) {
        (Ok(wanted), Ok(found)) => assert_eq!(format!("[{wanted:?}]"), format!("{found:?}"), "{text}"),
        (Err(wanted), Err(found)) => {
            assert_eq!(wanted.path(), found.path(), "{text}: {wanted}, {found}");
        }
        _ => panic!("{wanted:?} by text, {found:?} by events: {text}"),
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Unit;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Newtype(u8);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Tuple(u8, String, Option<Box<Tuple>>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum External {
    Unit,
    Newtype(Option<i16>),
    Tuple(u8, char),
    Struct { a: (), b: Vec<External> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
enum Internal {
    Nothing,
    Number { value: f64 },
    List { values: Vec<u64>, inner: Box<Internal> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Unit,
    Newtype(String),
    Struct { x: i8 },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Number(i64),
    Float(f64),
    Text(String),
    List(Vec<Untagged>),
    Map { a: Box<Untagged> },
    Null,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Flat {
    id: u64,
    #[serde(flatten)]
    rest: BTreeMap<String, Untagged>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Strict {
    a: u8,
    #[serde(default, alias = "bee")]
    b: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Lax {
    a: u8,
    #[serde(rename = "a key\n")]
    b: Option<String>,
    c: Vec<Lax>,
}

#[test]
fn every_shape_is_decoded_as_text_is() {
    for text in [
        "null",
        "true",
        "0",
        "-1",
        "1.5",
        "\"x\"",
        "\"\"",
        "[]",
        "{}",
        "[null]",
        "{\"a\":1}",
        "300",
        "1e400",
        "-0",
        "1e2",
    ] {
        check::<()>(text);
        check::<bool>(text);
        check::<u8>(text);
        check::<i64>(text);
        check::<u128>(text);
        check::<i128>(text);
        check::<f32>(text);
        check::<f64>(text);
        check::<char>(text);
        check::<String>(text);
        check::<Option<u64>>(text);
        check::<Vec<Option<u8>>>(text);
        check::<(u8, String)>(text);
        check::<[u8; 1]>(text);
        check::<BTreeMap<String, u8>>(text);
        check::<HashMap<u8, u8>>(text);
        check::<Unit>(text);
        check::<Newtype>(text);
        check::<Tuple>(text);
        check::<External>(text);
        check::<Internal>(text);
        check::<Untagged>(text);
        check::<Flat>(text);
        check::<Strict>(text);
        check::<Lax>(text);
        check::<IgnoredAny>(text);
        check::<ByteBuf>(text);
        check::<serde_json::Value>(text);
        check::<NumberBuf>(text);
        check::<Cow<'_, str>>(text);
    }
    let numbers = "[18446744073709551615,-9223372036854775808,340282366920938463463374607431768211455,0.1,1.0,-0.0,12345678901234567890123]";
    check::<Vec<u64>>(numbers);
    check::<Vec<f64>>(numbers);
    check::<Vec<f32>>(numbers);
    check::<Vec<NumberBuf>>(numbers);
    check::<Vec<serde_json::Value>>(numbers);
    check::<(u64, i64, u128)>("[18446744073709551615,-9223372036854775808,340282366920938463463374607431768211455]");
    check::<(i128, i128)>("[-170141183460469231731687303715884105728,-1]");
    check::<Vec<i128>>("[-170141183460469231731687303715884105729]");
    check::<Vec<Tuple>>(r#"[[1,"a",null],[2,"b",[3,"c",null]]]"#);
    check::<Vec<External>>(
        r#"["Unit",{"Unit":null},{"Newtype":null},{"Newtype":-3},{"Tuple":[1,"x"]},{"Struct":{"a":null,"b":["Unit"]}}]"#,
    );
    for text in [
        r#"{"Newtype":1,"Unit":null}"#,
        r#"{"Nothing":1}"#,
        r#""Tuple""#,
        r#"{"Tuple":[1]}"#,
        r#"{"Tuple":[1,"x",2]}"#,
        "{}",
    ] {
        check::<External>(text);
    }
    check::<Vec<Internal>>(
        r#"[{"kind":"Nothing"},{"value":1,"kind":"Number"},{"kind":"List","inner":{"kind":"Nothing","x":{}},"values":[1,2]}]"#,
    );
    check::<Vec<Adjacent>>(r#"[{"t":"Unit"},{"c":"x","t":"Newtype"},{"t":"Struct","c":{"x":-1}}]"#);
    check::<Vec<Untagged>>(r#"[1,1.5,"x",[null,[2]],{"a":{"a":null}},9223372036854775808]"#);
    check::<Flat>(r#"{"x":[1],"id":7,"y":{"a":null}}"#);
    check::<Strict>(r#"{"a":1,"bee":"x"}"#);
    check::<Strict>(r#"{"a":1,"c":"x"}"#);
    check::<Strict>(r#"{"a":1,"a":2}"#);
    check::<Lax>(r#"{"z":{"a":[{}]},"a key\n":"q\"","c":[{"a":2,"zz":1}],"a":3}"#);
    check::<Lax>(r#"{"c":[{},{"a":256}]}"#);
    check::<Lax>(r#"{"c":[{},{"a":"256"}]}"#);
    check::<BTreeMap<i8, (bool, char)>>(r#"{"1":[true,"x"],"-128":[false,"ü"]}"#);
    check::<BTreeMap<i8, u8>>(r#"{"200":1}"#);
    check::<BTreeMap<bool, u8>>(r#"{"true":1}"#);
    check::<BTreeMap<char, u8>>(r#"{"x":1}"#);
    check::<BTreeMap<u128, u8>>(r#"{"340282366920938463463374607431768211455":1}"#);
    check::<BTreeMap<Option<Newtype2>, u8>>(r#"{"7":1}"#);
    check::<ByteBuf>(r#""\u0000a""#);
    check::<ByteBuf>("[1,2,255]");
    check::<Base64>(r#"{"bytes":"AQI="}"#);
    check::<Vec<Box<RawValue>>>(r#"[{"a":[1.50,"x"]},1e400,"\"",null]"#);
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
struct Newtype2(u16);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Base64 {
    #[serde(with = "jird::base64")]
    bytes: Vec<u8>,
}

#[test]
fn documents_of_the_corpus_are_decoded_as_text_is() {
    let Some(root) = common::corpus() else { return };
    for common::Document { name, text } in common::documents(&root) {
        let Ok(text) = std::str::from_utf8(&text) else { continue };
        // Numbers that no double holds are refused in both ways.
        let Ok(wanted) = jird::from_str::<serde_json::Value>(text) else { continue };
        assert!(by_events::<serde_json::Value>(text).is_ok_and(|found| found == [wanted]), "{name}");
    }
}

/// One record, sent by a closure.
struct Once<F>(Option<F>);

impl<F: FnOnce(&mut Recording) -> Result<(), Error>> Once<F> {
    fn recording(self) -> Recording {
        let mut recording = Recording::new();
        self.0.unwrap()(&mut recording).unwrap();
        recording
    }
}

fn recorded(send: impl FnOnce(&mut Recording) -> Result<(), Error>) -> Recording {
    Once(Some(send)).recording()
}

#[test]
fn bytes_and_times_are_what_is_asked_for() {
    let bytes = recorded(|sink| sink.bytes(&[1, 2]));
    assert_eq!(bytes.decode::<ByteBuf>().unwrap(), [1, 2]);
    assert_eq!(bytes.decode::<&[u8]>().unwrap(), [1, 2]);
    assert_eq!(bytes.decode::<Vec<u8>>().unwrap(), [1, 2]);
    assert_eq!(bytes.decode::<[u8; 2]>().unwrap(), [1, 2]);
    assert_eq!(bytes.decode::<String>().unwrap(), "AQI=");
    assert_eq!(bytes.decode::<serde_json::Value>().unwrap(), "AQI=");
    assert_eq!(bytes.decode::<Box<RawValue>>().unwrap().get(), "\"AQI=\"");
    assert!(bytes.decode::<[u8; 1]>().is_err() && bytes.decode::<u8>().is_err());
    let row = recorded(|sink| {
        sink.begin_object()?;
        sink.key(Key::new("bytes"))?;
        sink.bytes(&[1, 2, 3])?;
        sink.end_object()
    });
    assert_eq!(row.decode::<Base64>().unwrap().bytes, [1, 2, 3]);
    let time = recorded(|sink| sink.timestamp(Timestamp { seconds: -1, nanoseconds: 500_000_000, is_utc: true }));
    assert_eq!(time.decode::<String>().unwrap(), "1969-12-31T23:59:59.5Z");
    assert_eq!(time.decode::<serde_json::Value>().unwrap(), "1969-12-31T23:59:59.5Z");
    assert!(time.decode::<i64>().is_err());
}

#[test]
fn numbers_of_machines_are_what_is_asked_for() {
    let of = |number| recorded(|sink| sink.number(number));
    assert_eq!(of(Numeral::I64(7)).decode::<u8>().unwrap(), 7);
    assert_eq!(of(Numeral::I64(-7)).decode::<i128>().unwrap(), -7);
    assert!(of(Numeral::I64(-7)).decode::<u128>().is_err());
    assert_eq!(of(Numeral::U64(u64::MAX)).decode::<u128>().unwrap(), u64::MAX.into());
    assert!(of(Numeral::U64(u64::MAX)).decode::<i64>().is_err());
    assert_eq!(of(Numeral::U64(3)).decode::<f64>().unwrap().to_bits(), 3.0_f64.to_bits());
    assert_eq!(of(Numeral::F64(0.5)).decode::<f32>().unwrap().to_bits(), 0.5_f32.to_bits());
    assert!(of(Numeral::F64(1.0)).decode::<i64>().is_err() && of(Numeral::F64(1.0)).decode::<i128>().is_err());
    assert_eq!(of(Numeral::F64(1.0)).decode::<NumberBuf>().unwrap().to_string(), "1.0");
}

/// Rows with numbered keys, of which it notes how many were taken.
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
    // A map wants them all, and who refuses what is unknown has to see it.
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
    // A sink behind a reference knows no rows.
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
    // What the struct does not name comes once; what is wrong with it later is nobody's concern.
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

#[test]
fn a_record_that_is_wrong_says_nothing_of_those_behind_it() {
    let mut found = Vec::new();
    let mut objects = Objects::new(|_, lax: Lax| {
        found.push(lax.a);
        Ok::<(), Error>(())
    });
    let mut send = |text: &str| JsonSource::from_slice(text.as_bytes()).send(&mut objects).is_ok();
    let sent = [r#"{"x":1,"a":"no"}"#, r#"{"a":1,"x":2}"#, r#"{"a":2,"x":3}"#].map(&mut send);
    assert_eq!((sent, found), ([false, true, true], vec![1, 2]));
}

#[test]
fn a_numeral_is_what_its_text_says() {
    let alphabet = ["", "0", "1", "9", "-", ".", "e", "12", "\u{fc}", ":", "/", " "];
    for index in 0..alphabet.len().pow(5) {
        let text: String = (0..5).map(|at| alphabet[index / alphabet.len().pow(at) % alphabet.len()]).collect();
        let mut written = Vec::new();
        let found = Numeral::new(&text).inspect(|numeral| numeral.write(&mut written));
        assert_eq!(found.is_some(), jird::Number::new(&text).is_some(), "{text}");
        assert!(found.is_none() || written == text.as_bytes(), "{text}");
    }
    for text in ["12345678", "01234567", "123456789", "18446744073709551616", "1234567a", "-1234567"] {
        assert_eq!(Numeral::new(text).map(Numeral::machine), jird::Number::new(text).map(jird::Number::machine_number));
    }
}

#[test]
fn a_closure_stops_with_words_of_its_own() {
    #[derive(Debug, PartialEq)]
    enum Stop {
        Enough,
        Wrong(String),
    }
    impl From<Error> for Stop {
        fn from(error: Error) -> Self {
            Self::Wrong(error.to_string())
        }
    }
    let mut source = JsonSource::from_slice(b"1\n2\n3");
    let stopped = event::for_each(&mut source, |index, _: u8| if index == 1 { Err(Stop::Enough) } else { Ok(()) });
    assert_eq!(stopped, Err(Failure::Sink(Stop::Enough, Place { record: 1, offset: 2, line: 2 })));
    let mut source = JsonSource::from_slice(b"[1]\n[1,{}]");
    let stopped = event::for_each(&mut source, |_, _: Vec<u8>| Ok(()));
    let wrong = Stop::Wrong("[1]: invalid type: map, expected u8".into());
    assert_eq!(stopped, Err(Failure::Sink(wrong, Place { record: 1, offset: 4, line: 2 })));
}

/// Takes nothing of one key.
struct Picky(JsonSink<Vec<u8>>);
impl Sink for Picky {
    type Error = Error;
    fn begin_object(&mut self) -> Result<(), Error> {
        self.0.begin_object()
    }
    fn key(&mut self, key: Key<'_>) -> Result<Interest, Error> {
        if key.text() == "skip" { Ok(Interest::Skip) } else { self.0.key(key) }
    }
    fn end_object(&mut self) -> Result<(), Error> {
        self.0.end_object()
    }
    fn bool(&mut self, value: bool) -> Result<(), Error> {
        self.0.bool(value)
    }
}
#[test]
fn a_recording_says_what_it_heard() {
    let text = r#"{"a":[1.50,{"b":"x\n"},[],{}],"c":null,"skip":[[1]],"d":true}"#;
    let mut recording = Recording::new();
    event::copy(&mut JsonSource::from_slice(text.as_bytes()), &mut recording).unwrap();
    let mut out = JsonSink::new(Vec::new());
    event::copy(&mut recording.source(), &mut out).unwrap();
    assert_eq!(String::from_utf8(out.into_inner()).unwrap(), format!("{text}\n"));

    let mut recording = Recording::new();
    let text = br#"{"skip":[[1,{"x":2}]],"d":true,"skip":0,"skip":{}}"#;
    event::copy(&mut JsonSource::from_slice(text), &mut recording).unwrap();
    let mut picky = Picky(JsonSink::new(Vec::new()));
    event::copy(&mut recording.source(), &mut picky).unwrap();
    assert_eq!(picky.0.so_far(), br#"{"d":true}"#);
    // What is cut off is no record.
    let mut source = JsonSource::from_slice(b"[[1]");
    source.send(&mut recording).unwrap_err();
    assert!(!recording.is_complete() && recording.decode::<IgnoredAny>().is_err());
    let mut out = JsonSink::new(Vec::new());
    event::copy(&mut recording.source(), &mut out).unwrap();
    assert!(out.into_inner().is_empty());
}

/// What no source should send is refused, and that is all.
#[test]
fn a_recording_of_nonsense_is_refused() {
    assert!(recorded(Sink::end_array).decode::<Vec<u8>>().is_err());
    assert!(recorded(|sink| sink.key(Key::new("x")).map(drop)).decode::<u8>().is_err());
    let nonsense = recorded(|sink| {
        sink.begin_object()?;
        sink.key(Key::new("x"))?;
        sink.end_object()
    });
    assert!(nonsense.decode::<BTreeMap<String, u8>>().is_err());
    let mut out = JsonSink::new(Vec::new());
    nonsense.source().send(&mut out).unwrap();
    let mut sink = Objects::new(|_, _: u8| Ok::<(), Error>(()));
    assert!(sink.end_record().is_err());
}

#[test]
fn depth_takes_memory_and_no_stack() {
    const DEPTH: usize = 100_000;
    let text = format!("{}1{}", "[{\"a\":".repeat(DEPTH / 2), "}]".repeat(DEPTH / 2));
    let mut recording = Recording::new();
    let mut source = JsonSource::from_slice(text.as_bytes()).depth_max(DEPTH);
    event::copy(&mut source, &mut recording).unwrap();
    let mut out = JsonSink::new(Vec::new());
    event::copy(&mut recording.source(), &mut out).unwrap();
    assert_eq!(out.into_inner(), format!("{text}\n").as_bytes());
    recording.decode::<IgnoredAny>().unwrap();
    assert_eq!(recording.decode::<serde_json::Value>().unwrap_err().code(), "depth");
    assert_eq!(recording.decode::<Box<RawValue>>().unwrap().get().len(), text.len());
}

/// What a value is as events, as text: from one, as a record, and by way of a tape.
fn told<T: ?Sized + Serialize>(value: &T) -> Result<String, Error> {
    let mut out = JsonSink::new(Vec::new());
    event::send_value(value, &mut out).map_err(Failure::either::<Error>)?;
    let alone = String::from_utf8(out.so_far().to_vec()).unwrap();
    let mut out = JsonSink::new(Vec::new());
    event::copy(&mut event::Values::new([value, value]), &mut out).map_err(Failure::either::<Error>)?;
    assert_eq!(String::from_utf8(out.into_inner()).unwrap(), format!("{alone}\n{alone}\n"));
    let document = jird::parse(alone.as_bytes())?;
    let mut out = JsonSink::new(Vec::new());
    event::copy(&mut event::Parsed::new([document.root()]), &mut out).map_err(Failure::either::<Error>)?;
    assert_eq!(String::from_utf8(out.into_inner()).unwrap(), format!("{alone}\n"));
    Ok(alone)
}

fn check_told<T: ?Sized + Serialize>(value: &T) {
    common::force_kernel();
    assert_eq!(told(value).unwrap(), jird::to_string(value).unwrap());
}

#[derive(Serialize)]
struct Wide<'a> {
    a: i8,
    #[serde(rename = "a key\nof \"its\" own")]
    escaped: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<u8>,
    list: Vec<Option<bool>>,
    #[serde(flatten)]
    flat: BTreeMap<&'a str, f32>,
}

#[test]
fn every_shape_is_told_as_it_is_written() {
    check_told(&());
    check_told(&Unit);
    check_told(&(true, 1_u8, -2_i8, 3_u16, -4_i16, 5_u32, -6_i32, 7_u64, -8_i64));
    check_told(&(u64::MAX, i64::MIN, u128::MAX, i128::MIN, i128::MAX, 0_u128, -1_i128));
    check_told(&("text", 'c', '"', "\u{1}\u{7f}ü😀"));
    check_told(&(0.1_f64, 0.1_f32, 1e300, 1.0_f32, -0.0, f64::NAN, f32::INFINITY, 5e-324));
    check_told(&[None, Some(Some(1)), Some(None)]);
    check_told(&Tuple(1, "x".into(), Some(Box::new(Tuple(2, String::new(), None)))));
    check_told(&[External::Unit, External::Newtype(None), External::Newtype(Some(3)), External::Tuple(1, 'x')]);
    check_told(&External::Struct { a: (), b: vec![External::Unit] });
    check_told(&[Internal::Nothing, Internal::Number { value: 1.0 }]);
    check_told(&[Adjacent::Unit, Adjacent::Newtype("x".into()), Adjacent::Struct { x: -1 }]);
    check_told(&Untagged::List(vec![Untagged::Null, Untagged::Map { a: Box::new(Untagged::Float(0.5)) }]));
    let flat = BTreeMap::from([("x", 0.3), ("y", 1.0)]);
    check_told(&Wide { a: 1, escaped: "e\\", skipped: None, list: vec![None, Some(true)], flat: flat.clone() });
    check_told(&Wide { a: 1, escaped: "", skipped: Some(1), list: vec![], flat });
    check_told(&BTreeMap::from([(1_u8, "a"), (200, "b")]));
    check_told(&BTreeMap::from([(i128::MIN, 1), (i128::MAX, 2)]));
    check_told(&BTreeMap::from([(true, 1)]));
    check_told(&BTreeMap::from([('"', 1)]));
    check_told(&BTreeMap::from([(Some("x"), 1)]));
    check_told(&std::net::Ipv4Addr::LOCALHOST);
    check_told(&HashMap::from([(std::net::Ipv4Addr::LOCALHOST, 1)]));
    check_told(&jird::from_str::<Vec<NumberBuf>>("[1.50,1e400,123456789012345678901234567890]").unwrap());
    check_told(&RawValue::from_string(r#"{"a":[1.50,"\"",{}],"b":null}"#.into()).unwrap());
    check_told(&serde_json::json!({"a": [1, -1, 1.5, "x", null, {}], "b": {}}));
    check_told(&jird::parse(br#"[{"a":[]},1.50,"\u0041"]"#).unwrap());
    check_told(&Base64 { bytes: vec![1, 2, 3] });
    assert_eq!(told(&ByteBuf::from([1, 2])).unwrap(), "\"AQI=\"");
    for refused in [
        told(&BTreeMap::from([((), 1)])).unwrap_err(),
        told(&BTreeMap::from([(vec![1], 1)])).unwrap_err(),
        told(&BTreeMap::from([(None::<u8>, 1)])).unwrap_err(),
        told(&BTreeMap::from([(ByteBuf::new(), 1)])).unwrap_err(),
    ] {
        assert_eq!(refused.to_string(), jird::to_string(&BTreeMap::from([((), 1)])).unwrap_err().to_string());
    }
}

#[test]
fn values_come_round() {
    fn round<T: Clone + Debug + PartialEq + Serialize + DeserializeOwned>(values: &[T]) {
        let mut back = Vec::new();
        event::for_each(&mut event::Values::new(values), |_, value: T| {
            back.push(value);
            Ok::<(), Error>(())
        })
        .unwrap();
        assert_eq!(back, values);
    }
    round(&[u64::MAX, 0]);
    round(&[i128::MIN, u64::MAX.into()]);
    round(&[0.1_f32, f32::MAX, f32::MIN_POSITIVE, -0.0]);
    round(&[f64::MIN_POSITIVE, 0.1, 1e308]);
    round(&[ByteBuf::from([1, 2, 255])]);
    round(&[External::Struct { a: (), b: vec![External::Tuple(1, 'x'), External::Newtype(None)] }]);
    round(&[Internal::List { values: vec![1], inner: Box::new(Internal::Number { value: 0.5 }) }, Internal::Nothing]);
    round(&[Adjacent::Struct { x: 1 }, Adjacent::Unit]);
    round(&[Flat { id: 7, rest: BTreeMap::from([("x".into(), Untagged::Text("y".into()))]) }]);
}

#[test]
fn fields_have_numbers_that_are_their_own_in_all_records() {
    #[derive(Serialize)]
    struct Inner {
        b: u8,
        c: u8,
    }
    #[derive(Serialize)]
    #[serde(untagged)]
    enum Either {
        One {
            a: u8,
            #[serde(skip_serializing_if = "Option::is_none")]
            b: Option<u8>,
            inner: Inner,
        },
        Other {
            c: u8,
            a: u8,
        },
    }
    #[derive(Default)]
    struct Numbers(BTreeMap<u32, String>, usize);
    impl Sink for Numbers {
        type Error = Error;
        fn key(&mut self, key: Key<'_>) -> Result<Interest, Error> {
            let known = self.0.entry(key.number().unwrap()).or_insert_with(|| key.text().to_owned());
            assert_eq!(known, key.text());
            self.1 += 1;
            Ok(Interest::take_if(key.text() != "c"))
        }
    }
    let values = [
        Either::One { a: 1, b: None, inner: Inner { b: 1, c: 2 } },
        Either::Other { c: 1, a: 2 },
        Either::One { a: 1, b: Some(2), inner: Inner { b: 1, c: 2 } },
    ];
    let mut numbers = Numbers::default();
    event::copy(&mut event::Values::new(&values), &mut numbers).unwrap();
    assert_eq!(numbers.0.into_values().collect::<Vec<_>>(), ["a", "inner", "b", "c"]);
    assert_eq!(numbers.1, 4 + 2 + 5);
}

/// What a sink skips is not serialized at all.
#[test]
fn what_is_skipped_is_not_looked_at() {
    struct Never(u8);
    impl Serialize for Never {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            panic!("nobody wants {}", self.0)
        }
    }
    #[derive(Serialize)]
    struct Row {
        skip: Never,
        map: BTreeMap<&'static str, Never>,
        variant: Variant,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "lowercase")]
    enum Variant {
        Skip(Never, Never),
    }
    struct Log(Vec<String>);
    impl Sink for Log {
        type Error = Error;
        fn key(&mut self, key: Key<'_>) -> Result<Interest, Error> {
            self.0.push(key.text().into());
            Ok(Interest::take_if(key.text() != "skip"))
        }
        fn begin_array(&mut self) -> Result<(), Error> {
            panic!("nobody wants it")
        }
    }
    let mut log = Log(Vec::new());
    let row =
        Row { skip: Never(0), map: BTreeMap::from([("skip", Never(0))]), variant: Variant::Skip(Never(1), Never(2)) };
    event::send_value(&row, &mut log).unwrap();
    assert_eq!(log.0, ["skip", "map", "skip", "variant", "skip"]);
}

#[test]
fn the_keys_of_another_source_have_other_numbers() {
    #[derive(serde::Deserialize)]
    struct Two {
        a: String,
        b: String,
    }
    let send = |sink: &mut dyn Sink<Error = jird::Error>, names: [&str; 3]| {
        sink.begin_record(Place::default())?;
        sink.begin_object()?;
        for (number, name) in (0..).zip(names) {
            if sink.key(Key::numbered(name, number))? == Interest::Take {
                sink.string(name)?;
            }
        }
        sink.end_object()?;
        sink.end_record()
    };
    let mut read = Vec::new();
    let mut objects = Objects::new(|_, two: Two| {
        read.push((two.a, two.b));
        Ok::<_, jird::Error>(())
    });
    let mut recording = Recording::new();
    for names in [["a", "b", "other"], ["a", "b", "other"], ["other", "a", "b"], ["b", "other", "a"]] {
        send(&mut objects, names).unwrap();
        send(&mut recording, names).unwrap();
        let mut out = jird::event::JsonSink::new(Vec::new());
        recording.source().send(&mut out).unwrap();
        let wanted = names.map(|name| format!("\"{name}\":\"{name}\"")).join(",");
        assert_eq!(out.so_far(), format!("{{{wanted}}}\n").as_bytes());
    }
    drop(objects);
    assert!(read.len() == 4 && read.iter().all(|(a, b)| a == "a" && b == "b"), "{read:?}");
}
