//! Bad requests.

use crate::common::{Answer, Random, Service, TASKS};
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The server answers as before.
#[track_caller]
fn is_well(service: &Service) {
    assert_eq!(service.get("/tasks?select=id&limit=1").is(200).text(), "[{\"id\":1}]\n");
}

#[test]
fn bytes_that_are_no_http_are_refused() {
    let service = Service::new();
    let host = format!("Host: {}\r\n", service.address);
    for request in [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
        b"\r\n\r\n\r\n".to_vec(),
        b"GET\r\n\r\n".to_vec(),
        vec![0; 10_000],
        vec![b'A'; 200_000],
        format!("GET /tasks HTTP/9.9\r\n{host}\r\n").into_bytes(),
        format!("GET /\0 HTTP/1.1\r\n{host}\r\n").into_bytes(),
        format!("GET /tasks HTTP/1.1\r\n{host}bad header\r\n\r\n").into_bytes(),
        format!("GET /tasks HTTP/1.1\r\n{host}{}\r\n", "X: y\r\n".repeat(1000)).into_bytes(),
        format!("GET /tasks HTTP/1.1\r\n{host}X: {}\r\n\r\n", "y".repeat(1 << 20)).into_bytes(),
        format!("GET /{} HTTP/1.1\r\n{host}\r\n", "a".repeat(1 << 20)).into_bytes(),
        format!("POST /tasks HTTP/1.1\r\n{host}Content-Length: x\r\n\r\n").into_bytes(),
        format!("POST /tasks HTTP/1.1\r\n{host}Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef").into_bytes(),
        format!("POST /tasks HTTP/1.1\r\n{host}Content-Length: -1\r\n\r\n").into_bytes(),
    ] {
        let mut socket = service.connect();
        let _ = socket.write_all(&request);
        let _ = socket.shutdown(std::net::Shutdown::Write);
        let mut all = Vec::new();
        let _ = socket.read_to_end(&mut all);
        let status = Answer::new(&all).status;
        assert!(
            status == 0 || (400..500).contains(&status),
            "{status}: {:?}",
            String::from_utf8_lossy(&request[..20.min(request.len())])
        );
        is_well(&service);
    }
}

#[test]
fn a_length_that_lies_harms_nobody() {
    let service = Service::new();
    let post = |more: &str, body: &str| {
        let head = format!("POST /tasks HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n", service.address);
        let mut socket = service.connect();
        socket.write_all(format!("{head}{more}\r\n{body}").as_bytes()).unwrap();
        socket.shutdown(std::net::Shutdown::Write).unwrap();
        let mut all = Vec::new();
        let _ = socket.read_to_end(&mut all);
        Answer::new(&all).status
    };
    // Longer than what comes: nothing is written.
    let status = post("Content-Length: 1000\r\n", "{\"title\": \"x\"}");
    assert!(status == 0 || status == 400, "{status}");
    // More than this server takes, which it says at once.
    assert_eq!(post("Content-Length: 99999999999\r\n", "{"), 413);
    // Shorter: what comes after it is not a request.
    let status = post("Content-Length: 3\r\n", "{\"title\": \"x\"}");
    assert_eq!(status, 400);
    // Chunks that lie.
    for chunks in ["ffffffffffffffff\r\n{", "zz\r\n{}", "5\r\n{}", "2\r\n{}xx0\r\n\r\n"] {
        let status = post("Transfer-Encoding: chunked\r\n", chunks);
        assert!(status == 0 || (400..500).contains(&status), "{chunks}: {status}");
    }
    let chunked = format!(
        "POST /tasks HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\
         Connection: close\r\n\r\ne\r\n{{\"title\": \"x\"}}\r\n0\r\n\r\n",
        service.address
    );
    service.raw(chunked.as_bytes()).is(201);
    assert_eq!(service.get("/tasks").tree().as_array().unwrap().len(), 4);
}

#[test]
fn bodies_have_limits() {
    let service = Service::with(TASKS, |settings| {
        settings.write = true;
        settings.limits.body_bytes = 50_000;
        settings.limits.bodies_bytes = 64 << 10;
    });
    let row = |len: usize| format!("{{\"title\":\"{}\"}}", "x".repeat(len));
    service.json("POST", "/tasks", &row(40_000)).is(201);
    service.json("POST", "/tasks", &row(60_000)).is(413);
    let mut chunked = format!(
        "POST /tasks HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\
         Connection: close\r\n\r\n",
        service.address
    );
    for _ in 0..20 {
        write!(chunked, "1000\r\n{}\r\n", " ".repeat(4096)).unwrap();
    }
    service.raw(chunked.as_bytes()).is(413);
    // A client has begun to send a large body, and takes the room for it.
    let mut slow = service.connect();
    let head = format!(
        "POST /tasks HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 50000\r\n\r\n",
        service.address
    );
    slow.write_all(head.as_bytes()).unwrap();
    slow.write_all(&vec![b' '; 45_000]).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(service.json("POST", "/tasks", &row(40_000)).is(503).header("retry-after"), Some("1"));
    service.json("POST", "/tasks", &row(10)).is(201);
    drop(slow);
    std::thread::sleep(Duration::from_millis(300));
    service.json("POST", "/tasks", &row(40_000)).is(201);
}

