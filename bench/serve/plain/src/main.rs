//! A plain axum server with a list in memory, which it writes with `serde_json` on each request.
//!
//!     plain ROWS
//!
//! prints `axum ADDRESS`, and ends when its input ends.

use axum::serve::ListenerExt;
use axum::{Json, Router, extract::State, routing::get};
use std::sync::Arc;

#[derive(serde::Serialize)]
struct Task {
    id: i64,
    title: String,
    done: bool,
}

#[tokio::main]
async fn main() {
    let rows = std::env::args().nth(1).and_then(|rows| rows.parse().ok()).expect("plain ROWS");
    let tasks: Vec<Task> = (1..=rows)
        .map(|id| Task { id, title: format!("Task number {id}, which is to be done"), done: id % 3 == 0 })
        .collect();
    let list = |State(tasks): State<Arc<Vec<Task>>>| async move { Json(tasks) };
    let router = Router::new().route("/tasks", get(list)).with_state(Arc::new(tasks));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    println!("axum {}", listener.local_addr().expect("an address"));
    let listener = listener.tap_io(|socket| {
        let _ = socket.set_nodelay(true);
    });
    tokio::spawn(async { axum::serve(listener, router).await });
    let _ = tokio::io::copy(&mut tokio::io::stdin(), &mut tokio::io::sink()).await;
}
