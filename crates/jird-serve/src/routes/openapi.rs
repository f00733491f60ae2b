//! What the server has, as an OpenAPI 3.1 document, made from the tables.

use crate::request::catalog::Table;
use crate::request::uri::encoded;
use crate::routes::paths;
use jird::hooks::write_string;
use jird_formats::sqlite::{Affinity, ColumnInfo, quote};
use std::sync::Arc;

/// The document. `has_store`: there are events.
pub(crate) fn document(tables: &[Arc<Table>], writes: bool, has_store: bool, rows_max: u64) -> Vec<u8> {
    let mut fixed = vec![("sources", paths::SOURCES)];
    if has_store {
        fixed.push(("events", paths::EVENTS));
    }
    if cfg!(feature = "query") {
        fixed.push(("query", paths::QUERY));
    }
    let mut paths: Vec<_> = fixed.iter().map(|(name, path)| member(&format!("/{name}"), path)).collect();
    let mut schemas = Vec::new();
    for table in tables.iter().filter(|table| !fixed.iter().any(|(name, _)| *name == table.info.name())) {
        paths.push(member(&format!("/{}", encoded(table.info.name())), &of_table(table, writes, rows_max)));
        if table.id.is_some() {
            paths.push(member(&format!("/{}/{{id}}", encoded(table.info.name())), &of_row(table, writes)));
        }
        schemas.push(member(&encoded(table.info.name()), &schema(table)));
    }
    let problem = "{\"description\":\"What is wrong\",\"content\":{\"application/problem+json\":{\"schema\":\
                   {\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\"},\
                   \"status\":{\"type\":\"integer\"},\
                   \"detail\":{\"type\":\"string\"}}}}}}";
    let info = format!("{{\"title\":\"jird serve\",\"version\":\"{}\"}}", env!("CARGO_PKG_VERSION"));
    let components = format!(
        "{{\"schemas\":{{{}}},\"parameters\":{{{}}},\"responses\":{{{},\"problem\":{problem}}},\
         \"securitySchemes\":{{\"token\":{{\"type\":\"http\",\"scheme\":\"bearer\"}}}}}}",
        schemas.join(","),
        paths::LIMIT,
        paths::RESULT
    );
    let paths = paths.join(",");
    let security = "[{},{\"token\":[]}]";
    format!(
        "{{\"openapi\":\"3.1.0\",\"info\":{info},\"paths\":{{{paths}}},\"components\":{components},\
         \"security\":{security}}}\n"
    )
    .into_bytes()
}

/// A text as JSON.
fn quoted(text: &str) -> String {
    let mut json = Vec::new();
    write_string(text, &mut json);
    String::from_utf8(json).expect("JSON is UTF-8")
}

fn member(name: &str, value: &str) -> String {
    format!("{}:{value}", quoted(name))
}

fn reference(table: &Table) -> String {
    // A `%` stands for itself in the schema's name, and so it is encoded once more in a reference, which is a URI.
    let name = encoded(table.info.name()).replace('%', "%25");
    format!("{{\"$ref\":\"#/components/schemas/{name}\"}}")
}

fn of_table(table: &Table, writes: bool, rows_max: u64) -> String {
    let mut parameters = parameters(table, rows_max);
    let conditions = parameters.split_off(4);
    let all = parameters.iter().chain(&conditions).map(String::as_str).collect::<Vec<_>>().join(",");
    let conditions = conditions.join(",");
    let row = reference(table);
    let rows = array(&row);
    let content =
        format!("{{\"application/json\":{{\"schema\":{rows}}},\"application/x-ndjson\":{{}},\"text/csv\":{{}}}}");
    let mut methods = vec![format!(
        "\"get\":{{\"parameters\":[{}],\"responses\":{{\"200\":{{\"description\":\"Rows\",\"content\":{content}}},\
         \"206\":{{\"description\":\"Some of the rows, counted\",\"content\":{content}}},{PROBLEM}}}}}",
        all
    )];
    if writes && !table.info.is_view() {
        let row = new_row(table, Needs::NoDefault);
        let rows = array(&row);
        let some = new_row(table, Needs::One);
        methods.push(format!(
            "\"post\":{{\"requestBody\":{{\"required\":true,\"content\":{{\"application/json\":{{\"schema\":\
             {{\"anyOf\":[{row},{rows}]}}}},\"application/x-ndjson\":{{}}}}}},\"responses\":\
             {{\"201\":{{\"description\":\"Inserted\"}},\
             \"204\":{{\"description\":\"There were no rows\"}},{PROBLEM}}}}}"
        ));
        methods.push(format!(
            "\"patch\":{{\"parameters\":[{conditions}],\"requestBody\":{{\"required\":true,\"content\":\
             {{\"application/json\":{{\"schema\":{some}}}}}}},\"responses\":{{{CHANGED},{PROBLEM}}}}}"
        ));
        methods.push(format!("\"delete\":{{\"parameters\":[{conditions}],\"responses\":{{{CHANGED},{PROBLEM}}}}}"));
    }
    format!("{{{}}}", methods.join(","))
}

