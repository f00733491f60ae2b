//! A real server of S3: moto, from Python's package index.

use super::{Ran, jird, records};
use crate::folder::{Folder, gzip};
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

/// Starts the server on a free port, and puts the files of a folder into the bucket `logs`. It ends when this ends.
const PROGRAM: &str = "
import os, sys, urllib.request
os.environ.update(AWS_ACCESS_KEY_ID='key', AWS_SECRET_ACCESS_KEY='secret')
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer('127.0.0.1', int(sys.argv[1]), verbose=False)
server.start()
url = 'http://127.0.0.1:' + sys.argv[1]
def put(path, body=b''):
    request = urllib.request.Request(url + path, data=body, method='PUT')
    request.add_header('Content-Type', 'application/octet-stream')
    request.add_header('Authorization', 'AWS4-HMAC-SHA256 Credential=key/20240101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0')
    urllib.request.urlopen(request).read()
put('/logs')
for folder, _, names in os.walk(sys.argv[2]):
    for name in names:
        path = os.path.join(folder, name)
        key = os.path.relpath(path, sys.argv[2])
        put('/logs/' + urllib.parse.quote(key), open(path, 'rb').read())
print('ready', flush=True)
sys.stdin.read()
";

struct Moto {
    child: Child,
    endpoint: String,
}

