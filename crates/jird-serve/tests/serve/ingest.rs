//! Events into a store.

use crate::common::{Answer, Service, TASKS};
use flate2::write::{GzEncoder, ZlibEncoder};
use jird::json;
use jird_serve::{Server, Settings, Source, Sync};
use jird_store::Store;
use std::io::Write;
use std::time::Duration;

pub(crate) const LINES: (&str, &str) = ("Content-Type", "application/x-ndjson");
pub(crate) const JSON: (&str, &str) = ("Content-Type", "application/json");

const TWO: &str = "{\"@t\": \"2024-03-05T07:00:00Z\", \"n\": 1.50}\n\n{\"@t\":\"2024-03-05T07:00:01Z\"}";
const KEPT: [&str; 2] = [r#"{"@t":"2024-03-05T07:00:00Z","n":1.50}"#, r#"{"@t":"2024-03-05T07:00:01Z"}"#];

fn post(service: &Service, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    service.send("POST", "/ingest", headers, body)
}

#[test]
fn lines_are_events_and_keep_their_text() {
    let mut service = Service::of_store(|_| ());
    let answer = post(&service, &[LINES], TWO.as_bytes()).is(200);
    assert_eq!(answer.text(), "{\"events\":2}\n");
    assert_eq!(service.events(), KEPT);
    // A mark, carriage returns, any value, nothing at all.
    let mut marked = b"\xEF\xBB\xBF".to_vec();
    marked.extend_from_slice(b"{\"@t\":\"2024-03-05T07:00:02Z\"}\r\n\r\n5\r\n");
    assert_eq!(post(&service, &[LINES], &marked).is(200).text(), "{\"events\":2}\n");
    assert_eq!(post(&service, &[LINES], b"\n \n").is(200).text(), "{\"events\":0}\n");
    let events = service.events();
    assert_eq!(
        (&events[2..], service.refused().len()),
        (&["{\"@t\":\"2024-03-05T07:00:02Z\"}".into(), "5".into()][..], 0)
    );
    // What came is there when the server is gone, and the store may be written again.
    service.stop();
    assert_eq!(service.events().len(), 4);
    Store::open(&service.path).unwrap().writer(&jird_store::WriterOptions::default()).unwrap();
}

#[test]
fn one_json_value_is_an_event_or_an_array_of_them() {
    let service = Service::of_store(|_| ());
    let post = |body: &str| post(&service, &[JSON], body.as_bytes());
    assert_eq!(post("{\n \"@t\": \"2024-03-05T07:00:00Z\",\n \"n\": 1.50\n}").is(200).text(), "{\"events\":1}\n");
    assert_eq!(post("[]").is(200).text(), "{\"events\":0}\n");
    post("[{\"@t\": \"2024-03-05T07:00:01Z\"}]").is(200);
    assert_eq!(service.events(), KEPT);
    let answer = post("[{\"a\":1},\n{\"a\":}]").is(400);
    assert_eq!((&answer.tree()["line"], &answer.tree()["column"]), (&json!(2), &json!(6)));
    assert_eq!(service.events().len(), 2);
}

#[test]
fn packed_bodies_are_unpacked() {
    let service = Service::of_store(|_| ());
    let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(TWO.as_bytes()).unwrap();
    let mut zlib = ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    zlib.write_all(TWO.as_bytes()).unwrap();
    let zstd = zstd::encode_all(TWO.as_bytes(), 3).unwrap();
    for (coding, body) in [
        ("gzip", gzip.finish().unwrap()),
        ("deflate", zlib.finish().unwrap()),
        ("ZSTD", zstd.clone()),
        ("identity", TWO.into()),
    ] {
        let answer = post(&service, &[LINES, ("Content-Encoding", coding)], &body).is(200);
        assert_eq!(answer.text(), "{\"events\":2}\n", "{coding}");
    }
    assert_eq!(service.events().len(), 8);
    for (coding, status) in [("br", 415), ("gzip, zstd", 415), ("gzip", 400)] {
        post(&service, &[LINES, ("Content-Encoding", coding)], &zstd).is(status);
    }
    // Cut in the midst.
    post(&service, &[LINES, ("Content-Encoding", "zstd")], &zstd[..zstd.len() - 3]).is(400);
    assert_eq!(service.events().len(), 8);
}

#[test]
fn a_body_that_grows_when_it_is_unpacked_has_the_limit_of_a_body() {
    let service = Service::of_store(|settings| settings.limits.body_bytes = 1 << 20);
    let blanks = vec![b' '; 64 << 20];
    let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&blanks).unwrap();
    let zstd = zstd::encode_all(&blanks[..], 3).unwrap();
    for (coding, body) in [("gzip", gzip.finish().unwrap()), ("zstd", zstd)] {
        assert!(body.len() < 1 << 20);
        let answer = post(&service, &[LINES, ("Content-Encoding", coding)], &body).is(413);
        assert!(answer.text().contains("1048576 bytes"), "{answer:?}");
    }
    // A window that a decoder would have to make room for at once.
    let mut wide = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    wide.window_log(27).unwrap();
    wide.write_all(&blanks).unwrap();
    post(&service, &[LINES, ("Content-Encoding", "zstd")], &wide.finish().unwrap()).is(400);
}