const PROBLEM: &str = "\"default\":{\"$ref\":\"#/components/responses/problem\"}";
const CHANGED: &str = "\"204\":{\"description\":\"Done\"}";

/// What a query may have: four parameters, and then a condition for each column.
fn parameters(table: &Table, rows_max: u64) -> Vec<String> {
    let names: Vec<_> = table.all.iter().map(|pick| escaped(&pick.name)).collect();
    let name = format!("({})", names.join("|"));
    let list = |item: &str| format!("{item}(,{item})*");
    let text = |pattern: String| format!("{{\"type\":\"string\",\"pattern\":{}}}", quoted(&format!("^{pattern}$")));
    let count = |max: u64| format!("{{\"type\":\"integer\",\"minimum\":0,\"maximum\":{max}}}");
    // No name is there twice.
    let picks = format!("(\\*|(?!(.*,)?([^,]*)(,.*)?,\\3(,|$)){})", list(&format!("([^,:\\x00]+:)?{name}")));
    let order = list(&format!("{name}(\\.(asc|desc))?(\\.(nullsfirst|nullslast))?"));
    let mut all = vec![
        parameter("select", "Columns, with commas between them; NAME:COLUMN gives one another name", &text(picks)),
        parameter("order", "Columns, each with .asc or .desc, .nullsfirst or .nullslast", &text(order)),
        parameter("limit", "The most rows", &count(rows_max)),
        parameter("offset", "Rows to leave out before the first", &count(i64::MAX.unsigned_abs())),
    ];
    for pick in &table.all {
        if ["select", "order", "limit", "offset", "on_conflict"].contains(&pick.name.as_str()) {
            continue;
        }
        let value = match table.info.columns()[pick.column].affinity() {
            Affinity::Integer | Affinity::Real => "-?(0|[1-9][0-9]{0,14})(\\.[0-9]{1,9})?",
            Affinity::None | Affinity::Text | Affinity::Numeric => "[^\\x00,()\"\\\\]*",
        };
        let compared = format!("(eq|neq|gt|gte|lt|lte)\\.{value}|in\\.\\({}\\)", list(value));
        let others = "(like|ilike)\\.[^\\x00]{0,200}|is\\.(null|not_null|true|false|unknown)";
        let description = "OPERATOR.VALUE with eq, neq, gt, gte, lt, lte, in, like, ilike, is; not. before it negates";
        all.push(parameter(&pick.name, description, &text(format!("(not\\.)?({compared}|{others})"))));
    }
    all
}

/// A text in a regular expression that stands for itself.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for char in text.chars() {
        if char.is_ascii_punctuation() && char != '_' {
            escaped.push('\\');
        }
        escaped.push(char);
    }
    escaped
}

fn parameter(name: &str, text: &str, schema: &str) -> String {
    format!(
        "{{\"name\":{},\"in\":\"query\",\"required\":false,\"description\":{},\"schema\":{schema}}}",
        quoted(name),
        quoted(text)
    )
}

fn of_row(table: &Table, writes: bool) -> String {
    let row = reference(table);
    let id = "{\"name\":\"id\",\"in\":\"path\",\"required\":true,\"schema\":{\"type\":\"string\"}}";
    let content = format!("\"content\":{{\"application/json\":{{\"schema\":{row}}}}}");
    let body = |needs| {
        let schema = new_row(table, needs);
        format!("\"requestBody\":{{\"required\":true,\"content\":{{\"application/json\":{{\"schema\":{schema}}}}}}}")
    };
    let (all, some) = (body(Needs::All), body(Needs::One));
    let mut methods = vec![
        format!("\"parameters\":[{id}]"),
        format!("\"get\":{{\"responses\":{{\"200\":{{\"description\":\"The row\",{content}}},{PROBLEM}}}}}"),
    ];
    if writes && !table.info.is_view() {
        methods.push(format!(
            "\"put\":{{{all},\"responses\":{{\"201\":{{\"description\":\"Inserted\"}},{CHANGED},{PROBLEM}}}}}"
        ));
        methods.push(format!(
            "\"patch\":{{{some},\"responses\":{{\"200\":{{\"description\":\"The row as it is now\",{content}}},\
             {CHANGED},{PROBLEM}}}}}"
        ));
        methods.push(format!("\"delete\":{{\"responses\":{{{CHANGED},{PROBLEM}}}}}"));
    }
    format!("{{{}}}", methods.join(","))
}

