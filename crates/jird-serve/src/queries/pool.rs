//! The processes that run queries: started when they are needed, kept while they are as good as new, and killed when a
//! query is not to go on.

use crate::base::error::Error;
use crate::base::file::{FileId, beside};
use crate::base::problem::Problem;
use crate::base::settings::Limits;
use crate::queries::child::VARIABLE;
use crate::queries::message::{Order, ProcessMessage, Setup};
use crate::queries::temporary::Temporary;
use std::ffi::OsString;
use std::io::{self, BufReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Processes that wait for a query.
const IDLE_MAX: usize = 2;
/// The longest time until a process is ready, and until it takes a query.
const PATIENCE: Duration = Duration::from_secs(10);

/// The queries of a server: how many there may be, and the processes that run them.
pub(crate) struct Queries {
    places: Arc<Semaphore>,
    places_max: usize,
    program: Vec<OsString>,
    setup: Setup,
    temporary: Temporary,
    idle: Mutex<Vec<Process>>,
    /// What ends each process, so that a server can end all.
    all: Mutex<Vec<Weak<Ending>>>,
    /// How many processes there are.
    alive: Arc<AtomicUsize>,
}

impl Queries {
    /// Queries over what is at these paths, by this program with these arguments. A process of it is started, and waits.
    pub(crate) fn new(program: &[OsString], paths: Vec<PathBuf>, limits: &Limits) -> Result<Self, Error> {
        let setup = Setup { memory_max: limits.query_bytes as u64, seconds: limits.time.as_secs(), paths };
        let queries = Self {
            places: Arc::new(Semaphore::new(limits.queries)),
            places_max: limits.queries,
            program: program.to_vec(),
            setup,
            temporary: Temporary::new(),
            idle: Mutex::default(),
            all: Mutex::default(),
            alive: Arc::default(),
        };
        let first = queries.start().map_err(|error| Error::because("starting a process for queries", error))?;
        queries.give(first);
        Ok(queries)
    }

    /// A place for a query.
    pub(crate) fn place(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        place.map_err(|_| Problem::busy("there are as many queries as this server allows"))
    }

    /// The position of a path among those that are read.
    pub(crate) fn position(&self, path: &Path) -> u64 {
        self.setup.paths.iter().position(|known| known == path).unwrap_or(usize::MAX) as u64
    }

    /// The number of queries that run.
    pub(crate) fn running(&self) -> usize {
        self.places_max - self.places.available_permits()
    }

    /// The number of processes.
    pub(crate) fn processes(&self) -> usize {
        self.alive.load(Relaxed)
    }

    /// A process that waits, for files that are there now; or a new one.
    pub(crate) fn take(&self) -> io::Result<Process> {
        let there = self.there();
        loop {
            let idle = lock(&self.idle).pop();
            match idle {
                Some(process) if process.files == there && process.lives() => return Ok(process),
                Some(_) => {}
                None => return self.start(),
            }
        }
    }

    /// Takes a process back that waits for the next query.
    pub(crate) fn give(&self, process: Process) {
        let mut idle = lock(&self.idle);
        if idle.len() < IDLE_MAX {
            idle.push(process);
        }
    }

    /// Ends all processes, whatever they do: the server ends.
    pub(crate) fn end(&self) {
        lock(&self.idle).clear();
        lock(&self.all).iter().filter_map(Weak::upgrade).for_each(|end| end.kill());
    }

    /// The files that a process that starts now may read: Landlock knows files, and not their names.
    fn there(&self) -> Vec<Option<(u64, u64)>> {
        let all = self.setup.paths.iter().flat_map(|path| beside(path, ["", "-wal", "-shm"]));
        all.map(|path| FileId::number(&path)).collect()
    }

    fn start(&self) -> io::Result<Process> {
        let files = self.there();
        let Some((program, arguments)) = self.program.split_first() else { return Err(io::ErrorKind::NotFound.into()) };
        let (ours, theirs) = UnixStream::pair()?;
        let mut command = Command::new(program);
        // Its name in lists of processes.
        command.arg0("jird").args(arguments).env_clear().env(VARIABLE, "1");
        // SQLite's own choice is a folder that the process may not write to.
        command.env("TMPDIR", self.temporary.path()).env("SQLITE_TMPDIR", self.temporary.path());
        // What ends the server at a terminal lets it answer first.
        command.process_group(0);
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn()?;
        drop(command);
        self.alive.fetch_add(1, Relaxed);
        let end = Arc::new(Ending { child: Mutex::new(child), alive: Arc::clone(&self.alive) });
        let mut all = lock(&self.all);
        all.retain(|end| end.strong_count() > 0);
        all.push(Arc::downgrade(&end));
        drop(all);
        let mut process = Process { end, from: BufReader::new(ours.try_clone()?), to: ours, files };
        self.setup.write(&mut process.to)?;
        process.wait_for(&ProcessMessage::Ready)?;
        Ok(process)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A process that runs queries.
pub(crate) struct Process {
    end: Arc<Ending>,
    from: BufReader<UnixStream>,
    to: UnixStream,
    /// The files that it may read.
    files: Vec<Option<(u64, u64)>>,
}

/// What ends a process, from any thread. It is killed when the last one is dropped.
pub(crate) struct Ending {
    child: Mutex<Child>,
    alive: Arc<AtomicUsize>,
}

impl Ending {
    /// Ends the process at once, with all that it does.
    pub(crate) fn kill(&self) {
        let _ = lock(&self.child).kill();
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.kill();
        let _ = lock(&self.child).wait();
        self.alive.fetch_sub(1, Relaxed);
    }
}

impl Process {
    /// What ends it.
    pub(crate) fn ending(&self) -> Arc<Ending> {
        Arc::clone(&self.end)
    }

    fn lives(&self) -> bool {
        matches!(lock(&self.end.child).try_wait(), Ok(None))
    }

    /// Gives it a query.
    ///
    /// # Errors
    /// If the process has ended, or does not take it: the query was not begun.
    pub(crate) fn order(&mut self, order: &Order) -> io::Result<()> {
        order.write(&mut self.to)?;
        self.wait_for(&ProcessMessage::Begun)
    }

    fn wait_for(&mut self, wanted: &ProcessMessage) -> io::Result<()> {
        match self.next(PATIENCE)? {
            Some(told) if told == *wanted => Ok(()),
            Some(_) => Err(io::Error::other("it is not a process for queries")),
            None => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    /// What it tells next; `None` if that takes longer than this time.
    ///
    /// # Errors
    /// If the process has ended, or makes no sense.
    pub(crate) fn next(&mut self, time: Duration) -> io::Result<Option<ProcessMessage>> {
        let end = Instant::now() + time;
        match ProcessMessage::read(&mut Until { from: &mut self.from, socket: &self.to, end }) {
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => Ok(None),
            told => told.map(Some),
        }
    }
}

/// Reads until a point in time, in however many pieces the bytes come.
struct Until<'p> {
    from: &'p mut BufReader<UnixStream>,
    socket: &'p UnixStream,
    end: Instant,
}

impl Read for Until<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.socket.set_read_timeout(Some(left))?;
        self.from.read(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_message_that_drips_ends_with_its_time() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut from = BufReader::new(ours.try_clone().unwrap());
        let drip = std::thread::spawn(move || {
            while theirs.write_all(b"P").is_ok() {
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let end = Instant::now() + Duration::from_millis(100);
        let error = io::copy(&mut Until { from: &mut from, socket: &ours, end }, &mut io::sink()).unwrap_err();
        assert!(matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut), "{error}");
        assert!(end.elapsed() < Duration::from_secs(5));
        drop((from, ours));
        drip.join().unwrap();
    }
}
