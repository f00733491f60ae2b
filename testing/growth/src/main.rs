//! `growth`: checks that the cost of every public entry point of jird grows linearly with its input, whatever the input
//! contains.
//!
//! Without `--measure` the program runs itself under callgrind, reads what each call cost, and reports the cases that
//! grow too fast.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it is a program for people at a terminal")]

use growth::{Case, Measured, callgrind, cases, judge};
use jird::hooks::Kernel;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::{io, thread};

const USAGE: &str = "\
usage: growth [--list | --all | --one-in N] [TEXT]

Counts the instructions of every way into jird, on inputs of n, 2n and 4n bytes. Fails if a cost grows faster than its
input. Needs valgrind. TEXT: only the cases whose name contains it.

  --list      names the cases
  --all       prints what each case costs, not only those that fail
  --one-in N  runs one case in N, of every way and of every shape some
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["--measure", part, parts, one_in, rest @ ..] => {
            measure(number(part), number(parts), Choice::new(one_in, rest));
        }
        ["--list", rest @ ..] => Choice::new("1", rest).cases().iter().for_each(|case| println!("{}", case.name)),
        ["--help" | "-h"] => print!("{USAGE}"),
        ["--all", rest @ ..] => return report(Choice::new("1", rest), true),
        ["--one-in", one_in, rest @ ..] => return report(Choice::new(one_in, rest), false),
        rest => return report(Choice::new("1", rest), false),
    }
    ExitCode::SUCCESS
}

/// The cases to run: a sample of those whose name contains the text.
#[derive(Clone, Copy)]
struct Choice<'a> {
    one_in: &'a str,
    text: &'a str,
}

impl<'a> Choice<'a> {
    fn new(one_in: &'a str, text: &[&'a str]) -> Self {
        Self { one_in, text: text.first().copied().unwrap_or_default() }
    }

    /// The sum of a name's bytes decides, so that neither a way nor a shape is left out, as it would be by their order.
    fn cases(self) -> Vec<Case> {
        let one_in = number(self.one_in).max(1);
        let sum = |name: &str| name.bytes().map(usize::from).sum::<usize>();
        cases().into_iter().filter(|case| case.name.contains(self.text) && sum(&case.name) % one_in == 0).collect()
    }
}

fn number(text: &str) -> usize {
    text.parse().unwrap_or_else(|_| panic!("not a number: {text}"))
}

/// Runs every case of part `part` of `parts`. Prints a line for each call: how it ended, the input's length, and the
/// name. Callgrind counts the calls' instructions.
fn measure(part: usize, parts: usize, choice: Choice<'_>) {
    // Valgrind supports no AVX-512, and not all of the AVX2 code that compilers write. All kernels run the same
    // algorithms.
    let portable = Kernel::named("portable").expect("every machine has it");
    portable.force().expect("no other kernel was forced");
    for case in choice.cases().iter().skip(part).step_by(parts) {
        for times in [1, 2, 4] {
            let prepared = (case.prepare)(case.bytes * times);
            let bytes = prepared.bytes;
            let ended = if prepared.run() { "ended" } else { "panicked" };
            println!("{ended}\t{bytes}\t{}", case.name);
        }
    }
}

fn report(choice: Choice<'_>, all: bool) -> ExitCode {
    if !callgrind::is_there() {
        eprintln!("valgrind is not there (apt-get install valgrind)");
        return ExitCode::from(2);
    }
    let measured = match measured(choice) {
        Ok(measured) => measured,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let (mut counted, mut failed) = (0, 0);
    for case in choice.cases() {
        let call = measured.get(&case.name);
        let fault = match call {
            None => Some("was not counted"),
            Some(Call { ended: false, .. }) => Some("panicked"),
            Some(call) => judge(&call.measured, &case.bar),
        };
        let measured = call.map(|call| call.measured).unwrap_or_default();
        counted += 1;
        failed += usize::from(fault.is_some());
        if let Some(fault) = fault {
            println!("FAILED {}: {fault}: {measured}", case.name);
        } else if all {
            println!("ok     {}: {measured}", case.name);
        }
    }
    println!("growth: {counted} cases, {failed} failed");
    if failed == 0 && counted > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The three calls of a case.
struct Call {
    measured: Measured,
    /// No call panicked.
    ended: bool,
}

/// The cost of each case, by its name. The cases are divided among as many processes as there are cores.
fn measured(choice: Choice<'_>) -> io::Result<BTreeMap<String, Call>> {
    let parts = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let parts: Vec<_> = (0..parts).map(|part| scope.spawn(move || measured_part(part, parts, choice))).collect();
        let mut all = BTreeMap::new();
        for part in parts {
            all.extend(part.join().unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))?);
        }
        Ok(all)
    })
}

fn measured_part(part: usize, parts: usize, choice: Choice<'_>) -> io::Result<BTreeMap<String, Call>> {
    let program = std::env::current_exe()?;
    let folder = std::env::temp_dir().join(format!("jird-growth-{}-{part}", std::process::id()));
    let (part, parts) = (part.to_string(), parts.to_string());
    let arguments = ["--measure", &part, &parts, choice.one_in, choice.text];
    let (printed, counts) = callgrind::counts(&program, &arguments, &folder)?;
    let lines: Vec<Vec<&str>> = printed.lines().map(|line| line.splitn(3, '\t').collect()).collect();
    if lines.len() != counts.len() || lines.iter().any(|line| line.len() != 3) {
        return Err(io::Error::other(format!("{} calls were made, and {} counted", lines.len(), counts.len())));
    }
    let calls = lines.chunks_exact(3).zip(counts.chunks_exact(3)).map(|(lines, counts)| {
        let bytes = [0, 1, 2].map(|index: usize| lines[index][1].parse().unwrap_or_default());
        let measured = Measured { bytes, cost: [counts[0], counts[1], counts[2]] };
        (lines[0][2].to_owned(), Call { measured, ended: lines.iter().all(|line| line[0] == "ended") })
    });
    Ok(calls.collect())
}
