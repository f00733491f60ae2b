//! The page on which facts survive, as something that can be run: each cell of its first table is a rule, and the cells of a
//! column are what a format makes of records.

use crate::formats::Format;
use crate::told::{Record, Value, written};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

/// A table of the page: its rows by their first cell, and the names of the other columns.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<(String, Vec<String>)>,
}

/// The page's text.
pub(crate) fn text() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats.md")).unwrap()
}

/// The table whose header begins like this.
pub(crate) fn table(first: &str) -> Table {
    let text = text();
    let cells = |line: &str| line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let mut lines = text.lines().skip_while(|line| !line.starts_with(&format!("| {first} |")));
    let columns = cells(lines.next().unwrap_or_else(|| panic!("no table of {first}")));
    let rows = lines.skip(1).take_while(|line| line.starts_with('|')).map(|line| {
        let cells = cells(line);
        assert_eq!(cells.len(), columns.len(), "{line}");
        (cells[0].clone(), cells[1..].to_vec())
    });
    Table { rows: rows.collect(), columns: columns[1..].to_vec() }
}

/// Which fact a value is about, by the page's names; and those that are about records.
pub(crate) mod fact {
    pub(crate) const INTEGER: &str = "integers of 64 bits";
    pub(crate) const LONG: &str = "longer integers";
    pub(crate) const DECIMAL: &str = "decimals";
    pub(crate) const SPELLING: &str = "spelling (`1.50`, `1e3`, `-0`)";
    pub(crate) const NEGATIVE_ZERO: &str = "`-0.0`";
    pub(crate) const NULL: &str = "null against missing";
    pub(crate) const ORDER: &str = "order of keys";
    pub(crate) const REPEATED: &str = "repeated keys";
    pub(crate) const NAMES: &str = "odd keys: `\"\"`, and `id` beside `Id`";
    pub(crate) const NESTING: &str = "nesting";
    pub(crate) const MIXED: &str = "mixed columns";
    pub(crate) const BOOL: &str = "booleans";
    pub(crate) const TEXT: &str = "`\"\\u0000\"` in a string";
    pub(crate) const BYTES: &str = "bytes";
    pub(crate) const TIME: &str = "times";
    pub(crate) const RECORD: &str = "a record that is no object";

    pub(crate) const ALL: [&str; 16] = [
        INTEGER,
        LONG,
        DECIMAL,
        SPELLING,
        NEGATIVE_ZERO,
        NULL,
        ORDER,
        REPEATED,
        NAMES,
        NESTING,
        MIXED,
        BOOL,
        TEXT,
        BYTES,
        TIME,
        RECORD,
    ];
}

fn fact_of(value: &Value) -> &'static str {
    match value {
        Value::Null => fact::NULL,
        Value::Bool(_) => fact::BOOL,
        Value::Text(_) => fact::TEXT,
        Value::Bytes(_) => fact::BYTES,
        Value::Time(_) => fact::TIME,
        Value::Nested(_) => fact::NESTING,
        Value::Double(_) => fact::DECIMAL,
        Value::Number(text) => match text.parse::<f64>().unwrap() {
            _ if text == "-0" => fact::SPELLING,
            _ if is_integer(text) && (text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok()) => fact::INTEGER,
            _ if is_integer(text) => fact::LONG,
            _ if text == "-0.0" => fact::NEGATIVE_ZERO,
            double if double.is_finite() && *text != written(double) && survives(text) => fact::SPELLING,
            _ => fact::DECIMAL,
        },
    }
}

/// What comes back of a value.
type Rule = fn(&Value, &Column<'_>) -> Value;

/// The column that a value is in.
#[derive(Default)]
struct Column<'r> {
    values: Vec<&'r Value>,
    /// It is the only one of the table.
    is_alone: bool,
}

