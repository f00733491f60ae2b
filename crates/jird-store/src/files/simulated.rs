//! Files in memory, for tests: each operation may fail, and the power may go after any of them. Then of what was not
//! synced any part may be gone: the end of a file, or a page of it, and each new, renamed or removed name.

use super::{Files, Input, Lock, Output};
use jird::hooks::lines::ReadAt;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

/// A disk. Clones are the same disk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk(Arc<Mutex<DiskState>>);

#[derive(Debug, Default)]
struct DiskState {
    /// The names as they are, and as they survive a loss of power.
    now: BTreeMap<PathBuf, Node>,
    kept: BTreeMap<PathBuf, Node>,
    /// The folders, and those that survive a loss of power.
    folders: BTreeSet<PathBuf>,
    kept_folders: BTreeSet<PathBuf>,
    /// How many bytes all files may have.
    room: Option<usize>,
    /// Whether a file can have only one name, as on another file system.
    is_without_links: bool,
    locked: Vec<PathBuf>,
    operations: u64,
    trouble: Trouble,
    /// How often the power went: handles from before do nothing.
    boots: u64,
    is_off: bool,
}

type Node = Arc<Mutex<Content>>;

#[derive(Debug, Default)]
struct Content {
    bytes: Vec<u8>,
    synced: Vec<u8>,
}

/// What goes wrong, and at which operation that changes something, counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Trouble {
    #[default]
    None,
    /// The power goes in the middle of this operation.
    Crash(u64),
    /// This operation fails; an append after some of its bytes.
    Fail(u64),
    /// This operation and all after it fail.
    FailFrom(u64),
    /// From this operation on, nothing can be made or written. Names change, and files are removed.
    FullFrom(u64),
}

impl Disk {
    pub(crate) fn set(&self, trouble: Trouble) {
        let mut state = self.state();
        state.operations = 0;
        state.trouble = trouble;
    }

    /// How many bytes all files may have from now on.
    pub(crate) fn set_room(&self, room: Option<usize>) {
        self.state().room = room;
    }

    /// From now on, a file can have only one name.
    pub(crate) fn refuse_links(&self) {
        self.state().is_without_links = true;
    }

    /// How many bytes all files have.
    pub(crate) fn used(&self) -> usize {
        self.state().used()
    }

    /// How many operations there were since the trouble was set.
    pub(crate) fn operations(&self) -> u64 {
        self.state().operations
    }

    pub(crate) fn is_off(&self) -> bool {
        self.state().is_off
    }

    /// Takes the power away and brings it back. `random` decides what survives of what was not synced.
    pub(crate) fn reboot(&self, random: &mut impl FnMut() -> u64) {
        let mut state = self.state();
        let names: Vec<PathBuf> = state.now.keys().chain(state.kept.keys()).cloned().collect();
        let mut survives = BTreeMap::new();
        for name in names {
            let (now, kept) = (state.now.get(&name), state.kept.get(&name));
            let chosen = if random().is_multiple_of(2) { now } else { kept };
            if let Some(node) = chosen {
                survives.insert(name.clone(), node.clone());
            }
        }
        let folders: Vec<PathBuf> = state.folders.iter().cloned().collect();
        for folder in folders {
            if !state.kept_folders.contains(&folder) && random().is_multiple_of(2) {
                state.folders.retain(|other| !other.starts_with(&folder));
                survives.retain(|name, _| !name.starts_with(&folder));
            }
        }
        state.kept_folders = state.folders.clone();
        for node in survives.values() {
            let mut content = node.lock().unwrap();
            let (written, synced) = (content.bytes.len(), content.synced.len());
            let is_prefix = content.bytes.starts_with(&content.synced);
            // What was written over is there or not.
            let is_kept = is_prefix || random().is_multiple_of(2);
            let mut bytes = if is_kept { content.bytes.clone() } else { content.synced.clone() };
            if is_prefix && written > synced {
                bytes.truncate(synced + (random() % (written - synced + 1) as u64) as usize);
                if random().is_multiple_of(3) && bytes.len() > synced {
                    // A page that was not written.
                    let at = synced + (random() % (bytes.len() - synced) as u64) as usize;
                    let end = bytes.len().min(at + 512);
                    bytes[at..end].fill(0);
                }
            }
            content.synced.clone_from(&bytes);
            content.bytes = bytes;
        }
        state.now = fresh(&survives);
        state.kept = state.now.clone();
        state.locked.clear();
        state.trouble = Trouble::None;
        state.is_off = false;
        state.boots += 1;
    }

