//! jird's answer, compared with the model's.

use super::eval::Refused;
use super::query::Query;
use super::rows::{Cell, are_rows};
use super::sql::file_mark;
use super::stores::Plan;
use super::tables::Scope;
use super::value::{Value, records};
use crate::dice::Random;
use flate2::Compression;
use flate2::write::GzEncoder;
use jird_query::{Check, ErrorKind, FileFormat, OnError, Options, Report};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::{fs, thread};

/// What the files of the stream are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Lines, which any thread can read anywhere.
    Lines,
    Gzip,
    /// An array of the records.
    Array,
    /// A pipe, which can be read only once.
    Pipe,
    /// An event store, made as the folder's plan says.
    Store,
    /// Lines that a web server sends, in blocks of this many bytes.
    #[cfg(feature = "remote")]
    Remote(u64),
    /// An event store whose files a web server sends.
    #[cfg(feature = "remote")]
    RemoteStore,
}

/// How a query is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) form: Form,
    pub(crate) check: Check,
    pub(crate) threads: usize,
    /// None for what is usual.
    pub(crate) chunk_bytes: Option<u64>,
}

/// All ways that a query is run: what is searched in raw bytes before it is read, and what is not; on few threads and on many;
/// with borders everywhere, somewhere, and nowhere; from files that can be read anywhere, and from others.
pub(crate) fn ways() -> Vec<Way> {
    let mut ways = Vec::new();
    for check in [Check::All, Check::Touched, Check::Trusted] {
        for chunk_bytes in [Some(1), Some(61), Some(500), None] {
            ways.extend([1, 2, 5].map(|threads| Way { form: Form::Lines, check, threads, chunk_bytes }));
        }
        for form in [Form::Gzip, Form::Array, Form::Pipe] {
            ways.push(Way { form, check, threads: 1, chunk_bytes: Some(61) });
            ways.push(Way { form, check, threads: 5, chunk_bytes: None });
            ways.push(Way { form, check, threads: 3, chunk_bytes: Some(61) });
        }
    }
    #[cfg(feature = "remote")]
    for (block_bytes, threads, chunk_bytes) in
        [(7, 3, Some(61)), (100, 5, Some(1)), (1000, 2, None), (4 << 20, 1, None)]
    {
        ways.push(Way { form: Form::Remote(block_bytes), check: Check::All, threads, chunk_bytes });
    }
    ways
}

/// All ways that a query of event stores is run: on few threads and on many, the newest events first or all of them.
pub(crate) fn ways_of_stores() -> Vec<Way> {
    let chunks = [Some(1), Some(500), None];
    let of = |chunk_bytes| [1, 2, 5].map(|threads| Way { form: Form::Store, check: Check::All, threads, chunk_bytes });
    #[cfg_attr(not(feature = "remote"), expect(unused_mut, reason = "these are all"))]
    let mut ways: Vec<_> = chunks.into_iter().flat_map(of).collect();
    #[cfg(feature = "remote")]
    ways.push(Way { form: Form::RemoteStore, check: Check::All, threads: 2, chunk_bytes: Some(500) });
    ways
}

/// What a query that was checked was like.
pub(crate) struct Checked {
    /// None if it was refused.
    pub(crate) rows: Option<usize>,
    /// Bytes that were searched for literals before records were read.
    pub(crate) searched_bytes: u64,
    /// The number of blocks that indexes of event stores ruled out.
    pub(crate) skipped_blocks: u64,
    /// Blocks of event stores that columns answered.
    pub(crate) answered_blocks: u64,
}

