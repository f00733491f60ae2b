//! Plain axum servers: one writes a list that it has in memory (`axum`), one the rows of a table (`axum-sqlite`), both with
//! `serde_json` on each request.
//!
//!     plain ROWS DATABASE
//!
//! prints a name and an address for each, and ends when its input ends.
//!
//! The one with SQLite has what is fastest here: each of the threads that serve has a connection of its own, so that there is
//! no pool and no other thread, and keeps its prepared statement. It looks at no file, and has no limits and no tags.

use axum::serve::ListenerExt;
use axum::{Json, Router, extract::State, routing::get};
use rusqlite::{Connection, OpenFlags};
use std::cell::RefCell;
use std::sync::Arc;

#[derive(serde::Serialize)]
struct Task {
    id: i64,
    title: String,
    done: bool,
}

thread_local! {
    static CONNECTION: RefCell<Option<Connection>> = const { RefCell::new(None) };
}

/// All tasks, from the table.
fn tasks(path: &str) -> rusqlite::Result<Vec<Task>> {
    CONNECTION.with_borrow_mut(|slot| {
        let conn = match slot {
            Some(conn) => conn,
            None => {
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                slot.insert(Connection::open_with_flags(path, flags)?)
            }
        };
        let mut statement = conn.prepare_cached("select id, title, done from tasks order by id")?;
        let rows = statement.query_map([], |row| Ok(Task { id: row.get(0)?, title: row.get(1)?, done: row.get(2)? }))?;
        rows.collect()
    })
}

/// Answers at any free port, which it prints.
async fn serve(name: &str, router: Router) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    println!("{name} {}", listener.local_addr().expect("an address"));
    let listener = listener.tap_io(|socket| {
        let _ = socket.set_nodelay(true);
    });
    tokio::spawn(async { axum::serve(listener, router).await });
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let rows = arguments.next().and_then(|rows| rows.parse().ok()).expect("plain ROWS DATABASE");
    let path: Arc<str> = arguments.next().expect("plain ROWS DATABASE").into();
    let list: Vec<Task> = (1..=rows)
        .map(|id| Task { id, title: format!("Task number {id}, which is to be done"), done: id % 3 == 0 })
        .collect();
    let answer = |State(path): State<Arc<str>>| async move { Json(tasks(&path).expect("the table is there")) };
    serve("axum-sqlite", Router::new().route("/tasks", get(answer)).with_state(path)).await;
    let answer = |State(tasks): State<Arc<Vec<Task>>>| async move { Json(tasks) };
    serve("axum", Router::new().route("/tasks", get(answer)).with_state(Arc::new(list))).await;
    let _ = tokio::io::copy(&mut tokio::io::stdin(), &mut tokio::io::sink()).await;
}
