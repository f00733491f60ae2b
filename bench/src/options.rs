//! The command line.

use std::path::PathBuf;

use crate::against::{self, Other, Side};
use crate::alone;
use crate::convert;
use crate::peer::Build;
use crate::peers;
use crate::task::Task;

/// The command line after its checks.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Empty: the usual tasks.
    tasks: Vec<Task>,
    /// Empty: all.
    peers: Vec<String>,
    /// Empty: all.
    documents: Vec<String>,
    pub(crate) rounds: usize,
    pub(crate) milliseconds: u64,
    pub(crate) native: bool,
    /// Whether the documents of a task take turns.
    pub(crate) rotate: bool,
    pub(crate) kernel: Option<String>,
    pub(crate) bars: bool,
    /// The path of another build's program, as the user typed it.
    pub(crate) against: Option<PathBuf>,
    /// The share by which jird may be slower than that build.
    pub(crate) within: Option<f64>,
    /// The program of that build, after it has answered.
    pub(crate) other: Option<Other>,
    pub(crate) out: Option<PathBuf>,
    /// The results that charts are drawn of.
    pub(crate) from: Option<PathBuf>,
    /// The folder for the charts.
    pub(crate) svg: Option<PathBuf>,
    pub(crate) events: Option<PathBuf>,
    pub(crate) jird: Option<PathBuf>,
    /// The number of rows for `sqlite_rows`.
    pub(crate) rows: usize,
    /// The file that a contestant reads or writes.
    pub(crate) file: Option<PathBuf>,
    pub(crate) command: Command,
    /// Empty: all.
    pub(crate) parts: Vec<String>,
}

/// What the barometer does.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    /// Measures the tasks.
    Measure,
    /// Makes the paper's tables.
    Paper,
    /// Draws the charts of results that are there.
    Charts,
    /// Serves this peer.
    Serve(String),
    /// Does the work of this contestant, in a task whose contestants work alone.
    Alone(String),
}

/// What `--help` prints.
pub(crate) const HELP: &str = "\
The barometer: jird and its peers, interleaved.

    cargo run --release -p bench -- [OPTIONS]

    --task LIST        of dom, validate, partial, users, small, two, minify, events, events_skip, typed,
                       typed_small, error_typed, error, million, migrate, encode, strings-out, strings-in, scan,
                       query, ndjson_to_csv, csv_to_ndjson, ndjson_to_parquet, ndjson_to_sqlite, sqlite_to_json,
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
    --against PATH     the jird of another build takes part: a row NAME-before for each row NAME of jird's. PATH is
                       a `bench` executable of another checkout; for `query` and the conversions it is a `jird`
                       program. Without --peer only rows of jird's run, without --task what PATH can do
    --within N%        with --against: exit 1 if jird is slower than that build by more than N %, and by more than
                       that build differs from itself, which takes part a second time as NAME-before-again
    --out FILE         writes everything as JSON
    --svg FOLDER       draws a chart per task

    cargo run --release -p bench -- paper [OPTIONS]

makes the tables and figures of 'Parsing Gigabytes of JSON per Second' anew, with the options above (not --against) and

    --part LIST        of table-5, table-6, model, figure-8, table-9, table-11, table-12, table-13   [all]
    --out FOLDER       writes NAME.md and NAME.json
    --svg FOLDER       draws those that are figures

    cargo run --release -p bench -- charts --from FILE --svg FOLDER [--task LIST]

draws the charts of results that --out wrote, without measuring.

The corpus is found by JIRD_CORPUS, or beside the workspace.
";

