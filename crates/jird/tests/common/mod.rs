//! What the tests share: the corpus (example documents and conformance data that are too large to be part of the source),
//! and the kernel that `JIRD_KERNEL` names.
#![allow(dead_code, reason = "each test is a crate of its own, and none needs everything")]

use std::path::{Path, PathBuf};

/// The folder named by `JIRD_CORPUS`, else `shared/corpus` next to the workspace or next to the folder that it is in.
///
/// If there is none, says `skipped: corpus`, and the test passes; unless `JIRD_REQUIRE_ALL` is `1`: then it fails.
#[allow(clippy::print_stdout, reason = "it is for readers of the log")]
pub(crate) fn corpus() -> Option<PathBuf> {
    force_kernel();
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let places = match std::env::var_os("JIRD_CORPUS") {
        Some(named) => vec![PathBuf::from(named)],
        None => ["../shared/corpus", "../../shared/corpus"].map(|place| workspace.join(place)).to_vec(),
    };
    let found = places.into_iter().find(|place| place.is_dir());
    if found.is_none() {
        assert!(
            std::env::var_os("JIRD_REQUIRE_ALL").is_none_or(|all| all != "1"),
            "the corpus is required, and missing"
        );
        println!("skipped: corpus");
    }
    found
}

/// Makes this process use the kernel that `JIRD_KERNEL` names, if it names one.
pub(crate) fn force_kernel() {
    if let Ok(name) = std::env::var("JIRD_KERNEL") {
        let kernel = jird::hooks::Kernel::named(&name).unwrap_or_else(|error| panic!("{error}"));
        kernel.force().unwrap_or_else(|error| panic!("{error}"));
    }
}

/// A file of the corpus.
pub(crate) struct Document {
    /// Its path in the corpus.
    pub(crate) name: String,
    /// Its bytes.
    pub(crate) text: Vec<u8>,
}

impl Document {
    /// The last part of its path.
    pub(crate) fn file_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }
}

/// All files below `folder`, which is in `root`, whose names end in `suffix`, by name.
pub(crate) fn files(root: &Path, folder: &str, suffix: &str) -> Vec<Document> {
    let mut found = Vec::new();
    let mut folders = vec![root.join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("the folder can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(suffix) {
                let name = path.strip_prefix(root).expect("it is below").to_string_lossy().into_owned();
                found.push(Document { name, text: std::fs::read(&path).expect("the file can be read") });
            }
        }
    }
    found.sort_by(|left, right| left.name.cmp(&right.name));
    assert!(!found.is_empty(), "no {suffix} in {folder}");
    found
}

/// Every file of the corpus that claims to be one JSON document, also those that are not.
pub(crate) fn documents(root: &Path) -> Vec<Document> {
    ["bench", "conformance", "hostile", "ndjson", "tables"]
        .iter()
        .flat_map(|folder| files(root, folder, ".json"))
        .collect()
}

/// The rows of a table in `tests/`: columns between tabs; comments begin with `#`.
pub(crate) fn table(text: &str) -> Vec<Vec<&str>> {
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split('\t').collect())
        .collect()
}
