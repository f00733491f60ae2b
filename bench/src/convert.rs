//! Conversions: whole processes over the generated events. Their output is compared with the events value by value.
//!
//! The input files are in the page cache. `csv_to_ndjson` and `sqlite_to_json` read the files that a Python loop wrote
//! in the tasks of the opposite direction.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use generate_events::EVENTS_DEFAULT;
use serde::Deserialize;

use crate::against::{Side, is_jird};
use crate::options::Options;
use crate::peer::Build;
use crate::query;
use crate::row::Row;
use crate::task::Task;
use crate::tools;
use crate::whole::{self, Invocation, Runner};

/// The ten keys that become columns. The other keys of an event are left out.
const TEN: &str = "@t,@l,@mt,Message,Elapsed,Properties.SourceContext,Properties.RequestId,Properties.StatusCode,\
                   Properties.Application,Properties.TraceId";

/// One conversion.
struct Conversion {
    task: Task,
    /// The input: the events themselves, or the file that a Python loop makes of them.
    from: From,
    /// The output format, by its suffix and by the checker's name for it.
    to: &'static str,
    /// The columns: `ten` or `all`.
    columns: &'static str,
    jird: &'static [&'static str],
}

#[derive(Clone, Copy)]
enum From {
    Events,
    Made { name: &'static str, by: &'static str },
}

const CONVERSIONS: &[Conversion] = &[
    Conversion {
        task: Task::NdjsonToCsv,
        from: From::Events,
        to: "csv",
        columns: "ten",
        jird: &["--flatten", "--select", TEN],
    },
    Conversion {
        task: Task::CsvToNdjson,
        from: From::Made { name: "bench-ten.csv", by: "ndjson_to_csv" },
        to: "ndjson",
        columns: "ten",
        jird: &["--typed"],
    },
    Conversion { task: Task::NdjsonToParquet, from: From::Events, to: "parquet", columns: "all", jird: &[] },
    Conversion {
        task: Task::NdjsonToSqlite,
        from: From::Events,
        to: "sqlite",
        columns: "all",
        jird: &["--table", "events"],
    },
    Conversion {
        task: Task::SqliteToJson,
        from: From::Made { name: "bench-events.db", by: "ndjson_to_sqlite" },
        to: "ndjson",
        columns: "all",
        jird: &["--table", "events"],
    },
];

/// A program, as the barometer knows it.
struct Tool {
    name: &'static str,
    build: Build,
    how: Method,
    /// How the program does each of its tasks, except for details that are in a script.
    tasks: &'static [(Task, Way)],
}

/// Facts about a tool in one task.
struct Way {
    note: &'static str,
    /// The tool is slower than 50 MB/s, so it runs only once.
    slow: bool,
    /// For `How::Shell`: the words of the command, with `{from}` and `{to}`. Without `{to}`, the output is printed.
    words: &'static [&'static str],
}

enum Method {
    Jird,
    /// A tool of `peers/convert.py`.
    Script,
    /// A program of the system, and the package that contains it.
    Installed {
        package: &'static str,
    },
    /// A program in the same folder as Python.
    Beside,
}

const fn scripted(note: &'static str) -> Way {
    Way { note, slow: false, words: &[] }
}

