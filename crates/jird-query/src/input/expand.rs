//! Expands arguments to files: patterns and folders.

use crate::base::error::{Error, words};
use jird_formats::files::{FileFormat, alternatives};
use std::fs;
use std::path::{Path, PathBuf};

/// Messages about the files that the arguments name.
#[derive(Debug, Default)]
pub(crate) struct FileMessages {
    /// Files that cannot be read.
    pub(crate) unreadable: Vec<String>,
    /// Files that are not UTF-8.
    pub(crate) refused: Vec<String>,
    /// Other notes for the user.
    pub(crate) notes: Vec<String>,
}

impl FileMessages {
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
                messages.push(format!("cannot read {files}; pass --unreadable skip to leave them out"));
            }
        }
        let message = messages.join("\n");
        Err(if is_encoding { Error::frame(message) } else { Error::unread(message) })
    }

    /// The note about a folder with `files` files of records, and others.
    pub(super) fn of_folder(&mut self, root: &str, files: usize, skipped: &[String]) {
        if !skipped.is_empty() {
            let named: Vec<_> = skipped.iter().take(NAMED).map(String::as_str).collect();
            let more = if skipped.len() > NAMED { ", …" } else { "" };
            self.notes.push(format!(
                "{root}: {} other file{} passed by ({}{more}); a folder's files are read whose names end in .ndjson, .jsonl or .json",
                skipped.len(),
                if skipped.len() == 1 { " was" } else { "s were" },
                named.join(", "),
            ));
        }
        if files == 0 {
            self.unreadable(format!("{root}: no file below it has a name that ends in .ndjson, .jsonl or .json"));
        }
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
pub(super) fn expand(argument: &str, said: &mut FileMessages) -> Result<Vec<PathBuf>, Error> {
    let path = Path::new(argument);
    if path.symlink_metadata().is_ok() || !argument.contains(['*', '?', '[', '{']) {
        return Ok(if path.is_dir() { folder(path, said) } else { vec![path.to_owned()] });
    }
    let mut paths = Vec::new();
    for pattern in alternatives(argument) {
        matches(&pattern, &mut paths, said)?;
    }
    sort(&mut paths);
    paths.dedup();
    // If nothing matches, the pattern is reported as a missing file.
    Ok(if paths.is_empty() { vec![path.to_owned()] } else { paths })
}

/// Adds the paths that match a pattern.
fn matches(pattern: &str, paths: &mut Vec<PathBuf>, said: &mut FileMessages) -> Result<(), Error> {
    let wrong = |error: glob::PatternError| Error::sql(format!("the pattern {pattern} is wrong: {error}"));
    if let Some((root, _)) = pattern.split_once("**") {
        // Links to folders are not followed, because they may lead back.
        let wanted = glob::Pattern::new(pattern).map_err(wrong)?;
        let root = match root.rfind(['*', '?', '[']) {
            Some(meta) => &root[..meta],
            None => root,
        };
        let root = root.rsplit_once('/').map_or("", |(folder, _)| if folder.is_empty() { "/" } else { folder });
        let options = glob::MatchOptions { require_literal_separator: true, ..glob::MatchOptions::new() };
        for entry in walkdir::WalkDir::new(if root.is_empty() { "." } else { root }) {
            match entry {
                Ok(entry) if !entry.file_type().is_dir() => {
                    let path = entry.into_path();
                    let path = if root.is_empty() { path.strip_prefix(".").unwrap_or(&path).to_owned() } else { path };
                    if wanted.matches_path_with(&path, options) && !path.is_dir() {
                        paths.push(path);
                    }
                }
                Ok(_) => {}
                Err(error) => {
                    let path = error.path().unwrap_or(Path::new(root)).display().to_string();
                    let reason = error.io_error().map_or_else(|| error.to_string(), words);
                    said.unreadable(format!("{path}: {reason}"));
                }
            }
        }
        return Ok(());
    }
    for found in glob::glob(pattern).map_err(wrong)? {
        match found {
            Ok(path) if path.is_dir() => paths.extend(folder(&path, said)),
            Ok(path) => paths.push(path),
            Err(error) => said.unreadable(format!("{}: {}", error.path().display(), words(error.error()))),
        }
    }
    Ok(())
}

fn sort(paths: &mut [PathBuf]) {
    paths.sort_by(|left, right| left.as_os_str().as_encoded_bytes().cmp(right.as_os_str().as_encoded_bytes()));
}

/// A note names this many of the files that were skipped.
const NAMED: usize = 3;

/// The files below a folder whose names mark them as JSON. Links to folders are not followed, and hidden files are
/// ignored.
fn folder(root: &Path, said: &mut FileMessages) -> Vec<PathBuf> {
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
    let skipped: Vec<_> = skipped.iter().map(|path| path.display().to_string()).collect();
    said.of_folder(&root.display().to_string(), files.len(), &skipped);
    files
}

/// Whether a file name marks JSON.
fn is_json(path: &Path) -> bool {
    matches!(FileFormat::of_own_name(path), Some(FileFormat::Ndjson | FileFormat::Json))
}
