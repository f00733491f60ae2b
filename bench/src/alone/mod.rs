//! Tasks whose contestants work alone, each in a process of its own, and are timed inside that process. The cost of
//! starting a process does not count here, but its memory does.

mod readers;
mod stop_times;
mod stream;
mod task_rows;
mod task_rows_c;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::against::Side;
use crate::options::Options;
use crate::peer::Build;
use crate::peers::JIRD;
use crate::query;
use crate::row::Row;
use crate::run::binary_for;
use crate::task::Task;
use crate::tools;
use crate::whole::{self, Invocation, Report, Runner};

/// A participant in a task.
struct Contestant {
    name: &'static str,
    builds: &'static [Build],
    /// What the contestant does not do.
    note: &'static str,
    run: Run,
}

enum Run {
    /// This program, started again.
    Here(fn(&Setting<'_>) -> Result<Report, String>),
    /// The script `peers/stop_times.py`.
    Script,
}

/// The parameters of a contestant's run.
struct Setting<'o> {
    /// The number of rows, for `sqlite_rows`.
    rows: usize,
    /// The file that is read or written; `million_stream` has none.
    file: &'o Path,
    /// One of the task's inputs.
    input: &'o str,
}

const fn here(name: &'static str, note: &'static str, run: fn(&Setting<'_>) -> Result<Report, String>) -> Contestant {
    Contestant { name, builds: JIRD, note, run: Run::Here(run) }
}

fn contestants(task: Task) -> &'static [Contestant] {
    match task {
        Task::MillionStream => stream::CONTESTANTS,
        Task::SqliteRows => task_rows::CONTESTANTS,
        Task::Gtfs => stop_times::CONTESTANTS,
        Task::Readers => readers::CONTESTANTS,
        _ => &[],
    }
}

/// The names of all contestants, for `--peer`.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    Task::ALONE.iter().flat_map(|task| contestants(*task)).map(|contestant| contestant.name)
}

/// Does one contestant's work and writes its report. The barometer starts a process for each such call.
pub(crate) fn run(name: &str, options: &Options) -> Result<(), String> {
    let all = contestants(options.tasks()[0]);
    let contestant = all.iter().find(|one| one.name == name).ok_or_else(|| format!("no contestant {name}"))?;
    let Run::Here(run) = contestant.run else { return Err(format!("{name} is a script")) };
    let file = options.file.clone().unwrap_or_default();
    let report = run(&Setting { rows: options.rows, file: &file, input: options.input().unwrap_or_default() })?;
    let text = serde_json::to_vec(&report).map_err(|error| error.to_string())?;
    let path = options.out.as_ref().ok_or("--out says where the report goes")?;
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Measures one task with all contestants.
pub(crate) fn measure(task: Task, options: &Options) -> Vec<Row> {
    let file = match task {
        Task::Gtfs => stop_times::file(),
        Task::Readers => query::events(options),
        _ => Ok(PathBuf::new()),
    };
    let builds = |one: &'static Contestant| {
        let sides = options.sides(one.name).iter();
        sides.flat_map(move |&side| one.builds.iter().map(move |&build| (one, build, side)))
    };
    let wanted: Vec<_> = contestants(task)
        .iter()
        .filter(|one| options.wants_peer(one.name))
        .flat_map(builds)
        .filter(|(_, build, _)| options.wants_build(*build))
        .collect();
    let native = if wanted.iter().any(|(_, build, _)| *build == Build::Native) {
        binary_for(options.arch())
    } else {
        Err("left out".to_owned())
    };
    let inputs = task.inputs().iter().filter(|input| options.wants_input(input));
    let of_input = |&input| {
        let runner = |&(contestant, build, side): &(&'static Contestant, Build, Side)| {
            let binary = match options.other_program(side) {
                Some(program) => Ok(program),
                None if build == Build::Native => native.clone(),
                None => this(),
            };
            let invocation = binary.and_then(|binary| {
                let name = side.name(contestant.name);
                invocation(task, contestant, &Place { binary, name, input, file: file.clone()? }, options)
            });
            let mut runner = Runner::new(contestant.name, side, build, invocation);
            runner.inside = true;
            runner.process.notes.extend((!contestant.note.is_empty()).then(|| contestant.note.to_owned()));
            runner
        };
        let bytes = if task == Task::MillionStream { stream::BYTES } else { whole::len(&file) };
        of_input(task, input, bytes, wanted.iter().map(runner).collect(), options)
    };
    inputs.flat_map(of_input).collect()
}

/// Runs the rounds over one input. Before them, each contestant runs once, and its answer is compared with the first
/// contestant's.
fn of_input(task: Task, input: &str, bytes: u64, mut runners: Vec<Runner>, options: &Options) -> Vec<Row> {
    for runner in &mut runners {
        eprintln!("  {input} {} ({})", runner.name, runner.build.name());
        runner.warm_up(1);
    }
    let wanted = runners.iter().find_map(|runner| runner.told.as_ref()).map(|told| (told.records, told.checksum));
    for runner in &mut runners {
        let own = runner.told.as_ref().map(|told| (told.records, told.checksum));
        if own.is_some() && own != wanted {
            runner.fail(format!("wrong answer: {own:?} instead of {wanted:?}"));
        }
    }
    whole::race(&mut runners, options.rounds);
    let records = wanted.map_or(0, |(records, _)| records);
    runners.into_iter().map(|runner| runner.into_row(task, input, bytes, records)).collect()
}

/// The path of this program.
fn this() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|error| error.to_string())
}

/// The program that runs, and its files.
struct Place<'o> {
    binary: PathBuf,
    /// The name of the row, so that no two rows share a file.
    name: String,
    input: &'o str,
    file: PathBuf,
}

fn invocation(task: Task, contestant: &Contestant, place: &Place<'_>, options: &Options) -> Result<Invocation, String> {
    let output = whole::scratch(&format!("{}-{}.out", place.name, task.name()))?;
    let report = output.with_added_extension("json");
    // Every contestant runs on the same single core.
    let mut words: Vec<OsString> = vec![tools::installed("taskset", "util-linux")?.into(), "-c".into(), "1".into()];
    let file = if task == Task::SqliteRows { &output } else { &place.file };
    match contestant.run {
        Run::Here(_) => {
            words.extend([
                place.binary.clone().into(),
                "--alone".into(),
                contestant.name.into(),
                "--task".into(),
                task.name().into(),
            ]);
            words.extend(["--rows".into(), options.rows.to_string().into(), "--file".into(), file.into()]);
            words.extend(["--document".into(), place.input.into(), "--out".into(), report.clone().into()]);
        }
        Run::Script => {
            words.extend(tools::script("stop_times.py")?);
            words.extend([contestant.name.into(), file.into(), report.clone().into()]);
        }
    }
    Ok(Invocation { words, output, prints: false, report, kernel: options.kernel.clone() })
}

/// A report without a checksum.
fn told(inside_seconds: f64, records: u64) -> Report {
    Report { inside_seconds, records, checksum: 0, figures: BTreeMap::new() }
}

/// The median.
fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

/// The maximum resident size of this process so far, in bytes.
fn resident_bytes_max() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace()
        .next()
        .and_then(|word| word.parse().ok())
        .map_or(f64::NAN, |kilobytes: f64| kilobytes * 1024.0)
}
