//! Seq's clients.

use crate::common::Service;
use crate::ingest::{JSON, LINES};
use jird::json;

const CLEF: (&str, &str) = ("Content-Type", "application/vnd.serilog.clef");
const EVENT: &str = r#"{"@t":"2024-03-05T07:00:00Z","@mt":"Hello, {User}","User":"Ann"}"#;

#[test]
fn compact_events_come_through_each_of_its_doors() {
    let service = Service::of_store(|_| ());
    let endpoints = [
        ("/ingest/clef", CLEF),
        ("/ingest/clef", JSON),
        ("/api/events/raw", CLEF),
        ("/api/events/raw?clef", JSON),
        ("/api/events/raw?clef", LINES),
        ("/api/events/raw/?clef=", ("Content-Type", "application/json; charset=utf-8")),
    ];
    for (target, media) in endpoints {
        let answer = service.send("POST", target, &[media], format!("{EVENT}\r\n{EVENT}").as_bytes()).is(201);
        assert_eq!(answer.tree(), json!({"MinimumLevelAccepted": null}), "{target}");
    }
    assert_eq!(service.events(), vec![EVENT; 2 * endpoints.len()]);
}

#[test]
fn compact_events_are_objects() {
    let service = Service::of_store(|_| ());
    let answer = service.send("POST", "/ingest/clef", &[CLEF], format!("{EVENT}\n 5\n{{\n").as_bytes()).is(201).tree();
    let errors = answer["errors"].as_array().unwrap();
    let places: Vec<_> = errors.iter().map(|error| (&error["line"], &error["column"], &error["kind"])).collect();
    assert_eq!(places, [(&json!(2), &json!(2), &json!("object")), (&json!(3), &json!(2), &json!("unclosed"))]);
    assert_eq!(service.events(), [EVENT]);
    assert_eq!(service.refused().len(), 2);
    let answer = service.send("POST", "/ingest/clef", &[CLEF], b"[]");
    assert_eq!((answer.status, &answer.tree()["Error"]), (400, &json!("an event is an object here")));
}

#[test]
fn events_of_the_older_form_become_compact() {
    let service = Service::of_store(|_| ());
    let body = r#"{"Events": [
        {"Timestamp": "2024-03-05T07:00:01Z", "Level": "Warning", "MessageTemplate": "Hello, {User}", "Exception": null,
         "Properties": {"User": "Ann", "@id": 1.50, "more": {"a": [1, 2]}}, "Links": []},
        7,
        {"Timestamp": "2024-03-05T07:00:02Z", "Properties": null}, {}
    ]}"#;
    let answer = service.send("POST", "/api/events/raw", &[JSON], body.as_bytes()).is(201).tree();
    assert_eq!((&answer["refused"], &answer["errors"][0]["index"]), (&json!(1), &json!(1)));
    let events = service.events();
    assert_eq!(
        events,
        [
            r#"{"@t":"2024-03-05T07:00:01Z","@l":"Warning","@mt":"Hello, {User}","User":"Ann","@@id":1.50,"more":{"a":[1,2]},"Links":[]}"#,
            r#"{"@t":"2024-03-05T07:00:02Z"}"#,
            "{}"
        ]
    );
    for body in ["[]", "{}", r#"{"Events": {}}"#, "{"] {
        service.send("POST", "/api/events/raw", &[JSON], body.as_bytes()).is(400);
    }
}

#[test]
fn the_time_goes_where_the_store_looks_for_it() {
    let service = Service::of_store(|settings| settings.time_field = Some(jird::Path::root().key("a").key("b")));
    let body =
        r#"{"Events": [{"Timestamp": "2024-03-05T07:00:01Z", "Level": "x"}, {"Timestamp": "2024-03-05T07:00:00Z"}]}"#;
    service.send("POST", "/api/events/raw", &[JSON], body.as_bytes()).is(201);
    assert_eq!(
        service.events(),
        [r#"{"a":{"b":"2024-03-05T07:00:00Z"}}"#, r#"{"a":{"b":"2024-03-05T07:00:01Z"},"@l":"x"}"#]
    );
}
