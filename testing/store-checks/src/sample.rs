//! Small stores: two spans that overlap in time, and a log.

use jird::Path as FieldPath;
use jird_store::{Batch, ColumnChoice, Compression, Settings, Store, WriterOptions};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of samples.
pub(crate) const SAMPLES: usize = 2;

/// The files of a store, each with its name: the manifest, a span, its index, a log, another span, its index, and the note
/// of what indexes saved.
pub type Sample = Vec<(String, Vec<u8>)>;

/// The samples: without compression, and with LZ4 and columns.
///
/// # Panics
/// If they cannot be made.
pub fn samples() -> &'static [Sample; SAMPLES] {
    static MADE: OnceLock<[Sample; SAMPLES]> = OnceLock::new();
    MADE.get_or_init(|| {
        let columns = ["n", "level"].map(|key| FieldPath::root().key(key)).to_vec();
        let columns = ColumnChoice::Fields(columns);
        let with_columns = Settings { columns, compression: Compression::Lz4, ..Settings::default() };
        let without = Settings { columns: ColumnChoice::NONE, ..Settings::default() };
        [without, with_columns].map(|settings| sample(&settings))
    })
}

/// The number of events of a part.
pub(crate) const EVENTS: usize = 5;

/// An event of a part of a sample, with its line feed: its second is `1 + 2 * part + number`.
pub fn event(part: usize, number: usize) -> String {
    let level = ["Error", "Warning", "Error", "Debug"][number % 4];
    let second = 1 + part * 2 + number;
    format!(
        "{{\"@t\":\"1970-01-01T00:00:0{second}Z\",\"n\":{number}.5,\"level\":\"{level}\",\"text\":\"a longer text é\"}}\n"
    )
}

fn sample(settings: &Settings) -> Sample {
    let folder = Folder::new();
    let store = Store::create(folder.path(), settings).expect("a new folder").with_block_bytes(150);
    let writer = store.writer(&WriterOptions::default()).expect("the only writer");
    for part in 0..3 {
        let lines: String = (0..EVENTS).map(|number| event(part, number)).collect();
        let batch = Batch::prepare(lines.as_bytes(), settings, &mut |_, _, error| panic!("{error}"));
        writer.append(batch).expect("a disk with room");
        if part < 2 {
            writer.seal().expect("a disk with room");
        }
    }
    writer.finish().expect("a disk with room");
    fs::write(folder.path().join("SAVED"), "3 4 0 1 0 0\n").expect("a disk with room");
    let mut names: Vec<String> = fs::read_dir(folder.path())
        .expect("a folder")
        .map(|entry| entry.expect("a folder").file_name().to_string_lossy().into_owned())
        .filter(|name| !name.starts_with("LOCK") && !["TAKEN", "MANIFEST.copy", "BALLAST"].contains(&name.as_str()))
        .collect();
    names.sort();
    let [manifest, saved, log, span, index, other_span, other_index] = &names[..] else { panic!("{names:?}") };
    let read = |name: &String| (name.clone(), fs::read(folder.path().join(name)).expect("it is there"));
    [manifest, span, index, log, other_span, other_index, saved].map(read).to_vec()
}

/// A folder of its own, removed in the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let path = parent.join(format!("jird-store-checks-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).expect("a new folder");
        Self(path)
    }

    pub(crate) fn filled(sample: &Sample) -> Self {
        let folder = Self::new();
        sample.iter().for_each(|(name, bytes)| folder.put(name, bytes));
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        fs::write(self.0.join(name), bytes).expect("a disk with room");
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.0.join(name)).expect("it is there");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
