//! Rows as Rust types.

use crate::Random;
use jird::event::{self, Failure, Objects, Row, Scalar, Sink, Source};
use jird_formats::{CsvSource, CsvType, Empty, Error};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::{Debug, Write as _};

/// Asks each row for all of its values.
#[derive(Default)]
struct Asks(String);

impl Sink for Asks {
    type Error = std::convert::Infallible;

    fn row<R: Row>(&mut self, row: R) -> Result<(), Failure<R::Error, Self::Error>> {
        for column in 0..row.columns() {
            let told = match row.scalar(column) {
                _ if row.is_missing(column) => "missing".into(),
                None => "something".into(),
                Some(Scalar::String(text)) => format!("{text:?}"),
                Some(Scalar::Number(number)) => format!("{:?}", number.machine().unwrap()),
                Some(scalar) => format!("{scalar:?}"),
            };
            write!(self.0, "{}={told} ", row.name(column)).unwrap();
        }
        writeln!(self.0, "line {}", row.place().line).unwrap();
        Ok(())
    }
}

#[test]
fn rows_send_each_field_with_the_type_of_its_column() {
    let text = "n,text,auto,flag\n1,\"a \"\"b\"\" c\",\"\"\"\",true\n1.5,,\"\",no\nx,NA,-2,\"false\"\n,\"NA\",true,\n";
    let source = || CsvSource::new(text.as_bytes()).column_type("n", CsvType::Number);
    let source = || source().column_type("auto", CsvType::Auto).column_type("flag", CsvType::Bool).nulls(["NA"]);
    let asked = |mut source: CsvSource<&[u8]>| {
        let mut asks = Asks::default();
        event::copy(&mut source, &mut asks).unwrap();
        asks.0
    };
    let wanted = r#"n=I64(1) text="a \"b\" c" auto="\"" flag=Bool(true) line 2
n=F64(1.5) text="" auto="" flag=something line 3
n=something text=Null auto=I64(-2) flag=Bool(false) line 4
n=Null text="NA" auto=Bool(true) flag=Null line 5
"#;
    assert_eq!(asked(source()), wanted);
    let missing = asked(source().empty(Empty::Missing));
    assert_eq!(missing.lines().nth(1), Some(r#"n=F64(1.5) text=missing auto="" flag=something line 3"#));
    assert_eq!(missing.lines().nth(3), Some(r#"n=missing text="NA" auto=Bool(true) flag=missing line 5"#));
    // Read by csv-core: a quote within a field, and text behind a closing one.
    let odd = asked(CsvSource::new("a,b\n\"x\"\"y\"z,\"p\"\"q\"\n".as_bytes()));
    assert_eq!(odd, "a=\"x\\\"yz\" b=\"p\\\"q\" line 2\n");
}

/// Decodes records from their fields and from their events, and in small pieces: values and errors must be the same.
fn check_objects<'t, T: DeserializeOwned + Debug>(source: impl Fn() -> CsvSource<&'t [u8]>) -> Vec<String> {
    let log = RefCell::new(Vec::new());
    let objects = || {
        Objects::new(|index, value: T| {
            log.borrow_mut().push(format!("{index} {value:?}"));
            Ok::<_, jird::Error>(())
        })
    };
    let note = |failure: Failure<Error, jird::Error>| log.borrow_mut().push(format!("{failure:?}"));
    let (mut by_events, mut sink) = (source(), objects());
    // A sink behind a reference has no rows.
    while by_events.send_record(&mut &mut sink).map_err(note).unwrap_or(true) {}
    let wanted = log.take();
    for chunk_bytes in [1, 7, 64, 1 << 16] {
        let (mut by_rows, mut sink) = (source().chunk_bytes(chunk_bytes), objects());
        while by_rows.send_record(&mut sink).map_err(note).unwrap_or(true) {}
        for (found, wanted) in log.borrow().iter().zip(&wanted) {
            assert_eq!(found, wanted, "{}", std::any::type_name::<T>());
        }
        assert_eq!(log.take().len(), wanted.len());
    }
    wanted
}

#[test]
fn records_are_decoded_from_their_fields_as_from_their_events() {
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "shown")]
    struct Stop {
        id: u32,
        #[serde(alias = "label")]
        name: String,
        at: Option<f64>,
        #[serde(default)]
        ok: bool,
    }
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "shown")]
    struct Flat {
        id: u64,
        #[serde(flatten)]
        rest: BTreeMap<String, serde_json::Value>,
    }
    #[derive(Debug, Deserialize)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "shown")]
    enum Either {
        Stop(Stop),
        Flat(Flat),
    }
    let fields = ["", "1", "-1", "300.5", "1e999", "x", "\"\"", "\"7\"", "\"a \"\"b\"\",\n\"", "\"p\"q", "true", "NA"];
    let mut rows = String::new();
    let mut random = Random(7);
    for _ in 0..3000 {
        let count = if random.below(50) == 0 { 3 } else { 4 };
        let row: Vec<_> = (0..count).map(|_| fields[random.below(fields.len())]).collect();
        writeln!(rows, "{}", row.join(",")).unwrap();
    }
    for head in ["id,name,at,ok", "other,id,label,at", "name,id,id2,name2", "at,more,id,label"] {
        let text = format!("{head}\n{rows}");
        let names: Vec<_> = head.split(',').collect();
        let plain = || CsvSource::new(text.as_bytes());
        let typed = || plain().typed().nulls(["NA"]);
        let numbers = || plain().column_type(names[0], CsvType::Number).empty(Empty::Missing);
        let mixed = || typed().column_type(names[3], CsvType::Bool).column_type(names[1], CsvType::Text).flexible();
        let json = || typed().column_type(names[2], CsvType::Json);
        for source in [&plain as &dyn Fn() -> _, &typed, &numbers, &mixed, &json] {
            check_objects::<Stop>(source);
            check_objects::<Flat>(source);
            check_objects::<Either>(source);
            check_objects::<BTreeMap<String, String>>(source);
            check_objects::<BTreeMap<String, Option<f32>>>(source);
            check_objects::<serde_json::Value>(source);
        }
    }
}
