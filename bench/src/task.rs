//! The tasks and their inputs.

use std::fs;
use std::hint::black_box;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::events;
use crate::fold::Fold;
use crate::migrate::{self, Deed};
use crate::million::{self, Part};
use crate::minified;
use crate::models::decoded;
use crate::peer::{Answer, Peer, Refusal};
use crate::peers::FACADE;
use crate::strings;

/// A task of the peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Task {
    Dom,
    Parse,
    Validate,
    Partial,
    Users,
    Small,
    Two,
    Minify,
    Events,
    #[serde(rename = "events_skip")]
    EventsSkip,
    Typed,
    #[serde(rename = "typed_small")]
    TypedSmall,
    #[serde(rename = "error_typed")]
    ErrorTyped,
    Million,
    Migrate,
    Encode,
    StringsOut,
    StringsIn,
    Error,
    Scan,
    Query,
    #[serde(rename = "ndjson_to_csv")]
    NdjsonToCsv,
    #[serde(rename = "csv_to_ndjson")]
    CsvToNdjson,
    #[serde(rename = "ndjson_to_parquet")]
    NdjsonToParquet,
    #[serde(rename = "ndjson_to_sqlite")]
    NdjsonToSqlite,
    #[serde(rename = "sqlite_to_json")]
    SqliteToJson,
    #[serde(rename = "million_stream")]
    MillionStream,
    #[serde(rename = "sqlite_rows")]
    SqliteRows,
    Gtfs,
    Readers,
}

/// The fourteen documents of the simdjson paper.
pub(crate) const DOCUMENTS: &[&str] = &[
    "apache_builds",
    "canada",
    "citm_catalog",
    "github_events",
    "gsoc-2018",
    "instruments",
    "marine_ik",
    "mesh",
    "mesh.pretty",
    "numbers",
    "random",
    "twitter",
    "twitterescaped",
    "update-center",
];

/// The suffix of a document's name that means: without white space between its tokens.
pub(crate) const MINIFIED: &str = ".minified";

/// The statuses of twitter, repeated until the document has `LARGE_BYTES`.
pub(crate) const LARGE: &str = "large";

/// The size of the paper's large file.
const LARGE_BYTES: usize = 84_000_000;

/// The input that `typed_small` reads in addition to events.
const REQUEST: &str = "request";

/// The inputs of `events`: the documents, and the events of `small` as lines.
const STREAMED: &[&str] = &{
    let mut all = [STREAM; DOCUMENTS.len() + 1];
    let mut index = 0;
    while index < DOCUMENTS.len() {
        all[index] = DOCUMENTS[index];
        index += 1;
    }
    all
};

/// The input of `small`.
const EVENTS: &str = "events";

/// The same events in one text, one per line.
pub(crate) const STREAM: &str = "event-lines";

impl Task {
    /// The tasks that run if the user names none. `parse` is left out, because it is for the paper's tables and is one
    /// half of `error`.
    pub(crate) fn usual() -> Vec<Task> {
        Self::ALL.iter().copied().filter(|task| *task != Self::Parse).collect()
    }

    const ALL: &[Task] = &[
        Self::Dom,
        Self::Parse,
        Self::Validate,
        Self::Partial,
        Self::Users,
        Self::Small,
        Self::Two,
        Self::Minify,
        Self::Events,
        Self::EventsSkip,
        Self::Typed,
        Self::TypedSmall,
        Self::ErrorTyped,
        Self::Million,
        Self::Migrate,
        Self::Encode,
        Self::StringsOut,
        Self::StringsIn,
        Self::Error,
        Self::Scan,
        Self::Query,
        Self::NdjsonToCsv,
        Self::CsvToNdjson,
        Self::NdjsonToParquet,
        Self::NdjsonToSqlite,
        Self::SqliteToJson,
        Self::MillionStream,
        Self::SqliteRows,
        Self::Gtfs,
        Self::Readers,
    ];

    /// The tasks whose contestants work alone.
    pub(crate) const ALONE: &[Task] = &[Self::MillionStream, Self::SqliteRows, Self::Gtfs, Self::Readers];

    /// The tasks that run whole processes over files, in addition to [`Query`](Self::Query).
    pub(crate) const CONVERSIONS: &[Task] =
        &[Self::NdjsonToCsv, Self::CsvToNdjson, Self::NdjsonToParquet, Self::NdjsonToSqlite, Self::SqliteToJson];

