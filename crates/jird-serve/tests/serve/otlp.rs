//! OpenTelemetry's exporters.

use crate::common::{Service, mutated};
use crate::ingest::JSON;
use jird::json;

const PROTOBUF: (&str, &str) = ("Content-Type", "application/x-protobuf");

/// A field that is a text or a message.
pub(crate) fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    let mut len = bytes.len();
    while len > 127 {
        field.push(len as u8 | 128);
        len >>= 7;
    }
    field.push(len as u8);
    field.extend_from_slice(bytes);
    field
}

pub(crate) fn fixed64(number: u8, value: u64) -> Vec<u8> {
    [&[number << 3 | 1][..], &value.to_le_bytes()].concat()
}

pub(crate) fn text(value: &str) -> Vec<u8> {
    field(1, value.as_bytes())
}

fn pair(key: &str, value: &[u8]) -> Vec<u8> {
    [field(1, key.as_bytes()), field(2, value)].concat()
}

/// 2024-03-05T07:00:00.123456789Z
pub(crate) const TIME: u64 = 1_709_622_000_123_456_789;

/// A request with a resource, a scope, and these records.
pub(crate) fn request(records: &[Vec<u8>]) -> Vec<u8> {
    let resource = field(1, &pair("service.name", &text("shop")));
    let scope = [field(1, b"lib"), field(2, b"1.0")].concat();
    let records: Vec<u8> = records.iter().flat_map(|record| field(2, record)).collect();
    // The records come before the scope that concerns them.
    let scope_logs = [records, field(1, &scope)].concat();
    field(1, &[field(2, &scope_logs), field(1, &resource)].concat())
}

const CONTEXT: &str = r#""resource":{"service.name":"shop"},"scope":{"name":"lib","version":"1.0"}"#;

/// What becomes of the two records of the tests that follow.
fn two_events() -> [String; 2] {
    let one = concat!(
        r#"{"@t":"2024-03-05T07:00:00.123456789Z","@l":"Information","@m":"Hello, \"Ann\" ä","#,
        r#""@tr":"abababababababababababababababab","@sp":"0c0c0c0c0c0c0c0c","eventName":"started","#,
        r#""severityNumber":9,"flags":1,"droppedAttributesCount":2,"#,
        r#""attributes":{"n":-1,"list":[null,true,1.5],"map":{"k":"AP8="},"nan":"NaN","none":null},"#,
    );
    let two = r#"{"@t":"2024-03-05T07:00:00.123456790Z","@l":"ERROR2","body":[7],"severityNumber":18,"#;
    [format!("{one}{CONTEXT}}}"), format!("{two}{CONTEXT}}}")]
}

#[test]
fn a_record_becomes_an_event() {
    let service = Service::of_store(|_| ());
    let array = field(5, &[field(1, &[]), field(1, &[2 << 3, 1]), field(1, &fixed64(4, 1.5_f64.to_bits()))].concat());
    let map = field(6, &field(1, &pair("k", &field(7, &[0, 255]))));
    let record = [
        fixed64(1, TIME),
        fixed64(11, TIME + 5),
        vec![2 << 3, 9],
        field(3, b"Information"),
        field(5, &text("Hello, \"Ann\" \u{e4}")),
        field(6, &pair("n", &[3 << 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1])),
        field(6, &pair("list", &array)),
        field(6, &pair("map", &map)),
        field(6, &pair("nan", &fixed64(4, f64::NAN.to_bits()))),
        field(6, &pair("none", &[])),
        vec![7 << 3, 2],
        vec![8 << 3 | 5, 1, 0, 0, 0],
        field(9, &[0xab; 16]),
        field(10, &[0x0c; 8]),
        field(12, b"started"),
        // A field of a later version.
        vec![15 << 3, 1],
    ];
    let only_seen = [fixed64(11, TIME + 1), vec![2 << 3, 18], field(5, &field(5, &field(1, &[3 << 3, 7])))].concat();
    let body = request(&[record.concat(), only_seen]);
    let answer = service.send("POST", "/v1/logs", &[PROTOBUF], &body);
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/x-protobuf")));
    assert!(answer.body.is_empty());
    assert_eq!(service.events(), two_events());
}

