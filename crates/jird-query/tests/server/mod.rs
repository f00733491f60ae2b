//! A web server for files of a folder, which sends ranges as it should, or plays a trick. It can be a proxy for any host,
//! and its folders can be buckets of S3.
#![allow(dead_code, reason = "several tests share it, and none needs everything")]

use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// What a server does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trick {
    None,
    /// Accepts the request, and says nothing.
    Silent,
    /// Sends half of each body, and then nothing.
    Stalls,
    /// Sends a byte of a body now and then.
    Drips,
    /// Closes the connection in the middle of each body.
    CutsOff,
    /// Closes the connection in the middle of this many bodies; the next are whole.
    CutsOffOnce(u64),
    /// The same, and sends what comes after that from the start, whatever range it was asked for.
    CutsOffThenWhole(u64),
    /// Sends everything, whatever range it was asked for.
    IgnoresRanges,
    /// The same, and closes the connection in the middle.
    IgnoresRangesAndCutsOff,
    /// Sends everything, and does not say how long it is.
    NoLength,
    /// Says that it sends another range, and sends that.
    OtherRange,
    /// Says that it sends the range, and sends more.
    More,
    /// Says that it sends the range, and sends the bytes of less.
    Less,
    /// Says no range with the right bytes.
    NoRange,
    /// Has another tag for each answer after the first.
    OtherTag,
    /// Has one byte more in each answer after the first.
    Grows,
    /// Answers this many times with an error, and then well.
    Fails(u64),
    /// Answers everything with this status.
    Status(u16),
    /// Sends the client in a circle.
    Circle,
    /// Sends no HTTP.
    Noise,
    /// Sends bytes without end.
    Endless,
}

/// A server on a port of its own, as long as it lives.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    folder: PathBuf,
    trick: Trick,
    /// How many requests came, and how many bytes of bodies were sent.
    requests: AtomicU64,
    sent: AtomicU64,
    ended: AtomicBool,
}

/// What was asked for.
struct Request {
    method: String,
    path: String,
    range: Option<(u64, u64)>,
}