/// The page's words for what becomes of a value.
fn rule(words: &str) -> Rule {
    match words {
        "kept" | "kept: JSON text, marked" => |value, _| value.as_text(),
        "both are an empty cell; in the only column `\"\"`, the empty string" => |value, column| match value {
            Value::Null if column.is_alone => Value::Text(String::new()),
            other => other.clone(),
        },
        "both are `NULL`" | "both are null" => |value, _| value.clone(),
        "JSON text" => |value, _| Value::Text(value.as_text().json()),
        "JSON text; kept if its column has nothing else" => |value, column| {
            let is_json = column.values.iter().all(|other| matches!(other, Value::Null | Value::Nested(_)));
            if is_json { value.as_text() } else { Value::Text(value.as_text().json()) }
        },
        "base64" | "RFC 3339" => |value, _| value.as_text(),
        "1 and 0" => |value, _| match value {
            Value::Bool(value) => Value::Number(u8::from(*value).to_string()),
            other => other.clone(),
        },
        "kept (`BLOB`)" => |value, _| value.clone(),
        "kept; base64 in a column with others" => |value, column| {
            let all = column.values.iter().all(|other| matches!(other, Value::Null | Value::Bytes(_)));
            if all { value.clone() } else { value.as_text() }
        },
        "kept to the nanosecond, in UTC or no zone, and without the zone's name; RFC 3339 in a column with others, or too far away for 64 bits" => {
            |value, column| {
                let zone = |value: &Value| if let Value::Time(time) = value { Some(time.is_utc) } else { None };
                let is_null = |value: &Value| matches!(value, Value::Null);
                let all = column.values.iter().all(|other| is_null(other) || zone(other) == zone(value));
                let times = || {
                    column
                        .values
                        .iter()
                        .filter_map(|value| if let Value::Time(time) = value { Some(time) } else { None })
                };
                let finest = if times().any(|time| time.nanoseconds % 1000 > 0) { 1_000_000_000 } else { 1_000_000 };
                let reach = i64::MAX / finest - 1;
                let all = all && times().all(|time| (-reach..reach).contains(&time.seconds));
                if all { value.clone() } else { value.as_text() }
            }
        }
        "kept within `i64`; `u64` beyond that as the exact text"
        | "the exact text"
        | "as `f64` if that prints the same value, else the exact text"
        | "lost: `1.5`, `1000.0`, `0`"
        | "kept, but not in a column declared `REAL` that was there before: counted" => sqlite_number,
        "kept: up to 38 digits as a decimal, else the column is JSON text, marked"
        | "as `f64` if that prints the same value, else the column is JSON text, marked"
        | "lost in columns of integers and of `f64`: `7` beside `2.5` is `7.0`"
        | "kept as `f64`" => arrow_number,
        other => panic!("the page says {other:?} of a value, for which there is no rule"),
    }
}

/// One number, whatever else the column has.
fn sqlite_number(value: &Value, _: &Column<'_>) -> Value {
    let Value::Number(text) = value else { return value.clone() };
    if is_integer(text) {
        let integer = text.parse::<i64>();
        return integer.map_or_else(|_| Value::Text(text.clone()), |integer| Value::Number(integer.to_string()));
    }
    if survives(text) { Value::Double(text.parse().unwrap()) } else { Value::Text(text.clone()) }
}

/// All numbers of a column are of one type, or JSON.
fn arrow_number(value: &Value, column: &Column<'_>) -> Value {
    let numbers: Vec<_> = column.values.iter().filter(|value| !matches!(value, Value::Null)).collect();
    let is_whole = |value: &Value| matches!(value, Value::Number(text) if is_integer(text));
    let fits = |value: &Value| match value {
        Value::Number(text) if is_integer(text) => is_exact(text) && survives(text),
        Value::Number(text) => survives(text),
        _ => true,
    };
    match value {
        Value::Number(text) if numbers.iter().all(|value| is_whole(value)) => {
            let digits = |value: &Value| value.json().trim_start_matches(['-', '0']).len();
            if numbers.iter().any(|value| digits(value) > 38) { value.clone() } else { Value::Number(plain(text)) }
        }
        Value::Number(text) if numbers.iter().all(|value| fits(value)) => Value::Double(text.parse().unwrap()),
        _ => value.clone(),
    }
}