    /// Ends every process, and waits until the system wrote everything: what was written stays, locks go.
    pub(crate) fn kill(&self) {
        let mut state = self.state();
        for node in state.now.values_mut() {
            let content = node.lock().unwrap();
            let copy = Content { bytes: content.bytes.clone(), synced: content.bytes.clone() };
            drop(content);
            *node = Arc::new(Mutex::new(copy));
        }
        state.kept = state.now.clone();
        state.locked.clear();
        state.trouble = Trouble::None;
        state.is_off = false;
        state.boots += 1;
    }

    /// The names of all files, and what is in them.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let state = self.state();
        state.now.iter().map(|(name, node)| (name.clone(), node.lock().unwrap().bytes.clone())).collect()
    }

    pub(crate) fn put(&self, path: &Path, bytes: Vec<u8>) {
        let content = Content { synced: bytes.clone(), bytes };
        let node = Arc::new(Mutex::new(content));
        let mut state = self.state();
        state.now.insert(path.to_owned(), node.clone());
        state.kept.insert(path.to_owned(), node);
    }

    pub(crate) fn delete(&self, path: &Path) {
        let mut state = self.state();
        state.now.remove(path);
        state.kept.remove(path);
    }

    fn state(&self) -> MutexGuard<'_, DiskState> {
        self.0.lock().unwrap()
    }
}

impl DiskState {
    fn used(&self) -> usize {
        let nodes: BTreeMap<_, _> = self.now.values().map(|node| (Arc::as_ptr(node), node)).collect();
        nodes.values().map(|node| node.lock().unwrap().bytes.len()).sum()
    }

    /// Counts an operation that changes something. `Err` if it fails, `Ok(false)` if the power goes in the middle of it.
    fn operation(&mut self, boot: u64) -> io::Result<bool> {
        self.counted(boot, false)
    }

    /// As [`operation`](Self::operation), for one that takes room on the disk.
    fn growth(&mut self, boot: u64) -> io::Result<bool> {
        self.counted(boot, true)
    }

    fn counted(&mut self, boot: u64, grows: bool) -> io::Result<bool> {
        if self.is_off || boot != self.boots {
            return Err(io::Error::other("the power is off"));
        }
        self.operations += 1;
        match self.trouble {
            Trouble::Crash(at) if at == self.operations => {
                self.is_off = true;
                Ok(false)
            }
            Trouble::Fail(at) if at == self.operations => Err(io::ErrorKind::StorageFull.into()),
            Trouble::FailFrom(at) if at <= self.operations => Err(io::ErrorKind::StorageFull.into()),
            Trouble::FullFrom(at) if at <= self.operations && grows => Err(io::ErrorKind::StorageFull.into()),
            _ => Ok(true),
        }
    }
}

/// Each a file of its own, so that handles from before cannot reach it.
fn fresh(map: &BTreeMap<PathBuf, Node>) -> BTreeMap<PathBuf, Node> {
    let copy = |(name, node): (&PathBuf, &Node)| {
        let content = node.lock().unwrap();
        let copy = Content { bytes: content.bytes.clone(), synced: content.synced.clone() };
        (name.clone(), Arc::new(Mutex::new(copy)))
    };
    map.iter().map(copy).collect()
}

fn off() -> io::Error {
    io::Error::other("the power went")
}

#[derive(Debug)]
struct Handle {
    disk: Disk,
    node: Node,
    boot: u64,
}

#[derive(Debug)]
struct DiskFile {
    disk: Disk,
    path: PathBuf,
    boot: u64,
}

impl Files for Disk {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        let boot = state.boots;
        let done = state.growth(boot)?;
        let is_there = |folder: &Path| folder.parent().is_none() || state.folders.contains(folder);
        if is_there(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        if !path.parent().is_some_and(is_there) {
            return Err(io::ErrorKind::NotFound.into());
        }
        state.folders.insert(path.to_owned());
        if done { Ok(()) } else { Err(off()) }
    }

