//! The fields for which queries read documents, because no column has them: a file of counts, one line for each query and
//! field, such as `1 ["Message"]`. Fields that are asked for often have a column in the spans that are written from then on. It
//! is a note and no part of the state: if it cannot be written, as on a disk that is read-only, nothing is noted.

use crate::files::{Unfinished, read_whole};
use crate::manifest::Folder;
use crate::notation;
use jird::Path;
use jird::hooks::write_array;
use std::collections::HashMap;
use std::fmt::Write;

const NAME: &str = "ASKED";
/// No more is noted when the file has this length; a compaction sums it up.
const BYTES_MAX: u64 = 1 << 18;
/// A field is asked for often if so many queries did.
const OFTEN: u64 = 3;
/// The most fields that have a column because of this.
const FIELDS_MAX: usize = 8;
/// The most fields that are counted.
const COUNTED_MAX: usize = 256;

/// Adds a line for each of these fields.
pub(crate) fn note_asked(folder: &Folder, fields: &[Path]) {
    let path = folder.file(NAME);
    if fields.is_empty() || folder.files.open(&path).and_then(|file| file.len()).is_ok_and(|len| len > BYTES_MAX) {
        return;
    }
    let _ = folder.files.add(&path, lines(fields.iter().map(|field| (field.clone(), 1))).as_bytes());
}

/// The fields that were asked for often, those that were asked for most before the others.
pub(crate) fn often_asked(folder: &Folder) -> Vec<Path> {
    let often = counts(folder).into_iter().take_while(|(_, count)| *count >= OFTEN);
    often.take(FIELDS_MAX).map(|(field, _)| field).collect()
}

/// Sums up the file. Lines that come meanwhile may be lost.
pub(crate) fn sum_up_asked(folder: &Folder) {
    let counts = counts(folder);
    if counts.is_empty() {
        return;
    }
    let (path, new) = (folder.file(NAME), folder.file("ASKED.new"));
    let _ = Unfinished::create(&folder.files, &new).and_then(|(file, unfinished)| {
        file.append(lines(counts.into_iter()).as_bytes())?;
        unfinished.rename(&path)
    });
}

/// How many queries asked for each field, those with most before the others. What is no such line is passed by.
fn counts(folder: &Folder) -> Vec<(Path, u64)> {
    let bytes = read_whole(&*folder.files, &folder.file(NAME), 2 * BYTES_MAX).unwrap_or_default();
    let mut counts = HashMap::new();
    for line in String::from_utf8_lossy(&bytes).lines() {
        let Some((Ok(more), field)) = line.split_once(' ').map(|(count, field)| (count.parse::<u64>(), field)) else {
            continue;
        };
        let field = jird::parse(field.as_bytes()).ok().and_then(|field| notation::path(field.root()));
        let Some(field) = field.filter(|field| !field.steps().is_empty()) else { continue };
        if counts.len() < COUNTED_MAX || counts.contains_key(&field) {
            let count: &mut u64 = counts.entry(field).or_default();
            *count = count.saturating_add(more);
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_cached_key(|(field, count)| (std::cmp::Reverse(*count), field.to_string()));
    counts
}

fn lines(fields: impl Iterator<Item = (Path, u64)>) -> String {
    fields.fold(String::new(), |mut out, (field, count)| {
        let mut steps = Vec::new();
        write_array(&mut steps, |out| notation::write_path(&field, out));
        let _ = writeln!(out, "{count} {}", String::from_utf8_lossy(&steps));
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::simulated::Disk;
    use crate::store::folder_at;
    use std::sync::Arc;

    fn folder() -> Folder {
        let folder = folder_at(Arc::new(Disk::default()), std::path::Path::new("store"));
        folder.files.create_dir(&folder.path).unwrap();
        folder
    }

    #[test]
    fn what_is_asked_for_often_is_known_whatever_else_stands_in_the_file() {
        let folder = folder();
        let field = |key: &str| Path::root().key(key);
        assert!(often_asked(&folder).is_empty());
        for round in 0..5 {
            note_asked(&folder, &[field("a\n\"b"), field("c").index(3)]);
            note_asked(&folder, &[field(&format!("once {round}"))]);
            note_asked(&folder, &[]);
        }
        note_asked(&folder, &[field("c").index(3)]);
        let path = folder.file(NAME);
        for rubbish in
            ["\n", "9 []\n", "9 {}\n", "x [\"d\"]\n", "-1 [\"d\"]\n", "9 [\"d\"", "\n9 [true]\n9\n", "9 [[\n"]
        {
            folder.files.add(&path, rubbish.as_bytes()).unwrap();
        }
        folder.files.add(&path, b"18446744073709551615 [\"e\"]\n2 [\"e\"]\n\xff\xff 3\n").unwrap();
        for _ in 0..2 {
            assert_eq!(often_asked(&folder), [field("e"), field("c").index(3), field("a\n\"b")]);
            sum_up_asked(&folder);
        }
    }

    #[test]
    fn the_file_does_not_grow_for_ever() {
        let folder = folder();
        let long = "x".repeat(1000);
        let len = || folder.files.open(&folder.file(NAME)).unwrap().len().unwrap();
        for number in 0..600 {
            note_asked(&folder, &[Path::root().key(format!("{}{long}", number % 300))]);
        }
        assert!((BYTES_MAX..BYTES_MAX + 2000).contains(&len()));
        for _ in 0..3 {
            note_asked(&folder, &[Path::root().key("late")]);
        }
        assert!(often_asked(&folder).is_empty());
        sum_up_asked(&folder);
        assert!(len() <= BYTES_MAX);
    }
}
