//! The files of a store have the owner, the group and the mode of its folder, whichever user makes them.

use crate::common::{Scratch, all, append, event, options};
use jird_store::{Extent, Settings, Store, WriterOptions};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;

/// Everything that makes files in a store.
fn use_all(store: &Store, from: u64) {
    for part in 0..3 {
        let writer = store.writer(&options(2000)).unwrap();
        (0..20).for_each(|number| append(&writer, &event(from + 100 * part + number, number)));
        writer.seal().unwrap();
        append(&writer, &event(from + 100 * part + 50, 50));
        writer.finish().unwrap();
    }
    store.retain(from as i64 * 1_000_000_000).unwrap();
    store.compact(Extent::Full).unwrap();
    store.verify(true).unwrap();
    store.snapshot().unwrap().note_saved(&[(1, jird_store::Saved::of_columns())]);
}

/// The files whose owner, group or mode is another one.
fn others(folder: &Path, mode: u32) -> Vec<String> {
    let own = fs::metadata(folder).unwrap();
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let wrong = files.filter_map(|file| {
        let data = fs::metadata(&file).unwrap();
        let is_right = (data.uid(), data.gid(), data.mode() & 0o7777) == (own.uid(), own.gid(), mode);
        (!is_right).then(|| format!("{}: {}:{} {:o}", file.display(), data.uid(), data.gid(), data.mode()))
    });
    wrong.collect()
}

#[test]
fn files_have_the_mode_of_the_folder_without_the_right_to_execute() {
    for (folder, file) in [(0o700, 0o600), (0o750, 0o640), (0o2770, 0o660), (0o755, 0o644)] {
        let scratch = Scratch::new();
        fs::create_dir(scratch.path()).unwrap();
        fs::set_permissions(scratch.path(), Permissions::from_mode(folder)).unwrap();
        let store = Store::create(scratch.path(), &Settings::default()).unwrap();
        use_all(&store, 1000);
        assert_eq!(others(scratch.path(), file), [""; 0], "{folder:o}");
    }
}

#[test]
fn a_new_folder_is_its_owners_alone_and_a_group_that_is_let_in_reads_what_comes() {
    let scratch = Scratch::new();
    let store = scratch.store();
    use_all(&store, 1000);
    assert_eq!(fs::metadata(scratch.path()).unwrap().mode() & 0o777, 0o700);
    assert_eq!(others(scratch.path(), 0o600), [""; 0]);
    fs::set_permissions(scratch.path(), Permissions::from_mode(0o750)).unwrap();
    store.retain(1_001_000_000_000).unwrap();
    assert_eq!(fs::metadata(scratch.path().join("MANIFEST")).unwrap().mode() & 0o777, 0o640);
}

#[test]
#[expect(clippy::print_stdout, reason = "the runner of the tests counts such lines")]
fn what_root_makes_in_a_store_belongs_to_the_owner_of_the_folder() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path()).unwrap();
    if chown(scratch.path(), Some(65534), Some(65533)).is_err() {
        println!("skipped: files of another owner, which only root can make");
        return;
    }
    fs::set_permissions(scratch.path(), Permissions::from_mode(0o750)).unwrap();
    let store = Store::create(scratch.path(), &Settings::default()).unwrap();
    use_all(&store, 1000);
    assert_eq!(others(scratch.path(), 0o640), [""; 0]);
    // Files that an earlier version made as root's own are replaced as they change.
    let manifest = scratch.path().join("MANIFEST");
    chown(&manifest, Some(0), Some(0)).unwrap();
    store.writer(&WriterOptions::default()).unwrap().finish().unwrap();
    assert_eq!(others(scratch.path(), 0o640), [""; 0]);
    assert!(!all(&store).is_empty());
}
