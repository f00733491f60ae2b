//! What was typed.

use std::path::PathBuf;

use crate::alone;
use crate::convert;
use crate::peer::Build;
use crate::peers;
use crate::task::Task;

/// The command line, checked.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) tasks: Vec<Task>,
    /// Empty: all.
    peers: Vec<String>,
    /// Empty: all.
    documents: Vec<String>,
    pub(crate) rounds: usize,
    pub(crate) milliseconds: u64,
    pub(crate) native: bool,
    /// The documents of a task take turns.
    pub(crate) rotate: bool,
    pub(crate) kernel: Option<String>,
    pub(crate) bars: bool,
    pub(crate) out: Option<PathBuf>,
    /// Where the charts go.
    pub(crate) svg: Option<PathBuf>,
    pub(crate) events: Option<PathBuf>,
    pub(crate) jird: Option<PathBuf>,
    /// Of `sqlite_rows`.
    pub(crate) rows: usize,
    /// What a contestant reads or writes.
    pub(crate) file: Option<PathBuf>,
    pub(crate) command: Command,
    /// For a server: so many runs of one task over one input, and no questions.
    pub(crate) repeat: Option<usize>,
    /// Empty: all.
    pub(crate) parts: Vec<String>,
}

/// What to do.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    /// The tasks.
    Measure,
    /// The paper's tables.
    Paper,
    /// The key table.
    Keys,
    /// Be the server of this peer.
    Serve(String),
    /// Be this contestant of a task whose contestants work alone.
    Alone(String),
}

/// What `--help` prints.
pub(crate) const HELP: &str = "\
The barometer: jird and its peers, interleaved.

    cargo run --release -p bench -- [OPTIONS]

    --task LIST        of dom, validate, partial, users, small, two, minify, events, events_skip, typed,
                       typed_small, error_typed, error, million, encode, strings-out, strings-in, scan, query,
                       ndjson_to_csv, csv_to_ndjson, ndjson_to_parquet, ndjson_to_sqlite, sqlite_to_json,
                       million_stream, sqlite_rows, gtfs, readers   [all];
                       parse if named
    --peer LIST        of the peers' names; jird is one of them               [all]
    --document LIST    of the inputs' names                                   [all]
    --rounds N         interleaved rounds; medians are over these             [7]
    --milliseconds N   length of one peer's batch within a round              [25]
    --rotate           the documents of a task take turns within each batch
    --kernel NAME      forces jird's kernel; avx2 builds the peers for Haswell too     [JIRD_KERNEL]
    --default-only     leaves out the builds with -C target-cpu=native
    --events FILE      the events of `query`, `readers`, the conversions      [generated once into target/]
    --jird FILE        the jird of `query` and the conversions                [built]
    --rows N           rows of `sqlite_rows`, a multiple of 100               [10000000]
    --bars             checks the bars; exit 1 if one is missed
    --out FILE         writes everything as JSON
    --svg FOLDER       draws a chart per task

    cargo run --release -p bench -- paper [OPTIONS]

makes the tables and figures of 'Parsing Gigabytes of JSON per Second' anew, with the options above and

    --part LIST        of table-5, table-6, model, figure-8, table-8, table-9, table-11, table-12, table-13   [all]
    --out FOLDER       writes NAME.md and NAME.json
    --svg FOLDER       draws those that are figures

    cargo run --release -p bench -- keys

measures the event protocol's key table beside the standard library's map.

The corpus is found by JIRD_CORPUS, or beside the workspace.
";

