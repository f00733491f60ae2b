//! What `/openapi.json` says of the paths that are no tables.

/// `/sources`
pub(crate) const SOURCES: &str = r##"
{"get":{"summary":"What is served","responses":{"200":{"description":"Tables and views, the event store, files",
"content":{"application/json":
{"schema":{"type":"array","items":{"type":"object",
"properties":{"name":{"type":"string"},"kind":{"enum":["table","view","store",
"file"]},"writable":{"type":"boolean"},"key":{"type":["string","null"],
"description":"The column by which a row has a path"},"columns":{"type":"array",
"items":{"type":"object","properties":{"name":{"type":"string"},"type":{"type":"string"}}}},
"time":{"type":"string","description":"Where events have their times, as a JSON Pointer"}},
"required":["name","kind","writable","key"]}}}}},"default":{"$ref":"#/components/responses/problem"}}}}"##;

/// `/events`
pub(crate) const EVENTS: &str = r##"
{"get":{"summary":"Events of the store, the newest first, or as they come",
"parameters":[{"name":"where","in":"query","description":"A condition in SQL",
"schema":{"type":"string"}},{"name":"since","in":"query","description":
"The first time, as 2024-03-05T07:00:00Z, or how long ago, as 90s, 30m, 1h, 2d, 1w",
"schema":{"type":"string"}},{"name":"until","in":"query","description":
"The first time that is not wanted, as in since",
"schema":{"type":"string"}},{"name":"limit","in":"query","description":"The most events",
"schema":{"type":"integer","minimum":0,"maximum":10000,"default":100}},
{"name":"before","in":"query","description":"As a Link of an answer has it",
"schema":{"type":"string","pattern":"^-?[0-9]{1,18}\\.[0-9]{1,18}$"}},{"name":"follow",
"in":"query","description":"Events as they come, as server-sent events, without an end",
"schema":{"type":"boolean","default":false}},{"name":"Last-Event-ID","in":"header",
"description":"Of what is followed: the id of the last event that the client has",
"schema":{"type":"string","pattern":"^[0-9]{1,18}$"}}],"responses":{"200":{"description":"Events",
"headers":{"Link":{"description":"The older events, if there are some",
"schema":{"type":"string"}}},"content":{"application/json":{"schema":{"type":"array"}},
"application/x-ndjson":{},"text/event-stream":{}}},"default":{"$ref":"#/components/responses/problem"}}}}"##;

/// `/query`
pub(crate) const QUERY: &str = r##"
{"get":{"summary":"SQL over all that is served","parameters":[{"name":"sql",
"in":"query","required":true,"schema":{"type":"string","maxLength":65536}},
{"$ref":"#/components/parameters/limit"}],"responses":{"200":{"$ref":"#/components/responses/result"},
"default":{"$ref":"#/components/responses/problem"}}},"post":{"summary":"SQL over all that is served",
"requestBody":{"required":true,"content":{"application/json":{"schema":{"type":"object",
"properties":{"sql":{"type":"string","maxLength":65536},"limit":{"type":"integer",
"minimum":0}},"required":["sql"],"additionalProperties":false}},"application/sql":{"schema":{"type":
"string"}}}},
"responses":{"200":{"$ref":"#/components/responses/result"},"default":{"$ref":
"#/components/responses/problem"}}}}"##;

/// The parameter and the result that both methods of `/query` have.
pub(crate) const LIMIT: &str = r#"
"limit":{"name":"limit","in":"query","description":"The most rows","schema":{"type":"integer","minimum":0}}"#;
pub(crate) const RESULT: &str = r#"
"result":{"description":"The rows of the result","content":{"application/json":
{"schema":{"type":"array",
"items":{"type":"object"}}},"application/x-ndjson":{},"text/csv":{},"application/vnd.apache.arrow.file":{},
"application/vnd.apache.arrow.stream":{},"application/vnd.apache.parquet":{}}}"#;
