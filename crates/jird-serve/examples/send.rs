//! Sends the lines of a file to a running server, and tells how fast it took them.
//!
//! ```text
//! jird serve log --write --quiet &
//! cargo run --release -p jird-serve --example send -- 127.0.0.1:8082 events.ndjson 1000000 2
//! ```
//!
//! The file goes in batches of `BYTES` bytes. With `1`, each line goes alone, and with a last argument only that many
//! lines go, from the start again if the file has fewer.

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, file, bytes, connections, rest @ ..] = &arguments[..] else {
        return Err("send ADDRESS FILE BYTES CONNECTIONS [LINES]".into());
    };
    let text = std::fs::read(file)?;
    let mut batches = batches(&text, bytes.parse()?);
    if let Some(lines) = rest.first() {
        batches = batches.iter().copied().cycle().take(lines.parse()?).collect();
    }
    let (next, begun) = (AtomicUsize::new(0), Instant::now());
    let sent: u64 = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..connections.parse().unwrap_or(1)).map(|_| scope.spawn(|| send(address, &batches, &next))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum::<io::Result<u64>>()
    })?;
    let seconds = begun.elapsed().as_secs_f64();
    let requests = batches.len();
    #[expect(clippy::cast_precision_loss, reason = "rates for people")]
    let (megabytes, rate) = (sent as f64 / 1e6 / seconds, requests as f64 / seconds);
    writeln!(
        io::stdout(),
        "{requests} requests, {sent} bytes, {seconds:.3} s, {megabytes:.0} MB/s, {rate:.0} requests/s"
    )?;
    Ok(())
}

/// Whole lines, about this many bytes together.
fn batches(text: &[u8], bytes: usize) -> Vec<&[u8]> {
    let (mut batches, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let from = bytes.min(rest.len()) - 1;
        let end = memchr::memchr(b'\n', &rest[from..]).map_or(rest.len(), |at| from + at + 1);
        let (batch, after) = rest.split_at(end);
        batches.push(batch);
        rest = after;
    }
    batches
}

/// Sends what is next until there is nothing more. Returns the number of bytes.
fn send(address: &str, batches: &[&[u8]], next: &AtomicUsize) -> io::Result<u64> {
    let mut socket = TcpStream::connect(address)?;
    socket.set_nodelay(true)?;
    let (mut sent, mut request, mut answer) = (0, Vec::new(), [0; 4096]);
    while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
        request.clear();
        write!(
            request,
            "POST /ingest HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/x-ndjson\r\n\
             Content-Length: {}\r\n\r\n",
            batch.len()
        )?;
        request.extend_from_slice(batch);
        socket.write_all(&request)?;
        let len = socket.read(&mut answer)?;
        if !answer[..len].starts_with(b"HTTP/1.1 200 ") {
            return Err(io::Error::other(String::from_utf8_lossy(&answer[..len]).into_owned()));
        }
        sent += batch.len() as u64;
    }
    Ok(sent)
}