/// A row as answers have it. SQLite keeps values of any type in a column, unless its table is strict, so a type would
/// claim too much.
fn schema(table: &Table) -> String {
    let columns = table.info.columns();
    let properties: Vec<_> = table
        .all
        .iter()
        .map(|pick| {
            let schema = match columns[pick.column].declared() {
                "" => "{}".to_owned(),
                declared => format!("{{\"description\":{}}}", quoted(declared)),
            };
            member(&pick.name, &schema)
        })
        .collect();
    format!("{{\"type\":\"object\",\"properties\":{{{}}}}}", properties.join(","))
}

/// Which columns a body must have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// Those that may not be null, and have no default.
    NoDefault,
    /// At least one.
    One,
    /// All but the key, which stands in the path.
    All,
}

/// A row as bodies have it.
fn new_row(table: &Table, needs: Needs) -> String {
    let mut properties = Vec::new();
    let mut needed = Vec::new();
    for (place, column) in table.info.columns().iter().enumerate() {
        let is_key = table.id == Some(place);
        if column.is_generated() || is_key && needs == Needs::All {
            continue;
        }
        let is_number = is_key && table.info.row_number().is_some_and(|name| name == quote(column.name()));
        properties.push(member(&table.all[place].name, &taken(table, column, is_number, needs == Needs::NoDefault)));
        let is_needed = match needs {
            Needs::NoDefault => column.is_not_null() && !column.has_default() && !is_number,
            Needs::One => false,
            Needs::All => true,
        };
        if is_needed {
            needed.push(quoted(column.name()));
        }
    }
    let least = if needs == Needs::One { ",\"minProperties\":1" } else { "" };
    let required = if needed.is_empty() { String::new() } else { format!(",\"required\":[{}]", needed.join(",")) };
    let properties = properties.join(",");
    format!("{{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{{{properties}}}{required}{least}}}")
}

/// What a column takes: what SQLite would not change. Arrays and objects are kept as their JSON.
fn taken(table: &Table, column: &ColumnInfo, is_number: bool, is_new: bool) -> String {
    /// Texts that SQLite does not take for numbers.
    const NO_NUMBER: &str = ",\"pattern\":\"^(?![\\\\t-\\\\r ]*[+-]?([0-9]+\\\\.?[0-9]*|\\\\.[0-9]+)([eE][+-]?[0-9]+)?\
                             [\\\\t-\\\\r ]*(\\\\x00|$))\"";
    /// Integers that SQLite keeps as such.
    const RANGE: &str = ",\"minimum\":-9223372036854775808,\"maximum\":9223372036854775807";
    /// Integers that doubles keep.
    const REAL_RANGE: &str = ",\"minimum\":-9007199254740992,\"maximum\":9007199254740992";
    let all = ["boolean", "number", "string", "array", "object"];
    let is_strict = table.info.is_strict();
    let (mut types, more) = match (is_number, column.is_json(), column.affinity()) {
        (true, ..) => (vec!["integer", "boolean"], RANGE.to_owned()),
        (.., Affinity::Numeric | Affinity::Integer) if is_strict => (vec!["integer", "boolean"], RANGE.to_owned()),
        (.., Affinity::Real) if is_strict => (vec!["number", "boolean"], REAL_RANGE.to_owned()),
        (.., Affinity::None) if is_strict && column.declared().eq_ignore_ascii_case("blob") => {
            (Vec::new(), String::new())
        }
        (_, true, _) | (.., Affinity::None) => (all.to_vec(), String::new()),
        (.., Affinity::Text) => (vec!["string", "array", "object"], String::new()),
        (.., Affinity::Real) => (all.to_vec(), format!("{REAL_RANGE}{NO_NUMBER}")),
        (.., Affinity::Numeric | Affinity::Integer) => (all.to_vec(), format!("{RANGE}{NO_NUMBER}")),
    };
    if !column.is_not_null() && (!is_number || is_new) {
        types.push("null");
    }
    let types: Vec<_> = types.into_iter().map(quoted).collect();
    let description = match column.declared() {
        "" => String::new(),
        declared => format!(",\"description\":{}", quoted(declared)),
    };
    format!("{{\"type\":[{}]{more}{description}}}", types.join(","))
}

fn array(items: &str) -> String {
    format!("{{\"type\":\"array\",\"items\":{items}}}")
}