impl Options {
    /// Parses the arguments that follow the program's name. `Err` is a message for people.
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            tasks: Vec::new(),
            peers: Vec::new(),
            documents: Vec::new(),
            rounds: 7,
            milliseconds: 25,
            native: true,
            rotate: false,
            kernel: std::env::var("JIRD_KERNEL").ok(),
            bars: false,
            against: None,
            within: None,
            other: None,
            out: None,
            from: None,
            svg: None,
            events: None,
            jird: None,
            rows: 10_000_000,
            file: None,
            command: Command::Measure,
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
                "charts" => options.command = Command::Charts,
                "--from" => options.from = Some(value()?.into()),
                "--svg" => options.svg = Some(value()?.into()),
                "--events" => options.events = Some(value()?.into()),
                "--jird" => options.jird = Some(value()?.into()),
                "--bars" => options.bars = true,
                "--against" => options.against = Some(value()?.into()),
                "--within" => options.within = Some(share(&value()?)?),
                "--out" => options.out = Some(value()?.into()),
                "paper" => options.command = Command::Paper,
                "--part" => options.parts = list(&value()?),
                "--rows" => options.rows = number(&value()?)?.max(100).next_multiple_of(100),
                "--file" => options.file = Some(value()?.into()),
                "--alone" => options.command = Command::Alone(value()?),
                "--serve" => options.command = Command::Serve(value()?),
                _ => return Err(format!("unknown option {word}\n\n{HELP}")),
            }
        }
        options.checked()
    }

    /// Checks options that depend on each other.
    fn checked(self) -> Result<Self, String> {
        if self.against.is_none() {
            return if self.within.is_some() { Err("--within wants --against".to_owned()) } else { Ok(self) };
        }
        if !matches!(self.command, Command::Measure) {
            return Err("--against compares tasks: it has no part in paper".to_owned());
        }
        if !self.peers.is_empty() && !self.peers.iter().any(|peer| against::is_jird(peer)) {
            return Err("--against compares rows of jird's, and --peer names none of them".to_owned());
        }
        Ok(self)
    }

    /// Stores what the program of `--against` is. Returns `Err` if the user named a task that the program cannot do.
    pub(crate) fn facing(mut self, other: Other) -> Result<Self, String> {
        if let Some(&task) = self.tasks.iter().find(|task| !other.does(**task)) {
            return Err(other.cannot(task));
        }
        self.other = Some(other);
        Ok(self)
    }

    /// The tasks that the user named, or the usual ones, limited to those that another participating build can do.
    pub(crate) fn tasks(&self) -> Vec<Task> {
        if !self.tasks.is_empty() {
            return self.tasks.clone();
        }
        let possible = |task: &Task| self.other.as_ref().is_none_or(|other| other.does(*task));
        Task::usual().into_iter().filter(possible).collect()
    }

    /// The sides on which a peer has rows.
    pub(crate) fn sides(&self, peer: &str) -> &'static [Side] {
        match (&self.other, self.within) {
            (Some(_), _) if !against::is_jird(peer) => &[Side::Own],
            (Some(_), Some(_)) => &[Side::Own, Side::Before, Side::Again],
            (Some(_), None) => &[Side::Own, Side::Before],
            (None, _) => &[Side::Own],
        }
    }

    /// The program of another build that works for this side; `None` for our own.
    pub(crate) fn other_program(&self, side: Side) -> Option<PathBuf> {
        let other = self.other.as_ref().filter(|_| side != Side::Own);
        other.map(|other| other.path.clone())
    }

    /// The architecture for which peers with flags of their own are built. It allows them as much as jird may use.
    pub(crate) fn arch(&self) -> &'static str {
        if self.avx2() { "haswell" } else { "native" }
    }

    /// Whether no contestant may use AVX-512.
    pub(crate) fn avx2(&self) -> bool {
        self.kernel.as_deref() == Some("avx2")
    }

    /// The same options for these peers only, or for those of them that the user named, if there are any.
    pub(crate) fn with_peers(&self, peers: &[&str]) -> Self {
        let owned = |peers: &mut dyn Iterator<Item = &&str>| peers.map(|&peer| peer.to_owned()).collect::<Vec<_>>();
        let wanted = owned(&mut peers.iter().filter(|peer| self.wants_peer(peer)));
        // An empty list would mean all peers.
        let peers = if wanted.is_empty() { owned(&mut peers.iter()) } else { wanted };
        Self { peers, ..self.clone() }
    }

    /// The first input that the user named.
    pub(crate) fn input(&self) -> Option<&str> {
        self.documents.first().map(String::as_str)
    }

    /// Whether a peer takes part: all peers do unless the user names some. With `--against`, only jird's rows do.
    pub(crate) fn wants_peer(&self, name: &str) -> bool {
        if self.peers.is_empty() {
            return self.against.is_none() || against::is_jird(name);
        }
        self.peers.iter().any(|one| one == name)
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

/// Parses a percentage; returns it as a share of 1.
fn share(word: &str) -> Result<f64, String> {
    let percent = word.strip_suffix('%').and_then(|word| word.trim().parse::<f64>().ok());
    percent
        .filter(|percent| (0.0..100.0).contains(percent))
        .map(|percent| percent / 100.0)
        .ok_or_else(|| format!("{word} is no percentage from 0% to 100%, such as 2%"))
}

fn number(word: &str) -> Result<usize, String> {
    word.parse().map_err(|_| format!("{word} is no number"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::client::GREETING;

    fn parse(words: &str) -> Result<Options, String> {
        Options::parse(words.split_whitespace().map(str::to_owned))
    }

    /// Options that face a barometer or a jird program, which the scripts of `tests/impostors` imitate.
    fn facing(words: &str, impostor: &str) -> Result<Options, String> {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/impostors"));
        parse(words)?.facing(Other::meet(&folder.join(impostor), None, GREETING)?)
    }

    #[test]
    fn what_does_not_go_with_another_build_is_refused() {
        let cases = [
            ("--against", "--against wants a value"),
            ("--within 2%", "--within wants --against"),
            ("--against x --within 2", "2 is no percentage"),
            ("--against x --within -1%", "-1% is no percentage"),
            ("--against x --within 100%", "100% is no percentage"),
            ("--against x --within NaN%", "NaN% is no percentage"),
            ("paper --against x", "no part in paper"),
            ("--against x charts", "no part in paper"),
            ("--against x --peer simdjson,serde_json", "--peer names none"),
            ("--peer jird-before", "no peer jird-before"),
        ];
        for (words, reason) in cases {
            let error = parse(words).expect_err(words);
            assert!(error.contains(reason), "{words}: {error}");
        }
    }

    #[test]
    fn within_is_a_share() {
        let options = parse("--against x --within 2.5%").expect("both are there");
        assert_eq!((options.within, options.against.as_deref()), (Some(0.025), Some(Path::new("x"))));
    }

    #[test]
    fn another_build_alone_brings_rows_of_jird_only() {
        let options = parse("--against x").expect("a path");
        assert!(options.wants_peer("jird") && options.wants_peer("jird-lines") && !options.wants_peer("simdjson"));
        let options = parse("--against x --peer jird,simdjson").expect("a path");
        assert!(options.wants_peer("jird") && !options.wants_peer("jird-lines") && options.wants_peer("simdjson"));
    }

    #[test]
    fn every_row_of_jird_has_a_counterpart_and_no_other_row() {
        let sides = |words: &str, peer: &str| facing(words, "mute").map(|options| options.sides(peer));
        assert_eq!(sides("--against x", "jird-lines"), Ok(&[Side::Own, Side::Before][..]));
        assert_eq!(sides("--against x --within 2%", "jird"), Ok(&[Side::Own, Side::Before, Side::Again][..]));
        assert_eq!(sides("--against x --within 2%", "simdjson"), Ok(&[Side::Own][..]));
        assert_eq!(parse("").map(|options| options.sides("jird")), Ok(&[Side::Own][..]));
    }

    #[test]
    fn tasks_are_those_that_the_other_build_can_do() {
        let by_barometer = facing("--against x", "mute").expect("it greets").tasks();
        assert!(by_barometer.contains(&Task::Small) && by_barometer.contains(&Task::Readers), "{by_barometer:?}");
        assert!(!by_barometer.contains(&Task::Query), "{by_barometer:?}");
        let by_program = facing("--against x", "program").expect("it names itself").tasks();
        assert_eq!(by_program[..2], [Task::Query, Task::NdjsonToCsv]);
        let named = facing("--against x --task events,small", "mute").expect("it does both").tasks();
        assert_eq!(named, [Task::Events, Task::Small]);
        for (task, impostor, wants) in
            [("query", "mute", "wants a `jird` program"), ("small", "program", "wants a `bench`")]
        {
            let error = facing(&format!("--against x --task {task}"), impostor).expect_err("it cannot");
            assert!(error.contains(wants), "{error}");
        }
    }
}
