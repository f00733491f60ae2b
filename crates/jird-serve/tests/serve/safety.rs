//! Which requests are let in.

use crate::common::{Service, TASKS};
use jird_serve::{Server, Settings, Token};
use std::io::{Read, Write};
use std::time::{Duration, Instant};

const JSON: (&str, &str) = ("Content-Type", "application/json");
const ROW: &[u8] = br#"{"title": "x"}"#;

#[test]
fn a_request_for_another_host_is_refused() {
    let service = Service::with(TASKS, |settings| settings.hosts.push("tasks.example".into()));
    let port = service.address.port();
    let with = |host: &str| service.send("GET", "/tasks", &[("Host", host)], b"").status;
    for ours in ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"] {
        assert_eq!(with(&format!("{ours}:{port}")), 200, "{ours}");
    }
    assert_eq!((with("tasks.example"), with("Tasks.Example:443")), (200, 200));
    // As where a container or a tunnel has another port.
    assert_eq!((with("localhost:9000"), with("127.0.0.1:9000"), with("[::1]")), (200, 200, 200));
    for other in ["evil.example", "localhost.evil.example", "127.0.0.2.evil.example", "10.0.0.1", "localhost."] {
        assert_eq!(with(&format!("{other}:{port}")), 421, "{other}");
    }
    assert_eq!(with(&format!("localhost@evil.example:{port}")), 421);
    assert_eq!(with("a b"), 400);
    // Probes know an address alone, and there is nothing to be known.
    assert_eq!(service.send("GET", "/health", &[("Host", "10.1.2.3:80")], b"").is(200).text(), "{\"status\":\"ok\"}\n");
    service.raw(b"GET /tasks HTTP/1.1\r\nConnection: close\r\n\r\n").is(400);
    let two = format!("GET /tasks HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nHost: evil\r\nConnection: close\r\n\r\n");
    service.raw(two.as_bytes()).is(400);
    let absolute =
        format!("GET http://evil.example/tasks HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    service.raw(absolute.as_bytes()).is(421);
}

#[test]
fn a_token_is_needed_where_there_is_one() {
    let service = Service::with(TASKS, |settings| {
        settings.write = true;
        settings.tokens = vec!["s3cret".into()];
    });
    let with = |authorization| service.send("GET", "/tasks", &[("Authorization", authorization)], b"");
    with("Bearer s3cret").is(200);
    with("bearer s3cret").is(200);
    for wrong in ["Bearer s3cre", "Bearer s3cret2", "Bearer S3cret", "Basic s3cret", "s3cret", "Bearer", ""] {
        assert_eq!(with(wrong).is(401).header("www-authenticate"), Some("Bearer"));
    }
    for target in ["/tasks", "/tasks/1", "/nothing", "/_/none", "/metrics", "/openapi.json", "/a/b/c"] {
        service.get(target).is(401);
    }
    service.json("POST", "/tasks", r#"{"title": "x"}"#).is(401);
    service.send("DELETE", "/tasks/1", &[], b"").is(401);
    service.get("/health").is(200);
}

#[test]
fn a_server_that_others_reach_needs_a_token() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    jird_formats::sqlite::rusqlite::Connection::open(&path).unwrap().execute_batch(TASKS).unwrap();
    let bind = |listen: &str, token: Option<&str>| {
        let mut settings = Settings::new(&path);
        settings.listen = listen.parse().unwrap();
        settings.tokens = token.map(Token::new).into_iter().collect();
        Server::bind(settings).map(drop).map_err(|error| error.to_string())
    };
    assert!(bind("0.0.0.0:0", None).unwrap_err().contains("token"));
    assert!(bind("[::]:0", None).unwrap_err().contains("token"));
    bind("0.0.0.0:0", Some("x")).unwrap();
    bind("127.0.0.1:0", None).unwrap();
    for token in ["", "a b", "ü"] {
        assert!(bind("127.0.0.1:0", Some(token)).unwrap_err().contains("token"));
    }
    let mut settings = Settings::new(folder.path().join("none.db"));
    assert!(Server::bind(settings.clone()).is_err());
    settings.tokens = vec!["hidden".into()];
    assert!(!format!("{settings:?}").contains("hidden"));
}