/// A folder of the test's own, which goes away with it.
pub(crate) struct Folder {
    path: PathBuf,
    /// The files that make up the stream.
    files: Vec<String>,
    /// The same events as stores, and how they were made.
    stores: Vec<String>,
    plan: Option<Plan>,
    #[cfg(feature = "remote")]
    server: crate::server::Server,
}

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("queries-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder can be made");
        #[cfg(feature = "remote")]
        let server = crate::server::Server::new(&path, crate::server::Trick::None);
        Self {
            path,
            files: Vec::new(),
            stores: Vec::new(),
            plan: None,
            #[cfg(feature = "remote")]
            server,
        }
    }

    /// Makes these texts the stream, each a file.
    pub(crate) fn hold(&mut self, texts: &[&str]) {
        let name = |at| self.path.join(format!("{at}.ndjson"));
        self.files = (0..texts.len()).map(|at| name(at).to_string_lossy().into_owned()).collect();
        for (file, text) in self.files.iter().zip(texts) {
            fs::write(file, text).expect("a file can be written");
        }
    }

    /// Makes stores of the files, one of each.
    pub(crate) fn store(&mut self, random: &mut Random, plan: Plan) {
        self.stores = self.files.iter().map(|file| format!("{file}.store")).collect();
        for (file, store) in self.files.iter().zip(&self.stores) {
            let _ = fs::remove_dir_all(store);
            plan.make(random, Path::new(store), &read(file));
        }
        self.plan = Some(plan);
    }

    /// The files that make up the stream.
    pub(crate) fn files(&self) -> &[String] {
        &self.files
    }

    /// Makes a file somewhere else the stream.
    pub(crate) fn look_at(&mut self, file: &Path) {
        self.files = vec![file.to_string_lossy().into_owned()];
    }

    /// What a query prints, and what it says it has done.
    pub(crate) fn run(&self, sql: &str, way: Way) -> Result<(String, Report), jird_query::Error> {
        let Way { form, check, threads, chunk_bytes } = way;
        let usual = Options::default().chunk_bytes;
        // The names tell the array from the files of lines that the query itself names.
        let from = if form == Form::Array { None } else { Some(FileFormat::Ndjson) };
        let chunk_bytes = chunk_bytes.unwrap_or(usual);
        let options = Options { from, check, threads, chunk_bytes, ..Options::default() };
        match form {
            Form::Lines => answer(sql, self.files.clone(), options),
            Form::Gzip => answer(sql, self.rewritten("gz", gzipped), options),
            Form::Array => answer(sql, self.rewritten("json", array), options),
            Form::Pipe => self.answer_of_pipes(sql, options),
            Form::Store => {
                let window = self.plan.as_ref().map(|plan| plan.window).unwrap_or_default();
                answer(sql, self.stores.clone(), Options { from: None, window, ..options })
            }
            #[cfg(feature = "remote")]
            Form::Remote(block_bytes) => {
                let how = jird_formats::remote::RemoteOptions { block_bytes, ..Default::default() };
                answer(sql, self.urls(way), Options { remotes: jird_query::Remotes::new(how), ..options })
            }
            #[cfg(feature = "remote")]
            Form::RemoteStore => {
                let window = self.plan.as_ref().map(|plan| plan.window).unwrap_or_default();
                answer(sql, self.urls(way), Options { from: None, window, ..options })
            }
        }
    }

    /// [`run`](Self::run) that does not stop at a bad record.
    pub(crate) fn run_passing(&self, sql: &str, on_error: OnError) -> Result<(String, Report), jird_query::Error> {
        answer(sql, self.files.clone(), Options { from: Some(FileFormat::Ndjson), on_error, ..Options::default() })
    }

    /// What is read in this way, as the query names it.
    fn names(&self, way: Way) -> Vec<String> {
        match way.form {
            Form::Store => self.stores.clone(),
            #[cfg(feature = "remote")]
            Form::Remote(_) | Form::RemoteStore => self.urls(way),
            _ => self.files.clone(),
        }
    }

    #[cfg(feature = "remote")]
    fn urls(&self, way: Way) -> Vec<String> {
        let names = if way.form == Form::RemoteStore { &self.stores } else { &self.files };
        let url = |name: &String| {
            let path = Path::new(name).strip_prefix(&self.path).expect("it is in the folder");
            self.server.url(&path.to_string_lossy())
        };
        names.iter().map(url).collect()
    }

    /// The files in another form, next to them.
    fn rewritten(&self, extension: &str, rewrite: fn(&str) -> Vec<u8>) -> Vec<String> {
        let one = |file: &String| {
            let name = format!("{file}.{extension}");
            fs::write(&name, rewrite(&read(file))).expect("a file can be written");
            name
        };
        self.files.iter().map(one).collect()
    }

    fn answer_of_pipes(&self, sql: &str, options: Options) -> Result<(String, Report), jird_query::Error> {
        thread::scope(|scope| {
            let mut names = Vec::new();
            let (mut readers, mut writers) = (Vec::new(), Vec::new());
            for file in &self.files {
                let (reader, mut writer) = io::pipe().expect("a pipe can be made");
                // It fails if the query does not read to the end.
                writers.push(scope.spawn(move || writer.write_all(read(file).as_bytes())));
                names.push(format!("/dev/fd/{}", reader.as_raw_fd()));
                readers.push(reader);
            }
            let answer = answer(sql, names, options);
            drop(readers);
            // Joined, because detaching a thread that is about to end may crash (bug 19951 of glibc).
            writers.into_iter().for_each(|writer| drop(writer.join().expect("it writes, or fails")));
            answer
        })
    }

    /// Runs a query in each of these ways. Its answer must be the model's.
    #[track_caller]
    pub(crate) fn check(&self, query: &Query, input: &[Vec<Value>], ways: &[Way], seed: u64) -> Checked {
        let expected = query.of(&Scope::new(input));
        let rows = expected.as_ref().ok().map(Vec::len);
        let (mut searched_bytes, mut skipped_blocks, mut answered_blocks) = (0, 0, 0);
        for way in ways {
            let files = self.names(*way);
            let files = files.iter().enumerate();
            let sql = files.fold(query.to_string(), |sql, (at, file)| sql.replace(&file_mark(at), file));
            let found = self.run(&sql, *way);
            let same = match (&expected, &found) {
                (Ok(rows), Ok((found, _))) => are_rows(rows, records(found), query.is_ordered()),
                (Err(Refused), Err(error)) => matches!(error.kind(), ErrorKind::Data | ErrorKind::Sql),
                _ => false,
            };
            let plan = self.plan.as_ref();
            assert!(same, "{}", Difference { seed, sql: &sql, way: *way, plan, input: &self.text(), expected, found });
            if let Ok((_, report)) = found {
                searched_bytes += report.searched_bytes;
                skipped_blocks += skipped(&report);
                answered_blocks += answered(&report);
            }
        }
        Checked { rows, searched_bytes, skipped_blocks, answered_blocks }
    }

    fn text(&self) -> String {
        self.files.iter().map(|file| read(file)).collect::<Vec<_>>().join("--\n")
    }
}