#[test]
fn the_same_record_in_json_becomes_the_same_event() {
    let service = Service::of_store(|_| ());
    let body = r#"{"resourceLogs": [{
        "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]},
        "scopeLogs": [{"scope": {"name": "lib", "version": "1.0"}, "logRecords": [{
            "timeUnixNano": "1709622000123456789", "observedTimeUnixNano": "1709622000123456794", "severityNumber": 9,
            "severityText": "Information", "body": {"stringValue": "Hello, \"Ann\" ä"}, "attributes": [
                {"key": "n", "value": {"intValue": "-1"}},
                {"key": "list", "value": {"arrayValue": {"values": [{}, {"boolValue": true}, {"doubleValue": 1.5}]}}},
                {"key": "map", "value": {"kvlistValue": {"values": [{"key": "k", "value": {"bytesValue": "AP8="}}]}}},
                {"key": "nan", "value": {"doubleValue": "NaN"}}, {"key": "none"}
            ],
            "droppedAttributesCount": 2, "flags": 1, "traceId": "ABABABABABABABABABABABABABABABAB",
            "spanId": "0c0c0c0c0c0c0c0c", "eventName": "started", "later": {}
        }, {"observedTimeUnixNano": 1709622000123456790, "severityNumber": 18,
            "body": {"arrayValue": {"values": [{"intValue": 7}]}}}]}]
    }]}"#;
    let answer = service.send("POST", "/v1/logs", &[JSON], body.as_bytes()).is(200);
    assert_eq!(answer.text(), "{}");
    assert_eq!(service.events(), two_events());
}

/// What becomes of the two spans of the tests that follow.
fn two_spans() -> [String; 2] {
    let one = concat!(
        r#"{"@t":"2024-03-05T07:00:00.123456789Z","@l":"ERROR","@m":"GET /ä","#,
        r#""@tr":"abababababababababababababababab","@sp":"0c0c0c0c0c0c0c0c","@ps":"0d0d0d0d0d0d0d0d","#,
        r#""@st":"2024-03-05T07:00:00.111106789Z","@sk":"Server","elapsedMs":12.35,"statusCode":"ERROR","#,
        r#""statusMessage":"no","traceState":"a=b","flags":257,"droppedAttributesCount":1,"droppedEventsCount":2,"#,
        r#""droppedLinksCount":3,"attributes":{"n":-1},"events":[{"@t":"2024-03-05T07:00:00.111106790Z","name":"retry","#,
        r#""droppedAttributesCount":4,"attributes":{"x":true}},{}],"#,
        r#""links":[{"@tr":"01010101010101010101010101010101","@sp":"0202020202020202","attributes":{"y":null}}],"#,
    );
    // It has no end yet, and a kind and a status that are not known.
    let two = r#"{"@t":"2024-03-05T07:00:00.123456789Z","@st":"2024-03-05T07:00:00.123456789Z","#;
    [format!("{one}{CONTEXT}}}"), format!("{two}{CONTEXT}}}")]
}

#[test]
fn a_span_becomes_an_event() {
    let service = Service::of_store(|_| ());
    let minus_one = [3 << 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1];
    let event =
        [fixed64(1, TIME - 12_349_999), field(2, b"retry"), field(3, &pair("x", &[2 << 3, 1])), vec![4 << 3, 4]];
    let link = [field(1, &[1; 16]), field(2, &[2; 8]), field(4, &pair("y", &[])), field(3, b"later")];
    // A message may come with its fields in any order.
    let span = [
        field(15, &[field(2, b"no"), vec![3 << 3, 2]].concat()),
        field(1, &[0xab; 16]),
        field(2, &[0x0c; 8]),
        field(3, b"a=b"),
        field(4, &[0x0d; 8]),
        field(5, "GET /\u{e4}".as_bytes()),
        vec![6 << 3, 2],
        fixed64(7, TIME - 12_350_000),
        fixed64(8, TIME),
        field(9, &pair("n", &minus_one)),
        vec![10 << 3, 1],
        field(11, &event.concat()),
        field(11, b""),
        vec![12 << 3, 2],
        field(13, &link.concat()),
        vec![14 << 3, 3],
        // The number 16 takes two bytes.
        vec![0x85, 1, 1, 1, 0, 0],
    ];
    let begun = [fixed64(7, TIME), vec![6 << 3, 9], field(15, &[3 << 3, 7])].concat();
    let body = request(&[span.concat(), begun]);
    let answer = service.send("POST", "/v1/traces", &[PROTOBUF], &body);
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/x-protobuf")));
    assert!(answer.body.is_empty());
    assert_eq!(service.events(), two_spans());
}

