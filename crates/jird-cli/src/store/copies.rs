//! `jird store backup` and `jird store restore`: copies of stores.

use super::{counted, summary, told};
use crate::outcome::Outcome;
use crate::signals;
use anyhow::{Result, bail};
use jird_formats::files::is_url;
use jird_store::{Backup, BackupOptions, ErrorKind, Store};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// How long a signal waits for the removal of what was written. If something is left, a file marks it as unfinished.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) fn back_up(store: &Path, target: &Path, copies: bool, quiet: bool) -> Result<Outcome> {
    let backup = copy(&Store::open(store)?, target, copies)?;
    let line =
        format!("{}; {} bytes linked, {} bytes copied\n", content(&backup), backup.linked_bytes, backup.copied_bytes);
    summary(&line, quiet)?;
    Ok(told(&backup.damage))
}

pub(super) fn restore(backup: &Path, target: &Path, damaged: bool, quiet: bool) -> Result<Outcome> {
    let store = Store::open(backup)?;
    let outcome = told(&store.verify(false)?.damage);
    if outcome != Outcome::Fine && !damaged {
        bail!("{}: the backup is damaged; nothing was restored; --damaged restores the rest of it", backup.display());
    }
    let made = copy(&store, target, true)?;
    summary(&format!("{} restored, {} bytes copied\n", content(&made), made.copied_bytes), quiet)?;
    // What is damaged was told.
    Ok(if made.damage.is_empty() { outcome } else { outcome.max(Outcome::BadData) })
}

/// How much a copy has.
fn content(backup: &Backup) -> String {
    format!("{}, {}", counted(backup.spans, "span"), counted(backup.events, "event"))
}

/// Copies a store. If a signal ends the command meanwhile, nothing of the copy stays.
fn copy(store: &Store, target: &Path, copies: bool) -> Result<Backup> {
    if is_url(target) {
        bail!("{}: is a URL; stores are copied to folders of this machine", target.display());
    }
    let options = BackupOptions { copies, stop: Arc::new(AtomicBool::new(false)) };
    let (working, is_over) = channel::<()>();
    let stop = Arc::clone(&options.stop);
    signals::first(move || {
        stop.store(true, Ordering::Relaxed);
        let _ = is_over.recv_timeout(PATIENCE);
    });
    let result = store.backup(target, &options);
    drop(working);
    match result {
        // The signal ends the command.
        Err(error) if error.kind() == ErrorKind::Io(io::ErrorKind::Interrupted) => loop {
            thread::park();
        },
        result => Ok(result?),
    }
}
