//! Files of this machine: databases, which only SQLite opens, and all others.

use super::elements::Layout;
use super::{Access, InputFile, Progress, Reading, Refusal};
use jird_formats::DialectChoice;
use jird_formats::files::{FileFormat, open};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Why a database on standard input is not read.
pub(super) const NOT_PIPED: &str = "a database is read from its file, not from a pipe";

/// Opens a file again that was none of SQLite's before.
pub(super) fn text(path: &Path) -> io::Result<File> {
    open(path)?.file()
}

impl InputFile {
    /// A database and the table of it that is meant. Nothing is opened before its rows are read.
    pub(super) fn database(
        (path, table): (&Path, Option<&str>),
        bytes: u64,
        reading: &Reading,
        progress: &Arc<Progress>,
    ) -> Result<Self, Refusal> {
        if !matches!(reading.from, None | Some(FileFormat::Sqlite)) {
            return Err("it is a database of SQLite, and is read without --from".to_owned().into());
        }
        if reading.lenient.is_some() {
            return Err("it is a database of SQLite, and is read without --from and --allow".to_owned().into());
        }
        Ok(Self {
            table: table.map(str::to_owned),
            records: None,
            csv: DialectChoice::default(),
            lenient: None,
            path: path.to_owned(),
            name: None,
            keys: Vec::new(),
            index: 0,
            size: None,
            layout: Layout::Table(FileFormat::Sqlite),
            is_marked: false,
            disk_bytes: bytes,
            access: Access::Again,
            rows_noted: Arc::default(),
            progress: Arc::clone(progress),
        })
    }
}