#[test]
fn the_same_span_in_json_becomes_the_same_event() {
    let service = Service::of_store(|_| ());
    let body = r#"{"resourceSpans": [{
        "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]},
        "scopeSpans": [{"scope": {"name": "lib", "version": "1.0"}, "spans": [{
            "traceId": "ABABABABABABABABABABABABABABABAB", "spanId": "0c0c0c0c0c0c0c0c",
            "parentSpanId": "0D0D0D0D0D0D0D0D", "traceState": "a=b", "name": "GET /ä", "kind": 2, "flags": 257,
            "startTimeUnixNano": "1709622000111106789", "endTimeUnixNano": "1709622000123456789",
            "attributes": [{"key": "n", "value": {"intValue": "-1"}}], "droppedAttributesCount": 1,
            "events": [{"timeUnixNano": "1709622000111106790", "name": "retry", "droppedAttributesCount": 4,
                "attributes": [{"key": "x", "value": {"boolValue": true}}]}, {}], "droppedEventsCount": 2,
            "links": [{"traceId": "01010101010101010101010101010101", "spanId": "0202020202020202",
                "attributes": [{"key": "y"}]}], "droppedLinksCount": 3,
            "status": {"message": "no", "code": 2}
        }, {"startTimeUnixNano": 1709622000123456789, "kind": 9, "status": {"code": 7}}]}]
    }]}"#;
    assert_eq!(service.send("POST", "/v1/traces", &[JSON], body.as_bytes()).is(200).text(), "{}");
    assert_eq!(service.events(), two_spans());
}

#[test]
fn wrong_bodies_of_any_kind_are_answered() {
    let service = Service::of_store(|_| ());
    let event = [fixed64(1, TIME), field(2, b"retry"), field(3, &pair("x", &[2 << 3, 1]))].concat();
    let link = [field(1, &[1; 16]), field(2, &[2; 8])].concat();
    let ids = [field(1, &[0xab; 16]), field(2, &[0x0c; 8])].concat();
    let span = [ids, fixed64(7, TIME), fixed64(8, TIME), field(11, &event), field(13, &link), field(15, &[3 << 3, 2])];
    let body = request(&[span.concat()]);
    for target in ["/v1/traces", "/v1/logs"] {
        for body in mutated(&body, 1000) {
            let status = service.send("POST", target, &[PROTOBUF], &body).status;
            assert!([200, 400].contains(&status), "{target} {status}: {body:?}");
        }
    }
    let body = r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","kind":2,
        "startTimeUnixNano":"1709622000111106789","events":[{"name":"x"}],"links":[{}],"status":{"code":2}}]}]}]}"#;
    for body in mutated(body.as_bytes(), 500) {
        let status = service.send("POST", "/v1/traces", &[JSON], &body).status;
        assert!([200, 400].contains(&status), "{status}: {body:?}");
    }
}

#[test]
fn spans_that_are_none_are_named_and_the_others_kept() {
    let service = Service::of_store(|_| ());
    let spans = [
        fixed64(8, TIME),
        field(4, &[1, 2, 3]),
        field(11, &fixed64(1, u64::MAX)),
        field(13, &field(1, &[7])),
        field(15, &[0xff]),
        fixed64(7, u64::MAX),
        // The number 16 takes two bytes.
        vec![0x82, 1, 0],
    ];
    let answer = service.send("POST", "/v1/traces", &[PROTOBUF], &request(&spans));
    assert_eq!(answer.status, 200);
    let named = "span 2: an identifier has another length than it should; span 3: its time is after the year 2262; \
        span 4: an identifier has another length than it should; span 5: it is no message of the format; \
        span 6: its time is after the year 2262; span 7: a field has another type than it should";
    assert_eq!(answer.body, field(1, &[vec![1 << 3, 6], field(2, named.as_bytes())].concat()));
    assert_eq!(service.events(), [format!("{{\"@t\":\"2024-03-05T07:00:00.123456789Z\",{CONTEXT}}}")]);
    assert_eq!(service.refused().len(), 6);
    let spans = r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"parentSpanId":"x"},{"events":[{"timeUnixNano":"soon"}]},5,
        {"links":[{"spanId":7}]},{"status":{"code":"x"}},{"endTimeUnixNano":"5"}]}]}]}"#;
    let answer = service.send("POST", "/v1/traces", &[JSON], spans.as_bytes()).is(200).tree();
    assert_eq!(answer["partialSuccess"]["rejectedSpans"], json!("5"));
    assert!(answer["partialSuccess"]["errorMessage"].as_str().unwrap().starts_with("span 1: an identifier"));
    for body in [&b"\x0a\x02\x0a\xff"[..], b"{}"] {
        assert_eq!(service.send("POST", "/v1/traces", &[PROTOBUF], body).status, 400, "{body:?}");
    }
    assert_eq!(service.send("GET", "/v1/traces", &[], b"").status, 405);
}