impl Options {
    /// Parses the arguments that follow the program's name. `Err` is a message for people.
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            tasks: Task::usual(),
            peers: Vec::new(),
            documents: Vec::new(),
            rounds: 7,
            milliseconds: 25,
            native: true,
            rotate: false,
            kernel: std::env::var("JIRD_KERNEL").ok(),
            bars: false,
            out: None,
            svg: None,
            events: None,
            jird: None,
            rows: 10_000_000,
            file: None,
            command: Command::Measure,
            repeat: None,
            parts: Vec::new(),
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} wants a value"));
            match word.as_str() {
                "--task" => options.tasks = list(&value()?).iter().map(|name| task(name)).collect::<Result<_, _>>()?,
                "--peer" => options.peers = known_peers(list(&value()?))?,
                "--document" => options.documents = list(&value()?),
                "--rounds" => options.rounds = number(&value()?)?.max(1),
                "--milliseconds" => options.milliseconds = number(&value()?)? as u64,
                "--rotate" => options.rotate = true,
                "--kernel" => options.kernel = Some(value()?),
                "--default-only" => options.native = false,
                "--svg" => options.svg = Some(value()?.into()),
                "--events" => options.events = Some(value()?.into()),
                "--jird" => options.jird = Some(value()?.into()),
                "--bars" => options.bars = true,
                "--out" => options.out = Some(value()?.into()),
                "paper" => options.command = Command::Paper,
                "keys" => options.command = Command::Keys,
                "--part" => options.parts = list(&value()?),
                "--repeat" => options.repeat = Some(number(&value()?)?),
                "--rows" => options.rows = number(&value()?)?.max(100).next_multiple_of(100),
                "--file" => options.file = Some(value()?.into()),
                "--alone" => options.command = Command::Alone(value()?),
                "--serve" => options.command = Command::Serve(value()?),
                _ => return Err(format!("unknown option {word}\n\n{HELP}")),
            }
        }
        Ok(options)
    }

    /// What peers with flags of their own are built for: as much as jird may use.
    pub(crate) fn arch(&self) -> &'static str {
        if self.avx2() { "haswell" } else { "native" }
    }

    /// Whether nobody may use AVX-512.
    pub(crate) fn avx2(&self) -> bool {
        self.kernel.as_deref() == Some("avx2")
    }

    /// The same for these peers, or for those of them that were asked for, if any was.
    pub(crate) fn with_peers(&self, peers: &[&str]) -> Self {
        let owned = |peers: &mut dyn Iterator<Item = &&str>| peers.map(|&peer| peer.to_owned()).collect::<Vec<_>>();
        let wanted = owned(&mut peers.iter().filter(|peer| self.wants_peer(peer)));
        // No peers would mean all.
        let peers = if wanted.is_empty() { owned(&mut peers.iter()) } else { wanted };
        Self { peers, ..self.clone() }
    }

    /// The first of the inputs that were asked for.
    pub(crate) fn input(&self) -> Option<&str> {
        self.documents.first().map(String::as_str)
    }

    pub(crate) fn wants_peer(&self, name: &str) -> bool {
        self.peers.is_empty() || self.peers.iter().any(|one| one == name)
    }

    pub(crate) fn wants_build(&self, build: Build) -> bool {
        self.native || build != Build::Native
    }

    pub(crate) fn wants_input(&self, name: &str) -> bool {
        self.documents.is_empty() || self.documents.iter().any(|one| one == name)
    }
}

fn list(words: &str) -> Vec<String> {
    words.split(',').map(str::to_owned).collect()
}

fn task(name: &str) -> Result<Task, String> {
    Task::named(name).ok_or_else(|| format!("no task {name}"))
}

fn known_peers(names: Vec<String>) -> Result<Vec<String>, String> {
    let mut all: Vec<_> = peers::ALL.iter().map(|entry| entry.name).collect();
    all.extend(convert::tools().chain(alone::names()));
    all.sort_unstable();
    all.dedup();
    match names.iter().find(|name| !all.contains(&name.as_str())) {
        None => Ok(names),
        Some(name) => Err(format!("no peer {name}; there are {}", all.join(", "))),
    }
}

fn number(word: &str) -> Result<usize, String> {
    word.parse().map_err(|_| format!("{word} is no number"))
}
