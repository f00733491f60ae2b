//! A folder that goes, and what tests ask of a store.

use jird_store::{Batch, Settings, Snapshot, Store, Sync, Text, Window, Writer, WriterOptions};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A folder of its own, removed in the end.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("jird-store-test-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn store(&self) -> Store {
        Store::open_or_create(&self.0, &Settings::default()).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn options(seal_bytes: usize) -> WriterOptions {
    WriterOptions { sync: Sync::Batch, seal_bytes }
}

pub(crate) fn batch(lines: &str) -> Batch {
    Batch::prepare_at(lines.as_bytes(), &Settings::default(), 0, &mut |_, line, error| {
        panic!("{}: {error}", String::from_utf8_lossy(line))
    })
}

pub(crate) fn append(writer: &Writer, lines: &str) {
    let ticket = writer.append(batch(lines)).unwrap();
    writer.commit(ticket).unwrap();
}

/// The text of a window, with blocks that match their descriptions.
pub(crate) fn read(snapshot: &Snapshot, window: Window) -> String {
    let text = snapshot.text(window).unwrap();
    let lines = blocks(&text).concat();
    assert_eq!(text.bytes(), lines.len() as u64);
    assert_eq!(text.events(), lines.lines().count() as u64);
    lines
}

pub(crate) fn blocks(text: &Text) -> Vec<String> {
    let (mut offset, mut buffer) = (0, vec![b'x'; 10]);
    let block = |id| {
        text.read(id, None, &mut buffer).unwrap();
        let facts = text.block(id);
        assert_eq!((facts.offset, facts.bytes), (offset, buffer.len() as u64));
        assert_eq!((text.block_at(offset), text.block_at(facts.end() - 1)), (Some(id), Some(id)));
        offset += facts.bytes;
        let lines = String::from_utf8(buffer.clone()).unwrap();
        assert_eq!(facts.events, lines.lines().count() as u64);
        lines
    };
    let blocks = text.blocks().map(block).collect();
    assert_eq!(text.block_at(text.bytes()), None);
    blocks
}

pub(crate) fn all(store: &Store) -> String {
    let snapshot = store.snapshot().unwrap();
    let lines = read(&snapshot, Window::ALL);
    assert_eq!(snapshot.damage(), []);
    lines
}

/// An event at a second of 1970, with a number and some text.
pub(crate) fn event(second: u64, number: u64) -> String {
    let (minute, second) = (second / 60 % 60, second % 60);
    let pad = "x".repeat((number * 37 % 300) as usize);
    format!("{{\"@t\":\"1970-01-01T00:{minute:02}:{second:02}Z\",\"n\":{number},\"pad\":\"{pad}\"}}\n")
}
