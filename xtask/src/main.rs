//! `cargo xtask`: the one command that runs all tests, the longer checks, and what they need.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it is a program for people at a terminal")]
mod assembly; // `assembly`: the compiled code of the kernels
mod budget; // what a build and a start cost, and may cost
#[cfg(test)]
mod claims; // the tests that `docs/claims.md` names are there
mod deb; // `deb`: the Debian package
mod deep; // `deep`: the checks that take too long for every change
mod draw; // `house`: lines, arrows, circles, long functions
mod fuzz; // the fuzz targets, for a number of seconds or executions
mod graph; // which module uses which, and circles
mod growth; // checks with valgrind that costs are linear
mod house; // where files are, and what this machine has
mod layers; // which folder uses which, and the names of types
mod man; // `man`: the manual pages and the completions
mod migrate; // well-known crates with our crate in the place of serde_json
mod miri; // the engine under Miri
mod options; // the options of `deep`
mod packages; // the small build and the packages of the crates
mod platforms; // the engine and the program on other systems
mod public; // the public names of the engine
mod python; // the Python module's wheel and its tests
mod quick; // `quick`: an edit, checked in minutes
mod report; // the table at the end
mod step; // one step: its log, time and outcome
mod test; // `test`: the checks that must pass for every change

use std::process::ExitCode;

use house::House;
use options::Deep;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  quick [CRATE…]       checks an edit in minutes: format, layers, clippy and unit tests of these crates, or of those that
                       differ from the last commit
  test [STEP…]         runs the tests that every change needs; STEP is the beginning of a step's name (--list shows them)
  test --all           runs all tests, also those that take long: Python, every kernel, emulators, Miri
  deep [--minutes N] [STEP…]
                       what takes long: fuzzing for N minutes per target (5), every token string of length 7,
                       hours of Miri, the barometer's bars
  deep --executions N [--jobs N] [STEP…]
                       runs the fuzz targets in turns, on N cores (all), until they were executed N times in all; goes on
                       from the count in fuzz/TALLY.md, and adds to it every minute
  assembly             shows what the kernels' entry functions were compiled to, and fails if one calls what it should not
  house                draws the house: lines, comments and arrows of each crate and folder, circles, the longest functions
  man [--small] [FOLDER]
                       writes the manual pages and the completions for bash, zsh and fish (into target/man); --small
                       builds jird without SQL, in a fraction of the time, and lacks its pages
  deb [--small]        builds the Debian package, installs it into a folder, and uses it from there

What this machine cannot run is skipped and listed at the end. Environment:

  JIRD_REQUIRE_ALL=1   a skipped step is a failed one
  JIRD_TIDY=1          after a step, what it alone has built is removed
  JIRD_CHECKED=1       only the checked build of the engine runs: optimised, every unchecked access checked
  JIRD_TOOLS=DIR       where tools are installed (~/.cache/jird-tools)
  JIRD_CORPUS=DIR      the test corpus (../shared/corpus)
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let house = House::open();
    match arguments.as_slice() {
        ["test", "--list"] => list(&test::steps(&house)),
        ["deep", "--list"] => list(&deep::steps(deep::FUZZING)),
        ["quick", crates @ ..] => quick::run(&house, crates),
        ["test", "--all"] => report::run(&house, test::steps(&house), &[]),
        ["test"] => report::run(&house, test::short(&house), &[]),
        ["test", names @ ..] => report::run(&house, test::steps(&house), names),
        ["deep", rest @ ..] => match Deep::parse(rest) {
            Some(Deep { fuzzing, steps }) => report::run(&house, deep::steps(fuzzing), &steps),
            None => usage(),
        },
        ["assembly"] => report::run(&house, vec![assembly::step(assembly::Show::Report)], &[]),
        ["man", "--small", rest @ ..] => man(&house, &packages::SMALL, rest),
        ["man", rest @ ..] => man(&house, &[], rest),
        ["deb", "--small"] => report::run(&house, vec![deb(&packages::SMALL)], &[]),
        ["deb"] => report::run(&house, vec![deb(&[])], &[]),
        ["house"] => told(draw::print(&house)),
        _ => usage(),
    }
}

fn man(house: &House, features: &'static [&'static str], folder: &[&str]) -> ExitCode {
    let folder = match folder {
        [] => house.target.join("man"),
        [folder] if !folder.starts_with('-') => std::path::absolute(folder).unwrap_or_else(|_| folder.into()),
        _ => return usage(),
    };
    let about = "manual pages and completions";
    let write = move |house: &House, log: &mut step::Log| man::write(house, log, features, &folder).into();
    report::run(house, vec![step::Step::new("man", about, write)], &[])
}

fn deb(features: &'static [&'static str]) -> step::Step {
    step::Step::new("deb", "the Debian package", |house, log| deb::run(house, log, features))
}

fn told(printed: std::io::Result<()>) -> ExitCode {
    match printed {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn list(steps: &[step::Step]) -> ExitCode {
    for step in steps {
        println!("{:<18} {}", step.name, step.about);
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprint!("{USAGE}");
    ExitCode::from(2)
}
