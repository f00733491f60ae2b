//! One step of a run. Its output goes to a log, from which tests are counted and failures are shown.
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use crate::house::House;

/// The function that does a step's work.
pub(crate) type Run = Box<dyn Fn(&House, &mut Log) -> Outcome + Send + Sync>;

/// A step to run.
pub(crate) struct Step {
    /// Unique in its list.
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) run: Run,
    /// Whether its neighbours in the list may run at the same time.
    pub(crate) has_company: bool,
    /// Whether it runs only if it is named or if all steps are wanted.
    pub(crate) is_long: bool,
    /// Folders of the target folder that only this step uses.
    pub(crate) folders: &'static [&'static str],
}

impl Step {
    pub(crate) fn new(
        name: &'static str,
        about: &'static str,
        run: impl Fn(&House, &mut Log) -> Outcome + Send + Sync + 'static,
    ) -> Self {
        Self { name, about, run: Box::new(run), has_company: false, is_long: false, folders: &[] }
    }

    /// A step that takes long, and that few changes need.
    pub(crate) fn long(self) -> Self {
        Self { is_long: true, ..self }
    }

    /// A step that runs at the same time as those with company beside it in the list: it compares no times, and often it
    /// keeps only one core busy. Of those that build in the same target folder, one waits for the other.
    pub(crate) fn in_company(self) -> Self {
        Self { has_company: true, ..self }
    }

    /// A step that builds in these folders of the target folder, which no other step uses. They are removed after the
    /// step where disks are small (`JIRD_TIDY`).
    pub(crate) fn alone_in(self, folders: &'static [&'static str]) -> Self {
        Self { folders, ..self }
    }
}

/// How a step ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    /// The log says why.
    Failed,
    /// Something is missing that can be installed.
    Skipped(String),
    /// This machine can never run the step, for example because it lacks an instruction set.
    Impossible(String),
}

impl From<bool> for Outcome {
    fn from(passed: bool) -> Self {
        if passed { Self::Passed } else { Self::Failed }
    }
}

/// The log that a step's commands write to.
pub(crate) struct Log {
    pub(crate) path: PathBuf,
    /// The processor time that its commands have taken, in seconds.
    pub(crate) cpu: f64,
}

impl Log {
    pub(crate) fn create(house: &House, name: &str) -> io::Result<Self> {
        let folder = house.target.join("xtask");
        fs::create_dir_all(&folder)?;
        let path = folder.join(name.replace(' ', "-")).with_extension("log");
        File::create(&path)?;
        Ok(Self { path, cpu: 0.0 })
    }

    /// Runs `command` to its end. Returns false if it failed or could not be started.
    pub(crate) fn run(&mut self, command: &mut Command) -> bool {
        self.say(&format!("$ {command:?}"));
        let outcome = self.append().and_then(|log| {
            let copy = log.try_clone()?;
            let (status, cpu) = wait(&mut command.stdout(Stdio::from(log)).stderr(Stdio::from(copy)).spawn()?)?;
            self.cpu += cpu;
            Ok(status)
        });
        match outcome {
            Ok(status) if status.success() => true,
            Ok(status) => {
                self.say(&format!("error: {status}"));
                false
            }
            Err(error) => {
                self.say(&format!("error: {error}"));
                false
            }
        }
    }

    /// Runs a `cargo test` that also shows the output of passed tests, because that reports skipped parts.
    pub(crate) fn run_tests(&mut self, command: &mut Command) -> Outcome {
        let passed = self.run(command.args(["--no-fail-fast", "--", "--show-output"]));
        let ran = Counts::of(&self.text()).passed > 0;
        if passed && !ran {
            self.say("error: no test ran");
        }
        Outcome::from(passed && ran)
    }

    /// Adds a line.
    pub(crate) fn say(&mut self, line: &str) {
        let written = self.append().and_then(|mut log| io::Write::write_all(&mut log, format!("{line}\n").as_bytes()));
        if let Err(error) = written {
            eprintln!("{}: {error}", self.path.display());
        }
    }

    /// The log so far.
    pub(crate) fn text(&self) -> String {
        read(&self.path)
    }

    fn append(&self) -> io::Result<File> {
        File::options().append(true).open(&self.path)
    }
}

