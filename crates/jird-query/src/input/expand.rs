//! Expands arguments to files: patterns and folders.

use crate::error::{Error, words};
use jird_formats::files::FileFormat;
use std::fs;
use std::path::{Path, PathBuf};

/// Messages about the files that the arguments name.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// Files that cannot be read.
    pub(crate) unreadable: Vec<String>,
    /// Files that are not UTF-8.
    pub(crate) refused: Vec<String>,
    /// Other notes for the user.
    pub(crate) notes: Vec<String>,
}

impl Said {
    /// Fails if a file cannot be read: an answer without it would be taken for the whole answer. The error takes the
    /// messages of the files. `others` says whether there are files that can be read.
    pub(crate) fn all_read(&mut self, others: bool) -> Result<(), Error> {
        let is_encoding = self.unreadable.is_empty();
        let mut messages = std::mem::take(&mut self.unreadable);
        messages.append(&mut self.refused);
        match messages.len() {
            0 => return Ok(()),
            1 if !others => {}
            count => {
                let files = if count == 1 { "a file".to_owned() } else { format!("{count} files") };
                messages.push(format!("there is no answer without {files}; --unreadable skip gives one"));
            }
        }
        let message = messages.join("\n");
        Err(if is_encoding { Error::frame(message) } else { Error::unread(message) })
    }

    pub(super) fn unreadable(&mut self, message: String) {
        if !self.unreadable.contains(&message) {
            self.unreadable.push(message);
        }
    }

    pub(super) fn refused(&mut self, message: String) {
        if !self.refused.contains(&message) {
            self.refused.push(message);
        }
    }
}

/// The paths that an argument stands for, sorted by their bytes. An existing path stands for itself, or, if it is a
/// folder, for the files of records in it.
pub(super) fn expand(argument: &str, said: &mut Said) -> Result<Vec<PathBuf>, Error> {
    let path = Path::new(argument);
    if path.symlink_metadata().is_ok() || !argument.contains(['*', '?', '[']) {
        return Ok(if path.is_dir() { folder(path, said) } else { vec![path.to_owned()] });
    }
    let found =
        glob::glob(argument).map_err(|error| Error::sql(format!("the pattern {argument} is wrong: {error}")))?;
    let mut paths = Vec::new();
    for found in found {
        match found {
            Ok(path) if path.is_dir() => paths.extend(folder(&path, said)),
            Ok(path) => paths.push(path),
            Err(error) => said.unreadable(format!("{}: {}", error.path().display(), words(error.error()))),
        }
    }
    sort(&mut paths);
    paths.dedup();
    // If nothing matches, the pattern is reported as a missing file.
    Ok(if paths.is_empty() { vec![path.to_owned()] } else { paths })
}

fn sort(paths: &mut [PathBuf]) {
    paths.sort_by(|left, right| left.as_os_str().as_encoded_bytes().cmp(right.as_os_str().as_encoded_bytes()));
}

/// A note names this many of the files that were skipped.
const NAMED: usize = 3;

/// The files below a folder whose names mark them as JSON. Links to folders are not followed, and hidden files are
/// ignored.
fn folder(root: &Path, said: &mut Said) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut skipped = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                said.unreadable(format!("{}: {}", folder.display(), words(&error)));
                continue;
            }
        };
        for entry in entries.filter_map(Result::ok) {
            let (path, name) = (entry.path(), entry.file_name());
            let is_hidden = name.as_encoded_bytes().starts_with(b".");
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            match (is_hidden, is_folder) {
                (true, _) => {}
                (_, true) => folders.push(path),
                _ if path.is_dir() => skipped.push(path),
                _ if is_json(&path) => files.push(path),
                _ => skipped.push(path),
            }
        }
    }
    sort(&mut files);
    sort(&mut skipped);
    if !skipped.is_empty() {
        let named: Vec<_> = skipped.iter().take(NAMED).map(|path| path.display().to_string()).collect();
        let more = if skipped.len() > NAMED { ", …" } else { "" };
        said.notes.push(format!(
            "{}: {} other file{} passed by ({}{more}); a folder's files are read whose names end in .ndjson, .jsonl or .json",
            root.display(),
            skipped.len(),
            if skipped.len() == 1 { " was" } else { "s were" },
            named.join(", "),
        ));
    }
    if files.is_empty() {
        said.unreadable(format!(
            "{}: no file below it has a name that ends in .ndjson, .jsonl or .json",
            root.display()
        ));
    }
    files
}

/// Whether a file name marks JSON.
fn is_json(path: &Path) -> bool {
    matches!(FileFormat::of_own_name(path), Some(FileFormat::Ndjson | FileFormat::Json))
}