impl Server {
    pub(crate) fn new(folder: &Path, trick: Trick) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        let shared = Arc::new(Shared {
            folder: folder.to_owned(),
            trick,
            requests: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            ended: AtomicBool::new(false),
        });
        let own = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if own.ended.load(Relaxed) {
                    return;
                }
                let (Ok(stream), own) = (stream, Arc::clone(&own)) else { continue };
                // It fails when the client goes away.
                thread::spawn(move || own.serve(stream));
            }
        });
        Self { address, shared }
    }

    /// The URL of a file.
    pub(crate) fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.address)
    }

    /// How many requests came.
    pub(crate) fn requests(&self) -> u64 {
        self.shared.requests.load(Relaxed)
    }

    /// How many bytes of bodies were sent.
    pub(crate) fn sent(&self) -> u64 {
        self.shared.sent.load(Relaxed)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.ended.store(true, Relaxed);
        // The listener wakes up.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut out = stream;
        while let Some(request) = Request::read(&mut reader)? {
            let number = self.requests.fetch_add(1, Relaxed);
            self.answer(&request, number, &mut out)?;
        }
        Ok(())
    }

    fn answer(&self, request: &Request, number: u64, out: &mut TcpStream) -> io::Result<()> {
        match self.trick {
            Trick::Silent => return self.wait(),
            Trick::Noise => return out.write_all(b"220 mail.example.org ESMTP\r\n").and_then(|()| closed()),
            Trick::Status(status) => return empty(out, status),
            Trick::Fails(times) if number < times => return empty(out, 503),
            Trick::Circle => {
                return write!(out, "HTTP/1.1 302 Found\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n", request.path);
            }
            _ => {}
        }
        // A client that takes it for a proxy names a host, too.
        let path = request
            .path
            .strip_prefix("http://")
            .map_or(&*request.path, |rest| rest.split_once('/').unwrap_or_default().1);
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let path = unescaped(path.trim_start_matches('/'));
        if query.contains("list-type=2") {
            return self.list(&path, query, out);
        }
        let Ok(mut whole) = fs::read(self.folder.join(path)) else { return empty(out, 404) };
        if self.trick == Trick::Grows && number > 0 {
            whole.push(b'\n');
        }
        let ignores = match self.trick {
            Trick::IgnoresRanges | Trick::IgnoresRangesAndCutsOff | Trick::NoLength | Trick::Endless => true,
            Trick::CutsOffThenWhole(times) => number > times,
            _ => false,
        };
        let size = whole.len() as u64;
        let asked = request.range.filter(|_| !ignores);
        if asked.is_some_and(|(start, _)| start >= size) {
            return empty(out, 416);
        }
        let mut range = asked.map_or(0..size, |(start, last)| start..size.min(last + 1));
        if self.trick == Trick::OtherRange && range.end - range.start > 1 {
            range.start += 1;
        }
        let body = &whole[range.start as usize..range.end as usize];
        let status = if asked.is_some() { "206 Partial Content" } else { "200 OK" };
        let tag = if self.trick == Trick::OtherTag { number } else { 0 };
        let mut head =
            format!("HTTP/1.1 {status}\r\nETag: \"{tag}\"\r\nLast-Modified: {DATE}\r\nAccept-Ranges: bytes\r\n");
        if asked.is_some() && self.trick != Trick::NoRange {
            let _ = write!(head, "Content-Range: bytes {}-{}/{size}\r\n", range.start, range.end - 1);
        }
        if self.trick == Trick::NoLength || self.trick == Trick::Endless {
            head += "Transfer-Encoding: chunked\r\n";
        } else {
            let more = if self.trick == Trick::More { 7 } else { 0 };
            let less = usize::from(self.trick == Trick::Less);
            let _ = write!(head, "Content-Length: {}\r\n", body.len() + more - less);
        }
        out.write_all(format!("{head}\r\n").as_bytes())?;
        if request.method == "HEAD" {
            return Ok(());
        }
        self.body(body, number, out)
    }

    fn body(&self, body: &[u8], number: u64, out: &mut TcpStream) -> io::Result<()> {
        self.sent.fetch_add(body.len() as u64, Relaxed);
        let half = &body[..body.len() / 2];
        match self.trick {
            Trick::Stalls => out.write_all(half).and_then(|()| self.wait()),
            Trick::CutsOff | Trick::IgnoresRangesAndCutsOff => out.write_all(half).and_then(|()| closed()),
            Trick::CutsOffOnce(times) | Trick::CutsOffThenWhole(times) if (1..=times).contains(&number) => {
                out.write_all(half).and_then(|()| closed())
            }
            Trick::Drips => {
                for byte in body {
                    out.write_all(&[*byte])?;
                    thread::sleep(Duration::from_millis(50));
                    if self.ended.load(Relaxed) {
                        return closed();
                    }
                }
                Ok(())
            }
            Trick::More => out.write_all(body).and_then(|()| out.write_all(b"{}\n{}\n\n")),
            Trick::Less => out.write_all(&body[..body.len() - 1]),
            Trick::NoLength => {
                write!(out, "{:x}\r\n", body.len())?;
                out.write_all(body)?;
                out.write_all(b"\r\n0\r\n\r\n")
            }
            Trick::Endless => loop {
                write!(out, "{:x}\r\n", body.len())?;
                out.write_all(body)?;
                out.write_all(b"\r\n")?;
            },
            _ => out.write_all(body),
        }
    }

    /// Lists a bucket, as S3 does, on one page.
    fn list(&self, bucket: &str, query: &str, out: &mut TcpStream) -> io::Result<()> {
        let value = |name: &str| {
            let found = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
            unescaped(found.unwrap_or_default())
        };
        let (prefix, delimiter) = (value("prefix"), value("delimiter"));
        let root = self.folder.join(bucket);
        let (mut keys, mut folders) = (Vec::new(), vec![root.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder)?.filter_map(Result::ok) {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if let Ok(key) = path.strip_prefix(&root) {
                    keys.push((key.to_string_lossy().into_owned(), entry.metadata()?.len()));
                }
            }
        }
        keys.sort();
        let mut xml = "<ListBucketResult><IsTruncated>false</IsTruncated>".to_owned();
        for (key, size) in keys.iter().filter(|(key, _)| key.starts_with(&prefix)) {
            if delimiter.is_empty() || !key[prefix.len()..].contains(&delimiter) {
                let _ = write!(
                    xml,
                    "<Contents><Key>{key}</Key><LastModified>2024-01-01T00:00:00.000Z</LastModified>\
                     <ETag>\"0\"</ETag><Size>{size}</Size></Contents>"
                );
            }
        }
        xml += "</ListBucketResult>";
        write!(out, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{xml}", xml.len())
    }

    /// Waits as long as the server lives.
    fn wait(&self) -> io::Result<()> {
        while !self.ended.load(Relaxed) {
            thread::sleep(Duration::from_millis(20));
        }
        closed()
    }
}

/// When every file was changed last.
const DATE: &str = "Mon, 01 Jan 2024 00:00:00 GMT";

/// A text of a URL, without escapes.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let escape = if byte == b'%' { after.get(..2) } else { None };
        let code = escape.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(code.unwrap_or(byte));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn closed() -> io::Result<()> {
    Err(io::ErrorKind::ConnectionAborted.into())
}

fn empty(out: &mut TcpStream, status: u16) -> io::Result<()> {
    write!(out, "HTTP/1.1 {status} Status\r\nContent-Length: 0\r\n\r\n")
}

impl Request {
    /// The next request; none at the end of the connection.
    fn read(reader: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let mut words = line.split_whitespace().map(str::to_owned);
        let (Some(method), Some(path)) = (words.next(), words.next()) else { return Ok(None) };
        let mut range = None;
        loop {
            let mut header = String::new();
            reader.read_line(&mut header)?;
            let header = header.trim_end();
            if header.is_empty() {
                return Ok(Some(Self { method, path, range }));
            }
            if let Some((name, value)) = header.split_once(':')
                && name.eq_ignore_ascii_case("range")
            {
                let bounds = value.trim().strip_prefix("bytes=").and_then(|bounds| bounds.split_once('-'));
                range = bounds.and_then(|(start, last)| Some((start.parse().ok()?, last.parse().ok()?)));
            }
        }
    }
}
