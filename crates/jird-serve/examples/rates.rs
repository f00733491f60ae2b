//! Servers of the same tasks, to be compared: `jird serve` with the rows in a table, once without answers that are kept
//! (`rows`) and once with them (`kept`), and a plain hyper server that has a ready-made list and writes it with
//! `serde_json` on each request (`list`).
//!
//!     cargo build --release -p jird-serve --example rates
//!     (cd bench/serve/plain && cargo build --release)
//!     python bench/serve/rates.py target/release/examples/rates bench/serve/plain/target/release/plain
//!
//! Started by itself with a number of rows and the path of a database that it makes, it prints a name and an address for
//! each of its servers, and ends when its input ends.
#![expect(clippy::print_stdout, reason = "it prints where it listens")]

use bytes::Bytes;
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, body::Incoming};
use hyper_util::rt::TokioIo;
use jird_serve::{Limits, Server, Settings};
use std::convert::Infallible;
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;

#[derive(serde::Serialize)]
struct Task {
    id: i64,
    title: String,
    done: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(rows), Some(path)) = (arguments.next(), arguments.next()) else {
        return Err("rates ROWS DATABASE".into());
    };
    let rows = rows.parse()?;
    let tasks: Vec<Task> = (1..=rows)
        .map(|id| Task { id, title: format!("Task number {id}, which is to be done"), done: id % 3 == 0 })
        .collect();
    fill(path.as_ref(), &tasks)?;
    for (name, kept_bytes) in [("rows", 0), ("kept", Limits::default().kept_bytes)] {
        let mut settings = Settings::new(&path);
        settings.limits.kept_bytes = kept_bytes;
        let server = Server::bind(settings)?;
        println!("{name} {}", server.address());
        std::thread::spawn(move || server.run());
    }
    println!("list {}", plain(tasks)?);
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    Ok(())
}

fn fill(path: &std::path::Path, tasks: &[Task]) -> Result<(), Box<dyn Error>> {
    let conn = rusqlite::Connection::open(path)?;
    // As `jird serve --write` has it.
    conn.query_row("pragma journal_mode = wal", [], |_| Ok(()))?;
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
