//! A server, and clients that are nothing but sockets.

use jird::Json;
use jird_formats::sqlite::rusqlite::Connection;
use jird_serve::{Reloader, Server, Settings, Stopper};
use jird_store::{Store, Window};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};
#[cfg(feature = "query")]
use std::sync::{RwLockWriteGuard, TryLockError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub(crate) const TASKS: &str = "
    create table tasks (id integer primary key, title text not null, done boolean not null default 0, price real,
        tags json, at date, note);
    insert into tasks (id, title, done, price, tags, at, note) values
        (1, 'Clean Room', 0, 1.5, '[\"home\", {\"a\": 1.50}]', '2024-01-01', null),
        (2, 'Check \"Mail\"', 1, null, null, '2024-02-01', x'00ff'),
        (3, 'Ärger, süß', 0, 1e300, '{}', null, 7);
    create table pairs (a text, b integer, c text, primary key (a, b));
    create view open_tasks as select id, title from tasks where not done;
    create table \"odd \"\" name\" (\"select\" integer primary key, \"a,b\" text);
    insert into \"odd \"\" name\" values (1, 'x');
";

/// A server of a database that goes with it.
pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    /// Where it takes syslog.
    pub(crate) syslog: Vec<SocketAddr>,
    pub(crate) path: PathBuf,
    pub(crate) reloader: Reloader,
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
    _folder: tempfile::TempDir,
    _serving: RwLockReadGuard<'static, ()>,
}

/// Held by each service of a test, and by a test that must not be beside any.
static SERVING: RwLock<()> = RwLock::new(());