#[test]
fn events_that_are_none_are_named_and_set_aside_and_the_others_kept() {
    let service = Service::of_store(|_| ());
    let body = "{\"a\": 1}\n{\"a\": }\n\n\"x\n{\"b\":2}\n\u{fffd}";
    let answer = post(&service, &[LINES], body.as_bytes()).is(200).tree();
    assert_eq!((&answer["events"], &answer["refused"]), (&json!(2), &json!(3)));
    let errors = answer["errors"].as_array().unwrap();
    let places: Vec<_> = errors.iter().map(|error| (&error["line"], &error["column"], &error["offset"])).collect();
    assert_eq!(
        places,
        [(&json!(2), &json!(7), &json!(9)), (&json!(4), &json!(3), &json!(18)), (&json!(6), &json!(1), &json!(29))]
    );
    assert_eq!(
        (&errors[0]["kind"], &errors[0]["detail"]),
        (&json!("value"), &json!("expected a value (byte 15, at /a)"))
    );
    let kept = service.refused();
    assert_eq!(kept.len(), 3);
    assert_eq!(
        kept[0],
        json!({"file": "/ingest", "line": 2, "offset": 9, "kind": "value",
            "message": "expected a value (byte 15, at /a)", "raw": "{\"a\": }"})
    );
    let mut events = service.events();
    events.sort();
    assert_eq!(events, [r#"{"a":1}"#, r#"{"b":2}"#]);
    // If none is good, the request is none.
    let answer = service.send("POST", "/ingest", &[LINES], b"x\n");
    assert_eq!((answer.status, &answer.tree()["refused"]), (400, &json!(1)));
    let metrics = service.get("/metrics");
    for line in ["jird_events_total 2", "jird_events_bytes_total 16", "jird_events_refused_total 4"] {
        assert!(metrics.text().lines().any(|known| known == line), "{line}");
    }
}

#[test]
fn more_errors_than_anybody_reads_are_counted() {
    let service = Service::of_store(|_| ());
    let answer = post(&service, &[LINES], "x\n".repeat(12_000).as_bytes());
    assert_eq!((answer.status, &answer.tree()["refused"]), (400, &json!(12_000)));
    assert_eq!(answer.tree()["errors"].as_array().unwrap().len(), 10_000);
    assert_eq!(service.refused().len(), 10_000);
    assert!(service.get("/metrics").text().contains("\njird_events_refused_lost_total 2000\n"));
}

#[test]
fn a_refused_event_that_has_no_room_any_more_is_told_and_lost() {
    let service = Service::of_store(|_| ());
    let file = std::fs::File::create(service.path.join("refused.ndjson")).unwrap();
    file.set_len(64 << 20).unwrap();
    let answer = post(&service, &[LINES], b"{}\nx\n").is(200);
    assert_eq!(answer.tree()["errors"][0]["line"], json!(2));
    assert_eq!(file.metadata().unwrap().len(), 64 << 20);
    assert!(service.get("/metrics").text().contains("\njird_events_refused_lost_total 1\n"));
}

#[test]
fn a_body_has_at_most_a_million_events() {
    let service = Service::of_store(|_| ());
    assert_eq!(post(&service, &[LINES], &b"1\n".repeat(1_000_000)).is(200).text(), "{\"events\":1000000}\n");
    post(&service, &[LINES], &b"1\n".repeat(1_000_001)).is(413);
    assert_eq!(service.events().len(), 1_000_000);
}

#[test]
fn too_much_at_a_time_is_told_to_wait() {
    let service = Service::of_store(|settings| settings.limits.bodies_bytes = 64 << 10);
    let mut slow = service.connect();
    let head = format!(
        "POST /ingest HTTP/1.1\r\nHost: {}\r\n{}: {}\r\nConnection: close\r\nContent-Length: 40001\r\n\r\n",
        service.address, LINES.0, LINES.1
    );
    slow.write_all(head.as_bytes()).unwrap();
    slow.write_all(&vec![b' '; 40_000]).unwrap();
    let event = format!("{{\"a\":\"{}\"}}", "x".repeat(40_000));
    // Until what was sent is received.
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(post(&service, &[LINES], event.as_bytes()).is(429).header("retry-after"), Some("1"));
    slow.write_all(b"1").unwrap();
    let mut all = Vec::new();
    std::io::Read::read_to_end(&mut slow, &mut all).unwrap();
    Answer::new(&all).is(200);
    post(&service, &[LINES], event.as_bytes()).is(200);
    assert!(!service.get("/metrics").text().contains("\njird_events_busy_total 0\n"));
}

#[test]
fn many_clients_lose_nothing() {
    for sync in [Sync::Batch, Sync::None] {
        let service = Service::of_store(|settings| settings.sync = sync);
        std::thread::scope(|scope| {
            for client in 0..16 {
                let service = &service;
                scope.spawn(move || {
                    for number in 0..20 {
                        let event = format!("{{\"client\":{client},\"number\":{number}}}");
                        post(service, &[JSON], event.as_bytes()).is(200);
                    }
                });
            }
        });
        let mut events = service.events();
        events.sort();
        events.dedup();
        assert_eq!(events.len(), 320);
    }
}

#[test]
fn only_those_who_may_send_events() {
    let service = Service::of_store(|settings| settings.tokens = vec!["s3cret".into()]);
    let with = |name: &str, value: &str| post(&service, &[JSON, (name, value)], b"{}").status;
    for (name, value) in [
        ("Authorization", "Bearer s3cret"),
        ("authorization", "apikey s3cret"),
        ("Authorization", "ApiKey aWQ6czNjcmV0"),
        ("Authorization", "Basic dXNlcjpzM2NyZXQ="),
        ("X-Seq-ApiKey", "s3cret"),
    ] {
        assert_eq!(with(name, value), 200, "{name}: {value}");
    }
    for (name, value) in [
        ("Authorization", "Bearer s3cre"),
        ("Authorization", "ApiKey s3cre"),
        ("Authorization", "ApiKey aWQ6czNjcmU="),
        ("Authorization", "Basic s3cret"),
        ("Authorization", "Basic czNjcmV0"),
        ("Authorization", "Basic ===="),
        ("X-Seq-ApiKey", ""),
        ("X", ""),
    ] {
        assert_eq!(with(name, value), 401, "{name}: {value}");
    }
    assert_eq!(service.events().len(), 5);
    // Tables and all else are asked as before.
    service.send("GET", "/sources", &[("X-Seq-ApiKey", "s3cret")], b"").is(401);
}

#[test]
fn pages_of_others_send_no_events() {
    let service = Service::of_store(|_| ());
    let ours = format!("http://{}", service.address);
    for target in ["/ingest", "/ingest/clef", "/api/events/raw", "/_bulk", "/x/_bulk", "/v1/logs"] {
        let with = |headers: &[(&str, &str)]| service.send("POST", target, headers, b"{}\n{}\n").status;
        for media in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""] {
            assert_eq!(with(&[("Content-Type", media)]), 415, "{target} {media}");
        }
        assert_eq!(with(&[]), 415, "{target}");
        for origin in ["null", "http://evil.example", "http://127.0.0.1:1"] {
            assert_eq!(with(&[JSON, ("Origin", origin)]), 403, "{target} {origin}");
        }
        assert_eq!(with(&[JSON, ("Sec-Fetch-Site", "cross-site")]), 403, "{target}");
        assert_eq!(with(&[JSON, ("Host", "evil.example")]), 421, "{target}");
        assert_ne!(with(&[JSON, ("Origin", &ours)]), 403, "{target}");
    }
    assert!(post(&service, &[JSON], b"{}").header("access-control-allow-origin").is_none());
}

#[test]
fn a_door_has_its_methods_and_needs_a_store_that_is_written() {
    let mut service = Service::of_store(|_| ());
    let ask = |service: &Service, method: &str, target: &str| service.send(method, target, &[JSON], b"");
    for target in ["/ingest", "/ingest/clef", "/api/events/raw"] {
        assert_eq!(ask(&service, "GET", target).is(405).header("allow"), Some("POST"));
        assert_eq!(ask(&service, "PUT", target).is(405).header("allow"), Some("POST"));
        assert_eq!(ask(&service, "OPTIONS", target).is(204).header("allow"), Some("POST"));
    }
    assert_eq!(ask(&service, "DELETE", "/_bulk").header("allow"), Some("POST, PUT"));
    assert_eq!(ask(&service, "GET", "/v1/logs").header("allow"), Some("POST"));
    assert!(service.get("/sources").text().contains("\"writable\":true"));
    service.stop();
    let path = service.path.clone();
    let reader = Service::start(tempfile::tempdir().unwrap(), path, |_| ());
    let answer = post(&reader, &[JSON], b"{}").is(403);
    assert!(answer.text().contains("--write"), "{answer:?}");
    assert!(reader.get("/sources").text().contains("\"writable\":false"));
    // Where there is no store, these are names of tables.
    let tables = Service::with(&format!("{TASKS} create table ingest (id integer primary key);"), |_| ());
    tables.get("/ingest").is(200);
    tables.send("POST", "/_bulk", &[JSON], b"{}").is(404);
}

#[test]
fn a_store_is_made_if_it_is_not_there_and_a_file_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let bind = |name: &str, change: fn(&mut Settings)| {
        let mut settings = Settings::new(folder.path().join(name));
        settings.write = true;
        change(&mut settings);
        Server::bind(settings).map(drop).map_err(|error| error.to_string())
    };
    bind("log", |settings| settings.time_field = Some(jird::Path::root().key("ts"))).unwrap();
    assert_eq!(Store::open(&folder.path().join("log")).unwrap().settings().time_field, jird::Path::root().key("ts"));
    bind("log", |_| ()).unwrap();
    let other = bind("log", |settings| settings.time_field = Some(jird::Path::root().key("at")));
    assert!(other.unwrap_err().contains("/ts"));
    assert!(bind("none", |settings| settings.write = false).is_err());
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    bind("empty", |_| ()).unwrap();
    std::fs::create_dir_all(folder.path().join("full/x")).unwrap();
    assert!(bind("full", |_| ()).is_err());
    for name in ["a.db", "a.ndjson", "a.json.gz"] {
        assert!(bind(name, |_| ()).is_err(), "{name}");
        assert!(!folder.path().join(name).exists(), "{name}");
    }
    // A second server of the same store would be a second writer.
    let mut settings = Settings::new(folder.path().join("log"));
    settings.write = true;
    let first = Server::bind(settings.clone()).unwrap();
    assert!(Server::bind(settings).map(drop).unwrap_err().to_string().contains("another process"));
    drop(first);
}