impl Moto {
    /// None if Python does not have it.
    fn start(folder: &Folder) -> Option<Self> {
        let python = std::env::var("JIRD_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let has = Command::new(&python).args(["-c", "import moto.server, flask"]).output();
        if !has.is_ok_and(|output| output.status.success()) {
            println!("skipped: moto of Python, which is a server of S3");
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(&python);
        command.args(["-W", "ignore", "-c", PROGRAM, &port.to_string()]).arg(&folder.0);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let mut said = String::new();
        if line != "ready\n" {
            let _ = child.kill();
            let _ = child.stderr.take().unwrap().read_to_string(&mut said);
        }
        assert_eq!(line, "ready\n", "{said}");
        // What it logs must not fill the pipe.
        let mut log = child.stderr.take().unwrap();
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        Some(Self { child, endpoint: format!("http://127.0.0.1:{port}") })
    }

    fn jird(&self, folder: &Folder, arguments: &[&str]) -> Ran {
        let variables = [
            ("AWS_ENDPOINT", self.endpoint.as_str()),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_ACCESS_KEY_ID", "key"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("AWS_REGION", "us-east-1"),
        ];
        jird(folder, &variables, arguments)
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Files of all formats, and folders of them.
fn files() -> Folder {
    let text = records(2500);
    let folder = Folder::new("s3").with("a.ndjson", &text).with("a.ndjson.gz", gzip(&text)).with("empty.ndjson", "");
    let lines: Vec<&str> = text.lines().collect();
    let folder = folder.with("array.json", format!("[{}]", lines.join(",\n"))).with("50% ü+&.ndjson", &text);
    for (to, more) in [("a.csv", &[][..]), ("a.parquet", &[]), ("a.arrow", &[]), ("a.db", &[])] {
        folder.fine(&[&["a.ndjson", to], more].concat());
    }
    let at = |path: &str, text: &str| {
        let path = folder.0.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    at("logs/2.ndjson", "{\"id\":2}\n");
    at("logs/10.ndjson", "{\"id\":10}\n");
    at("logs/deep/3.ndjson", "{\"id\":3}\n");
    at("logs/deep/.hidden.ndjson", "{\"id\":99}\n");
    at("logs/notes.txt", "none");
    let stored = folder.jird("ingest", &["store", "a.ndjson"], b"");
    assert!(stored.status.success());
    folder
}

#[test]
fn everything_in_a_bucket_is_read_like_files() {
    let folder = files();
    let Some(moto) = Moto::start(&folder) else { return };
    let both = |command: &str, before: &[&str], name: &str, after: &[&str]| {
        let url = format!("s3://logs/{name}");
        let local = jird(&folder, &[], &[&[command], before, &[name], after].concat());
        let remote = moto.jird(&folder, &[&[command], before, &[url.as_str()], after].concat());
        // Messages name the URL instead of the file.
        let remote =
            Ran { said: remote.said.replace("s3://logs/", ""), out: remote.out.replace("s3://logs/", ""), ..remote };
        assert_eq!(remote, local, "{command} {name}");
    };
    let sql = "select Level, count(*) as n, sum(Elapsed) as e, min(id) as first group by Level order by Level";
    let names =
        ["a.ndjson", "a.ndjson.gz", "array.json", "a.csv", "a.parquet", "a.arrow", "50% ü+&.ndjson", "empty.ndjson"];
    for name in names {
        if name != "empty.ndjson" {
            both("query", &[sql], name, &[]);
            both("query", &["select * where id = 1234"], name, &["--threads", "3"]);
        }
        both("describe", &[], name, &[]);
        both("convert", &[], name, &["-", "--to", "csv"]);
    }
    for name in ["a.ndjson", "a.ndjson.gz", "array.json"] {
        both("validate", &[], name, &[]);
        both("get", &["/0/id"], name, &[]);
        both("fmt", &["--minify"], name, &[]);
    }
    // Patterns and folders, in the order of their bytes.
    for name in ["logs/*.ndjson", "logs/**/*.ndjson", "logs/", "logs/{10,2}.ndjson", "logs/[0-9].ndjson", "logs/deep/"]
    {
        both("query", &["select id"], name, &[]);
    }
    let found = moto.jird(&folder, &["query", "select id", "s3://logs/logs/**/*.ndjson"]);
    assert_eq!(found.out, "{\"id\":10}\n{\"id\":2}\n{\"id\":99}\n{\"id\":3}\n");
    let found = moto.jird(&folder, &["convert", "s3://logs/logs/", "-", "--to", "ndjson"]);
    assert_eq!((found.out.as_str(), found.code), ("{\"id\":10}\n{\"id\":2}\n{\"id\":3}\n", 0), "{}", found.said);
    // Several, in the SQL.
    let joined = "select a.id, b.Level from 's3://logs/logs/2.ndjson' a join 's3://logs/a.parquet' b on a.id = b.id";
    assert_eq!(moto.jird(&folder, &["query", joined]).out, "{\"id\":2,\"Level\":\"Error\"}\n");
    // An event store.
    let events = "select id, Level where Level = 'Warn' and id < 300 order by id";
    both("query", &[events], "store", &[]);
    both("query", &[events, "--store"], "store", &[]);
    both("query", &["select count(*) as n", "--since", "1970-01-01", "--store"], "store", &[]);
    let columns = moto.jird(&folder, &["query", "select count(*) as n", "s3://logs/a.parquet", "--stats"]);
    assert_eq!(columns.code, 0, "{}", columns.said);
}

#[test]
fn what_is_not_in_a_bucket_is_an_error() {
    let folder = Folder::new("s3").with("a.ndjson", records(10)).with("a.db", "");
    folder.fine(&["a.ndjson", "b.db"]);
    let Some(moto) = Moto::start(&folder) else { return };
    for (url, words) in [
        ("s3://logs/b.ndjson", "there is no object with this key; a folder ends with a slash"),
        ("s3://logs/*.csv", "there is no object with this key"),
        ("s3://logs/none/", "no file below it has a name that ends in .ndjson, .jsonl or .json"),
        ("s3://other/a.ndjson", "there is no bucket other"),
        ("s3://other/*.ndjson", "there is no bucket other"),
        ("s3://other/", "there is no bucket other"),
        ("s3://logs/b.db", "a database is read from a file of this machine; copy it here first"),
    ] {
        let ran = moto.jird(&folder, &["query", "select count(*)", url]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{url}: {}", ran.said);
        assert!(ran.said.starts_with(&format!("jird: {url}: ")) && ran.said.contains(words), "{url}: {}", ran.said);
        let ran = moto.jird(&folder, &["validate", "--lines", url]);
        assert!(ran.code == 2 || url.contains(".db"), "{url}: {}", ran.said);
    }
    // With others, or without them.
    let skipped = ["query", "select count(*) as n", "s3://logs/a.ndjson", "s3://logs/b.ndjson", "--unreadable", "skip"];
    let ran = moto.jird(&folder, &skipped);
    assert_eq!((ran.code, ran.out.as_str()), (2, "{\"n\":10}\n"), "{}", ran.said);
    let plain = [("AWS_ENDPOINT", moto.endpoint.as_str())];
    let ran = jird(&folder, &plain, &["query", "select count(*)", "s3://logs/a.ndjson", "--remote-patience", "1"]);
    assert!(
        ran.code == 2 && ran.said.contains("AWS_ALLOW_HTTP=true") | ran.said.contains("credentials"),
        "{}",
        ran.said
    );
    // Without credentials, within bounds of time.
    let plain = [plain[0], ("AWS_ALLOW_HTTP", "true")];
    let ran = jird(&folder, &plain, &["query", "select count(*)", "s3://logs/a.ndjson", "--remote-patience", "1"]);
    assert_eq!(ran.code, 2, "{}", ran.said);
    assert!(ran.said.contains("AWS_ACCESS_KEY_ID"), "{}", ran.said);
}
