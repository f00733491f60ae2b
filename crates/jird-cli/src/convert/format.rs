//! The format of a file, by its name or its first bytes.

use anyhow::{Error, Result, bail};
use clap::ValueEnum;
use jird_formats::files::{Compression, FileFormat};
use std::path::Path;

/// The formats that `convert` reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One JSON value per line
    #[value(alias = "jsonl")]
    Ndjson,
    /// JSON: the elements of an array, or one value after the other
    Json,
    /// Comma-separated values with a header
    Csv,
    /// Tab-separated values with a header
    Tsv,
    /// A table of an SQLite database
    #[value(alias = "db")]
    Sqlite,
    /// Apache Parquet
    Parquet,
    /// Apache Arrow IPC
    #[value(alias = "ipc")]
    Arrow,
    /// Bad records that `--on-error quarantine=FILE` set aside: only read
    Quarantine,
}

impl Format {
    /// The format that the suffix stands for, after removing that of a compression.
    pub(crate) fn of_name(path: &Path) -> Option<Self> {
        FileFormat::of_name(path).map(Self::from)
    }

    /// The format that the first bytes show. Bytes that begin like JSON, and fit no other format, are JSON.
    pub(crate) fn of_bytes(start: &[u8]) -> Option<Self> {
        FileFormat::of_bytes(start).map(Self::from)
    }

    /// The suffix of output files.
    pub(crate) fn suffix(self) -> &'static str {
        FileFormat::all().find(|format| Self::from(*format) == self).map_or("quarantine", FileFormat::suffix)
    }

    /// The format that the user asked for, or else the one that the name stands for.
    pub(crate) fn of_target(asked: Option<Self>, path: Option<&Path>) -> Result<Self> {
        if asked == Some(Self::Quarantine) {
            bail!("a quarantine is written by --on-error quarantine=FILE");
        }
        let Some(path) = path else { return Ok(asked.unwrap_or(Self::Ndjson)) };
        let name = path.display();
        let compression = Compression::of_target(path).map_err(Error::msg)?;
        let Some(format) = asked.or_else(|| Self::of_name(path)) else {
            let known: Vec<_> = FileFormat::all().map(|format| format!(".{}", format.suffix())).collect();
            let known = known.join(", ");
            bail!("{name}: the name does not say which format to write: use {known}, or name the format with --to");
        };
        if format.is_seekable() && compression != Compression::None {
            bail!("{name}: a file of this format cannot be compressed; remove the last suffix");
        }
        Ok(format)
    }

    /// Whether files of this format are read with seeks instead of from beginning to end.
    pub(crate) fn is_seekable(self) -> bool {
        matches!(self, Self::Parquet | Self::Sqlite)
    }
}

impl From<FileFormat> for Format {
    fn from(format: FileFormat) -> Self {
        match format {
            FileFormat::Ndjson => Self::Ndjson,
            FileFormat::Json => Self::Json,
            FileFormat::Csv => Self::Csv,
            FileFormat::Tsv => Self::Tsv,
            FileFormat::Sqlite => Self::Sqlite,
            FileFormat::Parquet => Self::Parquet,
            FileFormat::Arrow => Self::Arrow,
        }
    }
}
