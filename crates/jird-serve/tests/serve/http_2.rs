//! HTTP/2: the same requests, calls of gRPC, and clients that take nothing.

use crate::common::{Service, TASKS, mutated, wait_for};
use crate::otlp::{TIME, field, fixed64, request, text};
use crate::streams::big;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2;
use hyper::header::HeaderMap;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::io::{Read, Write};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

type Sender = http2::SendRequest<Full<Bytes>>;

const LOGS: &str = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";
const TRACES: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

/// A connection of HTTP/2.
struct Client {
    runtime: Runtime,
    sender: Sender,
    base: String,
}

/// An answer that has come whole.
#[derive(Debug)]
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
    trailers: HeaderMap,
}

impl Client {
    fn new(service: &Service) -> Self {
        Self::with_window(service, 1 << 20)
    }

    /// It takes this many bytes of an answer before it reads.
    fn with_window(service: &Service, window: u32) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let socket = service.connect();
        socket.set_nonblocking(true).unwrap();
        socket.set_nodelay(true).unwrap();
        let sender = runtime.block_on(async {
            let socket = TokioIo::new(tokio::net::TcpStream::from_std(socket).unwrap());
            let mut builder = http2::Builder::new(TokioExecutor::new());
            let (sender, connection) =
                builder.initial_stream_window_size(window).handshake::<_, Full<Bytes>>(socket).await.unwrap();
            tokio::spawn(connection);
            sender
        });
        Self { runtime, sender, base: format!("http://{}", service.address) }
    }

    fn begin(
        &self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Response<hyper::body::Incoming> {
        let mut request = Request::builder().method(method).uri(format!("{}{target}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::copy_from_slice(body))).unwrap();
        let mut sender = self.sender.clone();
        self.runtime.block_on(async move { sender.send_request(request).await }).unwrap()
    }

    fn send(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let (head, body) = self.begin(method, target, headers, body).into_parts();
        let body = self.runtime.block_on(body.collect()).unwrap();
        let trailers = body.trailers().cloned().unwrap_or_default();
        Answer { status: head.status, headers: head.headers, body: body.to_bytes().to_vec(), trailers }
    }

    /// A call of gRPC: its status, and its message or what is wrong.
    fn call(&self, target: &str, headers: &[(&str, &str)], framed: &[u8]) -> (String, Vec<u8>) {
        let headers = [&[("Content-Type", "application/grpc"), ("TE", "trailers")], headers].concat();
        let answer = self.send("POST", target, &headers, framed);
        assert!(answer.status == StatusCode::OK && answer.headers["content-type"] == "application/grpc", "{answer:?}");
        let status = |from: &HeaderMap| from.get("grpc-status").map(|status| status.to_str().unwrap().to_owned());
        match status(&answer.headers) {
            Some(status) => (status, answer.headers["grpc-message"].to_str().unwrap().replace("%20", " ").into()),
            None => (status(&answer.trailers).unwrap(), answer.body),
        }
    }
}

/// A message in its frame.
fn frame(flag: u8, message: &[u8]) -> Vec<u8> {
    [&[flag][..], &(message.len() as u32).to_be_bytes(), message].concat()
}

/// A record with this text.
fn record(message: &str) -> Vec<u8> {
    [fixed64(1, TIME), field(5, &text(message))].concat()
}

#[test]
fn tables_and_events_are_the_same_as_on_http_1() {
    let service = Service::new();
    let client = Client::new(&service);
    for target in ["/tasks", "/tasks/1", "/tasks?select=id&limit=1", "/none", "/", "/openapi.json", "/tasks?none=eq.1"]
    {
        let (one, two) = (service.get(target), client.send("GET", target, &[], b""));
        assert_eq!((one.status, one.body), (two.status.as_u16(), two.body), "{target}");
    }
    let json = [("Content-Type", "application/json")];
    assert_eq!(client.send("POST", "/tasks", &json, b"{\"title\":\"New\"}").status, StatusCode::CREATED);
    assert_eq!(client.send("GET", "/tasks?title=eq.New", &[("Accept-Encoding", "gzip")], b"").status, StatusCode::OK);
    let strange = Request::builder().uri("http://evil.example/tasks").body(Full::new(Bytes::new())).unwrap();
    let mut sender = client.sender.clone();
    let answer = client.runtime.block_on(async move { sender.send_request(strange).await }).unwrap();
    assert_eq!(answer.status(), StatusCode::MISDIRECTED_REQUEST);
    // Many at a time.
    let all: Vec<_> = (0..300).map(|_| client.begin("GET", "/tasks/2", &[], b"")).collect();
    assert!(all.iter().all(|answer| answer.status() == StatusCode::OK));
}

#[test]
fn calls_of_grpc_are_the_same_as_requests() {
    let service = Service::of_store(|_| ());
    let body = request(&[record("one"), record("two")]);
    let client = Client::new(&service);
    assert_eq!(client.call(LOGS, &[], &frame(0, &body)), ("0".to_owned(), frame(0, b"")));
    service.send("POST", "/v1/logs", &[("Content-Type", "application/x-protobuf")], &body).is(200);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&body).unwrap();
    let gzip = gzip.finish().unwrap();
    assert_eq!(client.call(LOGS, &[("grpc-encoding", "gzip")], &frame(1, &gzip)).0, "0");
    assert_eq!(
        client.call(LOGS, &[("grpc-encoding", "zstd")], &frame(1, &zstd::encode_all(&body[..], 1).unwrap())).0,
        "0"
    );
    // A message may be plain although others are not.
    assert_eq!(client.call(LOGS, &[("grpc-encoding", "gzip")], &frame(0, &body)).0, "0");
    let events = service.events();
    assert_eq!(events.len(), 10);
    assert!(events.chunks(2).all(|pair| pair == &events[..2]) && events[0].contains("\"@m\":\"one\""), "{events:?}");
    // A span.
    let span =
        [field(1, &[1; 16]), field(2, &[2; 8]), field(5, b"GET /"), fixed64(7, TIME), fixed64(8, TIME + 9)].concat();
    let traces = field(1, &field(2, &field(2, &span)));
    assert_eq!(client.call(TRACES, &[], &frame(0, &traces)).0, "0");
    assert!(service.events()[10].contains("\"@m\":\"GET /\""));
    // What is refused of a message is named in the answer.
    let deep = (0..100).fold(text("x"), |inner, _| field(5, &field(1, &inner)));
    let (status, message) = client.call(LOGS, &[], &frame(0, &request(&[record("three"), field(5, &deep)])));
    assert!(status == "0" && String::from_utf8_lossy(&message).contains("record 2: "), "{message:?}");
    assert_eq!(service.events().len(), 12);
}

#[test]
fn calls_that_fail_say_so_in_words_of_grpc() {
    let service = Service::of_store(|settings| {
        settings.tokens = vec!["s3cret".into()];
        settings.limits.body_bytes = 10_000;
    });
    let client = Client::new(&service);
    let (token, body) = (("authorization", "Bearer s3cret"), request(&[record("one")]));
    let plain = frame(0, &body);
    for (target, headers, framed, status, words) in [
        (LOGS, &[][..], &plain[..], "16", "token"),
        (LOGS, &[("authorization", "Bearer other")], &plain, "16", "token"),
        (LOGS, &[token, ("grpc-encoding", "lz4")], &plain, "12", "gzip"),
        ("/opentelemetry.proto.collector.metrics.v1.MetricsService/Export", &[token], &plain, "12", "logs and traces"),
        ("/grpc.health.v1.Health/Check", &[token], &plain, "12", "logs and traces"),
        (LOGS, &[token], &plain[..7], "3", "one message"),
        (LOGS, &[token], b"", "3", "one message"),
        (LOGS, &[token], &[&plain[..], &plain].concat(), "3", "one message"),
        (LOGS, &[token], &frame(1, &body), "3", "grpc-encoding"),
        (LOGS, &[token, ("grpc-encoding", "gzip")], &frame(1, &body), "3", "unpacked"),
        (LOGS, &[token], &frame(0, b"\xff\xff"), "3", ""),
        (LOGS, &[token], &frame(0, &vec![0; 20_000]), "8", "10000 bytes"),
    ] {
        let (found, message) = client.call(target, headers, framed);
        let message = String::from_utf8(message).unwrap();
        assert!(found == status && message.contains(words), "{target}: {found} {message}");
    }
    assert!(service.events().is_empty());
    assert_eq!(client.call(LOGS, &[token], &plain).0, "0");
    let metrics = service.send("GET", "/metrics", &[token], b"").is(200);
    assert!(metrics.text().contains("jird_requests_total{status=\"4xx\"} 12"), "{}", metrics.text());
    for body in mutated(&plain, 200) {
        let (status, _) = client.call(LOGS, &[token], &body);
        assert!(["0", "3"].contains(&&*status), "{status}");
    }
    assert_eq!(client.call("/other/Export", &[], &plain).0, "16");
}

#[test]
fn a_client_that_takes_nothing_is_cut_though_it_answers_every_ping() {
    let service =
        Service::with(&format!("{TASKS} {}", big(100_000)), |settings| settings.limits.stall = Duration::from_secs(1));
    // One that lets short answers through, and one that lets nothing through.
    for window in [50_000, 0] {
        let client = Client::with_window(&service, window);
        let untaken: Vec<_> = (0..20).map(|_| client.begin("GET", "/big", &[], b"")).collect();
        let begun = Instant::now();
        service.get("/tasks/1").is(200);
        assert!(begun.elapsed() < Duration::from_secs(1));
        wait_for(&service, &format!("jird_answers_cut_total {}", if window == 0 { 40 } else { 20 }));
        for answer in untaken {
            assert!(client.runtime.block_on(answer.into_body().collect()).is_err());
        }
    }
    // A client that waits for a slow answer is not cut.
    let client = Client::new(&service);
    let (head, body) = client.begin("GET", "/big", &[], b"").into_parts();
    assert_eq!(head.status, StatusCode::OK);
    assert!(client.runtime.block_on(body.collect()).unwrap().to_bytes().len() > 10_000_000);
    // A connection without requests ends.
    std::thread::sleep(Duration::from_millis(2600));
    let mut sender = client.sender.clone();
    assert!(client.runtime.block_on(async move { sender.ready().await }).is_err());
}

#[test]
fn what_only_begins_like_http_2_is_cut_or_refused() {
    let service = Service::with(TASKS, |settings| settings.limits.stall = Duration::from_millis(500));
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    for begin in
        [&b"P"[..], b"PR", b"PRI", b"PRI ", &preface[..20], preface, b"PRI * HTTP/1.1\r\n\r\n", b"PRX / HTTP/1.1\r\n"]
    {
        let mut socket = service.connect();
        socket.write_all(begin).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut rest = Vec::new();
        let ended = socket.read_to_end(&mut rest);
        assert!(
            ended.is_ok() || ended.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionReset),
            "{begin:?}"
        );
    }
    // A byte at a time, it is a request as any other.
    let mut socket = service.connect();
    for byte in format!("PUT /tasks/1 HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", service.address).as_bytes() {
        socket.write_all(&[*byte]).unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut all = Vec::new();
    socket.read_to_end(&mut all).unwrap();
    assert!(all.starts_with(b"HTTP/1.1 4"), "{}", String::from_utf8_lossy(&all));
    service.get("/tasks/1").is(200);
}

#[test]
fn a_connection_that_is_used_goes_on_and_a_slow_client_gets_all() {
    let service =
        Service::with(&format!("{TASKS} {}", big(1000)), |settings| settings.limits.stall = Duration::from_secs(1));
    let client = Client::with_window(&service, 16 << 10);
    let (head, mut body) = client.begin("GET", "/big", &[], b"").into_parts();
    assert_eq!(head.status, StatusCode::OK);
    let (begun, mut all) = (Instant::now(), Vec::new());
    while let Some(frame) = client.runtime.block_on(body.frame()) {
        all.extend_from_slice(&frame.unwrap().into_data().unwrap());
        std::thread::sleep(Duration::from_millis(300));
    }
    assert!(begun.elapsed() > Duration::from_secs(2) && all.ends_with(b"]\n"), "{:?}", begun.elapsed());
    for _ in 0..10 {
        assert_eq!(client.send("GET", "/tasks/1", &[], b"").status, StatusCode::OK);
        std::thread::sleep(Duration::from_millis(400));
    }
}

#[test]
fn the_host_that_a_trusted_proxy_names_counts_here_too() {
    let service = Service::with(TASKS, |settings| {
        settings.proxies = vec!["127.0.0.1".parse().unwrap()];
        settings.hosts = vec!["data.example".into()];
    });
    let client = Client { base: "http://upstream".into(), ..Client::new(&service) };
    let host = |host| client.send("GET", "/tasks/1", &[("X-Forwarded-Host", host)], b"").status;
    assert_eq!((host("data.example"), host("other.example")), (StatusCode::OK, StatusCode::MISDIRECTED_REQUEST));
}