/// Waits until no other test has a service. Until it is dropped, others wait.
#[cfg(feature = "query")]
pub(crate) fn quiet() -> RwLockWriteGuard<'static, ()> {
    loop {
        // One that waits for the lock would keep a test from its second service.
        match SERVING.try_write() {
            Ok(quiet) => return quiet,
            Err(TryLockError::Poisoned(error)) => return error.into_inner(),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

impl Service {
    /// One that writes, too.
    pub(crate) fn new() -> Self {
        Self::with(TASKS, |settings| settings.write = true)
    }

    pub(crate) fn with(sql: &str, change: impl FnOnce(&mut Settings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        Self::start(folder, path, change)
    }

    /// One of an event store that is not there yet, and writes.
    pub(crate) fn of_store(change: impl FnOnce(&mut Settings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events");
        Self::start(folder, path, |settings| {
            settings.write = true;
            change(settings);
        })
    }

    /// The events of the store, in the order of their times.
    pub(crate) fn events(&self) -> Vec<String> {
        events(&self.path)
    }

    /// The lines of the file of refused events.
    pub(crate) fn refused(&self) -> Vec<Json> {
        let text = std::fs::read(self.path.join("refused.ndjson")).unwrap_or_default();
        text.split_inclusive(|byte| *byte == b'\n').map(|line| jird::from_slice(line).unwrap()).collect()
    }

    /// One of this path and of what else the settings say.
    pub(crate) fn start(folder: tempfile::TempDir, path: PathBuf, change: impl FnOnce(&mut Settings)) -> Self {
        let serving = SERVING.read().unwrap_or_else(PoisonError::into_inner);
        let mut settings = Settings::new(&path);
        settings.queries = query_process();
        change(&mut settings);
        let server = Server::bind(settings).unwrap();
        let (stopper, reloader) = (server.stopper(), server.reloader());
        let address = server.address().tcp().unwrap_or_else(|| ([127, 0, 0, 1], 0).into());
        let syslog = server.syslog().to_vec();
        let thread = std::thread::spawn(move || server.run().unwrap());
        Self { address, syslog, path, reloader, stopper, thread: Some(thread), _folder: folder, _serving: serving }
    }

    pub(crate) fn stop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }

    pub(crate) fn begin_to_stop(&self) {
        self.stopper.stop();
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let socket = TcpStream::connect(self.address).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        socket
    }

    pub(crate) fn database(&self) -> Connection {
        Connection::open(&self.path).unwrap()
    }

    pub(crate) fn get(&self, target: &str) -> Answer {
        self.send("GET", target, &[], b"")
    }

    pub(crate) fn json(&self, method: &str, target: &str, body: &str) -> Answer {
        self.send(method, target, &[("Content-Type", "application/json")], body.as_bytes())
    }

    /// A request with a connection of its own.
    pub(crate) fn send(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        self.raw(&self.request(method, target, headers, body))
    }

    /// The bytes of a request.
    pub(crate) fn request(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
        let mut head = format!("{method} {target} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            write!(head, "Host: {}\r\n", self.address).unwrap();
        }
        for (name, value) in headers {
            write!(head, "{name}: {value}\r\n").unwrap();
        }
        if !body.is_empty() {
            write!(head, "Content-Length: {}\r\n", body.len()).unwrap();
        }
        let mut request = head.into_bytes();
        request.extend_from_slice(b"\r\n");
        request.extend_from_slice(body);
        request
    }

    /// These very bytes.
    pub(crate) fn raw(&self, request: &[u8]) -> Answer {
        let mut socket = self.connect();
        // A server that has refused a request need not take the rest of it.
        let _ = socket.write_all(request);
        let mut all = Vec::new();
        let _ = socket.read_to_end(&mut all);
        Answer::new(&all)
    }
}

/// This program, which runs queries in SQL when a server starts it so.
pub(crate) fn query_process() -> Option<Vec<OsString>> {
    let program = std::env::current_exe().unwrap();
    let arguments = ["--exact", "common::queries_of_a_server", "--nocapture"].map(OsString::from);
    cfg!(feature = "query").then(|| [program.into_os_string()].into_iter().chain(arguments).collect())
}

#[cfg(feature = "query")]
#[test]
fn queries_of_a_server() {
    if std::env::var_os("JIRD_QUERY_PROCESS").is_some() {
        jird_serve::run_queries().unwrap();
    }
}

/// A body in many wrong forms: bytes changed, cut out and repeated.
pub(crate) fn mutated(body: &[u8], count: usize) -> impl Iterator<Item = Vec<u8>> {
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let mut below = move |end: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % end.max(1) as u64).unwrap()
    };
    let body = body.to_vec();
    (0..count).map(move |_| {
        let mut body = body.clone();
        for _ in 0..=below(3) {
            let at = below(body.len());
            let end = (at + 1 + below(9)).min(body.len());
            match below(4) {
                0 => body[at] ^= 1 << below(8),
                1 => body[at] = [0, 0x7f, 0x80, 0xff, b'"', b'\\'][below(6)],
                2 => drop(body.drain(at..end)),
                _ => drop(body.splice(at..at, body[at..end].to_vec())),
            }
        }
        body
    })
}

/// The events of a store, in the order of their times.
pub(crate) fn events(path: &Path) -> Vec<String> {
    let text = Store::open(path).unwrap().snapshot().unwrap().text(Window::ALL).unwrap();
    let (mut lines, mut buffer) = (Vec::new(), Vec::new());
    for block in text.blocks() {
        text.read(block, None, &mut buffer).unwrap();
        lines.append(&mut buffer);
    }
    String::from_utf8(lines).unwrap().lines().map(str::to_owned).collect()
}

impl Drop for Service {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Whether this process runs nothing but the test of this name. If not, another process does, and passes.
pub(crate) fn is_alone(name: &str) -> bool {
    is_alone_or(name, || ())
}

/// As [`is_alone`]. While another process runs the test, this one keeps something.
pub(crate) fn is_alone_or<K>(name: &str, keep: impl FnOnce() -> K) -> bool {
    const ALONE: &str = "JIRD_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let _kept = keep();
    let program = std::env::current_exe().unwrap();
    let run = std::process::Command::new(program).args(["--exact", name]).env(ALONE, "1").output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
    false
}

/// Numbers that look random (xorshift64*), the same in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % most
    }

    pub(crate) fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// Bytes of this process in memory.
pub(crate) fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

/// The processes that a process has started, without those that have ended.
#[cfg(feature = "query")]
pub(crate) fn children_of(parent: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let stats = all.filter_map(|process| std::fs::read_to_string(process.path().join("stat")).ok());
    let children = stats.filter_map(|stat| {
        let (head, rest) = stat.rsplit_once(") ")?;
        let mut rest = rest.split(' ');
        let lives = rest.next()? != "Z";
        (lives && rest.next()?.parse() == Ok(parent)).then(|| head.split(' ').next()?.parse().ok())?
    });
    children.collect()
}

/// Whether a process lives, and has worked for a while.
#[cfg(feature = "query")]
pub(crate) fn works(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let ticks = stat.rsplit(')').next().and_then(|rest| rest.split(' ').nth(12)).and_then(|ticks| ticks.parse().ok());
    ticks.is_some_and(|ticks: u64| ticks > 20)
}

/// The first child of a process that works at a query. Until it does, another one may get the query.
#[cfg(feature = "query")]
pub(crate) fn child_that_works(parent: u32) -> u32 {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        match children_of(parent).into_iter().find(|process| works(*process)) {
            Some(process) => return process,
            None => assert!(Instant::now() < until, "no process works at the query"),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a request, and reads nothing.
pub(crate) fn ask(service: &Service, target: &str) -> TcpStream {
    let mut socket = service.connect();
    write!(socket, "GET {target} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", service.address).unwrap();
    socket
}

/// Waits until a line of the metrics is there.
#[track_caller]
pub(crate) fn wait_for(service: &Service, line: &str) {
    let until = Instant::now() + Duration::from_secs(20);
    while !service.get("/metrics").text().lines().any(|known| known == line) {
        assert!(Instant::now() < until, "{line}: {}", service.get("/metrics").text());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// An answer, cut and joined.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// The body reached its end.
    pub(crate) is_whole: bool,
}

impl Answer {
    pub(crate) fn new(all: &[u8]) -> Self {
        let Some(end) = all.windows(4).position(|part| part == b"\r\n\r\n") else {
            return Self { status: 0, headers: Vec::new(), body: all.to_vec(), is_whole: false };
        };
        let head = String::from_utf8(all[..end].to_vec()).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers: Vec<(String, String)> = lines
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let rest = &all[end + 4..];
        let mut answer = Self { status, headers, body: Vec::new(), is_whole: true };
        if answer.header("transfer-encoding") == Some("chunked") {
            (answer.body, answer.is_whole) = joined(rest);
        } else {
            let wanted = answer.header("content-length").map_or(0, |len| len.parse::<usize>().unwrap());
            (answer.body, answer.is_whole) = (rest.to_vec(), rest.len() == wanted);
        }
        answer
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> &str {
        core::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn tree(&self) -> Json {
        jird::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        if status >= 400 {
            assert_eq!(self.header("content-type"), Some("application/problem+json"));
            assert_eq!(self.tree()["status"], status);
        }
        self
    }
}

/// The chunks of a body, and whether the last one came.
fn joined(mut rest: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|part| part == b"\r\n") {
        let len = usize::from_str_radix(core::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
        rest = &rest[end + 2..];
        if len == 0 {
            return (body, true);
        }
        let Some(chunk) = rest.get(..len) else { return (body, false) };
        body.extend_from_slice(chunk);
        rest = rest.get(len + 2..).unwrap_or_default();
    }
    (body, false)
}
