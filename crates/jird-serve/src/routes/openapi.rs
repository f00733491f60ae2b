//! What the server has, as an OpenAPI 3.1 document, made from the tables.

use crate::http::forwarded::Prefix;
use crate::request::catalog::{Pick, Table};
use crate::request::uri::encoded;
use crate::routes::paths;
use crate::routes::state::State;
use jird::{Json, json};
use jird_formats::sqlite::{Affinity, ColumnInfo, quote};

/// Members of an object.
type Members = Vec<(String, Json)>;

/// The document, for clients for whom this prefix is before each path.
pub(crate) fn document(state: &State, prefix: Option<&Prefix>) -> Vec<u8> {
    let (tables, writes, rows_max) = (state.tables(), state.writes_tables(), state.limits.rows);
    let fixed = paths::all(state.store.is_some(), state.has_queries);
    let own = state.own_tables();
    let is_fixed = |table: &Table| {
        let name = table.info.name();
        state.is_own(name) || fixed.iter().any(|(fixed, _)| *fixed == name)
    };
    let tables = tables.iter().filter(|table| !is_fixed(table)).map(|table| (table, writes));
    let tables: Vec<_> = tables.chain(own.iter().map(|table| (table, true))).collect();
    let mut paths: Members = fixed.iter().map(|(name, path)| (format!("/{name}"), path.clone())).collect();
    let mut schemas = Members::new();
    for (table, writes) in tables {
        let name = encoded(table.info.name());
        paths.push((format!("/{name}"), of_table(table, writes, rows_max)));
        if table.id.is_some() {
            paths.push((format!("/{name}/{{id}}"), of_row(table, writes)));
        }
        schemas.push((name, schema(table)));
    }
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {"title": "jird serve", "version": env!("CARGO_PKG_VERSION")},
        "paths": object(paths),
        "components": {
            "schemas": object(schemas),
            "parameters": {"limit": paths::limit()},
            "responses": {"result": paths::result(), "problem": problem()},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    });
    if let Some(Prefix(prefix)) = prefix {
        document["servers"] = json!([{"url": prefix}]);
    }
    format!("{document}\n").into_bytes()
}

fn object(members: Members) -> Json {
    Json::Object(members.into_iter().collect())
}

/// What is wrong, as each answer may say it.
fn problem() -> Json {
    let properties = json!({"title": {"type": "string"}, "status": {"type": "integer"}, "detail": {"type": "string"}});
    json!({
        "description": "What is wrong",
        "content": {"application/problem+json": {"schema": {"type": "object", "properties": properties}}},
    })
}

