//! What the server has, as an OpenAPI 3.1 document, made from the tables.

use crate::catalog::Table;
use crate::paths;
use crate::uri::encoded;
use jird::event::write_string;
use jird_formats::sqlite::ColumnInfo;
use std::sync::Arc;

/// The document. `has_store`: there are events.
pub(crate) fn document(tables: &[Arc<Table>], writes: bool, has_store: bool) -> Vec<u8> {
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
        paths.push(member(&format!("/{}", encoded(table.info.name())), &of_table(table, writes)));
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

fn of_table(table: &Table, writes: bool) -> String {
    let mut parameters = vec![
        parameter("select", "Columns, with commas between them; NAME:COLUMN gives one another name"),
        parameter("order", "Columns, each with .asc or .desc, .nullsfirst or .nullslast"),
        parameter("limit", "The most rows"),
        parameter("offset", "Rows to leave out before the first"),
    ];
    for pick in &table.all {
        if !["select", "order", "limit", "offset", "on_conflict"].contains(&pick.name.as_str()) {
            let text = "OPERATOR.VALUE with eq, neq, gt, gte, lt, lte, in, like, ilike, is; not. before it negates";
            parameters.push(parameter(&pick.name, text));
        }
    }
    let row = reference(table);
    let rows = format!("{{\"type\":\"array\",\"items\":{row}}}");
    let content =
        format!("{{\"application/json\":{{\"schema\":{rows}}},\"application/x-ndjson\":{{}},\"text/csv\":{{}}}}");
    let mut methods = vec![format!(
        "\"get\":{{\"parameters\":[{}],\"responses\":{{\"200\":{{\"description\":\"Rows\",\"content\":{content}}},\
         \"206\":{{\"description\":\"Some of the rows, counted\",\"content\":{content}}},{PROBLEM}}}}}",
        parameters.join(",")
    )];
    if writes && !table.info.is_view() {
        let conditions = parameters[4..].join(",");
        methods.push(format!(
            "\"post\":{{\"requestBody\":{{\"required\":true,\"content\":{{\"application/json\":{{\"schema\":\
             {{\"anyOf\":[{row},{rows}]}}}},\"application/x-ndjson\":{{}}}}}},\"responses\":\
             {{\"201\":{{\"description\":\"Inserted\"}},\
             \"204\":{{\"description\":\"There were no rows\"}},{PROBLEM}}}}}"
        ));
        methods.push(format!(
            "\"patch\":{{\"parameters\":[{conditions}],\"requestBody\":{{\"required\":true,\"content\":\
             {{\"application/json\":{{\"schema\":{{\"type\":\"object\"}}}}}}}},\"responses\":{{{CHANGED},{PROBLEM}}}}}"
        ));
        methods.push(format!("\"delete\":{{\"parameters\":[{conditions}],\"responses\":{{{CHANGED},{PROBLEM}}}}}"));
    }
    format!("{{{}}}", methods.join(","))
}

const PROBLEM: &str = "\"default\":{\"$ref\":\"#/components/responses/problem\"}";
const CHANGED: &str = "\"204\":{\"description\":\"Done\"}";

fn parameter(name: &str, text: &str) -> String {
    format!(
        "{{\"name\":{},\"in\":\"query\",\"required\":false,\"description\":{},\"schema\":{{\"type\":\"string\"}}}}",
        quoted(name),
        quoted(text)
    )
}

fn of_row(table: &Table, writes: bool) -> String {
    let row = reference(table);
    let id = "{\"name\":\"id\",\"in\":\"path\",\"required\":true,\"schema\":{\"type\":\"string\"}}";
    let content = format!("\"content\":{{\"application/json\":{{\"schema\":{row}}}}}");
    let body = format!("\"requestBody\":{{\"required\":true,{content}}}");
    let some =
        "\"requestBody\":{\"required\":true,\"content\":{\"application/json\":{\"schema\":{\"type\":\"object\"}}}}";
    let mut methods = vec![
        format!("\"parameters\":[{id}]"),
        format!("\"get\":{{\"responses\":{{\"200\":{{\"description\":\"The row\",{content}}},{PROBLEM}}}}}"),
    ];
    if writes && !table.info.is_view() {
        methods.push(format!(
            "\"put\":{{{body},\"responses\":{{\"201\":{{\"description\":\"Inserted\"}},{CHANGED},{PROBLEM}}}}}"
        ));
        methods.push(format!(
            "\"patch\":{{{some},\"responses\":{{\"200\":{{\"description\":\"The row as it is now\",{content}}},\
             {CHANGED},{PROBLEM}}}}}"
        ));
        methods.push(format!("\"delete\":{{\"responses\":{{{CHANGED},{PROBLEM}}}}}"));
    }
    format!("{{{}}}", methods.join(","))
}

fn schema(table: &Table) -> String {
    let columns = table.info.columns();
    let properties: Vec<_> = table.all.iter().map(|pick| member(&pick.name, &type_of(&columns[pick.column]))).collect();
    let needed = columns.iter().filter(|column| {
        column.is_not_null() && !column.has_default() && !column.is_generated() && table.info.key() != [column.name()]
    });
    let needed: Vec<_> = needed.map(|column| quoted(column.name())).collect();
    let required = if needed.is_empty() { String::new() } else { format!(",\"required\":[{}]", needed.join(",")) };
    format!("{{\"type\":\"object\",\"properties\":{{{}}}{required}}}", properties.join(","))
}

/// What a column holds, in words: SQLite keeps values of any type in a column, unless its table is strict, so a type
/// would claim too much.
fn type_of(column: &ColumnInfo) -> String {
    match column.declared() {
        "" => "{}".to_owned(),
        declared => format!("{{\"description\":{}}}", quoted(declared)),
    }
}
