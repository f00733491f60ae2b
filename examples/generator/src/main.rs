//! `generate-events`: see the library's documentation.
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use generate_events::{EVENTS_DEFAULT, SEED_DEFAULT, write_events, write_events_within};

const USAGE: &str = "\
Writes log events in the Compact Log Event Format, one a line.

usage: generate-events [--events N] [--seed N] [--hours N] [-o FILE]

  --events N   how many (1369670, about 490 MB)
  --seed N     the same seed gives the same bytes (2020)
  --hours N    their times fill N hours, instead of 63 ms for each
  -o FILE      where to, instead of standard output
";

struct Options {
    events: u64,
    seed: u64,
    hours: Option<u64>,
    output: Option<PathBuf>,
}

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => return say(&mut io::stdout(), USAGE, ExitCode::SUCCESS),
        Err(message) => {
            return say(&mut io::stderr(), &format!("generate-events: {message}\n\n{USAGE}"), ExitCode::from(2));
        }
    };
    match options.run() {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the output closed it.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => say(&mut io::stderr(), &format!("generate-events: {error}\n"), ExitCode::from(2)),
    }
}

fn say(to: &mut impl Write, text: &str, code: ExitCode) -> ExitCode {
    // There is nowhere left to report a failure to.
    let _ = to.write_all(text.as_bytes());
    code
}

impl Options {
    /// `None` when help was asked for.
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Option<Self>, String> {
        let mut options = Self { events: EVENTS_DEFAULT, seed: SEED_DEFAULT, hours: None, output: None };
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} wants a value"));
            let count = |text: String| text.parse().map_err(|_| format!("{text} is not a number"));
            match argument.as_str() {
                "--events" => options.events = count(value()?)?,
                "--seed" => options.seed = count(value()?)?,
                "--hours" => options.hours = Some(count(value()?)?),
                "-o" => options.output = Some(value()?.into()),
                "-h" | "--help" => return Ok(None),
                _ => return Err(format!("unknown argument {argument}")),
            }
        }
        Ok(Some(options))
    }

    fn run(&self) -> io::Result<()> {
        match &self.output {
            Some(path) => self.write(&mut File::create(path)?),
            None => self.write(&mut io::stdout().lock()),
        }
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        match self.hours {
            Some(hours) => write_events_within(out, self.events, self.seed, hours),
            None => write_events(out, self.events, self.seed),
        }
    }
}
