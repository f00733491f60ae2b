//! Finds out what the program at PATH is.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use serde::Serialize;

use crate::client::{self, Client, NoServer};
use crate::task::Task;

/// The advice in messages: what to name instead.
const WANTED: &str = "name the `bench` executable of another checkout (target/release/bench), or a `jird` program";

/// The program of `--against`, after it has answered.
#[derive(Clone, Debug)]
pub(crate) struct Other {
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
    /// The version, as the program states it.
    pub(crate) version: String,
}

/// What the program is, which determines the tasks that it can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// A `bench` executable: it serves peers over a pipe, and does the tasks whose contestants work alone.
    Barometer,
    /// A `jird` executable, for the tasks that run it over files.
    Program,
}

impl Other {
    /// Asks the program what it is, with two questions. Waits up to `patience` for each answer.
    pub(crate) fn meet(path: &Path, kernel: Option<&str>, patience: Duration) -> Result<Self, String> {
        let named = |reason: &str| format!("--against {}: {reason}", path.display());
        let found = path.canonicalize().map_err(|error| named(&format!("{error}; {WANTED}")))?;
        if found.is_dir() {
            return Err(named(&format!("a folder; {WANTED}")));
        }
        let said = first_line(&found, patience).map_err(|reason| named(&format!("{reason}; {WANTED}")))?;
        if let Some(version) = said.strip_prefix(b"jird ") {
            let version = String::from_utf8_lossy(version).trim_end().to_owned();
            return Ok(Self { path: found, kind: Kind::Program, version });
        }
        match Client::start(&found, "jird", kernel, patience) {
            Ok(client) => Ok(Self { path: found, kind: Kind::Barometer, version: client.version.clone() }),
            Err(NoServer::Unfit(reason)) => Err(named(&format!("a barometer whose jird cannot take part: {reason}"))),
            Err(NoServer::Unlike(reason)) => {
                let said = if said.is_empty() { "nothing".to_owned() } else { client::beginning(&said) };
                Err(named(&format!(
                    "neither a jird program nor a barometer. `--version` printed {said}; `--serve jird` should have \
                     greeted, but {reason}. Please {WANTED}"
                )))
            }
        }
    }

    /// Whether the program can take part in a task.
    pub(crate) fn does(&self, task: Task) -> bool {
        let runs_jird = task == Task::Query || Task::CONVERSIONS.contains(&task);
        runs_jird == (self.kind == Kind::Program)
    }

    /// The message that says why the program cannot do a task.
    pub(crate) fn cannot(&self, task: Task) -> String {
        let (is, wants) = match self.kind {
            Kind::Barometer => ("a `bench` executable", "a `jird` program"),
            Kind::Program => ("a `jird` program", "a `bench` executable"),
        };
        format!("--against {} is {is}; the task {} wants {wants}", self.path.display(), task.name())
    }

    /// A description for people.
    pub(crate) fn words(&self) -> String {
        let kind = match self.kind {
            Kind::Barometer => "bench",
            Kind::Program => "jird",
        };
        format!("{} ({kind} {})", self.path.display(), self.version)
    }
}

/// The first line that `--version` prints; empty if the program ends without output on standard output, as `bench`
/// does.
fn first_line(program: &Path, patience: Duration) -> Result<Vec<u8>, String> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let line = client::lines_of(child.stdout.take().expect("piped above")).recv_timeout(patience);
    // The line that matters was read. The process may have ended by itself.
    let _ = child.kill();
    let _ = child.wait();
    match line {
        Ok(line) => Ok(line),
        Err(RecvTimeoutError::Disconnected) => Ok(Vec::new()),
        Err(RecvTimeoutError::Timeout) => Err(format!("`--version` gave no answer within {patience:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::GREETING;

    const SHORT: Duration = Duration::from_millis(500);

    /// A script of `tests/impostors`, or another file of this package.
    fn meet(file: &str, patience: Duration) -> Result<Other, String> {
        Other::meet(&Path::new(env!("CARGO_MANIFEST_DIR")).join(file), None, patience)
    }

    #[test]
    fn what_is_no_jird_is_refused_with_the_reason() {
        let cases = [
            ("tests/not-there", GREETING, "No such file"),
            ("tests/impostors", GREETING, "a folder"),
            ("Cargo.toml", GREETING, "Permission denied"),
            ("tests/impostors/garbage", GREETING, r#"`--version` printed "hello, whatever you are""#),
            ("tests/impostors/endless", GREETING, "neither a jird program nor a barometer"),
            ("tests/impostors/quitter", GREETING, "died (exit status: 3)"),
            ("tests/impostors/closed", GREETING, "closed its output"),
            ("tests/impostors/silent", SHORT, "`--version` gave no answer within 500ms"),
        ];
        for (file, patience, words) in cases {
            let reason = meet(file, patience).expect_err(file);
            assert!(reason.starts_with("--against /") && reason.contains(words), "{file}: {reason}");
            assert!(reason.contains(WANTED), "{file}: {reason}");
        }
    }

    #[test]
    fn a_barometer_that_cannot_take_part_is_not_called_something_else() {
        for (file, words) in [("newer", "version 7 of the protocol"), ("unwilling", "no such kernel here")] {
            let reason = meet(&format!("tests/impostors/{file}"), GREETING).expect_err(file);
            assert!(reason.contains("a barometer whose jird cannot take part") && reason.contains(words), "{reason}");
        }
    }

    #[test]
    fn a_program_and_a_barometer_do_different_tasks() {
        let program = meet("tests/impostors/program", GREETING).expect("it names itself");
        assert_eq!((program.kind, program.version.as_str()), (Kind::Program, "9.8.7 (kernel none, of none)"));
        let barometer = meet("tests/impostors/mute", GREETING).expect("it greets");
        assert_eq!((barometer.kind, barometer.version.as_str()), (Kind::Barometer, "0.1.0 (mute)"));
        for (task, by_program) in
            [(Task::Query, true), (Task::NdjsonToCsv, true), (Task::Small, false), (Task::Readers, false)]
        {
            assert_eq!((program.does(task), barometer.does(task)), (by_program, !by_program), "{task:?}");
        }
    }
}