const fn slow(note: &'static str, words: &'static [&'static str]) -> Way {
    Way { note, slow: true, words }
}

const JSON_TEXT: &str = "what is nested as JSON text; schema given";
const STRUCTS: &str = "what is nested as structs; schema given, with what has several types or no members as text";
const SCHEMA: &str = "schema given, only the ten columns";
const JQ_TEN: &str = "(\"@t,@l,@mt,Message,Elapsed,Properties.SourceContext,Properties.RequestId,Properties.StatusCode,\
    Properties.Application,Properties.TraceId\"), (inputs | [.[\"@t\"], .[\"@l\"], .[\"@mt\"], .Message, .Elapsed, \
    (.Properties | .SourceContext, .RequestId, .StatusCode, .Application, .TraceId)] | @csv)";

const TOOLS: &[Tool] = &[
    Tool {
        name: "jird",
        build: Build::Default,
        how: Method::Jird,
        tasks: &[
            (Task::NdjsonToCsv, scripted("no schema")),
            (Task::CsvToNdjson, scripted("types by what the text looks like; no schema")),
            (Task::NdjsonToParquet, scripted("no schema; what is nested as JSON text")),
            (Task::NdjsonToSqlite, scripted("no schema; one transaction with a journal; what is nested as JSON text")),
            (Task::SqliteToJson, scripted("what is declared JSON as JSON, read and checked")),
        ],
    },
    Tool {
        name: "duckdb",
        build: Build::Cxx,
        how: Method::Script,
        tasks: &[
            (Task::NdjsonToCsv, scripted(SCHEMA)),
            (Task::CsvToNdjson, scripted(SCHEMA)),
            (Task::NdjsonToParquet, scripted(JSON_TEXT)),
        ],
    },
    Tool {
        name: "duckdb-struct",
        build: Build::Cxx,
        how: Method::Script,
        tasks: &[(Task::NdjsonToParquet, scripted(STRUCTS))],
    },
    Tool {
        name: "polars",
        build: Build::Default,
        how: Method::Script,
        tasks: &[
            (Task::NdjsonToCsv, scripted(SCHEMA)),
            (Task::CsvToNdjson, scripted(SCHEMA)),
            (Task::NdjsonToParquet, scripted(JSON_TEXT)),
        ],
    },
    Tool {
        name: "polars-struct",
        build: Build::Default,
        how: Method::Script,
        tasks: &[(Task::NdjsonToParquet, scripted(STRUCTS))],
    },
    Tool {
        name: "python",
        build: Build::Cxx,
        how: Method::Script,
        tasks: &[
            (Task::NdjsonToCsv, slow("a loop over json and csv", &[])),
            (Task::CsvToNdjson, slow("a loop over csv and json, types given", &[])),
            (Task::NdjsonToSqlite, slow("a loop over json and sqlite3: executemany, no journal, synchronous off", &[])),
            (Task::SqliteToJson, slow("a loop over sqlite3 and json; what is nested as text", &[])),
        ],
    },
    Tool {
        name: "miller",
        build: Build::Cxx,
        how: Method::Installed { package: "miller" },
        tasks: &[
            (
                Task::NdjsonToCsv,
                slow("", &["mlr", "--ijsonl", "--ocsv", "flatten", "then", "template", "-f", TEN, "{from}"]),
            ),
            (Task::CsvToNdjson, slow("", &["mlr", "--icsv", "--ojsonl", "--no-auto-unflatten", "cat", "{from}"])),
        ],
    },
    Tool {
        name: "jq",
        build: Build::Cxx,
        how: Method::Installed { package: "jq" },
        tasks: &[(Task::NdjsonToCsv, slow("", &["jq", "-n", "-r", JQ_TEN, "{from}"]))],
    },
    Tool {
        name: "sqlite-utils",
        build: Build::Default,
        how: Method::Beside,
        tasks: &[
            (
                Task::NdjsonToSqlite,
                slow(
                    "its own pragmas; --alter",
                    &["sqlite-utils", "insert", "{to}", "events", "{from}", "--nl", "--alter"],
                ),
            ),
            (Task::SqliteToJson, slow("what is nested as text", &["sqlite-utils", "rows", "{from}", "events", "--nl"])),
        ],
    },
    Tool {
        name: "sqlite3",
        build: Build::Cxx,
        how: Method::Installed { package: "sqlite3" },
        tasks: &[(
            Task::SqliteToJson,
            Way {
                note: "one array, a line each; what is nested as text; 26.0067 as 26.006699999999998596",
                slow: false,
                words: &["sqlite3", "-readonly", "-json", "{from}", "select * from events"],
            },
        )],
    },
];

/// The names of all programs, for `--peer`.
pub(crate) fn tools() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().map(|tool| tool.name)
}

/// Measures one task with all programs that can do it.
pub(crate) fn measure(task: Task, options: &Options) -> Vec<Row> {
    let Some(conversion) = CONVERSIONS.iter().find(|one| one.task == task) else { return Vec::new() };
    let setting = Setting::prepare(options, conversion);
    let mut runners: Vec<_> = TOOLS.iter().flat_map(|tool| setting.runners(tool, options)).collect();
    for runner in &mut runners {
        eprintln!("  {}", runner.name);
        runner.warm_up(2);
        let Some(checked) = runner.answer(|output| setting.check(output)) else { continue };
        runner.process.hits = checked.records;
        if is_jird(&runner.name) && !checked.differs.is_empty() {
            runner.fail(format!("wrong answer: {}", checked.differs.join("; ")));
        }
        runner.process.notes.extend(checked.differs.iter().map(|words| format!("WRONG: {words}")));
    }
    whole::race(&mut runners, options.rounds);
    let bytes = whole::len(&setting.from);
    runners.into_iter().map(|runner| runner.into_row(task, conversion.to, bytes, EVENTS_DEFAULT)).collect()
}

