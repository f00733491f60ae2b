//! The `jird` command.

mod output;
mod query;

use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use jird::Kernel;
use std::process::ExitCode;
use std::sync::LazyLock;

/// Why a command did not do what was asked. The numbers are exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// All is well.
    Fine = 0,
    /// The data was not as asked.
    Data = 1,
    /// The work could not be done.
    Failed = 2,
}

static VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{} (kernel {})", env!("CARGO_PKG_VERSION"), Kernel::best().name()));

/// Reads and queries JSON at the speed of the memory it lies in.
#[derive(Debug, Parser)]
#[command(name = "jird", version = VERSION.as_str(), arg_required_else_help = true)]
struct Arguments {
    /// When to use colours.
    #[arg(long, global = true, value_enum, default_value = "auto", value_name = "WHEN")]
    color: Color,
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
enum Command {
    Query(query::Arguments),
    /// Prints a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

fn main() -> ExitCode {
    if let Err(error) = choose_kernel() {
        say(&error);
        return ExitCode::from(Outcome::Failed as u8);
    }
    let arguments = Arguments::parse();
    let outcome = match arguments.command {
        Command::Query(arguments) => query::run(arguments),
        Command::Completions { shell } => completions(shell),
    };
    ExitCode::from(outcome as u8)
}

/// Takes the instruction set that `JIRD_KERNEL` names.
fn choose_kernel() -> Result<(), String> {
    match std::env::var("JIRD_KERNEL") {
        Ok(name) => Kernel::named(&name)
            .and_then(Kernel::force)
            .map_err(|error| format!("JIRD_KERNEL: {error}")),
        Err(_) => Ok(()),
    }
}

fn completions(shell: clap_complete::Shell) -> Outcome {
    clap_complete::generate(shell, &mut Arguments::command(), "jird", &mut std::io::stdout());
    Outcome::Fine
}

/// A line on standard error. If nobody hears it, so be it.
pub(crate) fn say(message: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "jird: {message}");
}
