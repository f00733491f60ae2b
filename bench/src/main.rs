//! The barometer: measures jird and its peers side by side in one interleaved run, and notes what each of them does not
//! do. `cargo run --release -p bench -- --help` explains its use.

#![deny(unsafe_code)]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that prints tables and says what it waits for"
)]
#![allow(clippy::cast_precision_loss, reason = "figures for people")]

mod against;
mod alone;
mod bars;
mod charts;
mod client;
mod convert;
mod copied;
mod events;
mod fold;
mod machine;
mod migrate;
mod million;
mod minified;
mod models;
mod options;
mod paper;
mod peer;
mod peers;
mod probe;
mod process;
mod query;
mod report;
mod row;
mod run;
mod server;
mod streamed;
mod strings;
mod svg;
mod task;
mod tools;
mod whole;

use std::path::Path;
use std::process::ExitCode;

use against::{Comparison, Other};
use machine::Machine;
use options::{Command, Options};
use peer::Build;
use peers::Entry;
use report::{AgainstReport, PeerReport, Report};
use row::Row;
use run::Field;
use task::Task;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--help") {
        print!("{}", options::HELP);
        return ExitCode::SUCCESS;
    }
    let outcome = Options::parse(words.into_iter()).and_then(|options| match options.command.clone() {
        Command::Serve(name) => serve(&name),
        Command::Alone(name) => alone::run(&name, &options).map(|()| true),
        Command::Paper => paper::run(&options, &command()),
        Command::Charts => charts::again(&options).map(|()| true),
        Command::Measure => facing(options).and_then(|options| measure(&options)),
    });
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn serve(name: &str) -> Result<bool, String> {
    let entry = Entry::named(name).ok_or_else(|| format!("no peer {name}"))?;
    server::serve(entry).map(|()| true).map_err(|error| error.to_string())
}

/// The options, after the program of `--against` has said what it is.
fn facing(options: Options) -> Result<Options, String> {
    let Some(path) = &options.against else { return Ok(options) };
    let other = Other::meet(path, options.kernel.as_deref(), client::GREETING)?;
    options.facing(other)
}

/// Does the whole run. Returns `Ok(false)` if a bar was missed.
fn measure(options: &Options) -> Result<bool, String> {
    let mut machine = Machine::here(options.arch());
    describe(&machine);
    let mut rows = Vec::new();
    let mut peers = Vec::new();
    let mut comparisons = Vec::new();
    let (whole, inside): (Vec<Task>, Vec<Task>) = options.tasks().into_iter().partition(|task| task.is_whole());
    if !inside.is_empty() {
        let mut field = Field::start(options);
        let probed = field.probe();
        for &task in &inside {
            let inputs: Vec<&str> = task.inputs().iter().copied().filter(|input| options.wants_input(input)).collect();
            // The inputs of these are different work.
            let rotates = options.rotate && !matches!(task, Task::Million | Task::Migrate);
            let together = if rotates { inputs.len().max(1) } else { 1 };
            for inputs in inputs.chunks(together) {
                eprintln!("{} {}", task.name(), inputs.join(", "));
                rows.extend(field.measure(task, inputs, options));
            }
            print!("{}", report::table(&rows, task, options.rotate));
            if task == Task::Validate {
                print_verdicts(&probed);
            }
            comparisons.extend(compare(&rows, task, options));
        }
        peers = peer_reports(&field, &probed);
    }
    // The servers have ended by now: during this part, only this process and its children should run.
    for &task in &whole {
        eprintln!("{}", task.name());
        rows.extend(match task {
            Task::Query => query::measure(options),
            task if Task::ALONE.contains(&task) => alone::measure(task, options),
            task => convert::measure(task, options),
        });
        print!("{}", report::table(&rows, task, false));
        comparisons.extend(compare(&rows, task, options));
    }
    machine.finished();
    if let Some(folder) = &options.svg {
        charts::write(folder, &rows, options, &machine)?;
    }
    let mut bars = if options.bars { bars::check(&rows, &options.tasks(), options.avx2()) } else { Vec::new() };
    bars.extend(options.within.iter().flat_map(|share| against::bars(&comparisons, *share)));
    if options.bars || options.within.is_some() {
        print!("{}", report::bars(&bars));
    }
    let against = options.other.as_ref().map(|other| AgainstReport {
        program: file_name(&other.path),
        version: &other.version,
        comparisons: &comparisons,
    });
    write(
        options,
        &Report {
            machine: &machine,
            command: command(),
            rotated: options.rotate,
            peers,
            rows: &rows,
            bars: &bars,
            against,
        },
    )?;
    Ok(bars.iter().all(bars::Bar::holds))
}

/// Compares one task of both builds and prints the comparison. Without another build, does nothing.
fn compare(rows: &[Row], task: Task, options: &Options) -> Vec<Comparison> {
    let Some(other) = &options.other else { return Vec::new() };
    let comparisons = against::compared(rows, task);
    print!("{}", against::table(&comparisons, &other.words()));
    comparisons
}

fn describe(machine: &Machine) {
    println!("{}, {}, {} CPUs, {}", machine.date, machine.cpu, machine.cpus, machine.features.join(" "));
    println!("{}; {} {}; {}", machine.rustc, machine.cxx, machine.cxx_flags, machine.allocator);
    println!("load {:.2} before the run", machine.load_before);
    if machine.rust_profile != "release" {
        println!("NOT A RELEASE BUILD: the figures mean nothing");
    }
}

fn print_verdicts(probed: &[(String, Vec<String>)]) {
    println!(
        "\n  against RFC 8259 (size, depth and number range may be limited by it, so refusals there are allowed):"
    );
    for (name, wrong) in probed {
        println!("  {name}: {}", if wrong.is_empty() { "nothing wrong".to_owned() } else { wrong.join(", ") });
    }
}

fn peer_reports(field: &Field, probed: &[(String, Vec<String>)]) -> Vec<PeerReport> {
    let report = |(entry, name, build, version): (&'static Entry, &str, Build, String)| {
        let shortfalls = entry.shortfalls.iter().map(|(task, words)| (task.name(), *words)).collect();
        let wrong_verdicts = probed.iter().find(|(other, _)| *other == name).map(|(_, wrong)| wrong.clone());
        let wrong_verdicts = wrong_verdicts.unwrap_or_default();
        PeerReport { name: name.to_owned(), build, version, note: entry.note, shortfalls, wrong_verdicts }
    };
    field.versions().into_iter().map(report).collect()
}

/// The command line. Absolute paths are reduced to file names, because their folders mean nothing on other machines.
fn command() -> String {
    let name = |word: String| if Path::new(&word).is_absolute() { file_name(Path::new(&word)) } else { word };
    let words: Vec<String> = std::env::args().skip(1).map(name).collect();
    format!("cargo run --release -p bench -- {}", words.join(" "))
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn write(options: &Options, report: &Report<'_>) -> Result<(), String> {
    let Some(path) = &options.out else { return Ok(()) };
    let text = serde_json::to_string_pretty(report).map_err(|error| error.to_string())?;
    std::fs::write(path, text + "\n").map_err(|error| format!("{}: {error}", path.display()))
}