#[test]
fn what_comes_too_slowly_is_given_up() {
    let service = Service::with(TASKS, |settings| {
        settings.write = true;
        settings.limits.stall = Duration::from_millis(500);
        settings.limits.time = Duration::from_millis(500);
    });
    let begun = Instant::now();
    let mut head = service.connect();
    head.write_all(b"GET /tasks HTTP/1.1\r\nHo").unwrap();
    let mut body = service.connect();
    let request = format!(
        "POST /tasks HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{",
        service.address
    );
    body.write_all(request.as_bytes()).unwrap();
    let mut all = Vec::new();
    let _ = head.read_to_end(&mut all);
    let mut all = [0; 12];
    body.read_exact(&mut all).unwrap();
    assert_eq!(&all, b"HTTP/1.1 408");
    assert!(begun.elapsed() < Duration::from_secs(10));
    is_well(&service);
}

#[test]
fn more_requests_than_allowed_are_told_to_wait() {
    let service = Service::with(TASKS, |settings| {
        settings.write = true;
        settings.limits.requests = 2;
    });
    let mut waiting: Vec<_> = (0..2).map(|_| service.connect()).collect();
    let request = format!(
        "POST /tasks HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{",
        service.address
    );
    for socket in &mut waiting {
        socket.write_all(request.as_bytes()).unwrap();
    }
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(service.get("/tasks").is(503).header("retry-after"), Some("1"));
    drop(waiting);
    std::thread::sleep(Duration::from_millis(300));
    is_well(&service);
}

#[test]
fn requests_in_a_row_share_a_connection_also_after_problems() {
    let service = Service::new();
    let host = format!("Host: {}\r\n", service.address);
    let mut requests = String::new();
    for target in ["/tasks/1?select=id", "/tasks/99", "/nothing", "/tasks?x=1", "/tasks/2?select=id"] {
        write!(requests, "GET {target} HTTP/1.1\r\n{host}\r\n").unwrap();
    }
    write!(requests, "GET /health HTTP/1.1\r\n{host}Connection: close\r\n\r\n").unwrap();
    let mut socket = service.connect();
    socket.write_all(requests.as_bytes()).unwrap();
    let mut all = String::new();
    socket.read_to_string(&mut all).unwrap();
    let statuses: Vec<_> = all.match_indices("HTTP/1.1 ").map(|(at, _)| &all[at + 9..at + 12]).collect();
    assert_eq!(statuses, ["200", "404", "404", "400", "200", "200"]);
}

#[test]
fn a_pattern_that_is_long_to_match_ends() {
    let sql = "create table t (a text); insert into t values (printf('%.100000c', 'a'));";
    let service = Service::with(sql, |settings| settings.limits.time = Duration::from_secs(1));
    let begun = Instant::now();
    for pattern in ["*a".repeat(400) + "b", "%25a".repeat(200) + "b", "a".repeat(2000)] {
        for operator in ["like", "ilike"] {
            let status = service.get(&format!("/t?a={operator}.{pattern}")).status;
            assert!([200, 400, 500, 503].contains(&status), "{status}");
        }
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn requests_that_are_mangled_never_take_it_down() {
    static PANICS: AtomicUsize = AtomicUsize::new(0);
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |told| {
        // Tests have threads of other names.
        if std::thread::current().name() == Some("serve") {
            PANICS.fetch_add(1, Ordering::Relaxed);
        }
        before(told);
    }));
    let service = Service::new();
    let host = format!("Host: {}\r\n", service.address);
    let json = "Content-Type: application/json\r\n";
    let seeds = [
        format!("GET /tasks?id=in.(1,\"2\")&order=title.desc.nullslast&select=id,x:title HTTP/1.1\r\n{host}\r\n"),
        format!(
            "GET /tasks/1?select=note HTTP/1.1\r\n{host}If-None-Match: \"a\", W/\"b\"\r\nAccept-Encoding: gzip\r\n\r\n"
        ),
        format!(
            "GET /tasks?title=not.like.*a_%25 HTTP/1.1\r\n{host}Prefer: count=exact\r\nAccept: text/csv;q=0.5\r\n\r\n"
        ),
        format!("POST /tasks HTTP/1.1\r\n{host}{json}Content-Length: 28\r\n\r\n[{{\"title\":\"x\",\"tags\":[1e5]}}]"),
        format!("PUT /pairs/1 HTTP/1.1\r\n{host}{json}Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n"),
        format!(
            "PATCH /tasks?id=eq.1 HTTP/1.1\r\n{host}{json}If-Match: *\r\nContent-Length: 12\r\n\r\n{{\"price\":1.5}}"
        ),
    ];
    let mut dice = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..600 {
        let mut request = seeds[dice.below(seeds.len())].clone().into_bytes();
        for _ in 0..=dice.below(4) {
            let at = dice.below(request.len().max(1));
            match dice.below(5) {
                _ if request.is_empty() => request.push(b' '),
                0 => request[at] = dice.below(256) as u8,
                1 => _ = request.remove(at),
                2 => request.insert(at, b"\r\n\0%\"\\,.()[]{}:;?&=\xff"[dice.below(20)]),
                3 => request.truncate(at.max(1)),
                _ => {
                    let part = request[at..(at + 1 + dice.below(20)).min(request.len())].to_vec();
                    request.splice(at..at, part);
                }
            }
        }
        let mut socket = service.connect();
        let _ = socket.write_all(&request);
        let _ = socket.shutdown(std::net::Shutdown::Write);
        let mut all = Vec::new();
        let _ = socket.read_to_end(&mut all);
        let is_answer = all.is_empty() || all.starts_with(b"HTTP/1.1 ") || all.starts_with(b"HTTP/1.0 ");
        assert!(is_answer, "{:?}", String::from_utf8_lossy(&request));
        assert!(!all.starts_with(b"HTTP/1.1 500"), "{:?}", String::from_utf8_lossy(&request));
    }
    service.get("/tasks").is(200);
    assert_eq!(PANICS.load(Ordering::Relaxed), 0);
}