/// The schema of a table's rows.
fn reference(table: &Table) -> Json {
    // A `%` stands for itself in the schema's name, and so it is encoded once more in a reference, which is a URI.
    let name = encoded(table.info.name()).replace('%', "%25");
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// The answers of an operation: these, and what is wrong.
fn answers(answers: &[(&str, Json)]) -> Json {
    let problem = ("default", json!({"$ref": "#/components/responses/problem"}));
    object(answers.iter().chain([&problem]).map(|(status, answer)| ((*status).to_owned(), answer.clone())).collect())
}

fn says(description: &str) -> Json {
    json!({"description": description})
}

fn body(schema: &Json) -> Json {
    json!({"required": true, "content": {"application/json": {"schema": schema}}})
}

fn of_table(table: &Table, writes: bool, rows_max: u64) -> Json {
    let conditions = conditions(table);
    let parameters = [of_query(table, rows_max), conditions.clone()].concat();
    let rows = array(&reference(table));
    let content = json!({"application/json": {"schema": rows}, "application/x-ndjson": {}, "text/csv": {}});
    let mut methods = json!({
        "get": {
            "parameters": parameters,
            "responses": answers(&[
                ("200", json!({"description": "Rows", "content": content})),
                ("206", json!({"description": "Some of the rows, counted", "content": content})),
            ]),
        },
    });
    if writes && !table.info.is_view() {
        let row = new_row(table, Needs::NoDefault);
        let mut inserted = body(&json!({"anyOf": [row, array(&row)]}));
        inserted["content"]["application/x-ndjson"] = json!({});
        methods["post"] = json!({
            "requestBody": inserted,
            "responses": answers(&[("201", says("Inserted")), ("204", says("There were no rows"))]),
        });
        methods["patch"] = json!({
            "parameters": conditions,
            "requestBody": body(&new_row(table, Needs::One)),
            "responses": answers(&[("204", says("Done"))]),
        });
        methods["delete"] = json!({"parameters": conditions, "responses": answers(&[("204", says("Done"))])});
    }
    methods
}

/// A list of items of this form, in a regular expression.
fn list(item: &str) -> String {
    format!("{item}(,{item})*")
}

/// A text that matches a regular expression.
fn text(pattern: &str) -> Json {
    json!({"type": "string", "pattern": format!("^{pattern}$")})
}

/// What every query of a table may have.
fn of_query(table: &Table, rows_max: u64) -> Vec<Json> {
    let names: Vec<_> = table.all.iter().map(|pick| escaped(&pick.name)).collect();
    let name = format!("({})", names.join("|"));
    let count = |max: u64| json!({"type": "integer", "minimum": 0, "maximum": max});
    // No name is there twice.
    let picks = format!("(\\*|(?!(.*,)?([^,]*)(,.*)?,\\3(,|$)){})", list(&format!("([^,:\\x00]+:)?{name}")));
    let order = list(&format!("{name}(\\.(asc|desc))?(\\.(nullsfirst|nullslast))?"));
    vec![
        parameter("select", "Columns, with commas between them; NAME:COLUMN gives one another name", &text(&picks)),
        parameter("order", "Columns, each with .asc or .desc, .nullsfirst or .nullslast", &text(&order)),
        parameter("limit", "The most rows", &count(rows_max)),
        parameter("offset", "Rows to leave out before the first", &count(i64::MAX.unsigned_abs())),
    ]
}

/// A condition for each column.
fn conditions(table: &Table) -> Vec<Json> {
    let is_free = |name: &str| !["select", "order", "limit", "offset", "on_conflict"].contains(&name);
    let condition = |pick: &Pick| {
        let value = match table.info.columns()[pick.column].affinity() {
            Affinity::Integer | Affinity::Real => "-?(0|[1-9][0-9]{0,14})(\\.[0-9]{1,9})?",
            Affinity::None | Affinity::Text | Affinity::Numeric => "[^\\x00,()\"\\\\]*",
        };
        let compared = format!("(eq|neq|gt|gte|lt|lte)\\.{value}|in\\.\\({}\\)", list(value));
        let others = "(like|ilike)\\.[^\\x00]{0,200}|is\\.(null|not_null|true|false|unknown)";
        let description = "OPERATOR.VALUE with eq, neq, gt, gte, lt, lte, in, like, ilike, is; not. before it negates";
        parameter(&pick.name, description, &text(&format!("(not\\.)?({compared}|{others})")))
    };
    table.all.iter().filter(|pick| is_free(&pick.name)).map(condition).collect()
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

fn parameter(name: &str, description: &str, schema: &Json) -> Json {
    json!({"name": name, "in": "query", "required": false, "description": description, "schema": schema})
}

fn of_row(table: &Table, writes: bool) -> Json {
    let content = json!({"application/json": {"schema": reference(table)}});
    let mut methods = json!({
        "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
        "get": {"responses": answers(&[("200", json!({"description": "The row", "content": content}))])},
    });
    if writes && !table.info.is_view() {
        let done = ("204", says("Done"));
        methods["put"] = json!({
            "requestBody": body(&new_row(table, Needs::All)),
            "responses": answers(&[("201", says("Inserted")), done.clone()]),
        });
        let now = ("200", json!({"description": "The row as it is now", "content": content}));
        methods["patch"] = json!({
            "requestBody": body(&new_row(table, Needs::One)),
            "responses": answers(&[now, done.clone()]),
        });
        methods["delete"] = json!({"responses": answers(&[done])});
    }
    methods
}

/// A row as answers have it. SQLite keeps values of any type in a column, unless its table is strict, so a type would
/// claim too much.
fn schema(table: &Table) -> Json {
    let columns = table.info.columns();
    let property = |pick: &Pick| {
        let schema = match columns[pick.column].declared() {
            "" => json!({}),
            declared => says(declared),
        };
        (pick.name.clone(), schema)
    };
    json!({"type": "object", "properties": object(table.all.iter().map(property).collect())})
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
fn new_row(table: &Table, needs: Needs) -> Json {
    let (mut properties, mut needed) = (Members::new(), Vec::new());
    for (place, column) in table.info.columns().iter().enumerate() {
        let is_key = table.id == Some(place);
        if column.is_generated() || is_key && needs == Needs::All {
            continue;
        }
        let is_number = is_key && table.info.row_number().is_some_and(|name| name == quote(column.name()));
        let taken = taken(table, column, is_number, needs == Needs::NoDefault);
        properties.push((table.all[place].name.clone(), taken));
        let is_needed = match needs {
            Needs::NoDefault => column.is_not_null() && !column.has_default() && !is_number,
            Needs::One => false,
            Needs::All => true,
        };
        if is_needed {
            needed.push(column.name());
        }
    }
    let mut row = json!({"type": "object", "additionalProperties": false, "properties": object(properties)});
    if !needed.is_empty() {
        row["required"] = json!(needed);
    }
    if needs == Needs::One {
        row["minProperties"] = json!(1);
    }
    row
}

/// What a column takes: what SQLite would not change. Arrays and objects are kept as their JSON.
fn taken(table: &Table, column: &ColumnInfo, is_number: bool, is_new: bool) -> Json {
    /// Texts that SQLite does not take for numbers.
    const NO_NUMBER: &str = r"^(?![\t-\r ]*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[\t-\r ]*(\x00|$))";
    /// Integers that SQLite keeps as such.
    const INTEGERS: (i64, i64) = (i64::MIN, i64::MAX);
    /// Integers that doubles keep.
    const REALS: (i64, i64) = (-(1 << 53), 1 << 53);
    let all = &["boolean", "number", "string", "array", "object"][..];
    let is_strict = table.info.is_strict();
    let is_blob = || column.declared().eq_ignore_ascii_case("blob");
    let (types, range, is_free) = match (is_number, column.is_json(), column.affinity()) {
        (true, ..) => (&["integer", "boolean"][..], Some(INTEGERS), true),
        (.., Affinity::Numeric | Affinity::Integer) if is_strict => (&["integer", "boolean"][..], Some(INTEGERS), true),
        (.., Affinity::Real) if is_strict => (&["number", "boolean"][..], Some(REALS), true),
        (.., Affinity::None) if is_strict && is_blob() => (&[][..], None, true),
        (_, true, _) | (.., Affinity::None) => (all, None, true),
        (.., Affinity::Text) => (&["string", "array", "object"][..], None, true),
        (.., Affinity::Real) => (all, Some(REALS), false),
        (.., Affinity::Numeric | Affinity::Integer) => (all, Some(INTEGERS), false),
    };
    let or_null = (!column.is_not_null() && (!is_number || is_new)).then_some("null");
    let mut schema = json!({"type": types.iter().copied().chain(or_null).collect::<Vec<_>>()});
    if let Some((least, most)) = range {
        schema["minimum"] = json!(least);
        schema["maximum"] = json!(most);
    }
    if !is_free {
        schema["pattern"] = json!(NO_NUMBER);
    }
    if !column.declared().is_empty() {
        schema["description"] = json!(column.declared());
    }
    schema
}

fn array(items: &Json) -> Json {
    json!({"type": "array", "items": items})
}