#[test]
fn events_and_tables_come_from_one_server() {
    let folder = tempfile::tempdir().unwrap();
    let store = Source { name: None, path: folder.path().join("log") };
    let path = folder.path().join("a.db");
    jird_formats::sqlite::rusqlite::Connection::open(&path).unwrap().execute_batch(TASKS).unwrap();
    let service = Service::start(folder, path, |settings| {
        settings.write = true;
        settings.sources.push(store);
    });
    service.json("POST", "/tasks", r#"{"title": "x"}"#).is(201);
    post(&service, &[JSON], b"{}").is(200);
    service.get("/tasks/4").is(200);
}

#[test]
fn events_from_the_future_are_refused_at_every_endpoint() {
    let limit = jird_store::FutureLimit::new(Duration::from_hours(24));
    let service = Service::of_store(|settings| settings.limits.future = Some(limit));
    let (far, near) = ("\"@t\":\"2261-01-01T00:00:00Z\"", "\"@t\":\"2024-03-05T07:00:00Z\"");
    let send = |path: &str, headers: &[(&str, &str)], body: &str| service.send("POST", path, headers, body.as_bytes());
    let told = "the time 2261-01-01T00:00:00Z is more than 1d in the future";
    let mut refused = 0;
    let mut check = |answer: &Answer, events: usize| {
        refused += 1;
        assert!(answer.text().contains(told), "{}", answer.text());
        assert_eq!((service.events().len(), service.refused().len()), (events, refused), "{}", answer.text());
    };
    let lines = format!("{{{near}}}\n{{{far}}}\n{{}}\n");
    let answer = send("/ingest", &[LINES], &lines);
    check(&answer, 2);
    let error = &answer.tree()["errors"][0];
    assert_eq!((&error["line"], &error["kind"]), (&json!(2), &json!("future")));
    check(&send("/ingest", &[JSON], &format!("[{{{far}}},{{{near}}}]")), 3);
    check(&send("/ingest/clef", &[LINES], &format!("{{{near},\"@m\":\"\"}}\n{{{far},\"@m\":\"\"}}")), 4);
    check(&send("/_bulk", &[LINES], &format!("{{\"create\":{{}}}}\n{{{far}}}\n{{\"create\":{{}}}}\n{{{near}}}\n")), 5);
    let old = "{\"Events\":[{\"Timestamp\":\"2261-01-01T00:00:00Z\",\"MessageTemplate\":\"a\"},{\"Timestamp\":\"2024-01-01T00:00:00Z\",\"MessageTemplate\":\"a\"}]}";
    check(&send("/api/events/raw", &[JSON], old), 6);
    let loki =
        "{\"streams\":[{\"stream\":{},\"values\":[[\"1709622000000000000\",\"a\"],[\"9183110400000000000\",\"b\"]]}]}";
    check(&send("/loki/api/v1/push", &[JSON], loki), 7);
    let record = |time: &str| format!("{{\"timeUnixNano\":\"{time}\",\"body\":{{\"stringValue\":\"a\"}}}}");
    let (one, two) = (record("1709622000000000000"), record("9183110400000000000"));
    let logs = format!("{{\"resourceLogs\":[{{\"scopeLogs\":[{{\"logRecords\":[{one},{two}]}}]}}]}}");
    check(&send("/v1/logs", &[JSON], &logs), 8);
}
