//! Requests per second over one connection that stays open: rows of a table, read on each request, beside a plain hyper
//! server that writes a ready-made list with `serde_json`. Both run in this process, in turns.
//!
//!     cargo run --release -p jird-serve --example rates
#![expect(clippy::print_stdout, reason = "it prints what it measured")]

use bytes::Bytes;
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, body::Incoming};
use hyper_util::rt::TokioIo;
use jird_serve::{Server, Settings};
use std::convert::Infallible;
use std::error::Error;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(serde::Serialize)]
struct Task {
    id: i64,
    title: String,
    done: bool,
}

const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_millis(700);

fn main() -> Result<(), Box<dyn Error>> {
    println!("rows  bytes  jird serve  plain list  ratio (medians of {ROUNDS}, requests/s)");
    for rows in [2, 128, 1024] {
        let tasks: Vec<Task> = (1..=rows)
            .map(|id| Task { id, title: format!("Task number {id}, which is to be done"), done: id % 3 == 0 })
            .collect();
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("tasks.db");
        fill(&path, &tasks)?;
        let server = Server::bind(Settings::new(&path))?;
        let (address, stopper) = (server.address(), server.stopper());
        let running = std::thread::spawn(move || server.run());
        let plain = plain(tasks)?;
        let trees = [get(address, "/tasks")?, get(plain, "/tasks")?];
        let trees = trees.map(|body| serde_json::from_slice::<serde_json::Value>(&body));
        let [Ok(one), Ok(other)] = trees else { return Err("an answer is not JSON".into()) };
        assert_eq!(one, other);
        let mut rates = [Vec::new(), Vec::new()];
        let mut bytes = 0;
        for _ in 0..ROUNDS {
            for (at, rates) in [address, plain].into_iter().zip(&mut rates) {
                let (rate, len) = rate(at, "/tasks")?;
                rates.push(rate);
                bytes = len;
            }
        }
        let [ours, plain] = rates.map(median);
        println!("{rows:4} {bytes:6} {ours:11.0} {plain:11.0} {:6.2}", ours / plain);
        if rows == 1024 {
            let (rate, _) = rate(address, "/tasks/1")?;
            println!("one row by its key: {rate:.0} requests/s");
        }
        stopper.stop();
        running.join().map_err(|_| "the server panicked")??;
    }
    Ok(())
}

fn fill(path: &std::path::Path, tasks: &[Task]) -> Result<(), Box<dyn Error>> {
    let conn = rusqlite::Connection::open(path)?;
    conn.execute_batch(
        "create table tasks (id integer primary key, title text not null, done boolean not null); begin",
    )?;
    for task in tasks {
        conn.execute("insert into tasks values (?, ?, ?)", (task.id, &task.title, task.done))?;
    }
    Ok(conn.execute_batch("commit")?)
}

/// A server that has the list.
fn plain(tasks: Vec<Task>) -> Result<SocketAddr, Box<dyn Error>> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let tasks = Arc::new(tasks);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("there are threads");
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).expect("it does not block");
            while let Ok((socket, _)) = listener.accept().await {
                let _ = socket.set_nodelay(true);
                let tasks = Arc::clone(&tasks);
                tokio::spawn(async move {
                    let answer = service_fn(move |_: Request<Incoming>| {
                        let text = serde_json::to_vec(&*tasks).expect("it is JSON");
                        async move {
                            let response = Response::builder().header("content-type", "application/json");
                            Ok::<_, Infallible>(response.body(Full::new(Bytes::from(text))).expect("it is well"))
                        }
                    });
                    let _ = http1::Builder::new().serve_connection(TokioIo::new(socket), answer).await;
                });
            }
        });
    });
    Ok(address)
}

/// Requests per second, and the bytes of the last answer.
fn rate(address: SocketAddr, target: &str) -> Result<(f64, usize), Box<dyn Error>> {
    let mut client = Client::new(address, target)?;
    for _ in 0..20 {
        client.ask()?;
    }
    let begun = Instant::now();
    let (mut requests, mut len) = (0_u32, 0);
    while begun.elapsed() < ROUND {
        for _ in 0..10 {
            len = client.ask()?.len();
            requests += 1;
        }
    }
    Ok((f64::from(requests) / begun.elapsed().as_secs_f64(), len))
}

fn get(address: SocketAddr, target: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    Ok(Client::new(address, target)?.ask()?.to_vec())
}

/// A connection that stays open.
struct Client {
    socket: TcpStream,
    request: Vec<u8>,
    buffer: Vec<u8>,
}

impl Client {
    fn new(address: SocketAddr, target: &str) -> Result<Self, Box<dyn Error>> {
        let socket = TcpStream::connect(address)?;
        socket.set_nodelay(true)?;
        let request = format!("GET {target} HTTP/1.1\r\nHost: {address}\r\n\r\n").into_bytes();
        Ok(Self { socket, request, buffer: vec![0; 1 << 20] })
    }

    /// The body of an answer, which is a 200.
    fn ask(&mut self) -> Result<&[u8], Box<dyn Error>> {
        self.socket.write_all(&self.request)?;
        let mut len = 0;
        loop {
            let read = self.socket.read(&mut self.buffer[len..])?;
            len += read;
            let text = &self.buffer[..len];
            if read == 0 {
                return Err("the connection has ended".into());
            }
            let Some(end) = text.windows(4).position(|part| part == b"\r\n\r\n") else { continue };
            let head = core::str::from_utf8(&text[..end])?.to_ascii_lowercase();
            if !head.starts_with("http/1.1 200") {
                return Err(head.into());
            }
            let body = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let wanted: usize = body.ok_or("no length")?.parse()?;
            if len == end + 4 + wanted {
                return Ok(&self.buffer[end + 4..len]);
            }
        }
    }
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}
