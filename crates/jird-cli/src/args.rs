//! The arguments of `jird`, and their help.

use crate::outcome::Outcome;
use anyhow::Context;
use clap::{CommandFactory, Parser, Subcommand};
use jird::hooks::Kernel;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Reads, checks, reshapes and queries JSON at memory speed.
#[derive(Debug, Parser)]
#[command(name = "jird", version = version(), max_term_width = 100, after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER_HELP: &str = "\
Without FILE, or for `-`, standard input is read.

Text is UTF-8. Every command skips a byte order mark at the very start of a file or of standard
input, and `validate` notes it. Offsets and columns count its three bytes. Anywhere else
it is an error. UTF-16 and UTF-32 are not read: the message names them and how to convert them.

Exit codes: 0 success; 1 something is wrong with the data; 2 the command could not do its work;
129, 130 and 143 after SIGHUP, SIGINT (Ctrl-C) and SIGTERM, which leave nothing half-written.
A closed output pipe, as after `head`, is not an error.

Work that takes more than a second shows its progress, if standard error is a terminal.

Environment: JIRD_KERNEL forces an instruction set (see `jird --version`); NO_COLOR switches colours off;
JIRD_PROGRESS names a file or pipe, to which lines of JSON are appended that say how much is read.

Examples:
  jird validate *.json
  jird get /statuses/0/user/name twitter.json
  jird fmt --minify < pretty.json > small.json
  jird set /size 1.50 data.json
  jird query \"select Message where Elapsed > 200\" events.ndjson
  jird convert events.ndjson events.parquet";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  jird completions bash > ~/.local/share/bash-completion/completions/jird
  jird completions zsh > ~/.zfunc/_jird               with fpath+=~/.zfunc before compinit
  jird completions fish > ~/.config/fish/completions/jird.fish";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Validate(crate::validate::ValidateArgs),
    Fmt(crate::fmt::FmtArgs),
    Get(crate::get::GetArgs),
    Set(crate::edit::SetArgs),
    Unset(crate::edit::UnsetArgs),
    Patch(crate::edit::PatchArgs),
    Merge(crate::edit::MergeArgs),
    Diff(crate::diff::DiffArgs),
    #[cfg(feature = "query")]
    Query(Box<crate::query::QueryArgs>),
    #[cfg(feature = "query")]
    Bench(crate::bench::BenchArgs),
    /// Not in this program
    #[cfg(not(feature = "query"))]
    #[command(hide = true, disable_help_flag = true)]
    Query(Absent),
    /// Not in this program
    #[cfg(not(feature = "query"))]
    #[command(hide = true, disable_help_flag = true)]
    Bench(Absent),
    #[cfg(feature = "convert")]
    Ingest(crate::ingest::IngestArgs),
    #[cfg(feature = "convert")]
    Store(crate::store::StoreArgs),
    #[cfg(feature = "convert")]
    Convert(crate::convert::ConvertArgs),
    #[cfg(feature = "convert")]
    Describe(crate::describe::DescribeArgs),
    #[cfg(feature = "serve")]
    Serve(Box<crate::serve::ServeArgs>),
    /// Not in this program
    #[cfg(not(feature = "convert"))]
    #[command(hide = true, disable_help_flag = true)]
    Ingest(Absent),
    /// Not in this program
    #[cfg(not(feature = "convert"))]
    #[command(hide = true, disable_help_flag = true)]
    Store(Absent),
    /// Not in this program
    #[cfg(not(feature = "convert"))]
    #[command(hide = true, disable_help_flag = true)]
    Convert(Absent),
    /// Not in this program
    #[cfg(not(feature = "convert"))]
    #[command(hide = true, disable_help_flag = true)]
    Describe(Absent),
    /// Not in this program
    #[cfg(not(feature = "serve"))]
    #[command(hide = true, disable_help_flag = true)]
    Serve(Absent),
    /// Print a completion script for a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages into a folder
    #[command(hide = true)]
    Man {
        /// The folder
        folder: PathBuf,
    },
}

/// A command that needs more than this program was built with.
#[cfg(not(all(feature = "query", feature = "convert", feature = "serve")))]
#[derive(Debug, clap::Args)]
pub(crate) struct Absent {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<std::ffi::OsString>,
}

#[cfg(not(all(feature = "query", feature = "convert", feature = "serve")))]
impl Absent {
    /// Says where the command can be had. `what` it needs is in the `feature`.
    pub(crate) fn run(self, what: &str, feature: &str) -> anyhow::Result<Outcome> {
        drop(self.arguments);
        Err(crate::outcome::absent(what, feature))
    }
}

/// The version and the kernels, as `jird --version` prints them.
fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        let others: Vec<_> = Kernel::available().map(Kernel::name).collect();
        format!("{} (kernel {}, of {})", env!("CARGO_PKG_VERSION"), Kernel::best().name(), others.join(", "))
    });
    &VERSION
}

/// Forces the kernel that `JIRD_KERNEL` names, if it is set and not empty.
pub(crate) fn kernel() -> anyhow::Result<()> {
    match std::env::var_os("JIRD_KERNEL").filter(|name| !name.is_empty()) {
        None => Ok(()),
        Some(name) => {
            let kernel = Kernel::named(&name.to_string_lossy()).context("JIRD_KERNEL")?;
            kernel.force().context("JIRD_KERNEL")
        }
    }
}

/// Prints the completion script of a shell.
pub(crate) fn completions(shell: clap_complete::Shell) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut visible(), "jird", &mut script);
    crate::output::write(&script)?;
    Ok(Outcome::Fine)
}

/// Writes the manual pages.
pub(crate) fn man(folder: &Path) -> anyhow::Result<Outcome> {
    crate::man::write(visible(), folder)?;
    Ok(Outcome::Fine)
}

/// The arguments without hidden commands, which completions would offer. The version does not name the instruction sets
/// of this machine.
fn visible() -> clap::Command {
    let command = Args::command();
    let subcommands: Vec<_> = command.get_subcommands().filter(|command| !command.is_hide_set()).cloned().collect();
    clap::Command::new("jird")
        .version(env!("CARGO_PKG_VERSION"))
        .about(command.get_about().cloned().unwrap_or_default())
        .after_help(AFTER_HELP)
        .subcommands(subcommands)
        .subcommand_required(true)
}
