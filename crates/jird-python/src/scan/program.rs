//! The program `jird`, which has SQL: what a run of it writes is read here.

use crate::forked::Process;
use std::error::Error;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// What a run writes, where a file would be named.
pub(super) const RESULT: &str = "the result of the query";

/// Bytes of messages that are kept.
const WORDS_MAX: u64 = 64 << 10;

/// The exit code of a run that has answered, and found that data was bad.
const BAD_DATA: i32 = 1;

/// A call of the program.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) path: PathBuf,
    /// All but the format of the result.
    pub(super) arguments: Vec<OsString>,
    /// Whether the answer counts although bad records were left out.
    pub(super) skips_bad: bool,
}

/// A run of a program, which any thread may stop.
#[derive(Debug)]
pub(super) struct Run {
    program: Arc<Program>,
    /// The process whose child the program is.
    process: Process,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    child: Option<Child>,
    is_stopped: bool,
    /// What the program said although it succeeded.
    notes: Vec<String>,
}

/// Why a run has failed, in the program's words.
#[derive(Debug)]
pub(super) struct ProgramError(pub(super) String);

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for ProgramError {}

impl Run {
    pub(super) fn new(program: &Arc<Program>) -> Arc<Self> {
        Arc::new(Self { program: Arc::clone(program), process: Process::this(), state: Mutex::default() })
    }

    /// Starts the program. What it writes ends with an error if the program fails: one that holds a [`Refused`].
    ///
    /// # Errors
    /// If the program cannot be started, or the run was stopped before.
    pub(super) fn start(self: &Arc<Self>, format: &str) -> io::Result<Output> {
        let Program { path, arguments, .. } = &*self.program;
        let mut state = self.state();
        if state.is_stopped {
            return Err(io::Error::other(ProgramError("the query was stopped".to_owned())));
        }
        let mut command = Command::new(path);
        command.args(["query", "--format", format]).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = command.spawn();
        let mut child =
            started.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
        let pipe = child.stdout.take().expect("it is a pipe");
        let messages = child.stderr.take().expect("it is a pipe");
        state.child = Some(child);
        let words = thread::spawn(move || {
            let (mut words, mut messages) = (Vec::new(), messages.take(WORDS_MAX));
            let _ = messages.read_to_end(&mut words);
            // The rest is taken away, so that the program never waits.
            let _ = io::copy(&mut messages.into_inner(), &mut io::sink());
            String::from_utf8_lossy(&words).into_owned()
        });
        Ok(Output { pipe, words: Some(words), run: Arc::clone(self) })
    }

    /// Ends the program, if it still runs. A thread that reads what it writes comes to an end. In a child of the process
    /// that has started the program this does nothing.
    pub(super) fn stop(&self) {
        if !self.process.is_this() {
            return;
        }
        let mut state = self.state();
        state.is_stopped = true;
        if let Some(child) = &mut state.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// What the program said although it succeeded, such as how many bad records it has left out.
    pub(super) fn notes(&self) -> Vec<String> {
        self.state().notes.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the program, which has closed its output.
    fn end(&self, words: &str) -> io::Result<()> {
        let mut state = self.state();
        let status = state.child.as_mut().expect("it was started").wait()?;
        let mut lines = words.lines().map(|line| line.strip_prefix("jird: ").unwrap_or(line).to_owned());
        if status.success() || (status.code() == Some(BAD_DATA) && self.program.skips_bad) {
            state.notes = lines.collect();
            return Ok(());
        }
        let words = match lines.next() {
            Some(first) => lines.fold(first, |words, line| words + "\n" + &line),
            None if state.is_stopped => "the query was stopped".to_owned(),
            None => format!("{} has ended with {status}", self.program.path.display()),
        };
        Err(io::Error::other(ProgramError(words)))
    }
}

/// What a program writes.
pub(super) struct Output {
    pipe: ChildStdout,
    /// Collects the messages; `None` after the end.
    words: Option<JoinHandle<String>>,
    run: Arc<Run>,
}

impl Read for Output {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.pipe.read(buffer)?;
        if read == 0 && !buffer.is_empty() {
            // A reader that asks again after an error is at the end.
            if let Some(words) = self.words.take() {
                self.run.end(&words.join().unwrap_or_default())?;
            }
        }
        Ok(read)
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if self.words.is_some() {
            self.run.stop();
        }
    }
}