    fn room(&self, _path: &Path) -> io::Result<u64> {
        let state = self.state();
        Ok(state.room.map_or(u64::MAX, |room| room.saturating_sub(state.used()) as u64))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let state = self.state();
        let names = state.now.keys().filter(|name| name.parent() == Some(path));
        Ok(names.filter_map(|name| Some(name.file_name()?.to_string_lossy().into_owned())).collect())
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn Output>> {
        let mut state = self.state();
        let boot = state.boots;
        let done = state.growth(boot)?;
        let node = Node::default();
        state.now.insert(path.to_owned(), node.clone());
        if done { Ok(Arc::new(Handle { disk: self.clone(), node, boot })) } else { Err(off()) }
    }

    fn add(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.state();
        let node = state.now.entry(path.to_owned()).or_default();
        node.lock().unwrap().bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn Input>> {
        let state = self.state();
        let node = state.now.get(path).ok_or(io::ErrorKind::NotFound)?.clone();
        Ok(Arc::new(Handle { disk: self.clone(), node, boot: state.boots }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        let boot = state.boots;
        let done = state.operation(boot)?;
        let node = state.now.remove(from).ok_or(io::ErrorKind::NotFound)?;
        state.now.insert(to.to_owned(), node);
        if done { Ok(()) } else { Err(off()) }
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        let boot = state.boots;
        let done = state.growth(boot)?;
        if state.is_without_links {
            return Err(io::ErrorKind::CrossesDevices.into());
        }
        if state.now.contains_key(to) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let node = state.now.get(from).ok_or(io::ErrorKind::NotFound)?.clone();
        state.now.insert(to.to_owned(), node);
        if done { Ok(()) } else { Err(off()) }
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        let boot = state.boots;
        let done = state.operation(boot)?;
        if state.now.keys().any(|name| name.parent() == Some(path)) {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        if !state.folders.remove(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        // That it is gone after a loss of power matters to no test.
        state.kept_folders.remove(path);
        if done { Ok(()) } else { Err(off()) }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        let boot = state.boots;
        let done = state.operation(boot)?;
        state.now.remove(path).ok_or(io::ErrorKind::NotFound)?;
        if done { Ok(()) } else { Err(off()) }
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        let boot = state.boots;
        if !state.operation(boot)? {
            return Err(off());
        }
        let DiskState { now, kept, folders, kept_folders, .. } = &mut *state;
        kept_folders.extend(folders.iter().filter(|folder| folder.parent() == Some(path)).cloned());
        kept.retain(|name, _| name.parent() != Some(path));
        kept.extend(now.iter().filter(|(name, _)| name.parent() == Some(path)).map(|(n, f)| (n.clone(), f.clone())));
        Ok(())
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        let state = self.state();
        let node = state.now.get(path).ok_or(io::ErrorKind::NotFound)?.clone();
        let handle = Handle { disk: self.clone(), node, boot: state.boots };
        drop(state);
        handle.sync()
    }

    fn lock(&self, path: &Path, wait: bool) -> io::Result<Option<Box<dyn Lock>>> {
        loop {
            let mut state = self.state();
            if state.is_off {
                return Err(off());
            }
            if !state.locked.iter().any(|locked| locked == path) {
                state.locked.push(path.to_owned());
                let boot = state.boots;
                return Ok(Some(Box::new(DiskFile { disk: self.clone(), path: path.to_owned(), boot })));
            }
            drop(state);
            if !wait {
                return Ok(None);
            }
            std::thread::yield_now();
        }
    }
}

impl Output for Handle {
    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.disk.state();
        let is_on = self.boot == state.boots && !state.is_off;
        let room = state.room.map(|room| room.saturating_sub(state.used()));
        let result = state.growth(self.boot);
        let mut content = self.node.lock().unwrap();
        if let Some(room) = room.filter(|room| *room < bytes.len() && matches!(result, Ok(true))) {
            content.bytes.extend_from_slice(&bytes[..room]);
            return Err(io::ErrorKind::StorageFull.into());
        }
        match result {
            Ok(true) => content.bytes.extend_from_slice(bytes),
            _ if is_on => content.bytes.extend_from_slice(&bytes[..bytes.len() / 2]),
            _ => {}
        }
        result.and_then(|done| if done { Ok(()) } else { Err(off()) })
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut state = self.disk.state();
        let result = state.operation(self.boot);
        if let Ok(done) = result {
            let len = if done { bytes.len() } else { bytes.len() / 2 };
            self.node.lock().unwrap().bytes[offset as usize..][..len].copy_from_slice(&bytes[..len]);
        }
        result.and_then(|done| if done { Ok(()) } else { Err(off()) })
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        let mut state = self.disk.state();
        let done = state.operation(self.boot)?;
        self.node.lock().unwrap().bytes.truncate(len as usize);
        if done { Ok(()) } else { Err(off()) }
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.disk.state();
        if !state.operation(self.boot)? {
            return Err(off());
        }
        let mut content = self.node.lock().unwrap();
        let Content { bytes, synced } = &mut *content;
        if bytes.starts_with(synced) {
            let known = synced.len();
            synced.extend_from_slice(&bytes[known..]);
        } else {
            synced.clone_from(bytes);
        }
        Ok(())
    }
}

impl ReadAt for Handle {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let content = self.node.lock().unwrap();
        ReadAt::read_at(&&content.bytes[..], buffer, offset)
    }
}

impl Input for Handle {
    fn len(&self) -> io::Result<u64> {
        Ok(self.node.lock().unwrap().bytes.len() as u64)
    }
}

impl Lock for DiskFile {}

impl Drop for DiskFile {
    fn drop(&mut self) {
        let mut state = self.disk.state();
        if state.boots == self.boot {
            let path = &self.path;
            state.locked.retain(|locked| locked != path);
        }
    }
}