/// The paths that a run needs, or why they are missing.
struct Setting {
    conversion: &'static Conversion,
    events: Result<PathBuf, String>,
    from: Result<PathBuf, String>,
    jird: Result<PathBuf, String>,
    kernel: Option<String>,
}

/// The result of the checker.
#[derive(Deserialize)]
struct Checked {
    records: u64,
    /// Descriptions of the differences.
    differs: Vec<String>,
}

impl Setting {
    fn prepare(options: &Options, conversion: &'static Conversion) -> Self {
        let events = query::events(options);
        let from = match conversion.from {
            From::Events => events.clone(),
            From::Made { name, by } => made(name, by, &events),
        };
        let jird = options.jird.clone().map_or_else(|| tools::jird(false), Ok);
        Self { conversion, events, from, jird, kernel: options.kernel.clone() }
    }

    /// The runners of a tool. There are none if the tool was not asked for or cannot do the task, and several if
    /// another jird takes part.
    fn runners(&self, tool: &Tool, options: &Options) -> Vec<Runner> {
        let way = tool.tasks.iter().find(|(task, _)| *task == self.conversion.task);
        let Some((_, way)) = way.filter(|_| options.wants_peer(tool.name)) else { return Vec::new() };
        let runner = |&side: &Side| {
            let jird = options.other_program(side).map_or_else(|| self.jird.clone(), Ok);
            let invocation = self.invocation(tool, way, &side.name(tool.name), jird);
            let mut runner = Runner::new(tool.name, side, tool.build, invocation);
            runner.once = way.slow;
            runner.process.notes.extend((!way.note.is_empty()).then(|| way.note.to_owned()));
            runner.process.notes.extend(way.slow.then(|| "one run".to_owned()));
            runner
        };
        options.sides(tool.name).iter().map(runner).collect()
    }

    fn invocation(
        &self,
        tool: &Tool,
        way: &Way,
        row: &str,
        jird: Result<PathBuf, String>,
    ) -> Result<Invocation, String> {
        let from = self.from.clone()?;
        let output = whole::scratch(&format!("{row}-{}.{}", self.conversion.task.name(), self.conversion.to))?;
        let report = output.with_added_extension("json");
        let mut words: Vec<OsString> = Vec::new();
        match tool.how {
            Method::Jird => {
                words.extend([jird?.into(), "convert".into(), "--quiet".into()]);
                words.extend(self.conversion.jird.iter().map(OsString::from));
                words.extend([from.into(), output.clone().into()]);
            }
            Method::Script => {
                let task = self.conversion.task.name();
                words.extend(tools::script("convert.py")?);
                words.extend([
                    tool.name.into(),
                    task.into(),
                    from.into(),
                    output.clone().into(),
                    report.clone().into(),
                ]);
            }
            Method::Installed { .. } | Method::Beside => {
                let program = match tool.how {
                    Method::Installed { package } => tools::installed(way.words[0], package)?,
                    _ => tools::python()?.with_file_name(way.words[0]),
                };
                words.push(program.into());
                words.extend(way.words[1..].iter().map(|word| match *word {
                    "{from}" => from.clone().into(),
                    "{to}" => output.clone().into(),
                    word => word.into(),
                }));
            }
        }
        let prints = !matches!(tool.how, Method::Jird | Method::Script) && !way.words.contains(&"{to}");
        Ok(Invocation { words, output, prints, report, kernel: self.kernel.clone() })
    }

    fn check(&self, output: &Path) -> Result<Checked, String> {
        let Conversion { to, columns, .. } = *self.conversion;
        let words = tools::script("check.py")?;
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).args([to, columns]).arg(self.events.clone()?).arg(output);
        let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("check.py: {error}"))?;
        serde_json::from_slice(&output.stdout).map_err(|error| format!("the answer cannot be read back: {error}"))
    }
}

/// The file that a Python loop makes of the events. It is kept.
fn made(name: &str, by: &str, events: &Result<PathBuf, String>) -> Result<PathBuf, String> {
    let (events, words) = (events.clone()?, tools::script("convert.py")?);
    whole::kept(name, |path| {
        let report = whole::scratch("made.json")?;
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).args(["python", by]).arg(events).arg(path).arg(&report);
        let status = command.status().map_err(|error| error.to_string())?;
        let _ = std::fs::remove_file(report);
        if status.success() { Ok(()) } else { Err(format!("{name} could not be made: {status}")) }
    })
}
