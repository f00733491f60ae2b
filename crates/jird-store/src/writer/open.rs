//! Taking over a store: the lock, what an earlier writer left in its logs, and what it left behind.

use super::{OpenLog, Pending, Shared, State, Totals, Writer};
use crate::clean::{WRITER_LOCK, orphans};
use crate::error::{Damage, Error, ErrorKind, Sync};
use crate::event::ArrivalClock;
use crate::files::Output;
use crate::log;
use crate::manifest::Folder;
use crate::settings::{Settings, WriterOptions};
use std::io;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

/// When an earlier writer left this many logs, they are sealed although they are small.
const LOGS_MAX: usize = 8;

impl Writer {
    pub(crate) fn open(folder: &Folder, settings: &Settings, options: &WriterOptions) -> Result<Self, Error> {
        let path = folder.file(WRITER_LOCK);
        let lock = folder.files.lock(&path, false).map_err(|error| Error::io("lock", &path, &error))?;
        let lock = lock.ok_or_else(|| {
            let path = folder.path.display();
            Error::new(ErrorKind::Locked, format!("another process writes to the store in {path}: wait until it ends"))
        })?;
        orphans(folder)?;
        folder.keep_ballast();
        let (mut pending, arrivals, damage) = recover(folder)?;
        let is_full = pending.bytes >= options.seal_bytes || pending.logs.len() >= LOGS_MAX;
        let state = State {
            log: OpenLog { number: 0, file: Arc::new(NoFile), bytes: 0 },
            spare: None,
            pending: Pending::default(),
            sealing: None,
            seal_error: None,
            arrivals,
            clock: ArrivalClock::after(i64::MIN),
            appended: 0,
            synced: 0,
            unsynced: Vec::new(),
            is_syncing: false,
            failed: None,
            is_closing: false,
            totals: Totals::default(),
        };
        let shared = Shared {
            folder: folder.clone(),
            settings: settings.clone(),
            options: options.clone(),
            state: Mutex::new(state),
            numbers: Mutex::new(0..0),
            changed: Condvar::new(),
            _lock: lock,
        };
        let log = shared.begin_log()?;
        let mut state = shared.state();
        if is_full {
            state.sealing = Some(Arc::new(std::mem::take(&mut pending)));
        }
        pending.logs.push((log.number, false));
        state.pending = pending;
        state.log = log;
        drop(state);
        let shared = Arc::new(shared);
        let mut writer = Self { shared: shared.clone(), threads: Vec::new(), damage };
        let sealer = shared.clone();
        writer.start("seal", move || sealer.seal_all())?;
        if let Sync::Interval(interval) = options.sync {
            writer.start("sync", move || shared.sync_at(interval))?;
        }
        Ok(writer)
    }

    fn start(&mut self, name: &str, run: impl FnOnce() + Send + 'static) -> Result<(), Error> {
        let thread = thread::Builder::new().name(name.into()).spawn(run);
        let refused =
            |error: io::Error| Error::new(ErrorKind::Io(error.kind()), format!("cannot start a thread: {error}"));
        self.threads.push(thread.map_err(refused)?);
        Ok(())
    }
}

/// What is in the logs of earlier writers, the next arrival number, and what is damaged.
fn recover(folder: &Folder) -> Result<(Pending, u64, Vec<Damage>), Error> {
    let manifest = folder.manifest()?;
    let (mut pending, mut damage, mut arrivals) = (Pending::default(), Vec::new(), manifest.arrivals);
    for entry in &manifest.logs {
        let file = folder.log(entry.number);
        let content = match folder.files.open(&file).and_then(|input| log::read(&*input)) {
            Ok(content) => content,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                damage.push(Damage { file, block: None, events: None, reason: "the file is missing".into() });
                pending.logs.push((entry.number, false));
                continue;
            }
            Err(error) => return Err(Error::io("read", &file, &error)),
        };
        damage.extend(content.damage.iter().map(|(at, bytes, what)| Damage {
            file: file.clone(),
            block: None,
            events: None,
            reason: format!("a stretch of {bytes} bytes from byte {at} on {what}"),
        }));
        for batch in &content.batches {
            arrivals = arrivals.max(batch.arrival + batch.times.len() as u64);
            pending.bytes += batch.text.len();
        }
        pending.logs.push((entry.number, !content.damage.is_empty()));
        pending.batches.extend(content.batches);
    }
    Ok((pending, arrivals, damage))
}

/// Stands where a log will be in a moment.
#[derive(Debug)]
struct NoFile;

impl Output for NoFile {
    fn append(&self, _bytes: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn truncate(&self, _len: u64) -> io::Result<()> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn sync(&self) -> io::Result<()> {
        Err(io::ErrorKind::NotFound.into())
    }
}