#[test]
fn a_server_that_only_reads_changes_nothing() {
    let service = Service::with(TASKS, |_| ());
    for method in ["POST", "PUT", "PATCH", "DELETE", "TRACE", "MERGE"] {
        let answer = service.send(method, "/tasks/1", &[JSON], ROW).is(405);
        assert_eq!(answer.header("allow"), Some("GET, HEAD"));
    }
    let service = Service::new();
    service.json("POST", "/open_tasks", r#"{"title": "x"}"#).is(405);
    service.send("DELETE", "/open_tasks?id=eq.1", &[], b"").is(405);
}

#[test]
fn pages_of_others_change_nothing() {
    let service = Service::new();
    let ours = format!("http://{}", service.address);
    let post = |headers: &[(&str, &str)]| service.send("POST", "/tasks", headers, ROW).status;
    assert_eq!(post(&[JSON, ("Origin", &ours)]), 201);
    assert_eq!(post(&[JSON, ("Origin", &ours), ("Sec-Fetch-Site", "same-origin")]), 201);
    for origin in ["null", "http://evil.example", "http://127.0.0.1:1", &ours.replace("127.0.0.1", "localhost"), "x"] {
        assert_eq!(post(&[JSON, ("Origin", origin)]), 403, "{origin}");
        let delete = service.send("DELETE", "/tasks/1", &[("Origin", origin)], b"");
        assert_eq!(delete.status, 403, "{origin}");
    }
    for site in ["cross-site", "same-site"] {
        assert_eq!(post(&[JSON, ("Sec-Fetch-Site", site)]), 403);
    }
    // What a form can send.
    for media in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        assert_eq!(post(&[("Content-Type", media)]), 415, "{media}");
    }
    assert_eq!(post(&[]), 415);
    assert_eq!(post(&[("Content-Type", "application/json; charset=utf-8")]), 201);
    assert_eq!(post(&[JSON, ("Content-Encoding", "gzip")]), 415);
    service.send("PATCH", "/tasks/1", &[("Content-Type", "application/x-ndjson")], ROW).is(415);
    assert!(service.get("/tasks").header("access-control-allow-origin").is_none());
}

/// Requests without the token, more than the server has places for, none of which comes to an end.
#[test]
fn those_without_the_token_keep_nobody_from_asking() {
    let few = |settings: &mut Settings| {
        settings.write = true;
        settings.tokens = vec!["s3cret".into()];
        settings.limits.requests = 8;
        settings.limits.connections = 48;
    };
    let database = Service::with(TASKS, few);
    let store = Service::of_store(few);
    for (service, target, wanted) in [(&database, "/tasks", "/tasks/1"), (&store, "/ingest", "/sources")] {
        let host = service.address;
        let head = format!("POST {target} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n");
        let mut sockets = Vec::new();
        for request in [
            format!("{head}Content-Length: 1000000\r\n\r\n"),
            format!("{head}Authorization: Bearer wrong\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc"),
            format!("{head}Content-Le"),
            String::new(),
        ] {
            for _ in 0..40 {
                let mut socket = service.connect();
                let _ = socket.write_all(request.as_bytes());
                sockets.push(socket);
            }
            let begun = Instant::now();
            service.send("GET", wanted, &[("Authorization", "Bearer s3cret")], b"").is(200);
            service.get("/health").is(200);
            assert!(begun.elapsed() < Duration::from_secs(2), "{request:?}: {:?}", begun.elapsed());
        }
        // A client without the token is told so at once, also if the body never comes.
        let mut socket = service.connect();
        socket.write_all(format!("{head}Content-Length: 1000000\r\n\r\n").as_bytes()).unwrap();
        let mut start = [0; 12];
        let begun = Instant::now();
        socket.read_exact(&mut start).unwrap();
        assert_eq!(&start, b"HTTP/1.1 401");
        assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    }
}