fn read(file: &str) -> String {
    fs::read_to_string(file).expect("the file is there")
}

/// How many blocks of event stores were not read, as `--stats` says.
fn skipped(report: &Report) -> u64 {
    let said = report.to_string();
    let of_store = |line: &str| {
        let words: Vec<_> = line.strip_prefix("store ")?.split_whitespace().collect();
        let all = words.iter().position(|word| *word == "blocks")?;
        let number = |at: usize| words[at].parse::<u64>().ok();
        Some(number(all - 1)?.saturating_sub(number(all - 3)?))
    };
    said.lines().filter_map(of_store).sum()
}

/// Of how many blocks of event stores columns answered, as `--stats` says.
fn answered(report: &Report) -> u64 {
    let said = report.to_string();
    let of_store = |line: &str| {
        let words: Vec<_> = line.strip_prefix("store ")?.split_whitespace().collect();
        let at = words.iter().position(|word| *word == "answered")?;
        words[at - 1].parse::<u64>().ok()
    };
    said.lines().filter_map(of_store).sum()
}

fn gzipped(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).expect("it is written to memory");
    encoder.finish().expect("it is written to memory")
}

fn array(lines: &str) -> Vec<u8> {
    let records: Vec<_> = lines.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    format!("[{}]", records.join(",\n")).into_bytes()
}

fn answer(sql: &str, files: Vec<String>, options: Options) -> Result<(String, Report), jird_query::Error> {
    let (mut out, mut report) = (Vec::new(), Report::default());
    crate::asked(jird_query::Query::new(sql, files, options)).run(&mut out, &mut report)?;
    Ok((String::from_utf8(out).expect("JSON is UTF-8"), report))
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// What helps to find the mistake.
struct Difference<'a, E> {
    seed: u64,
    sql: &'a str,
    way: Way,
    plan: Option<&'a Plan>,
    input: &'a str,
    expected: Result<Vec<Vec<Cell>>, E>,
    found: Result<(String, Report), jird_query::Error>,
}

impl<E> std::fmt::Display for Difference<'_, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const SHOWN: usize = 4000;
        let input: String = self.input.chars().take(SHOWN).collect();
        writeln!(f, "seed {}, {:?}, {:?}\n{}\nof\n{input}\nmust give", self.seed, self.way, self.plan, self.sql)?;
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
