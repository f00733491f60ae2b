//! Counts instructions with valgrind's callgrind.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

/// The symbol of [`measured`](crate::measured), as callgrind names it.
const MEASURED: &str = "growth::case::measured";

/// Whether valgrind can run here.
pub fn is_there() -> bool {
    let version = Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

/// Runs a program that calls [`measured`](crate::measured) repeatedly. Returns the program's output, and the
/// instructions of each call in order, including those of the threads that the call started. `folder` is created, used
/// and removed.
///
/// # Errors
/// If valgrind cannot run, or if the program fails.
pub fn counts(program: &Path, arguments: &[&str], folder: &Path) -> io::Result<(String, Vec<u64>)> {
    // A run that was interrupted may have left files.
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder)?;
    let out = folder.join("calls");
    let mut command = valgrind();
    command.args(["--tool=callgrind", "--dump-line=no"]);
    command.arg(format!("--zero-before={MEASURED}")).arg(format!("--dump-after={MEASURED}"));
    command.arg(with_path("--callgrind-out-file=", &out)).arg(program).args(arguments);
    let output = command.stdin(Stdio::null()).output()?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(format!("{} after {:?}:\n{said}", output.status, tail(&printed))));
    }
    let mut counts = Vec::new();
    // The last file has no number: it has the instructions after the last call.
    loop {
        let dump = PathBuf::from(with_path("", &out) + &format!(".{}", counts.len() + 1));
        match fs::read_to_string(&dump) {
            Ok(dump) => counts.push(total(&dump).ok_or_else(|| io::Error::other("callgrind wrote no total"))?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => break,
            Err(error) => return Err(error),
        }
    }
    fs::remove_dir_all(folder)?;
    Ok((printed, counts))
}

/// Runs a program to its end. Returns its exit code, and the number of all its instructions.
///
/// # Errors
/// If valgrind cannot run, or if it reports no count.
pub fn count_of(command: &Command) -> io::Result<(Option<i32>, u64)> {
    let mut counted = valgrind();
    counted.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(command.get_program());
    counted.args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        counted.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => counted.env(name, value),
            None => counted.env_remove(name),
        };
    }
    let output = counted.stdin(Stdio::null()).stdout(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let count =
        collected(&said).ok_or_else(|| io::Error::other(format!("callgrind counted nothing: {}", tail(&said))))?;
    Ok((output.status.code(), count))
}

/// valgrind, with a C library whose costs are the same on every machine.
///
/// The library's allocator is set to take fresh memory from the system for every buffer. By default it adapts to the
/// memory that was freed before: then a zeroed buffer costs either nothing or one instruction for each byte, depending
/// on earlier cases. The library is also set to copy with vectors at every size. By default it uses `rep movsb` from a
/// size on that depends on the CPU, and valgrind counts that as one instruction for each byte.
fn valgrind() -> Command {
    let mut command = Command::new("valgrind");
    command.env("MALLOC_MMAP_THRESHOLD_", "4096");
    let never =
        ["x86_rep_movsb_threshold", "x86_rep_stosb_threshold"].map(|name| format!("glibc.cpu.{name}={}", 1 << 30));
    command.env("GLIBC_TUNABLES", never.join(":"));
    command
}

fn with_path(option: &str, path: &Path) -> String {
    format!("{option}{}", path.display())
}

/// The last line that is not empty.
fn tail(said: &str) -> &str {
    said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

/// The number after `totals:` in a dump.
fn total(dump: &str) -> Option<u64> {
    let line = dump.lines().rev().find_map(|line| line.strip_prefix("totals:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The number after `Collected :` in the summary that callgrind prints.
fn collected(said: &str) -> Option<u64> {
    let (_, rest) = said.rsplit_once("Collected :")?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read_from_both_places() {
        assert_eq!(total("events: Ir\nfn=(1)\n1 2\n\ntotals: 6014\n"), Some(6014));
        assert_eq!(total("events: Ir\n"), None);
        assert_eq!(collected("==1== Events    : Ir\n==1== Collected : 123456\n==1== \n"), Some(123_456));
    }
}
