//! Loki's clients.

use crate::common::{Service, mutated};
use crate::ingest::JSON;

const PROTOBUF: (&str, &str) = ("Content-Type", "application/x-protobuf");
const PUSH: &str = "/loki/api/v1/push";

/// A field that is a text or a message, and short.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, u8::try_from(bytes.len()).unwrap()][..], bytes].concat()
}

fn packed(body: &[u8]) -> Vec<u8> {
    snap::raw::Encoder::new().compress_vec(body).unwrap()
}

/// A line at a second after 1970.
fn line(second: u8, text: &str) -> Vec<u8> {
    [field(1, &[1 << 3, second, 2 << 3, 5]), field(2, text.as_bytes())].concat()
}

fn lines() -> [&'static str; 3] {
    [
        r#"{"@t":"1970-01-01T00:00:01.000000005Z","@l":"warn","@m":"a \"b\" ä","labels":{"job":"shop","level":"warn"}}"#,
        r#"{"@t":"1970-01-01T00:00:02.000000005Z","@l":"info","@m":"{\"n\":1}","labels":{"job":"\u0001"},"metadata":{"level":"info","id":"7"}}"#,
        r#"{"@t":"1970-01-01T00:00:03.000000005Z","@m":""}"#,
    ]
}

#[test]
fn lines_with_labels_become_events_in_both_forms() {
    let body = r#"{"streams": [
        {"stream": {"job": "shop", "level": "warn"}, "values": [["1000000005", "a \"b\" ä"]]},
        {"stream": {"job": "\u0001"}, "values": [["2000000005", "{\"n\":1}", {"level": "info", "id": "7"}]]},
        {"values": [["3000000005", "", {}]]}, {"stream": {"x": "y"}, "values": []}
    ]}"#;
    let service = Service::of_store(|_| ());
    let answer = service.send("POST", PUSH, &[JSON], body.as_bytes());
    assert_eq!((answer.status, answer.body.len()), (204, 0));
    assert_eq!(service.events(), lines());
    let metadata =
        |name: &str, value: &str| field(3, &[field(1, name.as_bytes()), field(2, value.as_bytes())].concat());
    let second = [line(2, r#"{"n":1}"#), metadata("level", "info"), metadata("id", "7")].concat();
    let streams = [
        // The labels may come after the lines.
        [field(2, &line(1, "a \"b\" \u{e4}")), field(1, br#"{job="shop", level="warn"}"#), vec![3 << 3, 9]].concat(),
        [field(1, br#"{job="\x01"}"#), field(2, &second)].concat(),
        [field(1, b"{}"), field(2, &line(3, ""))].concat(),
    ];
    let body: Vec<u8> = streams.iter().flat_map(|stream| field(1, stream)).collect();
    for headers in [&[PROTOBUF][..], &[PROTOBUF, ("Content-Encoding", "snappy")]] {
        let service = Service::of_store(|_| ());
        let answer = service.send("POST", PUSH, headers, &packed(&body));
        assert_eq!((answer.status, answer.body.len()), (204, 0));
        assert_eq!(service.events(), lines());
    }
}

#[test]
fn lines_that_are_none_are_named_and_the_others_kept() {
    let service = Service::of_store(|_| ());
    let body = r#"{"streams": [
        {"stream": {"a": 1}, "values": [["1", "x"]]},
        {"stream": {}, "values": [["1"], 5, ["soon", "x"], [1, "x"], ["1", 2], ["1", "x", {"a": []}], ["-1", "x"], ["1", "x"]]},
        {"stream": [], "values": [["1", "x"]]}
    ]}"#;
    let answer = service.send("POST", PUSH, &[JSON], body.as_bytes());
    assert_eq!((answer.status, answer.header("content-type")), (400, Some("text/plain; charset=utf-8")));
    let told = String::from_utf8(answer.body).unwrap();
    assert!(
        told.starts_with("line 1: a label is not a text\nline 2: it is not a list of a time and a text\n"),
        "{told}"
    );
    assert_eq!(told.lines().count(), 9, "{told}");
    assert_eq!(service.events(), [r#"{"@t":"1970-01-01T00:00:00.000000001Z","@m":"x"}"#]);
    assert_eq!(service.refused().len(), 9);
    let streams = [
        [field(1, b"job=1"), field(2, &line(1, "x"))].concat(),
        [field(2, b"\xff"), field(2, &field(2, b"\xff")), field(2, &[1 << 3, 1]), field(2, &line(2, "x"))].concat(),
    ];
    let body: Vec<u8> = streams.iter().flat_map(|stream| field(1, stream)).collect();
    let answer = service.send("POST", PUSH, &[PROTOBUF], &packed(&body));
    let named = "line 1: its labels are not in the form {name=\"value\"}\nline 2: it is no message of the format\n\
        line 3: a text is not UTF-8\nline 4: a field has another type than it should\n";
    assert_eq!((answer.status, String::from_utf8(answer.body).unwrap().as_str()), (400, named));
    assert_eq!(service.events().len(), 2);
}

#[test]
fn wrong_bodies_of_any_kind_are_answered() {
    let service = Service::of_store(|_| ());
    let entry = [line(2, r#"{"n":1}"#), field(3, &[field(1, b"id"), field(2, b"7")].concat())].concat();
    let stream = [field(1, br#"{job="\x41\u00e4\103", level="a\"b"}"#), field(2, &entry)].concat();
    let json = r#"{"streams":[{"stream":{"job":"a","level":"b"},"values":[["1000000005","x",{"id":"7"}]]}]}"#;
    for body in mutated(&field(1, &stream), 1000) {
        let status = service.send("POST", PUSH, &[PROTOBUF], &packed(&body)).status;
        assert!([204, 400].contains(&status), "{status}: {body:?}");
    }
    for body in mutated(&packed(&field(1, &stream)), 500) {
        let status = service.send("POST", PUSH, &[PROTOBUF], &body).status;
        assert!([204, 400, 413].contains(&status), "{status}: {body:?}");
    }
    for body in mutated(json.as_bytes(), 500) {
        let status = service.send("POST", PUSH, &[JSON], &body).status;
        assert!([204, 400].contains(&status), "{status}: {body:?}");
    }
}

#[test]
fn what_is_no_push_is_refused_whole() {
    let service = Service::of_store(|settings| settings.limits.body_bytes = 1 << 20);
    // What Loki took before, too: nobody is told that lines are there that are not.
    let older = r#"{"streams":[{"labels":"{a=\"b\"}","entries":[{"ts":"2024-01-01T00:00:00Z","line":"x"}]}]}"#;
    let nearly =
        [r#"{"streams":[1]}"#, r#"{"streams":[{"stream":{}}]}"#, r#"{"streams":[{"stream":{},"values":{"a":1}}]}"#];
    for body in ["[]", "{}", "{\"streams\": 1}", "{\"streams\": [", older].iter().chain(&nearly) {
        assert_eq!(service.send("POST", PUSH, &[JSON], body.as_bytes()).status, 400, "{body}");
    }
    for body in [&b"no block of Snappy"[..], &packed(b"\x0a\xff"), b"\xff\xff\xff\xff"] {
        assert_eq!(service.send("POST", PUSH, &[PROTOBUF], body).status, 400, "{body:?}");
    }
    // Blocks that say, or have, more than a body may have.
    for body in [&b"\xff\xff\xff\xff\x0f"[..], &packed(&vec![0; (1 << 20) + 1])] {
        assert_eq!(service.send("POST", PUSH, &[PROTOBUF], body).status, 413);
    }
    assert_eq!(service.send("POST", PUSH, &[("Content-Type", "text/plain")], b"x").status, 415);
    assert_eq!(service.send("GET", PUSH, &[], b"").status, 405);
    assert!(service.events().is_empty());
    // Lines that are refused take time, too: each of these would be longer than a record may be.
    let labels = format!("{{a=\"{}\"}}", "\\x01".repeat(200_000));
    let len = labels.len();
    let labels =
        [&[1 << 3 | 2, len as u8 | 128, (len >> 7) as u8 | 128, (len >> 14) as u8][..], labels.as_bytes()].concat();
    let stream = [labels, [2 << 3 | 2, 0].repeat(50_000)].concat();
    let len = stream.len();
    let body = [&[1 << 3 | 2, len as u8 | 128, (len >> 7) as u8 | 128, (len >> 14) as u8][..], &stream].concat();
    let begun = std::time::Instant::now();
    assert_eq!(service.send("POST", PUSH, &[PROTOBUF], &packed(&body)).status, 413);
    assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
    // Labels are in each of their lines.
    let long = format!(
        "{{\"streams\":[{{\"stream\":{{\"a\":\"{}\"}},\"values\":[{}]}}]}}",
        "x".repeat(100_000),
        vec!["[\"1\",\"y\"]"; 1000].join(",")
    );
    assert_eq!(service.send("POST", PUSH, &[JSON], long.as_bytes()).status, 413);
}
