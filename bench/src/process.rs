//! Runs a whole process, and measures its time and its memory.

#![allow(unsafe_code, reason = "`wait4` is the only way to one child's resident size")]

use std::io;
use std::process::Command;
use std::time::{Duration, Instant};

/// The cost of a process.
pub(crate) struct Cost {
    pub(crate) elapsed: Duration,
    /// Never below the resident size of the parent process, because the kernel counts that until `exec`.
    pub(crate) resident_bytes_max: u64,
}

/// Runs `command` to its end. A status other than 0 is an error.
pub(crate) fn run(command: &mut Command) -> io::Result<Cost> {
    let started = Instant::now();
    let child = command.spawn()?;
    let pid = i32::try_from(child.id()).map_err(io::Error::other)?;
    let mut status = 0;
    // SAFETY: all zeros is a valid `rusage`, a struct of integers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to locals that outlive the call; `child` is ours and was not waited for.
    let waited = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
    let elapsed = started.elapsed();
    if waited != pid {
        return Err(io::Error::last_os_error());
    }
    if status != 0 {
        return Err(io::Error::other(format!("ended with wait status {status}")));
    }
    let kilobytes = u64::try_from(usage.ru_maxrss).map_err(io::Error::other)?;
    Ok(Cost { elapsed, resident_bytes_max: kilobytes * 1024 })
}
