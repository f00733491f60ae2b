//! Runs one target for some seconds: how it is started, and how its output is read.
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::Fuzzers;
use crate::step::Log;

/// The checks that run in addition to the target's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// Two to three times as many executions per second as [`Pace::Thorough`]. It does not search for uses of a stack
    /// frame after its function returned, nor for leaks. Freed memory is kept from reuse until 16 MB more were freed,
    /// instead of 256 MB. Inputs have at most 1 KiB. Inputs to mutate are picked evenly.
    Quick,
    /// The defaults of AddressSanitizer and libFuzzer.
    Thorough,
}

impl Pace {
    fn sanitizer_options(self) -> &'static str {
        match self {
            Self::Quick => {
                "detect_odr_violation=0:detect_stack_use_after_return=0:quarantine_size_mb=16:malloc_context_size=1"
            }
            Self::Thorough => "detect_odr_violation=0",
        }
    }

    fn fuzzer_options(self) -> &'static [&'static str] {
        match self {
            Self::Quick => &["-detect_leaks=0", "-entropic=0", "-max_len=1024"],
            Self::Thorough => &[],
        }
    }
}

/// The result of a slice.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) executions: u64,
    pub(super) time: Duration,
    pub(super) end: End,
    /// The target's output.
    output: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It ran for the whole time.
    Whole,
    /// It stopped at an input. This is the name of the input's file in `fuzz/artifacts/TARGET`.
    Found(String),
    /// It stopped without an input, because it could not be started or was killed.
    Broken(String),
}

impl Fuzzers<'_> {
    /// Runs `target` for `seconds`. The inputs that it learns stay out of the repository.
    pub(super) fn run_slice(&self, target: &str, pace: Pace, seconds: u64) -> Slice {
        let start = Instant::now();
        let ran = self.slice_command(target, pace, seconds).and_then(|mut command| {
            let path = self.house.target.join("xtask").join(format!("fuzz-{target}.log"));
            let log = File::create(&path)?;
            let status = command.stdout(Stdio::from(log.try_clone()?)).stderr(Stdio::from(log)).status()?;
            let output = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
            Ok((status, output))
        });
        let time = start.elapsed();
        match ran {
            Ok((status, output)) => {
                let end = match (status.success(), artifact(&output)) {
                    (true, _) => End::Whole,
                    (false, Some(name)) => End::Found(name.to_owned()),
                    (false, None) => End::Broken(status.to_string()),
                };
                Slice { executions: executions(&output), time, end, output }
            }
            Err(error) => Slice { executions: 0, time, end: End::Broken(error.to_string()), output: String::new() },
        }
    }

    fn slice_command(&self, target: &str, pace: Pace, seconds: u64) -> io::Result<Command> {
        // libFuzzer writes to the first folder.
        let corpus = self.house.target.join("fuzz-corpus").join(target);
        let artifacts = self.house.root.join("fuzz/artifacts").join(target);
        fs::create_dir_all(&corpus)?;
        fs::create_dir_all(&artifacts)?;
        let mut command = self.house.command(&self.programs.join(target).to_string_lossy());
        command.env("ASAN_OPTIONS", pace.sanitizer_options()).arg(corpus);
        let kept = ["seeds", "regressions"].map(|kind| self.house.root.join("fuzz").join(kind).join(target));
        command.args(kept.iter().filter(|folder| folder.is_dir()));
        command.arg(format!("-dict={}", self.house.root.join("fuzz/json.dict").display()));
        // The slash at the end makes libFuzzer treat it as a folder.
        command.arg(format!("-artifact_prefix={}", artifacts.join("").display()));
        command.arg(format!("-max_total_time={seconds}")).args(pace.fuzzer_options());
        command.args(["-timeout=20", "-rss_limit_mb=4096", "-print_final_stats=1"]);
        Ok(command)
    }
}

impl Slice {
    #[cfg(test)]
    pub(super) fn of(executions: u64, time: Duration, end: End) -> Self {
        Self { executions, time, end, output: String::new() }
    }

    /// Writes the result into the log, with all of the output if the target failed. The caller adds what to do about a
    /// finding.
    pub(super) fn tell(&self, log: &mut Log, target: &str) {
        let seconds = self.time.as_secs();
        let rate = self.executions / seconds.max(1);
        log.say(&format!("{target}: {} executions in {seconds} s, {rate} a second", self.executions));
        if self.end != End::Whole {
            log.say(&self.output);
        }
        if let End::Broken(why) = &self.end {
            log.say(&format!("error: {target} stopped without an input that it fails on: {why}"));
        }
    }
}

/// What to do about a finding.
pub(super) fn remedy(target: &str, name: &str) -> String {
    format!(
        "error: {target} found something. Fix it, and keep the input for the ordinary tests: \
         mkdir -p fuzz/regressions/{target} && mv fuzz/artifacts/{target}/{name} fuzz/regressions/{target}/"
    )
}

/// The number that `-print_final_stats=1` prints, also when libFuzzer stops at a finding.
fn executions(output: &str) -> u64 {
    let figure = output.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    figure.and_then(|figure| figure.trim().parse().ok()).unwrap_or(0)
}

/// The file name of the input on which the target failed. Inputs that were only slow do not count.
fn artifact(output: &str) -> Option<&str> {
    let names = output.lines().filter_map(|line| line.split_once("Test unit written to "));
    let mut names = names.filter_map(|(_, path)| Path::new(path.trim()).file_name()?.to_str());
    names.rfind(|name| !name.starts_with("slow-unit-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CRASH: &str = "\
#8192\tpulse  cov: 10 ft: 20\n\
artifact_prefix='/j/fuzz/artifacts/parse/'; Test unit written to /j/fuzz/artifacts/parse/slow-unit-01\n\
==12== ERROR: libFuzzer: deadly signal\n\
artifact_prefix='/j/fuzz/artifacts/parse/'; Test unit written to /j/fuzz/artifacts/parse/crash-0a1b\n\
stat::number_of_executed_units: 8301\n\
stat::average_exec_per_sec:     4150\n";

    #[test]
    fn executions_are_counted_also_when_a_target_stops_at_a_finding() {
        assert_eq!(executions(CRASH), 8301);
        assert_eq!(executions("killed"), 0);
    }

    #[test]
    fn a_finding_is_named_by_its_file_and_a_slow_input_is_none() {
        assert_eq!(artifact(CRASH), Some("crash-0a1b"));
        let slow: String = CRASH.lines().filter(|line| !line.contains("crash-")).collect::<Vec<_>>().join("\n");
        assert_eq!(artifact(&slow), None);
    }
}
