//! Arrow's integration JSON as a source, to compare with: every type that it has.

use core::convert::Infallible;
use jird::event::{Failure, Interest, Key, Numeral, Place, Sink, Source, Timestamp};
use jird::{Document, Kind, Number, Value};
use std::collections::HashMap;

/// A file of batches as JSON.
pub(crate) struct Golden {
    document: Document<'static>,
    batch: usize,
    row: usize,
    record: u64,
}

impl Golden {
    pub(crate) fn new(text: &str) -> Self {
        Self { document: jird::parse(text.as_bytes()).unwrap().into_owned(), batch: 0, row: 0, record: 0 }
    }
}

impl Source for Golden {
    type Error = Infallible;

    fn send_record<S: Sink>(&mut self, sink: &mut S) -> Result<bool, Failure<Infallible, S::Error>> {
        let root = self.document.root();
        let batch = loop {
            let Some(batch) = root.get("batches").unwrap().at(self.batch) else { return Ok(false) };
            if self.row < integer(batch, "count") {
                break batch;
            }
            (self.batch, self.row) = (self.batch + 1, 0);
        };
        let dictionaries = root.get("dictionaries").into_iter().flat_map(Value::elements);
        let dictionaries =
            dictionaries.map(|one| (integer(one, "id"), one.pointer("/data/columns/0").unwrap())).collect();
        let reader = Reader { dictionaries };
        let place = Place { record: self.record, ..Place::default() };
        let fields = root.pointer("/schema/fields").unwrap();
        let mut send = || {
            sink.begin_record(place)?;
            sink.begin_object()?;
            for (field, column) in fields.elements().zip(batch.get("columns").unwrap().elements()) {
                if sink.key(Key::new(&text(field, "name")))? == Interest::Take {
                    reader.send(field, column, self.row, sink)?;
                }
            }
            sink.end_object()?;
            sink.end_record()
        };
        send().map_err(|error| Failure::Sink(error, place))?;
        (self.row, self.record) = (self.row + 1, self.record + 1);
        Ok(true)
    }
}

struct Reader<'v> {
    dictionaries: HashMap<usize, Value<'v>>,
}

impl Reader<'_> {
    fn send<S: Sink>(&self, field: Value<'_>, column: Value<'_>, row: usize, sink: &mut S) -> Result<(), S::Error> {
        if column.get("VALIDITY").is_some_and(|valid| number(valid.at(row).unwrap()) == 0) {
            return sink.null();
        }
        match field.get("dictionary") {
            Some(dictionary) => {
                let values = self.dictionaries[&integer(dictionary, "id")];
                let key = number(column.get("DATA").unwrap().at(row).unwrap()) as usize;
                self.send_value(field, values, key, sink)
            }
            None => self.send_value(field, column, row, sink),
        }
    }

    #[expect(clippy::too_many_lines, reason = "a table of Arrow's types")]
    fn send_value<S: Sink>(
        &self,
        field: Value<'_>,
        column: Value<'_>,
        row: usize,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        if column.get("VALIDITY").is_some_and(|valid| number(valid.at(row).unwrap()) == 0) {
            return sink.null();
        }
        let of_type = field.get("type").unwrap();
        let name = text(of_type, "name");
        let data = || column.get("DATA").unwrap().at(row).unwrap();
        let unit = || text(of_type, "unit");
        let child = |index| {
            (field.get("children").unwrap().at(index).unwrap(), column.pointer(&format!("/children/{index}")).unwrap())
        };
        match &name[..] {
            "null" => sink.null(),
            "bool" => sink.bool(data().as_bool().unwrap_or_else(|| number(data()) == 1)),
            "int" => {
                let value = number(data());
                sink.number(i64::try_from(value).map_or(Numeral::U64(value as u64), Numeral::I64))
            }
            "floatingpoint" => {
                let value = data().as_number().unwrap();
                match &text(of_type, "precision")[..] {
                    "SINGLE" => sink.number(Numeral::F64(value.to_f32().unwrap().into())),
                    "HALF" => sink.number(Numeral::F64(half(value.to_f64().unwrap()))),
                    _ => sink.number(Numeral::F64(value.to_f64().unwrap())),
                }
            }
            "decimal" => {
                let text = scaled(&data().as_str().unwrap(), integer(of_type, "scale"));
                sink.number(Numeral::Text(Number::new(&text).unwrap()))
            }
            "utf8" | "largeutf8" => sink.string(&data().as_str().unwrap()),
            "binary" | "largebinary" | "fixedsizebinary" => sink.bytes(&hex(&data().as_str().unwrap())),
            "utf8view" => match view(column, row) {
                (bytes, false) => sink.string(&String::from_utf8(bytes).unwrap()),
                (hexed, true) => sink.string(&String::from_utf8(hex(&String::from_utf8(hexed).unwrap())).unwrap()),
            },
            "binaryview" => sink.bytes(&hex(&String::from_utf8(view(column, row).0).unwrap())),
            "date" if unit() == "DAY" => sink.string(&stamp(number(data()) * 86_400_000, 1000)[..10]),
            "date" => sink.string(&stamp(number(data()), 1000)[..10]),
            "time" => sink.string(&stamp(number(data()), per_second(&unit()))[11..]),
            "timestamp" => {
                let is_utc = of_type.get("timezone").is_some();
                sink.timestamp(Timestamp { is_utc, ..instant(number(data()), per_second(&unit())) })
            }
            "duration" => sink.string(&format!("PT{}S", seconds(number(data()), per_second(&unit())))),
            "interval" => {
                let part = |name| number(data().get(name).unwrap());
                sink.string(&match &unit()[..] {
                    "YEAR_MONTH" => format!("P{}M", number(data())),
                    "DAY_TIME" => format!("P{}DT{}S", part("days"), seconds(part("milliseconds"), 1000)),
                    _ => format!(
                        "P{}M{}DT{}S",
                        part("months"),
                        part("days"),
                        seconds(part("nanoseconds"), 1_000_000_000)
                    ),
                })
            }
            "list" | "largelist" | "listview" | "largelistview" | "fixedsizelist" => {
                let at = |name, row| column.get(name).map(|list| number(list.at(row).unwrap()) as usize);
                let (start, end) = match (at("OFFSET", row), at("SIZE", row)) {
                    (Some(start), Some(size)) => (start, start + size),
                    (Some(start), None) => (start, at("OFFSET", row + 1).unwrap()),
                    _ => (row * integer(of_type, "listSize"), (row + 1) * integer(of_type, "listSize")),
                };
                let (field, column) = child(0);
                sink.begin_array()?;
                (start..end).try_for_each(|row| self.send(field, column, row, sink))?;
                sink.end_array()
            }
            "struct" => {
                sink.begin_object()?;
                let children = column.get("children").into_iter().flat_map(Value::elements);
                for (field, column) in field.get("children").unwrap().elements().zip(children) {
                    sink.key(Key::new(&text(field, "name")))?;
                    self.send(field, column, row, sink)?;
                }
                sink.end_object()
            }
            "map" => {
                let at = |row| number(column.get("OFFSET").unwrap().at(row).unwrap()) as usize;
                let (field, column) = child(0);
                let part = |index| {
                    (
                        field.get("children").unwrap().at(index).unwrap(),
                        column.get("children").unwrap().at(index).unwrap(),
                    )
                };
                let ((key, keys), (value, values)) = (part(0), part(1));
                let by_text = text(key.get("type").unwrap(), "name") == "utf8";
                if by_text { sink.begin_object() } else { sink.begin_array() }?;
                for entry in at(row)..at(row + 1) {
                    if by_text {
                        sink.key(Key::new(&keys.get("DATA").unwrap().at(entry).unwrap().as_str().unwrap()))?;
                        self.send(value, values, entry, sink)?;
                    } else {
                        sink.begin_array()?;
                        self.send(key, keys, entry, sink)?;
                        self.send(value, values, entry, sink)?;
                        sink.end_array()?;
                    }
                }
                if by_text { sink.end_object() } else { sink.end_array() }
            }
            "union" => {
                let id = number(column.get("TYPE_ID").unwrap().at(row).unwrap());
                let ids = of_type.get("typeIds").unwrap();
                let index = ids.elements().position(|one| number(one) == id).unwrap();
                let (field, child) = child(index);
                let row = column.get("OFFSET").map_or(row, |offsets| number(offsets.at(row).unwrap()) as usize);
                self.send(field, child, row, sink)
            }
            "runendencoded" => {
                let (_, ends) = child(0);
                let run = ends.get("DATA").unwrap().elements().position(|end| number(end) as usize > row).unwrap();
                let (field, values) = child(1);
                self.send(field, values, run, sink)
            }
            other => panic!("no type {other}"),
        }
    }
}