/// A connection on which the token was shown stays, however many come after it.
#[test]
fn a_connection_that_has_shown_the_token_is_not_sent_away() {
    let service = Service::with(TASKS, |settings| {
        settings.tokens = vec!["s3cret".into()];
        settings.limits.connections = 8;
    });
    let ask = |socket: &mut std::net::TcpStream| {
        let host = service.address;
        write!(socket, "GET /tasks/1?select=id HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer s3cret\r\n\r\n")
            .unwrap();
        let mut read = Vec::new();
        while !read.ends_with(b"{\"id\":1}\n") {
            let mut some = [0; 1000];
            let len = socket.read(&mut some).unwrap();
            assert!(len > 0, "it was sent away");
            read.extend_from_slice(&some[..len]);
        }
    };
    let mut known = service.connect();
    ask(&mut known);
    let strangers: Vec<_> = (0..50).map(|_| service.connect()).collect();
    for _ in 0..3 {
        ask(&mut known);
        service.get("/health").is(200);
    }
    drop(strangers);
}

#[test]
fn a_token_allows_what_it_says_and_nothing_else() {
    let tokens = "# Comments and empty lines say nothing.\n\nall\nreads read\nasks query\nsees read,query\nwrites write\nsends ingest\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    jird_formats::sqlite::rusqlite::Connection::open(&path).unwrap().execute_batch(TASKS).unwrap();
    let store = folder.path().join("log");
    let service = Service::start(folder, path, |settings| {
        settings.sources.push(jird_serve::Source { name: None, path: store });
        settings.write = true;
        settings.tokens = Token::read_all(tokens).unwrap();
    });
    let status = |token: &str, method: &str, target: &str, body: &[u8]| {
        let bearer = format!("Bearer {token}");
        service.send(method, target, &[JSON, ("Authorization", &bearer)], body).status
    };
    for (token, reads, asks, writes, sends) in [
        ("all", 200, 200, 201, 200),
        ("reads", 200, 403, 403, 403),
        ("asks", 403, 200, 403, 403),
        ("sees", 200, 200, 403, 403),
        ("writes", 403, 403, 201, 403),
        ("sends", 403, 403, 403, 200),
        ("other", 401, 401, 401, 401),
    ] {
        for target in ["/tasks", "/tasks/1", "/events", "/sources", "/metrics", "/openapi.json"] {
            assert_eq!(status(token, "GET", target, b""), reads, "{token} {target}");
        }
        if cfg!(feature = "query") {
            assert_eq!(status(token, "GET", "/query?sql=select+1+from+tasks", b""), asks, "{token}");
            assert_eq!(status(token, "POST", "/query", br#"{"sql": "select 1 from tasks"}"#), asks, "{token}");
        }
        assert_eq!(status(token, "POST", "/tasks", ROW), writes, "{token}");
        assert_eq!(status(token, "PATCH", "/tasks?id=eq.1", ROW), if writes == 201 { 204 } else { writes }, "{token}");
        assert_eq!(
            status(token, "DELETE", "/tasks?id=eq.99", b""),
            if writes == 201 { 204 } else { writes },
            "{token}"
        );
        assert_eq!(status(token, "POST", "/ingest", b"{}"), sends, "{token}");
        assert_eq!(status(token, "GET", "/health", b""), 200);
    }
    for wrong in ["", "# nothing", "a b", "a read,rite", "\u{e4}"] {
        let told = Token::read_all(wrong).unwrap_err().to_string();
        assert!(told.contains("token") || told.contains("right"), "{wrong}: {told}");
        assert!(!told.contains('ä'), "{told}");
    }
}