/// An integer as it is ordinarily written.
fn plain(text: &str) -> String {
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn is_integer(text: &str) -> bool {
    !text.contains(['.', 'e', 'E'])
}

/// Whether the double that is nearest to an integer is that integer.
fn is_exact(text: &str) -> bool {
    let double: f64 = text.parse().unwrap();
    double.is_finite() && format!("{double:.0}") == text
}

/// Whether the double that is nearest to a number prints the same value.
fn survives(text: &str) -> bool {
    let double: f64 = text.parse().unwrap();
    double.is_finite() && digits(&serde_json::to_string(&double).unwrap()) == digits(text)
}

/// A number's digits, and the power of ten behind them.
fn digits(text: &str) -> (String, i128) {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, part) =
        mantissa.trim_start_matches('-').split_once('.').unwrap_or((mantissa.trim_start_matches('-'), ""));
    let all = format!("{whole}{part}");
    let short = all.trim_end_matches('0');
    let behind = (all.len() - short.len()) as i128 - part.len() as i128;
    match short.trim_start_matches('0') {
        "" => (String::new(), 0),
        short => (short.to_owned(), behind + exponent.parse::<i128>().unwrap()),
    }
}

/// A format, as the page has it.
pub(crate) struct Model {
    words: HashMap<String, String>,
    format: Format,
}

impl Model {
    pub(crate) fn new(format: Format, page: &Table) -> Self {
        let name = match format {
            Format::Json | Format::Ndjson => "JSON, NDJSON",
            Format::Csv | Format::CsvTyped => "CSV (`--typed`)",
            Format::Sqlite => "SQLite",
            Format::Arrow | Format::Parquet => "Arrow, Parquet",
        };
        let column = page.columns.iter().position(|other| other == name).unwrap_or_else(|| panic!("no {name}"));
        let words = page.rows.iter().map(|(fact, cells)| (fact.clone(), cells[column].clone()));
        Self { words: words.collect(), format }
    }

    fn words(&self, fact: &str) -> &str {
        self.words.get(fact).unwrap_or_else(|| panic!("the page does not say what becomes of {fact}"))
    }

    /// What comes back of records.
    pub(crate) fn of(&self, records: &[Record]) -> Vec<Record> {
        let mut records = records.to_vec();
        for fact in [fact::RECORD, fact::NAMES, fact::REPEATED, fact::ORDER, fact::NULL] {
            shape(self.words(fact), &mut records);
        }
        let mut columns: BTreeMap<&str, Column<'_>> = BTreeMap::new();
        for record in &records {
            let Record::Object(members) = record else { continue };
            members.iter().for_each(|(key, value)| columns.entry(key).or_default().values.push(value));
        }
        let is_alone = columns.len() == 1;
        columns.values_mut().for_each(|column| column.is_alone = is_alone);
        let back = records.iter().map(|record| match record {
            Record::Other(value) => Record::Other(self.back(value, &Column::default())),
            Record::Object(members) => Record::Object(
                members.iter().map(|(key, value)| (key.clone(), self.back(value, &columns[&key[..]]))).collect(),
            ),
        });
        back.collect()
    }

    /// What comes back of a value.
    fn back(&self, value: &Value, column: &Column<'_>) -> Value {
        let is_json = match self.words(fact::MIXED) {
            "kept" | "kept: such a column has no type" => false,
            // All of it comes back as it was.
            "JSON text, marked" => column.is_mixed(),
            other => panic!("the page says {other:?} of mixed columns, for which there is no rule"),
        };
        let fact = match fact_of(value) {
            fact::INTEGER | fact::LONG if column.has_decimals() => fact::SPELLING,
            fact => fact,
        };
        let back = if is_json { value.as_text() } else { rule(self.words(fact))(value, column) };
        match back {
            // What the page says of it in a sentence.
            Value::Null if self.format == Format::Csv => Value::Text(String::new()),
            Value::Text(text) => Value::Text(text),
            other if self.format == Format::Csv => Value::Text(other.json()),
            other => other,
        }
    }
}

