//! The paths that go before a table of their name, and what `/openapi.json` says of them.

use jird::{Json, json};

/// The names of these paths and their descriptions. `Service` answers them.
pub(crate) fn all(has_store: bool, has_queries: bool) -> Vec<(&'static str, Json)> {
    let plain = |summary: &str, media_type: &str| {
        let answer = json!({"description": summary, "content": {media_type: {}}});
        json!({"get": {"summary": summary, "responses": {"200": answer, "default": problem()}}})
    };
    let mut all = vec![
        ("health", plain("The server answers", "application/json")),
        ("ready", plain("The server can do what it promises", "application/json")),
        ("metrics", plain("Counts for Prometheus", "text/plain")),
        ("openapi.json", plain("This description", "application/json")),
        ("sources", sources()),
    ];
    if has_store {
        all.push(("events", events()));
        all.push(("events/facets", facets()));
    }
    if has_queries {
        all.push(("query", query()));
    }
    all
}

fn problem() -> Json {
    json!({"$ref": "#/components/responses/problem"})
}

/// `/sources`
fn sources() -> Json {
    let columns = json!({
        "type": "array",
        "items": {"type": "object", "properties": {"name": {"type": "string"}, "type": {"type": "string"}}},
    });
    let names = json!({"type": "array", "items": {"type": "string"}});
    let links = json!({
        "type": "array",
        "description": "Foreign keys: the columns, and those of the other table that have the same values",
        "items": {"type": "object", "properties": {"table": {"type": "string"}, "columns": names, "to": names}},
    });
    let source = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "kind": {"enum": ["table", "view", "store", "file", "own"], "description": "own: a table of the server itself"},
            "writable": {"type": "boolean"},
            "key": {"type": ["string", "null"], "description": "The column by which a row has a path"},
            "columns": columns,
            "links": links,
            "time": {"type": "string", "description": "Where events have their times, as a JSON Pointer"},
        },
        "required": ["name", "kind", "writable", "key"],
    });
    let answer = json!({
        "description": "Tables and views, the event store, files",
        "content": {"application/json": {"schema": {"type": "array", "items": source}}},
    });
    json!({"get": {"summary": "What is served", "responses": {"200": answer, "default": problem()}}})
}

fn parameter(name: &str, place: &str, description: &str, schema: &Json) -> Json {
    json!({"name": name, "in": place, "description": description, "schema": schema})
}

/// What chooses events.
fn choice() -> [Json; 4] {
    let text = || json!({"type": "string"});
    let words = "Words and \"phrases\", each in any field or in the message; the case of letters does not count";
    let since = "The first time, as 2024-03-05T07:00:00Z, or how long ago, as 90s, 30m, 1h, 2d, 1w";
    [
        parameter("where", "query", "A condition in SQL", &text()),
        parameter("search", "query", words, &json!({"type": "string", "maxLength": 1000})),
        parameter("since", "query", since, &text()),
        parameter("until", "query", "The first time that is not wanted, as in since", &text()),
    ]
}

/// `/events`
fn events() -> Json {
    let mut parameters = choice().to_vec();
    parameters.extend([
        parameter(
            "limit",
            "query",
            "The most events",
            &json!({"type": "integer", "minimum": 0, "maximum": 10000, "default": 100}),
        ),
        parameter(
            "before",
            "query",
            "As a Link of an answer has it",
            &json!({"type": "string", "pattern": r"^-?[0-9]{1,18}\.[0-9]{1,18}$"}),
        ),
        parameter(
            "follow",
            "query",
            "Events as they come, as server-sent events, without an end",
            &json!({"type": "boolean", "default": false}),
        ),
        parameter(
            "Last-Event-ID",
            "header",
            "Of what is followed: the id of the last event that the client has",
            &json!({"type": "string", "pattern": "^[0-9]{1,18}$"}),
        ),
    ]);
    let answer = json!({
        "description": "Events",
        "headers": {"Link": {"description": "The older events, if there are some", "schema": {"type": "string"}}},
        "content": {
            "application/json": {"schema": {"type": "array"}},
            "application/x-ndjson": {},
            "text/event-stream": {},
        },
    });
    json!({
        "get": {
            "summary": "Events of the store, the newest first, or as they come",
            "parameters": parameters,
            "responses": {"200": answer, "default": problem()},
        },
    })
}

/// `/events/facets`
fn facets() -> Json {
    let count = json!({"type": "integer", "minimum": 0});
    let value = json!({"type": "object", "properties": {"value": {}, "events": count}});
    let field = json!({
        "type": "object",
        "properties": {
            "field": {"type": "string", "description": "A JSON Pointer"},
            "events": count,
            "distinct": {"type": "integer", "description": "Values that were told apart"},
            "others": {"type": "integer", "description": "Events whose values were not told apart"},
            "values": {"type": "array", "items": value},
        },
    });
    let facets = json!({
        "type": "object",
        "properties": {
            "events": {"type": "integer", "description": "Events that were counted, the newest"},
            "all": {"type": "boolean", "description": "Whether these are all"},
            "fields": {"type": "array", "items": field},
        },
    });
    let answer = json!({"description": "Counts", "content": {"application/json": {"schema": facets}}});
    json!({
        "get": {
            "summary": "The fields of events, and their most frequent values",
            "parameters": choice().to_vec(),
            "responses": {"200": answer, "default": problem()},
        },
    })
}

/// `/query`
fn query() -> Json {
    let summary = "SQL over all that is served";
    let sql = json!({"type": "string", "maxLength": 65536});
    let responses = json!({"200": {"$ref": "#/components/responses/result"}, "default": problem()});
    let asked = json!({
        "type": "object",
        "properties": {"sql": sql, "limit": {"type": "integer", "minimum": 0}},
        "required": ["sql"],
        "additionalProperties": false,
    });
    let content = json!({"application/json": {"schema": asked}, "application/sql": {"schema": {"type": "string"}}});
    json!({
        "get": {
            "summary": summary,
            "parameters": [
                {"name": "sql", "in": "query", "required": true, "schema": sql},
                {"$ref": "#/components/parameters/limit"},
            ],
            "responses": responses,
        },
        "post": {
            "summary": summary,
            "requestBody": {"required": true, "content": content},
            "responses": responses,
        },
    })
}

/// The parameter that both methods of `/query` have.
pub(crate) fn limit() -> Json {
    json!({"name": "limit", "in": "query", "description": "The most rows", "schema": {"type": "integer", "minimum": 0}})
}

/// The result of both methods of `/query`.
pub(crate) fn result() -> Json {
    json!({
        "description": "The rows of the result",
        "content": {
            "application/json": {"schema": {"type": "array", "items": {"type": "object"}}},
            "application/x-ndjson": {},
            "text/csv": {},
            "application/vnd.apache.arrow.file": {},
            "application/vnd.apache.arrow.stream": {},
            "application/vnd.apache.parquet": {},
        },
    })
}
