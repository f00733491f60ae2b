//! The barometer: jird and its peers side by side, in one interleaved run, each with what it does not do written
//! beside it. `cargo run --release -p bench -- --help` says how.

#![deny(unsafe_code)]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that prints tables and says what it waits for"
)]
#![allow(clippy::cast_precision_loss, reason = "figures for people")]

mod alone;
mod bars;
mod charts;
mod convert;
mod events;
mod fold;
mod keys;
mod machine;
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

use machine::Machine;
use options::{Command, Options};
use peers::Entry;
use report::{PeerReport, Report};
use run::Field;
use task::Task;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--help") {
        print!("{}", options::HELP);
        return ExitCode::SUCCESS;
    }
    let outcome = Options::parse(words.into_iter()).and_then(|options| match &options.command {
        Command::Serve(name) => serve(name, &options),
        Command::Alone(name) => alone::run(name, &options).map(|()| true),
        Command::Paper => paper::run(&options, &command()),
        Command::Keys => {
            keys::run();
            Ok(true)
        }
        Command::Measure => measure(&options),
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

fn serve(name: &str, options: &Options) -> Result<bool, String> {
    let entry = Entry::named(name).ok_or_else(|| format!("no peer {name}"))?;
    if let Some(runs) = options.repeat {
        let input = options.input().ok_or("--repeat wants a --document")?;
        return server::repeat(entry, options.tasks[0], input, runs).map(|()| true);
    }
    server::serve(entry).map(|()| true).map_err(|error| error.to_string())
}

/// The whole run. `Ok(false)` if a bar was missed.
fn measure(options: &Options) -> Result<bool, String> {
    let mut machine = Machine::here(options.arch());
    describe(&machine);
    let mut rows = Vec::new();
    let mut peers = Vec::new();
    let (whole, inside): (Vec<Task>, Vec<Task>) = options.tasks.iter().partition(|task| task.is_whole());
    if !inside.is_empty() {
        let mut field = Field::start(options);
        let probed = field.probe();
        for &task in &inside {
            let inputs: Vec<&str> = task.inputs().iter().copied().filter(|input| options.wants_input(input)).collect();
            // The parts of `million` are of one text.
            let rotates = options.rotate && task != Task::Million;
            let together = if rotates { inputs.len().max(1) } else { 1 };
            for inputs in inputs.chunks(together) {
                eprintln!("{} {}", task.name(), inputs.join(", "));
                rows.extend(field.measure(task, inputs, options));
            }
            print!("{}", report::table(&rows, task, options.rotate));
            if task == Task::Validate {
                print_verdicts(&probed);
            }
        }
        peers = peer_reports(&field, &probed);
    }
    // After the servers are gone: this process should be alone with what it starts.
    for &task in &whole {
        eprintln!("{}", task.name());
        rows.extend(match task {
            Task::Query => query::measure(options),
            task if Task::ALONE.contains(&task) => alone::measure(task, options),
            task => convert::measure(task, options),
        });
        print!("{}", report::table(&rows, task, false));
    }
    machine.finished();
    if let Some(folder) = &options.svg {
        charts::write(folder, &rows, options, &machine)?;
    }
    let bars = if options.bars { bars::check(&rows, &options.tasks, options.avx2()) } else { Vec::new() };
    if options.bars {
        print!("{}", report::bars(&bars));
    }
    write(
        options,
        &Report { machine: &machine, command: command(), rotated: options.rotate, peers, rows: &rows, bars: &bars },
    )?;
    Ok(bars.iter().all(bars::Bar::holds))
}

fn describe(machine: &Machine) {
    println!("{}, {}, {} CPUs, {}", machine.date, machine.cpu, machine.cpus, machine.features.join(" "));
    println!("{}; {} {}; {}", machine.rustc, machine.cxx, machine.cxx_flags, machine.allocator);
    println!("load {:.2} before the run", machine.load_before);
    if machine.rust_profile != "release" {
        println!("NOT A RELEASE BUILD: the figures mean nothing");
    }
}

fn print_verdicts(probed: &[(&'static str, Vec<String>)]) {
    println!(
        "\n  against RFC 8259 (size, depth and number range may be limited by it, so refusals there are allowed):"
    );
    for (name, wrong) in probed {
        println!("  {name}: {}", if wrong.is_empty() { "nothing wrong".to_owned() } else { wrong.join(", ") });
    }
}

fn peer_reports(field: &Field, probed: &[(&'static str, Vec<String>)]) -> Vec<PeerReport> {
    let report = |(name, build, version)| {
        let entry = Entry::named(name)?;
        let shortfalls = entry.shortfalls.iter().map(|(task, words)| (task.name(), *words)).collect();
        let wrong_verdicts = probed.iter().find(|(other, _)| *other == name).map(|(_, wrong)| wrong.clone());
        let wrong_verdicts = wrong_verdicts.unwrap_or_default();
        Some(PeerReport { name, build, version, note: entry.note, shortfalls, wrong_verdicts })
    };
    field.versions().into_iter().filter_map(report).collect()
}

/// How it was called; of files elsewhere only the names, since folders say nothing to others.
fn command() -> String {
    let name = |word: String| {
        let path = Path::new(&word);
        let name = path.file_name().filter(|_| path.is_absolute());
        name.map_or_else(|| word.clone(), |name| name.to_string_lossy().into_owned())
    };
    let words: Vec<String> = std::env::args().skip(1).map(name).collect();
    format!("cargo run --release -p bench -- {}", words.join(" "))
}

fn write(options: &Options, report: &Report<'_>) -> Result<(), String> {
    let Some(path) = &options.out else { return Ok(()) };
    let text = serde_json::to_string_pretty(report).map_err(|error| error.to_string())?;
    std::fs::write(path, text + "\n").map_err(|error| format!("{}: {error}", path.display()))
}