impl Column<'_> {
    /// Whether there are numbers that are not integers: then the others may not be either.
    fn has_decimals(&self) -> bool {
        self.values.iter().any(|value| match value {
            Value::Number(text) => !is_integer(text),
            value => matches!(value, Value::Double(_)),
        })
    }

    /// Whether there are values of several kinds.
    fn is_mixed(&self) -> bool {
        let kind = |value: &&Value| match value {
            Value::Null => None,
            Value::Bool(_) => Some(0),
            Value::Number(_) | Value::Double(_) => Some(1),
            Value::Text(_) | Value::Bytes(_) | Value::Time(_) => Some(2),
            Value::Nested(_) => Some(3),
        };
        self.values.iter().filter_map(kind).collect::<HashSet<_>>().len() > 1
    }
}

/// What becomes of records, by the page's words.
fn shape(words: &str, records: &mut [Record]) {
    match words {
        "kept" => {}
        "the column `value`" => {
            for record in records {
                if let Record::Other(value) = record {
                    *record = Record::Object(vec![("value".to_owned(), value.clone())]);
                }
            }
        }
        "the first value" => each_object(records, |members| {
            let mut seen = HashSet::new();
            members.retain(|(key, _)| seen.insert(key.clone()));
        }),
        "`column1`, by its place; kept" => {
            let names = names(records);
            each_object(records, |members| {
                for (key, _) in members.iter_mut().filter(|(key, _)| key.is_empty()) {
                    *key = format!("column{}", names[key] + 1);
                }
            });
        }
        "kept; `id_2`" => {
            let mut renamed: HashMap<String, String> = HashMap::new();
            let mut taken = HashSet::new();
            let names = names(records);
            let mut in_order: Vec<_> = names.iter().collect();
            in_order.sort_by_key(|(_, place)| **place);
            for (name, _) in in_order {
                let free = |name: &String| !taken.contains(&name.to_lowercase());
                let numbered = (2..).map(|number| format!("{name}_{number}"));
                let chosen = core::iter::once(name.clone()).chain(numbered).find(free).unwrap();
                taken.insert(chosen.to_lowercase());
                renamed.insert(name.clone(), chosen);
            }
            each_object(records, |members| members.iter_mut().for_each(|(key, _)| *key = renamed[key].clone()));
        }
        "the columns', as they were first met" => {
            let names = names(records);
            each_object(records, |members| members.sort_by_key(|(key, _)| names[key]));
        }
        _ if words.starts_with("both are") => {
            let mut names: Vec<_> = names(records).into_iter().collect();
            names.sort_by_key(|(_, place)| *place);
            each_object(records, |members| {
                let mut there: HashMap<_, _> = core::mem::take(members).into_iter().collect();
                let value = |(name, _): &(String, usize)| (name.clone(), there.remove(name).unwrap_or(Value::Null));
                *members = names.iter().map(value).collect();
            });
        }
        other => panic!("the page says {other:?} of records, for which there is no rule"),
    }
}

fn each_object(records: &mut [Record], mut change: impl FnMut(&mut Vec<(String, Value)>)) {
    for record in records {
        if let Record::Object(members) = record {
            change(members);
        }
    }
}

/// The keys, by the order in which they were first met.
fn names(records: &[Record]) -> HashMap<String, usize> {
    let mut names = HashMap::new();
    for record in records {
        let Record::Object(members) = record else { continue };
        for (key, _) in members {
            let place = names.len();
            names.entry(key.clone()).or_insert(place);
        }
    }
    names
}
