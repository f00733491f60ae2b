//! The seeds and the regressions of the fuzz targets (`fuzz/seeds`, `fuzz/regressions`), replayed without a fuzzer: every
//! input of every target goes through every target.

use crate::common;

use checks::TARGETS;
use std::path::{Path, PathBuf};

fn inputs(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.expect("the folder can be listed").path()) {
        if path.is_dir() { inputs(&path, found) } else { found.push(path) }
    }
}

#[test]
fn what_once_failed_and_what_fuzzing_begins_with_holds() {
    common::force_kernel();
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let mut paths = Vec::new();
    inputs(&fuzz.join("seeds"), &mut paths);
    inputs(&fuzz.join("regressions"), &mut paths);
    paths.sort();
    for path in &paths {
        // Shown if the check fails.
        #[expect(clippy::print_stdout, reason = "names the input that fails")]
        {
            println!("{}", path.display());
        }
        let text = std::fs::read(path).expect("the file can be read");
        TARGETS.iter().for_each(|(_, check)| check(&text));
    }
    assert!(paths.len() >= 20, "only {} inputs", paths.len());
}

#[test]
fn every_fuzz_target_is_replayed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
    let mut targets: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder can be listed")
        .map(|entry| entry.expect("the folder can be listed").path())
        .map(|path| path.file_stem().expect("a file has a name").to_string_lossy().into_owned())
        .collect();
    // `store-checks` replays those of its own.
    targets.retain(|target| target != "store");
    targets.sort();
    let mut replayed = TARGETS.map(|(name, _)| name);
    replayed.sort_unstable();
    assert_eq!(targets, replayed);
}