#[test]
fn records_that_are_none_are_named_and_the_others_kept() {
    let service = Service::of_store(|_| ());
    let deep = (0..40).fold(text("x"), |value, _| field(5, &field(1, &value)));
    let records = [
        fixed64(1, TIME),
        field(5, &field(1, b"\xff")),
        field(9, &[1, 2, 3]),
        fixed64(1, u64::MAX),
        vec![0xff],
        field(1, b"x"),
        field(5, &deep),
        vec![],
    ];
    let answer = service.send("POST", "/v1/logs", &[PROTOBUF], &request(&records));
    assert_eq!(answer.status, 200);
    let named = "record 2: a text is not UTF-8; record 3: an identifier has another length than it should; \
        record 4: its time is after the year 2262; record 5: it is no message of the format; \
        record 6: a field has another type than it should; record 7: its values are too deep within each other";
    let partial = [vec![1 << 3, 6], field(2, named.as_bytes())].concat();
    assert_eq!(answer.body, field(1, &partial));
    assert_eq!(
        service.events(),
        [format!("{{\"@t\":\"2024-03-05T07:00:00.123456789Z\",{CONTEXT}}}"), format!("{{{CONTEXT}}}")]
    );
    let refused = service.refused();
    assert_eq!(
        (refused.len(), &refused[1]["raw"], &refused[1]["record"]),
        (6, &json!("J\u{3}\u{1}\u{2}\u{3}"), &json!(3))
    );
    let logs = r#"{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"traceId":"x"},{"timeUnixNano":"soon"},{"body":{"x":1}},5,{}]}]}]}"#;
    let answer = service.send("POST", "/v1/logs", &[JSON], logs.as_bytes()).is(200).tree();
    assert_eq!(answer["partialSuccess"]["rejectedLogRecords"], json!("4"));
    assert!(answer["partialSuccess"]["errorMessage"].as_str().unwrap().starts_with("record 1: an identifier"));
}

#[test]
fn a_request_that_is_none_is_refused_whole() {
    let service = Service::of_store(|_| ());
    let whole = request(&[fixed64(1, TIME)]);
    for body in [&whole[..whole.len() - 1], b"{}", b"\x0a\x02\x0a\xff", b"\x0a\x07\x0a\x05\x0a\x03\x0a\x01\xff"] {
        let answer = service.send("POST", "/v1/logs", &[PROTOBUF], body);
        assert_eq!((answer.status, answer.header("content-type")), (400, Some("application/x-protobuf")), "{body:?}");
        // Its code, and a message.
        assert_eq!(answer.body[..3], [1 << 3, 3, 2 << 3 | 2]);
    }
    for body in [
        "{\"resourceLogs\":{}}",
        "{\"resourceLogs\":[{\"scopeLogs\":5}]}",
        "[]",
        "{\"resourceLogs\":",
        "{\"resourceLogs\":[{\"resource\":{\"attributes\":[{\"key\":1}]}}]}",
    ] {
        let answer = service.send("POST", "/v1/logs", &[JSON], body.as_bytes());
        assert_eq!((answer.status, answer.tree()["code"].clone()), (400, json!(3)), "{body}");
        assert!(answer.tree()["message"].is_string());
    }
    assert!(service.events().is_empty());
    assert_eq!(service.send("POST", "/v1/logs", &[JSON], b"{\"resourceLogs\":null}").is(200).text(), "{}");
    assert_eq!(service.send("POST", "/v1/logs", &[JSON], b"{}").is(200).text(), "{}");
    assert_eq!(service.send("POST", "/v1/logs", &[PROTOBUF], b"").status, 200);
}

#[test]
fn what_stands_once_in_a_body_does_not_grow_beyond_measure() {
    let service = Service::of_store(|settings| settings.limits.body_bytes = 1 << 20);
    let resource = field(1, &pair("x", &text(&"y".repeat(100_000))));
    let records = [0x12, 0].repeat(10_000);
    let body = field(1, &[field(1, &resource), field(2, &records)].concat());
    assert_eq!(service.send("POST", "/v1/logs", &[PROTOBUF], &body).status, 413);
    assert!(service.events().is_empty());
}
