//! The command `serve`, as its users start it, ask it and end it; and what the guide says of it.
#![cfg(all(feature = "serve", target_os = "linux"))]

use crate::folder::{Folder, same_lines};
use jird_formats::sqlite::rusqlite::Connection;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const JIRD: &str = env!("CARGO_BIN_EXE_jird");

/// A server, which ends with the test.
struct Served {
    child: Child,
    /// What it has said on standard error when it began.
    said: String,
    address: String,
}

impl Served {
    /// Serves at a free port.
    fn start(folder: &Folder, args: &[&str]) -> Self {
        let mut command = Command::new(JIRD);
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(args).current_dir(&folder.0);
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        errors.read_line(&mut said).unwrap();
        // Nothing else reads the log, and a full pipe would end it.
        thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
        let address = said.trim().rsplit('/').next().unwrap().to_owned();
        Self { child, said, address }
    }

    fn send(&self, signal: &str) {
        let kill = format!("kill -{signal} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// A request with a connection of its own, and all of its answer.
    fn ask(&self, method: &str, target: &str, body: Option<&str>) -> String {
        self.try_ask(method, target, body).unwrap()
    }

    fn try_ask(&self, method: &str, target: &str, body: Option<&str>) -> std::io::Result<String> {
        let mut socket = TcpStream::connect(&self.address)?;
        let head = format!("{method} {target} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.address);
        let media = body.map_or("", |_| "Content-Type: application/json\r\n");
        let body = body.unwrap_or_default();
        let request = format!("{head}{media}Content-Length: {}\r\n\r\n{body}", body.len());
        socket.write_all(request.as_bytes())?;
        let mut answer = String::new();
        socket.read_to_string(&mut answer)?;
        Ok(answer)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn with_tasks() -> Folder {
    let folder = Folder::new("serve");
    let conn = Connection::open(folder.0.join("tasks.db")).unwrap();
    conn.execute_batch(
        "create table tasks (id integer primary key, title text not null, done boolean not null default 0);
         insert into tasks values (1, 'Clean Room', 0), (2, 'Check Mail', 1)",
    )
    .unwrap();
    folder
}

#[test]
fn a_signal_ends_the_server_after_the_request_that_it_has_begun() {
    let folder = with_tasks();
    for (signal, code) in [("HUP", 129), ("INT", 130), ("TERM", 143)] {
        let mut served = Served::start(&folder, &["tasks.db", "--write"]);
        let mut socket = TcpStream::connect(&served.address).unwrap();
        let head = format!("POST /tasks HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n", served.address);
        write!(socket, "{head}Content-Length: 13\r\n\r\n{{").unwrap();
        // When a later connection has its answer, this one is accepted, too.
        assert!(served.ask("GET", "/tasks", None).starts_with("HTTP/1.1 200 "));
        served.send(signal);
        thread::sleep(Duration::from_millis(100));
        socket.write_all(b"\"title\":\"x\"}").unwrap();
        // A server whose parent has it ignore the signal would never end.
        socket.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 201 "), "{signal}: {answer}");
        assert_eq!(served.child.wait().unwrap().code(), Some(code), "{signal}");
    }
}

#[test]
fn tokens_are_read_again_on_sighup() {
    let folder = with_tasks();
    let tokens = folder.0.join("tokens");
    fs::write(&tokens, "first\n").unwrap();
    let served = Served::start(&folder, &["tasks.db", "--token-file", "tokens"]);
    let ask = |token: &str| {
        let mut socket = TcpStream::connect(&served.address).unwrap();
        let head = format!("GET /tasks HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", served.address);
        write!(socket, "{head}Authorization: Bearer {token}\r\n\r\n").unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    let becomes = |token: &str, status: &str| {
        let until = Instant::now() + Duration::from_secs(10);
        while ask(token) != status {
            assert!(Instant::now() < until, "{token} {status}");
            thread::sleep(Duration::from_millis(10));
        }
    };
    assert_eq!((ask("first"), ask("second")), ("200".to_owned(), "401".to_owned()));
    fs::write(&tokens, "second\nthird query\n").unwrap();
    served.send("HUP");
    becomes("second", "200");
    assert_eq!((ask("first"), ask("third")), ("401".to_owned(), "403".to_owned()));
    // What cannot be read changes nothing.
    for wrong in ["", "fourth everything\n"] {
        fs::write(&tokens, wrong).unwrap();
        served.send("HUP");
        thread::sleep(Duration::from_millis(100));
        assert_eq!((ask("second"), ask("fourth")), ("200".to_owned(), "401".to_owned()));
    }
    fs::write(&tokens, "fifth\n").unwrap();
    served.send("HUP");
    becomes("fifth", "200");
}

#[test]
fn the_log_has_the_client_of_a_trusted_proxy_and_no_token() {
    let folder = with_tasks();
    fs::write(folder.0.join("tokens"), "s3cret\n").unwrap();
    let log = folder.0.join("log");
    let mut command = Command::new(JIRD);
    command.args(["serve", "tasks.db", "events", "--write", "--token-file", "tokens", "--listen", "unix:socket"]);
    command.args(["--trust-proxy", "unix", "--trust-proxy", "10.0.0.0/8", "--path-prefix", "/jird"]);
    let child = command.current_dir(&folder.0).stderr(fs::File::create(&log).unwrap()).spawn().unwrap();
    let mut child = Killed(child);
    let socket = folder.0.join("socket");
    let ask = |target: &str| {
        let until = Instant::now() + Duration::from_secs(20);
        let mut socket = loop {
            match UnixStream::connect(&socket) {
                Ok(socket) => break socket,
                Err(error) => assert!(Instant::now() < until, "{error}"),
            }
            thread::sleep(Duration::from_millis(10));
        };
        let head = "Host: localhost\r\nConnection: close\r\nContent-Type: application/x-ndjson\r\n";
        let head = format!("{head}X-Forwarded-For: 6.6.6.6, 192.0.2.7, 10.1.1.1\r\n");
        write!(socket, "POST {target} HTTP/1.1\r\n{head}Content-Length: 0\r\n\r\n").unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        answer
    };
    let answer = ask("/jird/ingest?clef&api%4bey=s3cret&a=b");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(ask("/jird/ingest?apiKey=s3cre").starts_with("HTTP/1.1 401 "));
    Command::new("sh").args(["-c", &format!("kill -TERM {}", child.0.id())]).status().unwrap();
    assert_eq!(child.0.wait().unwrap().code(), Some(143));
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains("serving tasks.db, events at unix:socket\n"), "{log}");
    assert!(log.contains("\"target\":\"/jird/ingest?clef&api%4bey=…&a=b\"") && !log.contains("s3cre"), "{log}");
    assert_eq!(log.matches("\"peer\":\"192.0.2.7\"").count(), 2, "{log}");
    assert!(!socket.exists());
}

#[test]
#[expect(clippy::print_stdout, reason = "the runner of the tests counts such lines")]
fn a_socket_of_systemd_is_listened_at() {
    const PASS: &str = "import os, socket, sys
listener = socket.socket(getattr(socket, sys.argv[1]))
listener.bind(('127.0.0.1', 0) if sys.argv[1] == 'AF_INET' else sys.argv[2])
listener.listen()
print(listener.getsockname()[1] if sys.argv[1] == 'AF_INET' else '', flush=True)
os.dup2(listener.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='1')
os.execv(sys.argv[3], sys.argv[3:])";
    let python = std::env::var("JIRD_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    if Command::new(&python).arg("--version").output().is_err() {
        println!("skipped: python3");
        return;
    }
    let folder = with_tasks();
    let start = |family: &str, path: &str| {
        let mut command = Command::new(&python);
        command.args(["-c", PASS, family, path, JIRD, "serve", "tasks.db", "--quiet", "--listen", "systemd"]);
        Killed(command.current_dir(&folder.0).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap())
    };
    let get = |mut socket: Box<dyn ReadWrite>| {
        socket.write_all(b"GET /tasks?select=id HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        answer
    };
    for family in ["AF_INET", "AF_UNIX"] {
        let mut child = start(family, "passed.sock");
        let mut port = String::new();
        BufReader::new(child.0.stdout.take().unwrap()).read_line(&mut port).unwrap();
        // Whoever comes before the server is there waits in the socket.
        let socket: Box<dyn ReadWrite> = if family == "AF_INET" {
            Box::new(TcpStream::connect(format!("127.0.0.1:{}", port.trim())).unwrap())
        } else {
            Box::new(UnixStream::connect(folder.0.join("passed.sock")).unwrap())
        };
        let answer = get(socket);
        assert!(answer.ends_with("[{\"id\":1},\n{\"id\":2}]\n"), "{answer}");
        // No query has the socket, which would stay open with it.
        let passed = fs::read_link(format!("/proc/{}/fd/3", child.0.id())).unwrap();
        let children = children_of(child.0.id());
        assert_eq!(children.len(), usize::from(cfg!(feature = "sql")));
        for process in children {
            let files = fs::read_dir(format!("/proc/{process}/fd")).unwrap().map(|file| file.unwrap().path());
            assert!(files.filter_map(|file| fs::read_link(file).ok()).all(|file| file != passed), "{process}");
        }
    }
    let mut command = Command::new(JIRD);
    let none = command.args(["serve", "tasks.db", "--listen", "systemd"]).current_dir(&folder.0).output().unwrap();
    assert_eq!(none.status.code(), Some(2));
    assert!(String::from_utf8(none.stderr).unwrap().contains("systemd passed no socket"));
}

/// A process that ends with the test, also if that fails.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The processes that a process has started.
fn children_of(parent: u32) -> Vec<u32> {
    let all = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    all.filter(|process: &u32| {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        status.lines().any(|line| line.strip_prefix("PPid:").is_some_and(|id| id.trim() == parent.to_string()))
    })
    .collect()
}

trait ReadWrite: Read + Write {}
impl<S: Read + Write> ReadWrite for S {}

#[test]
fn what_an_operator_writes_wrongly_is_told() {
    let folder = with_tasks();
    for (args, wanted) in [
        (&["--keep", "30"][..], "wanted an age such as 90s, 30m, 12h, 30d or 4w"),
        (&["--keep", "1960-01-01"], "wanted an age"),
        (&["--keep", "0d"], "wanted an age"),
        (&["--keep", "30d"], "keep: old events are removed from an event store, and none is served"),
        (&["--trust-proxy", "nginx"], "wanted an address such as 10.0.0.7"),
        (&["--path-prefix", "jird"], "is not a prefix of paths, such as /jird"),
        (&["--listen", "nowhere"], "wanted ADDRESS:PORT such as 127.0.0.1:8082, unix:PATH or systemd"),
        (&["--syslog", "5514"], "wanted ADDRESS:PORT such as 127.0.0.1:5514"),
        (&["--syslog", "127.0.0.1:0"], "syslog: messages become events of a store, and no store is served"),
    ] {
        let output =
            Command::new(JIRD).args(["serve", "tasks.db", "--write"]).args(args).current_dir(&folder.0).output();
        let output = output.unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(wanted), "{said}");
    }
}

#[test]
fn syslog_is_taken_where_it_says_and_times_without_a_zone_are_local() {
    let folder = Folder::new("serve");
    let mut command = Command::new(JIRD);
    command.args(["serve", "log", "--write", "--listen", "127.0.0.1:0", "--syslog", "127.0.0.1:0"]);
    command.args(["--syslog", "0.0.0.0:0"]).current_dir(&folder.0).env("TZ", "JST-9");
    let mut child = Killed(command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
    let mut errors = BufReader::new(child.0.stderr.take().unwrap());
    let [served, near, far] = [(); 3].map(|()| {
        let mut line = String::new();
        errors.read_line(&mut line).unwrap();
        line.trim().to_owned()
    });
    thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
    let near = near.strip_prefix("jird: taking syslog by UDP and TCP at ").unwrap();
    let far = far.strip_prefix("jird: taking syslog by UDP and TCP at ").unwrap();
    assert!(far.starts_with("0.0.0.0:") && far.ends_with(", from everyone who can reach it"), "{far}");
    let mut socket = TcpStream::connect(near).unwrap();
    for message in ["<13>Mar  5 2021 07:00:00 h a: with its year", "<13>2021-03-05T07:00:00Z h a: with its zone"] {
        writeln!(socket, "{message}").unwrap();
    }
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs() as i64;
    let (year, month, day) = jird_store::time::date((now + 9 * 3600) / 86_400);
    let name = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"][month as usize - 1];
    writeln!(socket, "<13>{name} {day:2} 12:00:00 h a: of today").unwrap();
    drop(socket);
    let today = jird_store::time::to_wide_text((jird_store::time::days(year, month, day) * 24 + 3) * 3_600_000_000_000);
    let address = served.rsplit('/').next().unwrap();
    let wanted = [
        ("2021-03-04T22:00:00.000000000Z", "with its year"),
        ("2021-03-05T07:00:00.000000000Z", "with its zone"),
        (&today, "of today"),
    ]
    .map(|(time, text)| format!("{{\"@t\":\"{time}\",\"@l\":\"Information\",\"@m\":\"{text}\","));
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let mut socket = TcpStream::connect(address).unwrap();
        write!(socket, "GET /events HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        if wanted.iter().all(|wanted| answer.contains(wanted)) {
            break;
        }
        assert!(Instant::now() < until, "{answer}");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let folder = with_tasks();
    let mut rows = 2;
    for round in 0..3 {
        let served = Served::start(&folder, &["tasks.db", "--write"]);
        let killer = {
            let pid = served.child.id();
            thread::spawn(move || {
                thread::sleep(Duration::from_millis(150 + 20 * round));
                assert!(Command::new("sh").args(["-c", &format!("kill -9 {pid}")]).status().unwrap().success());
            })
        };
        let mut acknowledged = 0;
        while let Ok(answer) = served.try_ask("POST", "/tasks", Some("{\"title\":\"x\"}"))
            && answer.starts_with("HTTP/1.1 201 ")
        {
            acknowledged += 1;
        }
        killer.join().unwrap();
        assert!(acknowledged > 0);
        let conn = Connection::open(folder.0.join("tasks.db")).unwrap();
        let check: String = conn.query_row("pragma integrity_check", [], |row| row.get(0)).unwrap();
        let found: i64 = conn.query_row("select count(*) from tasks", [], |row| row.get(0)).unwrap();
        // The last one may be there without its answer.
        assert!(check == "ok" && (rows + acknowledged..=rows + acknowledged + 1).contains(&found), "{found} {check}");
        rows = found;
    }
}

#[test]
fn a_hundred_megabytes_take_less_than_thirty_of_memory() {
    let folder = Folder::new("serve");
    let conn = Connection::open(folder.0.join("big.db")).unwrap();
    conn.execute_batch(
        "create view big as with recursive n(i) as (select 1 union all select i + 1 from n where i < 50000)
             select i as id, hex(zeroblob(1000)) as text from n",
    )
    .unwrap();
    let served = Served::start(&folder, &["big.db"]);
    for accept in ["application/json", "application/x-ndjson", "text/csv"] {
        let mut socket = TcpStream::connect(&served.address).unwrap();
        let head = format!("GET /big HTTP/1.1\r\nHost: {}\r\nAccept: {accept}\r\n", served.address);
        write!(socket, "{head}Connection: close\r\n\r\n").unwrap();
        let len = std::io::copy(&mut socket, &mut std::io::sink()).unwrap();
        assert!(len > 100_000_000, "{accept}: {len}");
    }
    let status = fs::read_to_string(format!("/proc/{}/status", served.child.id())).unwrap();
    let kilobytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u32>().unwrap()
    };
    // Without the pages of the program's file; a build without optimisation has many.
    let kilobytes = kilobytes("VmHWM:") - kilobytes("RssFile:");
    assert!(kilobytes < 30_000, "{kilobytes} KB");
}

/// What the page shows is what a new server answers, one example after the other.
#[test]
fn the_guide_says_what_the_server_answers() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/serve.md")).unwrap();
    let folder = with_tasks();
    let served = Served::start(&folder, &["tasks.db", "--write"]);
    let mut answered = 0;
    for session in blocks(&page) {
        for command in session.split("$ ").skip(1) {
            let (command, wanted) = command.split_once('\n').unwrap();
            let wanted: Vec<&str> = wanted.lines().collect();
            let found = if command.starts_with("jird serve ") {
                served.said.replace(&served.address, "127.0.0.1:8082")
            } else {
                curl(&served, command)
            };
            let found: Vec<&str> = found.lines().collect();
            assert!(same_lines(&wanted, &found), "{command}\n{}", found.join("\n"));
            answered += 1;
        }
    }
    assert!(answered > 3);
    // What a table of the page has in a request's query.
    let (_, of_rows) = page.split_once("## Ask for rows").unwrap();
    let (of_rows, _) = of_rows.split_once("## ").unwrap();
    let rows = of_rows.lines().filter_map(|line| line.strip_prefix("| `")).filter_map(|row| row.split('`').next());
    let queries: Vec<&str> = rows.filter(|code| code.contains('=') && !code.contains(' ')).collect();
    assert!(queries.len() > 12, "{queries:?}");
    drop(served);
    Connection::open(folder.0.join("tasks.db"))
        .unwrap()
        .execute_batch(
            "create table people (id integer primary key, name text);
             create table comments (task integer references tasks, text text);
             alter table tasks add column tags json;
             alter table tasks add column meta json;
             alter table tasks add column author integer references people",
        )
        .unwrap();
    let served = Served::start(&folder, &["tasks.db"]);
    for query in queries {
        let query = query.replace('"', "%22").replace('>', "%3E").replace('[', "%5B").replace(']', "%5D");
        let query = query.replace('{', "%7B").replace('}', "%7D");
        let answer = served.ask("GET", &format!("/tasks?{query}"), None);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{query}: {answer}");
    }
}

/// The blocks of a page that are sessions.
fn blocks(page: &str) -> impl Iterator<Item = &str> {
    page.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("text\n"))
}

/// What `curl` prints, as far as the page needs it.
#[track_caller]
fn curl(served: &Served, command: &str) -> String {
    let (mut target, mut body, mut shows_head) = ("", None, false);
    for word in command.strip_prefix("curl ").unwrap_or_else(|| panic!("{command}")).split(' ') {
        match word {
            "-i" => shows_head = true,
            "--json" => body = command.split('\'').nth(1),
            _ if word.starts_with("localhost:8082/") => target = &word["localhost:8082".len()..],
            _ if body.is_some() => {}
            _ => panic!("{command}: {word}"),
        }
    }
    let answer = served.ask(if body.is_some() { "POST" } else { "GET" }, target, body);
    let (_, text) = answer.split_once("\r\n\r\n").unwrap();
    if shows_head { answer.replace('\r', "") } else { text.to_owned() }
}
