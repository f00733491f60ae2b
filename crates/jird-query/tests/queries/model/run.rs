//! jird's answer beside the model's.

use super::eval::Refused;
use super::query::Query;
use super::rows::{Cell, are_rows};
use super::value::{Value, records};
use jird_query::{Check, ErrorKind, From, OnError, Options, Report};
use std::fs;
use std::path::{Path, PathBuf};

/// How a query is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) check: Check,
    pub(crate) threads: usize,
    /// None for what is usual.
    pub(crate) chunk_bytes: Option<u64>,
}

/// All ways that a query is run: what is searched in raw bytes before it is read, and what is not; on few threads and on many;
/// with borders everywhere, somewhere, and nowhere.
pub(crate) fn ways() -> Vec<Way> {
    let mut ways = Vec::new();
    for check in [Check::All, Check::Touched, Check::Trusted] {
        for threads in [1, 2, 5] {
            for chunk_bytes in [Some(1), Some(61), Some(500), None] {
                ways.push(Way { check, threads, chunk_bytes });
            }
        }
    }
    ways
}

/// What a query that was checked was like.
pub(crate) struct Checked {
    /// None if it was refused.
    pub(crate) rows: Option<usize>,
    /// Bytes that were searched for literals before records were read.
    pub(crate) searched_bytes: u64,
}

/// A folder of the test's own, which goes away with it.
pub(crate) struct Folder {
    path: PathBuf,
    /// The files that make up the stream.
    files: Vec<String>,
}

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("queries-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder can be made");
        Self { path, files: Vec::new() }
    }

    /// Makes these texts the stream, each a file.
    pub(crate) fn hold(&mut self, texts: &[&str]) {
        let name = |at| self.path.join(format!("{at}.ndjson"));
        self.files = (0..texts.len()).map(|at| name(at).to_string_lossy().into_owned()).collect();
        for (file, text) in self.files.iter().zip(texts) {
            fs::write(file, text).expect("a file can be written");
        }
    }

    /// Makes a file somewhere else the stream.
    pub(crate) fn look_at(&mut self, file: &Path) {
        self.files = vec![file.to_string_lossy().into_owned()];
    }

    /// What a query prints, and what it says it has done.
    pub(crate) fn run(&self, sql: &str, way: Way) -> Result<(String, Report), jird_query::Error> {
        let Way { check, threads, chunk_bytes } = way;
        let usual = Options::default().chunk_bytes;
        self.run_as(sql, Options { check, threads, chunk_bytes: chunk_bytes.unwrap_or(usual), ..Options::default() })
    }

    /// [`run`](Self::run) that does not stop at a bad record.
    pub(crate) fn run_passing(&self, sql: &str, on_error: OnError) -> Result<(String, Report), jird_query::Error> {
        self.run_as(sql, Options { on_error, ..Options::default() })
    }

    fn run_as(&self, sql: &str, options: Options) -> Result<(String, Report), jird_query::Error> {
        let options = Options { from: From::Ndjson, ..options };
        let (mut out, mut report) = (Vec::new(), Report::default());
        jird_query::Query::new(sql, self.files.clone(), options).run(&mut out, &mut report)?;
        Ok((String::from_utf8(out).expect("JSON is UTF-8"), report))
    }

    /// Runs a query in each of these ways. Its answer must be the model's.
    #[track_caller]
    pub(crate) fn check(&self, query: &Query, input: &[Value], ways: &[Way], seed: u64) -> Checked {
        let sql = query.to_string();
        let expected = query.of(input);
        let rows = expected.as_ref().ok().map(Vec::len);
        let mut searched_bytes = 0;
        for way in ways {
            let found = self.run(&sql, *way);
            let same = match (&expected, &found) {
                (Ok(rows), Ok((found, _))) => are_rows(rows, records(found), query.is_ordered()),
                (Err(Refused), Err(error)) => matches!(error.kind(), ErrorKind::Data | ErrorKind::Sql),
                _ => false,
            };
            assert!(same, "{}", Difference { seed, sql: &sql, way: *way, input: &self.text(), expected, found });
            searched_bytes += found.map_or(0, |(_, report)| report.searched_bytes);
        }
        Checked { rows, searched_bytes }
    }

    fn text(&self) -> String {
        let texts: Vec<_> =
            self.files.iter().map(|file| fs::read_to_string(file).expect("the file is there")).collect();
        texts.join("--\n")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// What somebody wants to see who looks for the mistake.
struct Difference<'a, E> {
    seed: u64,
    sql: &'a str,
    way: Way,
    input: &'a str,
    expected: Result<Vec<Vec<Cell>>, E>,
    found: Result<(String, Report), jird_query::Error>,
}

impl<E> std::fmt::Display for Difference<'_, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const SHOWN: usize = 4000;
        let input: String = self.input.chars().take(SHOWN).collect();
        writeln!(f, "seed {}, {:?}\n{}\nof\n{input}\nmust give", self.seed, self.way, self.sql)?;
        match &self.expected {
            Ok(rows) => rows.iter().try_for_each(|row| writeln!(f, "  {row:?}"))?,
            Err(_) => writeln!(f, "  an error: the column has no type for it")?,
        }
        match &self.found {
            Ok((text, report)) => writeln!(f, "and gives\n{text}having searched for {:?}", report.literals),
            Err(error) => writeln!(f, "and gives\n  {error}"),
        }
    }
}
