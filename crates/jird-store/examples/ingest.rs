//! Ingests NDJSON into a new store, and prints how quickly, how much memory it took, how large the store is, and how
//! quickly it is read again.
//!
//!     cargo run --release -p jird-store --example ingest -- events.ndjson STORE [none|lz4|zstd]
//!         [batch|interval|none] [uncompacted]
#![expect(clippy::print_stdout, reason = "its purpose")]
#![expect(clippy::cast_precision_loss, reason = "figures for people")]

use jird::lines::{Check, Options, Scanner};
use jird::record::Projection;
use jird_store::{Batch, Compression, Extent, Settings, Store, Sync, Window, Writer, WriterOptions};
use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

const PIECE_BYTES: usize = 1 << 20;

/// Hands out pieces of whole lines, with their numbers.
struct Pieces {
    input: BufReader<File>,
    next: u64,
    bytes: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, store, rest @ ..] = &arguments[..] else { return Err("give an input and a store".into()) };
    let compression = rest.first().map_or(Some(Compression::None), |name| Compression::of_name(name));
    let sync = match rest.get(1).map(String::as_str) {
        Some("batch") => Sync::Batch,
        Some("none") => Sync::None,
        _ => Sync::Interval(Duration::from_secs(1)),
    };
    let settings = Settings { compression: compression.ok_or("no such compression")?, ..Settings::default() };
    let store = Store::create(Path::new(store), &settings)?;
    let begun = Instant::now();
    let writer = store.writer(&WriterOptions { sync, ..WriterOptions::default() })?;
    let input_bytes = ingest(Path::new(input), &writer, &settings)?;
    let appended = begun.elapsed();
    let totals = writer.finish()?;
    let finished = begun.elapsed();
    let speed = |bytes: u64, time: Duration| bytes as f64 / 1e6 / time.as_secs_f64();
    println!(
        "{} events, {:.1} MB, minified {:.1} MB, {} spans",
        totals.events,
        input_bytes as f64 / 1e6,
        totals.bytes as f64 / 1e6,
        totals.spans
    );
    println!("appended and committed in {appended:.2?}, {:.0} MB/s", speed(input_bytes, appended));
    println!("finished in {finished:.2?}, {:.0} MB/s; resident at most {}", speed(input_bytes, finished), resident());
    sizes(&store, totals.bytes)?;
    if rest.get(2).is_none_or(|word| word != "uncompacted") {
        let begun = Instant::now();
        let compacted = store.compact(Extent::Full)?;
        println!("compacted {} spans into {} in {:.2?}", compacted.merged, compacted.made, begun.elapsed());
        sizes(&store, totals.bytes)?;
    }
    read(&store)
}

fn ingest(input: &Path, writer: &Writer, settings: &Settings) -> Result<u64, Box<dyn Error>> {
    let pieces =
        Mutex::new(Pieces { input: BufReader::with_capacity(64 << 10, File::open(input)?), next: 0, bytes: 0 });
    let turn = (Mutex::new(0), Condvar::new());
    std::thread::scope(|scope| {
        let produce = || produce(&pieces, &turn, writer, settings).map_err(|error| error.to_string());
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(produce)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| Err("a producer panicked".into())))
    })?;
    Ok(pieces.into_inner()?.bytes)
}

/// Prepares pieces while other producers do, and appends each in its turn.
fn produce(
    pieces: &Mutex<Pieces>,
    turn: &(Mutex<u64>, Condvar),
    writer: &Writer,
    settings: &Settings,
) -> Result<(), Box<dyn Error>> {
    let mut lines = Vec::new();
    loop {
        let number = pieces.lock().map_err(|error| error.to_string())?.take(&mut lines)?;
        if lines.is_empty() {
            return Ok(());
        }
        let batch = Batch::prepare(&lines, settings, &mut |offset, _, error| panic!("{offset}: {error}"));
        let mut next = turn.0.lock().map_err(|error| error.to_string())?;
        while *next != number {
            next = turn.1.wait(next).map_err(|error| error.to_string())?;
        }
        let ticket = writer.append(batch)?;
        *next += 1;
        turn.1.notify_all();
        drop(next);
        writer.commit(ticket)?;
    }
}

impl Pieces {
    fn take(&mut self, lines: &mut Vec<u8>) -> std::io::Result<u64> {
        lines.resize(PIECE_BYTES, 0);
        let mut filled = 0;
        while filled < PIECE_BYTES {
            match self.input.read(&mut lines[filled..])? {
                0 => break,
                read => filled += read,
            }
        }
        lines.truncate(filled);
        if lines.last().is_some_and(|last| *last != b'\n') {
            self.input.read_until(b'\n', lines)?;
        }
        self.bytes += lines.len() as u64;
        self.next += 1;
        Ok(self.next - 1)
    }
}

fn sizes(store: &Store, minified: u64) -> Result<(), Box<dyn Error>> {
    let (mut disk, mut index) = (0, 0);
    for entry in std::fs::read_dir(store.path())? {
        let entry = entry?;
        let bytes = entry.metadata()?.len();
        disk += bytes;
        if entry.path().extension().is_some_and(|end| end == "index") {
            index += bytes;
        }
    }
    println!(
        "on disk {:.1} MB, {:.3} of the minified events; indexes {:.2} %",
        disk as f64 / 1e6,
        disk as f64 / minified as f64,
        100.0 * index as f64 / minified as f64
    );
    Ok(())
}

fn read(store: &Store) -> Result<(), Box<dyn Error>> {
    for _ in 0..2 {
        let begun = Instant::now();
        let snapshot = store.snapshot()?;
        let text = snapshot.text(Window::ALL)?;
        let opened = begun.elapsed();
        let mut buffer = Vec::new();
        for block in text.blocks() {
            text.read(block, None, &mut buffer)?;
        }
        let read = begun.elapsed();
        println!(
            "opened in {opened:.2?}, {} blocks; read in {read:.2?}, {:.0} MB/s",
            text.blocks().count(),
            text.bytes() as f64 / 1e6 / read.as_secs_f64()
        );
        let begun = Instant::now();
        let mut scanner = Scanner::new(Options { check: Check::Trusted, ..Options::default() });
        let projection = Projection::new(&[jird::Path::root().key("Elapsed")]);
        let mut found = 0_u64;
        for block in text.blocks() {
            text.read(block, None, &mut buffer)?;
            scanner.scan(&buffer, &projection, None, |row| {
                found += u64::from(!row.field(0).is_null());
                ControlFlow::Continue(())
            })?;
        }
        let time = begun.elapsed();
        println!(
            "read and scanned on one core in {time:.2?}, {:.0} MB/s; {found} have the field",
            text.bytes() as f64 / 1e6 / time.as_secs_f64()
        );
        if !snapshot.damage().is_empty() {
            return Err(format!("{:?}", snapshot.damage()).into());
        }
    }
    Ok(())
}

fn resident() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("unknown").to_owned();
    line.trim_start_matches("VmHWM:").trim().to_owned()
}