    /// Whether the task starts a process for each run instead of a server.
    pub(crate) fn is_whole(self) -> bool {
        self == Self::Query || Self::CONVERSIONS.contains(&self) || Self::ALONE.contains(&self)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Dom => "dom",
            Self::Parse => "parse",
            Self::Validate => "validate",
            Self::Partial => "partial",
            Self::Users => "users",
            Self::Small => "small",
            Self::Two => "two",
            Self::Minify => "minify",
            Self::Events => "events",
            Self::EventsSkip => "events_skip",
            Self::Typed => "typed",
            Self::TypedSmall => "typed_small",
            Self::ErrorTyped => "error_typed",
            Self::Million => "million",
            Self::Migrate => "migrate",
            Self::Encode => "encode",
            Self::StringsOut => "strings-out",
            Self::StringsIn => "strings-in",
            Self::Error => "error",
            Self::Scan => "scan",
            Self::Query => "query",
            Self::NdjsonToCsv => "ndjson_to_csv",
            Self::CsvToNdjson => "csv_to_ndjson",
            Self::NdjsonToParquet => "ndjson_to_parquet",
            Self::NdjsonToSqlite => "ndjson_to_sqlite",
            Self::SqliteToJson => "sqlite_to_json",
            Self::MillionStream => "million_stream",
            Self::SqliteRows => "sqlite_rows",
            Self::Gtfs => "gtfs",
            Self::Readers => "readers",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|task| task.name() == name)
    }

    /// What jird does, as the predicate of a sentence about speed.
    pub(crate) fn deed(self) -> &'static str {
        match self {
            Self::Dom => "parses and visits everything",
            Self::Parse => "parses",
            Self::Validate => "validates",
            Self::Partial => "reads eight fields of every tweet",
            Self::Users => "finds the users of all tweets",
            Self::Small => "parses and visits small events",
            Self::Two => "reads two fields of small events",
            Self::Minify => "minifies",
            Self::Events | Self::EventsSkip => "sends events",
            Self::Typed => "makes structs",
            Self::TypedSmall => "makes structs of small events",
            Self::Error | Self::ErrorTyped => "refuses",
            Self::Million => "reads a million small objects",
            Self::Migrate => "does what serde_json does",
            Self::Encode => "writes structs",
            Self::StringsOut => "writes strings",
            Self::StringsIn => "reads strings",
            Self::Scan => "scans",
            Self::Query | Self::Readers => "answers queries",
            Self::NdjsonToCsv
            | Self::CsvToNdjson
            | Self::NdjsonToParquet
            | Self::NdjsonToSqlite
            | Self::SqliteToJson => "converts",
            Self::MillionStream => "delivers objects as they arrive",
            Self::SqliteRows => "writes rows",
            Self::Gtfs => "reads stop times",
        }
    }

    /// The question in one line.
    pub(crate) fn question(self) -> &'static str {
        match self {
            Self::Dom => "parse, then visit everything: strings and keys decoded and folded, numbers converted",
            Self::Parse => "make whatever the peer makes of a whole document, without visiting it",
            Self::Validate => "check a whole document",
            Self::Partial => "eight fields of every tweet",
            Self::Users => "distinct user.id of all tweets and of those that they retweet",
            Self::Two => "two fields of each of the events of small: Message decoded, Elapsed as a double",
            Self::Minify => "the document without white space between its tokens, into a reused buffer",
            Self::Events => {
                "everything in the document as events: strings and keys decoded and folded, numbers converted"
            }
            Self::EventsSkip => "two fields of each event, as events; what is skipped is checked",
            Self::Typed => "structs of everything in the document, strings borrowed where nothing is escaped",
            Self::TypedSmall => "the same of 1000 log events of about 600 bytes, and of a request of 200",
            Self::ErrorTyped => {
                "time to refuse a document with its last bracket changed, over the time to make structs of it"
            }
            Self::Million => {
                "a million small objects: checked, as a tree, structs of that tree, structs of the text, structs of nothing"
            }
            Self::Migrate => {
                "what programs do with serde_json's names: documents and events into trees, and the rest as the input says"
            }
            Self::Encode => "structs of everything in the document to text; bytes are those of the text",
            Self::StringsOut => {
                "lists of strings to text, of one kind each or of one length; bytes are those of the text"
            }
            Self::StringsIn => "the same lists from text, borrowed where nothing is escaped, and folded",
            Self::Small => "dom over 1000 different log events of about 600 bytes, one after the other",
            Self::Error => "time to refuse a document with its last bracket changed, over the time to parse it whole",
            Self::Scan => "pass one alone",
            Self::Query => {
                "queries over generated events, whole process, everything checked but where `touched` is said; DuckDB is given a schema and writes CSV, jird infers, or is given one too, and writes NDJSON"
            }
            Self::NdjsonToCsv => "ten flat columns of generated events to CSV, whole process",
            Self::CsvToNdjson => "that CSV to NDJSON, numbers as numbers, whole process",
            Self::NdjsonToParquet => "generated events to Parquet, all columns, Snappy, whole process",
            Self::NdjsonToSqlite => "generated events into one new table, all columns, whole process",
            Self::SqliteToJson => "that table to NDJSON, whole process; bytes are those of the database",
            Self::MillionStream => {
                "a million small objects, delivered one by one as their text arrives in pieces of 64 KiB"
            }
            Self::SqliteRows => "task objects into a new table in one transaction",
            Self::Gtfs => "139 MB of stop times from a CSV file into a Vec of structs, one core",
            Self::Readers => {
                "queries over generated events, one core, one loop over the lines with another record reader each"
            }
        }
    }

    /// A task and an input with the same answer, for peers that first build a document.
    pub(crate) fn asked_of_documents(self, input: &str) -> (Self, &str) {
        let task = match self {
            Self::Events => Self::Dom,
            Self::EventsSkip => Self::Two,
            task => task,
        };
        (task, if input == STREAM { EVENTS } else { input })
    }

    /// Whether the row counts only if a broken document is refused.
    pub(crate) fn judges(self) -> bool {
        matches!(self, Self::Validate | Self::Error | Self::ErrorTyped)
    }

    /// Whether the task writes structs; its bytes are then those of the written text.
    pub(crate) fn writes(self) -> bool {
        matches!(self, Self::Encode | Self::StringsOut)
    }

    /// The documents of an input of this task.
    pub(crate) fn documents(self, input: &str) -> Result<Vec<Vec<u8>>, String> {
        if self == Self::Migrate { migrate::documents(input) } else { documents(input) }
    }

    /// The row whose speed is compared with the others'.
    pub(crate) fn ours(self) -> &'static str {
        if self == Self::Migrate { FACADE } else { "jird" }
    }

    /// The number of timed runs per input. `error` times the broken document in addition to the whole one.
    pub(crate) fn lanes(self) -> usize {
        if matches!(self, Self::Error | Self::ErrorTyped) { 2 } else { 1 }
    }

    /// The names of the inputs; for a conversion, of the output. `query` has none here.
    pub(crate) fn inputs(self) -> &'static [&'static str] {
        match self {
            Self::Dom | Self::Parse | Self::Validate | Self::Minify | Self::Error | Self::Scan => DOCUMENTS,
            Self::Events => STREAMED,
            Self::Partial | Self::Users => &["twitter"],
            Self::TypedSmall => &[EVENTS, REQUEST],
            Self::Million => Part::NAMES,
            Self::Migrate => migrate::INPUTS,
            Self::Typed | Self::ErrorTyped | Self::Encode => &["twitter", "citm_catalog", "canada"],
            Self::StringsOut => strings::WRITTEN,
            Self::StringsIn => strings::INPUTS,
            Self::Small | Self::Two => &[EVENTS],
            Self::EventsSkip => &[STREAM],
            Self::NdjsonToCsv => &["csv"],
            Self::CsvToNdjson | Self::SqliteToJson => &["ndjson"],
            Self::NdjsonToParquet => &["parquet"],
            Self::NdjsonToSqlite => &["sqlite"],
            Self::MillionStream => &["objects"],
            Self::SqliteRows => &["rows"],
            Self::Gtfs => &["stop-times"],
            Self::Readers => &["filter", "match", "rare", "count"],
            Self::Query => &[],
        }
    }
}

