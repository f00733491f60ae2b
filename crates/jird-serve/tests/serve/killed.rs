//! A server that is killed while events come in.

use crate::common::{events, query_process};
use crate::ingest::LINES;
use jird_serve::{Server, Settings, Sync};
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

/// Where the store of a child process is.
const CHILD: &str = "JIRD_SERVE_CHILD";

/// The work of a child, which serves until it is killed.
#[test]
fn child_that_is_killed() {
    let Ok(path) = std::env::var(CHILD) else { return };
    let mut settings = Settings::new(path);
    settings.write = true;
    settings.sync = Sync::None;
    settings.queries = query_process();
    let server = Server::bind(settings).unwrap();
    writeln!(std::io::stdout(), "\nlistening {}", server.address()).unwrap();
    server.run().unwrap();
}

#[test]
fn what_is_acknowledged_is_there_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let acknowledged = Mutex::new(HashSet::new());
    for round in 0..4 {
        run_and_kill(&path, round, &acknowledged);
    }
    let kept: Vec<_> = events(&path);
    let unique: HashSet<_> = kept.iter().cloned().collect();
    assert_eq!(unique.len(), kept.len(), "an event is there twice");
    let acknowledged = acknowledged.into_inner().unwrap();
    assert!(acknowledged.len() > 500, "{}", acknowledged.len());
    let lost: Vec<_> = acknowledged.difference(&unique).collect();
    assert!(lost.is_empty(), "{} of {}, {:?}", lost.len(), acknowledged.len(), lost[0]);
}

/// A query that has no end ends with the server, which has no time to tell its process.
#[cfg(all(feature = "query", target_os = "linux"))]
#[test]
fn the_processes_of_queries_end_with_a_server_that_is_killed() {
    use crate::common::{child_that_works, works};
    use std::time::Instant;
    let folder = tempfile::tempdir().unwrap();
    let (mut server, address) = start(&folder.path().join("log"));
    let mut client = TcpStream::connect(&address).unwrap();
    let sql = "with+recursive+t+as+(select+1+n+union+all+select+n+%2B+1+from+t)+select+count(*)+from+t";
    write!(client, "GET /query?sql={sql} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    let process = child_that_works(server.id());
    server.kill().unwrap();
    server.wait().unwrap();
    let until = Instant::now() + Duration::from_secs(2);
    while works(process) {
        assert!(Instant::now() < until, "the process goes on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A server in a process of its own, and its address.
fn start(path: &Path) -> (Child, String) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::child_that_is_killed", "--nocapture"])
        .env(CHILD, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let address = lines.find_map(|line| line.unwrap().strip_prefix("listening ").map(str::to_owned)).unwrap();
    (child, address)
}

/// Starts a server, sends events on several connections, and kills it in the midst.
fn run_and_kill(path: &Path, round: u64, acknowledged: &Mutex<HashSet<String>>) {
    let (mut child, address) = start(path);
    std::thread::scope(|scope| {
        for client in 0..4 {
            let address = &address;
            scope.spawn(move || {
                let mut sent = 0;
                let _ = send(address, round, client, &mut sent, acknowledged);
            });
        }
        std::thread::sleep(Duration::from_millis(150 + 70 * round));
        child.kill().unwrap();
        child.wait().unwrap();
    });
}

/// Sends events until the server is gone, and notes those that are acknowledged.
fn send(
    address: &str,
    round: u64,
    client: u64,
    sent: &mut u64,
    acknowledged: &Mutex<HashSet<String>>,
) -> std::io::Result<()> {
    let mut socket = TcpStream::connect(address)?;
    loop {
        // Some alone, some in batches that are read by another thread.
        let count = if sent.is_multiple_of(7) { 400 } else { 1 };
        let events: Vec<_> = (*sent..*sent + count)
            .map(|number| {
                format!("{{\"round\":{round},\"client\":{client},\"number\":{number},\"pad\":\"{:060}\"}}", 0)
            })
            .collect();
        *sent += count;
        let body = events.join("\n");
        let head = format!(
            "POST /ingest HTTP/1.1\r\nHost: {address}\r\n{}: {}\r\nContent-Length: {}\r\n\r\n",
            LINES.0,
            LINES.1,
            body.len()
        );
        socket.write_all(head.as_bytes())?;
        socket.write_all(body.as_bytes())?;
        let mut answer = [0; 1024];
        let len = socket.read(&mut answer)?;
        if !answer[..len].starts_with(b"HTTP/1.1 200") {
            return Ok(());
        }
        acknowledged.lock().unwrap().extend(events);
    }
}