/// Waits until the process ends. Says how it ended, and how many seconds of processor time it took with all that it
/// started.
fn wait(child: &mut Child) -> io::Result<(ExitStatus, f64)> {
    /// The system adds up the time of all children of this program, each when its end is seen: one at a time.
    static SEEING: Mutex<()> = Mutex::new(());
    loop {
        {
            let _one = SEEING.lock();
            let before = children_cpu_seconds();
            if let Some(status) = child.try_wait()? {
                return Ok((status, children_cpu_seconds().zip(before).map_or(0.0, |(after, before)| after - before)));
            }
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// The processor time that all child processes have taken that have ended, in seconds; `None` where the system does not
/// tell.
pub(crate) fn children_cpu_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in brackets, may have blanks. The fields after it are counted from the third.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: f64 = fields.get(13)?.parse::<f64>().ok()? + fields.get(14)?.parse::<f64>().ok()?;
    Some(ticks / 100.0)
}

fn read(path: &Path) -> String {
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// Counts of the tests that ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl Counts {
    /// Adds up the lines `test result: ok. 3 passed; 0 failed; …` of a log.
    pub(crate) fn of(log: &str) -> Self {
        let mut counts = Self::default();
        for line in log.lines().filter_map(|line| line.strip_prefix("test result: ")) {
            for part in line.split(['.', ';']) {
                match part.trim().split_once(' ') {
                    Some((count, "passed")) => counts.passed += count.parse().unwrap_or(0),
                    Some((count, "failed")) => counts.failed += count.parse().unwrap_or(0),
                    _ => (),
                }
            }
        }
        counts
    }
}

/// The parts that tests skipped, from the lines `skipped: WHAT` that they print. Each part is listed once.
pub(crate) fn skips(log: &str) -> Vec<String> {
    let mut skips: Vec<String> =
        log.lines().filter_map(|line| line.trim().strip_prefix("skipped: ")).map(str::to_owned).collect();
    skips.sort_unstable();
    skips.dedup();
    skips
}

/// The lines of a log that tell why it failed: the sections about failed tests, or else what compilers call errors, and
/// the end of the log.
pub(crate) fn why(log: &str) -> String {
    const LINES: usize = 120;
    let mut failures: Vec<&str> = Vec::new();
    let mut errors: Vec<&str> = Vec::new();
    let (mut in_failures, mut in_error) = (false, false);
    for line in log.lines() {
        in_failures = line == "failures:" || (in_failures && !line.starts_with("test result:"));
        in_error = line.starts_with("error") || (in_error && !line.trim().is_empty());
        if in_failures {
            failures.push(line);
        } else if in_error {
            errors.push(line);
        }
    }
    let mut shown = if failures.is_empty() {
        errors.truncate(LINES / 2);
        let end: Vec<&str> = log.lines().collect();
        errors.extend(&end[end.len().saturating_sub(LINES - errors.len())..]);
        errors
    } else {
        errors.extend(failures);
        errors
    };
    shown.truncate(LINES);
    shown.iter().flat_map(|line| "    ".chars().chain(line.chars().take(300)).chain(['\n'])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_command_costs_what_it_and_its_children_take() {
        let mut busy = Command::new("sh");
        busy.args(["-c", "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'"]);
        let mut idle = Command::new("sh");
        let (status, cpu) = wait(&mut busy.spawn().unwrap()).unwrap();
        assert!(status.success() && cpu > 0.02, "{cpu}");
        let (status, cpu) = wait(&mut idle.args(["-c", "sleep 0.1; exit 3"]).spawn().unwrap()).unwrap();
        assert!(status.code() == Some(3) && cpu < 0.05, "{cpu}");
    }

    const LOG: &str = "\
running 2 tests
skipped: the corpus
test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
  skipped: the corpus
  skipped: a guard page
test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";

    #[test]
    fn tests_are_counted_over_all_binaries() {
        assert_eq!(Counts::of(LOG), Counts { passed: 15, failed: 2 });
    }

    #[test]
    fn what_tests_left_out_is_listed_once() {
        assert_eq!(skips(LOG), ["a guard page", "the corpus"]);
    }

    #[test]
    fn a_failed_run_shows_its_failed_tests_and_a_failed_build_its_errors_and_its_end() {
        let run = "noise\nfailures:\n---- a stdout ----\nboom\ntest result: FAILED. 0 passed\nnoise\n";
        assert_eq!(why(run), "    failures:\n    ---- a stdout ----\n    boom\n");
        let build = "error: useless\n  --> a.rs\n\n".to_owned() + &"one\n".repeat(500) + "the last line\n";
        assert!(why(&build).starts_with("    error: useless\n      --> a.rs\n    one\n"));
        assert!(why(&build).ends_with("    the last line\n"));
        assert_eq!(why(&build).lines().count(), 120);
    }
}