/// The documents of an input.
pub(crate) fn documents(input: &str) -> Result<Vec<Vec<u8>>, String> {
    if Part::named(input).is_some() {
        return Ok(vec![million::text()]);
    }
    if input == REQUEST {
        return Ok(vec![decoded::REQUEST.as_bytes().to_vec()]);
    }
    if input == EVENTS {
        return Ok(events::events());
    }
    if input == STREAM {
        return Ok(vec![events::events().join(&b'\n')]);
    }
    if let Some(texts) = strings::texts(input) {
        return serde_json::to_vec(&texts).map(|text| vec![text]).map_err(|error| error.to_string());
    }
    if let Some(text) = strings::escaped(input) {
        return Ok(vec![text]);
    }
    if input == LARGE {
        return large(&documents("twitter")?[0]).map(|text| vec![text]).ok_or("twitter has no statuses".to_owned());
    }
    if let Some(original) = input.strip_suffix(MINIFIED) {
        return Ok(documents(original)?.iter().map(|text| minified::stripped(text)).collect());
    }
    let path = corpus().join("bench").join(format!("{input}.json"));
    let text = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(vec![text])
}

fn large(twitter: &[u8]) -> Option<Vec<u8>> {
    let document = jird::parse(twitter).ok()?;
    let tweets: Vec<&[u8]> = document.root().get("statuses")?.elements().map(jird::Value::raw).collect();
    let mut text = br#"{"statuses":["#.to_vec();
    for tweet in tweets.iter().cycle() {
        text.extend_from_slice(tweet);
        if text.len() >= LARGE_BYTES {
            break;
        }
        text.extend_from_slice(b",\n");
    }
    text.extend_from_slice(b"]}");
    Some(text)
}

