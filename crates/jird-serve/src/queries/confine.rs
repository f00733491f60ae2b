//! What the system takes from a process before it reads SQL of others: memory, time, files and the network.
//!
//! Limits of the system hold on every Unix. On Linux, Landlock leaves the process nothing to read but what its server
//! serves, and nothing to write but temporary files; seccomp leaves it no sockets, and it starts no programs.
//! A kernel may lack either of them, and then the limits stand alone.

use crate::queries::message::Setup;
use rustix::process::{Resource, Rlimit, getrlimit, nice, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use std::io;

/// Memory that is not counted while a query runs: the program's own, stacks, buffers of files and of results, and what
/// the rows that go through an operator take.
const MEMORY_BESIDE: u64 = 512 << 20;
/// The largest temporary file.
const FILE_BYTES: u64 = 8 << 30;
/// How far behind the server it is when there is more to do than processors.
const NICENESS: i32 = 5;
/// The most open files.
const FILES: u64 = 1024;

/// Limits this process for all that comes. Threads that run already keep their rights on Linux.
pub(crate) fn confine(setup: &Setup) -> io::Result<()> {
    limit(Resource::Core, 0)?;
    limit(Resource::Nofile, FILES)?;
    limit(Resource::Fsize, FILE_BYTES)?;
    limit(Resource::Data, setup.memory_max.saturating_add(MEMORY_BESIDE))?;
    // The server goes first. Where it is not allowed to, it waits for its turn as others do.
    let _ = nice(NICENESS);
    #[cfg(target_os = "linux")]
    {
        linux::restrict_files(&setup.paths)?;
        linux::restrict_calls()?;
    }
    Ok(())
}

/// Limits the processor time of what comes next to this many seconds for each of these threads. Beyond it, the system
/// kills the process.
pub(crate) fn limit_time(seconds: u64, threads: usize) -> io::Result<()> {
    let used = u64::try_from(clock_gettime(ClockId::ProcessCPUTime).tv_sec).unwrap_or_default();
    let more = seconds.saturating_add(2).saturating_mul(threads as u64);
    let maximum = getrlimit(Resource::Cpu).maximum;
    let wanted = used.saturating_add(more).min(maximum.unwrap_or(u64::MAX));
    Ok(setrlimit(Resource::Cpu, Rlimit { current: Some(wanted), maximum })?)
}

/// Sets a limit, if there is none below it.
fn limit(resource: Resource, wanted: u64) -> io::Result<()> {
    let wanted = Some(wanted.min(getrlimit(resource).maximum.unwrap_or(u64::MAX)));
    Ok(setrlimit(resource, Rlimit { current: wanted, maximum: wanted })?)
}

#[cfg(target_os = "linux")]
mod linux {
    use crate::base::file::beside;
    use landlock::{
        ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, Scope,
        path_beneath_rules,
    };
    use seccompiler::{SeccompAction, SeccompFilter, TargetArch, apply_filter};
    use std::io;
    use std::path::PathBuf;

    /// The newest version of Landlock that this was written for. Older kernels take what they know of it.
    const VERSION: ABI = ABI::V6;

    /// What a process that runs queries has no use for, and an attacker would.
    const REFUSED: &[i64] = &[
        libc::SYS_socket,
        libc::SYS_connect,
        libc::SYS_bind,
        libc::SYS_listen,
        libc::SYS_accept,
        libc::SYS_accept4,
        libc::SYS_execve,
        libc::SYS_execveat,
        libc::SYS_kill,
        libc::SYS_pidfd_open,
        libc::SYS_pidfd_send_signal,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_open_by_handle_at,
        libc::SYS_io_uring_setup,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_keyctl,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_chroot,
        libc::SYS_setns,
        libc::SYS_unshare,
    ];

    pub(super) fn restrict_files(paths: &[PathBuf]) -> io::Result<()> {
        let read = AccessFs::ReadFile | AccessFs::ReadDir;
        let shared = read | AccessFs::WriteFile;
        let everything = AccessFs::from_all(VERSION) & !AccessFs::Execute;
        let all_beside = paths.iter().flat_map(|path| beside(path, ["-wal", "-shm", "-journal"]));
        let restrict = || -> Result<(), RulesetError> {
            Ruleset::default()
                .handle_access(AccessFs::from_all(VERSION))?
                .handle_access(AccessNet::from_all(VERSION))?
                .scope(Scope::from_all(VERSION))?
                .create()?
                // What is missing has no rule.
                .add_rules(path_beneath_rules(paths, read))?
                .add_rules(path_beneath_rules(all_beside, shared))?
                .add_rules(path_beneath_rules([std::env::temp_dir()], everything))?
                .restrict_self()?;
            Ok(())
        };
        restrict().map_err(io::Error::other)
    }

    pub(super) fn restrict_calls() -> io::Result<()> {
        // There is none for 32 bits.
        let Ok(architecture) = TargetArch::try_from(std::env::consts::ARCH) else { return Ok(()) };
        let rules = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
        let refuse = SeccompAction::Errno(libc::EPERM as u32);
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture).map_err(io::Error::other)?;
        let program: seccompiler::BpfProgram = filter.try_into().map_err(io::Error::other)?;
        match apply_filter(&program) {
            // The kernel has none, or a container keeps it.
            Ok(()) | Err(seccompiler::Error::Seccomp(_) | seccompiler::Error::Prctl(_)) => Ok(()),
            Err(error) => Err(io::Error::other(error)),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::print_stdout, reason = "what is skipped is for who reads the log")]
mod tests {
    use super::*;
    use rusqlite::{Connection, OpenFlags};
    use std::fs;
    use std::net::{TcpListener, UdpSocket};
    use std::os::unix::net::UnixListener;
    use std::path::Path;
    use std::process::Command;

    const FOLDER: &str = "JIRD_TEST_CONFINED";
    const TEST: &str = "queries::confine::tests::a_confined_process_reads_what_is_served_and_nothing_else";

    fn has_landlock() -> bool {
        use landlock::{ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr};
        let needed = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        needed.handle_access(AccessFs::from_all(ABI::V1)).and_then(Ruleset::create).is_ok()
    }

    fn has_seccomp() -> bool {
        fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail").is_ok_and(|all| all.contains("errno"))
    }

    /// Whether something is refused, and not missing.
    fn is_refused<T>(tried: io::Result<T>) -> bool {
        tried.is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
    }

    #[test]
    fn a_confined_process_reads_what_is_served_and_nothing_else() {
        if let Some(folder) = std::env::var_os(FOLDER) {
            return try_all(Path::new(&folder));
        }
        let folder = tempfile::tempdir().unwrap();
        for name in ["store", "temporary"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        for name in ["served", "other", "store/inner"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        let server = Connection::open(folder.path().join("database")).unwrap();
        server.query_row("pragma journal_mode = wal", [], |_| Ok(())).unwrap();
        server.execute_batch("create table t (a); insert into t values (7)").unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        let run = command.args(["--exact", TEST, "--nocapture"]).env(FOLDER, folder.path());
        let run = run.env("TMPDIR", folder.path().join("temporary")).output().unwrap();
        print!("{}", String::from_utf8_lossy(&run.stdout));
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    }

    /// What the confined process tries.
    fn try_all(folder: &Path) {
        let at = |name: &str| folder.join(name);
        let (has_landlock, has_seccomp) = (has_landlock(), has_seccomp());
        let paths = ["served", "store", "missing", "database"].map(at).to_vec();
        confine(&Setup { memory_max: 64 << 20, seconds: 1, paths }).unwrap();
        for name in ["served", "store/inner"] {
            assert_eq!(fs::read_to_string(at(name)).unwrap(), name);
        }
        let open = |name, flags| Connection::open_with_flags(at(name), flags);
        let database = open("database", OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        assert_eq!(database.query_row("select a from t", [], |row| row.get(0)), Ok(7));
        let temporary = tempfile::NamedTempFile::new().unwrap();
        fs::write(temporary.path(), "put aside").unwrap();
        if has_seccomp {
            assert!(is_refused(TcpListener::bind("127.0.0.1:0")) && is_refused(UdpSocket::bind("127.0.0.1:0")));
            assert!(is_refused(UnixListener::bind(temporary.path().with_extension("socket"))));
            assert!(is_refused(Command::new("true").spawn()));
        } else {
            println!("skipped: the system calls of a process of queries (no seccomp)");
        }
        if has_landlock {
            assert!(is_refused(fs::read_to_string(at("other"))) && is_refused(fs::read_to_string("/etc/passwd")));
            assert!(is_refused(fs::read_dir(folder)) && is_refused(fs::write(at("new"), "")));
            assert!(is_refused(fs::write(at("served"), "")) && is_refused(fs::write(at("store/inner"), "")));
            assert!(is_refused(fs::remove_file(at("store/inner"))) && is_refused(fs::rename(at("served"), at("new"))));
            open("database", OpenFlags::default()).unwrap().execute_batch("insert into t values (8)").unwrap_err();
        } else {
            println!("skipped: the files of a process of queries (no Landlock)");
        }
        let mut large = Vec::<u8>::new();
        assert!(large.try_reserve_exact(700 << 20).is_err() && large.try_reserve_exact(300 << 20).is_ok());
    }
}