/// A number, or a string that is one.
fn number(value: Value<'_>) -> i128 {
    match value.kind() {
        Kind::String => value.as_str().unwrap().parse().unwrap(),
        _ => value.as_number().unwrap().as_i128().unwrap(),
    }
}

fn integer(value: Value<'_>, name: &str) -> usize {
    number(value.get(name).unwrap()) as usize
}

fn text(value: Value<'_>, name: &str) -> String {
    value.get(name).unwrap().as_str().unwrap().into_owned()
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap()).collect()
}

/// What a view shows; and whether that is hexadecimal though it is a text.
fn view(column: Value<'_>, row: usize) -> (Vec<u8>, bool) {
    let view = column.get("VIEWS").unwrap().at(row).unwrap();
    if let Some(inlined) = view.get("INLINED") {
        return (inlined.as_str().unwrap().into_owned().into_bytes(), false);
    }
    let buffer = column.get("VARIADIC_DATA_BUFFERS").unwrap().at(integer(view, "BUFFER_INDEX")).unwrap();
    let (start, len) = (2 * integer(view, "OFFSET"), 2 * integer(view, "SIZE"));
    (buffer.as_str().unwrap().as_bytes()[start..start + len].to_vec(), true)
}

fn scaled(digits: &str, scale: usize) -> String {
    let (sign, digits) = digits.split_at(usize::from(digits.starts_with('-')));
    let digits = "0".repeat((scale + 1).saturating_sub(digits.len())) + digits;
    let (whole, part) = digits.split_at(digits.len() - scale);
    if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part}") }
}

/// The nearest double that has ten binary digits behind the first.
fn half(value: f64) -> f64 {
    let exponent = if value == 0.0 { 0 } else { value.abs().log2().floor() as i32 }.max(-14);
    let step = 2_f64.powi(exponent - 10);
    (value / step).round_ties_even() * step
}

fn per_second(unit: &str) -> i128 {
    match unit {
        "SECOND" => 1,
        "MILLISECOND" => 1_000,
        "MICROSECOND" => 1_000_000,
        "NANOSECOND" => 1_000_000_000,
        other => panic!("no unit {other}"),
    }
}

fn instant(value: i128, per_second: i128) -> Timestamp {
    let nanoseconds = (value.rem_euclid(per_second) * 1_000_000_000 / per_second) as u32;
    Timestamp { seconds: value.div_euclid(per_second) as i64, nanoseconds, is_utc: false }
}

fn stamp(value: i128, per_second: i128) -> String {
    instant(value, per_second).to_string()
}

fn seconds(value: i128, per_second: i128) -> String {
    let text = scaled(&value.to_string(), per_second.ilog10() as usize);
    if per_second == 1 { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() }
}