/// `JIRD_CORPUS`, or the corpus next to the workspace.
pub(crate) fn corpus() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    std::env::var_os("JIRD_CORPUS").map_or_else(beside, PathBuf::from)
}

/// The same document with its last structural byte changed.
pub(crate) fn broken(text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    let last = text.iter_mut().rev().find(|byte| matches!(byte, b'}' | b']'));
    if let Some(byte) = last {
        *byte = if *byte == b'}' { b']' } else { b'}' };
    }
    text
}

/// Does untimed work before each `run`.
pub(crate) fn refresh(peer: &mut dyn Peer, range: Range<usize>) {
    range.for_each(|index| peer.refresh(index));
}

/// What is done with the inputs of tasks whose inputs are different work. They come one at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Detail {
    None,
    Part(Part),
    Deed(Deed),
}

impl Detail {
    pub(crate) fn of(task: Task, input: &str) -> Self {
        match task {
            Task::Million => Part::named(input).map_or(Self::None, Self::Part),
            Task::Migrate => Self::Deed(Deed::of(input).0),
            _ => Self::None,
        }
    }
}

/// The timed work: computes one answer over the documents in `range` of a loaded peer.
pub(crate) fn run(task: Task, detail: Detail, peer: &mut dyn Peer, range: Range<usize>) -> Answer<Fold> {
    let mut fold = Fold::default();
    for index in range {
        fold.add(match task {
            Task::Dom | Task::Small => peer.dom(index)?,
            Task::Partial => peer.partial(index)?,
            Task::Users => peer.users(index)?,
            Task::Two => peer.two(index)?,
            Task::Validate => done(peer.validate(index))?,
            Task::Minify => done(peer.minify(index).map(black_box))?,
            Task::Events => peer.events(index)?,
            Task::EventsSkip => peer.events_skip(index)?,
            Task::Typed | Task::TypedSmall | Task::ErrorTyped => done(peer.typed(index))?,
            Task::Million => counted(peer, index, detail)?,
            Task::Migrate => match detail {
                Detail::Deed(deed) => done(peer.migrate(index, deed))?,
                _ => return Err(Refusal::NotDone),
            },
            Task::Encode | Task::StringsOut => done(peer.encode(index).map(black_box))?,
            Task::StringsIn => peer.strings(index)?,
            Task::Parse | Task::Error => done(peer.parse(index))?,
            Task::Scan => done(peer.scan(index))?,
            Task::Query
            | Task::NdjsonToCsv
            | Task::CsvToNdjson
            | Task::NdjsonToParquet
            | Task::NdjsonToSqlite
            | Task::SqliteToJson
            | Task::MillionStream
            | Task::SqliteRows
            | Task::Gtfs
            | Task::Readers => Fold::default(),
        });
    }
    Ok(fold)
}

/// The answer of a task without a fold.
fn done<T>(answer: Answer<T>) -> Answer<Fold> {
    answer.map(|_| Fold::default())
}

/// Refuses the answer unless all of the million objects are there.
fn counted(peer: &mut dyn Peer, index: usize, detail: Detail) -> Answer<Fold> {
    let Detail::Part(part) = detail else { return Err(Refusal::NotDone) };
    let len = peer.million(index, part)?;
    if part.counts() && len != million::LEN { Err(Refusal::Rejected) } else { Ok(Fold::default()) }
}
