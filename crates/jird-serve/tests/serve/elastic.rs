//! Elasticsearch's clients.

use crate::common::{Answer, Service};
use crate::ingest::{JSON, LINES};
use jird::{Json, json};

const ELASTIC: (&str, &str) = ("Content-Type", "application/vnd.elasticsearch+x-ndjson; compatible-with=9");

fn bulk(service: &Service, target: &str, body: &str) -> Answer {
    service.send("POST", target, &[ELASTIC], body.as_bytes())
}

fn items(answer: &Answer) -> Vec<Json> {
    answer.tree()["items"].as_array().unwrap().clone()
}

#[test]
fn documents_become_events_with_their_names() {
    let service = Service::of_store(|_| ());
    let body = r#"{"index":{}}
{"@t": "2024-03-05T07:00:00Z", "n": 1.50}
{"create":{"_index":"other","_id":"a\"b"}}
{ "@t": "2024-03-05T07:00:01Z" , "o":{"a":{}} } 

{ "create" : { "_id" : 7 } }
{ }
"#;
    let answer = bulk(&service, "/log/_bulk?refresh=true", body).is(200);
    assert_eq!(answer.header("x-elastic-product"), Some("Elasticsearch"));
    assert_eq!(answer.tree()["errors"], json!(false));
    assert!(answer.tree()["took"].is_number());
    assert_eq!(
        items(&answer),
        [
            json!({"index": {"_index": "log", "status": 201, "result": "created"}}),
            json!({"create": {"_index": "other", "_id": "a\"b", "status": 201, "result": "created"}}),
            json!({"create": {"_index": "log", "_id": "7", "status": 201, "result": "created"}}),
        ]
    );
    assert_eq!(
        service.events(),
        [
            r#"{"@t":"2024-03-05T07:00:00Z","n":1.50,"_index":"log"}"#,
            r#"{"@t":"2024-03-05T07:00:01Z","o":{"a":{}},"_index":"other","_id":"a\"b"}"#,
            r#"{"_index":"log","_id":"7"}"#,
        ]
    );
    // Other types, the other method, and no name at all.
    for (method, media) in [("PUT", LINES), ("POST", JSON)] {
        service.send(method, "/_bulk", &[media], b"{\"index\":{}}\n{\"@t\":1}\n").is(200);
    }
    assert_eq!(service.events()[..2], vec![r#"{"@t":1}"#; 2]);
}

#[test]
fn each_document_that_is_none_has_its_item() {
    let service = Service::of_store(|_| ());
    let body = r#"{"index":{"_index":"x"}}
{"a":1,}
{"index":{"_index":"x"}}
{"a":"}
{"index":{"_index":"x"}}
{"a":{}
{"index":{"_index":"x"}}
{"a":1}}
{"update":{"_index":"x","_id":"1"}}
{"doc":{"a":1}}
{"delete":{"_index":"x","_id":"1"}}
{"index":{"_index":"x"}}
[1]
{"index":{"_index":"x"}}
{"a":2}
"#;
    let answer = bulk(&service, "/_bulk", body).is(200);
    assert_eq!(answer.tree()["errors"], json!(true));
    let items = items(&answer);
    let statuses: Vec<_> = items
        .iter()
        .map(|item| item.as_object().unwrap().iter().next().map(|(name, item)| (name.clone(), item["status"].clone())))
        .map(Option::unwrap)
        .collect();
    let wanted = [
        ("index", 400),
        ("index", 400),
        ("index", 400),
        ("index", 400),
        ("update", 400),
        ("delete", 400),
        ("index", 400),
        ("index", 201),
    ];
    assert_eq!(statuses, wanted.map(|(name, status)| (name.to_owned(), json!(status))));
    let reason = items[0]["index"]["error"]["reason"].as_str().unwrap();
    assert!(reason.starts_with("line 2, column 8: "), "{reason}");
    assert_eq!(items[0]["index"]["error"]["type"], json!("document_parsing_exception"));
    assert_eq!(items[4]["update"]["error"]["type"], json!("illegal_argument_exception"));
    assert_eq!(service.events(), [r#"{"a":2,"_index":"x"}"#]);
    let refused = service.refused();
    let lines: Vec<_> = refused.iter().map(|line| &line["line"]).collect();
    assert_eq!(lines, [2, 4, 6, 8, 13].map(|line| json!(line)).iter().collect::<Vec<_>>());
}

#[test]
fn a_body_that_is_no_actions_is_refused_whole_and_as_the_clients_know_it() {
    let service = Service::of_store(|_| ());
    for body in [
        "{\"index\":{}}\n{}\n{\"index\":{}}\n",
        "{\"index\":{}}\n{}\nx\n{}\n",
        "{\"index\":{}}\n{}\n{}\n{}\n",
        "{\"upsert\":{}}\n{}\n",
        "{\"index\":1}\n{}\n",
        "{\"index\":{\"_index\":1}}\n{}\n",
        "{\"index\":{},\"create\":{}}\n{}\n",
        "[]\n{}\n",
        &format!("{{\"index\":{{\"_id\":\"{}\"}}}}\n{{}}\n", "x".repeat(600)),
        &format!("{{\"index\":{{\"_index\":\"{}\"}}}}\n{{}}\n", "x".repeat(300)),
    ] {
        let answer = bulk(&service, "/_bulk", body);
        assert_eq!((answer.status, answer.header("content-type")), (400, Some("application/json")), "{body}");
        assert_eq!(answer.header("x-elastic-product"), Some("Elasticsearch"));
        assert_eq!(answer.tree()["status"], json!(400));
        assert!(answer.tree()["error"]["reason"].is_string());
    }
    assert_eq!(bulk(&service, &format!("/{}/_bulk", "x".repeat(256)), "{\"index\":{}}\n{}\n").status, 400);
    assert_eq!(bulk(&service, "/_bulk?pipeline=x", "{\"index\":{}}\n{}\n").status, 400);
    assert_eq!(bulk(&service, "/_bulk", &"{\"delete\":{}}\n".repeat(100_001)).status, 413);
    assert!(service.events().is_empty() && service.refused().is_empty());
}

#[test]
fn its_clients_are_greeted() {
    let service = Service::of_store(|settings| settings.tokens = vec!["x".into()]);
    let key = ("Authorization", "ApiKey x");
    let accept = ("Accept", "application/vnd.elasticsearch+json; compatible-with=9");
    let answer = service.send("GET", "/", &[key, accept], b"").is(200);
    assert_eq!(answer.header("x-elastic-product"), Some("Elasticsearch"));
    assert_eq!(answer.tree()["tagline"], json!("You Know, for Search"));
    let answer = service.send("HEAD", "/", &[key, accept], b"");
    assert_eq!((answer.status, answer.header("x-elastic-product")), (200, Some("Elasticsearch")));
    let answer = service.send("GET", "/", &[accept], b"");
    assert_eq!((answer.status, &answer.tree()["error"]["type"]), (401, &json!("security_exception")));
    // A browser is not.
    let answer = service.send("GET", "/", &[key, ("Accept", "text/html,application/json")], b"");
    assert_eq!(answer.header("x-elastic-product"), None);
}

#[test]
fn a_document_comes_alone_and_clients_ask_for_more() {
    let service = Service::of_store(|_| ());
    let post = |target: &str, body: &str| service.json("POST", target, body);
    let answer = post("/log/_doc", "{\n  \"@t\": \"2024-03-05T07:00:00Z\",\r\n  \"n\": 1\n}\n");
    assert_eq!((answer.status, answer.header("x-elastic-product")), (201, Some("Elasticsearch")));
    let tree = answer.tree();
    assert_eq!((&tree["_index"], &tree["result"], &tree["_version"]), (&json!("log"), &json!("created"), &json!(1)));
    assert_eq!(service.json("PUT", "/log/_doc/a%20b", "{\"n\":2}").tree()["_id"], json!("a b"));
    assert_eq!(post("/log/_create/7", "{}").status, 201);
    for bad in ["[]", "{\"a\":}", "", "{} {}"] {
        let answer = post("/log/_doc", bad);
        assert_eq!((answer.status, answer.tree()["status"].as_u64()), (400, Some(400)), "{bad}: {}", answer.text());
    }
    assert_eq!(service.refused().len(), 4);
    let events = service.events();
    assert!(events.iter().any(|event| event.contains(r#""n":2,"_index":"log","_id":"a b""#)), "{events:?}");
    assert_eq!(events.len(), 3);
    assert_eq!(service.get("/_cluster/health").is(200).tree()["status"], json!("green"));
    for target in ["/_refresh", "/log/_refresh"] {
        assert_eq!(post(target, "").is(200).tree()["_shards"]["failed"], json!(0));
    }
    assert_eq!(service.send("DELETE", "/log/_doc/7", &[], b"").status, 405);
    let guarded = Service::of_store(|settings| settings.tokens = vec!["s3cret".into()]);
    assert_eq!(guarded.json("POST", "/log/_doc", "{}").status, 401);
    assert_eq!(guarded.json("POST", "/log/_doc?apiKey=s3cret", "{}").status, 201);
    assert_eq!(guarded.json("POST", "/log/_doc?apiKey=secret", "{}").status, 401);
}
