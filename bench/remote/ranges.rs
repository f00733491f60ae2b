//! Reads an object in ranges: by the crate `object_store` alone, or as a query reads it. Counts its lines, so that the
//! bytes are used. `README.md` next to it says how it is run.
//!
//! ```text
//! ranges plain s3://bucket/events.ndjson 16     16 ranges at a time
//! ranges jird  s3://bucket/events.ndjson 2      2 threads that read
//! ranges scan  s3://bucket/events.ndjson 2      2 threads that check each record, and filter: Elapsed > 200
//! ranges scan  events.ndjson 2                  the same of a file
//! ```

use jird::hooks::lines::{Counting, LineReader, Part, ReadAt, newlines};
use jird::hooks::lines::{drive, ranges};
use jird::lines;
use jird::record::{Comparison, Literal, Predicate, Projection};
use jird_formats::remote::{Remote, RemoteFile, Remotes};
use object_store::aws::AmazonS3Builder;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt};
use std::error::Error;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// The length of a range, which is that of a query.
const RANGE_BYTES: u64 = 4 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, url, at_once] = &arguments[..] else { return Err("plain|jird|scan URL N".into()) };
    let at_once: u32 = at_once.parse()?;
    let begun = Instant::now();
    let (bytes, lines) = match mode.as_str() {
        "plain" => plain(url, at_once as usize)?,
        "jird" => jird(url, u64::from(at_once))?,
        _ if Path::new(url).exists() => {
            let file = File::open(url)?;
            scan(&file, file.metadata()?.len(), at_once as usize)?
        }
        _ => {
            let file = remote(url)?;
            scan(&file, file.len(), at_once as usize)?
        }
    };
    let seconds = begun.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, clippy::print_stdout, reason = "figures for people")]
    {
        println!("{mode}\t{bytes} bytes\t{lines} lines\t{seconds:.3} s\t{:.0} MB/s", bytes as f64 / 1e6 / seconds);
    }
    Ok(())
}

/// By `object_store`, with its defaults, on as many threads as there are cores.
fn plain(url: &str, at_once: usize) -> Result<(u64, u64), Box<dyn Error>> {
    let key = url.splitn(4, '/').nth(3).ok_or("no key")?;
    let (url, key) = (url.to_owned(), Key::parse(key)?);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async move {
        let store: Arc<dyn ObjectStore> = Arc::new(AmazonS3Builder::from_env().with_url(url).build()?);
        let size = store.head(&key).await?.size;
        let gate = Arc::new(tokio::sync::Semaphore::new(at_once));
        let mut tasks = Vec::new();
        for start in (0..size).step_by(RANGE_BYTES as usize) {
            let (store, key, gate) = (Arc::clone(&store), key.clone(), Arc::clone(&gate));
            tasks.push(tokio::spawn(async move {
                let _one = gate.acquire_owned().await;
                let bytes = store.get_range(&key, start..size.min(start + RANGE_BYTES)).await?;
                Ok::<_, object_store::Error>((bytes.len() as u64, newlines(&bytes)))
            }));
        }
        let mut sum = (0, 0);
        for task in tasks {
            let (bytes, lines) = task.await??;
            sum = (sum.0 + bytes, sum.1 + lines);
        }
        Ok(sum)
    })
}

fn remote(url: &str) -> Result<RemoteFile, Box<dyn Error>> {
    match Remotes::default().open(url)? {
        Remote::File(file) => Ok(file),
        Remote::Whole(_) => Err("the server sends no ranges".into()),
    }
}

/// As a query does that filters: threads take 2 MB each, check every record, and find those that match. Returns how many
/// bytes there are, and how many records match.
fn scan(file: &dyn ReadAt, len: u64, threads: usize) -> Result<(u64, u64), Box<dyn Error>> {
    let projection = Projection::new(&[jird::Path::root().key("Elapsed")]);
    let literal = Literal::Number("200".into());
    let filter = Predicate::Compare { slot: 0, op: Comparison::Gt, literal };
    let (mut matched, mut result) = (0, Ok(()));
    drive(
        ranges(0..len, 2 << 20).map(|range| (0, range)),
        threads,
        || LineReader::new(lines::Options::default()),
        |reader: &mut LineReader, range| {
            let mut found = 0_u64;
            let read = reader.read::<std::io::Error>(
                Part::Range(file, range),
                Counting::default(),
                (&projection, Some(&filter)),
                |_, _| {
                    found += 1;
                    ControlFlow::Continue(())
                },
                |_, _| ControlFlow::Break(()),
                |_, _| Ok(ControlFlow::Continue(())),
            );
            ((found, read), reader.lines())
        },
        |(found, read), _| {
            matched += found;
            result = read.map(drop);
            if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        },
    );
    result?;
    Ok((len, matched))
}

/// Reads as a query does: each thread reads its part from one end to the other.
fn jird(url: &str, threads: u64) -> Result<(u64, u64), Box<dyn Error>> {
    let file = remote(url)?;
    let part = file.len().div_ceil(threads.max(1));
    let read = |from: u64| {
        let (mut at, end) = (from, file.len().min(from + part));
        let (mut buffer, mut lines) = (vec![0; 256 << 10], 0);
        while at < end {
            let wanted = buffer.len().min((end - at) as usize);
            let read = file.read_at(&mut buffer[..wanted], at)?;
            lines += newlines(&buffer[..read]);
            at += read as u64;
        }
        Ok::<_, std::io::Error>((at - from, lines))
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|number| scope.spawn(move || read(number * part))).collect();
        let mut sum = (0, 0);
        for thread in threads {
            let (bytes, lines) = thread.join().map_err(|_| "a thread has failed")??;
            sum = (sum.0 + bytes, sum.1 + lines);
        }
        Ok(sum)
    })
}
