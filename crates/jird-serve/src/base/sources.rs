//! What is served, found once, when the server starts. Nothing but this is ever read.

use crate::base::error::Error;
use crate::base::settings::Source;
use jird_formats::files::{Compression, FileFormat, Local, is_url, open};
use jird_store::is_store;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What is served.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    pub(crate) database: Option<PathBuf>,
    pub(crate) store: Option<Named>,
    pub(crate) files: Vec<Named>,
}

/// Something with a name.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

/// What a path leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Database,
    Store,
    File,
}

impl Sources {
    /// Finds out what each of them is. `makes_store`: what is not there yet becomes an event store, if it does not have
    /// the name of a file.
    pub(crate) fn find(sources: &[Source], makes_store: bool) -> Result<Self, Error> {
        let mut found = Self::default();
        if sources.is_empty() {
            return Err(Error::new("there is nothing to serve"));
        }
        for Source { name, path } in sources {
            let shown = path.display();
            match (kind(path, makes_store)?, name) {
                (Kind::Database, Some(name)) => {
                    let message = "is a database, which has no name: its tables have names";
                    return Err(Error::new(format!("{name}={shown}: {shown} {message}")));
                }
                (Kind::Database, None) => {
                    if let Some(other) = found.database.replace(path.clone()) {
                        return Err(Error::new(format!(
                            "{shown}: one database is served, and {} is one",
                            other.display()
                        )));
                    }
                }
                (Kind::Store, name) => {
                    let named = Named::new(name.as_deref(), path)?;
                    if let Some(other) = found.store.replace(named) {
                        let other = other.path.display();
                        return Err(Error::new(format!("{shown}: one event store is served, and {other} is one")));
                    }
                }
                (Kind::File, name) => found.files.push(Named::new(name.as_deref(), path)?),
            }
        }
        let mut names: Vec<_> = found.named().map(|named| named.name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(twice(pair[0])),
            None => Ok(found),
        }
    }

    /// The store and the files.
    pub(crate) fn named(&self) -> impl Iterator<Item = &Named> {
        self.store.iter().chain(&self.files)
    }
}

/// Two things have this name.
pub(crate) fn twice(name: &str) -> Error {
    Error::new(format!(
        "two things that are served have the name {name}; OTHER=PATH gives a file or store another name"
    ))
}

impl Named {
    fn new(name: Option<&str>, path: &Path) -> Result<Self, Error> {
        let name = match name {
            Some(name) => Some(name.to_owned()),
            None => own_name(path),
        };
        match name.filter(|name| !name.is_empty() && !name.contains('\0')) {
            Some(name) => Ok(Self { name, path: path.to_owned() }),
            None => Err(Error::new(format!("{}: has no name; NAME=PATH gives it one", path.display()))),
        }
    }
}

/// The name of a file without the endings that say what it is.
fn own_name(path: &Path) -> Option<String> {
    let mut name = PathBuf::from(path.file_name()?);
    if Compression::of_name(&name) != Compression::None {
        name.set_extension("");
    }
    if FileFormat::of_name(&name).is_some() {
        name.set_extension("");
    }
    name.into_os_string().into_string().ok()
}

fn kind(path: &Path, makes_store: bool) -> Result<Kind, Error> {
    let failed = |error| Error::because(path.display(), error);
    if path == Path::new("-") {
        return Err(Error::new("standard input can be read only once: write it to a file and serve that"));
    }
    if is_url(path) {
        return Err(Error::new(format!("{}: is a URL, and files of this machine are served", path.display())));
    }
    let metadata = match path.metadata() {
        Err(error) if makes_store && error.kind() == ErrorKind::NotFound && !is_name_of_file(path) => {
            return Ok(Kind::Store);
        }
        metadata => metadata.map_err(failed)?,
    };
    if metadata.is_dir() {
        return if is_store(path) || makes_store && is_empty(path).map_err(failed)? {
            Ok(Kind::Store)
        } else {
            let path = path.display();
            Err(Error::new(format!("{path}: is a folder, but no event store; `jird ingest {path} FILE` makes one")))
        };
    }
    if !metadata.is_file() {
        return Err(Error::new(format!("{}: is not a file that can be read again and again", path.display())));
    }
    // A database that has no tables yet may be empty.
    let is_named_database = FileFormat::of_name(path) == Some(FileFormat::Sqlite);
    let is_database =
        is_named_database && metadata.len() == 0 || matches!(open(path).map_err(failed)?, Local::Database);
    if is_named_database && !is_database {
        return Err(Error::new(format!("{}: is no database of SQLite, although its name says so", path.display())));
    }
    Ok(if is_database { Kind::Database } else { Kind::File })
}

/// Whether a folder has nothing but the one that a file system has of its own.
fn is_empty(folder: &Path) -> std::io::Result<bool> {
    folder.read_dir()?.try_fold(true, |is_empty, entry| Ok(is_empty && entry?.file_name() == "lost+found"))
}

fn is_name_of_file(path: &Path) -> bool {
    FileFormat::of_name(path).is_some() || Compression::of_name(path) != Compression::None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_without_its_endings() {
        for (path, name) in [
            ("a/b.ndjson", Some("b")),
            ("b.2024-01.JSONL.gz", Some("b.2024-01")),
            ("x.csv.zst", Some("x")),
            ("plain", Some("plain")),
            ("events.d/", Some("events.d")),
            ("..", None),
        ] {
            assert_eq!(own_name(Path::new(path)).as_deref(), name, "{path}");
        }
    }

    #[test]
    fn standard_input_and_what_only_has_the_name_of_a_database_are_refused() {
        let told = |path: &Path, makes_store| kind(path, makes_store).map(drop).unwrap_err().to_string();
        for makes_store in [false, true] {
            assert!(told(Path::new("-"), makes_store).contains("standard input"));
            assert!(told(Path::new("s3://bucket/store"), makes_store).contains("is a URL"));
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        std::fs::write(&path, "not a database").unwrap();
        assert!(told(&path, true).contains("no database"));
        std::fs::write(&path, "").unwrap();
        assert!(kind(&path, false).is_ok());
    }
}
