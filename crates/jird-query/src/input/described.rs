//! Files as other processes can open them.

use super::{Access, InputFile, Progress, Reading, Refusal, Remotes};
use crate::base::error::Error;
use jird_formats::DialectChoice;
use jird_formats::files::FileFormat;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf, absolute};
use std::sync::{Arc, LazyLock};

/// A file that another process has opened before, and can open again at the same place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Described {
    path: PathBuf,
    /// What messages call it.
    shown: String,
    /// Its position among the files of its input.
    pub(crate) index: usize,
    /// The size in bytes, if it can be read at any offset.
    pub(crate) size: Option<u64>,
    disk_bytes: u64,
    /// The version of an object, if it is one.
    version: Option<String>,
    /// The name of its format.
    format: String,
    table: Option<String>,
    records: Option<String>,
    /// Of CSV: the delimiter, the quote, whether there is a header.
    csv: Option<(u8, Option<u8>, bool)>,
}

impl InputFile {
    /// Describes the file for other processes. Fails if it is a pipe or a store, which they cannot open.
    pub(crate) fn describe(&self) -> Result<Described, Error> {
        let why = match &self.access {
            _ if !self.keys.is_empty() => Some(
                "the names of its folders give its records fields, which a cluster does not know; --folder-keys ignore reads \
                 it without them",
            ),
            _ if self.lenient.is_some() => Some(
                "other notations of JSON are read by one machine only: `jird convert` makes strict JSON of it, in a file that \
                 all of them see",
            ),
            Access::Again | Access::Remote(_) => None,
            Access::Once(_) | Access::Copying(_) | Access::Copy(_) => {
                Some("a pipe is not read by other machines: write it to a file that all of them see")
            }
            Access::Store(_) => Some(
                "an event store is read by one machine only: `jird store export` writes its events to a file that all of them see",
            ),
        };
        if let Some(why) = why {
            return Err(Error::sql(format!("{}: {why}", self.shown())));
        }
        let (path, version) = match &self.access {
            Access::Remote(object) => (self.path.clone(), Some(object.version())),
            _ => (absolute(&self.path).map_err(|error| self.error(&error))?, None),
        };
        Ok(Described {
            path,
            shown: self.shown().into_owned(),
            index: self.index,
            size: self.size,
            disk_bytes: self.disk_bytes,
            version,
            format: self.layout.format().name().to_owned(),
            table: self.table.clone(),
            records: self.records.as_ref().map(ToString::to_string),
            csv: self.dialect().map(|csv| (csv.delimiter, csv.quote, csv.header)),
        })
    }
}

impl Described {
    /// The path at which all processes see it.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the file. Fails if it is not the one that was described.
    pub(crate) fn open(&self) -> Result<InputFile, Error> {
        // Connections to stores of objects are kept from task to task.
        static REMOTES: LazyLock<Remotes> = LazyLock::new(Remotes::default);
        let failed = |words: &str| Error::unread(format!("{}: {words}", self.shown));
        let records = self.records.as_ref().map(|pattern| pattern.parse()).transpose();
        let records = records.map_err(|_| failed("the pattern of its records is wrong"))?;
        let csv = self.csv.map_or_else(DialectChoice::default, |(delimiter, quote, header)| DialectChoice {
            delimiter: Some(delimiter),
            quote: Some(quote),
            header: Some(header),
        });
        let from = FileFormat::named(&self.format);
        let reading = Reading { from, records, csv, remotes: REMOTES.clone(), ..Reading::default() };
        let progress = Arc::new(Progress::default());
        let file = match InputFile::at(&self.path, self.table.as_deref(), &reading, &progress) {
            Ok(file) => InputFile { name: Some(self.shown.clone()), index: self.index, ..file },
            Err(Refusal::Unreadable(message)) => {
                return Err(failed(&format!(
                    "{message}, on one of the machines that read it ({})",
                    self.path.display()
                )));
            }
            Err(Refusal::Encoding(encoding)) => return Err(failed(&encoding.to_string())),
        };
        if let Access::Remote(object) = &file.access
            && self.version.as_ref() != Some(&object.version())
        {
            return Err(failed("the object was replaced by another one while the query ran"));
        }
        if (file.size, file.disk_bytes) != (self.size, self.disk_bytes) {
            return Err(failed(&format!(
                "it has {} bytes on one of the machines that read it, and {} where the query comes from: it must be the same \
                 file, and nobody may write to it meanwhile",
                file.disk_bytes, self.disk_bytes
            )));
        }
        Ok(file)
    }
}
