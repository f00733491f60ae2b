//! Taking over a store: the lock, what an earlier writer left in its logs, and what it left behind.

use super::{OpenLog, Pending, State, Totals, Writer, WriterState};
use crate::clean::{orphans, writer_lock};
use crate::error::{Damage, Error, ErrorKind, Sync};
use crate::event::{ArrivalClock, LoggedBatch};
use crate::files::Output;
use crate::logs::{Logs, TakenFile, TakenRanges, Unreadable};
use crate::manifest::{Folder, Manifest, SourcesLost};
use crate::settings::{Settings, WriterOptions};
use crate::source::{LastArrival, Mark, Sources};
use std::io;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

/// When an earlier writer left this many logs, they are sealed although they are small.
const LOGS_MAX: usize = 8;

impl Writer {
    pub(crate) fn open(folder: &Folder, settings: &Settings, options: &WriterOptions) -> Result<Self, Error> {
        let lock = writer_lock(folder)?;
        if folder.manifest()?.settings != *settings {
            let path = folder.path.display();
            let message = format!("another store, with other settings, came to {path} meanwhile: open it again");
            return Err(Error::new(ErrorKind::Version, message));
        }
        let unknown = orphans(folder)?.kept;
        folder.keep_ballast();
        let Recovered { mut pending, store, mut damage } = recover(folder)?;
        damage.extend(unknown);
        let arrivals = pending.end;
        let must_seal =
            pending.bytes >= options.seal_bytes || pending.logs.len() >= LOGS_MAX || pending.has_damaged_log();
        let (sources, last_arrival) = marked(&folder.manifest()?, &pending.batches)?;
        let state = State {
            log: OpenLog { number: 0, identity: 0, file: Arc::new(NoFile), bytes: 0 },
            spare: None,
            pending: Pending::default(),
            sealing: None,
            seal_error: None,
            arrivals,
            clock: ArrivalClock::after(last_arrival),
            sources,
            taken: TakenFile::create(folder, store, arrivals)?,
            appended: 0,
            synced: 0,
            unsynced: Vec::new(),
            is_syncing: false,
            failed: None,
            is_closing: false,
            totals: Totals::default(),
        };
        let shared = WriterState {
            folder: folder.clone(),
            settings: settings.clone(),
            options: options.clone(),
            store,
            state: Mutex::new(state),
            numbers: Mutex::new(0..0),
            changed: Condvar::new(),
            _lock: lock,
        };
        let log = shared.begin_log()?;
        let mut state = shared.state();
        if must_seal {
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

/// What earlier writers noted with their events: how far sources were taken, and the last time that an event without one
/// got.
pub(super) fn marked(manifest: &Manifest, batches: &[Arc<LoggedBatch>]) -> Result<(Sources, i64), Error> {
    let mut sources = manifest.sections.get::<Sources>()?.unwrap_or_default();
    sources.are_lost = manifest.sections.get::<SourcesLost>()?.is_some();
    let mut clock = manifest.sections.get::<LastArrival>()?.map_or(i64::MIN, |last| last.0);
    for mark in batches.iter().map(|batch| Mark::read(&batch.mark)) {
        sources.note(&mark);
        clock = clock.max(mark.clock.unwrap_or(i64::MIN));
    }
    Ok((sources, clock))
}

/// What earlier writers left.
struct Recovered {
    pending: Pending,
    /// The identity of the store.
    store: u64,
    damage: Vec<Damage>,
}

/// Reads the logs of earlier writers. What of them is missing is noted in the manifest.
fn recover(folder: &Folder) -> Result<Recovered, Error> {
    let taken = TakenRanges::read(folder);
    let manifest = folder.manifest()?;
    let logs = Logs::read(folder, &manifest, &taken, Unreadable::TellMissing)?;
    let mut pending = Pending { batches: logs.batches, end: logs.arrivals, ..Pending::default() };
    pending.bytes = pending.batches.iter().map(|batch| batch.text.len()).sum();
    for entry in &manifest.logs {
        let path = folder.log(entry.number);
        // What counts from now on must not be gone after a loss of power.
        let is_there = match folder.files.sync_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            synced => synced.map(|()| true).map_err(|error| Error::io("sync", &path, &error))?,
        };
        pending.logs.push((entry.number, is_there && logs.damaged.contains(&entry.number)));
    }
    let mut damage = logs.damage;
    damage.extend(logs.losses.iter().map(|loss| loss.damage(folder)));
    let store = folder.change(|manifest| {
        manifest.arrivals = manifest.arrivals.max(logs.arrivals);
        manifest.lost.extend(logs.losses);
        Ok(manifest.store)
    })?;
    Ok(Recovered { pending, store, damage })
}

/// Stands where a log will be in a moment.
#[derive(Debug)]
struct NoFile;

impl Output for NoFile {
    fn write_at(&self, _bytes: &[u8], _offset: u64) -> io::Result<()> {
        Err(io::ErrorKind::NotFound.into())
    }

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
