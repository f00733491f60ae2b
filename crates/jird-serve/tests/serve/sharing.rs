//! Pages of other origins, where they are allowed.

use crate::common::{Answer, Service, TASKS};
use jird_serve::{Server, Settings};

const JSON: (&str, &str) = ("Content-Type", "application/json");
const ORIGIN: &str = "http://localhost:8000";

fn service() -> Service {
    Service::with(TASKS, |settings| {
        settings.write = true;
        settings.tokens = vec!["s3cret".into()];
        settings.cors.push(ORIGIN.into());
    })
}

fn is_shared(answer: &Answer) -> bool {
    let shared = answer.header("access-control-allow-origin");
    assert!(shared.is_none_or(|origin| origin == ORIGIN));
    assert_eq!(answer.header("access-control-allow-credentials"), None);
    shared.is_some()
}

#[test]
fn pages_of_an_allowed_origin_ask_and_change() {
    let service = service();
    let token = ("Authorization", "Bearer s3cret");
    let cross = [JSON, token, ("Origin", ORIGIN), ("Sec-Fetch-Site", "same-site")];
    let answer = service.send("POST", "/tasks", &cross, br#"{"title": "x"}"#).is(201);
    assert!(is_shared(&answer) && answer.header("access-control-expose-headers").unwrap().contains("location"));
    let answer = service.send("GET", "/tasks", &cross, b"").is(200);
    assert!(is_shared(&answer) && answer.header("etag").is_some());
    // A page may also know why it was refused.
    assert!(is_shared(&service.send("GET", "/tasks", &[("Origin", ORIGIN)], b"").is(401)));
    assert!(is_shared(&service.send("GET", "/nothing", &cross, b"").is(404)));
}

#[test]
fn what_a_page_may_send_is_told_without_a_token() {
    let service = service();
    let asks = |origin: &str| {
        let names =
            ("Access-Control-Request-Headers", "authorization,content-type,if-match,prefer,x-client-info,apikey");
        let headers = [("Origin", origin), ("Access-Control-Request-Method", "PATCH"), names];
        service.send("OPTIONS", "/tasks/1", &headers, b"")
    };
    let answer = asks(ORIGIN).is(204);
    assert!(is_shared(&answer));
    assert!(answer.header("access-control-allow-methods").unwrap().contains("PATCH"));
    for name in ["authorization", "content-type", "if-match", "prefer", "x-client-info", "apikey"] {
        assert!(answer.header("access-control-allow-headers").unwrap().contains(name), "{name}");
    }
    for other in ["null", "*", "http://localhost:8001", "https://localhost:8000", "http://localhost:8000.evil.example"]
    {
        let answer = asks(other).is(401);
        assert!(!is_shared(&answer) && answer.header("access-control-allow-methods").is_none(), "{other}");
    }
    let rebound = [("Origin", ORIGIN), ("Access-Control-Request-Method", "PATCH"), ("Host", "evil.example")];
    service.send("OPTIONS", "/tasks/1", &rebound, b"").is(421);
}

#[test]
fn pages_of_other_origins_still_change_nothing() {
    let service = Service::with(TASKS, |settings| {
        settings.write = true;
        settings.cors.push(ORIGIN.into());
    });
    for origin in ["http://localhost:8001", "null", "http://evil.example"] {
        let answer = service.send("DELETE", "/tasks/1", &[("Origin", origin)], b"").is(403);
        assert!(!is_shared(&answer), "{origin}");
        let answer = service.send("GET", "/tasks", &[("Origin", origin)], b"").is(200);
        // Caches must not give the answer for one origin to another.
        assert!(!is_shared(&answer) && answer.header("vary").is_some(), "{origin}");
    }
    let two = [("Origin", ORIGIN), ("Origin", "http://evil.example")];
    assert!(!is_shared(&service.send("DELETE", "/tasks/1", &two, b"").is(403)));
    service.send("DELETE", "/tasks/1", &[("Origin", ORIGIN)], b"").is(204);
}

#[test]
fn what_no_browser_sends_as_an_origin_is_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    jird_formats::sqlite::rusqlite::Connection::open(&path).unwrap().execute_batch(TASKS).unwrap();
    let bind = |origin: &str| {
        let mut settings = Settings::new(&path);
        settings.cors.push(origin.to_owned());
        Server::bind(settings).map(drop).map_err(|error| error.to_string())
    };
    for origin in [ORIGIN, "https://tasks.example", "http://[::1]:8000", "http://127.0.0.1"] {
        bind(origin).unwrap();
    }
    for wrong in [
        "*",
        "",
        "null",
        "localhost:8000",
        "http://localhost:8000/",
        "http://a/b",
        "HTTP://a",
        "http://A",
        "http://a@b",
        "http://*.a",
        "http://a:80",
        "https://a:443",
        "file:///a",
        "http://",
    ] {
        assert!(bind(wrong).unwrap_err().contains("origin"), "{wrong}");
    }
}
